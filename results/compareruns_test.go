package results

import "testing"

// A cell whose answers are wrong in head has no timing to compare, and its
// absence is no mere removal: the comparison fails.
func TestRunsWhoseChecksFailedFailTheComparison(t *testing.T) {
	run := func(skip string) *Set {
		f := newFixture()
		for rep := range 6 {
			for _, c := range []contestant{{"ring", nil, `{}`, ""}, {"jump", nil, `{}`, ""}} {
				tr := f.trial(c, "lookup", 10, 1, rep, "uniform", "", map[string]float64{"lookup-ns": 8})
				if c.algorithm == "ring" && rep > 0 && skip != "" {
					tr.Values, tr.Skip = nil, skip
				}
			}
		}
		return f.end()
	}
	for skip, want := range map[string]Verdict{
		"":                                       Unchanged,
		"failed the gate: node \"a\" owns none":  Wrong,
		"wrong answers: a block of 1024 lookups": Wrong,
		"ring cannot take in a node: its users must": Unchanged,
	} {
		for _, exactOnly := range []bool{false, true} {
			c, err := CompareRuns(run(""), run(skip), exactOnly, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Count(Wrong) > 1 || (c.Count(Wrong) == 1) != (want == Wrong) || c.Failed() != (want == Wrong) {
				t.Errorf("%q: verdict %s, rows %+v", skip, c.Verdict(), c.Rows)
			}
		}
	}
}
