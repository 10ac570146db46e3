package harness

import (
	"iter"
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// bounded places a stream of requests under the algorithm's bound and records
// what the bound costs and brings.
func (e *examination) bounded(tr *results.Trial) error {
	p, err := e.base.Clone()
	if err != nil {
		return err
	}
	m, ok := p.Mapper.(algorithms.Assigner)
	if !ok {
		return algorithms.Unsupported("%s does not place requests under a bound", e.sub.info.Name)
	}
	requests := e.exp.Requests
	if requests == 0 {
		requests = e.pl.keys.set.Len()
	}
	popularity := e.pl.keys.ofWorkload(tr.Workload)
	r := workloads.Rand(tr.Seed, tr.Workload, "requests")
	events := workloads.Arrivals(popularity, requests, r)
	if e.exp.Outstanding > 0 {
		events = workloads.Requests(popularity, requests, float64(e.exp.Outstanding), r)
	}
	t := place(m, events, e.pl.keys.hashed(e.sub.hash), hottest(popularity))
	weights, _ := p.Weights()
	held := make([]float64, len(p.Nodes))
	hot, full, members := 0, 0, 0
	for b, n := range t.held {
		i := p.NodeOf(algorithms.Bucket(b))
		if i < 0 {
			continue
		}
		held[i] = float64(n)
		if t.hot[b] {
			hot++
		}
	}
	loader, tells := m.(algorithms.Loader)
	for b := range p.nodeOf {
		if i := p.NodeOf(algorithms.Bucket(b)); i >= 0 && weights[i] > 0 && tells {
			members++
			if load, capacity := loader.Load(algorithms.Bucket(b)); load >= capacity {
				full++
			}
		}
	}
	s := SpreadOf(held, weights)
	tr.Values["load-cv"] = s.CV
	tr.Values["load-peak"] = s.Peak
	tr.Values["spill-fraction"] = float64(t.spilled) / float64(t.arrived)
	tr.Values["hot-key-nodes"] = float64(hot)
	tr.Values["bound-violations"] = math.NaN()
	if tells {
		tr.Values["full-fraction"] = float64(full) / float64(max(members, 1))
		tr.Values["bound-violations"] = float64(t.violations)
	}
	if _, ok := m.(algorithms.StepAssigner); ok {
		tr.Values["extra-steps"] = float64(t.steps) / float64(t.arrived)
	}
	if e.first() && tr.Nodes <= 1000 {
		tr.Series = map[string][]float64{"loads": held}
	}
	tr.Check = digestOf(t.owners)
	return nil
}

// hottest returns the rank that is asked for most.
func hottest(p *workloads.Popularity) int {
	best := 0
	for rank := range p.Len() {
		if p.P(rank) > p.P(best) {
			best = rank
		}
	}
	return best
}

// tally is what became of a stream of requests.
type tally struct {
	arrived    int
	spilled    int                 // placed elsewhere than at the first choice, or nowhere
	steps      int                 // full nodes passed, when the Assigner tells
	violations int                 // times that a node held more than it may
	held       []int               // requests on each bucket at the end
	hot        []bool              // whether the bucket ever took the hottest key
	owners     []algorithms.Bucket // of each arrival, in order
}

// place assigns and releases as the events say.
func place(m algorithms.Assigner, events iter.Seq[workloads.Event], hashes []uint64, hot int) tally {
	var t tally
	var outstanding []algorithms.Bucket // by the request's number
	stepper, steps := m.(algorithms.StepAssigner)
	loader, tells := m.(algorithms.Loader)
	for ev := range events {
		if ev.Release {
			if b := outstanding[ev.Request]; b >= 0 {
				m.Release(b)
				t.held[b]--
			}
			continue
		}
		h := hashes[ev.Rank]
		var b algorithms.Bucket
		first := true
		if steps {
			var n int
			b, n = stepper.AssignSteps(h)
			t.steps += n
			first = n == 0
		} else {
			b, first = m.Assign(h)
		}
		t.arrived++
		if !first || b < 0 {
			t.spilled++
		}
		for ev.Request >= len(outstanding) {
			outstanding = append(outstanding, algorithms.None)
		}
		outstanding[ev.Request] = b
		t.owners = append(t.owners, b)
		if b < 0 {
			continue
		}
		for int(b) >= len(t.held) {
			t.held = append(t.held, 0)
			t.hot = append(t.hot, false)
		}
		t.held[b]++
		t.hot[b] = t.hot[b] || ev.Rank == hot
		if tells {
			if load, capacity := loader.Load(b); load > capacity || load != t.held[b] {
				t.violations++
			}
		}
	}
	return t
}
