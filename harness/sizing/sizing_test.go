package sizing

import (
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

func ask(n int, metric Metric, value float64) Question {
	q := Question{Info: ring.Info, Target: Target{metric, value}, Confidence: 0.95, Headroom: 0.25, Replicas: 1, Seed: 1}
	for range n {
		q.Nodes = append(q.Nodes, algorithms.Node{Name: string(rune('a' + len(q.Nodes))), Weight: 1})
	}
	return q
}

func TestScratch(t *testing.T) {
	for _, n := range []int{3, 12} {
		for _, m := range []Target{{Peak, 1.15}, {CV, 0.1}} {
			start := time.Now()
			a, err := Solve(ask(n, m.Metric, m.Value))
			if err != nil {
				t.Fatal(err)
			}
			t.Log(n, m, a.VNodes, *a.Model, *a.Measured, *a.Change, time.Since(start))
			for _, r := range a.Rows {
				t.Log(r.VNodes, r.PeakP50, r.PeakP95, r.CVP95, r.Memory, *r.Failure)
			}
		}
	}
}
