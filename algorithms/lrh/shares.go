package lrh

import "github.com/ringbench/ringbench/algorithms"

// Shares returns the part of the keys that each bucket owns: every arc of the ring
// is shared out among its candidates by their weights. It goes over the candidates
// of all points, and holds to within the arcs that round off an arc of 2^-53.
func (m *Map) Shares() []float64 {
	shares := make([]float64, len(m.weights))
	_, cells := m.ring.Cells()
	var window [maxCandidates]algorithms.Bucket
	before := ^uint64(0) // the position before 0
	for end := range cells {
		width := float64(end-before) * 0x1p-64
		if end == before { // one point owns all of 2^64
			width = 1
		}
		before = end
		candidates := window[:m.ring.Distinct(end, window[:m.candidates])]
		total := 0.0
		for _, b := range candidates {
			total += m.weights[b]
		}
		if total == 0 {
			if b := m.best(end, candidates); b != algorithms.None {
				shares[b] += width
			}
			continue
		}
		for _, b := range candidates {
			shares[b] += float64(width * m.weights[b] / total)
		}
	}
	return shares
}
