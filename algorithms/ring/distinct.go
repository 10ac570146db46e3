package ring

import (
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// Distinct writes the nodes that h meets on its way clockwise, each once and
// whatever their zones, to dst, and returns how many there were for it.
//
// A set of 64 bits tells whether a node may have come before; up to 64 buckets it is
// sure of it. A cell that is to be passed over, such as an empty one, is written too,
// but does not count, which takes no branch.
func (m *Map) Distinct(h uint64, dst []algorithms.Bucket) int {
	if m.points == 0 || len(dst) == 0 {
		return 0
	}
	h = m.placement.Position(h)
	i := m.next(h)
	sure := m.members.Cap() <= 64
	seen, found, last := uint64(0), 0, algorithms.None
	for range m.end {
		if i >= m.end {
			i = 0
		}
		b := m.owner(i)
		i++
		before := seen >> (b & 63) & 1
		if before != 0 && !sure && b != last && !slices.Contains(dst[:found], b) {
			before = 0
		}
		seen |= 1 << (b & 63)
		last = b
		dst[found] = b
		if found += int(1 - before); found == len(dst) {
			break
		}
	}
	return found
}

// next is the cell of the point that comes next clockwise, as seek finds it from the
// start: it counts the cells of the window that come before the position, and asks
// seek where that leaves a doubt.
func (m *Map) next(position uint64) int {
	start := m.start(position)
	from := position &^ m.mask
	i := start
	for _, c := range m.cells[start : start+window] {
		_, before := bits.Sub64(c, from, 0)
		i += int(before)
	}
	if i >= len(m.cells) || m.cells[i] <= position|m.mask {
		return m.seek(start, position)
	}
	return i
}
