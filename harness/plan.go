package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// Options are what the command line adds to a spec.
type Options struct {
	Algorithms []algorithms.Info
	Only       *regexp.Regexp // keep the cells whose name matches; nil keeps all
	Seed       uint64         // 0: the spec's
	Seeds      int            // 0: the spec's
	Reps       int            // 0: the spec's
	MaxMemory  int64          // bytes that one structure may take; 0: no limit
	Checked    bool           // the same plan was made before: build nothing to check it, and forecast nothing
}

// A Plan is a spec worked out: every trial that a run will record, in order.
// Making one checks everything that can be checked without measuring.
type Plan struct {
	Spec *Spec

	opts     Options
	watch    stopwatch
	infos    map[string]algorithms.Info
	entrants map[string][]*entrant // by the name of the contestant
	own      []algorithms.Node     // the nodes file, or nil
	keys     *keyData
	sets     map[string]*keyData // of the experiments that have keys of their own, by name
	pool     *pool
	large    *pool            // of the probe; nil until a cell wants it
	drawn    map[string]*pool // draws from a popularity, by its name
	exact    []*group
	timed    []*group
	planned  int             // trials so far
	costs    map[string]cost // subject.shape -> what it takes
	seen     map[seenKey]bool
}

// seenKey names an exact trial: suites put together may ask for one twice.
type seenKey struct {
	cell string
	seed uint64
}

// cost is what a subject roughly takes, for forecasts and progress only.
type cost struct {
	hot    int64         // bytes in which lookups read at random; guessed where it was not built
	build  time.Duration // of one New
	lookup time.Duration // of 1,024 lookups
}

// A group is the part of an experiment that runs together: its exact cells, or
// its timed ones.
type group struct {
	name     string
	headline bool
	tasks    []*task // exact: one a placement
	cells    []*cell // timed
	reps     int
}

// A task is everything that an exact experiment asks of one placement.
type task struct {
	subject subject
	exp     *Experiment
	trials  []results.Trial // without values

	warnings []string // of what was found, once it has run
}

// A subject is a contestant at one size in one placement.
type subject struct {
	contestant *Contestant
	info       algorithms.Info
	params     json.RawMessage // as given, sweep included
	set        []results.Field // the same, for the cell's name
	hash       keyhash.Hash
	weights    []float64
	names      namePattern
	own        []algorithms.Node
	n          int
	seed       uint64
	after      string // the schedule that it has been through; "" for none
	floor      bool   // whether others' figures are shown beside it, and no contestant asked for it
}

func newSubject(c *Contestant, info algorithms.Info, params map[string]any, n int) (subject, error) {
	sub := subject{contestant: c, info: info, n: n}
	var err error
	if sub.hash, err = keyhash.ByName(c.Hash); err != nil {
		return sub, err
	}
	if sub.weights, err = parseWeights(c.Weights); err != nil {
		return sub, err
	}
	if sub.names, err = parseNames(c.Names); err != nil {
		return sub, err
	}
	if sub.params, err = json.Marshal(params); err != nil {
		return sub, fmt.Errorf("parameters: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		sub.set = append(sub.set, results.Field{Name: name, Value: paramText(params[name])})
	}
	if c.Names != "" {
		sub.set = append(sub.set, results.Field{Name: "names", Value: c.Names})
	}
	if c.Zones > 0 {
		sub.set = append(sub.set, results.Field{Name: "zones", Value: strconv.Itoa(c.Zones)})
	}
	if c.IgnoreZones {
		sub.set = append(sub.set, results.Field{Name: "ignore_zones", Value: "true"})
	}
	v, err := variantOf(c)
	sub.info, sub.set = v.of(info), append(sub.set, v.fields()...)
	return sub, err
}

// paramText writes a parameter's value for a cell's name, the same whether it was
// read from TOML or from JSON: a whole number has no exponent.
func paramText(v any) string {
	if f, ok := v.(float64); ok {
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return strconv.FormatInt(int64(f), 10)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// shape tells subjects apart, whatever the placement.
func (s *subject) shape() string {
	c := s.contestant
	return fmt.Sprintf("%s %s %s %s %s %d %s %d %v %d %s", s.info.Name, s.params, c.Weights, c.Hash, c.Identity, c.Total, s.names.text, c.Zones, c.IgnoreZones, s.n, s.after)
}

// id tells subjects apart.
func (s *subject) id() string { return fmt.Sprintf("%s %d", s.shape(), s.seed) }

// nodes returns the subject's nodes: the user's own, or generated ones.
func (s *subject) nodes() []algorithms.Node {
	if s.own != nil {
		return s.ownNodes()
	}
	nodes := make([]algorithms.Node, s.n)
	for i := range nodes {
		nodes[i] = s.generated(i)
	}
	return nodes
}

// newcomer returns the node that joins with index i >= n. Beside nodes of the
// user's own it has their weight when they all have the same, and else 1.
func (s *subject) newcomer(i int) algorithms.Node {
	if s.own == nil {
		return s.generated(i)
	}
	weight := 1.0
	if algorithms.EqualWeights(s.own) {
		weight = s.own[0].Weight
	}
	name := "added-node-" + strconv.Itoa(i)
	for slices.ContainsFunc(s.own, func(n algorithms.Node) bool { return n.Name == name }) {
		name += "+"
	}
	n := algorithms.Node{Name: name, Weight: weight}
	if !s.contestant.IgnoreZones {
		n.Zone = s.zone(i)
	}
	return n
}

// ownNodes returns the user's nodes, without zones if these are to be ignored.
func (s *subject) ownNodes() []algorithms.Node {
	if !s.contestant.IgnoreZones {
		return s.own
	}
	nodes := slices.Clone(s.own)
	for i := range nodes {
		nodes[i].Zone = ""
	}
	return nodes
}

// zone returns the zone that node i is in, whether the algorithm is told or not.
// Nodes that join those of the user's own are in the zone of the first of them.
func (s *subject) zone(i int) string {
	switch zones := s.contestant.Zones; {
	case s.own != nil && i < len(s.own):
		return s.own[i].Zone
	case s.own != nil:
		return s.own[0].Zone
	case zones > 0:
		return "zone-" + strconv.Itoa(i%zones)
	}
	return ""
}

func (s *subject) generated(i int) algorithms.Node {
	name := nodeName(i, s.seed)
	if s.names.text != "" {
		name = s.names.name(i, s.n, s.seed)
	}
	n := algorithms.Node{Name: name, Weight: s.weights[i%len(s.weights)]}
	if !s.contestant.IgnoreZones {
		n.Zone = s.zone(i)
	}
	return n
}

// ErrNoCell says that [Options.Only] leaves nothing of a spec.
var ErrNoCell = errors.New("no cell matches --only, see the names with --dry-run")

// NewPlan works a spec out. Its errors are the user's: an unknown name, a
// parameter out of range, a structure too large, a file that cannot be read.
func NewPlan(spec *Spec, o Options) (*Plan, error) {
	pl := &Plan{Spec: spec, opts: o, watch: clocks, infos: map[string]algorithms.Info{}, costs: map[string]cost{}, seen: map[seenKey]bool{}, sets: map[string]*keyData{}, drawn: map[string]*pool{}}
	for _, i := range o.Algorithms {
		pl.infos[i.Name] = i
	}
	pl.entrants = spec.entrants(o.Algorithms)
	if o.Seed != 0 {
		spec.Seed = o.Seed
	}
	for i := range spec.Experiments {
		e := &spec.Experiments[i]
		if o.Seeds != 0 {
			e.Seeds = o.Seeds
		}
		if o.Reps != 0 {
			e.Reps = o.Reps
		}
	}
	if err := spec.checkRounds(); err != nil {
		return nil, err
	}
	if err := pl.readInputs(); err != nil {
		return nil, err
	}
	pl.pool = newPool(spec.Pool, spec.Seed)
	for i := range spec.Experiments {
		if err := pl.expand(i); err != nil {
			return nil, err
		}
	}
	if len(pl.exact)+len(pl.timed) == 0 {
		return nil, ErrNoCell
	}
	return pl, nil
}

// checkRounds refuses what nobody waits for. Flags may have set it.
func (s *Spec) checkRounds() error {
	for i := range s.Experiments {
		e := &s.Experiments[i]
		for _, n := range []struct {
			key        string
			value, top int
		}{{"seeds", e.Seeds, maxRounds}, {"reps", e.Reps, maxRounds}, {"requests", e.Requests, maxAsked}} {
			if n.value > n.top {
				return s.errorAt("experiment", i, n.key, "%s = %d, want 1 to %d", n.key, n.value, n.top)
			}
		}
	}
	return nil
}

// readInputs reads the nodes and keys that the spec names.
func (pl *Plan) readInputs() error {
	s := pl.Spec
	if s.NodesFile != "" {
		f, err := os.Open(s.NodesFile)
		if err != nil {
			return s.errorAt("", -1, "nodes_file", "%v", err)
		}
		defer f.Close()
		if pl.own, err = algorithms.ReadNodes(f, s.NodesFile); err != nil {
			return err
		}
	}
	var err error
	pl.keys, err = readKeys(s)
	return err
}

// expand works one experiment out.
func (pl *Plan) expand(i int) error {
	s := pl.Spec
	e := &s.Experiments[i]
	g := &group{name: e.Name, headline: e.Headline}
	t := &group{name: e.Name, reps: e.Reps}
	exact, timed := splitMeasures(e.Measures)
	if err := pl.checkExperiment(i); err != nil {
		return err
	}
	var pools []*pool
	if len(timed) > 0 {
		pools = pl.pools(e)
	}
	sizes := e.Nodes
	if pl.own != nil {
		sizes = []int{len(pl.own)}
	}
	for _, n := range sizes {
		for _, c := range pl.entering(e) {
			subjects, err := pl.subjects(c, i, n)
			if err != nil {
				return err
			}
			for _, sub := range subjects {
				tasks, cells := len(g.tasks), len(t.cells)
				pl.expandExact(g, e, sub, exact)
				pl.expandTimed(t, sub, timed, pools)
				for _, task := range g.tasks[tasks:] {
					pl.planned += len(task.trials)
				}
				for _, cell := range t.cells[cells:] {
					pl.planned += cell.reps
				}
				if pl.planned > maxTrials {
					return s.errorAt("experiment", i, "", "more than %d trials so far, ask for fewer seeds, reps or points", maxTrials)
				}
			}
		}
	}
	if len(g.tasks) > 0 {
		pl.exact = append(pl.exact, g)
	}
	if len(t.cells) > 0 {
		if err := pl.addFloors(t); err != nil {
			return err
		}
		pl.timed = append(pl.timed, t)
	}
	return nil
}

// entering returns who competes in the experiment, each once.
func (pl *Plan) entering(e *Experiment) []*entrant {
	var all []*entrant
	for _, name := range e.Contestants {
		for _, c := range pl.entrants[name] {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// checkExperiment checks the words of an experiment that workloads reads.
func (pl *Plan) checkExperiment(i int) error {
	e := &pl.Spec.Experiments[i]
	for _, p := range e.Popularity {
		if _, err := pl.keys.popularity(p); err != nil {
			return pl.Spec.errorAt("experiment", i, "popularity", "%v", err)
		}
	}
	if _, err := pl.keySets(e); err != nil {
		return pl.Spec.errorAt("experiment", i, "keys", "%v", err)
	}
	for _, r := range e.Remedies {
		if _, err := parseRemedy(r); err != nil {
			return pl.Spec.errorAt("experiment", i, "remedies", "%v", err)
		}
	}
	// A cluster too small for a schedule skips it. A schedule that suits neither
	// ten nodes nor the largest cluster is a mistake.
	largest := max(10, len(pl.own))
	for _, n := range e.Nodes {
		largest = max(largest, n)
	}
	for _, sch := range e.Schedules {
		if _, err := workloads.ParseSchedule(sch, largest, workloads.Rand(1)); err != nil {
			return pl.Spec.errorAt("experiment", i, "schedules", "%v", err)
		}
	}
	for _, sch := range e.After {
		if sch == newlyBuilt {
			continue
		}
		s, err := workloads.ParseSchedule(sch, largest, workloads.Rand(1))
		if err == nil && s.Independent {
			err = fmt.Errorf("schedule %q: each of its steps starts from the beginning, take one that leads somewhere", sch)
		}
		if err != nil {
			return pl.Spec.errorAt("experiment", i, "after", "%v", err)
		}
	}
	return nil
}

// subjects returns the contestant at size n, one for each point of the sweep.
func (pl *Plan) subjects(c *entrant, ei, n int) ([]subject, error) {
	s := pl.Spec
	info, ok := pl.infos[c.Algorithm]
	if !ok {
		return nil, s.errorAt("contestant", c.at, "algorithm", "unknown algorithm %q, %s", c.Algorithm, algorithms.Nearest(c.Algorithm, slices.Sorted(maps.Keys(pl.infos))))
	}
	var subjects []subject
	for _, params := range combinations(c.Params, s.Experiments[ei].Sweep) {
		one := pl.varied(c.Contestant, params)
		sub, err := newSubject(&one, info, one.Params, n)
		sub.own = pl.own
		for _, after := range s.Experiments[ei].After {
			if err == nil {
				subjects = append(subjects, sub.aged(after))
				err = pl.check(subjects[len(subjects)-1])
			}
		}
		if err != nil {
			return nil, s.errorAt("contestant", c.at, "", "%v", err)
		}
	}
	return subjects, nil
}

// varied returns the contestant at one point of a sweep, which may give its hash
// and the names of its nodes beside parameters. Nodes of the user's own keep their
// names.
func (pl *Plan) varied(c Contestant, point map[string]any) Contestant {
	c.Params = maps.Clone(point)
	for field, to := range map[string]*string{"hash": &c.Hash, "names": &c.Names} {
		if v, ok := c.Params[field].(string); ok {
			*to = v
			delete(c.Params, field)
		}
	}
	if pl.own != nil {
		c.Names, c.Zones = "", 0
	}
	return c
}

// combinations returns the parameters for each point of the sweep, the last
// parameter in the order of names varying fastest.
func combinations(base map[string]any, sweep map[string][]any) []map[string]any {
	all := []map[string]any{base}
	for _, name := range slices.Sorted(maps.Keys(sweep)) {
		var next []map[string]any
		for _, m := range all {
			for _, v := range sweep[name] {
				c := maps.Clone(m)
				c[name] = v
				next = append(next, c)
			}
		}
		all = next
	}
	return all
}

// buildable is the forecast size up to which a plan builds each structure once,
// so that a parameter that does not fit is refused before anything is measured.
const buildable = 16 << 20

// check refuses what cannot be built, and notes what it costs to build what can.
func (pl *Plan) check(sub subject) error {
	shape := sub.shape()
	if _, done := pl.costs[shape]; done || pl.opts.Checked {
		return nil
	}
	sub.seed = pl.Spec.Seed
	nodes := sub.nodes()
	forecast, err := sub.info.Forecast(nodes, sub.params)
	if err != nil {
		return err
	}
	if most := pl.opts.MaxMemory; most > 0 && forecast > most {
		return fmt.Errorf("%s over %d nodes would take %s, more than the %s of --max-memory", sub.contestant.Name, len(nodes), bytesText(forecast), bytesText(most))
	}
	// What is not built here is guessed to cost 100 ns for each 16 bytes.
	c := cost{hot: forecast, build: time.Duration(forecast/16) * 100, lookup: 50 * time.Microsecond}
	if forecast > buildable {
		c.hot = guessedHot(sub, nodes, forecast)
	} else {
		start := time.Now()
		p, err := sub.place()
		c.build = time.Since(start)
		switch {
		case errors.Is(err, errors.ErrUnsupported): // becomes a skip with its reason
		case err != nil:
			return err
		default:
			m := p.Mapper
			if _, own := m.(algorithms.KeyMapper); own && sub.contestant.Hash != defaultHash {
				return fmt.Errorf("%s hashes keys its own way, leave hash out", sub.info.Name)
			}
			if hot, tells := hotBytes(m); tells {
				c.hot = hot
			}
			start = time.Now()
			for i := range uint64(chunk) {
				m.Lookup(i * 0x9e3779b97f4a7c15)
			}
			c.lookup = time.Since(start)
		}
	}
	pl.costs[shape] = c
	return nil
}

// guessedHot is the part of the forecast that lookups read at random, as it is of a
// small cluster of the same kind.
func guessedHot(sub subject, nodes []algorithms.Node, forecast int64) int64 {
	few := nodes[:min(len(nodes), 64)]
	part, err := sub.info.Forecast(few, sub.params)
	if err != nil || part < 1 || part > buildable {
		return forecast
	}
	m, _, err := sub.info.New(few, sub.params)
	if err != nil {
		return forecast
	}
	if hot, tells := hotBytes(m); tells {
		return int64(float64(hot) / float64(part) * float64(forecast))
	}
	return forecast
}

// hotBytes returns how many bytes lookups read at random, when the algorithm tells.
func hotBytes(m algorithms.Mapper) (bytes int64, tells bool) {
	if h, ok := m.(algorithms.HotSizer); ok {
		return h.HotBytes(), true
	}
	if z, ok := m.(algorithms.Sizer); ok {
		return z.Footprint(), true
	}
	return 0, false
}

func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	e := (bits.Len64(uint64(n)) - 1) / 10
	return strconv.FormatFloat(float64(n)/float64(int64(1)<<(10*e)), 'f', 1, 64) + " " + string("KMGTPE"[e-1]) + "iB"
}

// trial returns a trial of the subject without values.
func (pl *Plan) trial(exp, measure string, sub subject, workload, schedule string, keys int) results.Trial {
	weights := sub.contestant.Weights
	if sub.own != nil {
		weights = filepath.Base(pl.Spec.NodesFile)
	}
	hash := ""
	if sub.hash.Name != defaultHash {
		hash = sub.hash.Name
	}
	return results.Trial{
		Type:       "trial",
		Cell:       results.CellName(measure, sub.info.Name, sub.n, sub.set, workload, schedule, weights, hash),
		Experiment: exp,
		Measure:    measure,
		Algorithm:  sub.info.Name,
		Params:     sub.params,
		Workload:   workload,
		Schedule:   schedule,
		Weights:    weights,
		Hash:       sub.hash.Name,
		Nodes:      sub.n,
		Keys:       keys,
		Seed:       sub.seed,
	}
}

// wanted says whether --only keeps the cell.
func (pl *Plan) wanted(t results.Trial) bool {
	return pl.opts.Only == nil || pl.opts.Only.MatchString(t.Cell)
}

// expandExact adds the subject's exact trials, one task for each seed.
func (pl *Plan) expandExact(g *group, e *Experiment, sub subject, measures []string) {
	if len(measures) == 0 {
		return
	}
	sets, err := pl.keySets(e)
	if err != nil {
		panic("harness: " + err.Error()) // checkExperiment has asked
	}
	for k := range e.Seeds {
		sub.seed = pl.Spec.Seed + uint64(k)
		t := &task{subject: sub, exp: e}
		add := func(measure, workload, schedule string, keys int, more ...results.Field) {
			if pl.own != nil && k > 0 && schedule == "" && measure != "bounded" {
				return // the user's nodes have one placement
			}
			of := sub
			of.set = slices.Concat(sub.set, more)
			tr := pl.trial(e.Name, measure, of, workload, schedule, keys)
			key := seenKey{tr.Cell, tr.Seed}
			if !pl.seen[key] && pl.wanted(tr) {
				pl.seen[key] = true
				t.trials = append(t.trials, tr)
			}
		}
		keys := pl.keys.set.Len()
		uniform, skewed := pl.keys.split(e.Popularity)
		for _, m := range measures {
			switch m {
			case "shares":
				add(m, "", "", 0)
				for _, sch := range e.Schedules {
					add(m, "", sch, 0)
				}
			case "balance":
				for _, k := range sets {
					add(m, k.workload("uniform"), "", k.set.Len())
				}
			case "load":
				for _, w := range skewed {
					add(m, w, "", keys)
				}
			case "weights":
				add(m, uniform, "", keys)
			case "remedies":
				for _, w := range skewed {
					for _, r := range e.Remedies {
						add(m, w, "", keys, results.Field{Name: "remedy", Value: r})
					}
				}
			case "movement", "misses", "views":
				for _, sch := range e.Schedules {
					add(m, skewed[0], sch, keys)
				}
			case "replicas":
				for _, r := range e.Replicas {
					add(m, uniform, "", keys, results.Field{Name: replicasField, Value: strconv.Itoa(r)})
				}
			case "replica-movement":
				for _, sch := range e.Schedules {
					for _, r := range e.Replicas {
						add(m, uniform, sch, keys, results.Field{Name: replicasField, Value: strconv.Itoa(r)})
					}
				}
			case "bounded":
				for _, p := range e.Popularity {
					add(m, pl.keys.workload(p), "", keys, e.stream()...)
				}
			case "bounded-movement":
				for _, sch := range e.Schedules {
					for _, p := range e.Popularity {
						add(m, pl.keys.workload(p), sch, keys, e.stream()...)
					}
				}
			}
		}
		if len(t.trials) > 0 {
			g.tasks = append(g.tasks, t)
		}
	}
}

// Trials returns every trial of the plan, without values, in the order in which
// they are recorded but for the shuffling of timed cells.
func (pl *Plan) Trials() []results.Trial {
	var all []results.Trial
	for _, g := range pl.exact {
		for _, t := range g.tasks {
			all = append(all, t.trials...)
		}
	}
	seen := map[results.Key]bool{} // controls run in every group and are recorded once
	for _, g := range pl.timed {
		for rep := range g.reps {
			for _, c := range g.cells {
				t := c.trial
				t.Rep = rep
				if rep < c.reps && !seen[t.Key()] {
					seen[t.Key()] = true
					all = append(all, t)
				}
			}
		}
	}
	return all
}

// Estimate returns roughly how long the run will take on this machine.
func (pl *Plan) Estimate() time.Duration {
	var exact, timed time.Duration
	for _, g := range pl.exact {
		for _, t := range g.tasks {
			exact += pl.taskCost(t)
		}
	}
	for _, g := range pl.timed {
		for _, c := range g.cells {
			timed += pl.prepareCost(c) + time.Duration(c.reps)*blockCost
		}
	}
	return exact/time.Duration(runtime.GOMAXPROCS(0)) + timed
}

// blockCost is what a timed block takes with its warm-up.
const blockCost = blockTarget * 5 / 4

// compareCost is what comparing or adding up 1,024 keys takes beside their lookups.
const compareCost = 10 * time.Microsecond

// replicaPasses is how many passes over the keys looking up replicas takes about as
// long as.
const replicaPasses = 10

// taskCost is what one core takes for the task: a build and a pass over the keys
// for the placement itself and after each step of a schedule.
func (pl *Plan) taskCost(t *task) time.Duration {
	c := pl.costs[t.subject.shape()]
	builds, passes := 1, 0
	for _, tr := range t.trials {
		steps := 1
		if tr.Schedule != "" {
			if s, err := workloads.ParseSchedule(tr.Schedule, tr.Nodes, workloads.Rand(1)); err == nil {
				steps = len(s.Steps)
			}
			builds += steps
		}
		switch {
		case ofReplicas(tr.Measure):
			passes += replicaPasses * steps
		case tr.Keys > 0:
			passes += steps
		}
	}
	return time.Duration(builds)*c.build + time.Duration(passes*pl.keys.set.Len()/chunk)*(c.lookup+compareCost)
}

// prepareCost is what building, gating and answering for a timed cell takes.
func (pl *Plan) prepareCost(c *cell) time.Duration {
	k := pl.costs[c.subject.shape()]
	d := 2 * k.build
	if c.pool != nil {
		d += time.Duration(c.pool.len()/chunk) * k.lookup / time.Duration(runtime.GOMAXPROCS(0))
	}
	return d
}

// Headlines returns the names of the experiments that the first screen waits
// for; all exact ones when the spec marks none.
func (pl *Plan) Headlines() []string {
	var marked, all []string
	for _, g := range pl.exact {
		all = append(all, g.name)
		if g.headline {
			marked = append(marked, g.name)
		}
	}
	if len(marked) > 0 {
		return marked
	}
	return all
}
