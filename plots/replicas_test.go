package plots

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/results"
)

// replicated makes records as the suite replicas leaves them.
func replicated() *results.Set {
	set := &results.Set{Run: quick().Run, End: quick().End}
	add := func(measure, algorithm, params string, nodes int, schedule string, values map[string]float64, fields ...results.Field) {
		fields = append(fields, results.Field{Name: "replicas", Value: "3"})
		const workload = "seq:1000000+uniform"
		set.Trials = append(set.Trials, results.Trial{Type: "trial", Measure: measure, Algorithm: algorithm, Params: json.RawMessage(params), Nodes: nodes,
			Keys: 1_000_000, Workload: workload, Schedule: schedule, Hash: "xxh3", Seed: 1, Values: values,
			Cell: results.CellName(measure, algorithm, nodes, fields, workload, schedule, "", "")})
	}
	zones, ignored := results.Field{Name: "zones", Value: "3"}, results.Field{Name: "ignore_zones", Value: "true"}
	for _, c := range []struct {
		algorithm                                 string
		fields                                    []results.Field
		exposure, violations, joins, leaves, heir float64
	}{
		{"modulo", nil, 1, -1, 0.769, 0.75, 0.092},
		{"jump", nil, 1, -1, 0.081, 0.148, 1},
		{"ring", []results.Field{zones}, 0.727, 0, 0.069, 0.091, 0.147},
		{"ring", []results.Field{zones, ignored}, 1, 703_494, 0.079, 0.086, 0.147},
		{"rendezvous", nil, 1, -1, 0.077, 0.083, 0.093},
	} {
		values := map[string]float64{"quorum-exposure": c.exposure, "replica-balance-peak": 1.1}
		if c.violations >= 0 {
			values["replica-zone-violations"] = c.violations
		}
		add("replicas", c.algorithm, `{"vnodes":160}`, 12, "", values, c.fields...)
		add("replica-movement", c.algorithm, `{"vnodes":160}`, 12, "add-one", map[string]float64{
			"replica-moved-fraction": c.joins, "replica-moved-minimum": 1. / 13}, c.fields...)
		add("replica-movement", c.algorithm, `{"vnodes":160}`, 12, "remove-one", map[string]float64{
			"replica-moved-fraction": c.leaves, "replica-moved-minimum": 1. / 12, "failover-peak": c.heir, "replica-failover-peak": c.heir}, c.fields...)
	}
	for i, v := range []int{1, 16, 256} {
		add("replicas", "ring", fmt.Sprintf(`{"vnodes":%d}`, v), 96, "", map[string]float64{
			"quorum-exposure": []float64{0.042, 0.49, 1}[i], "replica-balance-peak": 1.2}, results.Field{Name: "vnodes", Value: fmt.Sprint(v)})
	}
	return set
}

func TestTheFiguresOfReplicas(t *testing.T) {
	figures := All(replicated())
	if d := cmp.Diff([]string{"replicas", "quorums"}, namesOf(figures)); d != "" {
		t.Fatal(d)
	}
	want := map[string][]string{
		"replicas": {
			"With 3 replicas of each key on 12 nodes, when one node joins, modulo copies 76.9% of them, where 7.69% must be.",
			"Of the keys of a dead node one heir takes 100% with jump and 9.3% with rendezvous.",
		},
		"quorums": {
			"With 12 nodes and 3 replicas, the loss of 72.7% of the pairs of nodes takes some key its majority with ring 3 zones, and of 100% with ",
			"70.3% of the keys have two replicas in one zone with ring ignoring 3 zones.",
		},
	}
	for _, f := range figures {
		checkSound(t, f)
		for _, part := range want[f.Name] {
			if !strings.Contains(f.Caption, part) {
				t.Errorf("%s: %q does not say %q", f.Name, f.Caption, part)
			}
		}
	}
	if l, nodes := arrange(replicated()).exposureLine(); nodes != 96 || len(l.points) != 3 || l.points[1].y != 0.49 {
		t.Errorf("the exposure by vnodes is that of %d nodes at %v", nodes, l.points)
	}
}

func TestTheFiguresOfReplicasDrawAnyValues(t *testing.T) {
	for _, v := range []float64{0, 1e-12, 1, 1e12, math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
		set := replicated()
		for _, tr := range set.Trials {
			for metric := range tr.Values {
				tr.Values[metric] = v
			}
		}
		for _, f := range All(set) {
			if svg := string(drawn(t, f, "svg")); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s with %v draws a number that is none", f.Name, v)
			}
		}
	}
}
