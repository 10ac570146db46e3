package harness

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/rendezvous"
	"github.com/ringbench/ringbench/results"
)

// held makes a holding of keys, each a list of nodes; the zones are a byte a node.
func held(weights []float64, zones string, keys ...[]int32) *Holding {
	h := &Holding{Replicas: len(keys[0]), Weights: weights, Nodes: slices.Concat(keys...)}
	for i := range weights {
		h.Zones = append(h.Zones, zones[i:i+1])
	}
	return h
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

func TestZoneViolationsAreKeysThatLeaveAZoneOut(t *testing.T) {
	for _, tt := range []struct {
		zones string
		keys  [][]int32
		want  int
	}{
		{"aabbcc", [][]int32{{0, 2, 4}, {0, 1, 2}, {0, 1, 4}, {5, 3, 1}}, 2},
		{"aabbcc", [][]int32{{0, 2}, {4, 5}}, 1},
		{"aabbbb", [][]int32{{0, 2, 3}, {0, 1, 2}, {2, 3, 4}}, 1}, // two zones: one of them has to have two
		{"aaaaaa", [][]int32{{0, 1, 2}}, 0},
		{"aabbcc", [][]int32{{0, 1, 2, 4}, {0, 1, 2, 3}}, 1},
	} {
		if got := held(ones(6), tt.zones, tt.keys...).zoneViolations(); got != tt.want {
			t.Errorf("zones %s, keys %d: %d violations, want %d", tt.zones, tt.keys, got, tt.want)
		}
	}
	empty := held([]float64{1, 1, 1, 0}, "aabc", []int32{0, 2}, []int32{0, 1}, []int32{1, 0})
	if got := empty.zoneViolations(); got != 2 {
		t.Errorf("a zone without weight: %d violations, want 2", got)
	}
}

func TestQuorumExposureCountsSetsOfNodes(t *testing.T) {
	for _, tt := range []struct {
		nodes int
		keys  [][]int32
		want  float64
	}{
		{4, [][]int32{{0, 1, 2}}, 3. / 6},                       // 01 02 12
		{4, [][]int32{{0, 1, 2}, {2, 1, 0}, {1, 2, 3}}, 5. / 6}, // and 13 23
		{4, [][]int32{{0, 1}, {2, 3}}, 2. / 6},                  // the majority of 2 is both
		{5, [][]int32{{0, 1, 2, 3, 4}}, 1},                      // any 3
		{6, [][]int32{{0, 1, 2, 3, 4}}, 10. / 20},               // any 3 without node 5
		{3, [][]int32{{0}, {2}}, 2. / 3},                        // no replicas: the node itself
	} {
		if got := held(ones(tt.nodes), "abcdef", tt.keys...).Exposure(); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%d nodes, keys %d: %v, want %v", tt.nodes, tt.keys, got, tt.want)
		}
	}
	light := held([]float64{1, 0, 1, 1}, "abcd", []int32{0, 2}, []int32{3, 2})
	if got := light.Exposure(); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("a node that holds nothing counts: %v, want 2/3", got)
	}
	if got := held(ones(100_000), string(make([]byte, 100_000)), []int32{0, 1, 2}).Exposure(); !math.IsNaN(got) {
		t.Errorf("5e9 pairs are counted: %v", got)
	}
}

func TestQuorumSetsAgreeWithAMapOfSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(1, 5).Draw(t, "replicas")
		nodes := rapid.IntRange(replicas, 9).Draw(t, "nodes")
		sets, leading := NewQuorumSets(nodes, replicas), NewQuorumSets(nodes, replicas)
		all, first := map[int]bool{}, map[int]bool{}
		possible, _ := QuorumSetsOf(nodes, replicas)
		for range rapid.IntRange(1, 6).Draw(t, "keys") {
			index := make([]int32, nodes)
			for i := range index {
				index[i] = int32(i)
			}
			holders := rapid.Permutation(index).Draw(t, "order")[:replicas]
			sets.Add(holders)
			leading.AddLeading(holders)
			for subset := range 1 << replicas {
				mask, n := 0, 0
				for i, b := range holders {
					if subset>>i&1 == 1 {
						mask |= 1 << b
						n++
					}
				}
				if n == replicas/2+1 {
					all[mask] = true
					if subset&1 == 1 {
						first[mask] = true
					}
				}
			}
		}
		if sets.Len() != len(all) || leading.Len() != len(first) || sets.Part() != float64(len(all))/possible {
			t.Fatalf("%d and %d sets of %v, want %d and %d", sets.Len(), leading.Len(), possible, len(all), len(first))
		}
	})
}

func TestFairPartsFollowWeightsAsFarAsTheRulesAllow(t *testing.T) {
	for _, tt := range []struct {
		replicas int
		weights  []float64
		zones    string
		want     []float64
	}{
		{3, ones(6), "------", []float64{.5, .5, .5, .5, .5, .5}},
		{2, []float64{1, 2, 1}, "---", []float64{.5, 1, .5}},
		{2, []float64{1, 8, 1}, "---", []float64{.5, 1, .5}}, // none twice
		{1, []float64{1, 3, 0}, "---", []float64{.25, .75, 0}},
		{3, ones(5), "abbcc", []float64{1, .5, .5, .5, .5}},           // a zone's only node has all
		{2, ones(5), "abbcc", []float64{.4, .4, .4, .4, .4}},          // 2 of 3 zones, no limit is met
		{2, ones(6), "abcccc", []float64{.5, .5, .25, .25, .25, .25}}, // at most one in the large zone
		{3, ones(4), "abbb", []float64{1, 2. / 3, 2. / 3, 2. / 3}},    // at least one in the small zone
		{3, []float64{1, 1, 1, 0}, "aabb", []float64{1, 1, 1, 0}},
	} {
		h := held(tt.weights, tt.zones, make([]int32, tt.replicas))
		if diff := cmp.Diff(tt.want, h.fair(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%d replicas, weights %v, zones %s (-want +got):\n%s", tt.replicas, tt.weights, tt.zones, diff)
		}
	}
}

func TestMovedReplicasByHand(t *testing.T) {
	before := held([]float64{1, 1, 1, 1, 0}, "-----", []int32{0, 1}, []int32{1, 0}, []int32{2, 3}, []int32{0, 2}, []int32{3, 1})
	// Node 4 joins: it takes one place of the third key; the second key changes
	// its order and the last one a node, both without need.
	after := held(ones(5), "-----", []int32{0, 1}, []int32{0, 1}, []int32{4, 3}, []int32{0, 2}, []int32{3, 2})
	want := ReplicaMovement{Moved: 2. / 10, Minimum: 1. / 5, Collateral: 1. / 5, Heir: math.NaN(), OwnerHeir: math.NaN()}
	same := []cmp.Option{cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12)}
	if diff := cmp.Diff(want, MovedReplicas(before, after), same...); diff != "" {
		t.Errorf("one joins (-want +got):\n%s", diff)
	}
	// Node 0 leaves: of its three replicas node 2 takes two and node 3 one; of its
	// two keys the next in line take one each.
	after = held([]float64{0, 1, 1, 1, 0}, "-----", []int32{1, 2}, []int32{1, 2}, []int32{2, 3}, []int32{2, 3}, []int32{3, 1})
	want = ReplicaMovement{Moved: 3. / 10, Minimum: 1. / 4, Heir: 2. / 3, OwnerHeir: 1. / 2}
	if diff := cmp.Diff(want, MovedReplicas(before, after), same...); diff != "" {
		t.Errorf("one leaves (-want +got):\n%s", diff)
	}
}

const replicasSpec = `nodes = [12]
keys = "seq:60000"
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "rendezvous"
[[contestant]]
algorithm = "jump"
[[contestant]]
name = "zoned"
algorithm = "rendezvous"
zones = 3
[[contestant]]
name = "blind"
algorithm = "rendezvous"
zones = 3
ignore_zones = true
[[contestant]]
name = "single"
algorithm = "ring"
params = { vnodes = 1 }
[[contestant]]
algorithm = "control"
[[experiment]]
name = "a"
measures = ["replicas", "replica-movement", "balance"]
schedules = ["add-one", "remove-one", "remove-each", "reorder"]
`

// What the replicas of known algorithms must be like, zones or none.
func TestReplicasOfTwelveNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under the race detector")
	}
	s, _ := mustRun(t, mustPlan(t, replicasSpec, rendezvous.Info, jump.Info))
	trials := map[string]results.Trial{}
	for _, tr := range s.trials {
		trials[results.Label(tr)+" "+tr.Measure+" "+tr.Schedule] = tr
	}
	for _, tt := range []struct {
		trial, metric  string
		want, deviates float64
	}{
		// Three of twelve nodes hold a key: two of them are in one zone for all
		// but 4*4*4 of the 220 sets.
		{"rendezvous ignoring 3 zones replicas ", "replica-zone-violations", 60_000 * (1 - 64./220), 500},
		{"rendezvous 3 zones replicas ", "replica-zone-violations", 0, 0},
		{"rendezvous 3 zones replicas ", "quorum-exposure", 48. / 66, 1e-9}, // no pair of one zone
		{"rendezvous replicas ", "quorum-exposure", 1, 1e-9},
		{"ring v=1 replicas ", "quorum-exposure", 24. / 66, 1e-9}, // with the two nodes behind and the two ahead
		{"rendezvous replicas ", "replica-balance-cv", 0.006, 0.003},
		{"rendezvous 3 zones replicas ", "replica-balance-peak", 1.01, 0.01},

		{"rendezvous replica-movement add-one", "replica-moved-minimum", 1. / 13, 1e-9},
		{"rendezvous replica-movement add-one", "replica-moved-fraction", 1. / 13, 0.001},
		{"rendezvous 3 zones replica-movement add-one", "replica-moved-minimum", 1. / 15, 1e-9}, // a fifth node of one zone
		{"rendezvous 3 zones replica-movement add-one", "replica-moved-fraction", 1. / 15, 0.001},
		{"rendezvous replica-movement remove-each", "replica-moved-fraction", 1. / 12, 0.001},
		{"rendezvous 3 zones replica-movement remove-one", "replica-failover-peak", 1. / 3, 0.02}, // three nodes are left in the zone
		{"rendezvous replica-movement remove-one", "replica-failover-peak", 1. / 11, 0.02},
		{"rendezvous replica-movement remove-one", "failover-peak", 1. / 11, 0.02},
		{"ring v=1 replica-movement remove-one", "failover-peak", 1, 0},
		{"jump replica-movement remove-one", "failover-peak", 1, 0}, // the last node takes the gap
		{"rendezvous replica-movement reorder", "replica-moved-fraction", 0, 0},
		{"rendezvous replica-movement reorder", "replica-moved-minimum", 0, 0},
	} {
		tr, ok := trials[tt.trial]
		if got, there := tr.Values[tt.metric]; !ok || !there || math.Abs(got-tt.want) > tt.deviates {
			t.Errorf("%s: %s %v, want %v", tt.trial, tt.metric, got, tt.want)
		}
	}
	for name, tr := range trials {
		c, ok := tr.Values["replica-collateral-fraction"]
		if ok && tr.Algorithm != "jump" && c != 0 {
			t.Errorf("%s: %v of the keys are copied without need", name, c)
		}
		if tr.Algorithm == "control" && tr.Measure != "balance" && tr.Skip == "" {
			t.Errorf("%s is not skipped", name)
		}
	}
	// A zone changes where replicas lie and not who owns a key.
	if a, b := trials["rendezvous balance "], trials["rendezvous 3 zones balance "]; a.Check == "" || a.Check != b.Check {
		t.Errorf("the owners' digests are %q, in zones %q", a.Check, b.Check)
	}
}

func TestSpecsOfReplicasAreChecked(t *testing.T) {
	const head = "nodes = [4]\nkeys = \"seq:10\"\n[[contestant]]\nalgorithm = \"ring\"\n"
	for _, tt := range []struct{ spec, want string }{
		{head + "[[experiment]]\nname = \"a\"\nmeasures = [\"replicas\"]\nreplicas = [0]\n", "s.toml:8:1: 0 replicas, want 1 to 64"},
		{head + "[[experiment]]\nname = \"a\"\nmeasures = [\"replica-movement\"]\n", `s.toml:7:1: replica-movement needs schedules, such as ["add-one", "remove-one"]`},
		{head + "zones = -1\n[[experiment]]\nname = \"a\"\nmeasures = [\"balance\"]\n", "s.toml:5:1: -1 zones, want 1 to 10000000, or 0 for none"},
	} {
		if _, err := ParseSpec("s.toml", []byte(tt.spec)); fmt.Sprint(err) != tt.want {
			t.Errorf("error %v\nwant  %s", err, tt.want)
		}
	}
	// Too few nodes are a skip with its reason, not a shorter list.
	s, _ := mustRun(t, mustPlan(t, head+"[[experiment]]\nname = \"a\"\nmeasures = [\"replicas\"]\nreplicas = [4, 5]\n"))
	for _, tr := range s.trials {
		if short := replicasOf(tr.Cell) == 5; short != (tr.Skip != "") {
			t.Errorf("%s: skip %q", tr.Cell, tr.Skip)
		}
	}
}
