// Package dx is DxHash (Dong and Wang, "DxHash: A Scalable Consistent Hashing
// Based on the Pseudo-Random Sequence", 2021, arXiv 2107.07930), with its weighted
// form.
//
// The hash of a key seeds a sequence of random slots out of a fixed number, and
// the key belongs to the first slot of the sequence that has a working node. So
// which nodes left, and in what order, does not matter, only who is there; any node
// can leave, every change moves the least possible, and the balance is as even as
// chance allows. The next node of the sequence is the next replica, and inherits.
//
// With weights a slot that is met takes the key only with the probability w/r,
// where w is the weight of its node and r the largest weight there was at first.
// The shares follow the weights, and a change of a weight moves keys only to its
// node or away from it.
//
// # Cost
//
// For a slots and n nodes of equal weight a lookup takes a/n probes in the mean, and
// a*r/W for a sum of weights W. Add, Remove and SetWeight cost constant time. The
// structure takes one bit for each of the a slots, and 4 bytes more when weights
// differ. Slots cannot become more, nor r larger: Add and SetWeight refuse what
// would need it.
//
// # Departures
//
// The paper leaves the generator open; here it is wyrand, and a draw becomes a slot
// by a multiplication. The paper doubles the slots when they are full, which moves
// about half of the keys; that is to build again, here as there. After 32 draws for
// each slot, which chance does not come to while many nodes work, the slots are
// taken in their order from where the last draw fell, so that a lookup always ends.
package dx

import (
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/capacity"
)

// Info is the contestant. The slot, which is the place in the list, is what a node
// is known by.
var Info = algorithms.Define("dx", "Dong, Wang 2021, DxHash, arXiv 2107.07930", Default, New).
	Costing("O(a/n) probes", "1 bit for each of a slots, 33 with unequal weights").
	Declining(algorithms.OrderIndependent)

// A Config says how many slots there are.
type Config struct {
	// Capacity is the number a of slots, the most nodes that there can ever be. 0
	// makes it the least power of 2 that is twice the number of nodes that New is
	// given or more, and at least 16.
	Capacity int `json:"capacity"`
}

// Default leaves room for as many nodes again.
var Default = Config{Capacity: 0}

// Forecast returns the bytes that the slots will take.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	a, _ := capacity.Of(c.Capacity, len(nodes)) // New tells what is wrong
	heaviest := 0.0
	for _, n := range nodes {
		heaviest = max(heaviest, n.Weight)
	}
	bytes := int64(a+63) / 64 * 8
	for _, n := range nodes {
		if n.Weight != 0 && n.Weight != heaviest {
			return bytes + 4*int64(a)
		}
	}
	return bytes
}

// A Map gives a key to the first slot of its sequence that takes it.
type Map struct {
	able  []uint64 // a bit for each slot: it has a node of positive weight
	count int      // bits set in able
	slots uint64   // a

	// limits says for each slot how many of full hashes it takes. It is nil
	// as long as each node's weight is 0 or the heaviest.
	limits   []uint32
	heaviest float64 // r

	members *algorithms.Members
}

// full is the limit of a slot that takes every key.
const full = 1 << 31

var (
	_ algorithms.Forecaster = Config{}

	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map with nodes[i] in slot i.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	a, err := capacity.Of(c.Capacity, len(nodes))
	if err != nil {
		return nil, err
	}
	m := &Map{able: make([]uint64, (a+63)/64), slots: uint64(a), members: members}
	for _, n := range nodes {
		m.heaviest = max(m.heaviest, n.Weight)
	}
	for b, n := range members.All() {
		m.set(b, n.Weight)
	}
	return m, nil
}

// set gives the slot the weight, at most the heaviest.
func (m *Map) set(b algorithms.Bucket, weight float64) {
	word, bit := &m.able[b/64], uint64(1)<<(b%64)
	if *word&bit != 0 {
		m.count--
	}
	*word &^= bit
	if weight > 0 {
		m.count++
		*word |= bit
	}
	if m.limits == nil {
		if weight == 0 || weight == m.heaviest {
			return
		}
		m.limits = make([]uint32, m.slots)
		for b, n := range m.members.All() {
			m.limits[b] = m.limit(n.Weight)
		}
	}
	m.limits[b] = m.limit(weight)
}

// limit returns the limit for a weight; only that of 0 is 0.
func (m *Map) limit(weight float64) uint32 {
	if weight == 0 {
		return 0
	}
	return max(1, uint32(weight/m.heaviest*full))
}

// draw returns a slot and a fraction of 2^64 from number i of the draws of h: one
// step of the generator wyrand of Wang Yi (public domain).
func (m *Map) draw(h, i uint64) (slot, fraction uint64) {
	s := h + i*0xa0761d6478bd642f
	high, low := bits.Mul64(s, s^0xe7037ed1a0b428db)
	return bits.Mul64(high^low, m.slots)
}

// takes reports whether the slot takes a key that meets it with the fraction.
func (m *Map) takes(slot, fraction uint64) bool {
	if m.limits == nil {
		return m.bit(slot) != 0
	}
	return uint32(fraction>>33) < m.limits[slot]
}

// draws is how many draws there are for each slot.
const draws = 32

// Lookup returns the first slot of the sequence of h that takes it.
//
// Where the first draw may well miss it looks at four at a time and only then asks
// whether one of them hit, so that no branch hangs on a single draw.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.limits != nil || m.count == 0 || 8*uint64(m.count) > 7*m.slots {
		b, _ := m.LookupProbes(h)
		return b
	}
	for i := uint64(1); i <= draws*m.slots; i += 4 { // a multiple of 4
		s0, _ := m.draw(h, i)
		s1, _ := m.draw(h, i+1)
		s2, _ := m.draw(h, i+2)
		s3, _ := m.draw(h, i+3)
		found := m.bit(s0) | m.bit(s1)<<1 | m.bit(s2)<<2 | m.bit(s3)<<3
		if found != 0 {
			four := [4]uint64{s0, s1, s2, s3}
			return algorithms.Bucket(four[bits.TrailingZeros64(found)&3])
		}
	}
	b, _ := m.LookupProbes(h)
	return b
}

// bit returns 1 when the slot has a node of positive weight, else 0.
func (m *Map) bit(slot uint64) uint64 { return m.able[slot/64] >> (slot % 64) & 1 }

// LookupProbes is Lookup, with the number of draws.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.count == 0 {
		return algorithms.None, 0
	}
	slot, fraction := uint64(0), uint64(0)
	for i := uint64(1); i <= draws*m.slots; i++ {
		if slot, fraction = m.draw(h, i); m.takes(slot, fraction) {
			return algorithms.Bucket(slot), int(i)
		}
	}
	return algorithms.Bucket(m.next(slot)), int(draws * m.slots)
}

// next returns the first slot after the given one, around the end, that has a node
// of positive weight. There must be one.
func (m *Map) next(slot uint64) uint64 {
	for {
		slot = (slot + 1) % m.slots
		if m.bit(slot) != 0 {
			return slot
		}
	}
}

// LookupN writes the first slots of the sequence of h that take it.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	slot, fraction := uint64(0), uint64(0)
	for i := uint64(1); c.More() && i <= draws*m.slots; i++ {
		if slot, fraction = m.draw(h, i); m.takes(slot, fraction) {
			c.Offer(algorithms.Bucket(slot))
		}
	}
	for range m.count {
		if !c.More() {
			break
		}
		slot = m.next(slot)
		c.Offer(algorithms.Bucket(slot))
	}
	return c.Len()
}

// Clone returns a Map of its own, in O(a).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.able, c.limits = slices.Clone(m.able), slices.Clone(m.limits)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Footprint returns the bytes of the slots.
func (m *Map) Footprint() int64 { return 8*int64(len(m.able)) + 4*int64(len(m.limits)) }

// Add gives the node the lowest free slot. When there is none, or when the weight is
// above the largest that New was given, it is an error that wraps
// errors.ErrUnsupported.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if m.members.Len() == int(m.slots) {
		return algorithms.None, algorithms.Unsupported("node %q finds all %d slots taken, build again with a larger capacity", n.Name, m.slots)
	}
	if err := m.checkWeight(n.Name, n.Weight); err != nil {
		return algorithms.None, err
	}
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	m.set(b, n.Weight)
	return b, nil
}

// checkWeight refuses a weight that is above the heaviest.
func (m *Map) checkWeight(name string, w float64) error {
	if err := algorithms.ValidateWeight(w); err == nil && w > m.heaviest {
		return algorithms.Unsupported("node %q has weight %v, the largest at first was %v, build again to go beyond", name, w, m.heaviest)
	}
	return nil
}

// Remove removes the node of the bucket.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	m.set(b, 0)
	return nil
}

// SetWeight sets the weight of the node of the bucket. One that is above the
// largest that New was given is an error that wraps errors.ErrUnsupported.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	n, bound := m.members.Node(b)
	if bound {
		if err := m.checkWeight(n.Name, w); err != nil {
			return err
		}
	}
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	m.set(b, w)
	return nil
}
