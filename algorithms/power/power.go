// Package power is the power consistent hash of Leu, "Fast Consistent Hashing in
// Constant Time" (2023, arXiv 2307.12448): like jump it numbers the nodes 0 to n-1
// and lets only the last one leave, and unlike jump its time does not grow
// with n.
//
// The paper's algorithm stands on two functions. With m the least power of 2 that
// is n or more:
//
//   - f(h, m) gives each of 0..m-1 the same share and is consistent from one
//     power of 2 to the next. The leading one of the low bits of h names a level
//     2^j..2^(j+1)-1, and a hash of h and j the place in it.
//   - g(h, n) walks up from m/2-1 as jump does and gives each of m/2..n-1 the
//     share 1/n, or m/2-1 when it meets none of them.
//
// A key is in f(h, m) if that is below n; else in g(h, n) if that is m/2 or more;
// else in f(h, m/2).
//
// A lookup takes one draw for n = 2^k. In between the mean is
//
//	1 + (m-n)/m * (1 + H_n - H_(m/2) + m/(2n)),   H_i = 1 + 1/2 + ... + 1/i,
//
// which is under 2.2, the highest just above a power of 2. The structure has the
// same few bytes for any n. Growing from n to m nodes moves (m-n)/m of the keys,
// the least possible, and the balance is as even as chance allows.
//
// # Departures
//
// The paper leaves the two hash functions open and walks in floating point. Here a
// draw is one multiplication (see draw), and the walk is in
// integers, exact for draws of 64 bits: whether the next step is beyond the last
// node takes a multiplication, and only a step that is not takes a division.
//
// Weights must be equal. The paper knows one node a key; the replicas are those of
// the key's redraws, as package algorithms defines them, so it declines inherits.
package power

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

// Info is the contestant.
var Info = algorithms.Define("power", "Leu 2023, arXiv 2307.12448, power consistent hash", Default, New).
	Costing("O(1), at most 2.2 draws in the mean", "constant").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives a key to the node whose number is its power consistent hash.
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
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.N < 2 {
		return algorithms.Bucket(m.N) - 1 // 0, or None
	}
	slot := spread(h, m.Mask)
	if slot >= m.N {
		slot = overflow(h, m.N, m.Mask>>1+1)
	}
	return algorithms.Bucket(slot)
}

// spread is the function f for mask+1 slots, mask+1 a power of 2: the draws of h
// for its levels, of which it needs one.
func spread(h, mask uint64) uint64 {
	level := uint(bits.Len64(h & mask))
	return place(draw(h, uint64(level)), level)
}

// place returns the slot that the draw r names among those whose highest bit is
// number level, counted from 1; level 0 is slot 0 alone.
func place(r uint64, level uint) uint64 {
	bit := uint64(1) << (level & 63)
	return bit>>1 | r&((bit-1)>>1)
}

// overflow is where a key goes whose f(h, m) is n or more.
func overflow(h, n, half uint64) uint64 {
	for x := half - 1; ; {
		next, inside := step(x, n, draw(h, walk+x))
		switch {
		case inside:
			x = next
		case x < half:
			return spread(h, half-1)
		default:
			return x
		}
	}
}

// walk keeps the draws of the walk, which are numbered by slots, apart from those
// of the levels.
const walk = 64

// step returns the slot that the draw r of the walk leads to from slot x, and
// whether it is below n. With the fraction u = d/2^64, 0 < u < 1, that is the
// least j > x for which u > (x+1)/(j+1); so j+1 > (x+1)/u, and j is (x+1)/u rounded
// down. It is below n exactly when n*d > (x+1)*2^64. As d is odd, n*d has not its
// low word 0, and the high word alone decides.
func step(x, n, r uint64) (j uint64, inside bool) {
	d := r | 1
	if high, _ := bits.Mul64(n, d); high <= x {
		return 0, false
	}
	j, _ = bits.Div64(x+1, 0, d)
	return j, true
}

// draw returns the number i of the draws of h, each of them 64 bits: one step of
// the generator wyrand of Wang Yi (public domain) from a state that is i steps
// after h.
func draw(h, i uint64) uint64 {
	s := h + i*0xa0761d6478bd642f
	high, low := bits.Mul64(s, s^0xe7037ed1a0b428db)
	return high ^ low
}

// LookupN writes the nodes of h and its redraws.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.Replicas(h, dst, m.Lookup)
}

// LookupProbes is Lookup, with the number of draws.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.N < 2 {
		return m.Lookup(h), 0
	}
	if slot := spread(h, m.Mask); slot < m.N {
		return algorithms.Bucket(slot), 1
	}
	draws := 1
	for x := m.Mask >> 1; ; {
		draws++
		next, inside := step(x, m.N, draw(h, walk+x))
		switch {
		case inside:
			x = next
		case x <= m.Mask>>1:
			return algorithms.Bucket(spread(h, m.Mask>>1)), draws + 1
		default:
			return algorithms.Bucket(x), draws
		}
	}
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.Copy()} }

// Footprint returns the bytes of the two numbers that a lookup reads.
func (m *Map) Footprint() int64 { return 16 }
