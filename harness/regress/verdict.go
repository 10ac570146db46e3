package regress

import (
	"math"
	"slices"

	"github.com/ringbench/ringbench/results"
)

// The rules. Ratios are logarithms, so that a slowdown and the speedup that takes
// it back are of one size.
const (
	confidence  = 0.99 // of the interval of a cell
	familyLevel = 0.05 // of one false regression among all cells
)

var (
	slowdown = math.Log(1.01) // what is smaller is nobody's concern
	noChange = math.Log(1.03) // an interval within this is a pass
)

// The slices of a cell that each side takes in a round. The start of the processes
// takes as long as some hundred of them, so that few cells have more for little.
const (
	leastSlices = 16
	mostSlices  = 32
	fewCells    = 8
)

// slicesOf returns how many slices of each cell a side takes where there are so many.
func slicesOf(cells int) int {
	if cells > fewCells {
		return leastSlices
	}
	return mostSlices
}

// A pairing is one cell on both sides over the rounds so far.
type pairing struct {
	base   []float64 // ns an operation, by round
	ratios []float64 // logarithm of head over base, by round
}

// A slice is what one side told.
type slice struct {
	ns   float64 // an operation
	calm bool    // the thread kept its core
}

// add adds a round, given base's slices and the logarithm of head over base.
func (p *pairing) add(base []slice, ratio float64) {
	p.base = append(p.base, fastestQuarter(base))
	p.ratios = append(p.ratios, ratio)
}

// fastestQuarter returns the mean of the fastest quarter of the slices: what an
// operation takes when nothing interferes.
func fastestQuarter(taken []slice) float64 {
	var ns []float64
	for _, s := range taken {
		ns = append(ns, s.ns)
	}
	slices.Sort(ns)
	n := max(1, len(ns)/4)
	sum := 0.0
	for _, v := range ns[:n] {
		sum += v
	}
	return sum / float64(n)
}

// change returns the logarithm of second over first, which took turns: the estimate
// of Hodges and Lehmann over all slices and the one that followed. Each slice but the
// ends stands in two pairs, as the later and as the earlier one, so that neither
// order nor drift favours a side. What slows a core down for longer than a
// millisecond, such as a neighbour on its other thread, slows both slices of a pair.
// Pairs in which either lost its core are left out, unless that leaves too few.
func change(first, second []slice) float64 {
	var all, calm []float64
	pair := func(a, b slice) {
		x := math.Log(b.ns / a.ns)
		all = append(all, x)
		if a.calm && b.calm {
			calm = append(calm, x)
		}
	}
	for i, b := range second {
		pair(first[i], b)
		if i+1 < len(first) {
			pair(first[i+1], b)
		}
	}
	if len(calm) < len(all)/4 {
		calm = all
	}
	return hodgesLehmann(calm)
}

// A finding is what the rounds say about one cell.
type finding struct {
	base      float64 // ns an operation, median over the rounds
	estimate  float64 // of the logarithm of the ratio
	low, high float64 // its interval
	p         float64 // of what was seen, if head is slower by the least change at most
	verdict   results.Verdict
}

// judge gives each cell its verdict, as one of all that are judged. The least
// change that is one is 1%, or what the caller asks for. The verdict is
//
//   - regressed when the interval lies above the least change, and Holm's
//     procedure rejects "slower by no more than that" for the cell among all;
//   - improved when the interval lies below it, with the other sign;
//   - unchanged when the interval lies within 3% either way;
//   - inconclusive otherwise.
//
// A change is to be confirmed before it is reported.
func judge(cells []*pairing, least float64) []finding {
	fs := make([]finding, len(cells))
	ps := make([]float64, len(cells))
	for i, c := range cells {
		xs := c.ratios
		f := finding{base: middle(c.base), estimate: hodgesLehmann(xs), p: pAbove(xs, least)}
		f.low, f.high = interval(xs, confidence)
		fs[i], ps[i] = f, f.p
	}
	for i, slower := range holm(ps, familyLevel) {
		f := &fs[i]
		switch {
		case f.low > least && slower:
			f.verdict = results.Regressed
		case f.high < -least:
			f.verdict = results.Improved
		case f.low >= -noChange && f.high <= noChange:
			f.verdict = results.Unchanged
		default:
			f.verdict = results.Inconclusive
		}
	}
	return fs
}

// middle returns the median.
func middle(xs []float64) float64 {
	return medianOf(slices.Sorted(slices.Values(xs)))
}

// row writes the finding as a row of the comparison. Its head is what base takes,
// times the change: the median of head's own rounds, some of them in worse minutes,
// would contradict it.
func (f finding) row(cell, metric string) results.Change {
	return results.Change{
		Name: cell, Metric: metric,
		Base: results.Number(f.base), Head: results.Number(f.base * math.Exp(f.estimate)),
		Ratio: results.Number(math.Exp(f.estimate)), Low: results.Number(math.Exp(f.low)), High: results.Number(math.Exp(f.high)),
		P: results.Number(f.p), Verdict: f.verdict,
	}
}
