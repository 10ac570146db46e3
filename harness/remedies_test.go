package harness

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/weightedrendezvous"
)

// One key has four fifths of the requests. What each remedy leaves on
// the busiest node is worked out by hand from who owns what.
func TestRemediesTakeLoadOffTheBusiestNodeAndSayWhatTheyCost(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `nodes = [4]
keys = "seq:1000"
popularity = ["hotset:1:0.8"]
[[contestant]]
algorithm = "ring"
params = { vnodes = 1000 }
[[experiment]]
name = "a"
measures = ["remedies"]
remedies = ["none", "split:1:64", "split:2000:2", "cache:1", "cache:2000"]
`))
	for _, tr := range s.trials {
		r := remedyOf(tr.Cell)
		peak, copies, cached := 0.0, 0.0, 0.0
		switch {
		case strings.Contains(tr.Cell, "none"):
			peak = 4 * (0.8 + 0.2/4) // one node has the hot key and a quarter of the rest
		case strings.Contains(tr.Cell, "split:1:64"):
			peak, copies = 1, 63 // sixteen names a node, give or take a few
		case strings.Contains(tr.Cell, "split:2000:2"):
			peak, copies = 4*(0.4+0.2/4), 1000 // or both names of the hot key on one node
		case r.keys == 1:
			peak, cached = 0.2, 0.8 // of the fair share of all requests
		default:
			peak, cached = math.NaN(), 1
		}
		got := tr.Values["load-peak"]
		_, there := tr.Values["load-peak"]
		if there == math.IsNaN(peak) || there && math.Abs(got-peak) > 0.5*peak {
			t.Errorf("%s: busiest node %v, want about %v", tr.Cell, got, peak)
		}
		if tr.Values["extra-copies"] != copies || math.Abs(tr.Values["cached-fraction"]-cached) > 1e-9 {
			t.Errorf("%s: %v copies and %v cached, want %v and %v", tr.Cell, tr.Values["extra-copies"], tr.Values["cached-fraction"], copies, cached)
		}
		if nodes := tr.Values["hot-key-nodes"]; r.ways == 64 && nodes != 4 || r.ways == 1 && !r.cached && nodes != 1 || r.cached && nodes != 0 {
			t.Errorf("%s: %v nodes serve the hottest key", tr.Cell, nodes)
		}
	}
	if len(s.trials) != 5 {
		t.Errorf("%d trials, want one for each remedy", len(s.trials))
	}
}

// A node too light to own a key is named; where weights are met, none is, and a
// scheme without points misses a weight by what sampling does only.
func TestANodeThatOwnsNothingIsNamed(t *testing.T) {
	pl := mustPlan(t, `nodes = [3]
keys = "seq:10000"
[[contestant]]
algorithm = "ring"
params = { vnodes = 100000 }
weights = "1:1:0.00001"
[[contestant]]
algorithm = "weighted-rendezvous"
weights = "1:2:4"
[[experiment]]
name = "a"
measures = ["weights"]
`, weightedrendezvous.Info)
	s := newSink()
	outcome, err := pl.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Warnings) != 1 || !strings.Contains(outcome.Warnings[0], `node "s1-node-2" of weight 1e-05 owns none of 10000 keys`) {
		t.Errorf("warnings %q, want one that names the node", outcome.Warnings)
	}
	for _, tr := range s.trials {
		want, tolerance := 1.0, 0.0
		if tr.Algorithm == "weighted-rendezvous" {
			want, tolerance = 0, 0.1
		}
		if got := tr.Values["weight-error"]; math.Abs(got-want) > tolerance {
			t.Errorf("%s: weights are missed by %v at most, want %v", tr.Cell, got, want)
		}
	}
}

// The load of a split key, worked out apart from the harness.
func TestASplitKeySharesItsRequestsOutEvenly(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `nodes = [4]
keys = "seq:1000"
popularity = ["hotset:1:0.8"]
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "a"
measures = ["remedies"]
remedies = ["split:1:3"]
`))
	m, err := ring.New((&subject{contestant: &Contestant{}, weights: []float64{1}, n: 4, seed: 1}).nodes(), ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	h, err := keyhash.ByName(keyhash.Default)
	if err != nil {
		t.Fatal(err)
	}
	var loads [4]float64
	for key := 1; key < 1000; key++ {
		loads[m.Lookup(h.Position(fmt.Sprintf("user:%d", key)))] += 0.2 / 999
	}
	for way := range 3 {
		loads[m.Lookup(h.Position(fmt.Sprintf("user:0#%d", way)))] += 0.8 / 3
	}
	want := 4 * slices.Max(loads[:])
	if got := s.trials[0].Values["load-peak"]; math.Abs(got-want) > 1e-9 {
		t.Errorf("busiest node %v, want %v", got, want)
	}
}
