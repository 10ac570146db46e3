package plots

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// shareTrial is a trial of the shares of a ring of 100 nodes and 160 vnodes, whose
// theory is 0.0787.
func shareTrial(hash, label, names string, cv, collisions float64) results.Trial {
	set := []results.Field{{Name: "label", Value: label}, {Name: "point_hash", Value: hash}, {Name: "names", Value: names}}
	return results.Trial{
		Type: "trial", Cell: results.CellName("shares", "ring", 100, set, "", "", "", ""),
		Experiment: "points", Measure: "shares", Algorithm: "ring", Hash: "xxh3", Nodes: 100, Seed: 1,
		Params: json.RawMessage(fmt.Sprintf(`{"vnodes":160,"label":%q,"point_hash":%q}`, label, hash)),
		Values: map[string]float64{"share-cv": cv, "point-collisions": collisions},
	}
}

func TestTheHeatMapOfHashesNamesWhatFailsAndWhy(t *testing.T) {
	set := &results.Set{Trials: []results.Trial{
		shareTrial("xxh3", "{name}#{index}", "node-{i+1}", 0.079, 0),
		shareTrial("md5", "{name}#{index}", "node-{i+1}", 0.078, 0),
		shareTrial("fnv1a-64", "{name}#{index}", "node-{i+1}", 0.63, 0),
		shareTrial("xxh3", "{name}{index}", "node-{i+1}", 0.09, 1260),
		shareTrial("md5", "{name}{index}", "node-{i+1}", 0.09, 1260),
	}}
	f, ok := arrange(set).pointHashes()
	if !ok {
		t.Fatal("no figure of three hashes")
	}
	if want := "2 of 3 hashes do everywhere; the worst is fnv1a-64 with 8.0 times the spread on node-1#0."; !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q lacks %q", f.Caption, want)
	}
	svg := string(f.svg(false))
	for _, want := range []string{"node-1#0", "node-10", "FNV hardly mixes", "up to 1,260 points", ">8.0<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure lacks %q", want)
		}
	}
	if strings.Contains(svg, "java and djb2") {
		t.Error("the figure blames a hash that was not there")
	}
	set.Trials = set.Trials[:2]
	if _, ok := arrange(set).pointHashes(); ok {
		t.Error("a heat map of two hashes")
	}
}

func TestLabelExamples(t *testing.T) {
	for _, c := range [][3]string{
		{"{name}#{index}", "node-{i}", "node-0#0"},
		{"{name}-{index+1}", "10.0.0.{i+7}:80", "10.0.0.7:80-1"},
		{"{index}{name}", "n{i}", "0n0"},
		{"{name}{index}", "", "{name}{index}"},
	} {
		if got := labelExample(c[0], c[1]); got != c[2] {
			t.Errorf("label %s of %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestRedBeginsWhereChanceEnds(t *testing.T) {
	if fill, _ := heatColors(1.29, 1.3); fill != grid {
		t.Errorf("1.29 is drawn in %v", fill)
	}
	for _, c := range []struct {
		nodes, placements int
		want              float64
	}{{100, 5, 1.3}, {4, 1, 2.2247}, {2, 1, 3.1213}, {1, 1, 3.1213}} {
		if got := redFrom([]results.Row{{Nodes: c.nodes, N: c.placements}}); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%d nodes in %d placements are red from %.4f on, want %.4f", c.nodes, c.placements, got, c.want)
		}
	}
	if fill, _ := heatColors(1.3, 1.3); fill == grid {
		t.Error("1.3 is not red")
	}
	for _, ratio := range []float64{1, 1.3, 2, 4, 8, 100} {
		if fill, text := heatColors(ratio, 1.3); contrast(fill, text) < 3 {
			t.Errorf("%v: contrast of %.1f", ratio, contrast(fill, text))
		}
	}
}

func boundedTrial(algorithm string, epsilon float64, popularity, schedule string, requests int, values map[string]float64) results.Trial {
	measure := "bounded"
	if schedule != "" {
		measure = "bounded-movement"
	}
	set := []results.Field{{Name: "epsilon", Value: fmt.Sprint(epsilon)}, {Name: "requests", Value: fmt.Sprint(requests)}}
	return results.Trial{
		Type: "trial", Cell: results.CellName(measure, algorithm, 100, set, "seq:1000+"+popularity, schedule, "", ""),
		Experiment: "sweep", Measure: measure, Algorithm: algorithm, Workload: "seq:1000+" + popularity, Schedule: schedule,
		Hash: "xxh3", Nodes: 100, Keys: 1000, Seed: 1,
		Params: json.RawMessage(fmt.Sprintf(`{"epsilon":%v}`, epsilon)), Values: values,
	}
}

func TestASweepOverEpsilonHasAFigureOfItsOwn(t *testing.T) {
	var trials []results.Trial
	for i, e := range []float64{0.1, 0.5, 2} {
		spill := []float64{0.3, 0.1, 0.05}[i]
		trials = append(trials,
			boundedTrial("bounded-ring", e, "zipf:0.99", "", 5000, map[string]float64{"spill-fraction": spill, "load-peak": 1 + e, "hot-key-nodes": 9}),
			boundedTrial("bounded-ring", e, "uniform", "add-one", 5000, map[string]float64{"moved-fraction": spill, "moved-minimum": 0.0099}))
	}
	r := arrange(&results.Set{Trials: trials})
	f, ok := r.epsilons()
	if !ok {
		t.Fatal("no figure of three epsilons")
	}
	if want := "an epsilon of 0.1 sends 30% of the requests past their first choice; with 2 it is 5%."; !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q lacks %q", f.Caption, want)
	}
	if svg := string(f.svg(false)); !strings.Contains(svg, "A node joins") || !strings.Contains(svg, "must move") || strings.Contains(svg, "Requests end") {
		t.Error("the panels are not those of the data")
	}
	if _, ok := r.bounded(); ok {
		t.Error("the sweep is drawn over the number of nodes, of which there is one")
	}
	if _, ok := arrange(&results.Set{Trials: trials[:4]}).epsilons(); ok {
		t.Error("a figure of two epsilons")
	}
}
