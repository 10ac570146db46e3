package plots

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// joins makes records of one node joining 10 nodes and 60.
func joins() *results.Set {
	set := &results.Set{Run: quick().Run, End: quick().End}
	for _, a := range []struct {
		algorithm string
		nodes     int
		moved     float64
		needless  float64
	}{
		{"ring", 10, 0.093, 0}, {"ring", 60, 0.017, 0},
		{"ketama", 10, 0.088, 0}, {"ketama", 60, 0.041, 0.025},
		{"envoy-ring", 10, 0.153, 0.064}, {"envoy-ring", 60, 0.077, 0.06},
		{"modulo", 10, 0.909, 0.818},
	} {
		set.Trials = append(set.Trials, results.Trial{
			Type: "trial", Measure: "movement", Algorithm: a.algorithm, Nodes: a.nodes, Keys: 1_000_000, Seed: 1, Hash: "xxh3", Params: json.RawMessage(`{}`),
			Workload: "seq:1000000+uniform", Schedule: "add-one",
			Cell: results.CellName("movement", a.algorithm, a.nodes, nil, "seq:1000000+uniform", "add-one", "", ""),
			Values: map[string]float64{
				"moved-fraction": a.moved, "moved-minimum": 1 / float64(a.nodes+1), "collateral-fraction": a.needless,
			},
		})
	}
	return set
}

func TestNeedlessMovesAreShownByNameWhereTheyHappen(t *testing.T) {
	for _, f := range All(joins()) {
		if f.Name != "needless" {
			continue
		}
		checkSound(t, f)
		for _, part := range []string{
			"ketama moves 4.1% at 60 nodes where 1.64% must, 2.5% between nodes that stay",
			"envoy ring moves 15.3% at 10 nodes where 9.09% must, 6.4% between nodes that stay",
			"Nothing moves between nodes that stay with ring.",
		} {
			if !strings.Contains(f.Caption, part) {
				t.Errorf("%q does not say %q", f.Caption, part)
			}
		}
		if strings.Contains(f.Caption, "modulo moves") || !strings.HasSuffix(f.Caption, "and so not shown: modulo.") {
			t.Errorf("modulo is not at every number of nodes: %q", f.Caption)
		}
		svg := string(drawn(t, f, "svg"))
		for _, part := range []string{"10 + 1 nodes", "60 + 1 nodes", "the least that must move"} {
			if !strings.Contains(svg, part) {
				t.Errorf("the figure does not show %q", part)
			}
		}
		return
	}
	t.Error("there is no such figure")
}

func TestOneNumberOfNodesIsNoFigureOfNeedlessMoves(t *testing.T) {
	set := joins()
	set.Trials = set.Trials[:1]
	for _, f := range All(set) {
		if f.Name == "needless" {
			t.Error("a figure of one number of nodes")
		}
	}
}
