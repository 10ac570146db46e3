package harness

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// A View is who owns what at one moment: the owners of a list of keys by node
// index, and the weights the nodes had.
type View struct {
	Owners  []int32
	Weights []float64
	Total   float64
}

// Movement tells what a change of the membership did to the owners of keys.
// All parts are of the keys, unless they say otherwise.
type Movement struct {
	Moved      float64 // keys whose owner changed
	MovedLoad  float64 // requests whose key's owner changed
	Minimum    float64 // what no algorithm can avoid: sum of max(0, w'/W' - w/W)
	Collateral float64 // keys that moved between two nodes that the change is not about
	Violations float64 // the same, as a count
	Failover   float64 // largest part of a removed node's keys that one survivor takes; NaN when none was removed
}

// Disruption is the movement beyond the unavoidable. It is below zero when the
// node concerned held less than its fair part. What is left of a difference by
// rounding alone counts as none.
func (m Movement) Disruption() float64 {
	if d := m.Moved - m.Minimum; math.Abs(d) > 1e-12 {
		return d
	}
	return 0
}

// add sums movements: of failover it keeps the largest, and a step in which no
// removed node held a key has none.
func (m *Movement) add(o Movement) {
	m.Moved += o.Moved
	m.MovedLoad += o.MovedLoad
	m.Minimum += o.Minimum
	m.Collateral += o.Collateral
	m.Violations += o.Violations
	m.Failover = larger(m.Failover, o.Failover)
}

// larger returns the larger of two values of which NaN is none.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// Moved compares two views of the same keys. The probability p weighs each key
// by its requests; nil weighs all alike. A node that the change is about is one
// whose weight differs between the views, joining and leaving included.
func Moved(before, after View, p func(rank int) float64) Movement {
	about := changed(before.Weights, after.Weights)
	var moved, collateral, load float64
	type edge struct{ from, to int32 }
	taken := map[edge]float64{}
	lost := map[int32]float64{}
	for rank, from := range before.Owners {
		to := after.Owners[rank]
		if from == to {
			continue
		}
		moved++
		if p != nil {
			load += p(rank)
		}
		if from >= 0 && !about[from] && to >= 0 && !about[to] {
			collateral++
		}
		if from >= 0 && after.Weights[from] == 0 {
			taken[edge{from, to}]++
			lost[from]++
		}
	}
	keys := float64(len(before.Owners))
	m := Movement{
		Moved:      moved / keys,
		MovedLoad:  load,
		Minimum:    Minimum(before, after),
		Collateral: collateral / keys,
		Violations: collateral,
		Failover:   math.NaN(),
	}
	for e, n := range taken {
		part := n / lost[e.from]
		if math.IsNaN(m.Failover) || part > m.Failover {
			m.Failover = part
		}
	}
	return m
}

// KeyFlows compares the owners of the same keys before and after a change, as
// [Flows] compares cells: a share is of the keys, and no ranges are known. It
// costs one pass over the keys.
func KeyFlows(before, after []int32) []Flow {
	type edge struct{ from, to int32 }
	keys := map[edge]int{}
	for rank, from := range before {
		if to := after[rank]; from != to {
			keys[edge{from, to}]++
		}
	}
	flows := make([]Flow, 0, len(keys))
	for e, n := range keys {
		flows = append(flows, Flow{From: int(e.from), To: int(e.to), Share: float64(n) / float64(len(before))})
	}
	slices.SortFunc(flows, byEnds)
	return flows
}

// byEnds orders flows by From and To.
func byEnds(a, b Flow) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// changed tells which nodes' weights differ.
func changed(before, after []float64) []bool {
	about := make([]bool, max(len(before), len(after)))
	for i := range about {
		about[i] = weightAt(before, i) != weightAt(after, i)
	}
	return about
}

func weightAt(w []float64, i int) float64 {
	if i < len(w) {
		return w[i]
	}
	return 0
}

// Minimum returns the part of the keys that any algorithm must move when the
// weights change: what the nodes gain, summed.
func Minimum(before, after View) float64 {
	sum := 0.0
	for i := range after.Weights {
		was := 0.0
		if before.Total > 0 {
			was = weightAt(before.Weights, i) / before.Total
		}
		is := 0.0
		if after.Total > 0 {
			is = after.Weights[i] / after.Total
		}
		sum += max(0, is-was)
	}
	return sum
}

// Cells is a copy of who owns which cell of the hash space, by node index.
type Cells struct {
	Space uint64   // number of positions, 0 for 2^64
	Last  []uint64 // last position of each cell, ascending
	Node  []int32  // owner of each cell, -1 for none
}

// Cells copies the cells of the placement, so that they can be compared with
// those after a change. It returns false when the algorithm does not list them.
func (p *Placement) Cells() (Cells, bool) {
	o, ok := p.Mapper.(algorithms.Owned)
	if !ok {
		return Cells{}, false
	}
	var c Cells
	var cells iter.Seq2[uint64, algorithms.Bucket]
	c.Space, cells = o.Cells()
	for last, b := range cells {
		c.Last = append(c.Last, last)
		c.Node = append(c.Node, int32(p.NodeOf(b)))
	}
	return c, true
}

// A Flow is the part of the hash space that moved from one node to another, in
// how many runs of positions.
type Flow struct {
	From, To int // node indices; -1 for none
	Share    float64
	Ranges   int
}

// Flows compares the cells before and after a change and returns who gave what
// to whom, in the order of From and To. It is exact, and costs one pass over
// both. The spaces must be the same.
func Flows(before, after Cells) []Flow {
	type edge struct{ from, to int32 }
	type amount struct {
		width  width
		ranges int
	}
	amounts := map[edge]*amount{}
	prev := ^uint64(0) // the position before 0
	var open edge      // the run that the position before belongs to
	running := false
	for i, j := 0, 0; i < len(before.Last) && j < len(after.Last); {
		last := min(before.Last[i], after.Last[j])
		e := edge{before.Node[i], after.Node[j]}
		if e.from != e.to {
			a := amounts[e]
			if a == nil {
				a = &amount{}
				amounts[e] = a
			}
			if n := last - prev; n == 0 {
				a.width.hi++
			} else {
				a.width.add(n)
			}
			if !running || open != e {
				a.ranges++
			}
		}
		running, open = e.from != e.to, e
		prev = last
		if before.Last[i] == last {
			i++
		}
		if after.Last[j] == last {
			j++
		}
	}
	flows := make([]Flow, 0, len(amounts))
	for e, a := range amounts {
		flows = append(flows, Flow{int(e.from), int(e.to), a.width.of(before.Space), a.ranges})
	}
	slices.SortFunc(flows, byEnds)
	return flows
}

// MovedCells sums the flows into a Movement, exactly: Violations counts ranges
// instead of keys, and MovedLoad is that of a popularity which is even over the
// hash space.
func MovedCells(flows []Flow, before, after View) Movement {
	about := changed(before.Weights, after.Weights)
	m := Movement{Minimum: Minimum(before, after), Failover: math.NaN()}
	lost := map[int]float64{}
	for _, f := range flows {
		m.Moved += f.Share
		if f.From >= 0 && !about[f.From] && f.To >= 0 && !about[f.To] {
			m.Collateral += f.Share
			m.Violations += float64(f.Ranges)
		}
		if f.From >= 0 && weightAt(after.Weights, f.From) == 0 {
			lost[f.From] += f.Share
		}
	}
	m.MovedLoad = m.Moved
	for _, f := range flows {
		if all := lost[f.From]; all > 0 {
			if part := f.Share / all; math.IsNaN(m.Failover) || part > m.Failover {
				m.Failover = part
			}
		}
	}
	return m
}

// Ranges counts the runs of positions that changed hands.
func Ranges(flows []Flow) int {
	n := 0
	for _, f := range flows {
		n += f.Ranges
	}
	return n
}
