// Package modulo is the baseline that consistent hashing was invented to
// replace: the hash modulo the number of nodes.
//
// A lookup costs one division, the structure is one number. The balance is as
// even as chance allows. But the remainder depends on the number of nodes, so
// going from n to m nodes moves 1 - min(n,m)/lcm(n,m) of the keys: with one node
// more, n/(n+1) of them, where 1/(n+1) would do.
//
// A hash of 32 bits is taken as the number that it is, as crc32(key) % n.
//
// A node's place in the list is its identity, hence only the last can leave. The
// replicas of a key are the first different nodes that its redraws give, as
// package algorithms defines them.
package modulo

import (
	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

// Info is the contestant.
var Info = algorithms.Define("modulo", "hash mod n; the baseline", Default, New).
	Costing("O(1), one division", "constant").
	Declining(algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives the key with hash h to bucket h mod n.
type Map struct{ list }

type list = numbered.List

var (
	_ algorithms.Adder        = (*Map)(nil)
	_ algorithms.LastRemover  = (*Map)(nil)
	_ algorithms.Replicator   = (*Map)(nil)
	_ algorithms.Prober       = (*Map)(nil)
	_ algorithms.Sizer        = (*Map)(nil)
	_ algorithms.Cloner       = (*Map)(nil)
	_ algorithms.NumberMapper = (*Map)(nil)
)

// New returns a Map over the nodes in their order. Unequal weights are not
// supported.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	l, err := numbered.New(nodes)
	if err != nil {
		return nil, err
	}
	return &Map{l}, nil
}

// Lookup returns h mod n.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.N == 0 {
		return algorithms.None
	}
	return algorithms.Bucket(h % m.N)
}

// Divisor returns the number of nodes.
func (m *Map) Divisor() (divisor uint64, number bool) { return m.N, true }

// LookupN writes the nodes that h and its redraws give.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.Replicas(h, dst, m.Lookup)
}

// LookupProbes is Lookup, with the number of divisions.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) { return m.Lookup(h), 1 }

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.Copy()} }

// Footprint returns the bytes of the one number that a lookup reads.
func (m *Map) Footprint() int64 { return 8 }
