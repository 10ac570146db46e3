package ring

import "math"

// The cells change in place when a few points come or go, which costs a few cells
// for each. Their number then stays as it is; once a sixteenth more or less would
// be right, all are laid out anew, so that over many changes a point costs no more
// than some of its kind.
const (
	slack    = 16   // parts of the cells that their number may be off
	farthest = 1024 // cells that one point may move; a bad hash piles up more
)

// patch carries out as much of the change as can be done in place, the points to
// be dropped first, and returns the rest. Everything is in order after each point.
func (m *Map) patch(add, drop []Point) (addLeft, dropLeft []Point) {
	points := m.points + len(add) - len(drop)
	right := m.slotsOf(points)
	if m.points == 0 || points == 0 || max(right, m.slots)-min(right, m.slots) > m.slots/slack || m.mask != maskFor(m.members.Cap()) {
		return add, drop
	}
	for len(drop) > 0 && m.erase(drop[0]) {
		drop = drop[1:]
	}
	for len(drop) == 0 && len(add) > 0 && m.insert(add[0]) {
		add = add[1:]
	}
	return add, drop
}

// holds reports whether a point has its place in cell i: neither does an empty
// cell, which lies before the start of the position that it repeats, nor a sentinel.
func (m *Map) holds(i int) bool { return i < m.end && m.start(m.at(i)) <= i }

// insert puts a point into its cell, or the first behind it by the order of
// positions, and moves those that follow on to the next cell that is free. It
// reports whether it did: not if that is too far.
func (m *Map) insert(p Point) bool {
	i := m.seek(m.start(p.Position), p.Position)
	for i < m.end && m.at(i) == p.Position && Compare(Point{m.at(i), m.owner(i)}, p, m.members) < 0 {
		i++
	}
	free := i
	for m.holds(free) {
		free++
	}
	if free-i > farthest || free+1+window > len(m.cells) {
		return false
	}
	m.move(i+1, i, free)
	m.set(i, p)
	before := m.repeat(i)
	m.end = max(m.end, free+1)
	m.points++
	if before >= 0 {
		m.tighten(before, p)
	}
	if i+1 < m.end {
		m.tighten(i+1, p)
	}
	m.seal()
	return true
}

// erase takes a point out of its cell and moves those behind it back that are not
// where their search starts. It reports whether it did: not if they are too many,
// or there is no such point.
func (m *Map) erase(p Point) bool {
	i := m.seek(m.start(p.Position), p.Position)
	for i < m.end && m.at(i) == p.Position && m.owner(i) != p.Owner {
		i++
	}
	if i >= m.end || m.at(i) != p.Position {
		return false
	}
	next := i + 1 // the first cell that stays
	for next < m.end && m.start(m.at(next)) < next {
		next++
	}
	if next-i > farthest {
		return false
	}
	m.move(i, i+1, next)
	empty := next - 1
	m.set(empty, Point{m.at(next), m.owner(next)})
	before := m.repeat(i)
	switch {
	case next < m.end:
	case empty > i:
		m.end = empty
	default:
		m.end = before + 1
	}
	m.points--
	m.seal()
	return true
}

// move copies the cells from up to to, exclusive, so that they begin at the other.
func (m *Map) move(begin, from, to int) {
	copy(m.cells[begin:], m.cells[from:to])
	if m.low32 != nil {
		copy(m.low32[begin:], m.low32[from:to])
	} else {
		copy(m.low16[begin:], m.low16[from:to])
	}
}

// repeat makes the empty cells before cell i repeat it, and returns the cell before
// those, which holds a point; -1 when there is none.
func (m *Map) repeat(i int) int {
	p := Point{m.at(i), m.owner(i)}
	for i--; i >= 0 && !m.holds(i); i-- {
		m.set(i, p)
	}
	return i
}

// set writes a point into cell i.
func (m *Map) set(i int, p Point) {
	m.cells[i] = p.Position&^m.mask | uint64(p.Owner)
	if m.low32 != nil {
		m.low32[i] = uint32(p.Position & m.mask)
	} else {
		m.low16[i] = uint16(p.Position)
	}
}

// tighten notes when the point in cell i and p are another's and differ only in
// the bits under the mask.
func (m *Map) tighten(i int, p Point) {
	m.tight = m.tight || (m.at(i)^p.Position)&^m.mask == 0 && m.owner(i) != p.Owner
}

// seal gives the sentinels the owner of the first point, which must not pass for
// a near one of the last.
func (m *Map) seal() {
	first := m.owner(0)
	m.tighten(m.end-1, Point{math.MaxUint64, first})
	if m.owner(len(m.cells)-1) == first {
		return
	}
	for i := m.end; i < len(m.cells); i++ {
		m.set(i, Point{math.MaxUint64, first})
	}
}
