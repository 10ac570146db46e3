package claims

import (
	"fmt"
	"math"
	"slices"

	"github.com/ringbench/ringbench/workloads"
)

// The measures of this file are about requests: how popular keys are, and what a cold
// cache misses.

// popular is the part of the requests for the most popular of n keys.
func popular(popularity string, n int) measure {
	return measure{
		setup: fmt.Sprintf("%s over %s keys, the most popular one", popularity, thousands(n)),
		exact: true,
		take: func(*lab) (estimate, error) {
			p, err := workloads.ParsePopularity(popularity, n, nil)
			if err != nil {
				return estimate{}, err
			}
			top := 0.0
			for rank := range n {
				top = max(top, p.P(rank))
			}
			return known(top), nil
		},
	}
}

// missing is the misses a second so long after a change, or with seconds below 0
// the misses in all. The keys are what is random in modulo, the ring on a ring.
func (c cell) missing(seconds float64) measure {
	what := "misses in all"
	if seconds >= 0 {
		what = fmt.Sprintf("misses a second after %g s", seconds)
	}
	return measure{
		setup: c.text() + ", 50,000 requests a second: " + what,
		take: func(l *lab) (estimate, error) {
			trials, err := l.run(c)
			if err != nil {
				return estimate{}, err
			}
			vs := make([]float64, len(trials))
			for i, t := range trials {
				vs[i] = t.Values["miss-total"]
				if seconds >= 0 {
					at := slices.Index(t.Series["miss_seconds"], seconds)
					vs[i] = t.Series["misses"][at]
				}
			}
			e := mean(vs)
			if len(vs) > 1 {
				return e, nil
			}
			// Each key misses or does not, with one chance for all.
			keys := mustKeys(c.keys).Len()
			p, err := workloads.ParsePopularity(c.requests, keys, nil)
			if err != nil {
				return e, err
			}
			chance := trials[0].Values["miss-total"] / float64(keys)
			square := 0.0
			for rank := range keys {
				x := 1.0
				if seconds >= 0 {
					rate := p.P(rank) * 50_000
					x = rate * math.Exp(-float64(rate*seconds))
				}
				square += float64(x * x)
			}
			e.err = math.Sqrt(square * chance * (1 - chance))
			return e, nil
		},
	}
}

// firstSecond is the part of all misses that come within the first second, between
// what the rates at its two ends allow.
func (c cell) firstSecond() measure {
	return measure{
		setup: c.text() + ", 50,000 requests a second: the part of the misses in the first second",
		take: func(l *lab) (estimate, error) {
			trials, err := l.run(c)
			if err != nil {
				return estimate{}, err
			}
			t := trials[0]
			rates := t.Series["misses"]
			at := slices.Index(t.Series["miss_seconds"], 1)
			middle := (rates[0] + rates[at]) / 2 / t.Values["miss-total"]
			spread := (rates[0] - rates[at]) / 2 / t.Values["miss-total"]
			return estimate{value: middle, err: spread / errorsAllowed, low: middle - spread, high: middle + spread, least: middle, most: middle}, nil
		},
	}
}
