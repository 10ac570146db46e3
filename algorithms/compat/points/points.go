// Package points is the structure that the placements of real systems below
// algorithms/compat share: points sorted on a circle, a rule that says which of
// them owns a position, and the walk round the circle for replicas. What differs
// from system to system, where the points stand and how a key is hashed, is the
// affair of the packages that use this one.
//
// A [Ring] embedded in a type makes it everything but an algorithms.KeyMapper:
//
//	type Map struct{ *points.Ring } // or points.Weighted, where weights can change
//
//	func (m *Map) HashKey(key string) uint64 { return algorithms.Widen(crc(key)) }
//	func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
//
// These systems lay out their circle anew at every change, and so does a Ring:
// Add, Remove and SetWeight cost as much as New, and leave what New would have
// made of the nodes that are left, in the order of their buckets.
//
// # Cost
//
// For P points: 16 bytes a point, Lookup O(log P). A change sorts all points, in
// O(P log P), and for that time holds the old circle too.
package points

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
)

// A Point is a position on the circle and the bucket that stands there.
type Point struct {
	Position uint64
	Owner    algorithms.Bucket
}

// Bytes is what a point takes.
const Bytes = 16

// A Rule says which point owns a position that lies between two of them.
type Rule uint8

const (
	AtOrAfter Rule = iota // the first point at the position or after it
	After                 // the first point after the position
	Nearest               // the nearer of that before and that at or after; of two equally near the one before
)

// A Tie says which node owns a position at which several have a point.
type Tie uint8

const (
	ByName      Tie = iota // that whose name sorts first, whoever joined first
	FirstListed            // that of the lowest bucket
	LastListed             // that of the highest bucket
)

// A Circle says how positions are counted and who owns them.
type Circle struct {
	Space uint64 // number of positions, at most 2^63; 0 means 2^64
	Rule  Rule
	Tie   Tie
}

// Space32 is the number of positions of a hash of 32 bits.
const Space32 = 1 << 32

// A Layout returns the points of all members, in any order and below the Space of
// the circle. Buckets come to it in ascending order, which is the order in which
// the nodes were listed as long as none is removed. It may have an error only for
// the members that were changed last.
type Layout func(*algorithms.Members) ([]Point, error)

// A Ring is the members of a cluster on a circle. See package algorithms for
// what may run at the same time.
type Ring struct {
	circle  Circle
	layout  Layout
	members *algorithms.Members
	points  []Point // in ring order, the winner of a tie first
}

// New returns a ring of the members, which it keeps for itself. It refuses weights
// that are so small that no node has a point.
func New(members *algorithms.Members, c Circle, layout Layout) (*Ring, error) {
	r := &Ring{circle: c, layout: layout, members: members}
	if err := r.rebuild(); err != nil {
		return nil, err
	}
	if names := r.Pointless(); len(r.points) == 0 && len(names) > 0 {
		return nil, fmt.Errorf("the weight of node %q is too small for a single point, and no other node has one: raise the weights together", names[0])
	}
	return r, nil
}

// rebuild lays the points out for the members; on an error those there were stay.
func (r *Ring) rebuild() error {
	points, err := r.layout(r.members)
	if err != nil {
		return err
	}
	slices.SortFunc(points, func(p, q Point) int {
		if p.Position != q.Position {
			return cmp.Compare(p.Position, q.Position)
		}
		switch r.circle.Tie {
		case LastListed:
			return cmp.Compare(q.Owner, p.Owner)
		case FirstListed:
			return cmp.Compare(p.Owner, q.Owner)
		}
		a, _ := r.members.Node(p.Owner)
		b, _ := r.members.Node(q.Owner)
		return strings.Compare(a.Name, b.Name)
	})
	r.points = points
	return nil
}

// position returns where on the circle the hash h stands.
func (r *Ring) position(h uint64) uint64 {
	if r.circle.Space != 0 {
		return h % r.circle.Space
	}
	return h
}

// Find returns the index in Points of the point that owns h, or -1 when there is
// no point.
func (r *Ring) Find(h uint64) int {
	p := r.points
	if len(p) == 0 {
		return -1
	}
	at := r.position(h)
	if r.circle.Rule == After {
		if at == math.MaxUint64 {
			return 0
		}
		at++ // beyond the last position of a smaller space there is no point either
	}
	low, high := 0, len(p)
	for low < high {
		if mid := int(uint(low+high) / 2); p[mid].Position < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	next := low
	if next == len(p) {
		next = 0
	}
	if r.circle.Rule != Nearest || p[next].Position == at {
		return next
	}
	prev := low - 1
	if prev < 0 {
		prev = len(p) - 1
	}
	if r.between(p[prev].Position, at) <= r.between(at, p[next].Position) {
		return prev
	}
	return next
}

// between returns the way clockwise from one position to another.
func (r *Ring) between(from, to uint64) uint64 {
	if to < from {
		return to - from + r.circle.Space
	}
	return to - from
}

// Lookup returns the owner of h.
func (r *Ring) Lookup(h uint64) algorithms.Bucket {
	i := r.Find(h)
	if i < 0 {
		return algorithms.None
	}
	return r.points[i].Owner
}

// LookupN writes the owner of h and the nodes met after it on the way clockwise,
// each once, and where nodes name zones the first met of each zone before the
// rest. Where it has to look for a node that has no point it goes all the way
// round, O(P).
func (r *Ring) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := r.members.Choose(dst)
	if i := r.Find(h); i >= 0 && c.More() {
		for _, p := range r.points[i:] {
			if !c.Offer(p.Owner) {
				return c.Len()
			}
		}
		for _, p := range r.points[:i] {
			if !c.Offer(p.Owner) {
				break
			}
		}
	}
	return c.Len()
}

// Len returns the number of nodes.
func (r *Ring) Len() int { return r.members.Len() }

// Nodes yields the bound buckets, in their order, with their nodes.
func (r *Ring) Nodes() iter.Seq2[algorithms.Bucket, algorithms.Node] { return r.members.All() }

// Points returns the points in ring order. Of those at one position the first
// owns it. The slice is the Ring's own: it must not be written to, and holds
// until the membership changes.
func (r *Ring) Points() []Point { return r.points }

// PointCollisions returns how many points stand where another stands already:
// the points less the positions they take up.
func (r *Ring) PointCollisions() int {
	collisions := 0
	for i := 1; i < len(r.points); i++ {
		if r.points[i].Position == r.points[i-1].Position {
			collisions++
		}
	}
	return collisions
}

// Pointless returns the names of the nodes that have a weight and no point, in
// the order of their buckets: their weight is too small for the system's rule, and
// they own nothing.
func (r *Ring) Pointless() []string {
	has := make([]bool, r.members.Cap())
	for _, p := range r.points {
		has[p.Owner] = true
	}
	var names []string
	for b, n := range r.members.All() {
		if n.Weight > 0 && !has[b] {
			names = append(names, n.Name)
		}
	}
	return names
}

// Footprint returns the bytes of the points.
func (r *Ring) Footprint() int64 { return int64(Bytes * len(r.points)) }

// HotBytes returns the bytes of the points, whatever a type around them keeps beside.
func (r *Ring) HotBytes() int64 { return r.Footprint() }

// Cells yields the cells of the circle: at most two more than there are points.
func (r *Ring) Cells() (space uint64, cells iter.Seq2[uint64, algorithms.Bucket]) {
	return r.circle.Space, func(yield func(uint64, algorithms.Bucket) bool) {
		if len(r.points) == 0 {
			return
		}
		begin, full := uint64(0), false
		last := r.circle.Space - 1
		r.ends(func(end uint64, b algorithms.Bucket) bool {
			if full || end < begin { // an empty cell
				return true
			}
			begin, full = end+1, end == last
			return yield(end, b)
		})
	}
}

// ends yields the last position that each point owns, in ascending order, cells
// that are empty among them, and who owns the last position of all.
func (r *Ring) ends(yield func(uint64, algorithms.Bucket) bool) {
	p, last := r.points, r.circle.Space-1
	final := p[0].Owner
	if r.circle.Rule == Nearest {
		if end := r.halfway(len(p) - 1); end < p[len(p)-1].Position { // it lies behind position 0
			final = p[len(p)-1].Owner
			if !yield(end, final) {
				return
			}
		}
	}
	for i := range p {
		end := p[i].Position
		switch r.circle.Rule {
		case After:
			if end == 0 {
				continue
			}
			end--
		case Nearest:
			if half := r.halfway(i); half >= end {
				end = half
			} else {
				end = last
			}
		}
		if !yield(end, p[i].Owner) {
			return
		}
	}
	yield(last, final)
}

// halfway returns the last position that is as near to point i as to the one
// after it, or nearer. It is below that of point i when it lies behind position 0.
func (r *Ring) halfway(i int) uint64 {
	at, next := r.points[i].Position, i+1
	if next == len(r.points) {
		next = 0
	}
	way := r.between(at, r.points[next].Position)
	half := way / 2
	if way == 0 && next == 0 { // once round
		half = r.circle.Space / 2
		if r.circle.Space == 0 {
			half = 1 << 63
		}
	}
	if rest := r.circle.Space - 1 - at; half > rest {
		return half - rest - 1
	}
	return at + half
}

// Add adds a node and lays out the circle anew.
func (r *Ring) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := r.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	if err := r.rebuild(); err != nil {
		r.members.Remove(b)
		return algorithms.None, err
	}
	return b, nil
}

// Remove removes a node and lays out the circle anew.
func (r *Ring) Remove(b algorithms.Bucket) error {
	if _, err := r.members.Remove(b); err != nil {
		return err
	}
	return r.rebuild()
}

// A Weighted is a Ring whose nodes may change their weights.
type Weighted struct{ *Ring }

// SetWeight sets the weight of a node and lays out the circle anew.
func (r Weighted) SetWeight(b algorithms.Bucket, w float64) error {
	old, _ := r.members.Node(b)
	if err := r.members.SetWeight(b, w); err != nil {
		return err
	}
	err := r.rebuild()
	if err != nil {
		r.members.SetWeight(b, old.Weight)
	}
	return err
}
