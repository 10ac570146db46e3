package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/results"
)

const twoTimedGroups = `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "ring"
params = { vnodes = 4 }
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "first"
measures = ["lookup"]
contestants = ["ring"]
reps = 2
[[experiment]]
name = "second"
measures = ["lookup"]
contestants = ["modulo"]
reps = 2
`

func TestTheControlRunsInEveryRepetitionOfEveryGroup(t *testing.T) {
	whole, _ := mustRun(t, mustPlan(t, twoTimedGroups))
	var rest []results.Trial
	for _, tr := range whole.trials {
		if tr.Algorithm != "ring" { // so that the resumed run lacks a contestant, and no control
			rest = append(rest, tr)
		}
	}
	resumed := newSink(rest...)
	if _, err := mustPlan(t, twoTimedGroups).Run(context.Background(), resumed); err != nil {
		t.Fatal(err)
	}
	if len(resumed.trials) != 2 {
		t.Errorf("the resumed run records %d trials, want the 2 that were missing", len(resumed.trials))
	}
	for _, tr := range append(whole.trials, resumed.trials...) {
		if tr.Timing.ControlNs <= 0 {
			t.Errorf("%s, rep %d of %q: the control of the repetition took %v ns", tr.Cell, tr.Rep, tr.Experiment, tr.Timing.ControlNs)
		}
	}
}

func TestNodesOfOneWeightThatIsNot1AreTimedAndMoved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes.csv")
	if err := os.WriteFile(file, []byte("a,2\nb,2\nc,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, o := mustRun(t, mustPlan(t, `
nodes_file = '`+file+`'
keys = "seq:k:0:100"
pool = 4096
[[contestant]]
algorithm = "equal"
[[experiment]]
name = "a"
measures = ["movement", "lookup"]
schedules = ["add-one"]
reps = 1
`, fakeInfo("equal", func(uint64, int) algorithms.Bucket { return 0 }).Declining("balance", "reachable")))
	if len(o.Failed) > 0 {
		t.Errorf("failed: %v", o.Failed)
	}
	for _, tr := range s.trials {
		if tr.Skip != "" {
			t.Errorf("%s: skip %q", tr.Cell, tr.Skip)
		}
	}
}

// forgetful says that it takes nodes in, and does not.
type forgetful struct{ fake }

func (*forgetful) Add(algorithms.Node) (algorithms.Bucket, error) { return 0, nil }
func (*forgetful) Remove(algorithms.Bucket) error                 { return nil }

func TestAChangeThatDidNotHappenIsNotTimed(t *testing.T) {
	info := algorithms.Define("forgetful", "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*forgetful, error) {
		return &forgetful{fake{len(nodes), fair}}, nil
	})
	s, o := mustRun(t, mustPlan(t, `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "forgetful"
[[experiment]]
name = "a"
measures = ["add", "remove"]
reps = 1
`, info))
	if len(o.Failed) != 2 {
		t.Errorf("failed checks: %q, want one for each measure", o.Failed)
	}
	for _, tr := range s.trials {
		if tr.Algorithm == "forgetful" && !tr.Failed() {
			t.Errorf("%s: %v", tr.Cell, tr.Values)
		}
	}
}

func TestFullNodesAreAPartOfAllNodes(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `
nodes = [10]
keys = "seq:k:0:100"
[[contestant]]
algorithm = "bounded-ring"
[[experiment]]
name = "a"
measures = ["bounded"]
requests = 1
seeds = 3
`, boundedring.Info))
	for _, tr := range s.trials {
		if got := tr.Values["full-fraction"]; got != 0.1 { // the one node that holds the one request
			t.Errorf("seed %d: %v of the nodes are full, want 0.1", tr.Seed, got)
		}
	}
}

// What tells no footprint is built as often in a block as what does: one New is
// far below what a clock can time.
func TestABuildWithoutAFootprintIsTimedOverManyOperations(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `
nodes = [10]
[[contestant]]
algorithm = "fair"
[[experiment]]
name = "a"
measures = ["build"]
reps = 1
`, fakeInfo("fair", fair)))
	for _, tr := range s.trials {
		if tr.Measure == "build" && tr.Timing.Operations < 16 {
			t.Errorf("a block of %d operations", tr.Timing.Operations)
		}
	}
}
