// Package jumpback is JumpBackHash: O. Ertl, "JumpBackHash: Say Goodbye to the
// Modulo Operation to Distribute Keys Uniformly to Buckets" (2024, arXiv
// 2403.18682), algorithm 3, which gives jump hash's guarantees in constant time
// and in integers.
//
// A key has an endless list of active indices, the bucket numbers at which it
// moves as the cluster grows, and its bucket among n is the last of them below n.
// Jump hash draws the list from 0 up, about ln(n) draws. This draws it from above
// n down. The list falls into octaves [2^i, 2^(i+1)): one random word says with
// one bit each which octaves hold an active index at all, and the last index of
// the uppermost of those is nearly always the answer. Only in the octave that n
// itself cuts can it lie at n or beyond, and then further draws walk down that
// octave's list.
//
// # Departures
//
// None: with SplitMix64 for the generator, seeded with the hash of the key, the
// answers are those of the author's library hash4j, from which the test vectors
// come.
//
// # Cost
//
// One draw for n = 2^k, and fewer than 5/3 in the mean for every n, where a draw
// is one random word of 64 bits and LookupProbes counts them. The structure is two
// numbers, 16 bytes whatever n is. Only the node added last can leave. Adding to n
// nodes moves 1/(n+1) of the keys, the least possible, and the balance is as even
// as chance allows. Weights must be equal. The replicas of a key, of which the
// paper says nothing, are the first different nodes that its redraws give, as
// package algorithms defines them.
package jumpback

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

// Info is the contestant. The place in the list is what a node is known by.
var Info = algorithms.Define("jumpback", "Ertl 2024, JumpBackHash, arXiv 2403.18682", Default, New).
	Costing("O(1), at most 5/3 draws in the mean", "constant").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives a key to the bucket that JumpBackHash names.
type Map struct{ list }

type list = numbered.List

var (
	_ algorithms.Adder       = (*Map)(nil)
	_ algorithms.LastRemover = (*Map)(nil)
	_ algorithms.Replicator  = (*Map)(nil)
	_ algorithms.Prober      = (*Map)(nil)
	_ algorithms.Sizer       = (*Map)(nil)
	_ algorithms.Cloner      = (*Map)(nil)
)

// New returns a Map over the nodes. Unequal weights are not supported.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	l, err := numbered.New(nodes)
	if err != nil {
		return nil, err
	}
	return &Map{l}, nil
}

// Lookup returns the bucket of h.
//
// Unless n is a power of two, chance decides how far back a key has to go, and a
// branch on it would be mispredicted more than once a lookup. So all that two
// words can lead to is computed, and conditional moves pick what holds.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	n, mask := m.N, m.Mask
	first := word(h, 1)
	octaves := first ^ first>>half
	last := lastOf(octaves&mask, first)
	if n > mask {
		return algorithms.Bucket(last)
	}
	if n == 0 {
		return algorithms.None
	}
	lower := mask >> 1
	below := lastOf(octaves&lower, first)
	second := word(h, 2)
	right, left := second&mask, second>>half&mask
	b := left
	if left <= lower {
		b = below
	}
	if right < n {
		b = right
	}
	if right <= lower {
		b = below
	}
	if last < n {
		b = last
	}
	if b >= n {
		b, _ = jumpBack(h, n, mask)
	}
	return algorithms.Bucket(b)
}

// LookupProbes is Lookup, with the number of draws.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.N == 0 {
		return algorithms.None, 0
	}
	b, draws := jumpBack(h, m.N, m.Mask)
	return algorithms.Bucket(b), draws
}

// Hash returns the bucket in 0..n-1 of the key with hash h, or -1 when n < 1.
func Hash(h uint64, n int32) int32 {
	if n < 1 {
		return -1
	}
	b, _ := jumpBack(h, uint64(n), numbered.Mask(uint64(n)))
	return int32(b)
}

// half is the number of bits in a half of a word. Each half serves as a draw.
const half = 32

// jumpBack returns the last active index of h below n, and how many words that
// takes.
func jumpBack(h, n, mask uint64) (b uint64, draws int) {
	first := word(h, 1)
	octaves := first ^ first>>half
	if b = lastOf(octaves&mask, first); b < n {
		return b, 1
	}
	lower := mask >> 1
	for draws = 2; ; draws++ {
		w := word(h, draws)
		for _, b := range [2]uint64{w & mask, w >> half & mask} {
			if b <= lower {
				return lastOf(octaves&lower, first), draws
			}
			if b < n {
				return b, draws
			}
		}
	}
}

// lastOf returns the last active index of a key in the uppermost of the octaves,
// which are given as a set of bits, or 0 when the set is empty: every list begins
// there. Which half of the first word tells it depends on the number of octaves,
// so that an octave and the next one with an index never share a half.
func lastOf(octaves, first uint64) uint64 {
	length := bits.Len64(octaves)
	low := uint64(1) << (length & 63) >> 1      // where the octave begins
	within := (uint64(1)<<(length&63) - 1) >> 1 // all bits of a place in it
	return low + first>>(bits.OnesCount64(octaves)%2*half)&within
}

// word returns the i-th word, from 1 on, of SplitMix64 seeded with h (G. Steele,
// D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
// 2014).
func word(h uint64, i int) uint64 {
	z := h + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// LookupN writes the nodes that h and its redraws give.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.Replicas(h, dst, m.Lookup)
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.Copy()} }

// Footprint returns the bytes of the two numbers that a lookup reads.
func (m *Map) Footprint() int64 { return 16 }
