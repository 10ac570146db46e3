package harness

import (
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/control"
	"github.com/ringbench/ringbench/results"
)

// group returns a stage with timings that a test makes up.
func madeUp(t *testing.T, spec string, ns func(c *cell) []float64, infos ...algorithms.Info) *stage {
	t.Helper()
	pl := mustPlan(t, spec, infos...)
	st := &stage{run: &run{Plan: pl}, group: pl.timed[0], timings: map[*cell][]float64{}}
	for _, c := range st.group.cells {
		st.timings[c] = ns(c)
	}
	return st
}

const probeSpec = `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "pool"
measures = ["pool-probe"]
reps = 5
`

// Reading a larger array of hashes costs everybody more, the control too. That is
// nothing that the contestant is slower by.
func TestThePoolWarningIsAboutThePool(t *testing.T) {
	for name, tt := range map[string]struct {
		control, ring [2]float64 // over the pool and over the larger one
		warned        bool
	}{
		"both slower alike":            {[2]float64{1.47, 2.9}, [2]float64{3.4, 4.8}, false},
		"the ring alone":               {[2]float64{1.47, 1.47}, [2]float64{3.4, 4.8}, true},
		"the ring more than the other": {[2]float64{1.47, 2.9}, [2]float64{3.4, 8}, true},
		"within the limit":             {[2]float64{1, 1}, [2]float64{10, 10.9}, false},
		"beyond the limit":             {[2]float64{1, 1}, [2]float64{10, 11.1}, true},
		"a control that got faster":    {[2]float64{2.9, 1.47}, [2]float64{3.4, 3.4}, false},
	} {
		var large *pool
		st := madeUp(t, probeSpec, func(c *cell) []float64 {
			pair := tt.ring
			if c.subject.info.Name == "control" {
				pair = tt.control
			}
			at := pair[0]
			if c.pool.len() > 4096 {
				at, large = pair[1], c.pool
			}
			return []float64{3 * at, at, 1.5 * at} // each at its best
		})
		if large == nil || st.large != large {
			t.Fatal("the control is not probed over the larger pool")
		}
		st.judgePool()
		if warned := len(st.outcome.Warnings) > 0; warned != tt.warned {
			t.Errorf("%s: %q", name, st.outcome.Warnings)
		}
	}
}

const floorSpec = `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "times"
measures = ["lookup", "latency", "key-lookup"]
reps = 8
`

// What nobody can be faster than must not be slower than somebody.
func TestAFloorAboveAContestantIsAFailedSelfCheck(t *testing.T) {
	around := func(at float64) []float64 {
		return []float64{0.97 * at, 0.98 * at, 0.99 * at, at, at, 1.01 * at, 1.02 * at, 1.03 * at}
	}
	for name, tt := range map[string]struct {
		loop, read, ring float64
		want             int
	}{
		"below":                {1, 2, 6, 0},
		"within the intervals": {1, 6.2, 6, 0},
		"the read above":       {1, 15, 6.8, 2}, // lookup and latency
		"the loop above":       {9, 2, 6.8, 2},
	} {
		st := madeUp(t, floorSpec, func(c *cell) []float64 {
			if c.trial.Measure == "key-lookup" {
				return around(1) // a contestant may hash faster than the control
			}
			switch c.subject.info.Name {
			case "control":
				return around(tt.loop)
			case "one-read":
				return around(tt.read)
			}
			return around(tt.ring)
		})
		st.judgeFloors()
		if len(st.outcome.Warnings) != tt.want {
			t.Errorf("%s: %q", name, st.outcome.Warnings)
		}
		for _, w := range st.outcome.Warnings {
			if !strings.HasPrefix(w, "self-check failed: ") || !strings.Contains(w, "ring over 10 nodes") {
				t.Errorf("%s: %q", name, w)
			}
		}
	}
	// The floor of another structure, and of another size, is none.
	st := madeUp(t, floorSpec+"\n[[contestant]]\nalgorithm = \"ring\"\nname = \"large\"\nparams = { vnodes = 1000 }\n", func(c *cell) []float64 {
		switch {
		case c.subject.info.Name == control.OneReadInfo.Name && c.floor > 1<<16:
			return around(9)
		case c.subject.info.Name == "ring" && c.floor > 1<<16:
			return around(12)
		}
		return around(6)
	})
	st.judgeFloors()
	if len(st.outcome.Warnings) > 0 {
		t.Errorf("%q", st.outcome.Warnings)
	}
}

func TestAControlThatMovedIsAWarning(t *testing.T) {
	for name, tt := range map[string]struct {
		ns     []float64
		warned bool
	}{
		"quiet":           {[]float64{1, 1.1, 1.2, 1, 1.05, 1.1, 1.2, 1.2, 1, 1.1}, false},
		"unquiet":         {[]float64{1, 1.3, 1, 1.3, 1, 1.3, 1, 1.3, 1, 1.3}, true},
		"one in ten":      {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, false},
		"two in ten":      {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 9, 9}, true},
		"too few to tell": {[]float64{1, 9, 1}, false},
	} {
		st := madeUp(t, floorSpec, func(c *cell) []float64 { return nil })
		st.control = st.group.cells[0]
		st.timings[st.control] = tt.ns
		st.judgeControl()
		if warned := len(st.outcome.Warnings) > 0; warned != tt.warned {
			t.Errorf("%s: %q", name, st.outcome.Warnings)
		}
	}
}

// The records know the controls by name.
func TestTheControlsAreThoseOfTheirPackage(t *testing.T) {
	for name, want := range map[string]bool{control.Info.Name: true, control.OneReadInfo.Name: true, "ring": false, "": false} {
		if results.IsControl(name) != want {
			t.Errorf("%q is a control: %v, want %v", name, !want, want)
		}
	}
}
