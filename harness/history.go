package harness

import (
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A structure may answer otherwise, and slower, after changes than one that is
// built over the same members: some keep a memory of who left. So what such a
// subject has been through is carried out again, change by change, whenever it is
// built.

// aged returns the subject after the schedule.
func (s subject) aged(after string) subject {
	if after == newlyBuilt {
		return s
	}
	s.after = after
	s.set = append(s.set[:len(s.set):len(s.set)], results.Field{Name: "after", Value: after})
	return s
}

// place builds the algorithm over the subject's nodes and takes it through the
// changes of its past, which are the same for all contestants of one seed. It is
// unsupported where the schedule does not suit the cluster, and where a change
// would have to build the structure anew, which then has no past.
func (s *subject) place() (*Placement, error) {
	p, err := NewPlacement(s.info, s.nodes(), s.params)
	if err != nil || s.after == "" {
		return p, err
	}
	past, err := workloads.ParseSchedule(s.after, s.n, workloads.Rand(s.seed, "after", s.after, strconv.Itoa(s.n)))
	if err != nil {
		return nil, algorithms.Unsupported("%v", err)
	}
	for _, step := range past.Steps {
		for _, c := range s.announced(p, step) {
			if !p.canApply(c) {
				return nil, algorithms.Unsupported("%s is built anew at such a change, so that it has no past", s.info.Name)
			}
			if err := p.Apply(c); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// announced returns the step with its newcomers announced to the placement.
func (s *subject) announced(p *Placement, step []workloads.Change) []workloads.Change {
	step = append([]workloads.Change(nil), step...)
	for i := range step {
		if step[i].Op == workloads.AddNode {
			step[i].Node = p.Announce(s.newcomer(len(p.Nodes)))
		}
	}
	return step
}
