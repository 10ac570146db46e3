package harness

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/workloads"
)

func mustRegexp(s string) *regexp.Regexp { return regexp.MustCompile(s) }

func mustPlace(t rapid.TB, info algorithms.Info, nodes []algorithms.Node, params string) *Placement {
	t.Helper()
	p, err := NewPlacement(info, nodes, []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func view(p *Placement, hs []uint64) View {
	v := View{Owners: make([]int32, len(hs))}
	p.Owners(hs, v.Owners)
	v.Weights, v.Total = p.Weights()
	return v
}

func hashes(n int) []uint64 {
	r := workloads.Rand(7, "hashes")
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	return hs
}

// Whatever happens to a ring, what the cells say agrees with what keys say, and
// only the nodes concerned gain or lose.
func TestCellsAndKeysAgreeOnWhatMoved(t *testing.T) {
	hs := hashes(20000)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		sub := subject{contestant: &Contestant{}, weights: []float64{1, 2, 0.5}, n: n, seed: rapid.Uint64Range(1, 1<<40).Draw(t, "seed")}
		p := mustPlace(t, ring.Info, sub.nodes(), `{"vnodes": 5}`)
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			before, beforeCells := view(p, hs), cellsOf(p)
			var c workloads.Change
			members := slices.DeleteFunc(indices(len(p.Nodes)), func(i int) bool { return !p.Member[i] })
			switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
			case op == 0 && len(members) > 1:
				c = workloads.Change{Op: workloads.RemoveNode, Node: rapid.SampledFrom(members).Draw(t, "node")}
			case op == 1:
				c = workloads.Change{Op: workloads.SetWeight, Node: rapid.SampledFrom(members).Draw(t, "node"), Factor: 2}
			default:
				c = workloads.Change{Op: workloads.AddNode, Node: p.Announce(sub.newcomer(len(p.Nodes)))}
			}
			if err := p.Apply(c); err != nil {
				t.Fatal(err)
			}
			after := view(p, hs)
			flows := Flows(beforeCells, cellsOf(p))
			byCells, byKeys := MovedCells(flows, before, after), Moved(before, after, nil)
			if byCells.Collateral != 0 || byKeys.Collateral != 0 || byKeys.Violations != 0 {
				t.Fatalf("%v moved keys between others: %v by cells, %v by keys", c.Op, byCells.Collateral, byKeys.Collateral)
			}
			sigma := math.Sqrt(byCells.Moved*(1-byCells.Moved)/float64(len(hs))) + 1e-9
			if d := math.Abs(byCells.Moved - byKeys.Moved); d > 6*sigma {
				t.Fatalf("moved %v by cells, %v by keys", byCells.Moved, byKeys.Moved)
			}
			if byCells.Minimum != byKeys.Minimum {
				t.Fatalf("minimum %v by cells, %v by keys", byCells.Minimum, byKeys.Minimum)
			}
			for _, f := range flows {
				if f.From != c.Node && f.To != c.Node {
					t.Fatalf("%v of node %d made %d give to %d", c.Op, c.Node, f.From, f.To)
				}
				if f.Ranges < 1 || f.Share <= 0 {
					t.Fatalf("flow %+v", f)
				}
			}
		}
	})
}

func cellsOf(p *Placement) Cells {
	c, _ := p.Cells()
	return c
}

func indices(n int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	return is
}

// Three points on a circle of 1000, worked by hand.
func TestFlowsOfAWorkedExample(t *testing.T) {
	before := Cells{Space: 1000, Last: []uint64{100, 400, 700, 999}, Node: []int32{0, 1, 2, 0}}
	after := Cells{Space: 1000, Last: []uint64{100, 400, 450, 700, 999}, Node: []int32{0, 1, 3, 2, 0}}
	flows := Flows(before, after)
	if len(flows) != 1 || flows[0] != (Flow{From: 2, To: 3, Share: 0.05, Ranges: 1}) {
		t.Errorf("flows %+v, want 50 of 1000 positions from node 2 to node 3 in one range", flows)
	}
	one := Cells{Last: []uint64{math.MaxUint64}, Node: []int32{0}}
	other := Cells{Last: []uint64{math.MaxUint64}, Node: []int32{1}}
	if f := Flows(one, other); len(f) != 1 || f[0].Share != 1 {
		t.Errorf("all of 2^64 changes hands: %+v", f)
	}
}

// The share that moves when a node joins or leaves is exactly that node's.
func TestRingMovesExactlyTheShareOfTheNodeConcerned(t *testing.T) {
	for seed := range uint64(20) {
		sub := subject{contestant: &Contestant{}, weights: []float64{1}, n: 10, seed: seed}
		p := mustPlace(t, ring.Info, sub.nodes(), "")
		before, cells := view(p, nil), cellsOf(p)
		i := p.Announce(sub.newcomer(10))
		if err := p.Apply(workloads.Change{Op: workloads.AddNode, Node: i}); err != nil {
			t.Fatal(err)
		}
		grown := cellsOf(p)
		shares, _ := p.Shares()
		if m := MovedCells(Flows(cells, grown), before, view(p, nil)); math.Abs(m.Moved-shares[i]) > 1e-15 || m.Collateral != 0 {
			t.Errorf("seed %d: moved %v, collateral %v; the new node owns %v", seed, m.Moved, m.Collateral, shares[i])
		}
		before = view(p, nil)
		if err := p.Apply(workloads.Change{Op: workloads.RemoveNode, Node: 3}); err != nil {
			t.Fatal(err)
		}
		if m := MovedCells(Flows(grown, cellsOf(p)), before, view(p, nil)); math.Abs(m.Moved-shares[3]) > 1e-15 || m.Collateral != 0 {
			t.Errorf("seed %d: moved %v, collateral %v; the old node owned %v", seed, m.Moved, m.Collateral, shares[3])
		}
	}
}

// 8 -> 9 nodes: 8/9 of the keys move under modulo, 1/9 on a ring.
func TestEightToNineNodes(t *testing.T) {
	hs := hashes(100000)
	moved := func(info algorithms.Info, seed uint64) float64 {
		sub := subject{contestant: &Contestant{}, weights: []float64{1}, n: 8, seed: seed}
		p := mustPlace(t, info, sub.nodes(), "")
		before := view(p, hs)
		if err := p.Apply(workloads.Change{Op: workloads.AddNode, Node: p.Announce(sub.newcomer(8))}); err != nil {
			t.Fatal(err)
		}
		return Moved(before, view(p, hs), nil).Moved
	}
	if m := moved(modulo.Info, 1); math.Abs(m-8.0/9) > 0.004 {
		t.Errorf("modulo moved %.4f, want 0.889", m)
	}
	sum := 0.0
	const placements = 50
	for seed := range uint64(placements) {
		sum += moved(ring.Info, seed)
	}
	if m := sum / placements; math.Abs(m-1.0/9) > 0.005 {
		t.Errorf("ring moved %.4f in the mean, want 0.111", m)
	}
}

func TestMovementOfHandMadeViews(t *testing.T) {
	w := func(ws ...float64) []float64 { return ws }
	for _, tt := range []struct {
		name                        string
		before, after               View
		moved, collateral, failover float64
	}{
		{"nothing", View{Owners: []int32{0, 1, 1, 0}, Weights: w(1, 1), Total: 2}, View{Owners: []int32{0, 1, 1, 0}, Weights: w(1, 1), Total: 2}, 0, 0, math.NaN()},
		{"a node joins and two others swap a key", View{Owners: []int32{0, 1, 1, 0}, Weights: w(1, 1), Total: 2}, View{Owners: []int32{2, 1, 0, 0}, Weights: w(1, 1, 1), Total: 3}, 0.5, 0.25, math.NaN()},
		{"a node leaves to two survivors", View{Owners: []int32{2, 2, 2, 0}, Weights: w(1, 1, 1), Total: 3}, View{Owners: []int32{0, 1, 1, 0}, Weights: w(1, 1, 0), Total: 2}, 0.75, 0, 2.0 / 3},
	} {
		m := Moved(tt.before, tt.after, func(int) float64 { return 0.25 })
		if m.Moved != tt.moved || m.MovedLoad != tt.moved || m.Collateral != tt.collateral || m.Violations != 4*tt.collateral ||
			m.Failover != tt.failover && !(math.IsNaN(m.Failover) && math.IsNaN(tt.failover)) {
			t.Errorf("%s: %+v", tt.name, m)
		}
	}
}

func TestSpreadIsRelativeToTheWeights(t *testing.T) {
	for _, tt := range []struct {
		amounts, weights []float64
		want             Spread
	}{
		{[]float64{10, 10}, []float64{1, 1}, Spread{0, 1, 1}},
		{[]float64{30, 10}, []float64{1, 1}, Spread{0.5, 1.5, 0.5}},
		{[]float64{30, 10, 0}, []float64{3, 1, 0}, Spread{0, 1, 1}},
		{[]float64{10, 10}, []float64{3, 1}, Spread{math.Sqrt((1 + 1.0/9) / 2), 2, 2.0 / 3}},
	} {
		got := SpreadOf(tt.amounts, tt.weights)
		if math.Abs(got.CV-tt.want.CV) > 1e-15 || math.Abs(got.Peak-tt.want.Peak) > 1e-15 || math.Abs(got.Min-tt.want.Min) > 1e-15 {
			t.Errorf("%v over %v: %+v, want %+v", tt.amounts, tt.weights, got, tt.want)
		}
	}
	if s := SpreadOf([]float64{0}, []float64{0}); !math.IsNaN(s.CV) {
		t.Errorf("nobody may hold anything: %+v", s)
	}
}

func TestExpectedSumsGoRoundThePoolAsTheLoopDoes(t *testing.T) {
	buckets := make([]algorithms.Bucket, 7*chunk)
	for i := range buckets {
		buckets[i] = algorithms.Bucket(i * 7919 % 1000)
	}
	a := summarise(buckets)
	rapid.Check(t, func(t *rapid.T) {
		offset := chunk * rapid.IntRange(0, 6).Draw(t, "offset")
		ops := chunk * rapid.IntRange(0, 30).Draw(t, "ops")
		looped := round(len(buckets), offset, ops, func(from, to int) (sum uint64) {
			for _, b := range buckets[from:to] {
				sum += uint64(b)
			}
			return sum
		})
		if want := a.expect(offset, ops); looped != want {
			t.Fatalf("%d answers from %d on sum to %d, expected %d", ops, offset, looped, want)
		}
	})
}

// A kind of change that a placement does not know is never taken for another.
func TestAnUnknownChangeIsRefused(t *testing.T) {
	p, err := NewPlacement(modulo.Info, algorithms.Nodes("a", "b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(workloads.Change{Op: 99}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v, want one that wraps ErrUnsupported", err)
	}
	if weights, total := p.Weights(); total != 2 {
		t.Errorf("the weights are now %v", weights)
	}
}

// What a trial keeps of a change is the whole matrix: its parts add up to what moved,
// its rows to what the nodes gave, and the largest part of a lost row is the peak of
// the failover. It tells who moves keys between nodes that stay.
func TestAMovementKeepsWhoGaveWhatToWhom(t *testing.T) {
	s, _ := mustRun(t, mustPlan(t, `nodes = [10]
keys = "seq:20000"
[[contestant]]
algorithm = "modulo"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "keys"
measures = ["movement"]
schedules = ["add-one", "remove-one", "remove:3", "reorder", "remove-each"]
seeds = 2
[[experiment]]
name = "shares"
measures = ["shares"]
contestants = ["ring"]
schedules = ["add-one", "remove-one"]
`))
	left := map[string]int{"remove-one": 1, "remove:3": 3}
	for _, tr := range s.trials {
		from, to, share := tr.Series["move_from"], tr.Series["move_to"], tr.Series["move_share"]
		if tr.Schedule == "remove-each" {
			if tr.Series != nil {
				t.Errorf("%s, seed %d: keeps a matrix of many steps", tr.Cell, tr.Seed)
			}
			continue
		}
		if len(from) != len(share) || len(to) != len(share) || len(tr.Series["nodes_left"]) != left[tr.Schedule] {
			t.Fatalf("%s: series %v", tr.Cell, tr.Series)
		}
		if joined := tr.Series["nodes_joined"]; (tr.Schedule == "add-one") != slices.Equal(joined, []float64{10}) {
			t.Errorf("%s: nodes %v joined", tr.Cell, joined)
		}
		moved, collateral := 0.0, 0.0
		lost := map[float64]float64{}
		for i := range share {
			moved += share[i]
			gone, came := slices.Contains(tr.Series["nodes_left"], from[i]), slices.Contains(tr.Series["nodes_joined"], to[i])
			if !gone && !came {
				collateral += share[i]
			}
			if gone {
				lost[from[i]] += share[i]
			}
			if from[i] == to[i] || share[i] <= 0 || slices.Contains(tr.Series["nodes_left"], to[i]) {
				t.Errorf("%s: %v of the keys go from %v to %v", tr.Cell, share[i], from[i], to[i])
			}
		}
		peak := 0.0
		for i := range share {
			if all := lost[from[i]]; all > 0 {
				peak = max(peak, share[i]/all)
			}
		}
		for metric, got := range map[string]float64{"moved-fraction": moved, "collateral-fraction": collateral, "failover-peak": peak} {
			if want := tr.Values[metric]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: the matrix gives a %s of %v, the trial %v", tr.Cell, metric, got, want)
			}
		}
	}
}

// In rolling, a node of weight 0 leaves as well, and held nothing: of all steps the
// largest part counts, whichever step had none.
func TestTheLargestFailoverOutlastsAStepThatHasNone(t *testing.T) {
	none := math.NaN()
	for _, parts := range [][]float64{{none, 0.7, 0.4}, {0.7, none, 0.4}, {0.7, 0.4, none}, {0.4, none, 0.7}} {
		m := Movement{Failover: math.NaN()}
		r := ReplicaMovement{Heir: math.NaN(), OwnerHeir: math.NaN()}
		for _, part := range parts {
			m.add(Movement{Failover: part})
			r.add(ReplicaMovement{Heir: part, OwnerHeir: part})
		}
		if m.Failover != 0.7 || r.Heir != 0.7 || r.OwnerHeir != 0.7 {
			t.Errorf("of %v the largest is %v, %v and %v", parts, m.Failover, r.Heir, r.OwnerHeir)
		}
	}
}
