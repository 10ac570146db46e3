// Package anchor is AnchorHash (Mendelson, Vargaftik, Barabash, Lorenz, Keslassy
// and Orda, "AnchorHash: A Scalable Consistent Hash", IEEE/ACM Transactions on
// Networking, 2021, arXiv 1812.09674), in the form of its section on the minimal
// memory implementation, with arrays A, W, L and K.
//
// The anchor is a fixed set of buckets, of which those that have a node are the
// working ones. A key is hashed to one bucket of the anchor. When that was removed,
// the key is hashed again, to one of the buckets that were still working right
// after the removal, and so on until it meets one that works. Any node can leave,
// and the buckets are given out again in the reverse order of their removal; every
// change moves the least possible and leaves the balance as even as chance
// allows.
//
// # Cost
//
// For a anchor buckets and n nodes a lookup takes 1 + H_a - H_n hashes in the mean,
// about 1 + ln(a/n), and as many steps again to find who stands in for a bucket
// that was removed since. Add and Remove cost constant time. The structure takes
// 16 bytes for each of the a buckets, and a cannot change: Add refuses a node that
// finds none left. Clients agree only when they have the same a, so those whose
// lists of nodes may differ in length have to set it.
//
// # Departures
//
// The paper leaves the hash functions open. Here the first is the upper part of h
// itself, the next ones mix h with the bucket (see rehash), and a hash becomes a
// bucket by a multiplication instead of a division. Buckets are handed to names by
// a list of its own, which lookups do not read.
//
// Weights must be equal. The paper knows one node a key; the replicas are those of
// the key's redraws, as package algorithms defines them, so it declines inherits.
package anchor

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/capacity"
)

// Info is the contestant. Where a node stands depends on its place in the list and
// on those that left before it came.
var Info = algorithms.Define("anchor", "Mendelson, Vargaftik, Barabash, Lorenz, Keslassy, Orda 2021, AnchorHash, arXiv 1812.09674", Default, New).
	Costing("O(1 + log(a/n)), 1 + H_a - H_n hashes", "16 bytes for each of a buckets").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// A Config says how many buckets the anchor has.
type Config struct {
	// Capacity is the size a of the anchor, the most nodes that there can ever
	// be. 0 makes it the least power of 2 that is twice the number of nodes that
	// New is given or more, and at least 16.
	Capacity int `json:"capacity"`
}

// Default leaves room for as many nodes again.
var Default = Config{Capacity: 0}

// bucketBytes is what one bucket of the anchor takes.
const bucketBytes = 16

// Forecast returns the bytes that the arrays will take.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	a, _ := capacity.Of(c.Capacity, len(nodes)) // New tells what is wrong
	return bucketBytes * int64(a)
}

// A Map gives keys to the working buckets of an anchor.
type Map struct {
	anchor  []bucket
	working []int32 // W: the working buckets in the first n places
	place   []int32 // L: where in working a bucket stands, or stood last
	n       int32
	removed []int32 // removed buckets, the last one last
	members *algorithms.Members
}

// A bucket is an element of the anchor, the paper's A and K of it.
type bucket struct {
	left int32 // A: working buckets that its removal left, 0 while it works
	heir int32 // K: the bucket that took its place among them
}

var (
	_ algorithms.Forecaster = Config{}

	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map with nodes[i] in bucket i. Unequal weights are not supported.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	a, err := capacity.Of(c.Capacity, len(nodes))
	if err != nil {
		return nil, err
	}
	m := &Map{
		anchor:  make([]bucket, a),
		working: make([]int32, a),
		place:   make([]int32, a),
		n:       int32(len(nodes)),
		members: members,
	}
	for i := range m.anchor {
		b := int32(i)
		m.anchor[b].heir, m.working[b], m.place[b] = b, b, b
		if b >= m.n { // as if removed from the last one down
			m.anchor[b].left = b
		}
	}
	return m, nil
}

// Lookup returns the working bucket that the hashes of h lead to.
//
// Whether the first bucket works is often a coin toss, which a branch would be
// mispredicted on. So the second one is computed anyhow, and dropped by a mask.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.n == 0 {
		return algorithms.None
	}
	first := scale(h, int32(len(m.anchor)))
	left := m.anchor[first].left
	works := (left - 1) >> 31 // all bits set when left is 0, else none
	second := m.standIn(scale(rehash(h, first), left), left|works&math.MaxInt32)
	b := second ^ (second^first)&works
	for left = m.anchor[b].left; left > 0; left = m.anchor[b].left {
		b = m.standIn(scale(rehash(h, b), left), left)
	}
	return algorithms.Bucket(b)
}

// scale maps a hash to 0..n-1, the same share to each.
func scale(h uint64, n int32) int32 {
	high, _ := bits.Mul64(h, uint64(n))
	return int32(high)
}

// rehash returns the hash of h for the removed bucket b: one step of the generator
// wyrand of Wang Yi (public domain).
func rehash(h uint64, b int32) uint64 {
	s := h + uint64(b)*0xa0761d6478bd642f
	high, low := bits.Mul64(s, s^0xe7037ed1a0b428db)
	return high ^ low
}

// standIn returns the bucket that stood at place b among the left working ones
// when the removal that left so many was made: b itself, unless it had been
// removed by then, or those that took its place one after the other.
func (m *Map) standIn(b, left int32) int32 {
	for m.anchor[b].left >= left {
		b = m.anchor[b].heir
	}
	return b
}

// LookupN writes the nodes of h and its redraws.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	return c.Redrawn(h, m.Lookup)
}

// LookupProbes is Lookup, with the number of hashes.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.n == 0 {
		return algorithms.None, 0
	}
	b := scale(h, int32(len(m.anchor)))
	for hashes := 1; ; hashes++ {
		left := m.anchor[b].left
		if left == 0 {
			return algorithms.Bucket(b), hashes
		}
		b = m.standIn(scale(rehash(h, b), left), left)
	}
}

// Clone returns a Map of its own, in O(a).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.anchor, c.working = slices.Clone(m.anchor), slices.Clone(m.working)
	c.place, c.removed = slices.Clone(m.place), slices.Clone(m.removed)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return int(m.n) }

// Footprint returns the bytes of the arrays.
func (m *Map) Footprint() int64 { return bucketBytes * int64(len(m.anchor)) }

// HotBytes returns the bytes of the anchor itself: the other arrays are for changes.
func (m *Map) HotBytes() int64 { return int64(unsafe.Sizeof(bucket{})) * int64(len(m.anchor)) }

// Add gives the node the bucket that was removed last; at first that is the one
// after the last. When all buckets work it is an error that wraps
// errors.ErrUnsupported.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if int(m.n) == len(m.anchor) {
		return algorithms.None, algorithms.Unsupported("node %q finds all %d buckets taken, build again with a larger capacity", n.Name, m.n)
	}
	b := m.n // while nothing is on the stack those from n on have never worked
	if last := len(m.removed) - 1; last >= 0 {
		b = m.removed[last]
	}
	if err := m.members.AddTo(algorithms.Bucket(b), n); err != nil {
		return algorithms.None, err
	}
	m.removed = m.removed[:max(0, len(m.removed)-1)]
	m.anchor[b] = bucket{left: 0, heir: b}
	m.place[m.working[m.n]] = m.n
	m.working[m.place[b]] = b
	m.n++
	return algorithms.Bucket(b), nil
}

// Remove removes the node of the bucket.
func (m *Map) Remove(gone algorithms.Bucket) error {
	if _, err := m.members.Remove(gone); err != nil {
		return err
	}
	b := int32(gone)
	m.n--
	if len(m.removed) > 0 || b < m.n {
		m.removed = append(m.removed, b)
	}
	heir := m.working[m.n]
	m.anchor[b] = bucket{left: m.n, heir: heir}
	m.working[m.place[b]] = heir
	m.place[heir] = m.place[b]
	return nil
}
