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
