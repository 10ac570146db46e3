// Package table is what the algorithms that write their answers into a table
// have in common: a row of slots, each with the bucket that owns it, in which a
// hash h stands at slot h mod size; one of 32 bits is taken as the number that it
// is. How the slots are given away is the affair of
// the algorithm that uses the package.
//
// A lookup is one multiplication for the quotient, one for the remainder and one
// read. The slots take two bytes each as long as every bucket is below 65,536,
// and four beyond.
package table

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// MaxSize is the largest number of slots.
const MaxSize = math.MaxInt32

// A Table is a row of slots with their owners. The zero value has no slots. It
// does not change; any number of goroutines may use it as long as its members
// rest.
type Table struct {
	size    uint64
	factor  uint64 // of the quotient, see [Table.Slot]
	addend  uint64
	shift   uint
	narrow  []uint16 // owners by slot, or nil
	wide    []algorithms.Bucket
	members *algorithms.Members
}

// New returns a table whose slot i is owned by owners[i]. All owners must be
// bound in members, which the table keeps. It takes the slice over.
func New(owners []algorithms.Bucket, members *algorithms.Members) Table {
	if len(owners) == 0 {
		return Table{members: members}
	}
	t := Table{size: uint64(len(owners)), members: members}
	t.divideBy(t.size)
	if members.Cap() > 1<<16 {
		t.wide = owners
		return t
	}
	t.narrow = make([]uint16, len(owners))
	for i, b := range owners {
		t.narrow[i] = uint16(b)
	}
	return t
}

// Clone returns a table of the same slots over members of its own, which must be
// bound as those of t are.
func (t *Table) Clone(members *algorithms.Members) Table {
	c := *t // the slots never change
	c.members = members
	return c
}

// divideBy prepares the quotients by d > 0. It is the division by multiplication
// and addition of A. Robison, "N-Bit Unsigned Division via N-Bit Multiply-Add"
// (ARITH 2005): with k = floor(log2 d), there are a and b below 2^64 such that
// floor(h/d) = floor((a*h + b) / 2^(64+k)) for every h below 2^64.
func (t *Table) divideBy(d uint64) {
	t.shift = uint(bits.Len64(d) - 1)
	if d&(d-1) == 0 {
		t.factor, t.addend = math.MaxUint64, math.MaxUint64
		return
	}
	a, _ := bits.Div64(1<<t.shift, 0, d) // floor(2^(64+k) / d)
	if up := a*d + d; up <= 1<<t.shift { // a+1 is close enough from above
		t.factor, t.addend = a+1, 0
	} else {
		t.factor, t.addend = a, a
	}
}

// Slot returns h mod size. The table must have slots.
func (t *Table) Slot(h uint64) uint64 {
	high, low := bits.Mul64(h, t.factor)
	_, carry := bits.Add64(low, t.addend, 0)
	return h - (high+carry)>>(t.shift&63)*t.size
}

// Divisor returns the number of slots.
func (t *Table) Divisor() (divisor uint64, number bool) { return t.size, true }

// Lookup returns the owner of the slot of h, or None when there are no slots.
func (t *Table) Lookup(h uint64) algorithms.Bucket {
	slot := t.Slot(h)
	if slot < uint64(len(t.narrow)) {
		return algorithms.Bucket(t.narrow[slot])
	}
	return t.owner(slot)
}

// owner returns the owner of the slot.
func (t *Table) owner(slot uint64) algorithms.Bucket {
	switch {
	case slot < uint64(len(t.narrow)):
		return algorithms.Bucket(t.narrow[slot])
	case slot < uint64(len(t.wide)):
		return t.wide[slot]
	}
	return algorithms.None
}

// LookupBatch looks many hashes up.
func (t *Table) LookupBatch(hs []uint64, dst []algorithms.Bucket) {
	dst = dst[:len(hs)]
	if t.narrow == nil {
		for i, h := range hs {
			dst[i] = t.owner(t.Slot(h))
		}
		return
	}
	for i, h := range hs {
		dst[i] = algorithms.Bucket(t.narrow[t.Slot(h)])
	}
}

// LookupN chooses among the owners of the slots of h, of Redraw(h, 1), of
// Redraw(h, 2) and so on, those of other zones first. The slots that follow each
// other are no such order: in some tables a node has the same neighbour
// everywhere, and all that it leaves would go to that one.
func (t *Table) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := t.members.Choose(dst)
	return c.Redrawn(h, t.Lookup)
}

// Cells yields a cell for each run of slots that one node owns. The space is the
// number of slots.
func (t *Table) Cells() (space uint64, cells iter.Seq2[uint64, algorithms.Bucket]) {
	return t.size, func(yield func(uint64, algorithms.Bucket) bool) {
		for slot := range t.size {
			b := t.owner(slot)
			if slot+1 < t.size && t.owner(slot+1) == b {
				continue
			}
			if !yield(slot, b) {
				return
			}
		}
	}
}

// Owners returns the owner of each slot.
func (t *Table) Owners() []algorithms.Bucket {
	owners := slices.Clone(t.wide)
	for _, b := range t.narrow {
		owners = append(owners, algorithms.Bucket(b))
	}
	return owners
}

// Slotless returns the names of the nodes that have a weight and no slot, in the
// order of their buckets: they own nothing. There are such where the slots are
// fewer than the nodes.
func (t *Table) Slotless() []string {
	has := make([]bool, t.members.Cap())
	for slot := range t.size {
		has[t.owner(slot)] = true
	}
	var names []string
	for b, n := range t.members.All() {
		if n.Weight > 0 && !has[b] {
			names = append(names, n.Name)
		}
	}
	return names
}

// Members returns the members that own the slots. Only the type that the table
// is part of may change them.
func (t *Table) Members() *algorithms.Members { return t.members }

// Len returns the number of nodes.
func (t *Table) Len() int { return t.members.Len() }

// Footprint returns the bytes of the slots.
func (t *Table) Footprint() int64 {
	return int64(len(t.narrow))*2 + int64(len(t.wide))*4
}

// HotBytes returns the bytes of the slots, whatever a type around them keeps beside.
func (t *Table) HotBytes() int64 { return t.Footprint() }

// Forecast returns the bytes that the building of a table of so many slots over
// so many nodes takes at its peak.
func Forecast(slots int64, nodes int) int64 {
	const perSlot, perNode = 4 + 2, 64
	return perSlot*min(max(slots, 0), MaxSize) + perNode*int64(nodes)
}

// CheckSize refuses numbers of slots that a table cannot have. The name is that
// of the parameter.
func CheckSize(name string, slots int) error {
	if slots < 1 || slots > MaxSize {
		return fmt.Errorf("%s %d, a table has 1 to %d slots", name, slots, MaxSize)
	}
	return nil
}
