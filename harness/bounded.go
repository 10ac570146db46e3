package harness

import (
	"iter"
	"math"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// bounded places a stream of requests under the algorithm's bound and records
// what the bound costs and brings.
func (e *examination) bounded(tr *results.Trial) error {
	p, err := e.sub.place()
	if err != nil {
		return err
	}
	m, err := e.assigner(p)
	if err != nil {
		return err
	}
	popularity := e.pl.keys.ofWorkload(tr.Workload)
	t := place(m, e.requests(tr), e.pl.keys.hashed(e.sub.hash.For(p.Mapper)), hottest(popularity))
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
	_, tells := m.(algorithms.Loader)
	for b, capacity := range t.finish(m, len(p.nodeOf)) {
		if i := p.NodeOf(algorithms.Bucket(b)); i >= 0 && weights[i] > 0 {
			members++
			if t.held[b] >= capacity {
				full++
			}
		}
	}
	s := SpreadOf(held, weights)
	tr.Values["load-cv"] = s.CV
	tr.Values["load-peak"] = s.Peak
	tr.Values["spill-fraction"] = float64(t.spilled) / float64(t.arrived)
	tr.Values["hot-key-nodes"] = float64(hot)
	tr.Values["stickiness-lost"] = float64(t.strayed) / float64(t.arrived)
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

// assigner returns what places requests in the placement.
func (e *examination) assigner(p *Placement) (algorithms.Assigner, error) {
	m, ok := p.Mapper.(algorithms.Assigner)
	if !ok {
		return nil, algorithms.Unsupported("%s does not place requests under a bound", e.sub.info.Name)
	}
	return m, nil
}

// requests yields the stream of a trial, the same for all contestants.
func (e *examination) requests(tr *results.Trial) iter.Seq[workloads.Event] {
	popularity := e.pl.keys.ofWorkload(tr.Workload)
	count := e.exp.Requests
	if count == 0 {
		count = e.pl.keys.set.Len()
	}
	r := workloads.Rand(tr.Seed, tr.Workload, "requests")
	if e.exp.Outstanding > 0 {
		return workloads.Requests(popularity, count, float64(e.exp.Outstanding), r)
	}
	return workloads.Arrivals(popularity, count, r)
}

// stream returns what the name of a cell says of the requests.
func (e *Experiment) stream() []results.Field {
	var fields []results.Field
	if e.Requests > 0 {
		fields = append(fields, results.Field{Name: "requests", Value: strconv.Itoa(e.Requests)})
	}
	if e.Outstanding > 0 {
		fields = append(fields, results.Field{Name: "outstanding", Value: strconv.Itoa(e.Outstanding)})
	}
	return fields
}

// boundedMovement places the trial's requests before each step of the schedule and,
// all anew, after it, and compares where they are: what a cluster moves that keeps
// to the bound. Beside that it records the capacity before and after, for requests
// move also when that changes. Of several steps the mean is recorded.
func (e *examination) boundedMovement(tr *results.Trial) error {
	schedule, err := e.scheduleOf(tr)
	if err != nil {
		return err
	}
	var now *Placement
	var before assignment
	var sum Movement
	sum.Failover = math.NaN()
	roomBefore, roomAfter := 0, 0
	for i, step := range schedule.Steps {
		if i == 0 || schedule.Independent {
			if now, err = e.sub.place(); err != nil {
				return err
			}
			if before, err = e.assignment(tr, now); err != nil {
				return err
			}
		}
		if err := now.Apply(e.sub.announced(now, step)...); err != nil {
			return err
		}
		after, err := e.assignment(tr, now)
		if err != nil {
			return err
		}
		sum.add(Moved(before.View, after.View, nil))
		roomBefore += before.capacity
		roomAfter += after.capacity
		before = after
	}
	steps := float64(len(schedule.Steps))
	tr.Values["moved-fraction"] = sum.Moved / steps
	tr.Values["moved-minimum"] = sum.Minimum / steps
	tr.Values["disruption"] = sum.Disruption() / steps
	tr.Values["collateral-fraction"] = sum.Collateral / steps
	tr.Values["failover-peak"] = sum.Failover
	tr.Values["capacity-before"] = float64(roomBefore) / steps
	tr.Values["capacity-after"] = float64(roomAfter) / steps
	return nil
}

// An assignment is where the requests of a trial went, by request, and the capacity
// of the node with the most once all are placed.
type assignment struct {
	View
	capacity int
}

// assignment places the trial's requests on the placement, and releases them.
func (e *examination) assignment(tr *results.Trial, p *Placement) (a assignment, err error) {
	m, err := e.assigner(p)
	if err != nil {
		return a, err
	}
	t := place(m, e.requests(tr), e.pl.keys.hashed(e.sub.hash.For(p.Mapper)), -1)
	a.Weights, a.Total = p.Weights()
	a.Owners = make([]int32, len(t.owners))
	for i, b := range t.owners {
		a.Owners[i] = int32(p.NodeOf(b))
	}
	for _, capacity := range t.finish(m, len(p.nodeOf)) {
		a.capacity = max(a.capacity, capacity)
	}
	return a, nil
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
	strayed    int                 // arrivals that went elsewhere than the one before for the same key
	owners     []algorithms.Bucket // of each arrival, in order
}

// finish releases all requests that are still held, and returns the capacity of
// each of so many buckets while they were; nil when the Assigner does not tell. A
// Loader speaks of the request to come, so that one of those there are has to leave
// first.
func (t *tally) finish(m algorithms.Assigner, buckets int) []int {
	t.held = append(t.held, make([]int, max(0, buckets-len(t.held)))...)
	loader, tells := m.(algorithms.Loader)
	var capacities []int
	for b, n := range t.held {
		for range n {
			m.Release(algorithms.Bucket(b))
			for i := 0; tells && i < len(t.held) && len(capacities) < len(t.held); i++ {
				_, capacity := loader.Load(algorithms.Bucket(i))
				capacities = append(capacities, capacity)
			}
		}
	}
	return capacities
}

// place assigns and releases as the events say.
func place(m algorithms.Assigner, events iter.Seq[workloads.Event], hashes []uint64, hot int) tally {
	var t tally
	var outstanding []algorithms.Bucket            // by the request's number
	last := make([]algorithms.Bucket, len(hashes)) // of each key, where its last request went plus 2; 0 before the first
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
		if before := last[ev.Rank]; before != 0 && before != b+2 {
			t.strayed++
		}
		last[ev.Rank] = b + 2
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
