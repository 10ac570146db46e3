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

// The slices of a round. The fastest quarter of them is what the program takes
// when nothing interferes; the mean of all is mostly about what interferes.
const (
	slicesPerRound = 16
	fastest        = slicesPerRound / 4
)

// A pairing is one cell on both sides over the rounds so far, in ns an operation.
type pairing struct {
	base, head []float64 // by round: mean of the fastest quarter of the slices
}

// ratios returns the logarithm of head over base, by round.
func (p *pairing) ratios() []float64 {
	xs := make([]float64, len(p.base))
	for i := range xs {
		xs[i] = math.Log(p.head[i] / p.base[i])
	}
	return xs
}

// fastestQuarter returns the mean of the fastest quarter of the slices.
func fastestQuarter(ns []float64) float64 {
	sorted := slices.Sorted(slices.Values(ns))
	n := max(1, len(sorted)/(slicesPerRound/fastest))
	sum := 0.0
	for _, v := range sorted[:n] {
		sum += v
	}
	return sum / float64(n)
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
		xs := c.ratios()
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
