package plots

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

// historyOf is a history of n runs of the set, the control and everything else
// steady but for ring at 100 nodes, which becomes slower by 2% a run.
func historyOf(t testing.TB, set *results.Set, n int) []results.Medians {
	t.Helper()
	var lines []results.Medians
	for i := range n {
		m, err := results.MediansOf(set)
		if err != nil {
			t.Fatal(err)
		}
		m.Start = fmt.Sprintf("2026-01-%02dT03:00:00Z", i%28+1)
		m.Revision = fmt.Sprintf("%07x0123456789", 0xabc0000+i)
		m.Dirty = i == n-1
		for cell, metrics := range m.Medians {
			if strings.HasPrefix(cell, "lookup/algorithm=ring/nodes=100/") && !strings.Contains(cell, "weights") {
				metrics["lookup-ns"] *= 1 + 0.02*float64(i)
			}
		}
		lines = append(lines, m)
	}
	return lines
}

// uniformTimings is the quick run without lookups of hot keys, of so many lines that
// there is room for all contestants.
func uniformTimings() *results.Set {
	set := quick()
	set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool { return tr.Timing != nil && strings.HasSuffix(tr.Workload, "+zipf:0.99") })
	return set
}

// Two lines of one measure and size differ in their popularity, and say so.
func TestLinesOfAHistoryTellTheirPopularity(t *testing.T) {
	set := quick()
	set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool {
		return tr.Measure != "lookup" || tr.Algorithm != "jump" || tr.Nodes != 100
	})
	f, ok := History(historyOf(t, set, 3))
	if !ok {
		t.Fatal("nothing is drawn")
	}
	svg := string(drawn(t, f, "svg"))
	for _, want := range []string{">lookup 100: ", ">lookup 100, Zipf 0.99: "} {
		if strings.Count(svg, want) != 1 {
			t.Errorf("%d lines are called %q, want 1", strings.Count(svg, want), want)
		}
	}
}

func TestAHistoryIsDrawnAsChangeSinceTheFirstRun(t *testing.T) {
	f, ok := History(historyOf(t, uniformTimings(), 6))
	if !ok {
		t.Fatal("nothing is drawn")
	}
	checkSound(t, f)
	svg := string(drawn(t, f, "svg"))
	for _, want := range []string{"abc0000", "abc0005+", "lookup 100: ", "key lookup 1,000: ", "+10%", "weighted rendezvous 1:2:4", "control", "6 runs, 2026-01-01 to 2026-01-06", "suite quick"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	if want := "Most changed: lookup of ring with 100 nodes, +10% since the first run"; !strings.HasPrefix(f.Caption, want) {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
	if again, _ := History(historyOf(t, uniformTimings(), 6)); !bytes.Equal([]byte(svg), drawn(t, again, "svg")) {
		t.Error("the same history gives other bytes")
	}
}

func TestAHistoryOfAnySizeIsLaidOutWell(t *testing.T) {
	for _, n := range []int{1, 2, 60} {
		f, ok := History(historyOf(t, quick(), n))
		if !ok {
			t.Fatalf("%d runs: nothing is drawn", n)
		}
		checkSound(t, f)
	}
	f, _ := History(historyOf(t, crowded(), 3))
	checkSound(t, f)
	if !strings.Contains(f.Caption, "Left out: ") {
		t.Errorf("more panels than fit, and the caption does not say so: %q", f.Caption)
	}
}

func TestRunsOfOtherMachinesAreLeftOut(t *testing.T) {
	lines := historyOf(t, quick(), 4)
	lines[1].Machine = "linux/arm64, another one"
	f, _ := History(lines)
	if !strings.Contains(f.Caption, "Left out: 1 run of other machines.") || !strings.Contains(f.footer, "3 runs") {
		t.Errorf("caption %q, footer %q", f.Caption, f.footer)
	}
}

func TestWriteHistoryWritesEachFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "figures")
	paths, err := WriteHistory(dir, historyOf(t, quick(), 3), []string{"svg", "png"})
	if err != nil || !slices.Equal(paths, []string{filepath.Join(dir, "history.svg"), filepath.Join(dir, "history.png")}) {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
	for name, lines := range map[string][]results.Medians{"no runs": nil, "no timings": {{Machine: "a"}}} {
		if _, err := WriteHistory(dir, lines, []string{"svg"}); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}

func TestAnyHistoryDraws(t *testing.T) {
	cells := []string{
		"lookup/algorithm=ring/nodes=10", "lookup/algorithm=control/nodes=1", "latency/algorithm=jump/nodes=99999999999999999999",
		"", "////=", "add/algorithm=mine_00/nodes=-5/weights=1:2", "one/algorithm=one-read",
	}
	rapid.Check(t, func(t *rapid.T) {
		var lines []results.Medians
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			m := results.Medians{
				Machine: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "machine"), Revision: rapid.StringN(0, 9, -1).Draw(t, "revision"),
				Start: rapid.SampledFrom([]string{"", "2026-01-02T03:04:05Z"}).Draw(t, "start"), Medians: map[string]map[string]float64{},
			}
			for _, cell := range cells {
				if rapid.Bool().Draw(t, "there") {
					m.Medians[cell] = map[string]float64{"lookup-ns": rapid.Float64().Draw(t, "ns")}
				}
			}
			lines = append(lines, m)
		}
		if f, ok := History(lines); ok {
			checkSound(t, f)
		}
	})
}
