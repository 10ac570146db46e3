package workloads

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEveryReleaseEndsAnOutstandingRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 2000).Draw(t, "count")
		mean := rapid.Float64Range(1, 100).Draw(t, "mean")
		seed := rapid.Uint64().Draw(t, "seed")
		p := Zipf(1, 50)
		outstanding := map[int]int{} // request to rank
		arrivals, most, numbers := 0, 0, 0
		for e := range Requests(p, count, mean, rand.New(rand.NewPCG(seed, 0))) {
			rank, held := outstanding[e.Request]
			if e.Release {
				if !held || rank != e.Rank {
					t.Fatalf("request %d for rank %d ends; outstanding: %v, for rank %d", e.Request, e.Rank, held, rank)
				}
				delete(outstanding, e.Request)
				continue
			}
			if held {
				t.Fatalf("request %d arrives while it is outstanding", e.Request)
			}
			if e.Rank < 0 || e.Rank >= p.Len() {
				t.Fatalf("request %d asks for rank %d", e.Request, e.Rank)
			}
			outstanding[e.Request] = e.Rank
			arrivals++
			most = max(most, len(outstanding))
			numbers = max(numbers, e.Request+1)
		}
		if arrivals != count {
			t.Fatalf("%d requests arrived, want %d", arrivals, count)
		}
		if numbers != most {
			t.Fatalf("%d numbers for at most %d outstanding requests", numbers, most)
		}
	})
}

func TestHoldingTimesAreGeometric(t *testing.T) {
	const draws = 200_000
	for _, mean := range []float64{1, 1.5, 20, 1000} {
		r := Rand(1, "holding")
		observed := make([]int, int(30*mean))
		for range draws {
			h := holding(mean, r)
			if h < 1 {
				t.Fatalf("mean %v: a request holds for %d", mean, h)
			}
			observed[min(int(h), len(observed)-1)]++
		}
		if mean == 1 {
			if observed[1] != draws {
				t.Errorf("mean 1: %d of %d requests hold for 1", observed[1], draws)
			}
			continue
		}
		p := chiSquare(observed[1:], func(i int) float64 {
			return draws / mean * math.Pow(1-1/mean, float64(i))
		})
		if p < 1e-4 || p > 1-1e-4 {
			t.Errorf("mean %v: chi-square has p = %g", mean, p)
		}
	}
}

func TestOutstandingRequestsSettleAtTheMean(t *testing.T) {
	for _, mean := range []float64{1, 2.5, 30, 500} {
		const rounds = 2000 // of as many arrivals as the mean
		count := int(mean * (rounds + 20))
		outstanding, arrivals, sum := 0, 0, 0
		for e := range Requests(Uniform(10), count, mean, Rand(1, "settle")) {
			if e.Release {
				outstanding--
				continue
			}
			outstanding++
			arrivals++
			if arrivals > int(20*mean) {
				sum += outstanding
			}
		}
		// The number outstanding has a variance of at most the mean, and about
		// half as many independent values as there are rounds.
		got := float64(sum) / float64(arrivals-int(20*mean))
		if sd := math.Sqrt(mean / (rounds / 2)); math.Abs(got-mean) > 5*sd {
			t.Errorf("mean %v: %v are outstanding on average, want within %v", mean, got, 5*sd)
		}
	}
}

func TestArrivalsNeverEnd(t *testing.T) {
	p := Zipf(0.99, 100)
	r := Rand(1, "arrivals")
	var want []Event
	for i := range 500 {
		want = append(want, Event{Request: i, Rank: p.Sample(r)})
	}
	got := slices.Collect(Arrivals(p, 500, Rand(1, "arrivals")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAStreamCanBeLeftEarly(t *testing.T) {
	p := Uniform(10)
	whole := slices.Collect(Requests(p, 50, 3, Rand(1)))
	for take := range len(whole) {
		var got []Event
		for e := range Requests(p, 50, 3, Rand(1)) {
			if got = append(got, e); len(got) > take {
				break
			}
		}
		if diff := cmp.Diff(whole[:take+1], got); diff != "" {
			t.Fatalf("after %d events (-want +got):\n%s", take+1, diff)
		}
	}
	for range Arrivals(p, 50, Rand(1)) {
		break
	}
}
