package harness

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/keyhash"
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
	controls := map[int]float64{} // by repetition: one control serves both groups
	for _, tr := range whole.trials {
		if tr.Algorithm == "control" {
			controls[tr.Rep] = tr.Values["lookup-ns"]
		}
	}
	for _, tr := range whole.trials {
		if want := controls[tr.Rep]; tr.Experiment == "first" && tr.Timing.ControlNs != want {
			t.Errorf("%s, rep %d: the control took %v ns, it says %v", tr.Cell, tr.Rep, want, tr.Timing.ControlNs)
		}
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

// A block of assigns begins with 100 requests on a node, and each request that comes
// lets go of the oldest.
func TestAssignsAreTimedWithAHundredRequestsOnANode(t *testing.T) {
	var built []*logged
	info := algorithms.Define("logged", "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*logged, error) {
		built = append(built, &logged{fake: fake{len(nodes), fair}})
		return built[len(built)-1], nil
	}).Declining(algorithms.Balance, algorithms.MinimalMovement)
	s, o := mustRun(t, mustPlan(t, `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "logged"
[[experiment]]
name = "a"
measures = ["assign"]
reps = 1
`, info))
	if len(o.Failed) > 0 {
		t.Fatal(o.Failed)
	}
	var timed results.Trial
	for _, tr := range s.trials {
		if tr.Measure == "assign" {
			timed = tr
		}
	}
	hs := newPool(4096, 1).hashed(mustHash(t).For(nil))
	last := built[len(built)-1] // the state of the one block that was recorded
	if got, want := len(last.assigned), 1000+timed.Timing.Operations; got != want {
		t.Fatalf("%d requests were placed, want 1,000 and the %d that were timed", got, want)
	}
	for i, h := range last.assigned {
		want := hs[(i-1000+len(hs)*1000)%len(hs)]
		if i < 1000 {
			want = hs[len(hs)-1-i]
		}
		if h != want {
			t.Fatalf("request %d is of another key", i)
		}
		if i >= 1000 && last.released[i-1000] != fair(last.assigned[i-1000], 10) {
			t.Fatalf("request %d lets go of another one than the oldest", i)
		}
	}
}

// logged places every request at its first choice, and notes what it is asked.
type logged struct {
	fake
	assigned []uint64
	released []algorithms.Bucket
}

func (l *logged) Assign(h uint64) (algorithms.Bucket, bool) {
	l.assigned = append(l.assigned, h)
	return l.Lookup(h), true
}

func (l *logged) Release(b algorithms.Bucket) { l.released = append(l.released, b) }

func mustHash(t *testing.T) keyhash.Hash {
	t.Helper()
	h, err := keyhash.ByName(defaultHash)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The memory of a structure is that of one, of however many copies the mean is.
func TestMemoryIsThatOfOneStructure(t *testing.T) {
	const size = 1 << 18
	info := algorithms.Define("heavy", "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*heavy, error) {
		return &heavy{fake{len(nodes), fair}, make([]byte, size)}, nil
	}).Declining(algorithms.MinimalMovement)
	s, _ := mustRun(t, mustPlan(t, `
nodes = [10]
seed = 5
pool = 4096
[[contestant]]
algorithm = "heavy"
[[experiment]]
name = "a"
measures = ["memory", "lookup"]
reps = 1
`, info))
	for _, tr := range s.trials {
		if got := tr.Values["memory-bytes"]; tr.Measure == "memory" && (got < size || got > size*1.1) {
			t.Errorf("%v bytes, of %d", got, size)
		}
		if tr.Seed != 5 {
			t.Errorf("%s has the seed %d", tr.Cell, tr.Seed)
		}
	}
}

// heavy holds some memory.
type heavy struct {
	fake
	ballast []byte
}

// A run of two groups judges the floors of both, and so does the rest of a run.
func TestFloorsRunInEveryGroupThatLacksARepetition(t *testing.T) {
	const spec = `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "ring"
name = "again"
params = { label = "{name}-{index}" }
[[experiment]]
name = "first"
measures = ["lookup", "pool-probe"]
contestants = ["ring"]
reps = 2
[[experiment]]
name = "second"
measures = ["lookup", "pool-probe"]
contestants = ["again"]
reps = 2
`
	pl := mustPlan(t, spec)
	s := newSink()
	r := &run{Plan: pl, ctx: context.Background(), sink: s, total: 1}
	for _, g := range pl.timed {
		before := len(s.trials)
		if err := r.runTimed(g); err != nil {
			t.Fatal(err)
		}
		floors := map[string]int{}
		for _, tr := range s.trials[before:] {
			if results.IsControl(tr.Algorithm) {
				floors[tr.Cell]++
			}
		}
		if recorded := len(floors) > 0; recorded != (g.name == "first") {
			t.Errorf("%s records the floors %v", g.name, floors)
		}
	}
	last := pl.timed[1]
	st := &stage{run: r, group: last, watch: r.watch, built: map[string]*structure{}, timings: map[*cell][]float64{}}
	kernels := map[*cell]*kernel{}
	for _, c := range last.cells {
		if c.subject.floor {
			k, err := st.prepare(c)
			if err != nil {
				t.Fatal(err)
			}
			kernels[c] = k
		}
	}
	if err := st.repetition(0, kernels); err != nil {
		t.Fatal(err)
	}
	for c, ns := range st.timings {
		if len(ns) != 1 {
			t.Errorf("%s of an earlier group has %d timings in the next one", c.trial.Cell, len(ns))
		}
	}
	if len(st.timings) < 4 {
		t.Errorf("%d floors were timed again", len(st.timings))
	}
}

// On six cores a block of lookups from all of them is as many whole parts.
func TestLookupsFromAnyNumberOfCoresAnswerRightly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	pl := mustPlan(t, abreastSpec)
	st := &stage{run: &run{Plan: pl}, watch: clocks, built: map[string]*structure{}}
	for _, c := range pl.timed[0].cells {
		if c.trial.Measure == "batch-lookup" || results.IsControl(c.trial.Algorithm) {
			continue
		}
		s, err := st.build(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.answersFor(c, s); err != nil {
			t.Fatal(err)
		}
		k, err := st.kernel(c, s, 1, 1)
		if err != nil {
			continue
		}
		if k.most%k.unit != 0 {
			t.Errorf("%s: at most %d operations, in units of %d", c.trial.Cell, k.most, k.unit)
		}
		if c.trial.Measure == "parallel-lookup" {
			if got, want := k.run(0, 11*k.unit), k.expect(0, 11*k.unit); got != want {
				t.Errorf("%s: %d, want %d", c.trial.Cell, got, want)
			}
		} else if time.Duration(float64(k.most)/10) < 5*writerPause/2 {
			t.Errorf("%s: %d lookups may end before the writer begins", c.trial.Cell, k.most)
		}
	}
}

// Changes that take less than a clock can tell are made several in a row, of at most
// a hundredth of the nodes, and what is taken back is what there was.
func TestChangesInARowLeaveTheSizeWhatItSays(t *testing.T) {
	w := &world{}
	pl := in(t, w, "nodes = [500]\nmeasures = [\"add\", \"remove\"]\nreps = 2\n", func(m *worker) { m.join, m.leave = 7, 7 })
	st := &stage{run: &run{Plan: pl}, watch: pl.watch, built: map[string]*structure{}}
	for _, c := range pl.timed[0].cells {
		k, err := membershipKernel(c, 3, 5, c.trial.Measure == "add")
		if err != nil {
			t.Fatal(err)
		}
		if k.unit != 15 || k.most != 15 {
			t.Errorf("%s: %d operations, want 3 copies of 5 in a row", c.trial.Cell, k.most)
		}
		for range 3 {
			if err := k.before(); err != nil {
				t.Fatal(err)
			}
			if got, want := k.run(0, 15), k.expect(0, 15); got != want {
				t.Errorf("%s: %d nodes after it, want %d", c.trial.Cell, got, want)
			}
		}
		want := uint64(505)
		if c.trial.Measure == "remove" {
			want = 495
		}
		if got := k.expect(0, 15); got != want {
			t.Errorf("%s: %d nodes are expected, want %d", c.trial.Cell, got, want)
		}
		if _, err := st.build(c); err != nil {
			t.Fatal(err)
		}
		copies, row, err := st.enough(c, 12)
		if err != nil || copies != 12 || row != 5 {
			t.Errorf("%s: %d copies with %d in a row, %v; want 12 with 5", c.trial.Cell, copies, row, err)
		}
	}
}
