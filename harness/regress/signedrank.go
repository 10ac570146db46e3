package regress

import (
	"cmp"
	"math"
	"slices"
)

// The statistics of paired differences by the signed ranks of Wilcoxon (1945).
// They assume nothing of the distribution but that each difference is as likely
// above the centre as below it by as much, and they are exact: no normal
// approximation, and no random resampling.

// walsh returns the averages of all pairs of the values, each with itself
// included, sorted. There are n(n+1)/2.
func walsh(xs []float64) []float64 {
	averages := make([]float64, 0, len(xs)*(len(xs)+1)/2)
	for i, x := range xs {
		for _, y := range xs[i:] {
			averages = append(averages, x/2+y/2)
		}
	}
	slices.Sort(averages)
	return averages
}

// hodgesLehmann estimates the centre: the median of the Walsh averages (Hodges
// and Lehmann 1963). It is NaN of no values.
func hodgesLehmann(xs []float64) float64 { return medianOf(walsh(xs)) }

// medianOf returns the median of sorted values.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// interval returns the limits between which the centre lies with at least the
// confidence: Walsh averages counted from either end (Tukey 1949). With too few
// values for the confidence it is infinite. Ties make it hold more often still.
func interval(xs []float64, confidence float64) (low, high float64) {
	averages := walsh(xs)
	cumulative := 0.0
	dropped := -1 // Walsh averages that can be left out at each end, less one
	for _, p := range rankSums(ranks(len(xs))) {
		if cumulative += p; cumulative > (1-confidence)/2 {
			break
		}
		dropped++
	}
	if dropped < 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return averages[dropped], averages[len(averages)-1-dropped]
}

// ranks returns the ranks of n values that all differ.
func ranks(n int) []int {
	rs := make([]int, n)
	for i := range rs {
		rs[i] = i + 1
	}
	return rs
}

// rankSums returns, for each sum, the probability that ranks which each count
// with probability 1/2 add up to it.
func rankSums(ranks []int) []float64 {
	most := 0
	for _, r := range ranks {
		most += r
	}
	p := make([]float64, most+1)
	p[0] = 1
	for _, r := range ranks {
		for s := most; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				p[s] += p[s-r] / 2
			}
		}
	}
	return p
}

// pAbove returns the one-sided p-value of the signed-rank test: how likely
// values are to lie so much above the centre or more, if that is where they are
// centred or below. Values that equal the centre are dropped, and tied ones share
// their mean rank; the distribution is the one given those ties.
func pAbove(xs []float64, centre float64) float64 {
	var ds []float64
	for _, x := range xs {
		if d := x - centre; d != 0 {
			ds = append(ds, d)
		}
	}
	slices.SortFunc(ds, func(a, b float64) int {
		return cmp.Compare(math.Abs(a), math.Abs(b))
	})
	doubled := make([]int, len(ds)) // twice the mean ranks, so that they are whole
	above := 0
	for i := 0; i < len(ds); {
		j := i
		for j < len(ds) && math.Abs(ds[j]) == math.Abs(ds[i]) {
			j++
		}
		for k := i; k < j; k++ {
			doubled[k] = i + 1 + j
			if ds[k] > 0 {
				above += doubled[k]
			}
		}
		i = j
	}
	p := 0.0
	for _, q := range slices.Backward(rankSums(doubled)[above:]) {
		p += q // the small ones first
	}
	return min(1, p)
}

// holm says which of the hypotheses are rejected when all together may be wrong
// with probability alpha (Holm 1979).
func holm(ps []float64, alpha float64) []bool {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	rejected := make([]bool, len(ps))
	for k, i := range order {
		if ps[i] > alpha/float64(len(ps)-k) {
			break
		}
		rejected[i] = true
	}
	return rejected
}
