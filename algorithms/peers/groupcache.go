package peers

import (
	"github.com/golang/groupcache/consistenthash"

	"github.com/ringbench/ringbench/algorithms"
)

// groupcache has no removal: who loses a node makes the ring anew.
var groupcache = ring("golang-groupcache", "github.com/golang/groupcache/consistenthash v0.0.0-20241129210726-2c02b8208cf8", newGroupcache)

type groupcacheRing struct {
	roster
	peer *consistenthash.Map
}

func newGroupcache(nodes []algorithms.Node, c Vnodes) (*groupcacheRing, error) {
	r, err := equal(nodes)
	if err != nil {
		return nil, err
	}
	m := &groupcacheRing{r, consistenthash.New(c.VNodes, nil)}
	m.peer.Add(r.names...)
	return m, nil
}

func (m *groupcacheRing) LookupKey(key string) algorithms.Bucket {
	return bucketOf(m.peer.Get(key))
}

func (m *groupcacheRing) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *groupcacheRing) Len() int { return len(m.names) }

func (m *groupcacheRing) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if n.Weight != m.weight {
		return algorithms.None, errWeights()
	}
	b, name := m.next(n)
	m.peer.Add(name)
	m.bind(b, name)
	return b, nil
}
