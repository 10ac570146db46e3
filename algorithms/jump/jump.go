// Package jump is the jump consistent hash of Lamping and Veach, "A Fast,
// Minimal Memory, Consistent Hash Algorithm" (2014, arXiv 1406.2294), in a form
// that is faster than the published one and gives the same answer for every
// input.
//
// The hash of a key seeds a generator whose draws say at which sizes of the
// cluster the key changes its slot; the last change at or below n names the
// slot. That takes H_n = 1 + 1/2 + ... + 1/n draws in the mean, so the time
// grows with the logarithm of n. Growing from n to m moves (m-n)/m of the keys,
// the least possible, and the balance is as even as chance allows.
//
// The paper numbers the nodes 0 to n-1 and lets only the last one leave. Here a
// list of n buckets stands between slot and node, so that any node can leave and
// a bucket stays bound to its node. There are three contestants, alike but for
// one thing:
//
//   - jump: the node in the last slot moves into the gap. (2n-3)/(n(n-1)) of the
//     keys move where 1/n would do, because the keys that the gap's last draws
//     would have to share out go from and to the last slot.
//   - jump-reference: the same with github.com/dgryski/go-jump in its core, to
//     measure the faster form against and to test it.
//   - jump-shift: the nodes after the gap move up by one, as in a list in a
//     configuration file. When the node in slot i < n-1 leaves,
//     1 - i/n - 1/(n(n-1)) of the keys move.
//
// Weights must be equal. The paper knows one node a key; the replicas are the
// first different nodes that the key's redraws jump to, as package algorithms
// defines them. They are as even as the owners, and a node more changes as few
// sets as can be. But a node's keys do not go to their second replicas when it
// leaves: jump gives them to others, so it declines inherits.
package jump

import (
	"math/bits"

	reference "github.com/dgryski/go-jump"

	"github.com/ringbench/ringbench/algorithms"
)

const paper = "Lamping, Veach 2014, arXiv 1406.2294"

// The contestants. None keeps movement minimal when a node leaves from the
// middle, and the place in the list is what a node is known by.
var (
	Info = algorithms.Define("jump", paper+", exact in integers", Default, New).
		Costing("O(log n), H_n draws", "4 bytes a node").
		Declining(algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits)
	ReferenceInfo = algorithms.Define("jump-reference", paper+", dgryski/go-jump", Default, NewReference).
			Costing("O(log n), H_n draws", "4 bytes a node").
			Declining(algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits)
	ShiftInfo = algorithms.Define("jump-shift", paper+", the list shifts when a node leaves", Default, NewShift).
			Costing("O(log n), H_n draws", "4 bytes a node").
			Declining(algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits)
)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map is the contestant jump.
type Map struct{ seats }

// A ShiftMap is the contestant jump-shift.
type ShiftMap struct{ seats }

// A ReferenceMap is the contestant jump-reference.
type ReferenceMap struct{ seats }

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)

	_ algorithms.BatchMapper = (*Map)(nil)

	_ algorithms.Adder      = (*ShiftMap)(nil)
	_ algorithms.Remover    = (*ShiftMap)(nil)
	_ algorithms.Replicator = (*ShiftMap)(nil)
	_ algorithms.Prober     = (*ShiftMap)(nil)

	_ algorithms.Adder      = (*ReferenceMap)(nil)
	_ algorithms.Remover    = (*ReferenceMap)(nil)
	_ algorithms.Replicator = (*ReferenceMap)(nil)
)

// New returns a Map with nodes[i] in slot i.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	s, err := newSeats(nodes)
	if err != nil {
		return nil, err
	}
	return &Map{s}, nil
}

// NewShift returns a ShiftMap with nodes[i] in slot i.
func NewShift(nodes []algorithms.Node, _ Config) (*ShiftMap, error) {
	s, err := newSeats(nodes)
	if err != nil {
		return nil, err
	}
	return &ShiftMap{s}, nil
}

// NewReference returns a ReferenceMap with nodes[i] in slot i.
func NewReference(nodes []algorithms.Node, _ Config) (*ReferenceMap, error) {
	s, err := newSeats(nodes)
	if err != nil {
		return nil, err
	}
	return &ReferenceMap{s}, nil
}

// Lookup returns the bucket in the slot that h jumps to.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if len(m.slots) == 0 {
		return algorithms.None
	}
	return m.slots[jump(h, uint64(len(m.slots)), m.doubt)]
}

// Lookup returns the bucket in the slot that h jumps to.
func (m *ShiftMap) Lookup(h uint64) algorithms.Bucket {
	if len(m.slots) == 0 {
		return algorithms.None
	}
	return m.slots[jump(h, uint64(len(m.slots)), m.doubt)]
}

// Lookup returns the bucket in the slot that h jumps to.
func (m *ReferenceMap) Lookup(h uint64) algorithms.Bucket {
	if len(m.slots) == 0 {
		return algorithms.None
	}
	return m.slots[reference.Hash(h, len(m.slots))]
}

// LookupBatch looks many hashes up, one after the other: the processor has the
// draws of several keys in hand as it is, since those of one do not wait for its
// slots. Walks in lockstep cost more than they gain here, as each goes on until the
// longest of them ends.
func (m *Map) LookupBatch(hs []uint64, dst []algorithms.Bucket) {
	dst = dst[:len(hs)]
	n := uint64(len(m.slots))
	for i, h := range hs {
		if n == 0 {
			dst[i] = algorithms.None
		} else {
			dst[i] = m.slots[jump(h, n, m.doubt)]
		}
	}
}

// LookupN writes the nodes that h and its redraws jump to.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int { return m.replicas(h, dst, m.Lookup) }

// LookupN writes the nodes that h and its redraws jump to.
func (m *ShiftMap) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.replicas(h, dst, m.Lookup)
}

// LookupN writes the nodes that h and its redraws jump to.
func (m *ReferenceMap) LookupN(h uint64, dst []algorithms.Bucket) int {
	return m.replicas(h, dst, m.Lookup)
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.clone()} }

// LookupProbes is Lookup, with the number of draws.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) { return m.lookupProbes(h) }

// LookupProbes is Lookup, with the number of draws.
func (m *ShiftMap) LookupProbes(h uint64) (algorithms.Bucket, int) { return m.lookupProbes(h) }

// Remove removes the node of the bucket; the node in the last slot takes its
// slot.
func (m *Map) Remove(b algorithms.Bucket) error { return m.removeBySwap(b) }

// Remove removes the node of the bucket; the node in the last slot takes its
// slot.
func (m *ReferenceMap) Remove(b algorithms.Bucket) error { return m.removeBySwap(b) }

// Remove removes the node of the bucket; the nodes after it move up by one slot.
func (m *ShiftMap) Remove(b algorithms.Bucket) error { return m.removeByShift(b) }

// Hash returns the slot in 0..n-1 that the paper's algorithm gives to the key
// with hash h, or -1 when n < 1.
func Hash(h uint64, n int32) int32 {
	if n < 1 {
		return -1
	}
	return int32(jump(h, uint64(n), doubt(int(n))))
}

// multiplier and the increment 1 make the paper's linear congruential generator.
const multiplier = 2862933555777941757

// jump walks the draws of h until one lands at n or beyond, and returns the slot
// before it. The doubt is that of n.
func jump(h, n, doubt uint64) uint64 {
	b := uint64(0)
	for {
		h = h*multiplier + 1
		j := next(b+1, h>>33+1, doubt)
		if j >= n {
			return b
		}
		b = j
	}
}

// The paper computes where a key goes after slot b, with r+1 = (h>>33)+1, as
//
//	j = trunc(f), f = (b+1) * (2^31 / (r+1))        in float64.
//
// A product and two conversions between integer and float64 hang on each other
// from one draw to the next. In integers only a multiplication does; the division
// does not depend on b, so the processor divides for the draws to come while it
// still multiplies for this one. (A processor with a slow 64-bit divider, as most
// had before 2018, gains less or loses.)
//
// It is not simply (b+1) * 2^31 / (r+1) rounded down: for b+1 = 49 and
// r+1 = 49<<25 that is 64, and the paper's form gives 63, because its quotient is
// rounded before the product. So next computes both the whole part and the
// fraction, and where the fraction leaves a doubt it computes f itself.
//
// Why that is exact. Write c = b+1, d = r+1, x = c*2^31/d without rounding.
// Here 1 <= d <= 2^31 and 1 <= c <= n. Let q = floor(2^62/d) and
//
//	c*2^33 * q = whole*2^64 + fraction,   0 <= fraction < 2^64.
//
// As c*2^33 < 2^64 for every c < 2^31, the product of two words holds it. q is
// less than 1 below 2^62/d, so (whole + fraction/2^64) is at most x and less than
// c/2^31 below it. Each of the two float64 operations errs by a factor within
// 1 +- 2^-53, so f lies between x*(1-2^-52) and x*(1+2^-51).
//
// Let n <= 2^21, so c/2^31 <= 2^-10.
//
//  1. f is at least whole. If x > whole, then x >= whole + 1/d, since x is a
//     multiple of 1/d. Float64 loses at most x*2^-52 = c*2^-21/d <= 1/d of that.
//     If x = whole, then fraction is 0 and q is 2^62/d without a remainder; so d
//     is a power of two, float64 is exact, and f = x. This needs no bound on
//     whole; hence when whole >= n, trunc(f) >= n as well, and both walks end.
//  2. If whole < n and fraction < 2^64 - 2^55, then x is less than
//     whole + 1 - 2^-9 + 2^-10, and since x <= n <= 2^21 + 1 the rounding adds
//     less than 2^-29 to it; so f < whole + 1.
//
// Together trunc(f) = whole whenever the fraction is below 2^64 - 2^55. Else f is
// computed as the paper does; that happens once in 512 draws. For n > 2^21 the
// doubt is 0, and f is computed always.
func next(c, d, doubt uint64) uint64 {
	whole, fraction := bits.Mul64(c<<33, (1<<62)/d)
	if fraction >= doubt {
		return published(c, d)
	}
	return whole
}

// published is the paper's expression. The conversions go through int64, which
// processors have an instruction for; all values are below 2^63.
func published(c, d uint64) uint64 {
	return uint64(int64(float64(int64(c)) * ((1 << 31) / float64(int64(d)))))
}

// doubt returns the least fraction at which next must compute the paper's
// expression when there are n slots.
func doubt(n int) uint64 {
	if n > 1<<21 {
		return 0
	}
	return 1<<64 - 1<<55
}
