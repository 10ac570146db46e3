package harness

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// exactMeasures need no clock: they are computed, in parallel, and the same seed
// gives the same values on every machine.
var exactMeasures = []string{"shares", "balance", "load", "weights", "remedies", "movement", "misses", "views", "replicas", "replica-movement", "bounded", "bounded-movement"}

// Measures returns the names of all measures, the exact ones first.
func Measures() []string { return append(slices.Clone(exactMeasures), timedMeasures...) }

// splitMeasures parts the measures of an experiment into exact and timed ones.
func splitMeasures(measures []string) (exact, timed []string) {
	for _, m := range measures {
		if slices.Contains(exactMeasures, m) {
			exact = append(exact, m)
		} else {
			timed = append(timed, m)
		}
	}
	return exact, timed
}

// run computes the task's trials. What the algorithm cannot do by its nature is
// a skip with its reason; any other error is the caller's.
func (t *task) run(pl *Plan) ([]results.Trial, error) {
	e := examination{pl: pl, sub: &t.subject, exp: t.exp}
	var err error
	if e.base, err = t.subject.place(); err != nil {
		return t.skip(err)
	}
	for i := range t.trials {
		tr := &t.trials[i]
		e.base.describe(tr)
		tr.Values = map[string]float64{}
		err := e.measure(tr)
		if errors.Is(err, errors.ErrUnsupported) {
			tr.Values, tr.Series, tr.Skip = map[string]float64{}, nil, err.Error()
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tr.Cell, err)
		}
		if t.subject.after != "" {
			tr.Series = nil // figures of vectors are of what is newly built
		}
		for m, v := range tr.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				delete(tr.Values, m) // does not apply here
				continue
			}
			tr.Values[m] = results.Exact(v)
		}
	}
	t.warnings = e.warnings
	return t.trials, nil
}

// skip gives all trials of the task the reason why nothing was measured.
func (t *task) skip(err error) ([]results.Trial, error) {
	if !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	for i := range t.trials {
		t.trials[i].Values = map[string]float64{}
		t.trials[i].Skip = err.Error()
	}
	return t.trials, nil
}

// examination is one placement under the questions of one task, with what they
// share.
type examination struct {
	pl     *Plan
	sub    *subject
	exp    *Experiment
	base   *Placement
	owners []int32  // of all keys in base, once asked for
	held   *Holding // in base, as last asked for

	warnings []string
}

// ownersOf returns who owns each key.
func (e *examination) ownersOf(p *Placement) []int32 { return e.ownersAmong(p, e.pl.keys) }

// ownersAmong is ownersOf for other keys than the run's.
func (e *examination) ownersAmong(p *Placement, keys *keyData) []int32 {
	owners := make([]int32, keys.set.Len())
	if k, ok := p.Mapper.(algorithms.KeyMapper); ok {
		for rank := range owners {
			owners[rank] = int32(p.NodeOf(k.LookupKey(keys.set.Key(rank))))
		}
		return owners
	}
	p.Owners(keys.hashed(e.sub.hash.For(p.Mapper)), owners)
	return owners
}

func (e *examination) baseOwners() []int32 {
	if e.owners == nil {
		e.owners = e.ownersOf(e.base)
	}
	return e.owners
}

func (e *examination) measure(tr *results.Trial) error {
	switch tr.Measure {
	case "shares":
		if tr.Schedule != "" {
			return e.movement(tr)
		}
		return e.shares(tr)
	case "balance":
		e.balance(tr)
	case "load":
		e.load(tr)
	case "movement":
		return e.movement(tr)
	case "weights":
		e.weighted(tr)
	case "remedies":
		e.remedy(tr)
	case "misses":
		return e.misses(tr)
	case "views":
		return e.views(tr)
	case "replicas":
		return e.replicas(tr)
	case "replica-movement":
		return e.replicaMovement(tr)
	case "bounded":
		return e.bounded(tr)
	case "bounded-movement":
		return e.boundedMovement(tr)
	default:
		return fmt.Errorf("harness: unknown measure %q", tr.Measure)
	}
	return nil
}

// first says whether this is the placement whose vectors are kept for figures.
func (e *examination) first() bool { return e.sub.seed == e.pl.Spec.Seed }

func (e *examination) shares(tr *results.Trial) error {
	shares, ok := e.base.Shares()
	if !ok {
		return algorithms.Unsupported("%s does not list its cells, so its shares are known from keys only", e.sub.info.Name)
	}
	weights, _ := e.base.Weights()
	s := SpreadOf(shares, weights)
	tr.Values["share-cv"] = s.CV
	tr.Values["share-peak"] = s.Peak
	if e.sub.own != nil {
		tr.Values["expected-cv"] = e.expectedCV(0)
	}
	if c, ok := e.base.Mapper.(interface{ PointCollisions() int }); ok {
		tr.Values["point-collisions"] = float64(c.PointCollisions())
		e.warnOfPoints(tr)
	}
	if e.first() && tr.Nodes <= 32 {
		tr.Series = map[string][]float64{"shares": rounded(shares)}
		if ends, nodes := circleOf(e.base); ends != nil && tr.Nodes <= 10 {
			tr.Series["circle_end"] = rounded(ends)
			tr.Series["circle_node"] = nodes
		}
	}
	return nil
}

func (e *examination) balance(tr *results.Trial) {
	keys := e.pl.keysOf(tr.Workload)
	var owners []int32
	if keys == e.pl.keys {
		owners = e.baseOwners()
	} else {
		owners = e.ownersAmong(e.base, keys)
	}
	e.warnOfKeys(tr, keys)
	held := counts(owners, len(e.base.Nodes))
	weights, _ := e.base.Weights()
	s := SpreadOf(held, weights)
	tr.Values["balance-cv"] = s.CV
	tr.Values["balance-peak"] = s.Peak
	tr.Values["balance-min"] = s.Min
	if e.sub.own != nil {
		tr.Values["expected-cv"] = e.expectedCV(keys.set.Len())
	}
	tr.Check = digestOf(owners)
	if e.first() && tr.Nodes <= 1000 {
		tr.Series = map[string][]float64{"loads": held}
	}
}

func (e *examination) load(tr *results.Trial) {
	owners := e.baseOwners()
	p := e.pl.keys.ofWorkload(tr.Workload)
	held := loads(owners, p.P, len(e.base.Nodes))
	weights, _ := e.base.Weights()
	s := SpreadOf(held, weights)
	tr.Values["load-cv"] = s.CV
	tr.Values["load-peak"] = s.Peak
	tr.Check = digestOf(owners)
	if e.first() && tr.Nodes <= 1000 {
		tr.Series = map[string][]float64{"loads": rounded(held)}
	}
}

// movement carries the trial's schedule out and compares each step with the
// state before it. Of several steps the mean is recorded; of failover the
// largest, and of violations the sum.
func (e *examination) movement(tr *results.Trial) error {
	schedule, err := e.scheduleOf(tr)
	if err != nil {
		return err
	}
	_, owned := e.base.Mapper.(algorithms.Owned)
	if tr.Measure == "shares" && !owned {
		return algorithms.Unsupported("%s does not list its cells, so its movement is known from keys only", e.sub.info.Name)
	}
	var sum Movement
	sum.Failover = math.NaN()
	ranges := 0
	var now *Placement
	keep := len(schedule.Steps) == 1
	for i, step := range schedule.Steps {
		if i == 0 || schedule.Independent {
			if now, err = e.sub.place(); err != nil {
				return err
			}
		}
		fresh := schedule.Independent || i == 0
		m, flows, err := e.step(tr, now, step, fresh, keep)
		if err != nil {
			return err
		}
		sum.add(m)
		ranges += Ranges(flows)
	}
	steps := float64(len(schedule.Steps))
	tr.Values["moved-fraction"] = sum.Moved / steps
	tr.Values["moved-minimum"] = sum.Minimum / steps
	tr.Values["disruption"] = sum.Disruption() / steps
	tr.Values["collateral-fraction"] = sum.Collateral / steps
	tr.Values["monotonicity-violations"] = sum.Violations
	tr.Values["failover-peak"] = sum.Failover
	if tr.Measure == "movement" {
		tr.Values["moved-load-fraction"] = sum.MovedLoad / steps
	}
	if owned {
		tr.Values["ranges-moved"] = float64(ranges) / steps
	}
	return nil
}

// step carries out one step of a schedule on the placement and returns what
// moved: by keys, or for the shares measure by cells. The flows are of the cells,
// where the algorithm lists them. A fresh placement owns what the base does. With
// keep, the trial keeps who gave what to whom.
func (e *examination) step(tr *results.Trial, now *Placement, step []workloads.Change, fresh, keep bool) (m Movement, flows []Flow, err error) {
	var before, after View
	byKeys := tr.Measure == "movement"
	switch {
	case byKeys && fresh:
		before.Owners = e.baseOwners()
	case byKeys:
		before.Owners = e.ownersOf(now)
	}
	before.Weights, before.Total = now.Weights()
	members := slices.Clone(now.Member)
	keep = keep && len(members)+len(step) <= matrixNodes
	cells, owned := now.Cells()
	if err := now.Apply(e.sub.announced(now, step)...); err != nil {
		return m, nil, err
	}
	after.Weights, after.Total = now.Weights()
	if owned {
		changed, _ := now.Cells()
		flows = Flows(cells, changed)
	}
	if !byKeys {
		if keep {
			tr.Series = matrix(flows, members, now.Member)
		}
		return MovedCells(flows, before, after), flows, nil
	}
	after.Owners = e.ownersOf(now)
	tr.Check = digestOf(after.Owners)
	if keep {
		tr.Series = matrix(KeyFlows(before.Owners, after.Owners), members, now.Member)
	}
	return Moved(before, after, e.pl.keys.ofWorkload(tr.Workload).P), flows, nil
}

// matrixNodes is the largest cluster, with the nodes that join, of which a trial
// keeps who gave what to whom.
const matrixNodes = 20

// matrix makes the series of a movement from its flows, and of the nodes that were
// members before the change and not after it, and the other way round.
func matrix(flows []Flow, before, after []bool) map[string][]float64 {
	from, to, share := []float64{}, []float64{}, []float64{}
	for _, f := range flows {
		from, to, share = append(from, float64(f.From)), append(to, float64(f.To)), append(share, f.Share)
	}
	left, joined := []float64{}, []float64{}
	for i, member := range after {
		switch was := i < len(before) && before[i]; {
		case was && !member:
			left = append(left, float64(i))
		case !was && member:
			joined = append(joined, float64(i))
		}
	}
	return map[string][]float64{"move_from": from, "move_to": to, "move_share": rounded(share), "nodes_left": left, "nodes_joined": joined}
}

// rounded rounds as exact metrics are.
func rounded(xs []float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = results.Exact(x)
	}
	return ys
}
