package claims

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// A naive is rendezvous hashing with the score w*u that people write who do not know
// better. It is here to be refuted.
type naive struct {
	names   []uint64
	weights []float64
}

var naiveInfo = algorithms.Define("naive-weighted-rendezvous", "folklore", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*naive, error) {
	hash, err := keyhash.ByName(keyhash.Default)
	m := &naive{}
	for _, n := range nodes {
		m.names = append(m.names, hash.Position(n.Name))
		m.weights = append(m.weights, n.Weight)
	}
	return m, err
}).Declining(algorithms.Balance)

// Lookup returns the node with the highest w*u.
func (m *naive) Lookup(h uint64) algorithms.Bucket {
	best, owner := -1.0, algorithms.None
	for i, name := range m.names {
		hi, lo := bits.Mul64(h^name, 0x9e3779b97f4a7c15)
		u := float64((hi^lo)*0xd1342543de82ef95>>11) * 0x1p-53
		if score := u * m.weights[i]; score > best {
			best, owner = score, algorithms.Bucket(i)
		}
	}
	return owner
}

// Len returns the number of nodes.
func (m *naive) Len() int { return len(m.names) }
