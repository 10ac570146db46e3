package peers

import (
	serialx "github.com/serialx/hashring"

	"github.com/ringbench/ringbench/algorithms"
)

// hashring makes a new ring at every change. It is the one with weights, which are
// numbers of points; a change that makes no sense gives back the same ring.
var hashring = ring("serialx-hashring", "github.com/serialx/hashring v0.0.0-20200727003509-22c0c7ab6b1b", newHashring)

type hashringNodes struct {
	roster
	peer   *serialx.HashRing
	config Vnodes
	points map[algorithms.Bucket]int
}

func newHashring(nodes []algorithms.Node, c Vnodes) (*hashringNodes, error) {
	m := &hashringNodes{roster: newRoster(nodes), config: c, points: map[algorithms.Bucket]int{}}
	weights := make(map[string]int, len(nodes))
	for i, n := range nodes {
		weights[m.names[i]] = c.points(n.Weight)
		m.points[algorithms.Bucket(i)] = weights[m.names[i]]
	}
	m.peer = serialx.NewWithWeights(weights)
	return m, nil
}

func (m *hashringNodes) LookupKey(key string) algorithms.Bucket {
	name, _ := m.peer.GetNode(key)
	return bucketOf(name)
}

func (m *hashringNodes) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *hashringNodes) Len() int { return m.peer.Size() }

func (m *hashringNodes) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, name := m.next(n)
	points := m.config.points(n.Weight)
	ring := m.peer.AddWeightedNode(name, points)
	if ring == m.peer {
		return algorithms.None, errIgnored
	}
	m.peer = ring
	m.bind(b, name)
	m.points[b] = points
	return b, nil
}

func (m *hashringNodes) Remove(b algorithms.Bucket) error {
	ring := m.peer.RemoveNode(m.leaving(b))
	if ring == m.peer {
		return errIgnored
	}
	m.peer = ring
	m.unbind(b)
	delete(m.points, b)
	return nil
}

func (m *hashringNodes) SetWeight(b algorithms.Bucket, w float64) error {
	points := m.config.points(w)
	if w == 0 {
		return algorithms.Unsupported("it passes over a weight of 0")
	}
	if was, bound := m.points[b]; bound && was == points {
		return nil
	}
	ring := m.peer.UpdateWeightedNode(m.leaving(b), points)
	if ring == m.peer {
		return errIgnored
	}
	m.peer, m.points[b] = ring, points
	return nil
}
