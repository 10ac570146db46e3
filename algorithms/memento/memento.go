// Package memento is MementoHash (Coluzzi, Brocco, Antonucci and Leidi,
// "MementoHash: A Stateful, Minimal Memory, Best Performing Consistent Hash
// Algorithm", IEEE/ACM Transactions on Networking, 2024, arXiv 2306.09783): jump,
// and a memory of those nodes that are missing.
//
// Jump hashes a key to one of the buckets 0 to n-1. When that is missing, the key
// is hashed again, to one of the buckets that were still working right after the
// removal, and so on until it meets one that works. So any node can leave, and as
// long as only the last one does there is nothing to remember and the algorithm is
// jump. Missing buckets are given out again in the reverse order of their removal;
// after that n grows, without a limit. Every change moves the least possible and
// leaves the balance as even as chance allows.
//
// # Cost
//
// For w working nodes out of n buckets a lookup takes the H_n draws of jump, then
// H_n - H_w hashes in the mean, about ln(n/w), and as many steps again to find who
// stands in for a bucket that was removed earlier. Each looks in a hash table. Add
// and Remove cost constant time, but for the table's growth. The structure takes
// 24 to 96 bytes for every missing bucket (a row of 12 bytes in a table filled
// between an eighth and a half), and nothing when none is missing.
//
// # Departures
//
// Jump is the form in integers of package jump, which gives the same answers. The
// paper leaves the other hash function open; here it mixes h with the bucket (see
// rehash). Buckets are handed to names by a list of its own, which lookups do not
// read.
//
// Weights must be equal. The paper knows one node a key; the replicas are those of
// the key's redraws, as package algorithms defines them, so it declines inherits.
package memento

import (
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/jump"
)

// Info is the contestant. Where a node stands depends on its place in the list and
// on those that left before it came.
var Info = algorithms.Define("memento", "Coluzzi, Brocco, Antonucci, Leidi 2024, MementoHash, arXiv 2306.09783", Default, New).
	Costing("O(log n), H_n draws and H_n - H_w hashes", "24 to 96 bytes for each missing node").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives keys to the working buckets among 0 to n-1.
type Map struct {
	n       int32 // buckets, the missing ones included
	last    int32 // the bucket removed last; n when none is missing
	missing missing
	members *algorithms.Members
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map with nodes[i] in bucket i. Unequal weights are not supported.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	n := int32(len(nodes))
	return &Map{n: n, last: n, members: members}, nil
}

// working returns the number of nodes.
func (m *Map) working() int32 { return m.n - int32(m.missing.count) }

// Lookup returns the working bucket that the hashes of h lead to.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	b := jump.Hash(h, m.n) // -1 when n is 0
	if m.missing.count == 0 {
		return algorithms.Bucket(b)
	}
	b, _ = m.search(h, b)
	return algorithms.Bucket(b)
}

// search returns the working bucket that the hashes of h lead to from bucket b, and
// how many hashes that took; None when no bucket works.
func (m *Map) search(h uint64, b int32) (found int32, hashes int) {
	if m.working() == 0 {
		return int32(algorithms.None), 0
	}
	for {
		left, missing := m.missing.left(b)
		if !missing {
			return b, hashes
		}
		b = m.standIn(scale(rehash(h, b), left), left)
		hashes++
	}
}

// scale maps a hash to 0..n-1, the same share to each.
func scale(h uint64, n int32) int32 {
	high, _ := bits.Mul64(h, uint64(n))
	return int32(high)
}

// rehash returns the hash of h for the missing bucket b: one step of the generator
// wyrand of Wang Yi (public domain).
func rehash(h uint64, b int32) uint64 {
	s := h + uint64(b+1)*0xa0761d6478bd642f
	high, low := bits.Mul64(s, s^0xe7037ed1a0b428db)
	return high ^ low
}

// standIn returns the bucket that stood at place b among the left working ones
// when the removal that left so many was made. When bucket b was missing by then,
// the one at the place equal to the number that its own removal left had taken its
// place, and so on.
func (m *Map) standIn(b, left int32) int32 {
	for {
		earlier, missing := m.missing.left(b)
		if !missing || earlier < left {
			return b
		}
		b = earlier
	}
}

// LookupN writes the nodes of h and its redraws.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	return c.Redrawn(h, m.Lookup)
}

// LookupProbes is Lookup, with the number of hashes, of which jump's is one.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.working() == 0 {
		return algorithms.None, 0
	}
	b, hashes := m.search(h, jump.Hash(h, m.n))
	return algorithms.Bucket(b), 1 + hashes
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.missing.rows = slices.Clone(m.missing.rows)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return int(m.working()) }

// Divisor says that a hash is taken as a number, as in package jump, which answers
// as long as no bucket is missing.
func (m *Map) Divisor() (divisor uint64, number bool) { return 0, true }

// Footprint returns the bytes of the table of the missing buckets.
func (m *Map) Footprint() int64 { return rowBytes * int64(len(m.missing.rows)) }

// HotBytes returns the bytes of the rows, which lookups read only while a bucket is
// missing.
func (m *Map) HotBytes() int64 {
	if m.missing.count == 0 {
		return 0
	}
	return m.Footprint()
}

// Add gives the node the bucket that was removed last, or a new one after the last
// when none is missing.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b := m.last
	if err := m.members.AddTo(algorithms.Bucket(b), n); err != nil {
		return algorithms.None, err
	}
	if b == m.n {
		m.n++
		m.last = m.n
	} else {
		m.last = m.missing.delete(b)
	}
	return algorithms.Bucket(b), nil
}

// Remove removes the node of the bucket.
func (m *Map) Remove(gone algorithms.Bucket) error {
	if _, err := m.members.Remove(gone); err != nil {
		return err
	}
	b := int32(gone)
	if m.missing.count == 0 && b == m.n-1 {
		m.n--
		m.last = m.n
		return nil
	}
	m.missing.insert(b, m.working()-1, m.last)
	m.last = b
	return nil
}
