package harness

import (
	"maps"
	"math/bits"
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
// as large, and warns when the larger one's figure is higher by the ratio although
// what the control adds over it is taken off: then the branch predictor had learned
// the usual one.
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
	floor   int64 // bytes of the array whose one read is the floor; 0 for none
}

// key names the subject and measure whatever the pool, to pair the probe's two.
func (c *cell) key() string { return c.trial.Measure + " " + c.subject.id() }

// expandTimed adds the subject's timed cells. A timing has one placement: more
// seeds narrow a distribution, more reps narrow a timing. What looks keys up is timed
// over each of the pools, what is counted over the first, which is uniform.
func (pl *Plan) expandTimed(g *group, sub subject, measures []string, pools []*pool) {
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
		case "allocations":
			pl.addCell(g, sub, m, pl.pool)
		default:
			for _, p := range pools {
				pl.addCell(g, sub, m, p)
			}
		}
	}
}

// pools returns what the lookups of an experiment are timed over: all keys asked
// alike, and beside it each other popularity that is asked for.
func (pl *Plan) pools(e *Experiment) []*pool {
	pools := []*pool{pl.pool}
	for _, spec := range e.Popularity {
		if spec == "uniform" || spec == "bytes" { // which says how much a request asks for, not how often one comes
			continue
		}
		if pl.drawn[spec] == nil {
			popularity, err := pl.keys.popularity(spec)
			if err != nil {
				panic("harness: " + err.Error()) // checkExperiment has asked
			}
			pl.drawn[spec] = drawnPool(pl.Spec.Pool, popularity, spec, pl.Spec.Seed)
		}
		if !slices.Contains(pools, pl.drawn[spec]) {
			pools = append(pools, pl.drawn[spec])
		}
	}
	return pools
}

func (pl *Plan) addCell(g *group, sub subject, measure string, p *pool) {
	workload, keys := "", 0
	if p != nil {
		workload, keys = p.workload(), p.set.Len()
	}
	c := &cell{subject: sub, pool: p, reps: g.reps}
	c.trial = pl.trial(g.name, measure, sub, workload, "", keys)
	if metricOf[measure] == "" {
		c.reps = 1
	}
	if results.IsControl(sub.info.Name) || pl.wanted(c.trial) {
		g.cells = append(g.cells, c)
	}
}

// FloorBytes returns the size of the array whose one random read is the floor of a
// lookup that reads at random within so many bytes: the largest power of two that is
// not above them, so that the array finds at least as much room in the caches as the
// structure. It is 0 below 4,096, where the control is the floor, and at most 2^40.
func FloorBytes(hot int64) int64 {
	const least, most = 1 << 12, 1 << 40
	if hot < least {
		return 0
	}
	return min(most, int64(1)<<(bits.Len64(uint64(hot))-1))
}

// A look is what is looked up how.
type look struct {
	measure string
	pool    *pool
}

// looksUp says whether a measure has the constant control for a floor.
func looksUp(measure string) bool {
	return measure == "lookup" || measure == "latency" || measure == "key-lookup" || measure == "pool-probe"
}

// addFloors adds to a group that reads the clock what its figures are shown
// beside: the constant control for each measure that looks up (with a key's
// hash, it is the cost of the hash alone), and one read from an array no larger than
// what lookups of each structure read at random. The control's lookup is always among
// them: it tells whether the machine moved.
func (pl *Plan) addFloors(g *group) error {
	if !slices.ContainsFunc(g.cells, func(c *cell) bool { return metricOf[c.trial.Measure] != "" }) {
		return nil
	}
	controls := []look{{"lookup", pl.pool}}
	reads := map[int64][]look{} // by the size of the array
	for _, c := range g.cells {
		l := look{c.trial.Measure, c.pool}
		if looksUp(l.measure) && !slices.Contains(controls, l) {
			controls = append(controls, l)
		}
		if l.measure != "lookup" && l.measure != "latency" {
			continue
		}
		if c.floor = FloorBytes(pl.costs[c.subject.shape()].hot); c.floor > 0 && !slices.Contains(reads[c.floor], l) {
			reads[c.floor] = append(reads[c.floor], l)
		}
	}
	if err := pl.addFloor(g, "control", map[string]any{}, controls); err != nil {
		return err
	}
	for _, size := range slices.Sorted(maps.Keys(reads)) {
		if err := pl.addFloor(g, "one-read", map[string]any{"bytes": size}, reads[size]); err != nil {
			return err
		}
	}
	return nil
}

// addFloor adds a control over one node; a list of algorithms that lacks it goes
// without.
func (pl *Plan) addFloor(g *group, name string, params map[string]any, looks []look) error {
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
	sub.floor, sub.seed = true, pl.Spec.Seed
	bytes, _ := params["bytes"].(int64)
	for _, l := range looks {
		pl.addCell(g, sub, l.measure, l.pool)
		g.cells[len(g.cells)-1].floor = bytes
	}
	return nil
}
