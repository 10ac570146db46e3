package binomial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/binomial"
)

func TestConformance(t *testing.T) { algotest.Test(t, binomial.Info) }

func build(t testing.TB, n int) *binomial.Map {
	t.Helper()
	m, err := binomial.New(longrun.Names(n), binomial.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Lookup computes ahead and picks, where LookupProbes goes step by step.
func TestLookupIsTheAlgorithmAsPrinted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tries := range []int{1, 2, 3, 4, 5, 64} {
		for _, n := range longrun.Sizes() {
			m, err := binomial.New(longrun.Names(n), binomial.Config{Tries: tries})
			if err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				h := r.Uint64()
				want, _ := m.LookupProbes(h)
				if got := m.Lookup(h); got != want {
					t.Fatalf("of %d nodes with %d tries, %#x goes to %d, want %d", n, tries, h, got, want)
				}
			}
		}
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, binomial.Info, nil) }

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) {
	longrun.Changes(t, binomial.Info, nil, 40, func(t *rapid.T, m algorithms.Mapper, hs []uint64) {
		for _, h := range hs[:20] {
			want, _ := m.(algorithms.Prober).LookupProbes(h)
			if got := m.Lookup(h); got != want {
				t.Fatalf("of %d nodes, %#x goes to %d, want %d", m.Len(), h, got, want)
			}
		}
	})
}

// With q the chance that a draw from all 2^k buckets is n or beyond, the first
// hash leaves q of the keys over. Each further try takes two and ends it but for
// such a draw, and those that end in the smaller tree, of 1/2 to 1-q, take one more.
func TestHashesAreThoseOfThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 5, 8, 9, 12, 17, 64, 65, 100, 1000, 1024, 1025, 4097} {
		q := beyond(n)
		want := 1 + 2.5*q/(1-q)
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

// The hashes are our own choice, so that no vector holds them: a change of theirs
// moves every key of everybody.
func TestPlacementStaysWhatItWas(t *testing.T) {
	for n, want := range map[int][]algorithms.Bucket{
		16:   {0, 13, 15, 10, 14, 13, 8, 15},
		1000: {0, 465, 713, 331, 745, 315, 736, 466},
	} {
		m := build(t, n)
		var got []algorithms.Bucket
		for h := range uint64(8) {
			got = append(got, m.Lookup(h*0x0123456789abcdef))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d nodes (-want +got):\n%s", n, diff)
		}
	}
}

// Few tries leave the lowest level short of the part q^tries of its keys.
func TestFewTriesStarveTheLowestLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{3, 9, 10, 33, 100} {
		for _, tries := range []int{1, 2, 4, 64} {
			m, err := binomial.New(longrun.Names(n), binomial.Config{Tries: tries})
			if err != nil {
				t.Fatal(err)
			}
			level := ceil(n) / 2
			fair := float64(n-level) / float64(n)
			want := fair * (1 - math.Pow(beyond(n), float64(tries)))
			const keys = 400_000
			lowest := 0
			for range keys {
				if int(m.Lookup(r.Uint64())) >= level {
					lowest++
				}
			}
			got := float64(lowest) / keys
			if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/keys) {
				t.Errorf("%d nodes with %d tries: the lowest level has %.4f of the keys, want %.4f of its fair %.4f", n, tries, got, want, fair)
			}
		}
	}
}

// beyond returns the part of the full tree over n nodes that is not there.
func beyond(n int) float64 { return 1 - float64(n)/float64(ceil(n)) }

func TestNoTriesAreRefused(t *testing.T) {
	for _, tries := range []int{0, -1} {
		_, err := binomial.New(longrun.Names(3), binomial.Config{Tries: tries})
		if err == nil || !strings.Contains(err.Error(), "a key needs at least 1") {
			t.Errorf("%d tries: error %v", tries, err)
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

func TestFootprintIsThreeNumbers(t *testing.T) {
	for _, n := range []int{1, 10_000} {
		if got := build(t, n).Footprint(); got != 24 {
			t.Errorf("%d nodes take %d bytes, want 24", n, got)
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
