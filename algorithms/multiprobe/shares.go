package multiprobe

import (
	"cmp"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// Shares returns the part of the keys that each bucket owns, exactly for probes
// that are independent of each other, in n log n steps.
//
// A probe is farther than x from its point with the chance S(x), the sum over the
// points of what their gaps exceed x by. The point of a gap g then wins a key with
// the chance that one of the k probes is closest to it, the integral of
// k * S(x)^(k-1) over x from 0 to g. Between two gaps that follow each other in
// size, S is a straight line whose slope is the number of larger gaps m, so that
// this is (S(a)^k - S(b)^k) / m.
func (m *Map) Shares() []float64 {
	type gap struct {
		width float64
		owner algorithms.Bucket
	}
	var gaps []gap
	var first, last uint64
	buckets := 0
	for at, b := range m.ring.Points() {
		if len(gaps) == 0 {
			first = at
		}
		gaps = append(gaps, gap{float64(at-last) * 0x1p-64, b})
		last = at
		buckets = max(buckets, int(b)+1)
	}
	for b := range m.ring.Nodes() {
		buckets = max(buckets, int(b)+1)
	}
	shares := make([]float64, buckets)
	if len(gaps) == 0 {
		return shares
	}
	gaps[0].width = float64(first-last) * 0x1p-64 // round the circle
	if len(gaps) == 1 {
		gaps[0].width = 1
	}
	slices.SortFunc(gaps, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.width, b.width), cmp.Compare(a.owner, b.owner))
	})
	left := 0.0 // S at the gap before
	for _, g := range gaps {
		left += g.width
	}
	won, before := 0.0, 0.0
	power := pow(left, m.probes)
	for i, g := range gaps {
		larger := float64(len(gaps) - i)
		left -= float64(larger * (g.width - before))
		next := pow(max(left, 0), m.probes)
		won += (power - next) / larger
		power, before = next, g.width
		shares[g.owner] += won
	}
	return shares
}

// pow returns x^k by multiplications, which are the same on every machine.
func pow(x float64, k int) float64 {
	p := 1.0
	for ; k > 0; k /= 2 {
		if k%2 == 1 {
			p *= x
		}
		x *= x
	}
	return p
}
