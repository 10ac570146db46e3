package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// severalPopularities is a run of everything the screen tells of lookups, under the
// uniform popularity and others, whose figures are half as large. The rows of "counts"
// come before those of "uniform", those of "zipf:0.99" after them.
func severalPopularities() *Set {
	f := newFixture()
	f.timings(10, 3, 0.01)
	f.timings(1000, 3, 0.01)
	for _, algorithm := range []string{"ring", "jump", "anchor"} {
		c := contestant{algorithm: algorithm, params: `{}`}
		for _, m := range []string{"batch-lookup", "parallel-lookup", "parallel-lookup-writer"} {
			f.trial(c, m, 1000, 1, 0, "uniform", "", map[string]float64{strings.TrimSuffix(m, "-writer") + "-ns": 7})
		}
		if algorithm == "anchor" {
			f.trial(c, "lookup", 1000, 1, 0, "uniform", "", map[string]float64{"lookup-ns": 9})
			c.set = []Field{{"after", "remove:0.9"}}
			f.trial(c, "lookup", 1000, 1, 0, "uniform", "", map[string]float64{"lookup-ns": 99})
		}
	}
	for _, t := range slices.Clone(f.set.Trials) {
		if !looksUp(t.Measure) {
			continue
		}
		for _, popularity := range []string{"counts", "zipf:0.99"} {
			other := t
			other.Workload = strings.Replace(t.Workload, "+uniform", "+"+popularity, 1)
			other.Cell = strings.Replace(t.Cell, "+uniform", "+"+popularity, 1)
			other.Values = map[string]float64{}
			for metric, v := range t.Values {
				other.Values[metric] = v / 2
			}
			f.set.Trials = append(f.set.Trials, other)
		}
	}
	return f.end()
}

// uniformOnly is the set without what was timed under other popularities.
func uniformOnly(s *Set) *Set {
	alone := *s
	alone.Trials = slices.DeleteFunc(slices.Clone(s.Trials), func(t Trial) bool {
		return t.Workload != "" && !strings.HasSuffix(t.Workload, "+uniform")
	})
	return &alone
}

// Lookups under two popularities answer two questions: those of one are in no cell and
// in no sentence of the other.
func TestLookupsUnderAnotherPopularityChangeNoFigureOfTheUniform(t *testing.T) {
	set := severalPopularities()
	tell := func(s *Set) map[string]any {
		v := newView(s)
		labels, _ := v.contestants(isLookup)
		columns := map[string][]string{}
		for _, c := range v.lookupColumns(slices.Concat([]string{hashAlone, oneRead}, labels)) {
			if !strings.Contains(c.group, "Zipf") && !strings.Contains(c.group, "requests") {
				columns[c.group+" "+c.head] = c.cells
			}
		}
		return map[string]any{"columns": columns, "together": v.togetherTable(), "after removals": v.agedTable(), "findings": Findings(s)}
	}
	want := tell(uniformOnly(set))
	if diff := cmp.Diff(want, tell(set)); diff != "" {
		t.Errorf("(-uniform alone +with others):\n%s", diff)
	}
	for what, got := range want {
		if s, ok := got.([]string); ok && len(s) == 0 {
			t.Errorf("the run has no %s", what)
		}
	}
}

// The two contestants of a finding are of one workload, whichever sorts first.
func TestAFindingComparesLookupsOfOneWorkload(t *testing.T) {
	f := newFixture()
	for rep := range 3 {
		for _, p := range []struct {
			popularity   string
			ring, search float64
		}{{"counts", 5, 60}, {"uniform", 14, 127}, {"zipf:0.99", 6, 62}} {
			f.trial(contestant{"ring", nil, `{}`, ""}, "lookup", 1000, 1, rep, p.popularity, "", map[string]float64{"lookup-ns": p.ring})
			f.trial(contestant{"ring-binary-search", nil, `{}`, ""}, "lookup", 1000, 1, rep, p.popularity, "", map[string]float64{"lookup-ns": p.search})
		}
	}
	const want = "Ring is 9 times faster than binary search: 14 ns against 127 at 1000 nodes."
	if diff := cmp.Diff([]string{want}, Findings(f.end())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
