package claims

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// An estimate is what a measure found.
type estimate struct {
	value       float64
	err         float64 // standard error, 0 when the value is exact
	one         float64 // standard deviation of one draw
	low, high   float64 // interval of 95% where the error is not symmetric; 0, 0 for value -+ 1.96 err
	least, most float64 // of the draws
}

// A measure finds the figure that a claim is about.
type measure struct {
	setup string // in a few words
	exact bool   // nothing random is in it
	take  func(*lab) (estimate, error)
}

// A lab carries out measures. What it has run it keeps, since claims share cells.
type lab struct {
	ctx   context.Context
	o     Options
	infos map[string]algorithms.Info
	cells map[string][]results.Trial
	owned map[string][][]float64 // what shares returns
}

func newLab(ctx context.Context, o Options) *lab {
	l := &lab{ctx: ctx, o: o, infos: map[string]algorithms.Info{}, cells: map[string][]results.Trial{}, owned: map[string][][]float64{}}
	for _, i := range l.algorithms() {
		l.infos[i.Name] = i
	}
	return l
}

// algorithms returns the contestants, and those that stand in this package to be
// refuted.
func (l *lab) algorithms() []algorithms.Info { return append(slices.Clip(l.o.Algorithms), naiveInfo) }

// draws returns how many draws are made where the table says n.
func (l *lab) draws(n int) int {
	if l.o.thin > 1 && n > 1 {
		return max(n/l.o.thin, min(n, 4))
	}
	return n
}

// rand returns the generator for a use. It depends on the seed and the use alone.
func (l *lab) rand(use ...string) *rand.Rand { return workloads.Rand(l.o.Seed, use...) }

// params are those of an algorithm that differ from its defaults.
type params map[string]any

// A cell is a cell of a run: an algorithm at one size under one measure, in so many
// placements. The zero value of a field is the default of a spec.
type cell struct {
	alg     string
	params  params
	nodes   int
	measure string // of the harness
	draws   int    // placements

	weights, names string

	keys     string // key SPEC; {draw} in it stands for text that the seed gives
	keySets  int    // so many of them, for balance: where placements do not differ
	newKeys  bool   // each placement has keys of its own: where it matters which of them are close
	requests string // popularity; "" for uniform
	schedule string
	streamed int    // requests of the measures with a bound
	pair     string // cells of one pair have the same placements
}

// text is the cell in words: the set-up of a claim.
func (c cell) text() string {
	var b strings.Builder
	b.WriteString(c.alg)
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		fmt.Fprintf(&b, " %s=%v", name, c.params[name])
	}
	fmt.Fprintf(&b, ", %s nodes", thousands(c.nodes))
	if c.names != "" {
		b.WriteString(" called " + c.names)
	}
	if c.weights != "" {
		b.WriteString(" of weights " + c.weights)
	}
	if c.schedule != "" {
		b.WriteString(", " + schedules[c.schedule])
	}
	switch {
	case c.measure == "shares":
		b.WriteString(", exact shares")
	case c.streamed > 0:
		fmt.Fprintf(&b, ", %s requests", thousands(c.streamed))
	case c.keys != "":
		fmt.Fprintf(&b, ", %s keys", thousands(mustKeys(c.keys).Len()))
	}
	if c.requests != "" {
		b.WriteString(" asked for by " + c.requests)
	}
	switch {
	case c.keySets > 1:
		fmt.Fprintf(&b, ", %s sets of keys", thousands(c.keySets))
	case c.newKeys:
		fmt.Fprintf(&b, ", %s placements with keys of their own", thousands(c.draws))
	case c.draws > 1:
		fmt.Fprintf(&b, ", %s placements", thousands(c.draws))
	}
	return b.String()
}

// schedules words the schedules that claims are about.
var schedules = map[string]string{
	"add-one": "one joins", "remove-each": "each leaves in turn", "remove-one": "one leaves",
	"double": "as many join",
}

func mustKeys(spec string) workloads.KeySet {
	set, err := workloads.ParseKeys(strings.ReplaceAll(spec, "{draw}", ""))
	if err != nil {
		panic("claims: " + err.Error())
	}
	return set
}

// run carries the cell out as the command run does, and returns its trials in the
// order of the placements. The same cell is run once.
func (l *lab) run(c cell) ([]results.Trial, error) {
	name := c.text() + " " + c.measure + " " + c.keys + " " + c.pair
	if trials := l.cells[name]; trials != nil {
		return trials, nil
	}
	use := name
	if c.pair != "" {
		use = c.pair
	}
	base := l.rand("cell", use).Uint64()>>24 + 1
	if c.names != "" { // numbers as people give them: those of the first placements
		base = 1 + l.o.Seed*uint64(max(1, c.draws))
	}
	runs, seeds := 1, max(1, l.draws(c.draws))
	if c.newKeys {
		runs, seeds = seeds, 1
	}
	var trials []results.Trial
	for i := range runs {
		more, err := l.carryOut(c, base+uint64(i), seeds)
		if err != nil {
			return nil, err
		}
		trials = append(trials, more...)
	}
	l.cells[name] = trials
	return trials, nil
}

// carryOut runs the cell over so many placements, the first of which has the seed
// that is given.
func (l *lab) carryOut(c cell, seed uint64, placements int) ([]results.Trial, error) {
	spec := harness.Spec{Title: "claims", Seed: seed, Nodes: []int{c.nodes}}
	spec.Contestants = []harness.Contestant{{
		Name: c.alg, Algorithm: c.alg, Params: c.params, Weights: c.weights, Names: c.names,
	}}
	e := harness.Experiment{Name: "claim", Measures: []string{c.measure}, Seeds: placements, Requests: c.streamed}
	keys := func(i int) string {
		return strings.ReplaceAll(c.keys, "{draw}", strconv.FormatUint(seed+uint64(i), 36))
	}
	spec.Keys = "seq:1"
	if c.keys != "" {
		spec.Keys = keys(0)
	}
	for i := range l.draws(c.keySets) {
		e.Keys = append(e.Keys, keys(i))
	}
	if c.requests != "" {
		e.Popularity = []string{c.requests}
	}
	if c.schedule != "" {
		e.Schedules = []string{c.schedule}
	}
	spec.Experiments = []harness.Experiment{e}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	filled, err := harness.SpecFromJSON("claims", text)
	if err != nil {
		return nil, err
	}
	plan, err := harness.NewPlan(filled, harness.Options{Algorithms: l.algorithms()})
	if err != nil {
		return nil, err
	}
	var kept collector
	if _, err := plan.Run(l.ctx, &kept); err != nil {
		return nil, err
	}
	var trials []results.Trial
	for _, t := range kept.trials {
		if t.Skip != "" {
			return nil, fmt.Errorf("%s: %s", t.Cell, t.Skip)
		}
		if t.Schedule == c.schedule {
			trials = append(trials, t)
		}
	}
	return trials, nil
}

// A collector keeps trials in memory.
type collector struct{ trials []results.Trial }

func (c *collector) Has(results.Trial) bool { return false }

func (c *collector) Append(t results.Trial) error {
	c.trials = append(c.trials, t)
	return nil
}

func (c *collector) Progress(harness.Progress) {}

// values returns the metric in each placement.
func (l *lab) values(c cell, metric string) ([]float64, error) {
	trials, err := l.run(c)
	if err != nil {
		return nil, err
	}
	vs := make([]float64, len(trials))
	for i, t := range trials {
		v, ok := t.Values[metric]
		if !ok {
			return nil, fmt.Errorf("%s: it has no %s", t.Cell, metric)
		}
		vs[i] = v
	}
	return vs, nil
}

// over makes a measure of a statistic over the placements of the cell.
func (c cell) over(metric, statistic string, of func([]float64) estimate) measure {
	return measure{
		setup: c.text() + statistic,
		take: func(l *lab) (estimate, error) {
			vs, err := l.values(c, metric)
			if err != nil {
				return estimate{}, err
			}
			return of(vs), nil
		},
	}
}

// mean is the mean of the metric over the placements.
func (c cell) mean(metric string) measure { return c.over(metric, "", mean) }

// rms is the root of the mean of its square.
func (c cell) rms(metric string) measure { return c.over(metric, ", root mean square", rms) }

// quantile is the value that the part q of the placements keeps.
func (c cell) quantile(metric string, q float64) measure {
	return c.over(metric, fmt.Sprintf(", the %gth percentile", 100*q), func(vs []float64) estimate { return quantile(vs, q) })
}

// above is the part of the placements where the metric is above x.
func (c cell) above(metric string, x float64) measure {
	return c.over(metric, fmt.Sprintf(", how often it is above %.4g", x), func(vs []float64) estimate {
		hits := make([]float64, len(vs))
		for i, v := range vs {
			if v > x {
				hits[i] = 1
			}
		}
		return mean(hits)
	})
}

// most and least are the extremes over the placements, which have no error: the
// claim is about every one of them.
func (c cell) most(metric string) measure {
	m := c.over(metric, ", the highest", func(vs []float64) estimate { return known(slices.Max(vs)) })
	m.exact = true
	return m
}

func (c cell) least(metric string) measure {
	m := c.over(metric, ", the lowest", func(vs []float64) estimate { return known(slices.Min(vs)) })
	m.exact = true
	return m
}

// part is a part of the keys in the one placement there is, where the keys are what
// is random.
func (c cell) part(metric string) measure {
	return measure{
		setup: c.text(),
		take: func(l *lab) (estimate, error) {
			vs, err := l.values(c, metric)
			if err != nil {
				return estimate{}, err
			}
			return proportion(vs[0], float64(mustKeys(c.keys).Len())), nil
		},
	}
}

// value is the metric where nothing is random.
func (c cell) value(metric string) measure {
	m := c.over(metric, "", func(vs []float64) estimate { return known(vs[0]) })
	m.exact = true
	return m
}

// known is an estimate without error.
func known(v float64) estimate { return estimate{value: v, least: v, most: v, low: v, high: v} }

// mean estimates the mean of what the values are drawn from.
func mean(vs []float64) estimate {
	n := float64(len(vs))
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	m := sum / n
	square := 0.0
	for _, v := range vs {
		square += float64((v - m) * (v - m))
	}
	e := estimate{value: m, least: slices.Min(vs), most: slices.Max(vs)}
	if n > 1 {
		e.one = math.Sqrt(square / (n - 1))
		e.err = e.one / math.Sqrt(n)
	}
	return e
}

// rms estimates the root of the mean square.
func rms(vs []float64) estimate {
	squares := make([]float64, len(vs))
	for i, v := range vs {
		squares[i] = v * v
	}
	return mean(squares).root()
}

// root returns the root of the estimate.
func (e estimate) root() estimate {
	r := estimate{value: math.Sqrt(e.value), least: math.Sqrt(max(0, e.least)), most: math.Sqrt(e.most)}
	if r.value > 0 {
		r.err, r.one = e.err/(2*r.value), e.one/(2*r.value)
	}
	return r
}

// over returns the quotient of two estimates that are independent.
func (e estimate) over(d estimate) estimate {
	q := e.value / d.value
	return estimate{value: q, err: math.Abs(q) * math.Hypot(e.err/e.value, d.err/d.value)}
}

// quantile estimates a quantile. The values of order that are one standard error
// of their rank away give its error.
func quantile(vs []float64, q float64) estimate {
	sorted := slices.Sorted(slices.Values(vs))
	n := float64(len(sorted))
	at := func(rank float64) float64 {
		return sorted[int(min(max(math.Round(rank), 0), n-1))]
	}
	rank, off := q*n-0.5, math.Sqrt(n*q*(1-q))
	return estimate{
		value: at(rank), err: (at(rank+2*off) - at(rank-2*off)) / 4,
		least: sorted[0], most: sorted[len(sorted)-1],
	}
}

// proportion is a part of n things that fall each for itself.
func proportion(p, n float64) estimate {
	return estimate{value: p, err: math.Sqrt(p * (1 - p) / n), least: p, most: p}
}

// A cluster is a placement to ask by hand: what no cell of a run tells.
type cluster struct {
	alg     string
	params  params
	nodes   int
	weights []float64 // repeated over the nodes; nil for equal ones
}

func (c cluster) text() string {
	var ws []string
	for _, w := range c.weights {
		ws = append(ws, strconv.FormatFloat(w, 'g', -1, 64))
	}
	return cell{alg: c.alg, params: c.params, nodes: c.nodes, weights: strings.Join(ws, ":")}.text()
}

// build returns the placement of the draw.
func (l *lab) build(c cluster, draw int) (*harness.Placement, error) {
	nodes := make([]algorithms.Node, c.nodes)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: l.name(draw, i), Weight: 1}
		if c.weights != nil {
			nodes[i].Weight = c.weights[i%len(c.weights)]
		}
	}
	return l.place(c.alg, nodes, c.params)
}

// place builds an algorithm over nodes.
func (l *lab) place(alg string, nodes []algorithms.Node, p params) (*harness.Placement, error) {
	info, ok := l.infos[alg]
	if !ok {
		return nil, fmt.Errorf("there is no algorithm %q, leave the claim out with --only", alg)
	}
	if p == nil {
		return harness.NewPlacement(info, nodes, nil)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return harness.NewPlacement(info, nodes, text)
}

// name is that of node i in a draw.
func (l *lab) name(draw, i int) string {
	return fmt.Sprintf("c%d-%d-node-%d", l.o.Seed, draw, i)
}

// hashes returns so many random hashes, which stand for as many keys.
func (l *lab) hashes(n int, use ...string) []uint64 {
	r := l.rand(use...)
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	return hs
}

// each calls f for every draw, on all cores, and returns what it found in the order
// of the draws.
func each[T any](l *lab, n int, f func(draw int) (T, error)) ([]T, error) {
	found := make([]T, n)
	errs := make([]error, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && l.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				found[i], errs[i] = f(i)
			}
		})
	}
	wait.Wait()
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// shares returns the exact shares of all nodes in the draws of a cluster, each as a
// multiple of the fair one.
func (l *lab) shares(c cluster, draws int) ([][]float64, error) {
	name := fmt.Sprint(c.text(), draws)
	if found := l.owned[name]; found != nil {
		return found, nil
	}
	found, err := each(l, draws, func(draw int) ([]float64, error) {
		p, err := l.build(c, draw)
		if err != nil {
			return nil, err
		}
		shares, ok := p.Shares()
		if !ok {
			return nil, fmt.Errorf("%s does not list its cells", c.alg)
		}
		for i := range shares {
			shares[i] *= float64(c.nodes)
		}
		return shares, nil
	})
	l.owned[name] = found
	return found, err
}
