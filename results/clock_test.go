package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runOf is a run of timings as an older version left them (0), as this one does (1), or
// as this one does where there is no CPU clock (2).
func runOf(version int, start string) *Set {
	f := newFixture()
	f.set.Run.Start = start
	for rep := range 6 {
		timing := &Timing{Operations: 1000, WallNs: 8000, CPUNs: 7990}
		switch version {
		case 1:
			timing.Passes, timing.BlockNs = 1, 7990
		case 2:
			timing.Passes, timing.BlockNs, timing.CPUNs = 1, 8000, -1
		}
		f.trial(contestant{"ring", nil, `{}`, ""}, "lookup", 10, 1, rep, "uniform", "", map[string]float64{"lookup-ns": 8}).Timing = timing
	}
	return f.end()
}

func TestRunsTimedByTwoClocksAreComparedWithAWarning(t *testing.T) {
	for base := range 3 {
		for head := range 3 {
			for _, exactOnly := range []bool{false, true} {
				c, err := CompareRuns(runOf(base, ""), runOf(head, ""), exactOnly, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := (base == 1) != (head == 1) && !exactOnly
				if told := strings.Count(strings.Join(c.Warnings, "\n"), "CPU time"); told > 1 || (told == 1) != want {
					t.Errorf("version %d against %d, exact only %v: warnings %q", base, head, exactOnly, c.Warnings)
				}
			}
		}
	}
}

func TestAHistoryOfTwoClocksWarnsOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		versions []int
		machines string // of each line, one letter
		want     string // where the warning is, "" for none
	}{
		"one clock":        {[]int{1, 1, 1}, "aaa", ""},
		"older only":       {[]int{0, 0, 2}, "aaa", ""},
		"changed":          {[]int{0, 0, 1, 1}, "aaaa", ":3:"},
		"to and fro":       {[]int{1, 2, 1}, "aaa", ":2:"},
		"another machine":  {[]int{0, 1, 0}, "aba", ""},
		"the same between": {[]int{0, 1, 1}, "aba", ":3:"},
	} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		var text []byte
		for i, version := range tt.versions {
			s := runOf(version, "2026-01-02T03:04:0"+string(rune('0'+i))+"Z")
			s.Run.Environment.CPU = tt.machines[i : i+1]
			line, err := historyLine(s)
			if err != nil {
				t.Fatal(err)
			}
			if version == 0 { // which wrote no clock
				var fields map[string]any
				if err := json.Unmarshal(line, &fields); err != nil {
					t.Fatal(err)
				}
				if fields["clock"] != "wall" {
					t.Errorf("clock %q of wall time", fields["clock"])
				}
				line = []byte(strings.Replace(string(line), `"clock":"wall",`, "", 1))
			}
			text = append(text, line...)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		lines, warnings, err := ReadHistory(path)
		if err != nil || len(lines) != len(tt.versions) {
			t.Fatal(len(lines), err)
		}
		if (tt.want == "") != (len(warnings) == 0) || len(warnings) > 1 || len(warnings) == 1 && !strings.Contains(warnings[0], tt.want) {
			t.Errorf("%s: warnings %q, want one at %q", name, warnings, tt.want)
		}
	}
}
