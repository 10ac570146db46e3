package sizing

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/envoymaglev"
	"github.com/ringbench/ringbench/algorithms/compat/envoyring"
	"github.com/ringbench/ringbench/algorithms/compat/grpcring"
	"github.com/ringbench/ringbench/algorithms/compat/partitions"
	"github.com/ringbench/ringbench/algorithms/maglev"
)

// asked is the answer about n equal nodes.
func asked(t *testing.T, info algorithms.Info, n int, target Target, params string) *Answer {
	t.Helper()
	q := Question{Info: info, Target: target, Confidence: 0.95, Headroom: 0.25, Replicas: 1, Seed: 1}
	if params != "" {
		q.Params = json.RawMessage(params)
	}
	for i := range n {
		q.Nodes = append(q.Nodes, algorithms.Node{Name: string(rune('A'+i/26)) + string(rune('a'+i%26)), Weight: 1})
	}
	a, err := Solve(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func rowAt(t *testing.T, a *Answer, v int) Row {
	t.Helper()
	for _, r := range a.Rows {
		if r.VNodes == v {
			return r
		}
	}
	t.Fatalf("no row at %d among %+v", v, a.Rows)
	return Row{}
}

// TestTheDefaultRingOfEnvoyIsShownForWhatItIs: 1,024 points over 200 nodes are
// about five each.
func TestTheDefaultRingOfEnvoyIsShownForWhatItIs(t *testing.T) {
	takesManyRings(t)
	a := asked(t, envoyring.Info, 200, Target{Peak, 1.9}, "")
	r := rowAt(t, a, 1024)
	if r.Each[0] < 5 || r.Each[1] > 7 || a.Preset != 1024 || !a.Shared {
		t.Errorf("%d points a node at the default of %d", r.Each, a.Preset)
	}
	if r.PeakP50 < 2 {
		t.Errorf("the busiest of 200 nodes with six points each typically has %.2f times its share", r.PeakP50)
	}
	// 6 points have a typical peak of 2.45; the excess falls with their root.
	want := 6 * (2.45 - 1) * (2.45 - 1) / (0.9 * 0.9)
	if at := rowAt(t, a, a.VNodes); float64(at.Each[0]) < want || float64(at.Each[1]) > 2*want {
		t.Errorf("%d points a node keep 19 of 20 clusters below 1.9, want somewhat more than %.0f", at.Each, want)
	}
}

// TestAJoinTakesPointsOffAllOthersWhereTheTotalRests: that moves more than the
// share of the node that joins (istio/istio#41814 reports 15% for 10 nodes).
func TestAJoinTakesPointsOffAllOthersWhereTheTotalRests(t *testing.T) {
	c := asked(t, envoyring.Info, 10, Target{Peak, 1.3}, "").Change
	if c.Moved < 0.14 || c.Moved > 0.18 || c.Collateral < 0.05 || c.Collateral > 0.09 || math.Abs(c.Least-1./11) > 1e-9 {
		t.Errorf("a join moves %+v", c)
	}
}

func TestTheSizeOfATableIsFound(t *testing.T) {
	takesManyRings(t)
	for _, c := range []struct {
		info    algorithms.Info
		n       int
		target  Target
		params  string
		atLeast int
		atMost  int
	}{
		// The busiest has one slot more than its share at most: n/M above it.
		{maglev.Info, 10, Target{Peak, 1.02}, "", 250, 1000},
		{envoymaglev.Info, 30, Target{Peak, 1.05}, "", 300, 1200},
		{partitions.Info, 10, Target{Peak, 1.1}, `{"load":1.05}`, 60, 400},
	} {
		a := asked(t, c.info, c.n, c.target, c.params)
		r := rowAt(t, a, a.VNodes)
		if a.VNodes < c.atLeast || a.VNodes > c.atMost || r.PeakAsk > c.target.Value {
			t.Errorf("%s: %d slots with a peak of %.3f, want %d to %d", c.info.Name, a.VNodes, r.PeakAsk, c.atLeast, c.atMost)
		}
		if c.info.Step != nil && a.VNodes != maglev.NextPrime(a.VNodes) {
			t.Errorf("%s: %d is no prime", c.info.Name, a.VNodes)
		}
		if a.Change == nil || a.Change.Moved < a.Change.Least*0.8 || a.Change.Collateral <= 0 {
			t.Errorf("%s: a join moves %+v", c.info.Name, a.Change)
		}
	}
}

func TestABoundAboveTheTargetIsNoMatterOfPartitions(t *testing.T) {
	if a := asked(t, partitions.Info, 10, Target{Peak, 1.1}, ""); a.VNodes != 0 || a.Why == "" {
		t.Errorf("%d partitions under a load of 1.25, want none: %q", a.VNodes, a.Why)
	}
}

// TestTheRingOfGRPCIsSizedWithinItsMaximum: beyond maximum_ring_size the other
// size is an error.
func TestTheRingOfGRPCIsSizedWithinItsMaximum(t *testing.T) {
	takesManyRings(t)
	q := Question{Info: grpcring.Info, Target: Target{Peak, 1.04}, Confidence: 0.95, Replicas: 1, Nodes: algorithms.Nodes("a", "b", "c")}
	if a, err := Solve(q); err == nil {
		t.Errorf("%d points are said to do, gRPC takes 4,096", a.VNodes)
	}
	q.Params = json.RawMessage(`{"maximum_ring_size":1000000}`)
	if a, err := Solve(q); err != nil || a.VNodes < 4097 {
		t.Errorf("%v, %+v", err, a)
	}
}
