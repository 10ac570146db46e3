package harness

import (
	"math"
	"testing"

	"github.com/ringbench/ringbench/algorithms/boundedrandomjump"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/results"
)

const boundedSpec = `
nodes = [10]
keys = "seq:key-:0:5000"
[[contestant]]
algorithm = "bounded-ring"
params = { expected = 2000 }
[[contestant]]
algorithm = "bounded-random-jump"
params = { expected = 2000 }
[[experiment]]
name = "static"
measures = ["bounded", "bounded-movement"]
popularity = ["zipf:1.2"]
schedules = ["add-one", "remove-one"]
requests = 2000
sweep = { epsilon = [0.1, 5.0] }
[[experiment]]
name = "dynamic"
measures = ["bounded"]
popularity = ["zipf:1.2"]
requests = 2000
outstanding = 500
sweep = { epsilon = [0.1] }
`

func TestBoundedStreamsAreKeptApartAndTold(t *testing.T) {
	sink, _ := mustRun(t, mustPlan(t, boundedSpec, boundedring.Info, boundedrandomjump.Info))
	at := map[[4]string]map[string]float64{}
	for _, tr := range sink.trials {
		if tr.Skip != "" {
			t.Errorf("%s: %s", tr.Cell, tr.Skip)
		}
		at[[4]string{tr.Experiment, tr.Algorithm, tr.Schedule, results.Param(tr.Params, "epsilon")}] = tr.Values
	}
	if len(at) != 14 {
		t.Fatalf("%d cells, want 14", len(at))
	}
	for _, algorithm := range []string{"bounded-ring", "bounded-random-jump"} {
		tight, loose := at[[4]string{"static", algorithm, "", "0.1"}], at[[4]string{"static", algorithm, "", "5"}]
		// A stream with one key in five requests, under a bound of 1.1 times the mean.
		if tight["load-peak"] > 1.1+1e-9 || tight["full-fraction"] == 0 || tight["hot-key-nodes"] < 2 || tight["spill-fraction"] < 0.1 {
			t.Errorf("%s, epsilon 0.1: %v", algorithm, tight)
		}
		if tight["stickiness-lost"] == 0 || loose["stickiness-lost"] != 0 || loose["spill-fraction"] != 0 || loose["hot-key-nodes"] != 1 {
			t.Errorf("%s: epsilon 0.1 %v, epsilon 5 %v", algorithm, tight, loose)
		}
		if dynamic := at[[4]string{"dynamic", algorithm, "", "0.1"}]; dynamic["load-peak"] == tight["load-peak"] {
			t.Errorf("%s: requests that end change nothing: %v", algorithm, dynamic)
		}
		for _, c := range []struct {
			schedule, epsilon string
			before, after     float64
			least             float64
		}{
			{"add-one", "0.1", 220, 200, 1. / 11}, // 2200/10, 2200/11
			{"remove-one", "0.1", 220, 245, 1. / 10},
			{"add-one", "5", 1200, 1091, 1. / 11},
			{"remove-one", "5", 1200, 1334, 1. / 10},
		} {
			v := at[[4]string{"static", algorithm, c.schedule, c.epsilon}]
			if v["capacity-before"] != c.before || v["capacity-after"] != c.after {
				t.Errorf("%s, %s, epsilon %s: capacity %v and then %v, want %v and %v",
					algorithm, c.schedule, c.epsilon, v["capacity-before"], v["capacity-after"], c.before, c.after)
			}
			if math.Abs(v["moved-minimum"]-c.least) > 1e-9 || v["moved-fraction"] <= 0 {
				t.Errorf("%s, %s, epsilon %s: %v", algorithm, c.schedule, c.epsilon, v)
			}
			// Far below the bound a change is what it is without one.
			if (v["collateral-fraction"] == 0) != (c.epsilon == "5") {
				t.Errorf("%s, %s, epsilon %s: collateral %v", algorithm, c.schedule, c.epsilon, v["collateral-fraction"])
			}
		}
	}
}
