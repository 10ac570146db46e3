package peers

import (
	"github.com/dgryski/go-rendezvous"
	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// goRendezvous hashes names and keys with what it is given; xxh3 is the fastest.
// Its Remove reads one place behind its list and panics, always.
var goRendezvous = algorithms.Define("dgryski-go-rendezvous", "github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f", struct{}{}, newRendezvous)

type rendezvousNodes struct {
	roster
	peer *rendezvous.Rendezvous
	size int
}

func newRendezvous(nodes []algorithms.Node, _ struct{}) (*rendezvousNodes, error) {
	r, err := equal(nodes)
	if err != nil {
		return nil, err
	}
	return &rendezvousNodes{r, rendezvous.New(r.names, xxh3.HashString), len(nodes)}, nil
}

func (m *rendezvousNodes) LookupKey(key string) algorithms.Bucket {
	return bucketOf(m.peer.Lookup(key))
}

func (m *rendezvousNodes) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *rendezvousNodes) Len() int { return m.size }

func (m *rendezvousNodes) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if n.Weight != m.weight {
		return algorithms.None, errWeights()
	}
	b, name := m.next(n)
	m.peer.Add(name)
	m.bind(b, name)
	m.size++
	return b, nil
}

func (m *rendezvousNodes) Remove(b algorithms.Bucket) error {
	m.peer.Remove(m.leaving(b))
	m.unbind(b)
	m.size--
	return nil
}
