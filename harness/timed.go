package harness

import (
	"maps"
	"slices"

	"github.com/ringbench/ringbench/results"
)

// timedMeasures need the machine to themselves: they run one after the other,
// after all exact ones. Allocations and memory read the allocator and no clock,
// and run once; the others run in interleaved repetitions.
var timedMeasures = []string{"allocations", "memory", "lookup", "latency", "key-lookup", "batch-lookup", "parallel-lookup", "parallel-lookup-writer", "assign", "build", "add", "remove", "pool-probe"}

// metricOf maps a measure that reads the clock to the metric it records.
var metricOf = map[string]string{
	"lookup": "lookup-ns", "latency": "latency-ns", "key-lookup": "key-lookup-ns",
	"batch-lookup": "batch-lookup-ns", "parallel-lookup": "parallel-lookup-ns", "parallel-lookup-writer": "parallel-lookup-ns",
	"assign": "assign-ns", "build": "build-ns", "add": "add-ns", "remove": "remove-ns",
	"pool-probe": "lookup-ns",
}

// The pool probe times lookups over the usual pool and over one this many times
// as large, and warns when the larger one's figure is higher by the ratio: then
// the branch predictor had learned the usual one.
const (
	probeFactor = 4
	probeLimit  = 1.10
)

// A cell is one timed cell of a group.
type cell struct {
	subject subject
	trial   results.Trial // without values
	reps    int
	pool    *pool // nil where no key is looked up
}

// key names the subject and measure whatever the pool, to pair the probe's two.
func (c *cell) key() string { return c.trial.Measure + " " + c.subject.id() }

// expandTimed adds the subject's timed cells. A timing has one placement: more
// seeds narrow a distribution, more reps narrow a timing.
func (pl *Plan) expandTimed(g *group, sub subject, measures []string) {
	sub.seed = pl.Spec.Seed
	for _, m := range measures {
		switch m {
		case "build", "add", "remove", "memory":
			pl.addCell(g, sub, m, nil)
		case "pool-probe":
			if pl.large == nil {
				pl.large = newPool(probeFactor*pl.Spec.Pool, pl.Spec.Seed)
			}
			pl.addCell(g, sub, m, pl.pool)
			pl.addCell(g, sub, m, pl.large)
		default:
			pl.addCell(g, sub, m, pl.pool)
		}
	}
}

func (pl *Plan) addCell(g *group, sub subject, measure string, p *pool) {
	workload, keys := "", 0
	if p != nil {
		workload, keys = p.set.Name()+"+uniform", p.set.Len()
	}
	c := &cell{subject: sub, pool: p, reps: g.reps}
	c.trial = pl.trial(g.name, measure, sub, workload, "", keys)
	if metricOf[measure] == "" {
		c.reps = 1
	}
	if isControl(sub.info.Name) || pl.wanted(c.trial) {
		g.cells = append(g.cells, c)
	}
}

// isControl says whether the contestant measures the harness and the machine
// instead of an algorithm.
func isControl(name string) bool { return name == "control" || name == "one-read" }

// addFloors adds to a group that reads the clock what its figures are shown
// beside: the constant control for each measure that looks up (with a key's
// hash, it is the cost of the hash alone), and one read from an array as large
// as each structure, to the nearest power of two. The control's lookup is
// always among them: it tells whether the machine moved.
func (pl *Plan) addFloors(g *group) error {
	if !slices.ContainsFunc(g.cells, func(c *cell) bool { return metricOf[c.trial.Measure] != "" }) {
		return nil
	}
	looks := map[string]bool{"lookup": true}
	sizes := map[int64]bool{}
	for _, c := range g.cells {
		switch m := c.trial.Measure; m {
		case "lookup", "latency":
			sizes[results.FloorBytes(float64(pl.costs[c.subject.shape()].footprint))] = true
			looks[m] = true
		case "key-lookup":
			looks[m] = true
		}
	}
	measures := slices.Sorted(maps.Keys(looks))
	if err := pl.addFloor(g, "control", map[string]any{}, measures); err != nil {
		return err
	}
	measures = slices.DeleteFunc(measures, func(m string) bool { return m == "key-lookup" })
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		if err := pl.addFloor(g, "one-read", map[string]any{"bytes": size}, measures); err != nil {
			return err
		}
	}
	return nil
}

// addFloor adds a control over one node; a list of algorithms that lacks it goes
// without.
func (pl *Plan) addFloor(g *group, name string, params map[string]any, measures []string) error {
	info, ok := pl.infos[name]
	if !ok {
		return nil
	}
	c := &Contestant{Name: name, Algorithm: name, Hash: pl.Spec.Hash, Params: params}
	sub, err := newSubject(c, info, params, 1)
	if err != nil {
		return err
	}
	if err := pl.check(sub); err != nil {
		return err
	}
	sub.floor = true
	pl.expandTimed(g, sub, measures)
	return nil
}
