package harness

import (
	"math"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// scheduleOf returns the schedule of a trial, over the members that there are. All
// contestants face the same.
func (e *examination) scheduleOf(tr *results.Trial) (workloads.Schedule, error) {
	var members []int
	for i, in := range e.base.Member {
		if in {
			members = append(members, i)
		}
	}
	r := workloads.Rand(tr.Seed, tr.Schedule, strconv.Itoa(len(members)))
	s, err := workloads.ParseSchedule(tr.Schedule, len(members), r)
	if err != nil {
		return s, algorithms.Unsupported("%v", err)
	}
	for _, step := range s.Steps {
		for i, c := range step {
			if c.Node < len(members) {
				step[i].Node = members[c.Node]
			} else {
				step[i].Node = c.Node - len(members) + len(e.base.Nodes)
			}
		}
	}
	return s, nil
}

// eachStep carries the trial's schedule out and calls f with what look saw before
// each step and after it, and returns the number of steps. With anew, each state
// is built from its list of members, as by a client that has just read it, and not
// changed from the one before.
func eachStep[T any](e *examination, tr *results.Trial, anew bool, look func(*Placement) (T, error), f func(before, after T)) (steps int, err error) {
	schedule, err := e.scheduleOf(tr)
	if err != nil {
		return 0, err
	}
	base, err := look(e.base)
	if err != nil {
		return 0, err
	}
	var now *Placement
	var before T
	for i, step := range schedule.Steps {
		if i == 0 || schedule.Independent {
			if now, err = e.sub.place(); err != nil {
				return 0, err
			}
			before = base
		}
		if err := now.Apply(e.sub.announced(now, step)...); err != nil {
			return 0, err
		}
		if anew {
			if err := now.rebuild(); err != nil {
				return 0, err
			}
		}
		after, err := look(now)
		if err != nil {
			return 0, err
		}
		f(before, after)
		before = after
	}
	return len(schedule.Steps), nil
}

// eachOwners is eachStep for who owns each key, with their digest in the trial.
func (e *examination) eachOwners(tr *results.Trial, anew bool, f func(before, after []int32)) (steps int, err error) {
	look := func(p *Placement) ([]int32, error) {
		if p == e.base {
			return e.baseOwners(), nil
		}
		return e.ownersOf(p), nil
	}
	return eachStep(e, tr, anew, look, func(before, after []int32) {
		f(before, after)
		tr.Check = digestOf(after)
	})
}

// views tells on how many keys, and how many requests, two clients disagree of
// which one knows the state before each step of the schedule and the other the
// one after it. Of several steps the mean is recorded.
func (e *examination) views(tr *results.Trial) error {
	p := e.pl.keys.ofWorkload(tr.Workload).P
	keys, requests := 0.0, 0.0
	steps, err := e.eachOwners(tr, true, func(one, other []int32) {
		for rank, node := range one {
			if node != other[rank] {
				keys++
				requests += p(rank)
			}
		}
	})
	if err != nil {
		return err
	}
	tr.Values["view-disagreement"] = keys / float64(len(e.baseOwners())) / float64(steps)
	tr.Values["view-disagreement-load"] = requests / float64(steps)
	return nil
}

// MissSeconds are the times after a change at which the misses are recorded. The
// list must not be changed.
var MissSeconds = []float64{0, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200}

// misses tells what a change costs a cache in front of an origin. Every node had
// all its keys; a key that has changed its node is missed once, at its next
// request, and nothing expires. Requests come at a steady rate, each for a key by
// the popularity and independent of the others: the request for a key of
// probability p that comes first t seconds after the change has the density
// p*rate * exp(-p*rate*t), and the sum of that over the keys that moved is the rate
// of the misses. Of several steps the mean is recorded, each as if the caches had
// been full before it.
func (e *examination) misses(tr *results.Trial) error {
	popularity := e.pl.keys.ofWorkload(tr.Workload)
	sum := make([]float64, len(MissSeconds))
	total := 0.0
	steps, err := e.eachOwners(tr, false, func(before, after []int32) {
		rates, all := MissRates(popularity, e.exp.Rate, func(rank int) bool { return before[rank] != after[rank] })
		for i, r := range rates {
			sum[i] += r
		}
		total += all
	})
	if err != nil {
		return err
	}
	for i := range sum {
		sum[i] /= float64(steps)
	}
	tr.Values["miss-peak"] = sum[0]
	tr.Values["miss-total"] = total / float64(steps)
	tr.Series = map[string][]float64{"miss_seconds": MissSeconds, "misses": rounded(sum)}
	return nil
}

// MissRates returns the misses a second at each of MissSeconds, and in all, when
// the keys that are cold are missed once. It takes time for every cold key at every
// of these seconds.
func MissRates(popularity *workloads.Popularity, rate float64, cold func(rank int) bool) (rates []float64, total float64) {
	rates = make([]float64, len(MissSeconds))
	for rank := range popularity.Len() {
		requests := popularity.P(rank) * rate // a second
		if requests == 0 || !cold(rank) {
			continue
		}
		total++
		for i, t := range MissSeconds {
			left := math.Exp(-float64(requests * t)) // that it has not come yet
			if left == 0 {
				break
			}
			rates[i] += float64(requests * left)
		}
	}
	return rates, total
}
