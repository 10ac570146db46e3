package harness

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// The relative standard deviation of ring shares is sqrt((n-1)/(nv+1)), in the
// root of the mean of its square over placements.
func TestRingSharesSpreadAsTheorySays(t *testing.T) {
	if testing.Short() {
		t.Skip("draws 14,000 rings: minutes under the race detector")
	}
	for _, size := range []struct{ nodes, placements int }{{10, 4000}, {100, 400}, {1000, 200}} {
		for _, vnodes := range []int{10, 100, 1000} {
			n := size.nodes
			if n*vnodes == 1_000_000 {
				size.placements = 40 // of 1,000 nodes each: the figure is known to half a percent
			}
			squares := make([]float64, size.placements)
			parallel(size.placements, func(i int) {
				sub := subject{contestant: &Contestant{}, weights: []float64{1}, n: n, seed: uint64(i)}
				p := mustPlace(t, ring.Info, sub.nodes(), fmt.Sprintf(`{"vnodes": %d}`, vnodes))
				shares, _ := p.Shares()
				w, _ := p.Weights()
				cv := SpreadOf(shares, w).CV
				squares[i] = cv * cv
			})
			sum := 0.0
			for _, s := range squares {
				sum += s
			}
			got := math.Sqrt(sum / float64(size.placements))
			want := math.Sqrt(float64(n-1) / float64(n*vnodes+1))
			t.Logf("n=%d v=%d: stddev/mean %.5f, theory %.5f, %+.2f%%", n, vnodes, got, want, 100*(got/want-1))
			if math.Abs(got/want-1) > 0.02 {
				t.Errorf("n=%d v=%d: stddev/mean %.5f over %d placements, theory %.5f", n, vnodes, got, size.placements, want)
			}
		}
	}
}

// parallel calls f for 0..n-1 on all cores.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

// A trial tells the random points of a node, as the algorithm does: those in force,
// none where they are listed by hand, and none of an algorithm that only has the name
// or the parameters of a ring. What was not measured tells nothing.
func TestEachTrialTellsTheRandomPointsOfANode(t *testing.T) {
	type config struct {
		VNodes int `json:"vnodes"`
	}
	like := algorithms.Define("ring-like", "a fake", config{160}, func(nodes []algorithms.Node, _ config) (*fake, error) {
		if !algorithms.EqualWeights(nodes) {
			return nil, algorithms.Unsupported("weights must be equal")
		}
		return &fake{len(nodes), fair}, nil
	})
	for contestant, want := range map[string]int{
		`algorithm = "ring"`: 160,
		"algorithm = \"bounded-ring\"\nparams = { vnodes = 20, modulus = 360 }": 20,
		"algorithm = \"ring\"\ntotal = 100":                                     25, // shared out
		`algorithm = "ring"
names = "node-{i}"
params = { points = [{ position = 1, node = "node-0" }, { position = 7, node = "node-1" }, { position = 9, node = "node-2" }, { position = 11, node = "node-3" }] }`: 0,
		`algorithm = "ring-like"`:                      0,
		`algorithm = "modulo"`:                         0,
		"algorithm = \"ring-like\"\nweights = \"1:2\"": -1, // refused
	} {
		sink, _ := mustRun(t, mustPlan(t, `
nodes = [4]
keys = "seq:1000"
pool = 1024
[[contestant]]
`+contestant+`
[[experiment]]
name = "x"
measures = ["balance", "allocations"]
reps = 1
`, boundedring.Info, like))
		for _, tr := range sink.trials {
			switch {
			case want < 0 && (tr.Skip == "" || tr.Points != nil):
				t.Errorf("%s: skip %q, points %v", tr.Cell, tr.Skip, tr.Points)
			case want >= 0 && tr.Skip == "" && (tr.Points == nil || *tr.Points != want):
				t.Errorf("%s: points %v, want %d", tr.Cell, tr.Points, want)
			}
		}
		if len(sink.trials) != 2 || want >= 0 && sink.trials[0].Skip != "" {
			t.Errorf("%s: %d trials, want 2, the first with figures", contestant, len(sink.trials))
		}
	}
}
