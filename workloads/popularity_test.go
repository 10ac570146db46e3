package workloads

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// exponents are those that every test of Zipf runs through.
var exponents = []float64{0, 0.5, 0.99, 1, 1.2, 3}

// chiSquare returns the probability of observations at least as far from what is
// expected as these. Neighbours are put together until 10 are expected of each.
func chiSquare(observed []int, expected func(i int) float64) float64 {
	statistic, cells := 0.0, 0
	obs, exp := 0.0, 0.0
	restObs, restExp := 0.0, 0.0
	for i, n := range observed {
		obs += float64(n)
		exp += expected(i)
		if exp >= 10 {
			statistic += (obs - exp) * (obs - exp) / exp
			cells++
			obs, exp = 0, 0
		}
	}
	restObs, restExp = obs, exp
	if restExp > 1 {
		statistic += (restObs - restExp) * (restObs - restExp) / restExp
		cells++
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(statistic)
}

func TestSamplesFollowTheTrueProbabilities(t *testing.T) {
	const n, samples = 1000, 300_000
	popularities := []*Popularity{Uniform(n), Counts(rampWithGaps(n)), latest(n), hotSet("hotset", 30, 0.9, n), parsed(t, "ycsb-scrambled", n)}
	for _, s := range exponents {
		popularities = append(popularities, Zipf(s, n))
	}
	for _, p := range popularities {
		r := Rand(1, "chi-square", p.Name())
		observed := make([]int, n)
		for range samples {
			observed[p.Sample(r)]++
		}
		got := chiSquare(observed, func(rank int) float64 { return samples * p.P(rank) })
		if got < 1e-4 || got > 1-1e-4 {
			t.Errorf("%s: chi-square has p = %g over %d samples", p.Name(), got, samples)
		}
	}
}

// parsed returns the popularity that the spec names.
func parsed(t *testing.T, spec string, n int) *Popularity {
	t.Helper()
	p, err := ParsePopularity(spec, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAHotSetHasItsShareOfTheRequests(t *testing.T) {
	for _, test := range []struct {
		spec, name string
		n, hot     int
		share      float64
	}{
		{"hotset:10:0.9", "hotset:10:0.9", 1000, 10, 0.9},
		{"hotset:1:.5", "hotset:1:0.5", 3, 1, 0.5},
		{"hotset:0.2:0.8", "hotset:0.2:0.8", 1000, 200, 0.8},
		{"hotset:0.0001:1", "hotset:0.0001:1", 1000, 1, 1},
		{"hotset:0.9999:0.5", "hotset:0.9999:0.5", 1000, 999, 0.5},
		{"hotset:0.5:0.1", "hotset:0.5:0.1", 2, 1, 0.1},
	} {
		p := parsed(t, test.spec, test.n)
		if p.Name() != test.name {
			t.Errorf("%s is named %s", test.spec, p.Name())
		}
		for rank := range test.n {
			want := test.share / float64(test.hot)
			if rank >= test.hot {
				want = (1 - test.share) / float64(test.n-test.hot)
			}
			if math.Abs(p.P(rank)-want) > 1e-12 {
				t.Fatalf("%s: rank %d has %v, want %v", test.spec, rank, p.P(rank), want)
			}
		}
	}
}

func TestTheLatestKeyIsAskedForMost(t *testing.T) {
	const n = 1000
	p, zipf := parsed(t, "latest", n), Zipf(0.99, n)
	for rank := range n {
		if p.P(rank) != zipf.P(n-1-rank) {
			t.Fatalf("rank %d has %v, want that of rank %d under Zipf, %v", rank, p.P(rank), n-1-rank, zipf.P(n-1-rank))
		}
	}
}

// ycsbItem draws an item as YCSB's generator does, from a number below 1.
func ycsbItem(u float64) uint64 {
	const items, zeta, theta = 1e10, 26.46902820178302, 0.99
	if u*zeta < 1 {
		return 0
	}
	second := math.Pow(0.5, theta)
	if u*zeta < 1+second {
		return 1
	}
	eta := (1 - math.Pow(2/float64(items), 1-theta)) / (1 - (1+second)/zeta)
	return uint64(items * math.Pow(eta*u-eta+1, 1/(1-theta)))
}

func TestYCSBScrambledIsWhatItsGeneratorDraws(t *testing.T) {
	const n, samples = 200, 200_000
	p := parsed(t, "ycsb-scrambled", n)
	r := Rand(1, "ycsb")
	observed := make([]int, n)
	for range samples {
		h := fnv.New64a()
		h.Write(binary.LittleEndian.AppendUint64(nil, ycsbItem(r.Float64())))
		key := int64(h.Sum64())
		observed[max(key, -key)%n]++
	}
	got := chiSquare(observed, func(rank int) float64 { return samples * p.P(rank) })
	if got < 1e-4 || got > 1-1e-4 {
		t.Errorf("chi-square has p = %g over %d samples", got, samples)
	}
}

func TestTheTopKeyOfYCSBScrambledHasTheSamePartWhateverTheKeys(t *testing.T) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		p := parsed(t, "ycsb-scrambled", n)
		top := 0
		for rank := range n {
			if p.P(rank) > p.P(top) {
				top = rank
			}
		}
		if got := 100 * p.P(top); math.Abs(got-3.78) > 0.01 {
			t.Errorf("the top one of %d keys has %.3f%%, want 3.78%%", n, got)
		}
	}
}

// rampWithGaps returns counts that rise, every third of them being 0.
func rampWithGaps(n int) []float64 {
	counts := make([]float64, n)
	for i := range counts {
		if i%3 != 0 {
			counts[i] = float64(i)
		}
	}
	return counts
}

func TestTopKeyIsAskedForAsOftenAsZipfSays(t *testing.T) {
	const n, samples = 1_000_000, 1_000_000
	for _, s := range exponents {
		h := 0.0
		for k := n; k >= 1; k-- {
			h += math.Pow(float64(k), -s)
		}
		p := Zipf(s, n)
		if math.Abs(p.P(0)*h-1) > 1e-12 {
			t.Errorf("s = %v: the top key has %v, want 1/H = %v", s, p.P(0), 1/h)
		}
		r := Rand(1, "top key")
		top := 0
		for range samples {
			if p.Sample(r) == 0 {
				top++
			}
		}
		sd := math.Sqrt(samples / h * (1 - 1/h))
		if math.Abs(float64(top)-samples/h) > 4*sd+1 {
			t.Errorf("s = %v: the top key was drawn %d times of %d, want %.0f +- %.0f", s, top, samples, samples/h, sd)
		}
	}
}

func TestZipfHasThePublishedTopKeys(t *testing.T) {
	for _, test := range []struct {
		n       int
		percent string
	}{{100_000, "7.83"}, {1_000_000, "6.50"}} {
		if got := fmt.Sprintf("%.2f", 100*Zipf(0.99, test.n).P(0)); got != test.percent {
			t.Errorf("Zipf(0.99) over %d keys gives its top key %s%%, want %s%%", test.n, got, test.percent)
		}
	}
}

func TestZipfIsExactWhereRationalNumbersTell(t *testing.T) {
	const n = 500
	for s := range 5 {
		sum := new(big.Rat)
		weight := func(rank int) *big.Rat {
			power := new(big.Int).Exp(big.NewInt(int64(rank+1)), big.NewInt(int64(s)), nil)
			return new(big.Rat).SetFrac(big.NewInt(1), power)
		}
		for rank := range n {
			sum.Add(sum, weight(rank))
		}
		p := Zipf(float64(s), n)
		for rank := range n {
			want, _ := new(big.Rat).Quo(weight(rank), sum).Float64()
			if got := p.P(rank); math.Abs(got/want-1) > 1e-13 {
				t.Fatalf("s = %d: P(%d) = %v, want %v", s, rank, got, want)
			}
		}
	}
}

func TestProbabilitiesAddUpToOne(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 999, 100_000} {
		popularities := []*Popularity{Uniform(n), latest(n), hotSet("hotset", (n+1)/2, 0.7, n+1)}
		for _, s := range slices.Concat(exponents, []float64{1e-9, 17.5, 1e6, math.MaxFloat64}) {
			popularities = append(popularities, Zipf(s, n))
		}
		for _, p := range popularities {
			sum := new(big.Float).SetPrec(200)
			for rank := range p.Len() {
				sum.Add(sum, big.NewFloat(p.P(rank)))
			}
			if got, _ := sum.Float64(); math.Abs(got-1) > 1e-12 {
				t.Errorf("%s over %d keys adds up to %v", p.Name(), n, got)
			}
		}
	}
}

// units returns how many of the n*2^32 units of the alias table stand for each
// rank.
func units(p *Popularity) []uint64 {
	of := make([]uint64, p.Len())
	for rank, c := range p.columns {
		of[rank] += uint64(c.own)
		of[c.other] += 1<<32 - uint64(c.own)
	}
	return of
}

func checkUnits(t interface{ Errorf(string, ...any) }, p *Popularity) {
	n := float64(p.Len())
	wrong := 0
	for rank, u := range units(p) {
		exact := p.P(rank) * n * (1 << 32)
		if p.P(rank) == 0 && u != 0 {
			t.Errorf("%s: rank %d has no requests and %d units", p.Name(), rank, u)
		}
		if math.Abs(float64(u)-exact) > 0.5+exact*0x1p-50 {
			wrong++ // only the most popular rank takes what rounding leaves over
			if math.Abs(float64(u)-exact) > n {
				t.Errorf("%s: rank %d has %d units, want %v", p.Name(), rank, u, exact)
			}
		}
	}
	if wrong > 1 {
		t.Errorf("%s: %d ranks are off by more than rounding", p.Name(), wrong)
	}
}

func TestAliasTableHoldsTheProbabilities(t *testing.T) {
	for _, n := range []int{1, 2, 1000, 1_000_000} {
		for _, s := range exponents {
			checkUnits(t, Zipf(s, n))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(
			rapid.Just(0.0), rapid.Float64Range(0, 1e300), rapid.Float64Range(0, 5), rapid.Just(math.SmallestNonzeroFloat64),
		), 1, 50).Draw(t, "counts")
		counts[rapid.IntRange(0, len(counts)-1).Draw(t, "some")] += 1
		p := Counts(counts)
		checkUnits(t, p)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 50 {
			if rank := p.Sample(r); counts[rank] == 0 {
				t.Fatalf("drew rank %d, whose count is 0", rank)
			}
		}
	})
}

// A fixed is a source that gives one number again and again.
type fixed uint64

func (f fixed) Uint64() uint64 { return uint64(f) }

func TestNoDrawReachesARankThatNobodyAsksFor(t *testing.T) {
	p := Counts([]float64{0, 1, 0, 0, 2, 0})
	for column := range uint64(p.Len()) {
		first := math.MaxUint64/uint64(p.Len())*column + column
		for x := first - 3; x != first+3; x++ {
			if rank := p.Sample(rand.New(fixed(x))); p.P(rank) == 0 {
				t.Errorf("the draw %#x gives rank %d, whose count is 0", x, rank)
			}
		}
	}
}

func TestCountsAreKeptApartFromTheCaller(t *testing.T) {
	counts := []float64{1, 3}
	p := Counts(counts)
	if counts[0] != 1 || counts[1] != 3 {
		t.Errorf("Counts changed its argument to %v", counts)
	}
	if p.P(0) != 0.25 || p.P(1) != 0.75 {
		t.Errorf("counts 1 and 3 have the parts %v and %v", p.P(0), p.P(1))
	}
}

func TestParsePopularity(t *testing.T) {
	for _, test := range []struct {
		spec   string
		counts []float64
		name   string
	}{
		{"uniform", nil, "uniform"},
		{"uniform", []float64{1, 2, 3}, "uniform"},
		{"zipf:0", nil, "zipf:0"},
		{"zipf:-0", nil, "zipf:0"},
		{"zipf:1.0", nil, "zipf:1"},
		{"zipf:.99", nil, "zipf:0.99"},
		{"zipf:1e3", nil, "zipf:1000"},
		{"hotset:1:0.90", nil, "hotset:1:0.9"},
		{"hotset:2e0:1", nil, "hotset:2:1"},
		{"latest", nil, "latest"},
		{"ycsb-scrambled", nil, "ycsb-scrambled"},
		{"counts", []float64{1, 2, 3}, "counts"},
		{"bytes", []float64{1, 2, 3}, "bytes"},
	} {
		p, err := ParsePopularity(test.spec, 3, test.counts)
		if err != nil {
			t.Errorf("ParsePopularity(%q): %v", test.spec, err)
			continue
		}
		if p.Name() != test.name || p.Len() != 3 {
			t.Errorf("ParsePopularity(%q) is %s of %d ranks, want %s of 3", test.spec, p.Name(), p.Len(), test.name)
		}
	}
}

func TestParsePopularityRefuses(t *testing.T) {
	for _, test := range []struct {
		spec   string
		n      int
		counts []float64
		want   string
	}{
		{"zipf:NaN", 3, nil, "finite number of 0 or more"},
		{"zipf:-0.5", 3, nil, "finite number of 0 or more"},
		{"zipf:Inf", 3, nil, "finite number of 0 or more"},
		{"zipf:1e999", 3, nil, "not a number"},
		{"zipf:", 3, nil, "not a number"},
		{"zipf", 3, nil, "unknown"},
		{"", 3, nil, "unknown"},
		{"hotset", 3, nil, "unknown, want uniform"},
		{"hotset:1", 3, nil, "want hotset:KEYS:SHARE"},
		{"hotset:1:", 3, nil, `SHARE "" is not a number`},
		{"hotset:1:0", 3, nil, `SHARE "0" is not a number above 0`},
		{"hotset:1:1.1", 3, nil, `SHARE "1.1"`},
		{"hotset:1:NaN", 3, nil, `SHARE "NaN"`},
		{"hotset:0:0.5", 3, nil, `KEYS "0" is neither`},
		{"hotset:1.5:0.5", 3, nil, `KEYS "1.5" is neither`},
		{"hotset:-1:0.5", 3, nil, `KEYS "-1"`},
		{"hotset:NaN:0.5", 3, nil, `KEYS "NaN"`},
		{"hotset:Inf:0.5", 3, nil, `+Inf hot keys of 3`},
		{"hotset:3:0.5", 3, nil, `3 hot keys of 3, ask for fewer hot keys`},
		{"hotset:0.5:0.5", 1, nil, `0.5 hot keys of 1`},
		{"bytes", 3, nil, "0 bytes for 3 keys, it needs a file of keys that tells them"},
		{"bytes", 2, []float64{0, 0}, "all bytes are 0"},
		{"counts", 3, nil, "needs a file of keys"},
		{"counts", 3, []float64{1}, "1 counts for 3 keys"},
		{"counts", 2, []float64{0, 0}, "all counts are 0"},
		{"counts", 2, []float64{1, -1}, "counts of rank 1 are -1"},
		{"counts", 2, []float64{1, math.NaN()}, "counts of rank 1 are NaN"},
		{"counts", 2, []float64{math.MaxFloat64, math.MaxFloat64}, "scale them down"},
		{"uniform", 0, nil, "0 keys"},
	} {
		p, err := ParsePopularity(test.spec, test.n, test.counts)
		if err == nil {
			t.Errorf("ParsePopularity(%q, %d, %v) makes %s, want an error", test.spec, test.n, test.counts, p.Name())
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParsePopularity(%q, %d, %v): %v, want %q in it", test.spec, test.n, test.counts, err, test.want)
		}
	}
}

func TestOwnLogarithmAndExponentialAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0x1p-1022, 1e300).Draw(t, "x")
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Fatalf("ln(%v) = %v, want %v", x, got, want)
		}
		y := -rapid.Float64Range(0, 700).Draw(t, "y")
		if got, want := exp(y), math.Exp(y); math.Abs(got-want) > 4e-16*want {
			t.Fatalf("exp(%v) = %v, want %v", y, got, want)
		}
	})
	for _, x := range []float64{1, 2, math.Nextafter(1, 0), math.Nextafter(1, 2), math.Sqrt2 / 2, 1e6, math.MaxFloat64} {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	if ln(1) != 0 || exp(0) != 1 || exp(-1e300) != 0 || exp(math.Inf(-1)) != 0 {
		t.Errorf("ln(1) = %v, exp(0) = %v, exp(-1e300) = %v", ln(1), exp(0), exp(-1e300))
	}
}
