package sizing

import (
	"math"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/harness"
)

// Reports from people who run rings. The values are measured ones.

// istio/istio#13261: two nodes with one point each.
func TestOneInFivePairsOfOnePointGivesOneNodeOverNineTenths(t *testing.T) {
	takesManyRings(t)
	s := mustSolver(t, ask(2, Peak, 1.8))
	for name, draw := range map[string]func() (*population, error){
		"model": func() (*population, error) { return s.modelled(s.counts(1), 20000) },
		"xxh3":  func() (*population, error) { return s.measured(1, 1000) },
	} {
		p, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		if over := 1 - p.within(Peak, 0.8); math.Abs(over-0.2) > 0.045 {
			t.Errorf("%s: one node has over 90%% in %.3f of the pairs, want 1/5", name, over)
		}
	}
}

// nginx/nginx#531: why 160 points?
func TestWhat160VnodesGive(t *testing.T) {
	takesManyRings(t)
	for n, want := range map[int]struct{ cv, p95 float64 }{10: {0.075, 1.20}, 100: {0.079, 1.28}} {
		s := mustSolver(t, ask(n, Peak, 1.2))
		for name, draw := range map[string]func() (*population, error){
			"model": func() (*population, error) { return s.modelled(s.counts(160), 8000) },
			"xxh3":  func() (*population, error) { return s.measured(160, 10000/n) },
		} {
			p, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			if got := p.mean(CV); math.Abs(got-want.cv) > 0.003 {
				t.Errorf("%s, %d nodes: cv %.4f, want %v", name, n, got, want.cv)
			}
			if got := 1 + p.quantile(Peak, 0.95); math.Abs(got-want.p95) > 0.015 {
				t.Errorf("%s, %d nodes: 95%% of the busiest nodes within %.3f, want %v", name, n, got, want.p95)
			}
		}
	}
}

// grafana/mimir#505: 300 ingesters, how far apart are the largest and the least?
func TestRangeOfTheSharesOf300Nodes(t *testing.T) {
	takesManyRings(t)
	s := mustSolver(t, ask(300, Peak, 1.2))
	for tokens, want := range map[int]float64{64: 0.72, 128: 0.51, 512: 0.26, 2048: 0.13} {
		const rings = 300
		sum := 0.0
		shares := make([]float64, 300)
		for i := range rings {
			dirichlet(s.counts(tokens), s.rand("test", i), shares)
			spread := harness.SpreadOf(shares, s.weights)
			sum += spread.Peak - spread.Min
		}
		if got := sum / rings; math.Abs(got-want) > 0.01 {
			t.Errorf("%d tokens: (max-min)/mean is %.3f in the mean, want %v", tokens, got, want)
		}
	}
}

// temporalio/temporal#9702: 4,096 keys on 9 hosts.
func TestFewKeysSetAFloorThatVnodesDoNotLower(t *testing.T) {
	takesManyRings(t)
	q := ask(9, CV, 0.04)
	q.Keys = EvenKeys(4096)
	s := mustSolver(t, q)
	perNode := 4096.0 / 9
	for v, want := range map[int]float64{100: 47, 500: 28.5} {
		if got := s.keyParts(v).Total * perNode; math.Abs(got-want) > 1.5 {
			t.Errorf("%d vnodes: sd %.1f keys, want %v", v, got, want)
		}
	}
	if got := s.keyParts(100).Sampling * perNode; math.Abs(got-20.1) > 0.3 {
		t.Errorf("the floor is %.1f keys, want sqrt(K/N) less 1/18 of it: 20.1", got)
	}
	a := mustSolve(t, q)
	if a.VNodes != 0 || a.Why == "" {
		t.Errorf("a cv of 0.04 lies below the floor of 0.044, and %d vnodes are recommended: %q", a.VNodes, a.Why)
	}
}

// istio/istio#52871: 10 distinct keys on 5 pods. All pods get one in 0.5225 of
// the draws: 5! times the ways to part 10 keys into 5 groups (42,525), of 5^10.
func TestTenKeysOnFivePodsAreNotBlamedOnVnodes(t *testing.T) {
	takesManyRings(t)
	q := ask(5, Peak, 1.25)
	q.Keys = EvenKeys(10)
	a := mustSolve(t, q)
	if a.VNodes != 0 {
		t.Errorf("%d vnodes are recommended for 10 keys", a.VNodes)
	}
	if got, want := a.Keys.Empty, 1-120*42525/math.Pow(5, 10); math.Abs(got-want) > 1e-12 {
		t.Errorf("some pod is empty with probability %v, want %v", got, want)
	}
	if a.Keys.Distinct != 10 {
		t.Errorf("%d distinct keys, want 10", a.Keys.Distinct)
	}
}

// apache/pulsar#26534: 1,000 keys on 4 nodes of 100 points, and a test that
// allows 20%.
func TestATestOfCountsIsToldItsTolerance(t *testing.T) {
	q := ask(4, Peak, 1.3)
	q.Keys = EvenKeys(1000)
	k := mustSolver(t, q).keyParts(100)
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"sd", 250 * k.Total, 25.6}, {"sampling", 250 * k.Sampling, 13.7}, {"ring", 250 * k.Placement, 21.7}, {"sigmas of 20%", 0.2 / k.Total, 1.95}} {
		if math.Abs(c.got-c.want) > 0.01*c.want {
			t.Errorf("%s: %.2f, want %v", c.name, c.got, c.want)
		}
	}
	if k.Tolerance < 3.4*k.Total || k.FailsBy < 0.1 || k.FailsBy > 0.25 {
		t.Errorf("tolerance %.3f at a spread of %.3f; a limit of 20%% fails %.3f of the time", k.Tolerance, k.Total, k.FailsBy)
	}
}

// A log in which some keys are asked for far more often than others: the part
// that is not the ring's is told apart, and a hot key is named.
func TestAHotKeyIsNotBlamedOnVnodes(t *testing.T) {
	takesManyRings(t)
	counts := make([]float64, 2000)
	names := func(i int) string { return map[int]string{7: "home"}[i] }
	for i := range counts {
		counts[i] = 1
	}
	counts[7] = 500
	q := ask(10, Peak, 1.5)
	q.Keys = CountedKeys(counts, names)
	a := mustSolve(t, q)
	if a.VNodes != 0 || !strings.Contains(a.Why, `"home" alone`) || a.Keys.HotKey != "home" || math.Abs(a.Keys.HotPeak-10*500.0/2499) > 1e-9 {
		t.Errorf("a key with a fifth of the requests of 10 nodes: %d vnodes, %q, %+v", a.VNodes, a.Why, a.Keys)
	}
	if a.Keys.Weights < 3*a.Keys.Placement {
		t.Errorf("the hot key makes %.3f of the spread, the ring %.3f", a.Keys.Weights, a.Keys.Placement)
	}
}

// The three parts add up to what is seen when keys fall on rings.
func TestPartsOfTheSpreadAddUp(t *testing.T) {
	takesManyRings(t)
	counts := make([]float64, 3000)
	for i := range counts {
		counts[i] = 1 / math.Sqrt(float64(i+1))
	}
	for name, c := range map[string]struct {
		keys  *Keys
		light float64 // weight of a node whose points are rounded up when it is small
	}{
		"few":     {EvenKeys(700), 1},
		"unequal": {CountedKeys(counts, func(int) string { return "" }), 1},
		"rounded": {EvenKeys(20000), 0.01},
	} {
		q := ask(6, CV, 0.2)
		for i, w := range []float64{c.light, 1, 2, 2, 4, 4} {
			q.Nodes[i].Weight = w
		}
		q.Keys = c.keys
		s := mustSolver(t, q)
		want := s.keyParts(50).Total
		p, err := s.modelled(s.counts(50), 8000)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, cv := range p.cv {
			sum += cv * cv
		}
		if got := math.Sqrt(sum / float64(len(p.cv))); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%s keys: spread %.4f, the parts add up to %.4f", name, got, want)
		}
	}
}

func TestPlacedKeysAreAllThere(t *testing.T) {
	counts := make([]float64, 5000)
	for i := range counts {
		counts[i] = float64(1 + 4000/(i+1))
	}
	s := mustSolver(t, ask(7, Peak, 1.5))
	for _, k := range []*Keys{EvenKeys(1), EvenKeys(24), EvenKeys(1_000_000), CountedKeys(counts, func(int) string { return "" }), CountedKeys(counts[:300], func(int) string { return "" })} {
		for i := range 50 {
			sum := 0.0
			for _, l := range k.place(s.fair, s.rand("test", i)) {
				sum += l
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%d keys: the nodes have %v of the requests", k.Distinct, sum)
			}
		}
	}
}

func TestEnoughKeysNeedNoMoreVnodesThanThePlacement(t *testing.T) {
	takesManyRings(t)
	recommended := func(keys *Keys) int {
		q := ask(10, Peak, 1.25)
		q.Keys = keys
		v, _, err := mustSolver(t, q).byModel()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	plain := recommended(nil)
	if with := recommended(EvenKeys(100_000_000)); math.Abs(float64(with)/float64(plain)-1) > 0.06 {
		t.Errorf("%d vnodes for a hundred million keys, %d without counting keys", with, plain)
	}
	if with := recommended(EvenKeys(5000)); with < plain*11/10 {
		t.Errorf("%d vnodes for 5,000 keys, %d without counting keys: few keys take some of the room", with, plain)
	}
}
