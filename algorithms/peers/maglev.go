package peers

import (
	"github.com/kkdai/maglev"

	"github.com/ringbench/ringbench/algorithms"
)

// maglevTable keeps the preferences of all nodes for all slots, 8 bytes each.
var maglevTable = algorithms.Define("kkdai-maglev", "github.com/kkdai/maglev v0.2.0", MaglevConfig{65537}, newMaglev).
	Declining(algorithms.MinimalMovement).TunedTogether("size")

// MaglevConfig sets the size of the table.
type MaglevConfig struct {
	Size int `json:"size"` // slots, a prime
}

// Forecast returns the bytes of the preferences, and of their predecessors.
func (c MaglevConfig) Forecast(nodes []algorithms.Node) int64 {
	return 2 * 8 * int64(c.Size) * int64(len(nodes)+1)
}

type maglevNodes struct {
	roster
	peer *maglev.Maglev
	size int
}

func newMaglev(nodes []algorithms.Node, c MaglevConfig) (*maglevNodes, error) {
	r, err := equal(nodes)
	if err != nil {
		return nil, err
	}
	peer, err := maglev.NewMaglev(r.names, uint64(c.Size))
	if err != nil {
		return nil, err
	}
	return &maglevNodes{r, peer, len(nodes)}, nil
}

func (m *maglevNodes) LookupKey(key string) algorithms.Bucket {
	name, err := m.peer.Get(key)
	if err != nil {
		return algorithms.None
	}
	return bucketOf(name)
}

func (m *maglevNodes) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *maglevNodes) Len() int { return m.size }

func (m *maglevNodes) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if n.Weight != m.weight {
		return algorithms.None, errWeights()
	}
	b, name := m.next(n)
	if err := m.peer.Add(name); err != nil {
		return algorithms.None, err
	}
	m.bind(b, name)
	m.size++
	return b, nil
}

func (m *maglevNodes) Remove(b algorithms.Bucket) error {
	if err := m.peer.Remove(m.leaving(b)); err != nil {
		return err
	}
	m.unbind(b)
	m.size--
	return nil
}
