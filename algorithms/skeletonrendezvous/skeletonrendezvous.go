// Package skeletonrendezvous is rendezvous hashing in a hierarchy, for large
// numbers of nodes (Yao, Ravishankar and Tripathi, "Hash-Based Virtual Hierarchies
// for Caching in Hybrid Content-Delivery Networks", UC Riverside, 2001, known as
// the skeleton): the nodes are the leaves of a tree of virtual nodes, and a key
// goes down from the root, at each virtual node to the child that scores highest
// for it. That takes the logarithm of n scores in place of n.
//
// # Departures
//
// The paper builds the skeleton over clusters of m nodes with fan-out f, all alike,
// and lets the other nodes of a cluster take over from one that is missing; so the
// shares are uneven unless n is m times a power of f and nobody is missing. Here
//
//   - the skeleton is the binary trie of the hashes of the names, without virtual
//     nodes that have but one child. It depends on the names alone, neither on the
//     order of the nodes nor on who was there before;
//   - a child's score has the weight of all nodes below it, as in package
//     weightedrendezvous. Between two children the higher score is a matter of one
//     draw: the left one has it with the probability of its part of the weight. So
//     the shares follow the weights exactly, whatever the shape of the skeleton;
//   - a cluster is one node.
//
// The price of even shares is movement: a change of weight at a leaf changes that of
// all virtual nodes above, and at each of them some keys go over to the child that
// became heavier, or away from the lighter one, and then to any of the nodes below
// it. So it declines minimal movement. For n nodes of equal weight a new one moves
// about log2(n)/2 times the least possible: 5 times for 1000.
//
// # Cost
//
// A lookup takes one draw for each virtual node on its way, log2(n) + 0.33 in the
// mean. Add, Remove and SetWeight cost as much. The structure takes 56 bytes a node.
//
// The paper knows one node a key; the replicas are those of the key's redraws, as
// package algorithms defines them, so it declines inherits.
package skeletonrendezvous

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
)

// Info is the contestant.
var Info = algorithms.Define("skeleton-rendezvous",
	"Yao, Ravishankar, Tripathi 2001, hash-based virtual hierarchies; weighted, over a binary trie of the names", Default, New).
	Costing("O(log n), log2(n) + 0.33 draws", "56 bytes a node").
	Declining(algorithms.MinimalMovement, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map leads keys down a skeleton of virtual nodes.
type Map struct {
	root   child
	total  float64 // weight of all nodes
	draws  []drawing
	shapes []shape  // by the same index
	free   []child  // indices that are in no use
	hashes []uint64 // of the names, by bucket

	members *algorithms.Members
}

// A child is the index of a virtual node, or as its complement the bucket of a
// node.
type child int32

// nobody is the root when there are no nodes.
const nobody child = math.MinInt32

// A drawing is what a lookup needs of a virtual node.
type drawing struct {
	seed     uint64
	first    uint64 // how many of 2^63 draws lead to the first child
	children [2]child
}

// A shape is what a change needs of a virtual node. In the trie it is the place
// where the hashes of names that begin alike part at one bit.
type shape struct {
	prefix  uint64 // the bits that are alike, then a one for the bit, then zeros
	weights [2]float64
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{
		root:    nobody,
		draws:   make([]drawing, 0, len(nodes)),
		shapes:  make([]shape, 0, len(nodes)),
		hashes:  make([]uint64, 0, len(nodes)),
		members: members,
	}
	for b, n := range members.All() {
		m.insert(b, n)
	}
	return m, nil
}

// Lookup returns the bucket at the end of the way of h.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.total == 0 {
		return algorithms.None
	}
	at := m.root
	for at >= 0 {
		at = m.draws[at].lead(h)
	}
	return algorithms.Bucket(^at)
}

// lead returns the child that h goes to. It draws with one step of the generator
// wyrand of Wang Yi (public domain), and has no branch, which would be mispredicted
// half of the time.
func (d *drawing) lead(h uint64) child {
	s := h ^ d.seed
	high, low := bits.Mul64(s, s^0xe7037ed1a0b428db)
	_, isFirst := bits.Sub64((high^low)>>1, d.first, 0)
	return d.children[1-isFirst&1]
}

// LookupN writes the nodes of h and its redraws.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	return c.Redrawn(h, m.Lookup)
}

// LookupProbes is Lookup, with the number of draws.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.total == 0 {
		return algorithms.None, 0
	}
	at, draws := m.root, 0
	for ; at >= 0; draws++ {
		at = m.draws[at].lead(h)
	}
	return algorithms.Bucket(^at), draws
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.draws, c.shapes = slices.Clone(m.draws), slices.Clone(m.shapes)
	c.free, c.hashes = slices.Clone(m.free), slices.Clone(m.hashes)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Footprint returns the bytes of the skeleton and the hashes.
func (m *Map) Footprint() int64 {
	return int64(len(m.draws))*int64(unsafe.Sizeof(drawing{})+unsafe.Sizeof(shape{})) + int64(len(m.hashes))*8
}

// HotBytes returns the bytes of the draws: shapes and hashes are for changes.
func (m *Map) HotBytes() int64 { return int64(len(m.draws)) * int64(unsafe.Sizeof(drawing{})) }

// Add adds the node.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	m.insert(b, n)
	return b, nil
}

// Remove removes the node of the bucket.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	m.delete(b)
	return nil
}

// SetWeight sets the weight of the node of the bucket.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	var p path
	p.follow(m, m.hashes[b])
	m.weigh(&p, light(w))
	return nil
}
