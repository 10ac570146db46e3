package whatif

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/harness/sizing"
	"github.com/ringbench/ringbench/workloads"
)

// capacities returns the most that each node can bear, by its weight after the
// change: 1+headroom times what was its fair share before. What the others do
// changes no machine.
func (s *solver) capacities() []float64 {
	before, total := s.before.Weights()
	after, _ := s.after.Weights()
	c := make([]float64, len(after))
	for i, w := range after {
		if w == 0 && i < len(before) {
			w = before[i] // of one that has left
		}
		c[i] = (1 + s.q.Headroom) * w / total
	}
	return c
}

// overloaded returns the members that have more than they can bear, and forgives
// what rounding may add.
func overloaded(shares, capacity []float64, member []bool) []int {
	var over []int
	for i, x := range shares {
		if i < len(member) && member[i] && x > capacity[i]*(1+1e-12) {
			over = append(over, i)
		}
	}
	return over
}

// shares returns what each node has, over the first keys where it cannot be told
// exactly.
func (s *solver) shares(p *harness.Placement, keys int) []float64 {
	if s.told {
		shares, _ := p.Shares()
		return shares
	}
	return parts(s.owners(p, keys), len(p.Nodes))
}

// cascade plays out what overload follows from the change.
func (s *solver) cascade(a *Answer) error {
	capacity := s.capacities()
	a.Cascade = Cascade{Headroom: s.q.Headroom, Already: []string{}, Overloads: []string{}, Lost: []string{}}
	for _, i := range overloaded(s.held[0], capacity, s.before.Member) {
		a.Cascade.Already = append(a.Cascade.Already, s.name(i))
	}
	over := overloaded(s.held[1], capacity, s.after.Member)
	for _, i := range over {
		a.Cascade.Overloads = append(a.Cascade.Overloads, s.name(i))
	}
	if len(over) == 0 {
		return nil
	}
	p, err := s.changed()
	if err != nil {
		return err
	}
	lost, err := s.play(p, over, capacity, s.keys())
	if err != nil {
		return err
	}
	slices.Sort(lost)
	for _, i := range lost {
		a.Cascade.Lost = append(a.Cascade.Lost, s.name(i))
	}
	a.Cascade.All = s.living(p) == 0
	return nil
}

// keys returns how many keys there are to count over; none are needed where shares
// are exact.
func (s *solver) keys() int {
	if s.told {
		return 0
	}
	return s.q.Keys.Len()
}

// living returns how many members can own something.
func (s *solver) living(p *harness.Placement) int {
	n := 0
	weights, _ := p.Weights()
	for _, w := range weights {
		if w > 0 {
			n++
		}
	}
	return n
}

// play takes the dying nodes out, and those that are overloaded then, until all
// that live can bear what they have. It returns the dead, who are members no
// longer.
func (s *solver) play(p *harness.Placement, dying []int, capacity []float64, keys int) (dead []int, err error) {
	weights, _ := p.Weights()
	for len(dying) > 0 {
		for _, i := range dying {
			dead = append(dead, i)
			weights[i] = 0
		}
		if !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }) {
			for _, i := range dying {
				p.Member[i] = false // the last have nobody to leave anything to
			}
			return dead, nil
		}
		for _, i := range dying {
			if err := p.Apply(workloads.Change{Op: workloads.RemoveNode, Node: i}); err != nil {
				return nil, err
			}
		}
		dying = overloaded(s.shares(p, keys), capacity, p.Member)
	}
	return dead, nil
}

// Bounds of the work behind the worst failure where it is counted over keys.
const (
	worstLookups = 20_000_000 // over the failures of all nodes
	leastKeys    = 10_000
)

// An outcome is what the failure of one node does.
type outcome struct {
	loads []float64 // of the survivors
	lost  int
}

// worst plays the failure of each node.
func (s *solver) worst() (*Worst, error) {
	weights, _ := s.after.Weights()
	capacity := s.capacities()
	var victims []int
	for i, w := range weights {
		if w > 0 {
			victims = append(victims, i)
		}
	}
	outcomes, keys, err := s.failures(victims, capacity)
	if err != nil {
		return nil, err
	}
	var worst *Worst
	_, total := s.before.Weights()
	for k, victim := range victims {
		left := slices.Clone(weights)
		left[victim] = 0
		o := outcomes[k]
		b := busiest(o.loads, left)
		w := Worst{
			Node: s.name(victim), Share: s.held[1][victim], Peak: harness.SpreadOf(o.loads, left).Peak, Busiest: s.name(b),
			Load: o.loads[b] / (left[b] / total), Lost: o.lost, Nodes: len(victims), Sampled: keys,
		}
		if worst == nil || w.Lost > worst.Lost || w.Lost == worst.Lost && w.Load > worst.Load {
			if worst != nil {
				w.Fatal = worst.Fatal
			}
			worst = &w
		}
		if o.lost > 1 {
			worst.Fatal++
		}
	}
	return worst, nil
}

// failures returns the outcome of the failure of each victim, and over how many
// keys it is counted.
func (s *solver) failures(victims []int, capacity []float64) ([]outcome, int, error) {
	outcomes := make([]outcome, len(victims))
	keys := 0
	if !s.told {
		keys = min(s.q.Keys.Len(), max(worstLookups/len(victims), leastKeys))
		s.owners(s.after, 0) // hashes the keys before the goroutines share them
	}
	if s.scattered() {
		cells, _ := s.after.Cells()
		for k, d := range sizing.Deaths(cells, victims, capacity) {
			outcomes[k] = outcome{d.Load, d.Lost}
		}
		return outcomes, keys, nil
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, len(victims))
	for range min(runtime.GOMAXPROCS(0), len(victims)) {
		wait.Go(func() {
			for k := int(next.Add(1)) - 1; k < len(victims); k = int(next.Add(1)) - 1 {
				outcomes[k], errs[k] = s.failure(victims[k], capacity, keys)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return outcomes, keys, nil
}

// scattered says whether what a node leaves goes to the next points on a circle,
// which can be played without building anything.
func (s *solver) scattered() bool {
	if !s.exact || !s.told || s.q.Info.PointCounts == nil {
		return false
	}
	counts, err := s.q.Info.PointCounts(s.q.Nodes, s.q.Params)
	return err == nil && counts != nil
}

// failure plays the failure of one node by the algorithm itself.
func (s *solver) failure(victim int, capacity []float64, keys int) (outcome, error) {
	p, err := s.changed()
	if err != nil {
		return outcome{}, err
	}
	if err := p.Apply(workloads.Change{Op: workloads.RemoveNode, Node: victim}); err != nil {
		return outcome{}, err
	}
	o := outcome{loads: s.shares(p, keys), lost: 1}
	dead, err := s.play(p, overloaded(o.loads, capacity, p.Member), capacity, keys)
	o.lost += len(dead)
	return o, err
}
