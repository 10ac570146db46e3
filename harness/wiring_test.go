package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/workloads"
)

// After a reorder every node has its name and another place in the list: what
// goes by place is scattered, what goes by name does not move.
func TestAnotherOrderOfTheListMovesWhatGoesByPlace(t *testing.T) {
	s, err := workloads.ParseSchedule("reorder", 10, workloads.Rand(1))
	if err != nil {
		t.Fatal(err)
	}
	hs := hashes(10_000)
	for _, c := range []struct {
		place *Placement
		moved float64
	}{
		{mustPlace(t, ring.Info, (&subject{contestant: &Contestant{}, weights: []float64{1}, n: 10}).nodes(), ""), 0},
		{mustPlace(t, jump.Info, (&subject{contestant: &Contestant{}, weights: []float64{1}, n: 10}).nodes(), ""), 1},
	} {
		before, after := make([]int32, len(hs)), make([]int32, len(hs))
		c.place.Owners(hs, before)
		weights, _ := c.place.Weights()
		if err := c.place.Apply(s.Steps[0]...); err != nil {
			t.Fatal(err)
		}
		c.place.Owners(hs, after)
		m := Moved(View{Owners: before, Weights: weights}, View{Owners: after, Weights: weights}, nil)
		if m.Moved != c.moved {
			t.Errorf("%s: %v of the keys moved, want %v", c.place.Info.Name, m.Moved, c.moved)
		}
		again, err := c.place.Clone()
		if err != nil {
			t.Fatal(err)
		}
		again.Owners(hs, before)
		if !slices.Equal(before, after) {
			t.Errorf("%s: a clone has the list in another order", c.place.Info.Name)
		}
	}
}

func TestLoadIsMeasuredInBytesWhereAFileTellsSizes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.csv")
	write(t, file, "url,hits,size\na,1,100\nb,1,700\nc,2,100\n")
	s, _ := mustRun(t, mustPlan(t, `nodes = [1]
keys_file = "`+filepath.ToSlash(file)+`"
key_column = "url"
count_column = "hits"
size_column = "size"
popularity = ["counts", "bytes"]
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "a"
measures = ["load"]
nodes = [3]
`))
	peaks := map[string]float64{}
	for _, tr := range s.trials {
		_, popularity, _ := strings.Cut(tr.Workload, "+")
		peaks[popularity] = slices.Max(tr.Series["loads"])
	}
	// Of 1,000 bytes at least 700 are on one node; of 4 requests 2.
	if peaks["bytes"] < 0.7 || peaks["counts"] == peaks["bytes"] {
		t.Errorf("largest parts %v, want 0.7 and more in bytes and another in requests", peaks)
	}
}

func TestASchedulesSizeIsJudgedByTheClusterItIsFor(t *testing.T) {
	spec := func(nodes string) string {
		return `nodes = [` + nodes + `]
keys = "seq:100"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "a"
measures = ["movement"]
schedules = ["remove:12"]
`
	}
	s, _ := mustRun(t, mustPlan(t, spec("10, 20")))
	for _, tr := range s.trials {
		if skipped := tr.Skip != ""; skipped != (tr.Nodes == 10) {
			t.Errorf("%s: skip %q", tr.Cell, tr.Skip)
		}
	}
	_, err := NewPlan(mustSpec(t, spec("10")), Options{Algorithms: known})
	if err == nil || !strings.Contains(err.Error(), "test.toml:8:1") {
		t.Errorf("error %v, want one at the schedules", err)
	}
}

func TestTheMethodNamesTheQuestionOfEverySuite(t *testing.T) {
	text, err := os.ReadFile("METHODOLOGY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, suite := range Suites() {
		if suite != full && !strings.Contains(string(text), "| `"+suite+"` |") {
			t.Errorf("METHODOLOGY.md does not say what question %s answers", suite)
		}
	}
}
