// Package ring is consistent hashing on a circle of 2^64 positions. Every node
// stands on the circle at many points (vnodes); the first point clockwise from
// a key's hash, the hash's own position included, names the owner. A point so
// owns everything after the point before it, up to and with itself.
//
// Source: D. Karger et al., "Consistent Hashing and Random Trees: Distributed
// Caching Protocols for Relieving Hot Spots on the World Wide Web", STOC 1997,
// section 4. The share of a node has the relative standard deviation
// sqrt((n-1)/(n*v+1)) for n nodes of v points, so the ring declines the
// property balance.
//
// # Structure
//
// The sorted points lie in an array of 1.5 cells a point. A hash h starts at
// the cell floor(h * cells / 2^64), and a point is stored in the cell where its
// own hash would start or, when that is taken by points before it, in the next
// one free. An empty cell repeats the point that comes after it. The first cell
// from the start whose position is not below h then holds the owner: there is
// no index in front of the array, and a lookup costs one cache miss, or two side
// by side. This is the ordered hash table of O. Amble and D. Knuth ("Ordered hash
// tables", The Computer Journal 17(2), 1974), with the key's successor for the
// answer in place of the key itself.
//
// A cell packs the upper 48 bits of a position with the bucket that owns it.
// Where those 48 bits equal the key's, the rare case, the lower 16 bits are
// consulted in an array of their own, so the ring keeps its order on all 64
// bits. With more than 65,536 buckets the owner takes as many bits as it needs
// and the position gives them up; ownership stays the same.
//
// # Cost
//
// For P points: 15 bytes a point (18 beyond 65,536 buckets). Lookup needs 2
// cells in the mean for any good point hash, and O(log P) for the worst. New
// is O(P). Add, Remove and SetWeight hash and sort only the points they are about,
// and put them in or take them out one by one, each at the price of a lookup; the
// number of cells follows in O(P) once it is off by a sixteenth.
package ring

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// Info describes the ring to the harness.
var Info = algorithms.Define("ring", "Karger et al. 1997, STOC", Default, New).
	Costing("O(1), 2 cells in the mean", "15 bytes a point").
	Declining(algorithms.Balance).Tuned("vnodes")

// A Map is a ring. See package algorithms for what may run at the same time.
type Map struct {
	cells   []uint64 // position in the upper bits, owner in those of mask
	slots   uint64   // start cells; those behind are overflow and sentinels
	mask    uint64   // the bits of a cell that hold the owner
	modulus uint64
	roomy   bool // twice the start cells

	low16 []uint16 // the position's bits under mask, by cell; one of the two is in use
	low32 []uint32
	end   int  // cells after the one that holds the last point are sentinels
	tight bool // two nodes have points that differ in no more than the bits under mask

	points    int
	placement *Placement
	members   *algorithms.Members
}

var (
	_ algorithms.Mapper     = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.HotSizer   = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
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
	points, err := placement.All(members)
	if err != nil {
		return nil, err
	}
	m := &Map{modulus: c.Modulus, roomy: c.Roomy, placement: placement, members: members}
	m.layOut(points)
	return m, nil
}

// window is the number of cells that Lookup reads without a branch. All but 3%
// of lookups end within it.
const window = 5

// Lookup returns the owner of h: the node of the first point clockwise.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.modulus != 0 {
		b, _ := m.LookupProbes(h)
		return b
	}
	upper, _ := bits.Mul64(h, m.slots)
	i, cells := int(upper), m.cells
	if i < 0 || i >= len(cells)-(window-1) { // only without points
		return algorithms.None
	}
	c := nearest(cells[i], cells[i+1], cells[i+2], cells[i+3], cells[i+4], h&^m.mask)
	if c <= h|m.mask { // equal in the upper bits, or behind the window
		b, _ := m.LookupProbes(h)
		return b
	}
	return algorithms.Bucket(c & m.mask)
}

// nearest returns the first of the cells of a window that is not below from, the last
// where all are. It compiles to conditional moves: which of the cells holds the answer
// is a coin toss that a branch would lose.
func nearest(c, c1, c2, c3, c4, from uint64) uint64 {
	if c < from {
		c = c1
	}
	if c1 < from {
		c = c2
	}
	if c2 < from {
		c = c3
	}
	if c3 < from {
		c = c4
	}
	return c
}

// LookupProbes is Lookup with the number of cells from the start to the answer,
// both included. On an empty ring it is 0.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.points == 0 {
		return algorithms.None, 0
	}
	h = m.placement.Position(h)
	start := m.start(h)
	i := m.seek(start, h)
	return m.owner(i), i - start + 1
}

// LookupN writes the nodes met first on the way clockwise from h, each once and
// a zone's first before any second: the preference list of G. DeCandia et al.,
// "Dynamo: Amazon's Highly Available Key-value Store", SOSP 2007, section 4.3. A
// walk meets a new node every few points as long as most are new, and may pass
// most of the circle to meet the last of them or a small zone.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	if !c.More() {
		return 0
	}
	for b := range m.Clockwise(h) {
		if !c.Offer(b) {
			break
		}
	}
	return c.Len()
}

// Clockwise yields the owners of the points from h on, once round the circle,
// the first of them being Lookup(h). A node comes up once or more; runs of one
// node may be shortened.
func (m *Map) Clockwise(h uint64) iter.Seq[algorithms.Bucket] {
	return func(yield func(algorithms.Bucket) bool) {
		if m.points == 0 {
			return
		}
		at := m.placement.Position(h)
		first := m.seek(m.start(at), at)
		last := uint64(0)
		for i, n := first, m.end; n > 0; n-- {
			if i >= m.end {
				i = 0
			}
			if c := m.cells[i]; c != last || n == m.end {
				if !yield(m.owner(i)) {
					return
				}
				last = c
			}
			i++
		}
	}
}

// Clone returns a ring of its own, in O(P).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.cells, c.low16, c.low32 = slices.Clone(m.cells), slices.Clone(m.low16), slices.Clone(m.low32)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Nodes yields the bound buckets, in their order, with their nodes.
func (m *Map) Nodes() iter.Seq2[algorithms.Bucket, algorithms.Node] { return m.members.All() }

// Divisor returns the modulus, under which a hash is taken as a number.
func (m *Map) Divisor() (divisor uint64, number bool) { return m.placement.Divisor() }

// Footprint returns the bytes of the cells and of the lower position bits.
func (m *Map) Footprint() int64 {
	return int64(8*len(m.cells) + 2*len(m.low16) + 4*len(m.low32))
}

// HotBytes returns the bytes of the cells: the lower position bits are for ties.
func (m *Map) HotBytes() int64 { return int64(8 * len(m.cells)) }

// Add adds a node with the points that are its own wherever it joins, so keys
// move only to the new node.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	count, err := m.placement.Count(n)
	if err != nil {
		m.members.Remove(b)
		return algorithms.None, err
	}
	m.change(m.pointsOf(b, 0, count), nil)
	return b, nil
}

// Remove removes a node with its points, so only its own keys move.
func (m *Map) Remove(b algorithms.Bucket) error {
	n, _ := m.members.Node(b)
	count, err := m.placement.Count(n)
	if err != nil {
		return err
	}
	points := m.pointsOf(b, 0, count)
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	m.change(nil, points)
	return nil
}

// SetWeight gives a node the number of points that fits the new weight. It adds
// to the points there are or takes the last of them, so keys move only to the
// node or only away from it.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	old, _ := m.members.Node(b)
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	n, _ := m.members.Node(b)
	count, err := m.placement.Count(n)
	if err != nil {
		m.members.SetWeight(b, old.Weight)
		return err
	}
	before, err := m.placement.Count(old)
	if err != nil {
		return err
	}
	if count > before {
		m.change(m.pointsOf(b, before, count), nil)
	} else if count < before {
		m.change(nil, m.pointsOf(b, count, before))
	}
	return nil
}

// pointsOf returns the points of the node in bucket b with the indices from
// from up to to, exclusive, in ring order.
func (m *Map) pointsOf(b algorithms.Bucket, from, to int) []Point {
	n, _ := m.members.Node(b)
	points := m.placement.Append(nil, b, n.Name, from, to)
	return sortPoints(points, m.members)
}

// Points yields every point in ring order: its position, as Cells counts it,
// and its owner. Points on one position come in the order of the node names,
// and only the first of them owns anything.
func (m *Map) Points() iter.Seq2[uint64, algorithms.Bucket] {
	return func(yield func(uint64, algorithms.Bucket) bool) {
		for p := range m.inOrder() {
			if !yield(m.placement.Displayed(p.Position), p.Owner) {
				return
			}
		}
	}
}

// PointCollisions returns how many points stand where another stands already:
// the points less the positions they take up.
func (m *Map) PointCollisions() int {
	collisions, last, first := 0, uint64(0), true
	for p := range m.inOrder() {
		if p.Position == last && !first {
			collisions++
		}
		last, first = p.Position, false
	}
	return collisions
}

// Cells yields a cell for each position that a point takes up, and a last one
// for what lies behind, which belongs to the first point.
func (m *Map) Cells() (space uint64, cells iter.Seq2[uint64, algorithms.Bucket]) {
	return m.modulus, Cells(m.modulus, m.Points())
}
