package harness

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

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
