package sizing

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// full checks the recommendations over all placements at every size. It takes
// minutes.
var full = flag.Bool("full", false, "check every recommendation over 2,000 placements")

// takesManyRings passes a test over in short mode, in which the race detector
// runs: what it draws has no more to tell there.
func takesManyRings(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes many rings")
	}
}

// ask is a question about n nodes alike.
func ask(n int, metric Metric, value float64) Question {
	hash, _ := keyhash.ByName(keyhash.Default)
	q := Question{
		Info: ring.Info, Hash: hash, Target: Target{metric, value},
		Confidence: 0.95, Headroom: 0.25, Replicas: 1, Seed: 1,
	}
	for i := range n {
		q.Nodes = append(q.Nodes, algorithms.Node{Name: fmt.Sprintf("n%d", i), Weight: 1})
	}
	return q
}

func mustSolver(t testing.TB, q Question) *solver {
	t.Helper()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := newSolver(&q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSolve(t testing.TB, q Question) *Answer {
	t.Helper()
	a, err := Solve(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The recommended count meets the target in 95% of placements with the real
// hash, and four fifths of it do not.
func TestTheRecommendedCountAndNoLessMeetsTheTarget(t *testing.T) {
	takesManyRings(t)
	const budget = 3_000_000 // points that a size may take in the ordinary test
	for _, n := range []int{3, 10, 50, 100, 1000} {
		for _, target := range []float64{1.1, 1.15, 1.25} {
			q := ask(n, Peak, target)
			q.Seed = 77 // other names than those that Solve looks at
			s := mustSolver(t, q)
			v, _, err := s.byModel()
			if err != nil {
				t.Fatal(err)
			}
			placements := min(2000, budget/(n*v))
			if *full {
				placements = 2000
			}
			if placements < 50 {
				continue
			}
			p, err := s.measured(v, placements)
			if err != nil {
				t.Fatal(err)
			}
			met := p.within(Peak, target-1)
			if p, err = s.measured(v*4/5, placements); err != nil {
				t.Fatal(err)
			}
			less := p.within(Peak, target-1)
			t.Logf("%d nodes, target %.2f: %d vnodes met in %.2f%% of %d placements, %d in %.2f%%", n, target, v, 100*met, placements, v*4/5, 100*less)
			band := 0.015
			if placements < 2000 {
				band = 3.3 * math.Sqrt(0.95*0.05/float64(placements))
			}
			if math.Abs(met-0.95) > band {
				t.Errorf("%d nodes, target %v: %d vnodes met it in %v of %d placements, want 0.95 within %.3f", n, target, v, met, placements, band)
			}
			if placements == 2000 && less > 0.95-band || less >= met {
				t.Errorf("%d nodes, target %v: four fifths of the count met it in %v of the placements", n, target, less)
			}
		}
	}
}

// The busiest node at 95%, from many independent draws of the model.
func TestModelGivesThePublishedQuantiles(t *testing.T) {
	takesManyRings(t)
	vs := []int{1, 10, 40, 100, 160, 500, 1000}
	for n, want := range map[int][]float64{
		3:  {2.61, 1.57, 1.29, 1.18, 1.14, 1.08, 1.06},
		10: {4.44, 1.91, 1.42, 1.26, 1.20, 1.11, 1.08},
		50: {6.49, 2.23, 1.55, 1.33, 1.26, 1.14, 1.10},
	} {
		s := mustSolver(t, ask(n, Peak, 1.1))
		for i, v := range vs {
			p, err := s.modelled(s.counts(v), 4000)
			if err != nil {
				t.Fatal(err)
			}
			got := 1 + p.quantile(Peak, 0.95)
			if math.Abs(got-want[i]) > 0.006+0.04*(want[i]-1) {
				t.Errorf("%d nodes, %d vnodes: 95%% of the busiest nodes are within %.3f, want %.2f", n, v, got, want[i])
			}
		}
	}
}

// The product of the nodes' own chances stands for the chance of all, also
// where weights differ.
func TestChanceIsThatOfTheModel(t *testing.T) {
	takesManyRings(t)
	for _, weights := range [][]float64{{1, 1, 1}, {1, 2, 4, 1, 1}, {0.3, 0.3, 1, 1, 1, 5}} {
		for _, v := range []int{60, 400} {
			q := ask(len(weights), Peak, 1.2)
			for i, w := range weights {
				q.Nodes[i].Weight = w
			}
			s := mustSolver(t, q)
			// The target at which the model says 0.95.
			p, err := s.modelled(s.counts(v), 20000)
			if err != nil {
				t.Fatal(err)
			}
			s.q.Target.Value = 1 + p.quantile(Peak, 0.95)
			if got := s.chance(v); math.Abs(got-0.95) > 0.008 {
				t.Errorf("weights %v, %d vnodes, target %.3f: chance %.4f, 95%% of the draws were within it", weights, v, s.q.Target.Value, got)
			}
		}
	}
}

// With points rounded the chance goes up and down; from the answer on it must
// stay above the confidence.
func TestEveryCountFromTheAnswerOnMeetsTheTarget(t *testing.T) {
	q := ask(6, Peak, 1.3)
	for i, w := range []float64{0.07, 0.31, 1.7, 1.7, 0.31, 0.07} {
		q.Nodes[i].Weight = w
	}
	s := mustSolver(t, q)
	v, _, err := s.byModel()
	if err != nil {
		t.Fatal(err)
	}
	if s.chance(v-1) >= 0.95 {
		t.Errorf("%d meets the target, %d is recommended", v-1, v)
	}
	for more := v; more < v+400; more++ {
		if s.chance(more) < 0.95 {
			t.Fatalf("%d is recommended, %d does not meet the target", v, more)
		}
	}
}

// Median and spread have no formula: the simulated answer must meet them too.
func TestOtherTargetsAreMetAsOften(t *testing.T) {
	takesManyRings(t)
	for _, c := range []struct {
		metric     Metric
		value      float64
		confidence float64
	}{{Peak, 1.2, 0.5}, {CV, 0.1, 0.95}, {CV, 0.08, 0.5}} {
		q := ask(10, c.metric, c.value)
		q.Confidence, q.Seed = c.confidence, 5
		s := mustSolver(t, q)
		v, _, err := s.byModel()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.measured(v, 2000)
		if err != nil {
			t.Fatal(err)
		}
		if met := p.within(c.metric, q.Target.limit()); math.Abs(met-c.confidence) > 0.04 {
			t.Errorf("%s %v in %v of clusters: %d vnodes met it in %v", c.metric, c.value, c.confidence, v, met)
		}
	}
}

func TestSameQuestionSameAnswerOnAnyNumberOfCores(t *testing.T) {
	q := ask(5, Peak, 1.4)
	q.Yours, q.Replicas = true, 3
	q.Keys = EvenKeys(3000)
	answer := func(cores int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		b, err := json.MarshalIndent(mustSolve(t, q), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if diff := cmp.Diff(answer(1), answer(2)); diff != "" {
		t.Errorf("the answer on two cores differs from that on one:\n%s", diff)
	}
}

// An algorithm that is no circle of random points is asked itself.
func TestWithoutAModelTheAlgorithmIsAsked(t *testing.T) {
	takesManyRings(t)
	q := ask(8, Peak, 1.3)
	q.Params = json.RawMessage(`{"modulus":1099511627776}`)
	tried := map[int]bool{}
	q.Trying = func(v, placements int) { tried[v] = placements > 0 }
	a := mustSolve(t, q)
	if !tried[a.VNodes] || len(tried) < 3 {
		t.Errorf("told of %v, want what a search tries to find %d", tried, a.VNodes)
	}
	plain, _, err := mustSolver(t, ask(8, Peak, 1.3)).byModel()
	if err != nil {
		t.Fatal(err)
	}
	if a.Model != nil || a.Measured == nil {
		t.Fatalf("model %v, measured %v: want the latter only", a.Model, a.Measured)
	}
	if ratio := float64(a.VNodes) / float64(plain); ratio < 0.7 || ratio > 1.4 {
		t.Errorf("%d vnodes on a circle of 2^40 positions, %d on one of 2^64", a.VNodes, plain)
	}
}

func TestAWeakHashIsFoundOut(t *testing.T) {
	takesManyRings(t)
	for hash, target := range map[string]float64{"fnv1a-64": 1.25, "crc32": 1.15} {
		q := ask(8, Peak, target)
		q.Params = json.RawMessage(fmt.Sprintf(`{"point_hash":%q}`, hash))
		a := mustSolve(t, q)
		if !a.Measured.Parts {
			t.Errorf("%s: met %v of %d placements where the model has %v, and it was not noticed", hash, a.Measured.Met, a.Measured.Placements, a.Model.Met)
		}
		if a.VNodes != 0 && a.VNodes < 2*a.Model.VNodes {
			t.Errorf("%s: %d vnodes recommended, a good hash needs %d", hash, a.VNodes, a.Model.VNodes)
		}
		if a.VNodes == 0 && a.Why == "" {
			t.Errorf("%s: no count, and no reason", hash)
		}
		if a.Change != nil {
			t.Errorf("%s: the model's ranges are told of a hash that it does not hold for", hash)
		}
	}
}

func TestMemoryBoundsTheAnswer(t *testing.T) {
	takesManyRings(t)
	q := ask(12, Peak, 1.001)
	q.MaxMemory = 100 << 20
	_, err := Solve(q)
	if err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("a target that needs gigabytes: %v", err)
	}
	q.Target.Value = 1.15
	q.MaxMemory = 300 << 10
	most := mustSolver(t, q).most
	for v, fits := range map[int]bool{most: true, most + 1: false} {
		c := ring.Default
		c.VNodes = v
		if bytes := c.Forecast(q.Nodes); (bytes <= q.MaxMemory) != fits {
			t.Errorf("%d vnodes take %d bytes of %d, and %d are the most", v, bytes, q.MaxMemory, most)
		}
	}
	for _, r := range mustSolve(t, q).Rows {
		if r.VNodes > 600 {
			t.Errorf("a row of %d vnodes does not fit into 300 KiB", r.VNodes)
		}
	}
}

func TestASingleNodeOwnsEverything(t *testing.T) {
	q := ask(1, Peak, 1.1)
	if a := mustSolve(t, q); !a.Trivial || a.VNodes != 1 {
		t.Errorf("one node: %+v", a)
	}
	q = ask(3, Peak, 1.1)
	q.Nodes[0].Weight, q.Nodes[2].Weight = 0, 0
	if a := mustSolve(t, q); !a.Trivial {
		t.Errorf("one node of a weight above 0: %+v", a)
	}
}

func TestQuestionsWithoutAnAnswerAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Question)
		want   string
	}{
		"no knob":         {func(q *Question) { q.Info = jump.Info }, "jump has no parameter"},
		"peak of 1":       {func(q *Question) { q.Target.Value = 1 }, "target peak of 1"},
		"peak NaN":        {func(q *Question) { q.Target.Value = math.NaN() }, "target peak of NaN"},
		"cv of 0":         {func(q *Question) { q.Target = Target{CV, 0} }, "target cv of 0"},
		"infinite":        {func(q *Question) { q.Target.Value = math.Inf(1) }, "infinite"},
		"confidence 1":    {func(q *Question) { q.Confidence = 1 }, "confidence of 1"},
		"headroom":        {func(q *Question) { q.Headroom = -0.1 }, "headroom of -0.1"},
		"no replicas":     {func(q *Question) { q.Replicas = 0 }, "0 replicas"},
		"many replicas":   {func(q *Question) { q.Replicas = 6 }, "6 replicas over 5 nodes"},
		"no nodes":        {func(q *Question) { q.Nodes = nil }, "no nodes"},
		"bad parameter":   {func(q *Question) { q.Params = json.RawMessage(`{"vnode":3}`) }, `did you mean "vnodes"?`},
		"no memory":       {func(q *Question) { q.MaxMemory = 10 }, "does not fit"},
		"vnodes of 0":     {func(q *Question) { q.Params = json.RawMessage(`{"vnodes":0}`) }, "vnodes 0"},
		"label of a name": {func(q *Question) { q.Params = json.RawMessage(`{"label":"{name}"}`) }, "{index}"},
	} {
		q := ask(5, Peak, 1.2)
		c.change(&q)
		if _, err := Solve(q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.want)
		}
	}
}

func TestNamesOfAClusterAreDistinct(t *testing.T) {
	takesManyRings(t)
	s := mustSolver(t, ask(1000, Peak, 1.2))
	starts := map[string]bool{}
	for i := range 60 {
		names := Names(1000, s.rand("names", i))
		seen := map[string]bool{}
		for _, n := range names {
			if n == "" || seen[n] {
				t.Fatalf("the name %q is empty or there twice", n)
			}
			seen[n] = true
		}
		starts[names[0]] = true
	}
	if len(starts) < 58 {
		t.Errorf("60 clusters have %d different first names", len(starts))
	}
}
