// Package ringbinarysearch is the ring of package ring as textbooks have it: the
// points in sorted arrays, and a binary search for the first at or after the
// key's hash. Every point stands where package ring puts it, so the owners are
// the same; the difference in time is what the structure of ring gains.
//
// For P points: 12 bytes a point, Lookup O(log P). Every change of the
// membership hashes and sorts all points anew, O(P) for a good point hash.
package ringbinarysearch

import (
	"iter"
	"sort"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// Config is that of package ring.
type Config = ring.Config

// Default is that of package ring.
var Default = ring.Default

// Info describes the algorithm to the harness.
var Info = algorithms.Define("ring-binary-search", "Karger et al. 1997, STOC; searched by bisection", Default, New).
	Costing("O(log P) for P points", "12 bytes a point").
	Declining(algorithms.Balance).Tuned("vnodes")

// A Map is a ring that is searched by bisection. See package algorithms for
// what may run at the same time.
type Map struct {
	positions []uint64
	owners    []algorithms.Bucket // by point
	placement *ring.Placement
	members   *algorithms.Members
}

var (
	_ algorithms.Mapper     = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
)

// New builds a ring of the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	placement, err := c.Placement()
	if err != nil {
		return nil, err
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{placement: placement, members: members}
	return m, m.rebuild()
}

// rebuild makes the arrays for the members; on an error they stay.
func (m *Map) rebuild() error {
	points, err := m.placement.All(m.members)
	if err != nil {
		return err
	}
	m.positions = make([]uint64, len(points))
	m.owners = make([]algorithms.Bucket, len(points))
	for i, p := range points {
		m.positions[i], m.owners[i] = p.Position, p.Owner
	}
	return nil
}

// Lookup returns the owner of h: the node of the first point clockwise.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if len(m.owners) == 0 {
		return algorithms.None
	}
	return m.owners[m.search(h)]
}

// search returns the index of the point that owns h. There must be one.
func (m *Map) search(h uint64) int {
	h = m.placement.Position(h)
	i := sort.Search(len(m.positions), func(i int) bool { return m.positions[i] >= h })
	if i == len(m.positions) {
		return 0
	}
	return i
}

// LookupN writes the nodes met first on the way clockwise from h, as package
// ring does.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	if len(m.owners) == 0 || !c.More() {
		return 0
	}
	i := m.search(h)
	for range m.owners {
		if !c.Offer(m.owners[i]) {
			break
		}
		if i++; i == len(m.owners) {
			i = 0
		}
	}
	return c.Len()
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Divisor returns the modulus, under which a hash is taken as a number.
func (m *Map) Divisor() (divisor uint64, number bool) { return m.placement.Divisor() }

// Footprint returns the bytes of the two arrays.
func (m *Map) Footprint() int64 { return int64(8*len(m.positions) + 4*len(m.owners)) }

// Add adds a node and its points.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	if err := m.rebuild(); err != nil {
		m.members.Remove(b)
		return algorithms.None, err
	}
	return b, nil
}

// Remove removes a node and its points.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	return m.rebuild()
}

// SetWeight gives a node the number of points that fits the new weight.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	old, _ := m.members.Node(b)
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	err := m.rebuild()
	if err != nil {
		m.members.SetWeight(b, old.Weight)
	}
	return err
}

// Sorted returns the positions of the points in ring order, on the circle of
// 2^64 positions, and their owners. The slices are the Map's own: they must not
// be written to, and hold until the membership changes.
func (m *Map) Sorted() (positions []uint64, owners []algorithms.Bucket) {
	return m.positions, m.owners
}

// Points yields every point in ring order, as package ring does.
func (m *Map) Points() iter.Seq2[uint64, algorithms.Bucket] {
	return func(yield func(uint64, algorithms.Bucket) bool) {
		for i, position := range m.positions {
			if !yield(m.placement.Displayed(position), m.owners[i]) {
				return
			}
		}
	}
}

// Cells yields the cells that package ring yields.
func (m *Map) Cells() (space uint64, cells iter.Seq2[uint64, algorithms.Bucket]) {
	return m.placement.Modulus(), ring.Cells(m.placement.Modulus(), m.Points())
}
