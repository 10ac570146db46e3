// Package binomial is BinomialHash: M. Coluzzi, A. Brocco, A. Antonucci and
// T. Leidi, "BinomialHash: A Constant Time, Minimal Memory Consistent Hash
// Algorithm" (2024, arXiv 2406.19836), section IV.
//
// The buckets 0 to n-1 are the nodes of a binomial tree, whose level i holds the
// buckets 2^i to 2^(i+1)-1. The low bits of a hash name a bucket of the smallest
// full tree that holds n, and a second hash moves it at random within its level.
// Where that is n or beyond the key tries again: it may meet another bucket of the
// lowest level, or one of the tree half as large, in which case it goes where that
// tree would have it. A key that has used up its tries goes to the smaller tree
// too.
//
// # Tries
//
// That last rule is a bias: with few tries the smaller tree has too many keys.
// A try fails with the chance c = (E-n)/E < 1/2, where E is the size of the full
// tree, and of the keys that should be in the lowest level the part c^tries is
// missing: with 6 tries 1.6% for n = E/2 + 1, which a million keys show. The default here is 64, so that no more than one key in 2^64 is
// misplaced and the balance is as even as chance allows at any n. It costs next to
// nothing, as the mean number of tries stays below 2. The parameter tries is there
// to show the bias, down to 1.
//
// # Departures
//
// None. The paper leaves the family of hashes open, and the one here mixes with two
// multiplications.
//
// # Cost
//
// One hash for n = 2^k, and 3.5 at most in the mean for any n; LookupProbes counts
// them. The structure is three numbers, 24 bytes whatever n is. Only the node added
// last can leave. Adding to n nodes moves 1/(n+1) of the keys, the least possible.
// Weights must be equal. The replicas of a key, of which the paper says nothing,
// are the first different nodes that its redraws give, as package algorithms
// defines them.
package binomial

import (
	"fmt"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

// Info is the contestant. The place in the list is what a node is known by.
var Info = algorithms.Define("binomial", "Coluzzi, Brocco, Antonucci, Leidi 2024, BinomialHash, arXiv 2406.19836", Default, New).
	Costing("O(1), at most 3.5 hashes in the mean", "constant").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config bounds the tries of a key.
type Config struct {
	// Tries is how often a key may look for a bucket below n in the lowest level
	// of the tree, at least 1.
	Tries int `json:"tries"`
}

// Default has tries enough that the balance is even.
var Default = Config{Tries: 64}

// A Map gives a key to the bucket that BinomialHash names.
type Map struct {
	list
	tries int
}

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
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.Tries < 1 {
		return nil, fmt.Errorf("tries %d, a key needs at least 1", c.Tries)
	}
	l, err := numbered.New(nodes)
	if err != nil {
		return nil, err
	}
	return &Map{l, c.Tries}, nil
}

// Lookup returns the bucket of h.
//
// Unless n is a power of two, chance decides how far a key has to go, and a branch
// on it would be mispredicted more than once a lookup. So all that the first three
// tries can lead to is computed, and conditional moves pick what holds.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	n, mask := m.N, m.Mask
	first := within(h, mask)
	if n > mask {
		return algorithms.Bucket(first)
	}
	if n == 0 {
		return algorithms.None
	}
	if m.tries < 3 {
		b, _ := bucket(h, n, mask, m.tries, rehash)
		return algorithms.Bucket(b)
	}
	smaller := mask >> 1
	above := within(h, smaller)
	r2, r3 := rehash(h, -1), rehash(h, -2)
	second, third := lowest(r2, mask), lowest(r3, mask)
	b := third
	if r3&mask <= smaller {
		b = above
	}
	if second < n {
		b = second
	}
	if r2&mask <= smaller {
		b = above
	}
	if first < n {
		b = first
	}
	if b >= n {
		b = fourth(h, above, n, mask, m.tries)
	}
	return algorithms.Bucket(b)
}

// fourth goes on from the fourth try, given where the key goes when it is above
// the lowest level.
func fourth(h, above, n, mask uint64, tries int) uint64 {
	for i := 3; i < tries; i++ {
		r := rehash(h, -i)
		if r&mask <= mask>>1 {
			break
		}
		if b := lowest(r, mask); b < n {
			return b
		}
	}
	return above
}

// lowest returns the bucket that r stands for in the lowest level of the tree,
// provided that its low bits name one there.
func lowest(r, mask uint64) uint64 {
	return mask&^(mask>>1) | rehash(r, bits.Len64(mask))&(mask>>1)
}

// LookupProbes is Lookup, with the number of hashes.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.N == 0 {
		return algorithms.None, 0
	}
	b, hashes := bucket(h, m.N, m.Mask, m.tries, rehash)
	return algorithms.Bucket(b), hashes
}

// A family gives the hashes of a key with hash h: one for each level of the tree,
// i being the number of bits of its buckets, and for i = -1, -2, ... those of the
// tries after the first.
type family func(h uint64, i int) uint64

// bucket returns the bucket of h among n, and the hashes that it takes. It is the
// paper's algorithm as printed.
func bucket(h, n, mask uint64, tries int, hash family) (b uint64, hashes int) {
	relocated := func(h, mask uint64) uint64 {
		hashes++
		return relocate(h&mask, hash(h, bits.Len64(h&mask)))
	}
	smaller := mask >> 1
	if b = relocated(h, mask); b < n {
		return b, hashes
	}
	for i := 1; i < tries; i++ {
		hashes++
		b = relocated(hash(h, -i), mask)
		if b <= smaller {
			break
		}
		if b < n {
			return b, hashes
		}
	}
	return relocated(h, smaller), hashes
}

// within returns the bucket of h in the full tree that mask numbers.
func within(h, mask uint64) uint64 {
	return relocate(h&mask, rehash(h, bits.Len64(h&mask)))
}

// relocate moves bucket b to a place in its level, which the low bits of r tell.
// Bucket 0 is above all levels.
func relocate(b, r uint64) uint64 {
	above := uint64(1)<<(bits.Len64(b)&63) - 1 // the last number with as many bits
	place := above >> 1
	return above&^place&b | r&place
}

// rehash returns the i-th hash of the key with hash h. The finalizer is Moremur of
// P. Evensen (public domain), and the step between the hashes is odd and without
// structure, the fractional part of the square root of 5.
func rehash(h uint64, i int) uint64 {
	h += uint64(i) * 0x3c6ef372fe94f82b
	h = (h ^ h>>27) * 0x3c79ac492ba7b653
	h = (h ^ h>>33) * 0x1c69b3f74ac4ae35
	return h ^ h>>27
}

// LookupN writes the nodes that h and its redraws give.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.Replicas(h, dst, m.Lookup)
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	return &Map{m.Copy(), m.tries}
}

// Footprint returns the bytes of the three numbers that a lookup reads.
func (m *Map) Footprint() int64 { return 24 }
