package flip_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/flip"
)

func TestConformance(t *testing.T) { algotest.Test(t, flip.Info) }

func TestHashGivesThePublishedBuckets(t *testing.T) {
	data, err := os.ReadFile("testdata/flip.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Source     string
		Placements []struct {
			Key    uint64 `json:",string"`
			Seed   uint64 `json:",string"`
			N      []int32
			Bucket []int32
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Placements) == 0 {
		t.Fatal("no vectors")
	}
	for _, p := range v.Placements {
		got := make([]int32, len(p.N))
		for i, n := range p.N {
			got[i] = flip.Hash(p.Key^p.Seed, n)
		}
		if diff := cmp.Diff(p.Bucket, got); diff != "" {
			t.Errorf("key %d, seed %d (-want +got, %s):\n%s", p.Key, p.Seed, v.Source, diff)
		}
	}
}

func TestHashOfNoBucketsIsMinusOne(t *testing.T) {
	for _, n := range []int32{0, -1, math.MinInt32} {
		if got := flip.Hash(1, n); got != -1 {
			t.Errorf("Hash(1, %d) = %d, want -1", n, got)
		}
	}
}

func build(t testing.TB, n int) *flip.Map {
	t.Helper()
	m, err := flip.New(longrun.Names(n), flip.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Lookup computes ahead and picks, where Hash goes step by step.
func TestLookupIsTheAlgorithmAsPrinted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range longrun.Sizes() {
		m := build(t, n)
		for range 5000 {
			h := r.Uint64()
			if got, want := m.Lookup(h), flip.Hash(h, int32(n)); got != algorithms.Bucket(want) {
				t.Fatalf("of %d nodes, %#x goes to %d, want %d", n, h, got, want)
			}
		}
	}
}

func FuzzGrowthMovesAKeyOnlyToTheNewBucket(f *testing.F) {
	f.Add(uint64(1), int32(7))
	f.Add(uint64(math.MaxUint64), int32(1<<30))
	f.Fuzz(func(t *testing.T, h uint64, n int32) {
		n &= math.MaxInt32 - 1
		before, after := flip.Hash(h, n), flip.Hash(h, n+1)
		if after != before && after != n || after < 0 {
			t.Errorf("%#x goes from %d of %d to %d", h, before, n, after)
		}
	})
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, flip.Info, nil) }

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) {
	longrun.Changes(t, flip.Info, nil, 40, func(t *rapid.T, m algorithms.Mapper, hs []uint64) {
		for _, h := range hs[:20] {
			want := algorithms.Bucket(flip.Hash(h, int32(m.Len())))
			if got := m.Lookup(h); got != want {
				t.Fatalf("of %d nodes, %#x goes to %d, want %d", m.Len(), h, got, want)
			}
		}
	})
}

// With q the chance that a draw from all 2^k buckets is n or beyond, the first two
// hashes leave q of the keys over. Each further one ends it but for such a draw, and
// those that it ends in the lower half, of 1/2 to 1-q, take one more.
func TestHashesAreThoseOfThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 3, 5, 8, 9, 12, 17, 64, 65, 100, 1000, 1024, 1025, 4097} {
		q := 1 - float64(n)/float64(ceil(n))
		want := 2 + 1.5*q/(1-q)
		m := build(t, n)
		sum, keys := 0, 200_000
		for range keys {
			_, hashes := m.LookupProbes(r.Uint64())
			sum += hashes
		}
		if got := float64(sum) / float64(keys); math.Abs(got-want) > 0.01*want || want > 3.5 {
			t.Errorf("%d nodes take %.4f hashes, want %.4f", n, got, want)
		}
	}
}

// ceil returns the least power of two that is not below n.
func ceil(n int) int {
	c := 1
	for c < n {
		c *= 2
	}
	return c
}

func TestFootprintIsTwoNumbers(t *testing.T) {
	for _, n := range []int{1, 10_000} {
		if got := build(t, n).Footprint(); got != 16 {
			t.Errorf("%d nodes take %d bytes, want 16", n, got)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	hs := make([]uint64, 1<<20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range hs {
		hs[i] = r.Uint64()
	}
	for _, n := range []int{8, 9, 100, 1000, 1024, 1025} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			m := build(b, n)
			for i := 0; b.Loop(); i++ {
				sink += m.Lookup(hs[i&(len(hs)-1)])
			}
		})
	}
}

var sink algorithms.Bucket
