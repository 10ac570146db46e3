package results

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// waitedIn lets other programs have the processor during the trials that match.
func waitedIn(s *Set, match func(*Trial) bool) *Set {
	for i := range s.Trials {
		t := &s.Trials[i]
		for metric := range t.Values {
			if m, _ := MetricByName(metric); m.Kind != Timed {
				continue
			}
			t.Timing = &Timing{Operations: 1, Passes: 1, WallNs: 1000, CPUNs: 1000, BlockNs: 1000}
			if match(t) {
				t.Timing.WallNs = 1300
			}
		}
	}
	return s
}

// Each table marks the figures during which others had the processor, and the mark is
// explained where it stands and nowhere else.
func TestTheMarkOfOtherProgramsIsExplainedWhereItStands(t *testing.T) {
	everything := func(f *fixture) {
		for _, name := range []string{"popularities", "speed", "aged", "build", "quick"} {
			questions[name](f)
		}
	}
	plain := func(f *fixture) { questions["build"](f); questions["speed"](f); f.set.Trials = f.set.Trials[:5] }
	for _, tt := range []struct {
		name  string
		build func(*fixture)
		match func(*Trial) bool
		want  int // figures with the mark; -1 for any number
	}{
		{"nothing", everything, func(*Trial) bool { return false }, 0},
		{"lookups", everything, func(t *Trial) bool {
			return t.Algorithm == "jump" && t.Measure == "lookup" && strings.HasSuffix(t.Workload, "+uniform") && t.Nodes == 20
		}, 1},
		{"floors", everything, func(t *Trial) bool { return t.Algorithm == "control" || t.Algorithm == "one-read" }, -1},
		{"batches", everything, func(t *Trial) bool {
			return t.Measure == "batch-lookup" && t.Nodes == 1000 && t.Algorithm == "ring" && t.Weights == ""
		}, 1},
		{"after removals", everything, func(t *Trial) bool { return t.Measure == "lookup" && strings.Contains(t.Cell, "after=remove:") }, 1},
		{"in no table", everything, func(t *Trial) bool { return t.Measure == "assign" }, 0},
		{"in no table for want of room", everything, func(t *Trial) bool { return t.Measure == "key-lookup" && t.Algorithm != "control" }, 0},
		{"plain tables", plain, func(t *Trial) bool { return t.Measure == "build" }, 1},
	} {
		f := newFixture()
		tt.build(f)
		var b bytes.Buffer
		if err := WriteMeasured(&b, waitedIn(f.end(), tt.match)); err != nil {
			t.Fatal(err)
		}
		marks, told := 0, false
		for line := range strings.SplitSeq(b.String(), "\n") {
			if strings.HasPrefix(line, "~ ") {
				told = true
			} else {
				marks += strings.Count(line, "~")
			}
		}
		if tt.want >= 0 && marks != tt.want || tt.want < 0 && marks == 0 || told != (marks > 0) {
			t.Errorf("%s: %d marks, want %d; explained: %v\n%s", tt.name, marks, tt.want, told, b.String())
		}
	}
}

// Lookups of all cores have no CPU time: nothing is known of others beside them, even
// where the control, of which it is known, had to wait.
func TestOfTimingsWithoutCPUTimeNothingIsSaidOfOthers(t *testing.T) {
	f := newFixture()
	for _, c := range []contestant{{"ring", nil, `{}`, ""}, {"jump", nil, `{}`, ""}} {
		f.trial(c, "parallel-lookup", 1000, 1, 0, "uniform", "", map[string]float64{"parallel-lookup-ns": 5}).Timing =
			&Timing{Operations: 1, Passes: 1, WallNs: 5000, CPUNs: -1, BlockNs: 5000}
	}
	f.trial(contestant{"control", nil, `{}`, ""}, "lookup", 1, 1, 0, "uniform", "", map[string]float64{"lookup-ns": 1}).Timing =
		&Timing{Operations: 1, Passes: 1, WallNs: 2000, CPUNs: 1000, BlockNs: 1000}
	var b bytes.Buffer
	if err := WriteMeasured(&b, f.end()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "ring") || strings.Contains(b.String(), "rograms") {
		t.Errorf("the screen is\n%s", b.String())
	}
}

// The column of another popularity tells its size, and the part of bytes, which is no
// popularity of requests, has none.
func TestTheColumnOfAnotherPopularityTellsItsSize(t *testing.T) {
	for popularity, want := range map[string]string{"zipf:0.99": "Zipf 0.99 1000 nodes", "counts": "real requests 1000 nodes", "bytes": ""} {
		f := newFixture()
		f.timings(10, 2, 0.01)
		f.timings(1000, 2, 0.01, popularity)
		v := newView(f.end())
		var heads []string
		for _, c := range v.lookupColumns([]string{"ring"}) {
			if c.group != "ns one by one" && c.group != "allocs" && c.group != "memory" {
				heads = append(heads, strings.TrimPrefix(c.group+" "+c.head, "ns/lookup "))
			}
		}
		wants := []string{"10 nodes", "1000 nodes"}
		if want != "" {
			wants = append(wants, want)
		}
		if !slices.Equal(heads, wants) {
			t.Errorf("%s: heads %q, want %q", popularity, heads, wants)
		}
	}
}
