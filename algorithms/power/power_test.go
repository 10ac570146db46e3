package power

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/numbered"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestPlacementIsTheSameForEver(t *testing.T) {
	if got, want := longrun.Digest(t, Info, nil), "8ec404ece0f25dca"; got != want {
		t.Errorf("the owners have the digest %s, want %s", got, want)
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, Info, nil) }

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) { longrun.Changes(t, Info, nil, 300, nil) }

func build(t testing.TB, n int) *Map {
	t.Helper()
	m, err := New(longrun.Names(n), Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// harmonic returns 1 + 1/2 + ... + 1/n.
func harmonic(n int) float64 {
	sum := 0.0
	for i := 1; i <= n; i++ {
		sum += 1 / float64(i)
	}
	return sum
}

func TestDrawsAreWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{2, 3, 5, 8, 9, 12, 64, 65, 70, 96, 127, 128, 129, 1000, 1025} {
		m, draws := build(t, n), 0
		const keys = 1 << 16
		for range keys {
			_, d := m.LookupProbes(r.Uint64())
			draws += d
		}
		whole := float64(uint(1) << bits.Len(uint(n-1)))
		x := float64(n)
		want := 1 + (whole-x)/whole*(1+harmonic(n)-harmonic(int(whole)/2)+whole/(2*x))
		if got := float64(draws) / keys; math.Abs(got-want) > 0.015*want {
			t.Errorf("%d nodes take %.4f draws, want %.4f", n, got, want)
		}
		if want > 2.2 {
			t.Errorf("%d nodes take %.4f draws, the package comment says at most 2.2", n, want)
		}
	}
}

// A step is the least j > x with u > (x+1)/(j+1), computed here with fractions
// of whole numbers.
func TestStepIsTheLeastThatTheDrawAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<31).Draw(t, "n")
		x := rapid.Uint64Range(0, n-1).Draw(t, "x")
		r := rapid.Uint64().Draw(t, "draw")
		if rapid.Bool().Draw(t, "near the edge") {
			r, _ = bits.Div64(x+1, 0, n+rapid.Uint64Range(1, 3).Draw(t, "beyond"))
			r += rapid.Uint64Range(0, 4).Draw(t, "more") - 2
		}
		j, inside := step(x, n, r)
		above := func(j uint64) bool { // u > (x+1)/(j+1), or d*(j+1) > (x+1)*2^64
			high, low := bits.Mul64(r|1, j+1)
			return high > x+1 || high == x+1 && low > 0
		}
		switch {
		case inside && (j <= x || j >= n):
			t.Fatalf("step(%d, %d, %d) = %d, out of range", x, n, r, j)
		case inside && (!above(j) || j > x+1 && above(j-1)):
			t.Fatalf("step(%d, %d, %d) = %d, not the least", x, n, r, j)
		case !inside && n > x+1 && above(n-1):
			t.Fatalf("step(%d, %d, %d) stays, slot %d is allowed", x, n, r, n-1)
		}
	})
}

// The published program has hash functions of its own. Its placements are what
// place and step give for its draws.
func TestPlacementsOfThePublishedProgram(t *testing.T) {
	data, err := os.ReadFile("testdata/power.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Hashes []int64
		Rows   []struct {
			Source   string
			N        uint64
			Hash     string
			Expected []uint64
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Rows) == 0 {
		t.Fatal("no vectors")
	}
	for _, row := range vectors.Rows {
		for i, want := range row.Expected {
			if got := published(uint64(vectors.Hashes[i]), row.N, row.Hash == "md5_32be"); got != want {
				t.Errorf("n=%d, %s, key-%d is in %d, want %d (%s)", row.N, row.Hash, i, got, want, row.Source)
			}
		}
	}
}

// published computes the placement with the draws of the published program: a
// hash of h and the highest bit for the levels, jump's generator for the walk. Its
// hash is the first 8 bytes of md5, or when narrow the first 4.
func published(h, n uint64, narrow bool) uint64 {
	if narrow {
		h >>= 32
	}
	spread := func(mask uint64) uint64 {
		level := uint(bits.Len64(h & mask))
		sum := md5.Sum(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, h), 1<<level>>1))
		r := binary.BigEndian.Uint64(sum[:])
		if narrow {
			r >>= 32
		}
		return place(r, level)
	}
	half := numbered.Mask(n)>>1 + 1
	if slot := spread(2*half - 1); slot < n {
		return slot
	}
	state := h
	for x := half - 1; ; {
		state = state*2862933555777941757 + 1
		next, inside := step(x, n, (state>>33+1)<<33)
		switch {
		case inside:
			x = next
		case x < half:
			return spread(half - 1)
		default:
			return x
		}
	}
}

var sink algorithms.Bucket

// BenchmarkLookup sets a lookup beside the xxh3 hash of a key of 16 bytes. The
// keys are 2^20 different ones.
func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	hs, keys := make([]uint64, 1<<20), make([]string, 1<<20)
	for i := range hs {
		hs[i] = r.Uint64()
		keys[i] = fmt.Sprintf("%016x", hs[i])
	}
	b.Run("hash", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			sink += algorithms.Bucket(xxh3.HashString(keys[i&(len(keys)-1)]))
		}
	})
	for _, n := range []int{8, 9, 10, 16, 17, 96, 100, 128, 129, 1000, 1024, 1025, 10000} {
		var m algorithms.Mapper = build(b, n)
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				sink += m.Lookup(hs[i&(len(hs)-1)])
			}
		})
	}
}
