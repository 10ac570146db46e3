package sizing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// Timing by the harness: few repetitions, since the question is one of size.
const reps = 5

// Time measures a lookup at each row of the answer, on this machine and now. The
// controls are taken from infos, which should be all there are.
func (a *Answer) Time(ctx context.Context, q Question, infos []algorithms.Info) error {
	if len(a.Rows) == 0 {
		return nil
	}
	spec := harness.Spec{Title: "sizing"}
	timed := harness.Experiment{Name: "lookup", Measures: []string{"lookup"}, Popularity: []string{"uniform"}, Reps: reps}
	for _, row := range a.Rows {
		c := contestant(q, q.Info.Name, q.Params)
		c.Name = strconv.Itoa(row.VNodes)
		c.Params[q.Info.Knob] = row.VNodes
		spec.Contestants = append(spec.Contestants, c)
	}
	spec.Experiments = []harness.Experiment{timed}
	trials, err := measure(ctx, q, spec, infos)
	if err != nil {
		return err
	}
	for i := range a.Rows {
		row := &a.Rows[i]
		row.LookupNs = median(trials, "lookup-ns", func(t results.Trial) bool {
			return t.Algorithm == q.Info.Name && knobOf(t.Params, q.Info.Knob) == row.VNodes
		})
		if row.VNodes == a.VNodes {
			a.LookupNs = row.LookupNs
		}
	}
	return nil
}

// A Contender is one algorithm at the size that was asked about.
type Contender struct {
	Algorithm string          `json:"algorithm"`
	Params    json.RawMessage `json:"params"`
	Peak      *float64        `json:"peak_mean"`  // busiest node; of the shares for the algorithm that was sized, else of counted keys
	PeakP95   *float64        `json:"peak_p95"`   // of the placements looked at
	PeakFloor *float64        `json:"peak_floor"` // what counting so many keys shows of a perfect placement; null for exact shares
	Moved     *float64        `json:"moved"`      // by a node that joins
	Least     *float64        `json:"moved_minimum"`
	Spilled   *float64        `json:"spilled"` // requests that a bound sends on; null without one
	LookupNs  *float64        `json:"lookup_ns"`
	Memory    *float64        `json:"memory_bytes"`
	Cannot    []string        `json:"cannot"`
	Skip      string          `json:"skip"` // why it is out of the question; ""
}

// rivals are what people take instead of a ring.
var rivals = []string{"rendezvous", "weighted-rendezvous", "jump", "bounded-ring"}

// keysCompared is how many keys the balance of the rivals is counted with.
const keysCompared = 100_000

// Contend fills in Compare: the algorithm at the recommended value beside its
// rivals among infos, measured now.
func (a *Answer) Contend(ctx context.Context, q Question, infos []algorithms.Info) error {
	if a.VNodes == 0 || a.Trivial {
		return nil
	}
	n := len(q.Nodes)
	seeds := min(max(2000/n, 3), 20)
	spec := harness.Spec{Title: "sizing", Keys: fmt.Sprintf("seq:%d", keysCompared)}
	own := contestant(q, q.Info.Name, q.Params)
	own.Params[q.Info.Knob] = a.VNodes
	spec.Contestants = []harness.Contestant{own}
	weighted := !algorithms.EqualWeights(q.Nodes)
	for _, name := range rivals {
		if name == q.Info.Name || name == "rendezvous" && weighted || name == "weighted-rendezvous" && !weighted ||
			!slices.ContainsFunc(infos, func(i algorithms.Info) bool { return i.Name == name }) {
			continue
		}
		c := contestant(q, name, nil)
		if name == "bounded-ring" && q.Target.Metric == Peak {
			c.Params["epsilon"] = q.Target.Value - 1
		}
		spec.Contestants = append(spec.Contestants, c)
	}
	spec.Experiments = []harness.Experiment{
		{Name: "evenness", Measures: []string{"balance"}, Seeds: seeds},
		{Name: "bound", Measures: []string{"bounded"}, Seeds: 1},
		{Name: "change", Measures: []string{"movement"}, Schedules: []string{"add-one"}, Seeds: min(seeds, 5)},
		{Name: "lookup", Measures: []string{"lookup"}, Popularity: []string{"uniform"}, Reps: reps},
	}
	trials, err := measure(ctx, q, spec, infos)
	if err != nil {
		return err
	}
	s, err := newSolver(&q)
	if err != nil {
		return err
	}
	q.Keys = EvenKeys(keysCompared)
	floor := 1 + s.perfect().mean(Peak)
	for _, c := range spec.Contestants {
		found := a.contender(c.Algorithm, trials, infos, floor)
		if c.Algorithm == a.Algorithm && a.Change != nil && !weighted {
			found.Moved = &a.Change.Moved // the mean of all placements, not of a few
		}
		a.Compare = append(a.Compare, found)
	}
	return nil
}

// contender reads one algorithm's figures off the trials.
func (a *Answer) contender(name string, trials []results.Trial, infos []algorithms.Info, floor float64) Contender {
	c := Contender{Algorithm: name, Cannot: []string{}}
	value := func(metric string) []float64 {
		var vs []float64
		for _, t := range trials {
			if v, ok := t.Values[metric]; ok && t.Algorithm == name {
				vs = append(vs, v)
			}
		}
		slices.Sort(vs)
		return vs
	}
	mean := func(metric string) *float64 {
		vs := value(metric)
		if len(vs) == 0 {
			return nil
		}
		sum := 0.0
		for _, v := range vs {
			sum += v
		}
		sum /= float64(len(vs))
		return &sum
	}
	for _, t := range trials {
		if t.Algorithm == name && t.Skip == "" {
			c.Params = t.Params
		}
		if t.Algorithm == name && t.Skip != "" && t.Measure == "balance" {
			c.Skip = t.Skip
		}
	}
	c.Moved, c.Least, c.Spilled = mean("moved-fraction"), mean("moved-minimum"), mean("spill-fraction")
	c.Memory = mean("footprint-bytes")
	c.LookupNs = median(trials, "lookup-ns", func(t results.Trial) bool { return t.Algorithm == name })
	switch {
	case name == a.Algorithm:
		for _, row := range a.Rows {
			if row.VNodes == a.VNodes {
				c.Peak, c.PeakP95 = &row.PeakMean, &row.PeakP95
			}
		}
	case c.Spilled != nil:
		c.Peak = mean("load-peak")
	default:
		if c.Peak = mean("balance-peak"); c.Peak != nil {
			vs := value("balance-peak")
			c.PeakP95, c.PeakFloor = &vs[len(vs)*19/20], &floor
		}
	}
	for _, info := range infos {
		if info.Name == name {
			c.Cannot = append(c.Cannot, limits(info)...)
		}
	}
	return c
}

// limits tells what an algorithm cannot do, from the methods that it has.
func limits(info algorithms.Info) []string {
	m, _, err := info.New(algorithms.Nodes("a", "b", "c"), nil)
	if err != nil {
		return nil
	}
	var cannot []string
	if _, ok := m.(algorithms.Remover); !ok {
		if _, ok := m.(algorithms.LastRemover); ok {
			cannot = append(cannot, "only the last node can leave")
		} else {
			cannot = append(cannot, "no node can leave")
		}
	}
	uneven := algorithms.Nodes("a", "b")
	uneven[1].Weight = 2
	if _, _, err := info.New(uneven, nil); err != nil {
		cannot = append(cannot, "all nodes weigh the same")
	}
	if _, ok := m.(algorithms.Replicator); !ok {
		cannot = append(cannot, "no replicas")
	}
	if _, ok := m.(algorithms.Assigner); ok {
		cannot = append(cannot, "must know the load of every node")
	}
	return cannot
}

// contestant is an algorithm over the weights of the question.
func contestant(q Question, name string, params json.RawMessage) harness.Contestant {
	c := harness.Contestant{Name: name, Algorithm: name, Params: map[string]any{}}
	if len(params) > 0 {
		_ = json.Unmarshal(params, &c.Params) // New has read them
	}
	if !algorithms.EqualWeights(q.Nodes) {
		var ws []string
		for _, n := range q.Nodes {
			ws = append(ws, strconv.FormatFloat(n.Weight, 'g', -1, 64))
		}
		c.Weights = strings.Join(ws, ":")
	}
	return c
}

// measure runs a spec over clusters of the question's size.
func measure(ctx context.Context, q Question, spec harness.Spec, infos []algorithms.Info) ([]results.Trial, error) {
	spec.Nodes = []int{len(q.Nodes)}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	filled, err := harness.SpecFromJSON("sizing", text)
	if err != nil {
		return nil, err
	}
	plan, err := harness.NewPlan(filled, harness.Options{Algorithms: infos, MaxMemory: q.MaxMemory})
	if err != nil {
		return nil, err
	}
	var kept collector
	_, err = plan.Run(ctx, &kept)
	return kept.trials, err
}

// A collector keeps trials in memory.
type collector struct{ trials []results.Trial }

func (c *collector) Has(results.Trial) bool { return false }

func (c *collector) Append(t results.Trial) error {
	c.trials = append(c.trials, t)
	return nil
}

func (c *collector) Progress(harness.Progress) {}

// median returns the middle of the values of a metric, nil when there are none.
func median(trials []results.Trial, metric string, of func(results.Trial) bool) *float64 {
	var vs []float64
	for _, t := range trials {
		if v, ok := t.Values[metric]; ok && of(t) {
			vs = append(vs, v)
		}
	}
	if len(vs) == 0 {
		return nil
	}
	slices.Sort(vs)
	return &vs[len(vs)/2]
}
