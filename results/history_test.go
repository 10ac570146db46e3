package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// timedAt is a run with timings, of a revision.
func timedAt(start, revision string) *Set {
	s := quick()
	s.Run.Start, s.Run.Environment.Revision = start, revision
	return s
}

func TestAHistoryKeepsTheMediansOfEveryRunAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	runs := []*Set{timedAt("2026-01-02T03:04:05Z", "aaa"), timedAt("2026-01-03T03:04:05Z", "bbb")}
	var before []byte
	for _, s := range runs {
		if err := AppendHistory(path, s); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(after, before) {
			t.Fatal("appending changed what was there")
		}
		before = after
	}
	lines, warnings, err := ReadHistory(path)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if len(lines) != 2 || lines[0].Revision != "aaa" || lines[1].Revision != "bbb" || lines[1].Machine != runs[1].Run.Environment.Machine() {
		t.Fatalf("got %d lines: %+v", len(lines), lines)
	}
	want := map[string]map[string]float64{}
	for _, r := range Summarize(runs[0]) {
		if strings.HasSuffix(r.Metric, "-ns") {
			want[r.Cell] = map[string]float64{r.Metric: r.Center}
		}
	}
	if diff := cmp.Diff(want, lines[0].Medians); diff != "" {
		t.Errorf("medians (-want +got):\n%s", diff)
	}
	if !IsHistory(path) {
		t.Error("the file is not taken for a history")
	}
}

func TestAHistoryRefusesWhatWouldSpoilIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.jsonl")
	s := timedAt("2026-01-02T03:04:05Z", "aaa")
	if err := AppendHistory(path, s); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("dear diary"), 0o644); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(dir, "later.jsonl")
	if err := os.WriteFile(later, bytes.Replace(good, []byte(`"schema":1`), []byte(`"schema":2`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, want string
		set        *Set
	}{
		"twice":        {path, path + ":1: holds the run of 2026-01-02T03:04:05Z already", s},
		"no timings":   {path, "no timings", &Set{Run: s.Run, Trials: s.Trials[:1]}},
		"no history":   {other, other + ":1: no line of a history", s},
		"later schema": {later, later + ":1: schema 2", s},
	} {
		before, _ := os.ReadFile(c.path)
		if err := AppendHistory(c.path, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if after, _ := os.ReadFile(c.path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if IsHistory(other) || IsHistory(dir) || IsHistory(filepath.Join(dir, "nothing")) {
		t.Error("something else is taken for a history")
	}
}

func TestATornLineOfAHistoryIsDroppedAndThenReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	first, second := timedAt("2026-01-02T03:04:05Z", "aaa"), timedAt("2026-01-03T03:04:05Z", "bbb")
	for _, s := range []*Set{first, second} {
		if err := AppendHistory(path, s); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := bytes.IndexByte(whole, '\n') + 1
	for _, cut := range []int{end + 1, end + 30, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		lines, warnings, err := ReadHistory(path)
		if err != nil || len(lines) != 1 || len(warnings) != 1 {
			t.Fatalf("cut at %d: %d lines, %q, %v", cut, len(lines), warnings, err)
		}
		if err := AppendHistory(path, second); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Errorf("cut at %d: the file is not as it was", cut)
		}
	}
}

func TestMachineTellsWhatTimingsDependOnAndNothingElse(t *testing.T) {
	base := quick().Run.Environment
	same := base
	same.Load1, same.GoVersion, same.Revision, same.ClockNs = 7, "go1.99", "abc", 99
	if base.Machine() != same.Machine() {
		t.Errorf("%q and %q are one machine", base.Machine(), same.Machine())
	}
	for name, change := range map[string]func(*Environment){
		"system": func(e *Environment) { e.OS = "plan9" }, "processor": func(e *Environment) { e.CPU = "Other" },
		"cores": func(e *Environment) { e.Cores = 8 }, "GOMAXPROCS": func(e *Environment) { e.GOMAXPROCS = 1 },
		"quota": func(e *Environment) { e.CgroupCPUs = 1.5 }, "hypervisor": func(e *Environment) { e.Hypervisor = "KVM" },
		"governor": func(e *Environment) { e.Governor = "powersave" }, "memory": func(e *Environment) { e.MemoryBytes *= 2 },
	} {
		other := base
		change(&other)
		if other.Machine() == base.Machine() {
			t.Errorf("another %s is not told: %q", name, other.Machine())
		}
	}
}
