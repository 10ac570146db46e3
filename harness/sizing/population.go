package sizing

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// A population is how even many placements of one kind are, each metric sorted.
type population struct{ peak, cv []float64 }

func populationOf(spreads []harness.Spread) *population {
	p := &population{}
	for _, s := range spreads {
		p.peak = append(p.peak, Peak.of(s))
		p.cv = append(p.cv, CV.of(s))
	}
	slices.Sort(p.peak)
	slices.Sort(p.cv)
	return p
}

func (p *population) values(m Metric) []float64 {
	if m == CV {
		return p.cv
	}
	return p.peak
}

func (p *population) mean(m Metric) float64 { return stat.Mean(p.values(m), nil) }

// quantile returns the smallest value that the part q of the placements keeps.
func (p *population) quantile(m Metric, q float64) float64 {
	return stat.Quantile(q, stat.Empirical, p.values(m), nil)
}

// within returns the part of the placements whose metric is at most x.
func (p *population) within(m Metric, x float64) float64 {
	vs := p.values(m)
	n, _ := slices.BinarySearchFunc(vs, x, func(v, x float64) int {
		if v <= x {
			return -1
		}
		return 1
	})
	return float64(n) / float64(len(vs))
}

// inParallel calls f for each i below n, on all cores. The first error, by
// index, is returned.
func inParallel(n int, f func(i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, n)
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// draw collects what n placements show.
func draw(n int, place func(i int) (harness.Spread, error)) (*population, error) {
	spreads := make([]harness.Spread, n)
	err := inParallel(n, func(i int) error {
		var err error
		spreads[i], err = place(i)
		return err
	})
	if err != nil {
		return nil, err
	}
	return populationOf(spreads), nil
}

// rand returns the generator of draw i for a use. It does not depend on the
// knob, so that two values of it are compared under the same luck.
func (s *solver) rand(use string, i int) *rand.Rand {
	return workloads.Rand(s.q.Seed, use, strconv.Itoa(i))
}

// population returns the placements that the table tells of: those of the model
// or, where it does not hold, of the algorithm itself.
func (s *solver) population(v int) (*population, error) {
	if counts := s.counts(v); counts != nil && !s.names {
		return s.modelled(counts, s.draws())
	}
	return s.measured(v, min(s.placements(v), mostPlacements/2))
}

// modelled draws n placements from the model.
func (s *solver) modelled(counts []int, n int) (*population, error) {
	return draw(n, func(i int) (harness.Spread, error) {
		r := s.rand("model", i)
		shares := make([]float64, len(counts))
		dirichlet(counts, r, shares)
		return s.spread(shares, r), nil
	})
}

// spread judges shares: by themselves, or by the keys that fall on them.
func (s *solver) spread(shares []float64, r *rand.Rand) harness.Spread {
	if s.q.Keys != nil {
		shares = s.q.Keys.place(shares, r)
	}
	return harness.SpreadOf(shares, s.weights)
}

// dirichlet draws the shares of nodes that have so many of the points which
// stand at random on a circle.
func dirichlet(counts []int, r *rand.Rand, shares []float64) {
	total := 0.0
	for i, n := range counts {
		shares[i] = distuv.Gamma{Alpha: float64(n), Beta: 1, Src: r}.Rand()
		total += shares[i]
	}
	for i := range shares {
		shares[i] /= total
	}
}

// Bounds of the work that asking the algorithm itself takes.
const (
	leastPlacements = 100
	mostPlacements  = 1000
	pointBudget     = 30_000_000  // where that allows more than the least
	mostPoints      = 400_000_000 // even for the least
	leastTables     = 20          // their shares hardly differ from one set of names to another
)

// table reports whether the knob counts the slots of a table.
func (s *solver) table() bool { return s.q.Info.Shared && s.counts(1) == nil }

// placements returns over how many sets of names the algorithm is asked.
func (s *solver) placements(v int) int {
	points := float64(v) * float64(len(s.nodes))
	if s.table() {
		return int(min(max(pointBudget/float64(v), leastTables), leastPlacements))
	}
	if counts := s.counts(v); counts != nil {
		points = 0
		for _, n := range counts {
			points += float64(n)
		}
	}
	least := min(max(mostPoints/points, 3), leastPlacements)
	return int(min(max(pointBudget/points, least), mostPlacements))
}

// measured asks the algorithm itself over n sets of random names.
func (s *solver) measured(v, n int) (*population, error) {
	params := s.with(v)
	if s.q.Trying != nil {
		s.q.Trying(s.step(v), n)
	}
	return draw(n, func(i int) (harness.Spread, error) {
		shares, err := s.sharesOf(s.renamed(i), params)
		if err != nil {
			return harness.Spread{}, err
		}
		return s.spread(shares, s.rand("keys", i)), nil
	})
}

// sharesOf returns the exact shares of the nodes.
func (s *solver) sharesOf(nodes []algorithms.Node, params []byte) ([]float64, error) {
	if s.q.Info.Shares != nil && s.counts(1) != nil {
		return s.q.Info.Shares(nodes, params)
	}
	p, err := harness.NewPlacement(s.q.Info, nodes, params)
	if err != nil {
		return nil, err
	}
	shares, ok := p.Shares()
	if !ok {
		return nil, errNoShares(s.q.Info.Name)
	}
	return shares, nil
}

func errNoShares(name string) error {
	return algorithms.Unsupported("%s does not tell what its nodes own, so its balance cannot be computed", name)
}

// renamed returns the nodes under the i-th set of random names.
func (s *solver) renamed(i int) []algorithms.Node {
	nodes := slices.Clone(s.nodes)
	for k, name := range Names(len(nodes), s.rand("names", i)) {
		nodes[k].Name = name
	}
	return nodes
}

// relativeVariance returns the mean over the nodes of the mean square of
// share/fair - 1, with so many points. For n nodes of v points it is
// (n-1)/(nv+1).
func (s *solver) relativeVariance(counts []int) float64 {
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	sum := 0.0
	for i, n := range counts {
		mean := float64(n) / total
		variance := mean * (1 - mean) / (total + 1)
		off := mean/s.fair[i] - 1
		sum += variance/(s.fair[i]*s.fair[i]) + off*off
	}
	return sum / float64(len(counts))
}

// crowding is that of the nodes: what the keys' share of a squared cv is a
// multiple of.
func (s *solver) crowding() float64 { return harness.Crowding(s.weights) }

func square(x float64) float64 { return x * x }
