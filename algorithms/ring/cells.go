package ring

import (
	"iter"
	"math"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

// start returns the cell where the search for a position begins.
func (m *Map) start(position uint64) int {
	i, _ := bits.Mul64(position, m.slots)
	return int(i)
}

// at returns the position in cell i, all its bits.
func (m *Map) at(i int) uint64 {
	if m.low32 != nil {
		return m.cells[i]&^m.mask | uint64(m.low32[i])
	}
	return m.cells[i]&^m.mask | uint64(m.low16[i])
}

func (m *Map) owner(i int) algorithms.Bucket {
	return algorithms.Bucket(m.cells[i] & m.mask)
}

// seek returns the first cell from i on whose position is not below h. It
// doubles its steps and then halves them: a bad point hash may pile thousands
// of points on one start. The sentinels at the end stand at the last position
// of all, so there always is an answer.
func (m *Map) seek(i int, h uint64) int {
	if m.at(i) >= h {
		return i
	}
	step := 1
	for i+step < len(m.cells) && m.at(i+step) < h {
		i += step
		step *= 2
	}
	below, found := i, min(i+step, len(m.cells)-1)
	for found-below > 1 {
		if mid := int(uint(below+found) / 2); m.at(mid) < h {
			below = mid
		} else {
			found = mid
		}
	}
	return found
}

// inOrder yields the points in ring order. A cell before the start of its own
// position is an empty one that repeats the point after it.
func (m *Map) inOrder() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for i := range m.end {
			p := Point{m.at(i), m.owner(i)}
			if m.start(p.Position) <= i && !yield(p) {
				return
			}
		}
	}
}

// change replaces the points of the ring: with those of add, and without those
// of drop, which must be there. Both are in ring order.
func (m *Map) change(add, drop []Point) {
	if add, drop = m.patch(add, drop); len(add)+len(drop) == 0 {
		return
	}
	points := make([]Point, 0, m.points+len(add)-len(drop))
	for i := range m.end {
		p := Point{m.at(i), m.owner(i)}
		if m.start(p.Position) > i {
			continue
		}
		for len(add) > 0 && Compare(add[0], p, m.members) < 0 {
			points = append(points, add[0])
			add = add[1:]
		}
		if len(drop) > 0 && drop[0] == p {
			drop = drop[1:]
			continue
		}
		points = append(points, p)
	}
	m.layOut(append(points, add...))
}

// layOut builds the cells from points in ring order.
func (m *Map) layOut(points []Point) {
	m.points, m.slots, m.end = len(points), m.slotsOf(len(points)), 0
	m.cells, m.low16, m.low32 = nil, nil, nil
	if len(points) == 0 {
		return
	}
	for _, p := range points {
		m.end = max(m.start(p.Position), m.end) + 1
	}
	size := max(int(m.slots), m.end) + window
	m.mask = maskFor(m.members.Cap())
	if m.mask > 1<<16-1 {
		m.low32 = make([]uint32, size)
		spread(m, points, m.low32, func(p Point) uint32 { return uint32(p.Position & m.mask) })
	} else {
		m.low16 = make([]uint16, size)
		spread(m, points, m.low16, func(p Point) uint16 { return uint16(p.Position) })
	}
	m.cells = make([]uint64, size)
	mask := m.mask
	spread(m, points, m.cells, func(p Point) uint64 { return p.Position&^mask | uint64(p.Owner) })
	// The sentinels are one more point of the first owner, at the last position.
	end := points[len(points)-1]
	m.tight = end.Position|mask == math.MaxUint64 && end.Owner != points[0].Owner
	for i := 1; i < len(points) && !m.tight; i++ {
		p, q := points[i-1], points[i]
		m.tight = (p.Position^q.Position)&^mask == 0 && p.Owner != q.Owner
	}
}

// slotsOf returns the start cells that so many points have.
func (m *Map) slotsOf(points int) uint64 {
	if m.roomy {
		return uint64(3 * points)
	}
	return uint64(points + points/2)
}

// maskFor returns the bits of a cell that so many owners take.
func maskFor(owners int) uint64 {
	if owners > 1<<16 {
		return 1<<bits.Len(uint(owners-1)) - 1
	}
	return 1<<16 - 1
}

// spread sets a value for every cell. Each point goes to the cell where its
// search starts or the first free one behind, and into the empty cells before
// it. The cells after the last point are sentinels: the first point once more,
// at the last position of all, for the keys behind. There are enough of them
// that a window from any start stays inside.
func spread[T any](m *Map, points []Point, cells []T, value func(Point) T) {
	free := 0
	for _, p := range points {
		v := value(p)
		// Most points fill four cells or fewer: these stores, which the next
		// point may overwrite, save a loop whose end nobody can predict.
		first := cells[free : free+4 : free+4]
		first[0], first[1], first[2], first[3] = v, v, v, v
		end := max(m.start(p.Position), free) + 1
		for i := free + 4; i < end; i++ {
			cells[i] = v
		}
		free = end
	}
	last := value(Point{math.MaxUint64, points[0].Owner})
	for i := free; i < len(cells); i++ {
		cells[i] = last
	}
}
