package sizing

import (
	"testing"

	"github.com/ringbench/ringbench/algorithms/multiprobe"
)

// The knob need not be vnodes: the probes of multi-probe hashing have no model here,
// and are found by asking the algorithm, whose table then agrees.
func TestProbesAreFoundForATarget(t *testing.T) {
	for _, target := range []float64{1.1, 1.3} {
		q := ask(12, Peak, target)
		q.Info, q.Params = multiprobe.Info, nil
		a, err := Solve(q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Knob != "probes" || a.VNodes < 2 || a.Model != nil {
			t.Fatalf("target %v: %d %s by the model %v", target, a.VNodes, a.Knob, a.Model)
		}
		met := func(probes int) float64 {
			p, err := mustSolver(t, q).population(probes)
			if err != nil {
				t.Fatal(err)
			}
			return p.within(Peak, target-1)
		}
		if got := met(a.VNodes); got < q.Confidence {
			t.Errorf("target %v: %d probes meet it in %.3f of the clusters", target, a.VNodes, got)
		}
		if fewer := a.VNodes - 1 - a.VNodes/20; met(fewer) >= q.Confidence {
			t.Errorf("target %v: %d probes meet it too, %d were recommended", target, fewer, a.VNodes)
		}
		for _, r := range a.Rows {
			if r.VNodes == a.VNodes && r.PeakAsk > target {
				t.Errorf("target %v: the table tells of %v", target, r.PeakAsk)
			}
		}
	}
}
