package peers

import (
	"stathat.com/c/consistent"

	"github.com/ringbench/ringbench/algorithms"
)

// stathat sorts all points anew for every node that is added, also when a ring is
// made of many.
var stathat = ring("stathat-consistent", "stathat.com/c/consistent v1.0.0", newStathat)

type stathatRing struct {
	roster
	peer *consistent.Consistent
}

func newStathat(nodes []algorithms.Node, c Vnodes) (*stathatRing, error) {
	r, err := equal(nodes)
	if err != nil {
		return nil, err
	}
	m := &stathatRing{r, consistent.New()}
	m.peer.NumberOfReplicas = c.VNodes
	m.peer.Set(r.names)
	return m, nil
}

func (m *stathatRing) LookupKey(key string) algorithms.Bucket {
	name, err := m.peer.Get(key)
	if err != nil {
		return algorithms.None
	}
	return bucketOf(name)
}

func (m *stathatRing) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *stathatRing) Len() int { return len(m.peer.Members()) }

func (m *stathatRing) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if n.Weight != m.weight {
		return algorithms.None, errWeights()
	}
	b, name := m.next(n)
	m.peer.Add(name)
	m.bind(b, name)
	return b, nil
}

func (m *stathatRing) Remove(b algorithms.Bucket) error {
	m.peer.Remove(m.leaving(b))
	m.unbind(b)
	return nil
}
