package boundedring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/ring"
)

func build(t testing.TB, nodes []algorithms.Node, change func(*boundedring.Config)) *boundedring.Map {
	t.Helper()
	c := boundedring.Default
	change(&c)
	m, err := boundedring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func named(prefix string, n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return algorithms.Nodes(names...)
}

func TestWorkedExamples(t *testing.T) {
	var examples []struct {
		Source  string
		Space   uint64
		Points  [][2]any
		Hashes  []uint64
		Epsilon float64
		Cap     int
		Owners  []string
		Loads   map[string]int
	}
	text, err := os.ReadFile("testdata/worked_examples.json")
	if err == nil {
		err = json.Unmarshal(text, &examples)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		nodes := algorithms.Nodes("A", "B", "C")
		m := build(t, nodes, func(c *boundedring.Config) {
			c.Modulus, c.Epsilon, c.Expected = e.Space, e.Epsilon, len(e.Hashes)
			for _, p := range e.Points {
				c.Points = append(c.Points, ring.Listed{Position: uint64(p[0].(float64)), Node: p[1].(string)})
			}
		})
		var owners []string
		for _, h := range e.Hashes {
			want := m.Lookup(h)
			b, first := m.Assign(h)
			owners = append(owners, nodes[b].Name)
			if first != (b == want) {
				t.Errorf("Assign(%d) = %d, %v; the first choice is %d", h, b, first, want)
			}
		}
		if diff := cmp.Diff(e.Owners, owners); diff != "" {
			t.Errorf("epsilon %v, owners (-want +got):\n%s", e.Epsilon, diff)
		}
		for i, n := range nodes {
			if load, capacity := m.Load(algorithms.Bucket(i)); load != e.Loads[n.Name] || capacity != e.Cap {
				t.Errorf("epsilon %v: %s holds %d of %d, want %d of %d", e.Epsilon, n.Name, load, capacity, e.Loads[n.Name], e.Cap)
			}
		}
	}
}

func TestTheCeilingIsThatOfTheDecimals(t *testing.T) {
	for _, c := range []struct {
		epsilon  float64
		requests int
		weights  []float64
		want     []int
	}{
		{0.25, 8, []float64{1, 1}, []int{5, 5}},
		{0.1, 10, []float64{1}, []int{11}}, // 12 in binary fractions
		{0.1, 100, []float64{1, 1}, []int{55, 55}},
		{0.2, 3, []float64{0.1, 0.2}, []int{2, 3}},
		{0.25, 1, []float64{1, 1, 1}, []int{1, 1, 1}},
		{0.25, 100, []float64{1, 2, 4, 0}, []int{18, 36, 72, 0}},
		{0.25, 8, []float64{3, 3, 0.5}, []int{5, 5, 1}},
		{1e-9, 1000, []float64{1, 1}, []int{501, 501}},
		{1e18, 1e9, []float64{1}, []int{math.MaxInt}},
		{0.5, 10, []float64{1e300, 1e-300}, []int{15, 1}},
		{0.3, 7, []float64{1.0 / 3, 2.0 / 3}, []int{4, 7}},
	} {
		var nodes []algorithms.Node
		for i, w := range c.weights {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint("n", i), Weight: w})
		}
		m := build(t, nodes, func(config *boundedring.Config) {
			config.Epsilon, config.Expected = c.epsilon, c.requests
			for _, n := range nodes {
				config.Points = append(config.Points, ring.Listed{Position: uint64(len(config.Points)), Node: n.Name})
			}
		})
		for i, want := range c.want {
			if _, got := m.Load(algorithms.Bucket(i)); got != want {
				t.Errorf("epsilon %v, m %d, weights %v: capacity %d of node %d, want %d", c.epsilon, c.requests, c.weights, got, i, want)
			}
		}
	}
}

// exactCapacity is ceil((1+epsilon) * m * w / W) in rational numbers.
func exactCapacity(epsilon string, m int, w string, all []string) *big.Int {
	rat := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		return r
	}
	sum := new(big.Rat)
	for _, x := range all {
		sum.Add(sum, rat(x))
	}
	x := rat(epsilon)
	x.Add(x, big.NewRat(1, 1))
	x.Mul(x, new(big.Rat).SetInt64(int64(m)))
	x.Mul(x, rat(w)).Quo(x, sum)
	ceiling, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		ceiling.Add(ceiling, big.NewInt(1))
	}
	return ceiling
}

func TestCapacitiesAreExactForAnyDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9]{1,3})?`)
		epsilon := rapid.StringMatching(`[0-9]\.[0-9]{0,3}[1-9]`).Draw(t, "epsilon")
		weights := rapid.SliceOfN(text, 1, 6).Draw(t, "weights")
		requests := rapid.IntRange(1, 1e9).Draw(t, "requests")
		c := boundedring.Default
		c.Expected, c.VNodes = requests, 1
		var err error
		if c.Epsilon, err = strconv.ParseFloat(epsilon, 64); err != nil {
			t.Fatal(err)
		}
		var nodes []algorithms.Node
		for i, w := range weights {
			weight, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint("n", i), Weight: weight})
			c.Points = append(c.Points, ring.Listed{Position: uint64(i), Node: nodes[i].Name})
		}
		m, err := boundedring.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range weights {
			want := exactCapacity(epsilon, requests, w, weights)
			if _, got := m.Load(algorithms.Bucket(i)); !want.IsInt64() || int64(got) != want.Int64() {
				t.Errorf("capacity %d of weight %s, want %v", got, w, want)
			}
		}
	})
}

// TestTheBoundHoldsInAMillionRandomSteps assigns and releases under weights
// 1:2:4 and recomputes the bound in integers at every assignment.
func TestTheBoundHoldsInAMillionRandomSteps(t *testing.T) {
	const n, steps = 30, 1_000_000
	nodes := named("node", n)
	weights := make([]int, n)
	total := 0
	for i := range nodes {
		weights[i] = 1 << (i % 3)
		nodes[i].Weight = float64(weights[i])
		total += weights[i]
	}
	m := build(t, nodes, func(c *boundedring.Config) { c.VNodes = 40 })
	r := rand.New(rand.NewPCG(7, 0))
	var placed []algorithms.Bucket
	loads := make([]int, n)
	grow, spilled := true, 0
	for range steps {
		if len(placed) > 3000 {
			grow = false
		} else if len(placed) < 10 {
			grow = true
		}
		if up := r.IntN(3) > 0; up != grow && len(placed) > 0 {
			i := r.IntN(len(placed))
			b := placed[i]
			m.Release(b)
			loads[b]--
			placed[i] = placed[len(placed)-1]
			placed = placed[:len(placed)-1]
			continue
		}
		b, first := m.Assign(r.Uint64() >> r.IntN(8)) // some positions are dearer than others
		if b == algorithms.None {
			t.Fatal("no node has room, and capacities grow")
		}
		placed = append(placed, b)
		loads[b]++
		if limit := (5*len(placed)*weights[b] + 4*total - 1) / (4 * total); loads[b] > limit {
			t.Fatalf("bucket %d holds %d of %d requests, its bound is %d", b, loads[b], len(placed), limit)
		}
		if !first {
			spilled++
		}
	}
	for b, want := range loads {
		if got, _ := m.Load(algorithms.Bucket(b)); got != want {
			t.Errorf("bucket %d: Load %d, want %d", b, got, want)
		}
	}
	if spilled == 0 {
		t.Error("no request spilled: the bound was not put to the test")
	}
}

// TestAssignTakesTheFirstNodeWithRoom drives a Map against the definition, with
// the ring's replicas for the order of the nodes.
func TestAssignTakesTheFirstNodeWithRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.SampledFrom([]string{"0", "0.5", "1", "1", "2"})
		epsilon := rapid.SampledFrom([]string{"0.01", "0.25", "1"}).Draw(t, "epsilon")
		c := boundedring.Default
		c.VNodes = rapid.IntRange(1, 5).Draw(t, "vnodes")
		c.Expected = rapid.SampledFrom([]int{0, 0, 10}).Draw(t, "expected")
		var err error
		if c.Epsilon, err = strconv.ParseFloat(epsilon, 64); err != nil {
			t.Fatal(err)
		}
		m, err := boundedring.New(algorithms.Nodes("first", "second", "third"), c)
		if err != nil {
			t.Fatal(err)
		}
		weights := map[algorithms.Bucket]string{0: "1", 1: "1", 2: "1"}
		loads := map[algorithms.Bucket]int{}
		total, added := 0, 0
		number := func(w string) float64 {
			x, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		bucket := func(t *rapid.T) algorithms.Bucket {
			b := algorithms.Bucket(rapid.IntRange(0, 5).Draw(t, "bucket"))
			if _, bound := weights[b]; !bound {
				t.Skip("not bound")
			}
			return b
		}
		assign := func(t *rapid.T) {
			h := rapid.Uint64().Draw(t, "h")
			order := make([]algorithms.Bucket, len(weights))
			order = order[:m.LookupN(h, order)]
			requests := total + 1
			if c.Expected > 0 {
				requests = c.Expected
			}
			want, steps := algorithms.None, len(order)
			for i, b := range order {
				limit := exactCapacity(epsilon, requests, weights[b], slices.Collect(mapsValues(weights)))
				_, capacity := m.Load(b)
				if limit.Cmp(big.NewInt(int64(capacity))) != 0 {
					t.Fatalf("capacity %d of bucket %d, want %v", capacity, b, limit)
				}
				if loads[b] < capacity {
					want, steps = b, i
					break
				}
			}
			got, gotSteps := m.AssignSteps(h)
			if got != want || gotSteps != steps {
				t.Fatalf("AssignSteps(%#x) = %d, %d, want %d, %d", h, got, gotSteps, want, steps)
			}
			if got != algorithms.None {
				loads[got]++
				total++
			} else if c.Expected == 0 && len(order) > 0 {
				t.Fatal("no node has room, though the capacity of all is above the load")
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"assign": assign, "assign more": assign, "assign still more": assign,
			"release": func(t *rapid.T) {
				if b := bucket(t); loads[b] > 0 {
					m.Release(b)
					loads[b]--
					total--
				}
			},
			"add": func(t *rapid.T) {
				if len(weights) > 5 {
					t.Skip("enough nodes")
				}
				w := weight.Draw(t, "weight")
				added++
				b, err := m.Add(algorithms.Node{Name: fmt.Sprint("added-", added), Weight: number(w)})
				if err != nil || loads[b] != 0 {
					t.Fatalf("Add: bucket %d with load %d, %v", b, loads[b], err)
				}
				weights[b] = w
			},
			"remove": func(t *rapid.T) {
				b := bucket(t)
				if err := m.Remove(b); err != nil {
					t.Fatal(err)
				}
				total -= loads[b]
				delete(loads, b)
				delete(weights, b)
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket(t), weight.Draw(t, "weight")
				if err := m.SetWeight(b, number(w)); err != nil {
					t.Fatal(err)
				}
				weights[b] = w
			},
			"": func(t *rapid.T) {
				for b := range algorithms.Bucket(8) {
					if got, _ := m.Load(b); got != loads[b] {
						t.Fatalf("bucket %d holds %d, want %d", b, got, loads[b])
					}
				}
			},
		})
	})
}

// mapsValues yields the weights; their order does not matter to a sum.
func mapsValues(weights map[algorithms.Bucket]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, w := range weights {
			if !yield(w) {
				return
			}
		}
	}
}

// TestPublishedOverflow is the table of arXiv 1608.01350 and 1908.08762: 1,000
// nodes of one point, 10,000 requests, the capacity fixed at its final value.
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
		{0.1, 11, 0.834, 4.5},
		{0.3, 13, 0.601, 1.46},
		{0.5, 15, 0.443, 0.77},
		{1, 20, 0.224, 0.29},
		{2, 30, 0.070, 0.07},
	} {
		full, steps := 0, 0
		r := rand.New(rand.NewPCG(11, 0))
		for run := range runs {
			m := build(t, named(fmt.Sprintf("run%d", run), n), func(config *boundedring.Config) {
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
		if math.Abs(gotFull/c.full-1) > 0.1 || math.Abs(gotSteps/c.steps-1) > 0.1 {
			t.Errorf("epsilon %v: %.1f%% full, %.3f extra steps; published %.1f%%, %.2f",
				c.epsilon, 100*gotFull, gotSteps, 100*c.full, c.steps)
		}
	}
}

// zipf draws count ranks below n with probability proportional to 1/(k+1)^s.
func zipf(n, count int, s float64, r *rand.Rand) []int {
	sums := make([]float64, n)
	total := 0.0
	for k := range sums {
		total += math.Pow(float64(k+1), -s)
		sums[k] = total
	}
	ranks := make([]int, count)
	for i := range ranks {
		ranks[i] = sort.SearchFloat64s(sums, r.Float64()*total)
	}
	return ranks
}

// TestSkewedTrafficSpills is apache/dubbo#11947: 10 nodes, 160 vnodes, 100,000
// ids under Zipf's law, 200,000 requests and none released.
func TestSkewedTrafficSpills(t *testing.T) {
	const n, ids, requests, rings = 10, 100_000, 200_000, 8
	type spans struct{ low, high float64 }
	for _, c := range []struct {
		s                   float64
		plain               spans
		spilled, tight, hot float64
	}{
		{1.01, spans{1.5, 2.4}, 0.087, 0.18, 3},
		{1.2, spans{2.3, 3.8}, 0.25, 0.36, 5},
		{1.5, spans{3.9, 6.0}, 0.47, 0.57, 5},
	} {
		r := rand.New(rand.NewPCG(33, 0))
		ranks := zipf(ids, requests, c.s, r)
		hashes := make([]uint64, ids)
		spilled := map[float64]float64{}
		plain, hot := 0.0, 0.0
		for run := range rings {
			for i := range hashes {
				hashes[i] = r.Uint64()
			}
			for _, epsilon := range []float64{0.25, 0.05} {
				m := build(t, named(fmt.Sprintf("ring%d", run), n), func(config *boundedring.Config) { config.Epsilon = epsilon })
				unbounded := make([]float64, n)
				tookHot := map[algorithms.Bucket]bool{}
				for _, k := range ranks {
					unbounded[m.Lookup(hashes[k])]++
					b, first := m.Assign(hashes[k])
					if !first {
						spilled[epsilon] += 1.0 / requests / rings
					}
					if k == 0 {
						tookHot[b] = true
					}
				}
				if epsilon == 0.25 {
					plain += slices.Max(unbounded) / (requests / n) / rings
					hot += float64(len(tookHot)) / rings
				}
				for b := range algorithms.Bucket(n) {
					if load, capacity := m.Load(b); load > capacity {
						t.Errorf("bucket %d holds %d of %d", b, load, capacity)
					}
				}
			}
		}
		t.Logf("s=%v: plain max/mean %.2f, spilled %.1f%% and %.1f%%, hottest key on %.1f nodes",
			c.s, plain, 100*spilled[0.25], 100*spilled[0.05], hot)
		if plain < c.plain.low || plain > c.plain.high {
			t.Errorf("s=%v: plain max/mean %.2f, want %v to %v", c.s, plain, c.plain.low, c.plain.high)
		}
		// The mean of 8 rings, where the public figures are means of 20.
		if math.Abs(spilled[0.25]-c.spilled) > 0.05 || math.Abs(spilled[0.05]-c.tight) > 0.05 {
			t.Errorf("s=%v: %.3f and %.3f spilled, want %.3f and %.3f", c.s, spilled[0.25], spilled[0.05], c.spilled, c.tight)
		}
		if math.Abs(hot-c.hot) > 1.5 {
			t.Errorf("s=%v: the hottest key on %.1f nodes, want about %v", c.s, hot, c.hot)
		}
	}
}

func TestMoreRequestsThanExpectedAreRefusedOnceAllIsFull(t *testing.T) {
	m := build(t, named("node", 3), func(c *boundedring.Config) { c.Expected = 6 })
	for i := range 9 { // ceil(1.25 * 6 / 3) = 3 on each
		if b, _ := m.Assign(uint64(i) << 60); b == algorithms.None {
			t.Fatalf("request %d found no node", i)
		}
	}
	if b, first := m.Assign(1); b != algorithms.None || first {
		t.Errorf("the tenth request went to %d, %v; all are full", b, first)
	}
	if b, steps := m.AssignSteps(1); b != algorithms.None || steps != 3 {
		t.Errorf("AssignSteps = %d, %d, want none after 3 full nodes", b, steps)
	}
	m.Release(1)
	if b, _ := m.Assign(1); b != 1 {
		t.Errorf("the request went to %d, where only 1 has room", b)
	}
}

func TestARemovedNodeTakesItsRequestsWithIt(t *testing.T) {
	m := build(t, named("node", 2), func(*boundedring.Config) {})
	for range 10 {
		m.Assign(5)
	}
	load, _ := m.Load(0)
	if err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	if got, capacity := m.Load(0); got != 0 || capacity != 0 {
		t.Errorf("the removed node holds %d of %d", got, capacity)
	}
	// Ceil(1.25 * requests), all of them on the node that is left.
	if _, got := m.Load(1); got != int(math.Ceil(1.25*float64(10-load+1))) {
		t.Errorf("capacity %d with %d requests gone", got, load)
	}
	if err := m.Remove(1); err != nil {
		t.Fatal(err)
	}
	if b, steps := m.AssignSteps(5); b != algorithms.None || steps != 0 {
		t.Errorf("an empty ring places a request on %d", b)
	}
	b, err := m.Add(algorithms.Node{Name: "new", Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, first := m.Assign(5); got != b || !first {
		t.Errorf("Assign = %d, %v on the only node %d", got, first, b)
	}
}

func TestAssignDoesNotAllocate(t *testing.T) {
	m := build(t, named("node", 50), func(*boundedring.Config) {})
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
		`{"epsilon":0}`:     "bounded-ring: epsilon 0, it must be",
		`{"epsilon":-0.25}`: "epsilon -0.25",
		`{"expected":-1}`:   "expected -1",
		`{"expected":1.5}`:  "expected",
		`{"vnodes":0}`:      "bounded-ring: vnodes 0",
		`{"eps":1}`:         `unknown parameter "eps"`,
	} {
		_, _, err := boundedring.Info.New(algorithms.Nodes("a"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", params, err, want)
		}
	}
	for _, epsilon := range []float64{math.NaN(), math.Inf(1)} {
		c := boundedring.Default
		c.Epsilon = epsilon
		if _, err := boundedring.New(algorithms.Nodes("a"), c); err == nil {
			t.Errorf("epsilon %v was accepted", epsilon)
		}
	}
	if got := string(boundedring.Info.Defaults); got != `{"vnodes":160,"label":"{name}#{index}","point_hash":"xxh3","epsilon":0.25,"expected":0}` {
		t.Errorf("defaults %s", got)
	}
	m := build(t, named("node", 2), func(*boundedring.Config) {})
	_, err := m.Add(algorithms.Node{Name: "node-0", Weight: 1})
	if err := errors.Join(err, m.Remove(7), m.SetWeight(7, 1)); strings.Count(fmt.Sprint(err), "\n") != 2 {
		t.Errorf("of three changes that cannot be, these were refused: %v", err)
	}
}
