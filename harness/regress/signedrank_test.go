package regress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Critical values of T, the sum of the ranks of one sign, from the table in
// Wilcoxon and Wilcox, Some Rapid Approximate Statistical Procedures (1964): the
// largest T whose one-sided probability is at most the level.
var criticalRankSums = []struct{ n, at05, at025, at01, at005 int }{
	{5, 0, -1, -1, -1}, {6, 2, 0, -1, -1}, {7, 3, 2, 0, -1}, {8, 5, 3, 1, 0}, {9, 8, 5, 3, 1}, {10, 10, 8, 5, 3},
	{12, 17, 13, 9, 7}, {15, 30, 25, 19, 15}, {20, 60, 52, 43, 37}, {25, 100, 89, 76, 68}, {30, 151, 137, 120, 109},
}

func TestRankSumsAgreeWithThePublishedTable(t *testing.T) {
	for _, row := range criticalRankSums {
		ps := rankSums(ranks(row.n))
		for _, c := range []struct {
			level float64
			want  int
		}{{.05, row.at05}, {.025, row.at025}, {.01, row.at01}, {.005, row.at005}} {
			got, sum := -1, 0.0
			for s, p := range ps {
				if sum += p; sum > c.level {
					break
				}
				got = s
			}
			if got != c.want {
				t.Errorf("n=%d at %g: critical sum %d, the table says %d", row.n, c.level, got, c.want)
			}
		}
	}
}

// The definition: of all ways to give signs to the sizes, the part whose sum of
// positive ranks is at least the one seen.
func pAboveByCounting(xs []float64, centre float64) float64 {
	var ds []float64
	for _, x := range xs {
		if x != centre {
			ds = append(ds, x-centre)
		}
	}
	rank := func(i int) float64 {
		less, same := 0, 0
		for _, d := range ds {
			switch {
			case math.Abs(d) < math.Abs(ds[i]):
				less++
			case math.Abs(d) == math.Abs(ds[i]):
				same++
			}
		}
		return float64(less) + float64(same+1)/2
	}
	seen := 0.0
	for i, d := range ds {
		if d > 0 {
			seen += rank(i)
		}
	}
	reached := 0
	for signs := range 1 << len(ds) {
		sum := 0.0
		for i := range ds {
			if signs>>i&1 == 1 {
				sum += rank(i)
			}
		}
		if sum >= seen {
			reached++
		}
	}
	return float64(reached) / float64(int(1)<<len(ds))
}

func TestPAboveCountsAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Whole numbers, so that there are ties and values at the centre.
		whole := rapid.SliceOfN(rapid.IntRange(-6, 6), 0, 10).Draw(t, "values")
		xs := make([]float64, len(whole))
		for i, w := range whole {
			xs[i] = float64(w)
		}
		got, want := pAbove(xs, 1), pAboveByCounting(xs, 1)
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("pAbove(%v, 1) = %v, counting says %v", xs, got, want)
		}
	})
}

// The interval and the test are two sides of one thing: a centre lies below the
// interval exactly when the test rejects it at half of what the confidence
// leaves.
func TestTheIntervalHoldsTheCentresThatTheTestDoesNotReject(t *testing.T) {
	const confidence = 0.99
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = r.NormFloat64() // never two alike, for with ties the two differ
		}
		low, high := interval(xs, confidence)
		averages := walsh(xs)
		for i := 1; i < len(averages); i++ {
			centre := averages[i-1]/2 + averages[i]/2
			if centre == averages[i-1] || centre == averages[i] {
				continue
			}
			rejected := pAbove(xs, centre) <= (1-confidence)/2
			if rejected != (centre < low) {
				t.Fatalf("of %v: centre %v rejected is %v, the interval is %v to %v", xs, centre, rejected, low, high)
			}
		}
		if est := hodgesLehmann(xs); est < low || est > high {
			t.Fatalf("of %v: estimate %v outside %v to %v", xs, est, low, high)
		}
	})
}

func TestTooFewRoundsGiveNoInterval(t *testing.T) {
	for n := range 8 {
		if low, high := interval(make([]float64, n), 0.99); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			t.Errorf("%d values: interval %v to %v, want none", n, low, high)
		}
	}
	if low, high := interval([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 0.99); low != 1 || high != 8 {
		t.Errorf("8 values: interval %v to %v, want all of them", low, high)
	}
}

// The estimate is the median of means of pairs, of one value that value itself.
func TestHodgesLehmannByHand(t *testing.T) {
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 100}, 26.25}, {[]float64{4, 1, 7}, 4}} {
		if got := hodgesLehmann(tt.xs); got != tt.want {
			t.Errorf("hodgesLehmann(%v) = %v, want %v", tt.xs, got, tt.want)
		}
	}
}

// Published examples: the depression scores of Hollander and Wolfe (1973, table 3.1),
// of which R documents wilcox.test(x, y, paired = TRUE, alternative = "greater") as
// p = 0.01953 and the book the estimate 0.46 and the interval 0.010 to 0.786 at 96.1%;
// and Darwin's maize, for which SciPy documents wilcoxon(d) as p = 0.041259765625,
// two-sided.
func TestPublishedExamplesOfSignedRanks(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	for i := range x {
		x[i] -= y[i]
	}
	low, high := interval(x, 0.96)
	if p := pAbove(x, 0); math.Abs(p-0.01953) > 5e-6 || math.Abs(hodgesLehmann(x)-0.46) > 1e-9 ||
		math.Abs(low-0.010) > 1e-9 || math.Abs(high-0.786) > 1e-9 {
		t.Errorf("depression scores: p %v, estimate %v, interval %v to %v", p, hodgesLehmann(x), low, high)
	}
	maize := []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}
	if p := pAbove(maize, 0); p != 0.041259765625/2 {
		t.Errorf("maize: p %v, want half of 0.041259765625", p)
	}
}

// The interval by counting: of all ways to give signs to ranks 1 to n, those whose
// positive ranks add up to as little as its k-th Walsh average from the end.
func TestTheIntervalLeavesOutWhatCountingAllows(t *testing.T) {
	for n := 1; n <= 14; n++ {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = float64(int(1) << i) // all means differ
		}
		var means []float64
		for i := range xs {
			for j := i; j < n; j++ {
				means = append(means, (xs[i]+xs[j])/2)
			}
		}
		slices.Sort(means)
		ways := make([]int, n*(n+1)/2+1)
		for signs := range 1 << n {
			sum := 0
			for i := range n {
				sum += signs >> i & 1 * (i + 1)
			}
			ways[sum]++
		}
		for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
			k, reached := 0, 0
			for reached += ways[0]; float64(reached)/float64(int(1)<<n) <= (1-confidence)/2; reached += ways[k] {
				k++
			}
			wantLow, wantHigh := math.Inf(-1), math.Inf(1)
			if k > 0 {
				wantLow, wantHigh = means[k-1], means[len(means)-k]
			}
			if low, high := interval(xs, confidence); low != wantLow || high != wantHigh {
				t.Errorf("%d values at %v: %v to %v, counting gives %v to %v", n, confidence, low, high, wantLow, wantHigh)
			}
		}
	}
}

func TestNoValuesHaveNoCentreAndACertainP(t *testing.T) {
	if got := hodgesLehmann(nil); !math.IsNaN(got) {
		t.Errorf("the centre of no values is %v", got)
	}
	// Nothing lies above the centre, so that any values would do; p is a probability
	// however many parts it is added up from.
	for n := range 100 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = -float64(i + 1)
		}
		if p := pAbove(xs, 0); p > 1 || p < 1-1e-12 {
			t.Errorf("%d values below the centre: p %v, want 1", n, p)
		}
	}
}

// Holm's procedure is the closed test of Bonferroni's: a hypothesis is rejected when
// every set of them that holds it has one with p <= alpha/size.
func TestHolmIsTheClosedTestOfBonferroni(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.SampledFrom([]float64{0.001, 0.005, 0.01, 0.0125, 0.02, 0.025, 0.04, 0.05, 0.2}), 0, 7).Draw(t, "ps")
		got := holm(ps, 0.05)
		for i := range ps {
			rejected := true
			for set := range 1 << len(ps) {
				if set>>i&1 == 0 {
					continue
				}
				size, least := 0, 1.0
				for j, p := range ps {
					if set>>j&1 == 1 {
						size, least = size+1, min(least, p)
					}
				}
				rejected = rejected && least <= 0.05/float64(size)
			}
			if got[i] != rejected {
				t.Fatalf("of %v: %v, but number %d is rejected: %v", ps, got, i, rejected)
			}
		}
	})
}

func TestHolmRejectsFromTheSmallestOn(t *testing.T) {
	// Of four at 0.05 the limits are 0.0125, 0.0167, 0.025, 0.05; the first that
	// is above its limit stops all after it.
	got := holm([]float64{0.03, 0.01, 0.04, 0.015}, 0.05)
	if want := []bool{false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("rejected %v, want %v", got, want)
	}
	if got := holm([]float64{0.05}, 0.05); !got[0] {
		t.Error("a single p-value at the level is not rejected")
	}
}
