package ring

import (
	"math"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

// Closest returns the owner of the point that comes soonest clockwise after one of
// so many positions, a point on a position included. The first position is given,
// and each further one is the one before times factor plus step, modulo 2^64. Of
// points that are equally soon it is the one after the earlier position. On an empty
// ring it is None.
//
// It is what multi-probe hashing asks, and far faster than that many lookups, for
// no position needs to know its own point. As no point is nearer than the next one,
// the least distance to any of the cells that may hold it will do, and that takes
// no branch.
func (m *Map) Closest(first, factor, step uint64, positions int) algorithms.Bucket {
	if m.tight || m.modulus != 0 || m.points == 0 {
		return m.closestExactly(first, factor, step, positions)
	}
	cells, slots, mask := m.cells, m.slots, m.mask
	last, round := cells[m.end-1]&^mask, m.round()

	// Distances of the upper bits, with the owner in the lower ones.
	best, second := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for position, n := first, positions; n > 0; n-- {
		start, _ := bits.Mul64(position, slots)
		from := position &^ mask
		c := cells[start : start+window]
		_, behind := bits.Sub64(last, from, 0)
		d := min(c[0]-from, c[1]-from, c[2]-from, c[3]-from, c[4]-from)
		d += round & -behind
		if c[window-1] < from {
			d = m.beyond(position)
		}
		second = min(second, max(best, d))
		best = min(best, d)
		position = position*factor + step
	}
	// Without the lower bits a distance is off by less than mask + 1 either way.
	if best <= mask || second-best <= 4*mask {
		return m.closestExactly(first, factor, step, positions)
	}
	return algorithms.Bucket(best & mask)
}

// beyond returns the distance of a position whose point is behind its window, as
// Closest keeps it.
func (m *Map) beyond(position uint64) uint64 {
	i := m.seek(m.start(position)+window, position)
	d := m.cells[i] - position&^m.mask
	if i >= m.end {
		d += m.round()
	}
	return d
}

// round returns what a sentinel, at the last position of all, is short of the first
// point, as far as the upper bits tell.
func (m *Map) round() uint64 { return m.cells[0]&^m.mask + m.mask + 1 }

// closestExactly is Closest by all bits of the positions.
func (m *Map) closestExactly(first, factor, step uint64, positions int) algorithms.Bucket {
	owner, best := algorithms.None, uint64(0)
	if m.points == 0 {
		return owner
	}
	for range positions {
		position := m.placement.Position(first)
		i := m.seek(m.start(position), position)
		distance := m.at(i) - position
		if i >= m.end {
			distance = m.at(0) - position + m.modulus<<m.placement.stretch
		}
		if owner == algorithms.None || distance < best {
			owner, best = m.owner(i), distance
		}
		first = first*factor + step
	}
	return owner
}
