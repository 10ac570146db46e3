// Package flip is FlipHash: C. Masson and H. K. Lee, "FlipHash: A Constant-Time
// Consistent Range-Hashing Algorithm" (2024, arXiv 2402.17549), section 3.
//
// Over 2^r buckets, section 3.1, the lowest r bits of a hash name one; the bits
// under the highest set one are then flipped by a second hash, which depends on
// where that one stands. Without it two buckets of the lower half would always
// send their keys to the same two of the upper half as r grows, and growth by one
// bucket would then not draw evenly from all. Over any n <= 2^r buckets, section
// 3.2, a key whose bucket is n or beyond draws again from all 2^r, until it meets
// an upper bucket below n and stays there, or a lower one and goes where 2^(r-1)
// buckets would have it.
//
// # Departures
//
// None: hash family and bound are those of the authors' library fliphash-rs, from
// which the test vectors come. After 64 draws a key goes to the lower half; that
// happens to fewer than one in 2^64, so it cannot be seen in the balance.
//
// # Cost
//
// Two hashes for n = 2^k and 3.5 at most in the mean for every n; LookupProbes
// counts them. The structure is two numbers, 16
// bytes whatever n is. Only the node added last can leave. Adding to n nodes moves
// 1/(n+1) of the keys, the least possible, and the balance is as even as chance
// allows. Weights must be equal. The replicas of a key, of which the paper says
// nothing, are the first different nodes that its redraws give, as package
// algorithms defines them.
package flip

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

// Info is the contestant. The place in the list is what a node is known by.
var Info = algorithms.Define("flip", "Masson, Lee 2024, FlipHash, arXiv 2402.17549", Default, New).
	Costing("O(1), at most 3.5 hashes in the mean", "constant").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives a key to the bucket that FlipHash names.
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
// Unless n is a power of two, chance decides how far a key has to go, and a branch
// on it would be mispredicted more than once a lookup. So all that two draws can
// lead to is computed, and conditional moves pick what holds.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	n, mask := m.N, m.Mask
	base := hash(h, 0, 0)
	first := flip(h, base, mask)
	if n > mask {
		return algorithms.Bucket(first)
	}
	if n == 0 {
		return algorithms.None
	}
	lower := mask >> 1
	below := flip(h, base, lower)
	level := uint64(bits.Len64(lower))
	second, third := hash(h, level, 1)&mask, hash(h, level, 2)&mask
	b := third
	if third <= lower {
		b = below
	}
	if second < n {
		b = second
	}
	if second <= lower {
		b = below
	}
	if first < n {
		b = first
	}
	if b >= n {
		b, _ = bucket(h, n, mask)
	}
	return algorithms.Bucket(b)
}

// LookupProbes is Lookup, with the number of hashes.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.N == 0 {
		return algorithms.None, 0
	}
	b, hashes := bucket(h, m.N, m.Mask)
	return algorithms.Bucket(b), hashes
}

// Hash returns the bucket in 0..n-1 of the key with hash h, or -1 when n < 1. It
// is the authors' fliphash_64 of h with the range end n-1; their seed is xored
// into the key.
func Hash(h uint64, n int32) int32 {
	if n < 1 {
		return -1
	}
	b, _ := bucket(h, uint64(n), numbered.Mask(uint64(n)))
	return int32(b)
}

// maxDraws bounds the draws of a key.
const maxDraws = 64

// bucket returns the bucket of h among n, and the hashes that it takes.
func bucket(h, n, mask uint64) (b uint64, hashes int) {
	base := hash(h, 0, 0)
	if b = flip(h, base, mask); b < n {
		return b, 2
	}
	lower := mask >> 1
	level := uint64(bits.Len64(lower))
	draws := uint64(1)
	for ; draws <= maxDraws; draws++ {
		b = hash(h, level, draws) & mask
		if b <= lower {
			break
		}
		if b < n {
			return b, 2 + int(draws)
		}
	}
	return flip(h, base, lower), 3 + int(min(draws, maxDraws))
}

// flip returns the bucket of h among mask+1, a power of two, given the base hash
// of h: its low bits, with those under the highest set one flipped at random.
// Without a set bit it needs no second hash, and ignores it.
func flip(h, base, mask uint64) uint64 {
	b := base & mask
	length := bits.Len64(b)
	under := (uint64(1)<<(length&63) - 1) >> 1
	return b ^ hash(h, uint64(length-1), 0)&under
}

// hash is the authors' family of hashes of a key: by the place of a bit, and by
// the number of the draw.
func hash(key, bit, draw uint64) uint64 {
	key *= 2*bit + 1
	key = (key ^ key>>27) * 0x3c79ac492ba7b653
	key *= 2*draw + 1
	key = (key ^ key>>33) * 0x1c69b3f74ac4ae35
	return key ^ key>>27
}

// LookupN writes the nodes that h and its redraws give.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.Replicas(h, dst, m.Lookup)
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.Copy()} }

// Footprint returns the bytes of the two numbers that a lookup reads.
func (m *Map) Footprint() int64 { return 16 }
