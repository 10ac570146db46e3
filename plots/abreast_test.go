package plots

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// together makes records of lookups one by one, in batches and from all cores.
func together() *results.Set {
	set := &results.Set{Run: quick().Run, End: quick().End}
	for _, a := range []struct {
		algorithm, measure, metric string
		ns                         float64
	}{
		{"ring", "lookup", "lookup-ns", 12},
		{"ring", "batch-lookup", "batch-lookup-ns", 7},
		{"ring", "parallel-lookup", "parallel-lookup-ns", 6},
		{"ring", "parallel-lookup-writer", "parallel-lookup-ns", 6.3},
		{"jump", "lookup", "lookup-ns", 20},
		{"jump", "parallel-lookup", "parallel-lookup-ns", 10},
		{"jump", "parallel-lookup-writer", "parallel-lookup-ns", 12},
		{"modulo", "lookup", "lookup-ns", 2},
	} {
		for rep := range 3 {
			set.Trials = append(set.Trials, results.Trial{
				Type: "trial", Measure: a.measure, Algorithm: a.algorithm, Nodes: 100, Keys: 1 << 20, Seed: 1, Rep: rep, Hash: "xxh3", Params: json.RawMessage(`{}`),
				Workload: "random:1048576+uniform",
				Cell:     results.CellName(a.measure, a.algorithm, 100, nil, "random:1048576+uniform", "", "", ""),
				Values:   map[string]float64{a.metric: a.ns},
			})
		}
	}
	return set
}

func TestLookupsTogetherStandBesideSingleOnes(t *testing.T) {
	f, ok := arrange(together()).abreast()
	if !ok {
		t.Fatal("no figure")
	}
	if want := "makes a lookup take 1.2 times as long at most (jump)"; !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
	drawing := string(f.svg(false))
	for _, want := range []string{"in one call", "with a writer", ">ring<", ">jump<"} {
		if !strings.Contains(drawing, want) {
			t.Errorf("the figure has no %q", want)
		}
	}
	if strings.Contains(drawing, ">modulo<") {
		t.Error("modulo has a row although only single lookups are known of it")
	}
	if _, ok := arrange(quick()).abreast(); ok {
		t.Error("a run without lookups together has the figure")
	}
}
