package harness

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

const exactSpec = `
nodes = [10, 17]
keys = "seq:k:0:5000"
popularity = ["uniform", "zipf:0.99"]
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "ring"
weights = "1:2:4"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "all"
measures = ["shares", "balance", "load", "movement"]
schedules = ["add-one", "remove-one", "remove-each", "reweight:2"]
seeds = 3
`

const timedSpec = `
nodes = [10]
pool = 65536
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "times"
measures = ["allocations", "memory", "lookup", "latency", "key-lookup", "build", "add", "remove"]
reps = 2
`

func TestExactTrialsAreTheSameAtEveryGOMAXPROCSAndOnASecondRun(t *testing.T) {
	want, _ := mustRun(t, mustPlan(t, exactSpec))
	for _, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		got, _ := mustRun(t, mustPlan(t, exactSpec))
		runtime.GOMAXPROCS(old)
		if diff := cmp.Diff(want.trials, got.trials); diff != "" {
			t.Errorf("GOMAXPROCS=%d differs from the first run:\n%s", procs, diff)
		}
	}
}

func TestEveryPlannedTrialIsRecordedOnce(t *testing.T) {
	for name, toml := range map[string]string{"exact": exactSpec, "timed": timedSpec} {
		pl := mustPlan(t, toml)
		s, o := mustRun(t, pl)
		if len(o.Failed) > 0 {
			t.Errorf("%s: failed checks: %v", name, o.Failed)
		}
		recorded := map[results.Key]int{}
		for _, tr := range s.trials {
			recorded[tr.Key()]++
			if tr.Skip == "" && len(tr.Values) == 0 {
				t.Errorf("%s: neither values nor a reason for a skip", tr.Cell)
			}
			for metric := range tr.Values {
				if _, known := results.MetricByName(metric); !known {
					t.Errorf("%s: %q is not in the table of metrics", tr.Cell, metric)
				}
			}
		}
		for _, tr := range pl.Trials() {
			if recorded[tr.Key()] != 1 {
				t.Errorf("%s: %v recorded %d times", name, tr.Key(), recorded[tr.Key()])
			}
			delete(recorded, tr.Key())
		}
		if len(recorded) > 0 {
			t.Errorf("%s: recorded but not planned: %v", name, slices.Collect(maps.Keys(recorded)))
		}
		if last := s.progress[len(s.progress)-1]; !last.Ended || last.Fraction < 0.999 {
			t.Errorf("%s: the last progress is %+v", name, last)
		}
	}
}

func TestResumingRecordsWhatIsMissingAndTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	whole, _ := mustRun(t, mustPlan(t, exactSpec))
	for _, cut := range []int{0, 1, 7, len(whole.trials) / 2, len(whole.trials) - 1, len(whole.trials)} {
		rest := newSink(whole.trials[:cut]...)
		if _, err := mustPlan(t, exactSpec).Run(context.Background(), rest); err != nil {
			t.Fatal(err)
		}
		got := append(slices.Clone(whole.trials[:cut]), rest.trials...)
		if diff := cmp.Diff(whole.trials, got); diff != "" {
			t.Errorf("resumed after %d trials:\n%s", cut, diff)
		}
	}
}

func TestResumingTimingsRecordsWhatIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	whole, _ := mustRun(t, mustPlan(t, timedSpec))
	rest := newSink(whole.trials[:5]...)
	if _, err := mustPlan(t, timedSpec).Run(context.Background(), rest); err != nil {
		t.Fatal(err)
	}
	keys := func(ts []results.Trial) (ks []results.Key) {
		for _, tr := range ts {
			ks = append(ks, tr.Key())
		}
		return ks
	}
	sorted := cmpopts.SortSlices(func(a, b results.Key) bool {
		return a.Cell < b.Cell || a.Cell == b.Cell && a.Rep < b.Rep
	})
	if diff := cmp.Diff(keys(whole.trials[5:]), keys(rest.trials), sorted); diff != "" {
		t.Error(diff)
	}
}

func TestWrongAnswersVoidTheTiming(t *testing.T) {
	// The gate sees right answers, the blocks after it do not.
	info := fakeInfo("fickle", fickle(PoolSize+2*chunk)).Declining(algorithms.MinimalMovement, algorithms.Inherits)
	s, o := mustRun(t, mustPlan(t, `
nodes = [10]
[[contestant]]
algorithm = "fickle"
[[experiment]]
name = "times"
measures = ["lookup"]
reps = 6
`, info))
	if len(o.Failed) == 0 {
		t.Fatal("no check failed")
	}
	voided := 0
	for _, tr := range s.trials {
		if tr.Algorithm == "fickle" && tr.Skip != "" {
			voided++
			if _, timed := tr.Values["lookup-ns"]; timed {
				t.Error("a block with wrong answers was recorded as a timing")
			}
		}
	}
	if voided == 0 {
		t.Error("no trial says that its answers were wrong")
	}
}

func TestGateStopsWhatDoesNotKeepItsPromises(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	declined := []string{algorithms.MinimalMovement, algorithms.Inherits}
	for _, tt := range []struct {
		name     string
		lookup   func(h uint64, n int) algorithms.Bucket
		declines []string
		want     string // in the reason; "" passes
	}{
		{"honest", fair, declined, ""},
		{"out-of-range", func(h uint64, n int) algorithms.Bucket { return algorithms.Bucket(n) }, declined, "no node is bound to"},
		{"none", func(h uint64, n int) algorithms.Bucket { return algorithms.None }, declined, "no node is bound to"},
		{"forgets-one", func(h uint64, n int) algorithms.Bucket { return fair(h, n-1) }, declined, "owns none"},
		{"uneven", func(h uint64, n int) algorithms.Bucket { return max(fair(h, n), fair(h>>32, n)) }, declined, "chi-square"},
		{"uneven-but-says-so", func(h uint64, n int) algorithms.Bucket { return max(fair(h, n), fair(h>>32, n)) },
			append([]string{algorithms.Balance}, declined...), ""},
		{"moves-needlessly", fair, nil, "between two others"},
	} {
		info := fakeInfo(tt.name, tt.lookup).Declining(tt.declines...)
		s, o := mustRun(t, mustPlan(t, `
nodes = [10]
[[contestant]]
algorithm = "`+tt.name+`"
[[experiment]]
name = "times"
measures = ["lookup"]
reps = 1
`, info))
		if tt.want == "" && len(o.Failed) > 0 || tt.want != "" && (len(o.Failed) != 1 || !strings.Contains(o.Failed[0], tt.want)) {
			t.Errorf("%s: failed %q, want %q", tt.name, o.Failed, tt.want)
		}
		for _, tr := range s.trials {
			if tr.Algorithm == tt.name && (tr.Skip == "") != (tt.want == "") {
				t.Errorf("%s: skip is %q", tt.name, tr.Skip)
			}
		}
	}
}

func TestWhatAnAlgorithmCannotDoIsASkipWithItsReason(t *testing.T) {
	info := fakeInfo("equal", fair).Declining(algorithms.MinimalMovement, algorithms.Inherits)
	s, o := mustRun(t, mustPlan(t, `
nodes = [1]
keys = "seq:k:0:100"
[[contestant]]
algorithm = "equal"
[[contestant]]
algorithm = "equal"
weights = "1:2"
[[experiment]]
name = "a"
measures = ["shares", "movement", "bounded", "add", "assign"]
schedules = ["remove-one", "reweight:2"]
[[experiment]]
name = "b"
measures = ["balance", "lookup"]
contestants = ["equal 1:2"]
nodes = [4]
`, info))
	if len(o.Failed) > 0 {
		t.Errorf("failed: %v", o.Failed)
	}
	for _, tr := range s.trials {
		if results.IsControl(tr.Algorithm) || tr.Schedule == "reweight:2" {
			continue // one node of any weight owns everything
		}
		if tr.Skip == "" || len(tr.Values) > 0 {
			t.Errorf("%s: skip %q, values %v", tr.Cell, tr.Skip, tr.Values)
		}
		if tr.Skip != "" && !strings.Contains(tr.Skip, " ") {
			t.Errorf("%s: %q is no reason", tr.Cell, tr.Skip)
		}
	}
}

func TestCancellingStopsAtTheNextTrialAndKeepsWhatIsDone(t *testing.T) {
	for name, toml := range map[string]string{"exact": exactSpec, "timed": timedSpec} {
		ctx, cancel := context.WithCancel(context.Background())
		s := &cancelSink{memorySink: *newSink(), after: 2, cancel: cancel}
		_, err := mustPlan(t, toml).Run(ctx, s)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		if len(s.trials) < 2 || len(s.trials) == len(mustPlan(t, toml).Trials()) {
			t.Errorf("%s: %d trials", name, len(s.trials))
		}
	}
}

type cancelSink struct {
	memorySink
	after  int
	cancel func()
}

func (s *cancelSink) Append(t results.Trial) error {
	if len(s.trials) >= s.after {
		s.cancel()
	}
	return s.memorySink.Append(t)
}

func TestAnErrorOfTheSinkEndsTheRun(t *testing.T) {
	for _, toml := range []string{exactSpec, timedSpec} {
		s := newSink()
		s.full = 3
		if _, err := mustPlan(t, toml).Run(context.Background(), s); !errors.Is(err, errFull) {
			t.Errorf("error %v, want the sink's", err)
		}
	}
}

func TestOnlyKeepsTheMatchingCellsAndTheirControls(t *testing.T) {
	pl, err := NewPlan(mustSpec(t, timedSpec), Options{Algorithms: known, Only: mustRegexp("^lookup/algorithm=ring/")})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range pl.Trials() {
		if tr.Algorithm != "ring" && !results.IsControl(tr.Algorithm) || tr.Measure != "lookup" {
			t.Errorf("%s was kept", tr.Cell)
		}
	}
	if _, err := NewPlan(mustSpec(t, timedSpec), Options{Algorithms: known, Only: mustRegexp("nothing")}); err == nil {
		t.Error("a plan of no cells is no error")
	}
}

func TestAllocationsAreCounted(t *testing.T) {
	var keep any
	info := fakeInfo("wasteful", func(h uint64, n int) algorithms.Bucket {
		keep = new([3]uint64)
		return fair(h, n)
	}).Declining(algorithms.MinimalMovement, algorithms.Inherits)
	m, _, err := info.New(algorithms.Nodes("a", "b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	hs := make([]uint64, 1<<14)
	if a, b := allocations(m, hs); a != 1 || b != 24 {
		t.Errorf("%v allocations of %v bytes, want 1 of 24", a, b)
	}
	_ = keep
}
