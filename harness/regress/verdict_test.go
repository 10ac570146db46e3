package regress

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

// rounds makes a cell whose head takes so much longer, in so many rounds, spread
// evenly by so much either way.
func rounds(n int, slower, spread float64) *pairing {
	p := &pairing{}
	for i := range n {
		off := spread * (2*float64(i)/float64(n-1) - 1)
		p.base = append(p.base, 100)
		p.ratios = append(p.ratios, math.Log(1+slower)+off)
	}
	return p
}

func TestTheVerdictFollowsTheInterval(t *testing.T) {
	for _, tt := range []struct {
		name           string
		n              int
		slower, spread float64
		least          float64
		want           results.Verdict
	}{
		{"no change", 20, 0, 0.01, slowdown, results.Unchanged},
		{"a slowdown of 2% that is certain", 20, 0.02, 0.005, slowdown, results.Regressed},
		{"the same with one layout a side", 20, 0.02, 0.005, noChange, results.Unchanged},
		{"a slowdown of 10% with one layout a side", 20, 0.10, 0.005, noChange, results.Regressed},
		{"a slowdown of 1%", 20, 0.01, 0.005, slowdown, results.Unchanged},
		{"a slowdown of 10% in noise of 30%", 20, 0.10, 0.30, slowdown, results.Inconclusive},
		{"a speedup of 10%", 20, -0.10, 0.01, slowdown, results.Improved},
		{"a speedup of 10% in noise of 30%", 20, -0.10, 0.30, slowdown, results.Inconclusive},
		{"too few rounds for anything", 7, 1, 0.001, slowdown, results.Inconclusive},
		{"few rounds and a large slowdown", 8, 1, 0.001, slowdown, results.Regressed},
	} {
		if got := judge([]*pairing{rounds(tt.n, tt.slower, tt.spread)}, tt.least)[0]; got.verdict != tt.want {
			t.Errorf("%s: %s with interval %.4f to %.4f, want %s", tt.name, got.verdict, got.low, got.high, tt.want)
		}
	}
}

// Among many cells a chance finding of one must not count: with eight rounds p
// is 1/256 at best, too much for fifty cells.
func TestOneOfManyCellsNeedsMoreEvidence(t *testing.T) {
	cells := []*pairing{rounds(8, 0.5, 0.001)}
	for range 49 {
		cells = append(cells, rounds(8, 0, 0.001))
	}
	if got := judge(cells, slowdown)[0]; got.verdict != results.Inconclusive {
		t.Errorf("8 rounds make one of 50 cells %s, want inconclusive", got.verdict)
	}
	cells[0] = rounds(20, 0.5, 0.001)
	if got := judge(cells, slowdown)[0]; got.verdict != results.Regressed {
		t.Errorf("20 rounds make one of 50 cells %s, want regressed", got.verdict)
	}
}

// The rules at their limits. Of eight rounds the interval at 99% is from the least to
// the largest, and p is 1/256 when all lie above 1%: Holm's first limit at 5% allows
// that among 12 cells and no more.
func TestTheLimitsOfTheVerdicts(t *testing.T) {
	between := func(low, high float64) *pairing {
		p := &pairing{}
		for i := range 8 {
			p.base = append(p.base, 100)
			p.ratios = append(p.ratios, math.Log(low)+(math.Log(high)-math.Log(low))*float64(i)/7)
		}
		return p
	}
	for _, tt := range []struct {
		low, high float64
		cells     int
		want      results.Verdict
	}{
		{1.0101, 1.05, 1, results.Regressed},
		{1.0099, 1.05, 1, results.Inconclusive},
		{1.0101, 1.05, 12, results.Regressed},
		{1.0101, 1.05, 13, results.Inconclusive},
		{1.0101, 1.0299, 13, results.Unchanged},
		{1 / 1.05, 1 / 1.0101, 13, results.Improved}, // no procedure for what is welcome
		{1 / 1.05, 1 / 1.0099, 1, results.Inconclusive},
		{1 / 1.0299, 1.0299, 1, results.Unchanged},
		{1 / 1.0301, 1.0299, 1, results.Inconclusive},
		{1 / 1.0299, 1.0301, 1, results.Inconclusive},
	} {
		cells := []*pairing{between(tt.low, tt.high)}
		for range tt.cells - 1 {
			cells = append(cells, between(0.999, 1.001))
		}
		if got := judge(cells, slowdown)[0]; got.verdict != tt.want {
			t.Errorf("%.4f to %.4f, one of %d cells: %s, want %s", tt.low, tt.high, tt.cells, got.verdict, tt.want)
		}
	}
}

// p is about "slower by 1% at most", by counting, not about "no slower".
func TestThePOfACellIsAboutTheLeastChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pairing{base: []float64{3, 1, 2}}
		for range rapid.IntRange(8, 10).Draw(t, "rounds") {
			p.ratios = append(p.ratios, rapid.Float64Range(-0.02, 0.05).Draw(t, "ratio"))
		}
		f := judge([]*pairing{p}, math.Log(1.01))[0]
		if want := pAboveByCounting(p.ratios, math.Log(1.01)); math.Abs(f.p-want) > 1e-12 {
			t.Fatalf("p %v, counting says %v", f.p, want)
		}
		if f.base != 2 {
			t.Fatalf("base takes %v, want the median of 3, 1 and 2", f.base)
		}
	})
}

func TestFewSlicesHaveAFastestOne(t *testing.T) {
	if got := fastestQuarter([]slice{{ns: 7}, {ns: 5}, {ns: 9}}); got != 5 {
		t.Errorf("the fastest quarter of three slices is %v, want the fastest", got)
	}
}

// The estimate of a change in one direction is that of the other with the sign
// turned, whatever the noise.
func TestExchangingTheSidesTurnsTheSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 24).Draw(t, "rounds")
		sides := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) slice {
			return slice{rapid.Float64Range(1, 1000).Draw(t, "ns"), rapid.Bool().Draw(t, "calm")}
		}), leastSlices, leastSlices)
		p, q := &pairing{}, &pairing{}
		for range n {
			base, head := sides.Draw(t, "base"), sides.Draw(t, "head")
			x := change(base, head)
			p.add(base, x)
			q.add(head, -x)
		}
		f, g := judge([]*pairing{p}, slowdown)[0], judge([]*pairing{q}, slowdown)[0]
		const tiny = 1e-9
		if math.Abs(f.estimate+g.estimate) > tiny || math.Abs(f.low+g.high) > tiny || math.Abs(f.high+g.low) > tiny {
			t.Fatalf("%v (%v to %v) one way, %v (%v to %v) the other", f.estimate, f.low, f.high, g.estimate, g.low, g.high)
		}
		if f.verdict == results.Regressed && g.verdict != results.Improved {
			t.Fatalf("regressed one way, %s the other", g.verdict)
		}
	})
}

func TestTheTimeOfABaseIsThatOfItsFastestQuarter(t *testing.T) {
	var taken []slice
	for _, ns := range []float64{4, 900, 3, 900, 2, 900, 1, 900, 900, 900, 900, 900, 900, 900, 900, 900} {
		taken = append(taken, slice{ns: ns})
	}
	if got := fastestQuarter(taken); got != 2.5 {
		t.Errorf("fastest quarter %v, want the mean of 1 to 4", got)
	}
}

// A core that is slow for a while is so for both sides, and a slice that lost its
// core does not count.
func TestTheChangeOfARoundIsThatOfItsCalmPairs(t *testing.T) {
	for _, stretch := range []int{1, 8} { // turns for which the core keeps its speed
		var base, head []slice
		for i := range 16 {
			slow := 1 + float64(i/stretch%2) // half as fast half of the time
			base = append(base, slice{100 * slow, true})
			head = append(head, slice{105 * slow, true})
			if i%4 == 0 {
				head[i] = slice{1000, false}
			}
		}
		if got := math.Exp(change(base, head)); math.Abs(got-1.05) > 1e-9 {
			t.Errorf("stretches of %d: change of %.4f times, want 1.05", stretch, got)
		}
		if stretch == 1 {
			continue // a core that changes every time, and losses on top, are too much
		}
		for i := range base {
			base[i].calm = false
		}
		if got := math.Exp(change(base, head)); math.Abs(got-1.05) > 0.1 {
			t.Errorf("where no pair was calm, change of %.4f times, want about 1.05", got)
		}
	}
}

// Whoever has the second turn is later by one slice all along.
func TestDriftFavoursNoSide(t *testing.T) {
	var first, second []slice
	for i := range leastSlices {
		first = append(first, slice{100 * math.Pow(1.01, float64(2*i)), true})
		second = append(second, slice{100 * math.Pow(1.01, float64(2*i+1)), true})
	}
	if got := change(first, second); math.Abs(got) > 1e-9 {
		t.Errorf("slices that grow by 1%% each make the second side slower by %.2f%%", 100*got)
	}
}

// The bounds are those between which the binomial tail has 5%.
func TestBinomialBoundsLeaveFivePercent(t *testing.T) {
	for _, tt := range []struct{ k, n int }{{0, 20}, {1, 1000}, {5, 50}, {50, 50}} {
		low, high := binomialBounds(tt.k, tt.n)
		tail := func(p float64, from, to int) (sum float64) {
			for i := from; i <= to; i++ {
				a, _ := math.Lgamma(float64(tt.n + 1))
				b, _ := math.Lgamma(float64(i + 1))
				c, _ := math.Lgamma(float64(tt.n - i + 1))
				sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(tt.n-i)*math.Log1p(-p))
			}
			return sum
		}
		if tt.k < tt.n {
			if got := tail(high, 0, tt.k); math.Abs(got-0.05) > 1e-6 {
				t.Errorf("%d of %d: at %v as few or fewer have probability %v", tt.k, tt.n, high, got)
			}
		}
		if tt.k > 0 {
			if got := tail(low, tt.k, tt.n); math.Abs(got-0.05) > 1e-6 {
				t.Errorf("%d of %d: at %v as many or more have probability %v", tt.k, tt.n, low, got)
			}
		}
	}
}
