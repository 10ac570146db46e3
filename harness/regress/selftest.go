package regress

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// A SelfTest is what comparisons of a program with itself have told. Every change
// that they saw is false.
type SelfTest struct {
	Comparisons int     `json:"comparisons"` // of a cell with itself
	Changed     int     `json:"changed"`     // called regressed or improved
	Rate        float64 `json:"rate"`        // of false verdicts
	RateBound   float64 `json:"rate_bound"`  // the rate is below it with a confidence of 95%
	Unsure      int     `json:"inconclusive"`

	// Spread is the standard deviation of the estimated change over the
	// comparisons, and MinimumEffect the least change that is worth asking for
	// here: three times the spread, or 1%.
	Spread        float64 `json:"spread"`
	MinimumEffect float64 `json:"minimum_effect"`

	// OrderBias is the median change, over cells and rounds, from the side that
	// began to the other. Who begins is drawn, so that it cancels out; more than
	// 0.2% is suspect.
	OrderBias float64 `json:"order_bias"`

	False []results.Change `json:"false"` // the rows that were called changed
}

// Against compares the program with itself until so many cells were compared. With
// an error it returns what it had found before, if anything.
func Against(ctx context.Context, program Side, o Options, comparisons int) (t SelfTest, err error) {
	var estimates, biases []float64
	defer func() {
		if t.Comparisons > 0 {
			t.conclude(estimates, biases)
		}
	}()
	o.observe = func(change float64) { biases = append(biases, change) }
	progress := o.Progress
	for t.Comparisons < comparisons {
		if progress != nil {
			done := fmt.Sprintf("%d of %d comparisons, ", t.Comparisons, comparisons)
			o.Progress = func(p Progress) { p.Stage = done + p.Stage; progress(p) }
		}
		o.Seed++
		c, err := Compare(ctx, program, program, o)
		if err != nil {
			return t, err
		}
		before := t.Comparisons
		for _, r := range c.Rows {
			if m, _ := results.MetricByName(r.Metric); m.Kind != results.Timed {
				continue
			}
			t.Comparisons++
			estimates = append(estimates, math.Log(float64(r.Ratio)))
			switch r.Verdict {
			case results.Unchanged:
			case results.Inconclusive:
				t.Unsure++
			default:
				t.Changed++
				t.False = append(t.False, r)
			}
		}
		if t.Comparisons == before {
			return t, harness.ErrNoCell
		}
	}
	return t, nil
}

// conclude works out the rates, from the estimates of the comparisons and what each
// round told about the order.
func (t *SelfTest) conclude(estimates, biases []float64) {
	t.Rate = float64(t.Changed) / float64(t.Comparisons)
	_, t.RateBound = binomialBounds(t.Changed, t.Comparisons)
	t.Spread = spread(estimates)
	t.MinimumEffect = max(0.01, 3*t.Spread)
	t.OrderBias = math.Exp(medianOf(slices.Sorted(slices.Values(biases)))) - 1
}

// spread returns the standard deviation of the values around no change.
func spread(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x * x
	}
	return math.Sqrt(sum / float64(max(1, len(xs))))
}

// binomialBounds returns the rates below and above which the true one lies with a
// probability of 5% each (Clopper and Pearson 1934), after k of n.
func binomialBounds(k, n int) (low, high float64) {
	const tail = 0.05
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}

// A Detection is how often a slowdown was found that had been put in.
type Detection struct {
	Percent     float64 `json:"percent"` // of extra work in head
	Cell        string  `json:"cell"`
	Comparisons int     `json:"comparisons"`
	Detected    int     `json:"detected"`
	RateBound   float64 `json:"rate_bound"` // the rate is above it with a confidence of 95%
	Estimate    float64 `json:"estimate"`   // mean of the estimated changes, in percent
}

//go:embed inject.toml
var injectSpec []byte

// InjectSpec returns the cells that slowdowns are put into unless others are
// asked for: a lookup that computes, one that reads from caches, and one that
// reads from memory.
func InjectSpec() (*harness.Spec, error) { return harness.ParseSpec("inject.toml", injectSpec) }

// Inject compares the program with itself while the head does so many percent more
// lookups, of other keys, until each cell was compared so often with each percent;
// and says how often that was found, by cell and percent. Cells that do not time
// independent lookups are passed over. With an error it returns what it had found
// before, if anything.
func Inject(ctx context.Context, program Side, o Options, percents []float64, comparisons int) (all []Detection, err error) {
	o.inject = percents
	progress := o.Progress
	defer func() {
		for i := range all {
			d := &all[i]
			d.Estimate /= float64(d.Comparisons)
			d.RateBound, _ = binomialBounds(d.Detected, d.Comparisons)
		}
	}()
	for i := range comparisons {
		if progress != nil {
			done := fmt.Sprintf("%d of %d, ", i, comparisons)
			o.Progress = func(p Progress) { p.Stage = done + p.Stage; progress(p) }
		}
		o.Seed++
		s, err := newSession(ctx, program, program, o)
		if err == nil {
			err = s.describe()
		}
		if err == nil {
			err = s.time()
		}
		if err != nil {
			return all, err
		}
		if all == nil {
			for _, c := range s.cells {
				all = append(all, Detection{Percent: c.slower, Cell: c.name})
			}
		}
		for i, f := range s.findings {
			d := &all[i]
			d.Comparisons++
			d.Estimate += 100 * (math.Exp(f.estimate) - 1)
			if f.verdict == results.Regressed {
				d.Detected++
			}
		}
	}
	if all == nil {
		return nil, harness.ErrNoCell
	}
	return all, nil
}
