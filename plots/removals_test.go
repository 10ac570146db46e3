package plots

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// withRemovals is the quick run with lookups after removals: times as often as
// those newly built took, by the algorithm and the way of leaving.
func withRemovals() *results.Set {
	set := quick()
	slower := map[string]float64{"ring remove:0.5": 2, "ring remove:0.9": 8, "ring remove-last:0.9": 1, "jump remove:0.9": 1, "jump remove-last:0.9": 0.5}
	for _, t := range set.Trials {
		for key, factor := range slower {
			algorithm, after, _ := strings.Cut(key, " ")
			if t.Measure == "lookup" && t.Algorithm == algorithm && t.Weights == "" && t.Nodes == 1000 && strings.HasSuffix(t.Workload, "+uniform") {
				t.Cell = results.CellName("lookup", algorithm, 1000, []results.Field{{Name: "after", Value: after}}, t.Workload, "", "", "")
				t.Values = map[string]float64{"lookup-ns": 10 * factor}
				set.Trials = append(set.Trials, t)
			}
		}
	}
	return set
}

func TestRemovalsHaveAFigureOfTheirOwn(t *testing.T) {
	set := withRemovals()
	names := namesOf(All(set))
	if i := slices.Index(names, "removals"); i < 0 || !slices.Equal(slices.Delete(slices.Clone(names), i, i+1), quickFigures) {
		t.Errorf("the figures are %q, want removals beside the others", names)
	}
	const want = "Once 90% of 1,000 nodes have left at random, a lookup takes from 10 ns (jump) to 80 ns (ring); " +
		"once 90% of 1,000 nodes have left from the end of the list, a lookup takes from 5 ns (jump) to 10 ns (ring)."
	if got := captionOf(t, set, "removals"); got != want {
		t.Errorf("the caption is %q, want %q", got, want)
	}
	if captionOf(t, set, "lookup") != captionOf(t, quick(), "lookup") {
		t.Error("lookups after removals are among those of what is newly built")
	}
	var b bytes.Buffer
	if err := WriteReport(&b, set); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ", once 90% of the nodes have left at random") {
		t.Error("the report has no table of lookups after removals")
	}
}

func TestALineOverRemovalsStartsAtWhatIsNewlyBuilt(t *testing.T) {
	r := arrange(withRemovals())
	rows := where(r.aged, func(row results.Row) bool { return strings.HasPrefix(row.After(), "remove:") && row.Label == "ring" })
	lines := r.linesOverLeft(rows, r.metric("lookup", "lookup-ns"))
	if len(lines) != 1 {
		t.Fatalf("%d lines, want one", len(lines))
	}
	var xs []float64
	for _, p := range lines[0].points {
		xs = append(xs, p.x)
	}
	if !slices.Equal(xs, []float64{0, 0.5, 0.9}) {
		t.Errorf("the points stand at %v, want at 0, 0.5 and 0.9", xs)
	}
}
