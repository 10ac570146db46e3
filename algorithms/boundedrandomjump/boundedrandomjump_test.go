package boundedrandomjump_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedrandomjump"
)

func build(t testing.TB, nodes []algorithms.Node, change func(*boundedrandomjump.Config)) *boundedrandomjump.Map {
	t.Helper()
	c := boundedrandomjump.Default
	change(&c)
	m, err := boundedrandomjump.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func asIs(*boundedrandomjump.Config) {}

func named(prefix string, n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return algorithms.Nodes(names...)
}

// TestPublishedOverflow is the table for jumps over nodes that are chosen
// uniformly, of arXiv 1908.08762: 1,000 nodes, 10,000 requests, the capacity
// fixed at its final value. 200 runs gave full nodes of 62.7, 24.8, 8.86, 0.32 and
// 0% and extra steps of 0.1733, 0.0411, 0.0110, 0.00021 and 0; the last but one is
// also what the Poisson distribution says.
func TestPublishedOverflow(t *testing.T) {
	const n, requests = 1000, 10_000
	runs := 100
	if testing.Short() {
		runs = 20 // enough to notice a change
	}
	for _, c := range []struct {
		epsilon     float64
		capacity    int
		full, steps float64
	}{
		{0.1, 11, 0.629, 0.176},
		{0.3, 13, 0.250, 0.042},
		{0.5, 15, 0.088, 0.011},
		{1, 20, 0.003, 0.0003},
		{2, 30, 0, 0},
	} {
		full, steps := 0, 0
		r := rand.New(rand.NewPCG(12, 0))
		for range runs {
			m := build(t, named("node", n), func(config *boundedrandomjump.Config) {
				config.VNodes, config.Epsilon, config.Expected = 1, c.epsilon, requests
			})
			for range requests {
				_, extra := m.AssignSteps(r.Uint64())
				steps += extra
			}
			for b := range algorithms.Bucket(n) {
				load, capacity := m.Load(b)
				if capacity != c.capacity {
					t.Fatalf("epsilon %v: capacity %d, want %d", c.epsilon, capacity, c.capacity)
				}
				if load == capacity {
					full++
				}
			}
		}
		gotFull, gotSteps := float64(full)/float64(n*runs), float64(steps)/float64(requests*runs)
		t.Logf("epsilon %v: %.2f%% full, %.5f extra steps", c.epsilon, 100*gotFull, gotSteps)
		// 10%, or one of the last digit that is published.
		if math.Abs(gotFull-c.full) > max(0.1*c.full, 0.001) || math.Abs(gotSteps-c.steps) > max(0.1*c.steps, 0.0001) {
			t.Errorf("epsilon %v: %.2f%% full, %.5f extra steps; published %.1f%%, %.4f",
				c.epsilon, 100*gotFull, gotSteps, 100*c.full, c.steps)
		}
	}
}

// TestAssignTakesTheFirstNodeWithRoom holds Assign to the definition: the nodes
// in the order of LookupN, the first of them with room.
func TestAssignTakesTheFirstNodeWithRoom(t *testing.T) {
	nodes := named("node", 40)
	for i := range nodes {
		nodes[i].Weight = []float64{1, 2, 0, 0.5}[i%4]
	}
	m := build(t, nodes, func(c *boundedrandomjump.Config) { c.Epsilon = 0.05 })
	r := rand.New(rand.NewPCG(3, 0))
	spilled := 0
	for range 5000 {
		h := r.Uint64() >> r.IntN(60)
		order := make([]algorithms.Bucket, len(nodes))
		order = order[:m.LookupN(h, order)]
		if len(order) != 30 {
			t.Fatalf("%d nodes in the order of a key, 30 have a weight", len(order))
		}
		want := slices.IndexFunc(order, func(b algorithms.Bucket) bool {
			load, capacity := m.Load(b)
			return load < capacity
		})
		b, steps := m.AssignSteps(h)
		if want < 0 || b != order[want] || steps != want {
			t.Fatalf("AssignSteps(%#x) = %d, %d, want step %d of %d", h, b, steps, want, order)
		}
		spilled += min(1, steps)
	}
	if spilled == 0 {
		t.Error("no request spilled: the walk was not put to the test")
	}
}

// TestAFullNodeSpillsOverAllOthersAlike is what the jumps are for: on a ring the
// neighbour would take everything.
func TestAFullNodeSpillsOverAllOthersAlike(t *testing.T) {
	const n = 20
	m := build(t, named("node", n), asIs)
	heirs := map[algorithms.Bucket]float64{}
	total := 0.0
	var dst [2]algorithms.Bucket
	r := rand.New(rand.NewPCG(4, 0))
	for range 400_000 {
		if m.LookupN(r.Uint64(), dst[:]); dst[0] == 7 {
			heirs[dst[1]]++
			total++
		}
	}
	chi2 := 0.0
	for b := range algorithms.Bucket(n) {
		if b != 7 {
			want := total / (n - 1)
			chi2 += (heirs[b] - want) * (heirs[b] - want) / want
		}
	}
	if chi2 > 60 { // 18 degrees of freedom: one in 500,000
		t.Errorf("chi-square %.1f of the heirs %v", chi2, heirs)
	}
}

// TestKeysMoveOnlyWithTheirNode drives the membership at random and holds every
// key to the rule that the package states.
func TestKeysMoveOnlyWithTheirNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := boundedrandomjump.Default
		c.VNodes, c.Capacity = 2, 16
		m, err := boundedrandomjump.New(algorithms.Nodes("a", "b", "c"), c)
		if err != nil {
			t.Fatal(err)
		}
		weights := map[algorithms.Bucket]float64{0: 1, 1: 1, 2: 1}
		slotsOf := func(w float64) int {
			if w == 0 {
				return 0
			}
			return int(max(1, math.Round(2*w)))
		}
		taken := func() (sum int) {
			for _, w := range weights {
				sum += slotsOf(w)
			}
			return sum
		}
		owners := func() []algorithms.Bucket {
			bs := make([]algorithms.Bucket, 300)
			for i := range bs {
				bs[i] = m.Lookup(uint64(i) * 0x9e3779b97f4a7c15)
			}
			return bs
		}
		moved := func(before []algorithms.Bucket, allowed func(from, to algorithms.Bucket) bool) {
			for i, b := range owners() {
				if b != before[i] && !allowed(before[i], b) {
					t.Fatalf("hash %d went from %d to %d", i, before[i], b)
				}
				if w := weights[b]; b != algorithms.None && w == 0 || b == algorithms.None && taken() > 0 {
					t.Fatalf("hash %d is on %d", i, b)
				}
			}
		}
		weight := rapid.SampledFrom([]float64{0, 0.2, 1, 1, 2.6})
		bucket := func(t *rapid.T) algorithms.Bucket {
			b := algorithms.Bucket(rapid.IntRange(0, 8).Draw(t, "bucket"))
			if _, bound := weights[b]; !bound {
				t.Skip("not bound")
			}
			return b
		}
		added := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				w, before := weight.Draw(t, "weight"), owners()
				added++
				b, err := m.Add(algorithms.Node{Name: fmt.Sprint("added-", added), Weight: w})
				if fits := taken()+slotsOf(w) <= 32; fits != (err == nil) || !fits && !errors.Is(err, errors.ErrUnsupported) {
					t.Fatalf("%d slots taken, and adding weight %v: %v", taken(), w, err)
				}
				if err == nil {
					weights[b] = w
				}
				moved(before, func(_, to algorithms.Bucket) bool { return err == nil && to == b })
			},
			"remove": func(t *rapid.T) {
				b, before := bucket(t), owners()
				if err := m.Remove(b); err != nil {
					t.Fatal(err)
				}
				delete(weights, b)
				moved(before, func(from, _ algorithms.Bucket) bool { return from == b })
			},
			"reweight": func(t *rapid.T) {
				b, w, before := bucket(t), weight.Draw(t, "weight"), owners()
				err := m.SetWeight(b, w)
				old := weights[b]
				if fits := taken()-slotsOf(old)+slotsOf(w) <= 32; fits != (err == nil) {
					t.Fatalf("%d slots taken, and weight %v in place of %v: %v", taken(), w, old, err)
				}
				if err == nil {
					weights[b] = w
				}
				moved(before, func(from, to algorithms.Bucket) bool {
					return err == nil && (w > old && to == b || w < old && from == b)
				})
			},
		})
	})
}

func TestTheTableIsAsLargeAsTheCapacitySays(t *testing.T) {
	for _, c := range []struct {
		nodes, capacity int
		slots           int64
	}{
		{1, 0, 64}, {12, 0, 64}, {13, 0, 128}, {100, 0, 512}, {1000, 0, 8192}, {3, 1000, 4000}, {1000, 1000, 4000},
	} {
		nodes := named("node", c.nodes)
		m := build(t, nodes, func(config *boundedrandomjump.Config) { config.Capacity = c.capacity })
		want := 4*c.slots + 20*int64(c.nodes)
		if got := m.Footprint(); got != want {
			t.Errorf("%d nodes, capacity %d: %d bytes, want %d", c.nodes, c.capacity, got, want)
		}
		config := boundedrandomjump.Default
		config.Capacity = c.capacity
		if got := config.Forecast(nodes); got != want {
			t.Errorf("%d nodes, capacity %d: forecast %d bytes, want %d", c.nodes, c.capacity, got, want)
		}
		r := rand.New(rand.NewPCG(5, 0))
		total := 0
		for range 2000 {
			_, probes := m.LookupProbes(r.Uint64())
			total += probes
		}
		mean, want2 := float64(total)/2000, float64(c.slots)/float64(4*c.nodes)
		if math.Abs(mean/want2-1) > 0.1 {
			t.Errorf("%d nodes, capacity %d: %.2f probes, want %.2f", c.nodes, c.capacity, mean, want2)
		}
	}
	full := build(t, named("node", 5), func(c *boundedrandomjump.Config) { c.Capacity = 5 })
	if _, err := full.Add(algorithms.Node{Name: "one more", Weight: 1}); err == nil ||
		!strings.Contains(err.Error(), "0 of 20 are free") {
		t.Errorf("a full table takes a node: %v", err)
	}
	if full.Len() != 5 || full.Remove(2) != nil {
		t.Error("a refused node left a trace")
	}
	if b, err := full.Add(algorithms.Node{Name: "one more", Weight: 1}); b != 2 || err != nil {
		t.Errorf("the place of a removed node: bucket %d, %v", b, err)
	}
}

func TestMoreRequestsThanExpectedAreRefusedOnceAllIsFull(t *testing.T) {
	m := build(t, named("node", 3), func(c *boundedrandomjump.Config) { c.Expected = 6 })
	for i := range 9 { // ceil(1.25 * 6 / 3) = 3 on each
		if b, _ := m.Assign(uint64(i) << 60); b == algorithms.None {
			t.Fatalf("request %d found no node", i)
		}
	}
	if b, steps := m.AssignSteps(1); b != algorithms.None || steps != 3 {
		t.Errorf("AssignSteps = %d, %d, want none after 3 full nodes", b, steps)
	}
	m.Release(1)
	if b, _ := m.Assign(1); b != 1 {
		t.Errorf("the request went to %d, where only 1 has room", b)
	}
}

func TestAssignDoesNotAllocate(t *testing.T) {
	m := build(t, named("node", 50), asIs)
	for range 100 {
		m.Assign(42)
	}
	spilled := 0
	if allocs := testing.AllocsPerRun(100, func() {
		b, steps := m.AssignSteps(42)
		spilled += steps
		m.Release(b)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if spilled == 0 {
		t.Error("no request spilled: the walk was not measured")
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"epsilon":0}`:             "bounded-random-jump: epsilon 0, it must be",
		`{"expected":-1}`:           "expected -1",
		`{"vnodes":0}`:              "vnodes 0",
		`{"capacity":-1}`:           "capacity -1",
		`{"capacity":2}`:            `capacity 2 is too small for node "c"`,
		`{"capacity":1000000000}`:   "lower vnodes, capacity or the weights",
		`{"vnodes":1000000000}`:     "lower vnodes, capacity or the weights",
		`{"label":"{name}{index}"}`: `unknown parameter "label"`,
	} {
		_, _, err := boundedrandomjump.Info.New(algorithms.Nodes("a", "b", "c"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", params, err, want)
		}
	}
	if got := string(boundedrandomjump.Info.Defaults); got != `{"vnodes":4,"capacity":0,"epsilon":0.25,"expected":0}` {
		t.Errorf("defaults %s", got)
	}
}
