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

// leaving is a made-up matrix of ten nodes of which the third leaves: its keys go to
// all others, with jump the others shift, and with modulo all give to all.
func leaving(algorithm string) map[string][]float64 {
	series := map[string][]float64{"nodes_left": {2}, "nodes_joined": {}}
	move := func(from, to int, share float64) {
		series["move_from"] = append(series["move_from"], float64(from))
		series["move_to"] = append(series["move_to"], float64(to))
		series["move_share"] = append(series["move_share"], share)
	}
	for from := range 10 {
		for to := range 10 {
			switch {
			case from == to || to == 2:
			case algorithm == "modulo", algorithm == "ring" && from == 2:
				move(from, to, 0.01)
			case algorithm == "jump" && from >= 2 && to == from+1:
				move(from, to, 0.1)
			}
		}
	}
	return series
}

// questions makes records as the suites about hot keys, weights, churn, views and
// collisions leave them, with made-up numbers of the right shape.
func questions() *results.Set {
	set := &results.Set{Run: quick().Run, End: quick().End}
	add := func(t results.Trial, fields ...results.Field) {
		t.Type, t.Hash, t.Seed = "trial", "xxh3", 1
		if t.Params == nil {
			t.Params = json.RawMessage(`{"vnodes":160}`)
		}
		t.Cell = results.CellName(t.Measure, t.Algorithm, t.Nodes, fields, t.Workload, t.Schedule, t.Weights, "")
		set.Trials = append(set.Trials, t)
	}
	const zipf = "seq:1000000+zipf:0.99"
	moved := map[string]map[string]float64{
		"ring":   {"add-one": 0.091, "remove-one": 0.1, "double": 0.5, "reorder": 0},
		"jump":   {"add-one": 0.091, "remove-one": 0.17, "double": 0.5, "reorder": 1},
		"modulo": {"add-one": 0.909, "remove-one": 0.9, "double": 0.5, "reorder": 1},
	}
	least := map[string]float64{"add-one": 0.091, "remove-one": 0.1, "double": 0.5, "reorder": 0}
	for _, a := range []string{"ring", "jump", "modulo"} {
		for _, s := range []string{"add-one", "remove-one", "double", "reorder"} {
			values := map[string]float64{"moved-fraction": moved[a][s], "moved-minimum": least[s], "collateral-fraction": moved[a][s] - least[s]}
			var series map[string][]float64
			if s == "remove-one" {
				values["failover-peak"] = map[string]float64{"ring": 0.18, "jump": 0.89, "modulo": 0.113}[a]
				series = leaving(a)
			}
			add(results.Trial{Measure: "movement", Algorithm: a, Nodes: 10, Keys: 1_000_000, Workload: zipf, Schedule: s, Values: values, Series: series})
			add(results.Trial{Measure: "views", Algorithm: a, Nodes: 10, Keys: 1_000_000, Workload: zipf, Schedule: s, Values: map[string]float64{
				"view-disagreement": moved[a][s], "view-disagreement-load": moved[a][s] * 0.97}})
			part := moved[a][s]
			var misses []float64
			for _, t := range []float64{0, 1, 60, 600} {
				misses = append(misses, part*50_000/(1+t/4))
			}
			if s == "add-one" || s == "remove-one" {
				add(results.Trial{Measure: "misses", Algorithm: a, Nodes: 8, Keys: 1_000_000, Workload: zipf, Schedule: s,
					Values: map[string]float64{"miss-peak": misses[0], "miss-total": part * 1e6},
					Series: map[string][]float64{"miss_seconds": {0, 1, 60, 600}, "misses": misses}})
			}
		}
		for _, n := range []int{10, 100} {
			for _, s := range []float64{0, 0.4, 0.8, 1.2} {
				floor := float64(n) * hottestKey(fmt.Sprintf("zipf:%g", s), 1_000_000)
				add(results.Trial{Measure: "load", Algorithm: a, Nodes: n, Keys: 1_000_000, Workload: fmt.Sprintf("seq:1000000+zipf:%g", s),
					Values: map[string]float64{"load-peak": 1.1 + floor}})
			}
		}
	}
	for _, w := range []string{zipf, "seq:1000000+zipf:1.2"} {
		for remedy, v := range map[string][3]float64{"none": {2.6, 0, 0}, "split:10:10": {1.37, 90, 0}, "split:1000:10": {1.35, 9000, 0}, "cache:100": {0.4, 0, 0.7}} {
			add(results.Trial{Measure: "remedies", Algorithm: "ring", Nodes: 10, Keys: 1_000_000, Workload: w, Values: map[string]float64{
				"load-peak": v[0], "extra-copies": v[1], "cached-fraction": v[2]}}, results.Field{Name: "remedy", Value: remedy})
		}
		add(results.Trial{Measure: "bounded", Algorithm: "bounded-ring", Nodes: 10, Keys: 1_000_000, Workload: w, Params: json.RawMessage(`{"epsilon":0.25}`),
			Values: map[string]float64{"load-peak": 1.25, "spill-fraction": 0.195}}, results.Field{Name: "epsilon", Value: "0.25"})
	}
	for i, weights := range []string{"1:2:4", "1:1:1:1:1:1:1:1:1:0.001"} {
		for _, v := range []int{1, 10, 160, 1000} {
			add(results.Trial{Measure: "weights", Algorithm: "ring", Nodes: 10, Keys: 1_000_000, Workload: "seq:1000000+uniform", Weights: weights,
				Params: json.RawMessage(fmt.Sprintf(`{"vnodes":%d}`, v)), Values: map[string]float64{
					"weight-error": float64(len(weights)) / math.Sqrt(float64(v)), "footprint-bytes": float64(500 * v)}},
				results.Field{Name: "vnodes", Value: fmt.Sprint(v)})
		}
		add(results.Trial{Measure: "weights", Algorithm: "weighted-rendezvous", Nodes: 10, Keys: 1_000_000, Workload: "seq:1000000+uniform", Weights: weights,
			Params: json.RawMessage(`{}`), Values: map[string]float64{"weight-error": 0.008 * float64(1+i), "footprint-bytes": 200}})
	}
	for v, peak := range map[int]float64{1: 1, 10: 0.44, 160: 0.171} {
		add(results.Trial{Measure: "shares", Algorithm: "ring", Nodes: 10, Schedule: "remove-one", Params: json.RawMessage(fmt.Sprintf(`{"vnodes":%d}`, v)),
			Values: map[string]float64{"moved-fraction": 0.1, "failover-peak": peak, "ranges-moved": 0.9 * float64(v)}}, results.Field{Name: "vnodes", Value: fmt.Sprint(v)})
	}
	for _, n := range []int{10, 100, 1000} {
		for _, bits := range []float64{16, 32, 64} {
			modulus := "0"
			if bits < 64 {
				modulus = fmt.Sprintf("%.0f", math.Exp2(bits))
			}
			points := float64(160 * n)
			collisions := math.Round(points + math.Exp2(bits)*math.Expm1(-points/math.Exp2(bits)))
			add(results.Trial{Measure: "shares", Algorithm: "ring", Nodes: n, Params: json.RawMessage(`{"vnodes":160,"modulus":` + modulus + `}`),
				Values: map[string]float64{"point-collisions": collisions, "share-cv": 0.08 + collisions/points}}, results.Field{Name: "modulus", Value: modulus})
		}
	}
	return set
}

func TestEachQuestionHasItsFigure(t *testing.T) {
	want := []string{"collisions", "weights", "movement", "churn", "who", "heirs", "misses", "views", "skew", "remedies", "bounded"}
	figures := All(questions())
	if d := cmp.Diff(want, namesOf(figures)); d != "" {
		t.Error(d)
	}
	for _, f := range figures {
		checkSound(t, f)
	}
}

// What a caption says is in the data.
func TestCaptionsAnswerTheQuestions(t *testing.T) {
	want := map[string][]string{
		"collisions": {"With 1,000 nodes on positions of 16 bits, 100,1", "by the birthday estimate", "from 32 bits on"},
		"weights":    {"and 160 points for a unit of weight, ring misses a weight by", "The least is 0.8% (weighted rendezvous, weights 1:2:4, 200 B)"},
		"churn":      {"1 of 3 contestants never move a key between two nodes that stay", "when the list is reordered: 100% of the keys move, where 0% must"},
		"who":        {"With ring it alone gives, to 9 others; with modulo 81 of the 90 pairs of nodes exchange keys, and 72% of all keys"},
		"heirs":      {"a ring of 1 vnode each, one heir takes 100% of the keys of the node that leaves, of 160 vnodes 17.1%, where 11.1%", "144 ranges change hands in place of 1"},
		"misses":     {"when one node joins, modulo has 45,450 misses a second at first, 2,841 after a minute, 909,000 in all; ring has 4,550"},
		"views":      {"when one lacks a node, two clients with", "on 90.9%", "The order of the list alone matters to 2 of 3"},
		"skew":       {"With 100 nodes, from an exponent of 0.8 on the hottest key alone makes up half"},
		"remedies":   {"takes 2.60 times its fair share when nothing is done; top 10 split 10 ways leaves 1.37 (90 copies)", "(70% from clients)", "bound 1.25 leaves 1.25 (19.5% spilled)"},
	}
	for _, f := range All(questions()) {
		for _, part := range want[f.Name] {
			if !strings.Contains(f.Caption, part) {
				t.Errorf("%s: %q does not say %q", f.Name, f.Caption, part)
			}
		}
	}
}

// A square says who lost what: the node that leaves gives blue, others red, and a
// matrix that is not whole is not drawn.
func TestMatricesAreReadWhole(t *testing.T) {
	row := results.Row{}
	read := func(change func(map[string][]float64)) (matrix, bool) {
		series := leaving("jump")
		change(series)
		return matrixOf(row, results.Trial{Nodes: 10, Series: series})
	}
	m, ok := read(func(map[string][]float64) {})
	if !ok || m.left != 2 || m.pairs() != 7 || math.Abs(m.stay()-0.6) > 1e-12 || math.Abs(m.total-0.7) > 1e-12 {
		t.Errorf("read %v: %+v", ok, m)
	}
	if m.color(2, 3, 0.1) != blue || m.color(3, 4, 0.1) != red || m.color(0, 1, 0.1) != grid {
		t.Error("colours tell the node that leaves from those that stay, and what moves from what does not")
	}
	for name, change := range map[string]func(map[string][]float64){
		"short":      func(s map[string][]float64) { s["move_to"] = s["move_to"][1:] },
		"beyond":     func(s map[string][]float64) { s["move_to"][0] = 10 },
		"half":       func(s map[string][]float64) { s["move_from"][0] = 0.5 },
		"negative":   func(s map[string][]float64) { s["move_share"][0] = -0.1 },
		"no number":  func(s map[string][]float64) { s["move_share"][0] = math.NaN() },
		"nobody":     func(s map[string][]float64) { s["nodes_left"] = nil },
		"who":        func(s map[string][]float64) { s["nodes_left"][0] = 11 },
		"one joined": func(s map[string][]float64) { s["nodes_joined"] = []float64{10} },
	} {
		if _, ok := read(change); ok {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestTheQuestionsFiguresDrawAnyValues(t *testing.T) {
	for _, v := range []float64{0, 1e-12, 1, 1e12, math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
		set := questions()
		for i := range set.Trials {
			tr := &set.Trials[i]
			for metric := range tr.Values {
				tr.Values[metric] = v
			}
			for name, series := range tr.Series {
				for j := range series {
					if name == "misses" || i%2 == 0 {
						series[j] = v
					}
				}
			}
		}
		for _, f := range All(set) {
			if svg := string(drawn(t, f, "svg")); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s with %v draws a number that is none", f.Name, v)
			}
		}
	}
}
