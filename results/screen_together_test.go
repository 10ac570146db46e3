package results

import (
	"encoding/json"
	"strings"
	"testing"
)

// A run that measured lookups together, and changes, shows them beside the single
// lookups.
func TestLookupsTogetherAndChangesAreOnTheFirstScreen(t *testing.T) {
	set := &Set{Run: Run{Type: "run", Schema: Schema, Suite: "speed"}}
	add := func(algorithm, measure, metric string, nodes int, ns float64) {
		for rep := range 3 {
			set.Trials = append(set.Trials, Trial{
				Type: "trial", Measure: measure, Algorithm: algorithm, Nodes: nodes, Seed: 1, Rep: rep, Hash: "xxh3", Params: json.RawMessage(`{}`),
				Cell:   CellName(measure, algorithm, nodes, nil, "", "", "", ""),
				Values: map[string]float64{metric: ns},
			})
		}
	}
	for _, n := range []int{10, 1000, 10000} {
		add("ring", "lookup", "lookup-ns", n, 12)
		add("ring", "batch-lookup", "batch-lookup-ns", n, 7.5)
		add("ring", "add", "add-ns", n, 31_000)
		add("jump", "lookup", "lookup-ns", n, 20)
		add("jump", "parallel-lookup-writer", "parallel-lookup-ns", n, 11)
	}
	var out strings.Builder
	if err := WriteMeasured(&out, set); err != nil {
		t.Fatal(err)
	}
	const want = `
      ns/lookup, 1000 nodes     time to
      in a batch  and a writer  add
ring     7.5            -        31 us
jump      -           11.0         -
`
	if got := out.String(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it%s", got, want)
	}
}
