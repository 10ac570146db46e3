package harness

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/jump"
)

const benchSpec = `
nodes = [10]
keys = "seq:1000"
pool = 4096
[[contestant]]
algorithm = "ring"
params = { vnodes = 10 }
[[contestant]]
algorithm = "bounded-ring"
params = { vnodes = 10 }
[[contestant]]
algorithm = "*"
name = "all"
[[experiment]]
name = "spread"
measures = ["balance"]
contestants = ["all"]
[[experiment]]
name = "times"
measures = ["allocations", "lookup", "latency", "key-lookup", "assign", "build", "add", "remove"]
contestants = ["ring", "bounded-ring"]
`

// Two processes that ask for the same slices in the same order get the same
// answers: that is how a comparison finds a wrong one.
func TestSlicesOfTheSameBenchAnswerAlike(t *testing.T) {
	open := func() []*Bench { return mustPlan(t, benchSpec, boundedring.Info, jump.Info).Benches().List() }
	a, b := open(), open()
	measures := map[string]bool{}
	for i := range a {
		measure, _ := a[i].Measure()
		ops := 8192
		if mostCopies[measure] > 0 {
			ops = 16
		}
		if err := a[i].Open(ops); err != nil {
			if measure != "assign" || a[i].c.trial.Algorithm != "ring" {
				t.Errorf("%s: %v", a[i].Name(), err)
			}
			continue
		}
		if err := b[i].Open(ops); err != nil {
			t.Fatal(err)
		}
		if a[i].Name() != b[i].Name() || a[i].Operations() != b[i].Operations() {
			t.Fatalf("%s with %d operations, then %s with %d", a[i].Name(), a[i].Operations(), b[i].Name(), b[i].Operations())
		}
		measures[measure] = true
		for _, at := range []int{16, 0, 1, 2} {
			x, err := a[i].Slice(at, 0)
			if err != nil {
				t.Fatal(err)
			}
			y, err := b[i].Slice(at, 0)
			if err != nil {
				t.Fatal(err)
			}
			if x.Sum != y.Sum {
				t.Errorf("%s: slice %d answers %d, then %d", a[i].Name(), at, x.Sum, y.Sum)
			}
			if x.Wall <= 0 {
				t.Errorf("%s: a slice took %v", a[i].Name(), x.Wall)
			}
		}
	}
	if len(measures) != 7 {
		t.Errorf("measures %v were opened, want all seven", measures)
	}
}

// Where a structure lies is drawn anew within a round, if it is quick to build, and
// the answers stay.
func TestAQuickStructureLiesElsewhereAfterFourSlices(t *testing.T) {
	b := mustPlan(t, benchSpec, boundedring.Info, jump.Info).Benches().List()[0]
	if err := b.Open(4096); err != nil {
		t.Fatal(err)
	}
	s := b.all.st.built[b.c.subject.id()]
	s.took = quick / 2
	sums := map[uint64]bool{}
	places := map[*Placement]bool{}
	for at := range 2 * slicesInPlace {
		told, err := b.Slice(at, 100)
		if err != nil {
			t.Fatal(err)
		}
		sums[told.Sum], places[s.place] = true, true
	}
	if len(sums) != 1 || len(places) != 2 {
		t.Errorf("a pool in one slice has %d sums in %d places, want 1 in 2", len(sums), len(places))
	}
	s.took = 2 * quick
	if _, err := b.Slice(0, 0); err != nil || !places[s.place] {
		t.Errorf("what is slow to build moved, %v", err)
	}
}

// The lookups that act a slower program do not change what a slice answers.
func TestExtraLookupsLeaveTheAnswersAlone(t *testing.T) {
	benches := mustPlan(t, benchSpec, boundedring.Info).Benches().List()
	b := benches[slices.IndexFunc(benches, func(b *Bench) bool { m, _ := b.Measure(); return m == "lookup" })]
	if err := b.Open(2048); err != nil {
		t.Fatal(err)
	}
	plain, err := b.Slice(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	slowed, err := b.Slice(1, 5000)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Sum != slowed.Sum {
		t.Errorf("the slice answers %d, with extra lookups %d", plain.Sum, slowed.Sum)
	}
}

func TestCalibrationChoosesOperationsThatOpenTakes(t *testing.T) {
	for _, b := range mustPlan(t, benchSpec, boundedring.Info).Benches().List() {
		ops, err := b.Calibrate(50 * time.Microsecond)
		if err != nil {
			continue // the ring does not assign
		}
		if err := b.Open(ops); err != nil {
			t.Fatal(err)
		}
		if ops < 1 || b.Operations() != ops {
			t.Errorf("%s: calibrated to %d operations, opened with %d", b.Name(), ops, b.Operations())
		}
	}
}

func TestEveryAlgorithmCompetesOnceAndWithTheParametersOfTheOneNamedAfterIt(t *testing.T) {
	pl := mustPlan(t, benchSpec, boundedring.Info, jump.Info)
	trials, failed, err := pl.Exact(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(failed) > 0 {
		t.Errorf("the gate failed %v", failed)
	}
	var got []string
	for _, tr := range trials {
		if tr.Measure == "balance" {
			got = append(got, tr.Cell)
		}
	}
	slices.Sort(got)
	want := []string{
		"balance/algorithm=bounded-ring/nodes=10/vnodes=10/workload=seq:1000+uniform",
		"balance/algorithm=jump/nodes=10/workload=seq:1000+uniform",
		"balance/algorithm=modulo/nodes=10/workload=seq:1000+uniform",
		"balance/algorithm=ring/nodes=10/vnodes=10/workload=seq:1000+uniform",
	}
	if !slices.Equal(got, want) {
		t.Errorf("balance of\n%q\nwant\n%q", got, want)
	}
}

// What the gate finds wrong is named by cell, and the exact part goes on.
func TestExactNamesTheCellsThatFailTheGate(t *testing.T) {
	info := fakeInfo("lopsided", func(h uint64, n int) algorithms.Bucket { return 0 })
	pl := mustPlan(t, `
nodes = [10]
pool = 4096
[[contestant]]
algorithm = "lopsided"
[[experiment]]
name = "times"
measures = ["allocations", "lookup"]
`, info)
	trials, failed, err := pl.Exact(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 1 || trials[0].Check == "" {
		t.Errorf("trials %v, want one of allocations with a digest", trials)
	}
	if len(failed) != 2 {
		t.Errorf("failed %v, want both cells", failed)
	}
}
