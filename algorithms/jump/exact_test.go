package jump

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// paperJ is the paper's expression as the reference program writes it.
func paperJ(c, d uint64) uint64 {
	return uint64(int64(float64(int64(c)) * (float64(int64(1)<<31) / float64(d))))
}

// agree reports whether next and the paper take a walk over n slots the same
// way: to the same slot, or both past the end.
func agree(c, d, n uint64) bool {
	return min(next(c, d, doubt(int(n))), n) == min(paperJ(c, d), n)
}

// The form that is faster still and wrong, by the example known for it.
func TestNextRoundsAsThePaperDoesWhereTheExactQuotientIsWhole(t *testing.T) {
	c, d := uint64(49), uint64(49<<25)
	if exact := c << 31 / d; exact != 64 {
		t.Fatalf("the exact quotient is %d, want 64", exact)
	}
	if got := next(c, d, doubt(100)); got != 63 {
		t.Errorf("next(%d, %d) = %d, want 63 as in the paper's float64", c, d, got)
	}
}

// Every draw whose exact quotient is whole, or nearly so, is where a rounding
// could differ. For a given c and whole number k those are the d beside
// c*2^31/k.
func TestNextIsExactBesideEveryWholeQuotient(t *testing.T) {
	check := func(c, k uint64) {
		for d := (c<<31)/k - 1; d <= (c<<31)/k+2; d++ {
			if d < 1 || d > 1<<31 {
				continue
			}
			for _, n := range []uint64{max(c, k), max(c, k+1), 1 << 21, 1<<31 - 1} {
				if n >= c && !agree(c, d, n) {
					t.Fatalf("c %d, d %d, n %d: next %d, the paper %d", c, d, n, next(c, d, doubt(int(n))), paperJ(c, d))
				}
			}
		}
	}
	for c := uint64(1); c <= 300; c++ {
		for k := c; k <= 600; k++ {
			check(c, k)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		c := 1 + r.Uint64N(1<<(1+r.IntN(21)))
		check(c, c+r.Uint64N(1<<(1+r.IntN(30))))
	}
}

func TestNextIsExactForAnyDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<31-1).Draw(t, "n")
		c := rapid.Uint64Range(1, n).Draw(t, "c")
		d := rapid.Uint64Range(1, 1<<31).Draw(t, "d")
		if !agree(c, d, n) {
			t.Fatalf("next %d, the paper %d", next(c, d, doubt(int(n))), paperJ(c, d))
		}
	})
}
