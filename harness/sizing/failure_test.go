package sizing

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// slowLost plays a failure by giving every point's arc to the next live point,
// over and over.
func slowLost(owner []int32, arc []float64, victim int, capacity []float64) int {
	dead := map[int32]bool{int32(victim): true}
	for len(dead) < len(capacity) {
		load := make([]float64, len(capacity))
		for k := range owner {
			to := k
			for dead[owner[to]] {
				to = (to + 1) % len(owner)
			}
			load[owner[to]] += arc[k]
		}
		before := len(dead)
		for i, l := range load {
			if overloaded(l, capacity[i]) {
				dead[int32(i)] = true
			}
		}
		if len(dead) == before {
			break
		}
	}
	return len(dead)
}

func TestLostIsWhatPlayingItOutGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		owner := rapid.SliceOfN(rapid.Int32Range(0, int32(nodes-1)), 1, 40).Draw(t, "owner")
		for i := range nodes {
			owner = append(owner, int32(i)) // every node has a point
		}
		arc := make([]float64, len(owner))
		for k := range arc {
			// Halves of halves add up without rounding, in whatever order.
			arc[k] = float64(rapid.IntRange(1, 64).Draw(t, "arc")) / 4096
		}
		capacity := make([]float64, nodes)
		c := newCircle(owner, arc, nodes)
		for i := range capacity {
			capacity[i] = c.load[i] * (1 + float64(rapid.IntRange(0, 60).Draw(t, "headroom"))/32)
		}
		for range 3 { // the circle is as before after each
			for victim := range nodes {
				if got, want := c.lost(victim, capacity), slowLost(owner, arc, victim, capacity); got != want {
					t.Fatalf("owners %v, arcs %v, capacity %v, node %d dies: %d lost, want %d", owner, arc, capacity, victim, got, want)
				}
			}
		}
	})
}

// Twelve nodes with 25% headroom: the figures of the model, and those of real
// rings on which every step is played out.
func TestOneDeathOfTwelve(t *testing.T) {
	takesManyRings(t)
	q := ask(12, Peak, 1.15)
	s := mustSolver(t, q)
	capacity := slices.Repeat([]float64{1.25 / 12}, 12)
	for v, published := range map[int]float64{64: 0.25, 160: 0.70, 305: 0.95} {
		counts := s.counts(v)
		p, err := s.modelled(counts, 4000)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.failure(v, counts, p)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Survives-published) > 0.03 {
			t.Errorf("%d vnodes: %.3f survive, want about %v", v, f.Survives, published)
		}
		if lost := 1 - f.Survives; f.All < 0.93*lost {
			t.Errorf("%d vnodes: %.3f do not survive and only %.3f lose every node", v, lost, f.All)
		}
		healthy, survived := 0, 0
		for i := 0; healthy < 400; i++ {
			place, err := harness.NewPlacement(q.Info, s.renamed(10_000+i), s.with(v))
			if err != nil {
				t.Fatal(err)
			}
			cells, _ := place.Cells()
			c := circleOf(cells, 12)
			if anyOverloaded(c.load, capacity) {
				continue
			}
			healthy++
			if slowLost(c.owner, c.arc, i%12, capacity) == 1 {
				survived++
			}
		}
		independent := float64(survived) / float64(healthy)
		error := 3.5 * math.Sqrt(f.Survives*(1-f.Survives)*(1/float64(healthy)+1/float64(f.Failures)))
		if math.Abs(f.Survives-independent) > error {
			t.Errorf("%d vnodes: %.3f survive, on real rings %.3f, which is more than %.3f apart", v, f.Survives, independent, error)
		}
	}
}

func TestHeadroomThatNoClusterHasTellsNothing(t *testing.T) {
	q := ask(50, Peak, 1.5)
	q.Headroom = 0.01
	s := mustSolver(t, q)
	p, err := s.modelled(s.counts(4), 2000)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.failure(4, s.counts(4), p); err != nil || f.Failures != 0 || f.Healthy != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// The parts of the pairs of 100 nodes whose loss takes two of three replicas.
func TestQuorumExposureOfAHundredNodes(t *testing.T) {
	takesManyRings(t)
	q := ask(100, Peak, 1.2)
	q.Replicas = 3
	s := mustSolver(t, q)
	for v, want := range map[int]float64{1: 0.0404, 16: 0.48, 256: 1} {
		if got := *s.exposure(s.counts(v)); math.Abs(got-want) > 0.01 {
			t.Errorf("%d vnodes: %.4f of the pairs, want %v", v, got, want)
		}
	}
}

// Exposure agrees with what the ring itself names as replicas.
func TestExposedSetsAreThoseOfTheReplicas(t *testing.T) {
	for _, replicas := range []int{2, 3, 5} {
		quorum := replicas/2 + 1
		const nodes = 9
		r := workloads.Rand(3, fmt.Sprint(replicas))
		m, err := ring.New(algorithms.Nodes(Names(nodes, r)...), ring.Config{VNodes: 4, Label: "{name}#{index}", PointHash: "xxh3"})
		if err != nil {
			t.Fatal(err)
		}
		var owner []int32
		want := map[string]bool{}
		for position, b := range m.Points() {
			owner = append(owner, int32(b))
			holders := make([]algorithms.Bucket, replicas)
			m.LookupN(position, holders)
			slices.Sort(holders)
			for subset := range 1 << replicas {
				var set []algorithms.Bucket
				for i := range replicas {
					if subset>>i&1 == 1 {
						set = append(set, holders[i])
					}
				}
				if len(set) == quorum {
					want[fmt.Sprint(set)] = true
				}
			}
		}
		if got := exposedSets(owner, nodes, replicas).Len(); got != len(want) {
			t.Errorf("%d replicas: %d sets, the ring has %d", replicas, got, len(want))
		}
	}
}

// Ranges, keys and peers of a change, against what real rings do.
func TestChangeIsWhatRingsDo(t *testing.T) {
	takesManyRings(t)
	q := ask(20, Peak, 1.2)
	for i := range 5 {
		q.Nodes[i].Weight = 3
	}
	s := mustSolver(t, q)
	const v, rings = 40, 300
	want := s.change(s.counts(v))
	var moved, ranges, peers, left, leftRanges float64
	within := 0
	for i := range rings {
		place, err := harness.NewPlacement(q.Info, s.renamed(i), s.with(v))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := place.Cells()
		new := place.Announce(algorithms.Node{Name: fmt.Sprintf("newcomer-%d", i), Weight: 1})
		if err := place.Apply(workloads.Change{Op: workloads.AddNode, Node: new}); err != nil {
			t.Fatal(err)
		}
		after, _ := place.Cells()
		flows := harness.Flows(before, after)
		share := 0.0
		for _, f := range flows {
			share += f.Share
		}
		if share >= want.MovedP5 && share <= want.MovedP95 {
			within++
		}
		moved += share / rings
		ranges += float64(harness.Ranges(flows)) / rings
		peers += float64(len(flows)) / rings

		if err := place.Apply(workloads.Change{Op: workloads.RemoveNode, Node: new}); err != nil {
			t.Fatal(err)
		}
		if err := place.Apply(workloads.Change{Op: workloads.RemoveNode, Node: 19}); err != nil {
			t.Fatal(err)
		}
		gone, _ := place.Cells()
		flows = harness.Flows(before, gone)
		for _, f := range flows {
			left += f.Share / rings
		}
		leftRanges += float64(harness.Ranges(flows)) / rings
	}
	for _, c := range []struct {
		name             string
		got, want, error float64
	}{
		{"moved", moved, want.Moved, 0.04}, {"ranges", ranges, want.Ranges, 0.008}, {"peers", peers, want.Peers, 0.02},
		{"moved by leaving", left, want.LeftMoved, 0.04}, {"ranges of leaving", leftRanges, want.LeftRanges, 0.008},
	} {
		if math.Abs(c.got/c.want-1) > c.error {
			t.Errorf("%s: rings %.4f, expected %.4f", c.name, c.got, c.want)
		}
	}
	if part := float64(within) / rings; math.Abs(part-0.9) > 0.06 {
		t.Errorf("%.3f of the rings moved between the 5%% and the 95%%", part)
	}
}
