package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trialOf is a trial of a cell with one value.
func trialOf(measure, check, metric string, value float64) Trial {
	return Trial{Cell: measure + "/algorithm=ring/nodes=4", Measure: measure, Algorithm: "ring", Seed: 1, Check: check, Values: map[string]float64{metric: value}}
}

func TestExactMetricsAreComparedWithEquality(t *testing.T) {
	skipped := trialOf("balance", "", "balance-cv", 0)
	skipped.Values, skipped.Skip = nil, "it cannot"
	for _, tt := range []struct {
		name       string
		base, head []Trial
		accept     string
		want       map[string]Verdict // metric -> verdict
	}{
		{"the same", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, "",
			map[string]Verdict{"placement": Unchanged, "balance-cv": Unchanged}},
		{"worse in the last digit that counts", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "a", "balance-cv", 0.100000000001)}, "",
			map[string]Verdict{"placement": Unchanged, "balance-cv": Regressed}},
		{"worse beyond that", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "a", "balance-cv", 0.10000000000000001)}, "",
			map[string]Verdict{"placement": Unchanged, "balance-cv": Unchanged}},
		{"better where higher is better", []Trial{trialOf("balance", "a", "balance-min", 0.8)}, []Trial{trialOf("balance", "a", "balance-min", 0.9)}, "",
			map[string]Verdict{"placement": Unchanged, "balance-min": Improved}},
		{"other where neither way is better", []Trial{trialOf("movement", "a", "ranges-moved", 8)}, []Trial{trialOf("movement", "a", "ranges-moved", 9)}, "",
			map[string]Verdict{"placement": Unchanged, "ranges-moved": Differs}},
		{"moved keys", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "b", "balance-cv", 0.2)}, "",
			map[string]Verdict{"placement": Moved, "balance-cv": Regressed}},
		{"moved keys that are accepted", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "b", "balance-cv", 0.2)}, "algorithm=ring/",
			map[string]Verdict{"placement": Accepted, "balance-cv": Accepted}},
		{"moved keys of another algorithm than accepted", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{trialOf("balance", "b", "balance-cv", 0.2)}, "algorithm=jump/",
			map[string]Verdict{"placement": Moved, "balance-cv": Regressed}},
		{"allocations are never accepted", []Trial{trialOf("allocations", "a", "allocs-per-lookup", 0)}, []Trial{trialOf("allocations", "a", "allocs-per-lookup", 1)}, ".",
			map[string]Verdict{"placement": Unchanged, "allocs-per-lookup": Regressed}},
		{"a new cell", nil, []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, "", map[string]Verdict{"all": Added}},
		{"a cell that is gone", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, nil, "", map[string]Verdict{"all": Removed}},
		{"a cell that is skipped now", []Trial{trialOf("balance", "a", "balance-cv", 0.1)}, []Trial{skipped}, "", map[string]Verdict{"all": Removed}},
		{"skipped on both sides", []Trial{skipped}, []Trial{skipped}, "", map[string]Verdict{}},
		{"timings are none of its business", []Trial{trialOf("lookup", "a", "lookup-ns", 1)}, []Trial{trialOf("lookup", "b", "lookup-ns", 2)}, "", map[string]Verdict{}},
	} {
		var accept *regexp.Regexp
		if tt.accept != "" {
			accept = regexp.MustCompile(tt.accept)
		}
		got := map[string]Verdict{}
		for _, r := range CompareExact(tt.base, tt.head, accept) {
			got[r.Metric] = r.Verdict
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// comparisonOf has a row of each verdict, and timed rows without change up to n.
func comparisonOf(n int) *Comparison {
	nan := Number(math.NaN())
	c := &Comparison{Base: "main at 0123456789", Head: "the working tree, with 2 files changed", Machine: "a machine", Design: "20 rounds", Repeat: []string{"ringbench", "compare", "--base", "main"}}
	for i, v := range verdicts {
		c.Rows = append(c.Rows, Change{Name: fmt.Sprintf("lookup/algorithm=ring/nodes=%d", i), Metric: "lookup-ns", Base: 100, Head: 110, Ratio: 1.1, Low: 1.09, High: 1.11, P: 1e-6, Verdict: v})
	}
	for i := len(c.Rows); i < n; i++ {
		c.Rows = append(c.Rows, Change{Name: fmt.Sprintf("lookup/algorithm=weighted-rendezvous/nodes=%d/workload=random:1048576+uniform/weights=1:2:4", i), Metric: "lookup-ns", Base: 100, Head: nan, Ratio: nan, Low: nan, High: nan, P: nan, Verdict: Unchanged})
	}
	c.Sort()
	return c
}

func TestTheGravestVerdictDecides(t *testing.T) {
	for _, tt := range []struct {
		rows   []Verdict
		strict bool
		want   Verdict
		failed bool
	}{
		{nil, false, Unchanged, false},
		{[]Verdict{Unchanged, Added, Removed, Differs, Accepted}, true, Unchanged, false},
		{[]Verdict{Improved, Unchanged}, false, Improved, false},
		{[]Verdict{Inconclusive, Improved}, false, Inconclusive, false},
		{[]Verdict{Inconclusive, Improved}, true, Inconclusive, true},
		{[]Verdict{Regressed, Inconclusive}, false, Regressed, true},
		{[]Verdict{Moved, Regressed}, false, Moved, true},
		{[]Verdict{Wrong, Moved, Regressed}, false, Wrong, true},
	} {
		c := Comparison{Strict: tt.strict}
		for _, v := range tt.rows {
			c.Rows = append(c.Rows, Change{Verdict: v})
		}
		if c.Verdict() != tt.want || c.Failed() != tt.failed {
			t.Errorf("%q, strict %v: %s, failed %v; want %s, %v", tt.rows, tt.strict, c.Verdict(), c.Failed(), tt.want, tt.failed)
		}
	}
}

func TestWhatIsMeantToGetWorseIsAccepted(t *testing.T) {
	c := Comparison{Rows: []Change{
		{Name: "lookup/a", Metric: "lookup-ns", Verdict: Regressed},
		{Name: "memory/a", Metric: "bytes-per-node", Verdict: Regressed},
		{Name: "memory/a", Metric: "placement", Verdict: Moved},
		{Name: "memory/b", Metric: "bytes-per-node", Verdict: Regressed},
	}}
	c.AcceptWorse(regexp.MustCompile("/a bytes|placement"))
	var got []string
	for _, r := range c.Rows {
		got = append(got, r.Name+" "+r.Metric+" "+string(r.Verdict))
	}
	want := []string{
		"memory/a placement placement changed", "lookup/a lookup-ns regressed",
		"memory/b bytes-per-node regressed", "memory/a bytes-per-node accepted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheJSONOfAComparisonHasItsShape(t *testing.T) {
	b, err := json.Marshal(comparisonOf(0))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict                                 string
		Regressions, Improvements, Inconclusive []string
		Rows                                    []map[string]any
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != string(Wrong) || len(got.Regressions) != 3 || len(got.Improvements) != 1 || len(got.Inconclusive) != 1 || len(got.Rows) != len(verdicts) {
		t.Errorf("%s", b)
	}
	for _, key := range []string{"name", "metric", "base", "head", "ratio", "ci_low", "ci_high", "p", "verdict"} {
		if _, ok := got.Rows[0][key]; !ok {
			t.Errorf("no %q in %v", key, got.Rows[0])
		}
	}
	var empty bytes.Buffer
	json.NewEncoder(&empty).Encode(&Comparison{})
	if !strings.Contains(empty.String(), `"regressions":[],"improvements":[],"inconclusive":[]`) || !strings.Contains(empty.String(), `"rows":[]`) {
		t.Errorf("lists that are empty must be there: %s", empty.String())
	}
	if b, _ := json.Marshal(Number(math.Inf(1))); string(b) != "null" {
		t.Errorf("infinity is written as %s", b)
	}
}

// A comment on a pull request holds 65,536 bytes.
func TestTheMarkdownOfAnyNumberOfCellsStaysBelowItsLimit(t *testing.T) {
	for _, n := range []int{1, 400, 5000} {
		c := comparisonOf(n)
		var b bytes.Buffer
		if err := c.WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() >= 1<<16 {
			t.Errorf("%d cells take %d bytes", n, b.Len())
		}
		for _, want := range []string{"### ringbench: 1 with wrong answers, 1 with a changed placement, 1 regression", "| regressed |", "<details>", "</details>", "`ringbench compare --base main`"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%d cells: no %q", n, want)
			}
		}
		for i := range c.Rows {
			c.Rows[i].Verdict = Regressed
		}
		b.Reset()
		if err := c.WriteMarkdown(&b); err != nil || b.Len() >= 1<<16 || !strings.Contains(b.String(), "Repeat with") {
			t.Errorf("%d regressions take %d bytes, %v", n, b.Len(), err)
		}
	}
}

func TestWorkflowCommandsEscapeWhatWouldEndThem(t *testing.T) {
	c := &Comparison{Rows: []Change{{Name: "lookup/x", Metric: "lookup-ns", Base: 100, Head: 110, Ratio: 1.1, Low: 1.09, High: 1.11, Verdict: Regressed, Note: "two\nlines"}}}
	var b bytes.Buffer
	if err := c.WriteGitHub(&b); err != nil {
		t.Fatal(err)
	}
	want := "::error title=ringbench regressed::lookup/x (two%0Alines): 100 ns -> 110 ns, +10.0%25 (interval +9.0 to +11.0%25)\n" +
		"::notice title=ringbench::1 regression\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATestReportFailsAndSkipsAsTheVerdictsSay(t *testing.T) {
	var b bytes.Buffer
	if err := comparisonOf(0).WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`tests="10"`, `failures="3"`, `skipped="3"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestTheTextEndsWithWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		verdict Verdict
		want    string
	}{
		{Unchanged, "Next  nothing to do"},
		{Regressed, `Next  mend it, or if it is meant, say so with --accept-worse REGEX; see with: ringbench compare --base main --only '^lookup/x\+y$'`},
		{Moved, "Next  mend the placement, or if the keys are meant to move, say so with --accept-placement REGEX"},
		{Wrong, "Next  mend the answers: no timing counts before"},
	} {
		c := &Comparison{Repeat: []string{"ringbench", "compare", "--base", "main"}, Rows: []Change{{Name: "lookup/x+y", Metric: "lookup-ns", Ratio: 1.5, Verdict: tt.verdict}}}
		var b bytes.Buffer
		if err := c.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if got := lines[len(lines)-1]; got != tt.want {
			t.Errorf("%s: the last line is %q, want %q", tt.verdict, got, tt.want)
		}
		for _, l := range lines {
			if l != strings.TrimRight(l, " ") {
				t.Errorf("%q ends in spaces", l)
			}
		}
	}
}

// timedRun is a run with so many repetitions around a time.
func timedRun(cpu string, ns, spread float64, n int) *Set {
	s := &Set{Run: Run{Environment: Environment{CPU: cpu, OS: "linux"}}, End: &End{Complete: true}}
	for i := range n {
		t := trialOf("lookup", "", "lookup-ns", ns+spread*(float64(i)/float64(n-1)-0.5))
		t.Rep = i
		s.Trials = append(s.Trials, t)
	}
	return s
}

func TestTimesOfStoredRunsCountOnlyBeyondATenth(t *testing.T) {
	for _, tt := range []struct {
		name         string
		head, spread float64
		want         Verdict
	}{
		{"no change", 100, 2, Unchanged},
		{"8% more", 108, 2, Unchanged},
		{"10% more, give or take", 110, 2, Inconclusive},
		{"20% more", 120, 2, Regressed},
		{"20% less", 80, 2, Improved},
		{"20% more in noise of half", 120, 50, Inconclusive},
	} {
		c, err := CompareRuns(timedRun("x", 100, 2, 20), timedRun("x", tt.head, tt.spread, 20), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Rows) != 1 || c.Rows[0].Verdict != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, c.Rows, tt.want)
		}
	}
}

func TestTimesOfDifferentMachinesAreNotCompared(t *testing.T) {
	_, err := CompareRuns(timedRun("one", 1, 0, 3), timedRun("two", 1, 0, 3), false, nil)
	if err == nil || !strings.Contains(err.Error(), "one") || !strings.Contains(err.Error(), "two") || !strings.Contains(err.Error(), "--exact") {
		t.Errorf("error %v, want one that names both machines", err)
	}
	if _, err := CompareRuns(timedRun("one", 1, 0, 3), timedRun("two", 1, 0, 3), true, nil); err != nil {
		t.Error(err)
	}
	none := timedRun("two", 1, 0, 3)
	none.Trials = []Trial{trialOf("balance", "a", "balance-cv", 0.1)}
	if _, err := CompareRuns(none, none, false, nil); err != nil {
		t.Error(err)
	}
}
