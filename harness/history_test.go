package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/memento"
	"github.com/ringbench/ringbench/results"
)

const agedSpec = `
nodes = [40]
keys = "seq:k:0:5000"
pool = 4096
[[contestant]]
algorithm = "ring"
params = { vnodes = 4 }
[[contestant]]
algorithm = "memento"
[[experiment]]
name = "exact"
measures = ["balance", "movement", "shares"]
schedules = ["add-one", "remove-one"]
after = ["none", "remove:0.5", "remove-last:0.5"]
seeds = 2
[[experiment]]
name = "timed"
measures = ["lookup", "memory", "allocations", "remove"]
after = ["none", "remove:0.9", "remove-last:30"]
reps = 2
`

func TestWhatHasAPastIsMeasuredAfterIt(t *testing.T) {
	whole, o := mustRun(t, mustPlan(t, agedSpec, memento.Info))
	if len(o.Failed) > 0 {
		t.Fatal(o.Failed)
	}
	checks := map[string]string{} // of the balance of seed 1, by contestant and past
	for _, tr := range whole.trials {
		row := results.Row{Cell: tr.Cell}
		if tr.Skip != "" && tr.Measure != "shares" {
			t.Errorf("%s: %s", tr.Cell, tr.Skip)
		}
		if row.After() != "" && tr.Series != nil {
			t.Errorf("%s keeps vectors", tr.Cell)
		}
		if tr.Measure == "movement" && tr.Algorithm == "ring" && tr.Values["collateral-fraction"] > 0 {
			t.Errorf("%s: %v of the keys move needlessly", tr.Cell, tr.Values["collateral-fraction"])
		}
		if tr.Measure == "movement" && row.After() != "" && tr.Schedule == "add-one" && tr.Values["moved-minimum"] != results.Exact(1./21) {
			t.Errorf("%s: a node that joins those 20 that are left has to take %v", tr.Cell, tr.Values["moved-minimum"])
		}
		if tr.Measure == "lookup" && tr.Algorithm == "memento" && (tr.Values["footprint-bytes"] > 0) != (row.After() == "remove:0.9") {
			t.Errorf("%s takes %v bytes", tr.Cell, tr.Values["footprint-bytes"])
		}
		if tr.Measure == "balance" && tr.Seed == 1 {
			checks[tr.Algorithm+" "+row.After()] = tr.Check
		}
	}
	seen := map[string]string{}
	for name, check := range checks {
		if other, dup := seen[check]; dup || check == "" {
			t.Errorf("%s places keys as %s does", name, other)
		}
		seen[check] = name
	}
	if len(checks) != 6 {
		t.Errorf("balance of %d contestants and pasts, want 6", len(checks))
	}

	// A run that is resumed goes on with the same placements.
	resumed := newSink(whole.trials[:len(whole.trials)/3]...)
	if _, err := mustPlan(t, agedSpec, memento.Info).Run(context.Background(), resumed); err != nil {
		t.Fatal(err)
	}
	want := map[results.Key]string{}
	for _, tr := range whole.trials {
		want[tr.Key()] = tr.Check
	}
	if len(resumed.trials) != len(whole.trials)-len(whole.trials)/3 {
		t.Errorf("the resumed run records %d trials of %d", len(resumed.trials), len(whole.trials))
	}
	for _, tr := range resumed.trials {
		if tr.Check != want[tr.Key()] {
			t.Errorf("%s, seed %d: check %s in the resumed run, %s before", tr.Cell, tr.Seed, tr.Check, want[tr.Key()])
		}
	}
}

func TestThePastIsPartOfTheNameOfACell(t *testing.T) {
	pl, err := NewPlan(mustSpec(t, agedSpec), Options{Algorithms: append(known[:len(known):len(known)], memento.Info), Only: mustRegexp("^balance/.*/after=remove-last:0.5/")})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pl.Trials()); n != 4 {
		t.Errorf("%d trials, want 2 contestants with 2 seeds", n)
	}
	for _, tr := range pl.Trials() {
		if label := results.Label(tr); label != tr.Algorithm && label != "ring v=4" {
			t.Errorf("%s is labelled %q", tr.Cell, label)
		}
	}
}

// What is built anew has no past, and a cluster that is too small for one neither.
func TestAPastThatCannotBeIsASkip(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `
nodes = [1, 8]
keys = "seq:k:0:1000"
[[contestant]]
algorithm = "modulo"
[[contestant]]
algorithm = "jump"
[[experiment]]
name = "a"
measures = ["balance"]
after = ["remove:0.5", "remove-last:0.5"]
`, jump.Info))
	for _, tr := range s.trials {
		after := (&results.Row{Cell: tr.Cell}).After()
		skipped := tr.Nodes == 1 || tr.Algorithm == "modulo" && after == "remove:0.5"
		if skipped != (tr.Skip != "") {
			t.Errorf("%s: skip %q", tr.Cell, tr.Skip)
		}
	}
}

func TestAPastThatMakesNoSenseIsRefused(t *testing.T) {
	for after, want := range map[string]string{
		`["remove-each"]`:   "starts from the beginning",
		`["remove:x"]`:      "is not a number of nodes",
		`["none", "leave"]`: "is unknown",
	} {
		spec := "nodes = [8]\n[[contestant]]\nalgorithm = \"ring\"\n[[experiment]]\nname = \"a\"\nmeasures = [\"balance\"]\nafter = " + after + "\n"
		_, err := NewPlan(mustSpec(t, spec), Options{Algorithms: known})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "test.toml:7:1: ") {
			t.Errorf("after = %s: %v, want %q at its line", after, err, want)
		}
	}
	_, err := ParseSpec("test.toml", []byte("nodes = [8]\n[[contestant]]\nalgorithm = \"ring\"\n[[experiment]]\nname = \"a\"\nmeasures = [\"build\"]\nafter = [\"remove:2\"]\n"))
	if err == nil || !strings.Contains(err.Error(), "test.toml:7:1: build is measured of structures that are newly built") {
		t.Errorf("build after a removal: %v", err)
	}
}
