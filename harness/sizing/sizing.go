// Package sizing answers one question: how high must the knob of an algorithm be
// turned, vnodes in the case of a ring, until the busiest node of *my* cluster
// stays within a limit?
//
// It stands beside the runs of the harness and uses their pieces: no key is
// sampled and no clock is read, all figures come from exact shares of the hash
// space. A model answers first. On a ring of good hashes the shares of the nodes
// follow the Dirichlet distribution whose parameters are the numbers of points,
// so that the chance of meeting the limit can be computed. Then the algorithm
// itself is asked, with its own hash, over clusters with names drawn at random;
// where the two part, the hash is not as good as the model takes it to be, and
// the algorithm has the last word.
//
// Beside the answer stand the things that it costs or that it cannot mend: the
// memory, the ranges that change hands when a node joins, what happens to the
// others when a node dies, how exposed replicas are, and how much of the spread
// comes from there being few keys or from hot ones, which no number of vnodes
// changes.
//
// The same question gives the same answer, to far more digits than matter, on
// every machine and on any number of cores.
package sizing

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// A Metric says how the evenness of a placement is judged.
type Metric string

const (
	Peak Metric = "share-peak" // the busiest node, 1 = its fair share
	CV   Metric = "share-cv"   // standard deviation over mean
)

// of reads the metric off a placement, so that 0 is perfect.
func (m Metric) of(s harness.Spread) float64 {
	if m == CV {
		return s.CV
	}
	return s.Peak - 1
}

// A Target is the limit that is to be kept.
type Target struct {
	Metric Metric  `json:"metric"`
	Value  float64 `json:"value"`
}

// limit is the target on the scale of [Metric.of].
func (t Target) limit() float64 {
	if t.Metric == CV {
		return t.Value
	}
	return t.Value - 1
}

// A Question is what somebody who sizes a cluster asks.
type Question struct {
	Info   algorithms.Info
	Params json.RawMessage   // as given; may set the knob, which then gets a row of its own
	Nodes  []algorithms.Node // their weights count, and with Yours their names
	Yours  bool              // the nodes are the asker's own, not made up
	Hash   keyhash.Hash      // of the keys, unless the algorithm hashes them itself

	Target     Target
	Confidence float64 // part of the clusters that shall meet the target
	Keys       *Keys   // nil: so many, asked for so alike, that they do not matter
	Headroom   float64 // how far above its fair share a node can work
	Replicas   int     // nodes that hold a key
	Seed       uint64
	MaxMemory  int64 // bytes that the structure may take; 0: no limit

	// Trying tells, before the algorithm is asked over so many placements with the
	// knob at v. It may be nil.
	Trying func(v, placements int)
}

// Check refuses a question that has no answer. Solve asks it first.
func (q *Question) Check() error {
	switch {
	case q.Info.Knob == "":
		return fmt.Errorf("%s has no parameter that buys balance for memory, so there is nothing to size", q.Info.Name)
	case q.Target.Metric == Peak && !(q.Target.Value > 1):
		return fmt.Errorf("a target peak of %v cannot be met, since some node always has its fair share: ask for more than 1, such as 1.15", q.Target.Value)
	case q.Target.Metric == CV && !(q.Target.Value > 0):
		return fmt.Errorf("a target cv of %v cannot be met, ask for more than 0, such as 0.05", q.Target.Value)
	case math.IsInf(q.Target.Value, 0):
		return errors.New("the target is infinite, ask for a number")
	case !(q.Confidence > 0 && q.Confidence < 1):
		return fmt.Errorf("a confidence of %v is not between 0 and 1, such as 0.95", q.Confidence)
	case !(q.Headroom >= 0) || math.IsInf(q.Headroom, 0):
		return fmt.Errorf("a headroom of %v, it must be 0 or more, such as 25%%", q.Headroom)
	case q.Replicas < 1:
		return fmt.Errorf("%d replicas, a key needs 1 or more", q.Replicas)
	}
	return algorithms.Validate(q.Nodes)
}

// An Answer is what there is to say. Its JSON is the output of the command.
type Answer struct {
	Nodes      int             `json:"nodes"`
	Algorithm  string          `json:"algorithm"`
	Params     json.RawMessage `json:"params"`
	Hash       string          `json:"hash"`
	Target     Target          `json:"target"`
	Confidence float64         `json:"confidence"`
	Knob       string          `json:"knob"`   // what "vnodes" counts: "vnodes" for a ring
	Shared     bool            `json:"shared"` // whether that is what all nodes share, not what each has
	Preset     int             `json:"default"`
	VNodes     int             `json:"vnodes"` // the recommended value; 0 where there is none
	Why        string          `json:"why"`    // why there is none; ""
	Trivial    bool            `json:"single"` // one node, which owns everything
	Achieved   *Achieved       `json:"achieved"`
	Memory     int64           `json:"memory_bytes"`
	LookupNs   *float64        `json:"lookup_ns"` // null where it was not timed
	Rows       []Row           `json:"rows"`
	Model      *Model          `json:"model"`    // null where there is none for the algorithm
	Measured   *Measured       `json:"measured"` // the algorithm itself
	Change     *Change         `json:"change"`   // null where it is not known
	Keys       *KeyParts       `json:"keys,omitempty"`
	Yours      *Yours          `json:"your_nodes,omitempty"`
	Compare    []Contender     `json:"compare,omitempty"`
}

// Achieved is the metric of the target at the recommended value, over random
// names.
type Achieved struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Met  float64 `json:"met"` // part of the placements within the target
}

// Model is what the model says.
type Model struct {
	VNodes int     `json:"vnodes"` // 0 where no value meets the target
	Met    float64 `json:"met"`    // chance of meeting the target there
}

// Measured is what the algorithm itself did, at the value that the model chose
// or, where it has none, at the one recommended.
type Measured struct {
	VNodes     int     `json:"vnodes"`
	Placements int     `json:"placements"`
	Met        float64 `json:"met"`   // part of them within the target
	Parts      bool    `json:"parts"` // beyond what chance explains from the model
	P50        float64 `json:"p50"`   // of the target's metric
	Tried      int     `json:"tried"` // highest value that was tried; the model's where it sufficed
	TriedP50   float64 `json:"tried_p50"`
}

// A Row is one value of the knob, over random names. The figures are of the
// shares or, where the question tells of keys, of the keys or their requests.
type Row struct {
	VNodes   int      `json:"vnodes"`
	Each     [2]int   `json:"per_node"` // the least and the most points or slots that a node has by its weight; 0 where it is not known
	CVMean   float64  `json:"cv_mean"`
	CVP50    float64  `json:"cv_p50"`
	CVP95    float64  `json:"cv_p95"`
	CVAsk    float64  `json:"cv_at_confidence"` // kept with the confidence asked for
	PeakMean float64  `json:"peak_mean"`
	PeakP50  float64  `json:"peak_p50"`
	PeakP95  float64  `json:"peak_p95"`
	PeakAsk  float64  `json:"peak_at_confidence"`
	Memory   int64    `json:"memory_bytes"`
	LookupNs *float64 `json:"lookup_ns"` // null where it was not timed
	Failure  *Failure `json:"failure"`   // null where it is not known
	Exposure *float64 `json:"quorum_exposure"`
	Yours    *Own     `json:"your_nodes,omitempty"`
}

// Bounds of the random placements behind a figure.
const (
	leastDraws = 200
	mostDraws  = 20000
	keyedDraws = 5000 // where each draw also lets the keys fall
)

// draws returns how many placements the model draws for a figure.
func (s *solver) draws() int {
	most := mostDraws
	if s.q.Keys != nil {
		most = keyedDraws
	}
	return min(max(4_000_000/len(s.nodes), leastDraws), most)
}

// Solve answers the question. An error is the asker's: parameters that do not
// fit, or a structure beyond MaxMemory. That no value meets the target is an
// answer, with its reason in Why.
func Solve(q Question) (*Answer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	s, err := newSolver(&q)
	if err != nil {
		return nil, err
	}
	a := &Answer{
		Nodes: len(q.Nodes), Algorithm: q.Info.Name, Params: s.inForce, Hash: results.Param(s.inForce, "point_hash"),
		Target: q.Target, Confidence: q.Confidence, Knob: q.Info.Knob, Shared: q.Info.Shared, Preset: s.preset,
	}
	if len(s.nodes) == 1 {
		a.Trivial, a.VNodes, a.Rows = true, 1, []Row{}
		return a, nil
	}
	if err := s.recommend(a); err != nil {
		return nil, err
	}
	if a.VNodes > 0 {
		a.VNodes = s.step(a.VNodes)
	}
	at := a.VNodes
	if at == 0 {
		at = s.anchor(a)
	}
	if err := s.rows(a, at); err != nil {
		return nil, err
	}
	counts := s.counts(at)
	switch {
	case s.q.Info.Shared:
		if a.Change, err = s.changeMeasured(at); err != nil {
			return nil, err
		}
	case counts != nil && !s.names:
		a.Change = s.change(counts)
	}
	if q.Keys != nil {
		a.Keys = s.keyParts(at)
	}
	if q.Yours {
		if a.Yours, err = s.yours(at); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// A solver is a question under work.
type solver struct {
	q       *Question
	nodes   []algorithms.Node // those that may own something
	weights []float64
	fair    []float64 // their parts of the whole
	params  map[string]json.RawMessage
	inForce json.RawMessage
	given   int  // the knob as the parameters set it, 0 when they do not
	preset  int  // the algorithm's default
	most    int  // the highest value that fits into memory
	names   bool // figures of the rows come from random names, not from the model
}

func newSolver(q *Question) (*solver, error) {
	s := &solver{q: q, params: map[string]json.RawMessage{}}
	total := 0.0
	for _, n := range q.Nodes {
		if n.Weight > 0 {
			s.nodes = append(s.nodes, n)
			s.weights = append(s.weights, n.Weight)
			total += n.Weight
		}
	}
	for _, w := range s.weights {
		s.fair = append(s.fair, w/total)
	}
	if len(q.Params) > 0 {
		if err := json.Unmarshal(q.Params, &s.params); err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
	}
	s.preset = knobOf(q.Info.Defaults, q.Info.Knob)
	// A small cluster shows whether the parameters are right, and what they are.
	_, inForce, err := q.Info.New(s.nodes[:1], q.Params)
	if err != nil {
		return nil, err
	}
	s.inForce = inForce
	if _, ok := s.params[q.Info.Knob]; ok {
		s.given = knobOf(inForce, q.Info.Knob)
	}
	if q.Replicas > len(s.nodes) && len(s.nodes) > 1 {
		return nil, fmt.Errorf("%d replicas over %d nodes, name more nodes or ask for fewer replicas", q.Replicas, len(s.nodes))
	}
	s.most, err = s.fitting()
	return s, err
}

func knobOf(params json.RawMessage, knob string) int {
	var v map[string]json.RawMessage
	n := 0
	if json.Unmarshal(params, &v) == nil {
		_ = json.Unmarshal(v[knob], &n) // 0 when it is no whole number
	}
	return n
}

// with returns the parameters with the knob at v.
func (s *solver) with(v int) json.RawMessage {
	params := maps.Clone(s.params)
	params[s.q.Info.Knob] = json.RawMessage(strconv.Itoa(s.step(v)))
	b, err := json.Marshal(params)
	if err != nil {
		panic("sizing: " + err.Error()) // they were JSON before
	}
	return b
}

// step returns the value of the knob that stands for v: the nearest that the
// algorithm takes and that is not below it, if there is one.
func (s *solver) step(v int) int {
	if s.q.Info.Step == nil {
		return v
	}
	v, err := s.q.Info.Step(s.q.Params, v)
	if err != nil {
		panic("sizing: " + err.Error()) // New has taken the same parameters
	}
	return v
}

// limitOfKnob bounds the knob where memory does not.
const limitOfKnob = 1<<31 - 1

// fitting returns the highest value of the knob whose structure fits into
// memory.
func (s *solver) fitting() (int, error) {
	fits := func(v int) (bool, error) {
		bytes, err := s.q.Info.Forecast(s.nodes, s.with(v))
		return s.q.MaxMemory <= 0 || bytes <= s.q.MaxMemory, err
	}
	ok, err := fits(1)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fmt.Errorf("%s over %d nodes does not fit into the %s of --max-memory", s.q.Info.Name, len(s.nodes), Bytes(s.q.MaxMemory))
	}
	highest := s.step(limitOfKnob)
	v, err := smallest(1, highest, func(v int) (bool, error) {
		ok, err := fits(v)
		return !ok, err
	})
	if v == 0 {
		return highest, err
	}
	return v - 1, err
}

// smallest returns the smallest v from lo to hi for which met holds, given that
// it holds from there on; 0 when it holds for none. It looks at the low end
// first, since a high value may cost much more to judge.
func smallest(lo, hi int, met func(v int) (bool, error)) (int, error) {
	fails, v := lo-1, lo
	for {
		ok, err := met(v)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if fails = v; v == hi {
			return 0, nil
		}
		if v = 2 * v; v > hi || v < 0 {
			v = hi
		}
	}
	for v-fails > 1 {
		mid := fails + (v-fails)/2
		ok, err := met(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			v = mid
		} else {
			fails = mid
		}
	}
	return v, nil
}

// counts returns the points of the nodes with the knob at v, nil where the
// structure is no circle of random points.
func (s *solver) counts(v int) []int {
	if s.q.Info.PointCounts == nil {
		return nil
	}
	counts, err := s.q.Info.PointCounts(s.nodes, s.with(v))
	if err != nil {
		return nil // New has taken the same parameters
	}
	return counts
}

// anchor is the value of the knob that the table stands around where none can
// be recommended.
func (s *solver) anchor(a *Answer) int {
	switch {
	case s.given > 0:
		return min(s.given, s.most)
	case a.Measured != nil && a.Model != nil && a.Model.VNodes > 0:
		return a.Model.VNodes
	}
	return min(max(s.preset, 1), s.most)
}

// steps are the values of the knob that people use.
var steps = []int{
	1, 2, 4, 8, 16, 40, 64, 100, 160, 256, 400, 640, 1000, 1600, 2560, 4000, 6400, 10_000, 16_000, 25_600,
	40_000, 64_000, 100_000, 160_000, 256_000, 400_000, 640_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000,
}

// shown returns the values of the knob that get a row: two below, the value
// itself, one above, and the one that is set now.
func (s *solver) shown(at int) []int {
	var below, above []int
	for _, v := range steps {
		if 8*v <= 5*at {
			below = append(below, v)
		}
		if 5*v >= 8*at && v <= s.most {
			above = append(above, v)
		}
	}
	vs := []int{at}
	if n := len(below); n > 0 {
		vs = append(vs, below[n-1])
		for i := n - 2; i >= 0; i-- {
			if 2*below[i] <= below[n-1] {
				vs = append(vs, below[i])
				break
			}
		}
	}
	if len(above) > 0 {
		vs = append(vs, above[0])
	}
	if s.given > 0 && s.given <= s.most {
		vs = append(vs, s.given)
	}
	if s.q.Info.Shared && s.preset <= s.most {
		vs = append(vs, s.preset)
	}
	for i := range vs {
		vs[i] = s.step(vs[i])
	}
	slices.Sort(vs)
	return slices.Compact(vs)
}

// rows fills in the table around the value.
func (s *solver) rows(a *Answer, at int) error {
	for _, v := range s.shown(at) {
		p, err := s.population(v)
		if err != nil {
			return err
		}
		row, err := s.row(v, p)
		if err != nil {
			return err
		}
		if v == a.VNodes {
			m, limit := s.q.Target.Metric, s.q.Target.limit()
			a.Achieved = &Achieved{Mean: s.scaled(p.mean(m)), P50: s.scaled(p.quantile(m, 0.5)), P95: s.scaled(p.quantile(m, 0.95)), Met: p.within(m, limit)}
			a.Memory = row.Memory
		}
		a.Rows = append(a.Rows, row)
	}
	return nil
}

// scaled turns what [Metric.of] gives back into the target's metric.
func (s *solver) scaled(excess float64) float64 {
	return excess + (s.q.Target.Value - s.q.Target.limit())
}

// row describes one value of the knob, given its population.
func (s *solver) row(v int, p *population) (Row, error) {
	row := Row{
		VNodes: v, Each: s.each(v),
		CVMean: p.mean(CV), CVP50: p.quantile(CV, 0.5), CVP95: p.quantile(CV, 0.95), CVAsk: p.quantile(CV, s.q.Confidence),
		PeakMean: 1 + p.mean(Peak), PeakP50: 1 + p.quantile(Peak, 0.5), PeakP95: 1 + p.quantile(Peak, 0.95), PeakAsk: 1 + p.quantile(Peak, s.q.Confidence),
	}
	place, err := harness.NewPlacement(s.q.Info, s.named(), s.with(v))
	if err != nil {
		return row, err
	}
	if z, ok := place.Mapper.(algorithms.Sizer); ok {
		row.Memory = z.Footprint()
	} else if row.Memory, err = s.q.Info.Forecast(s.nodes, s.with(v)); err != nil {
		return row, err
	}
	if s.q.Yours {
		if row.Yours, err = s.own(place, p); err != nil {
			return row, err
		}
	}
	counts := s.counts(v)
	if counts == nil {
		return row, nil
	}
	if s.q.Replicas > 1 && !s.names {
		row.Exposure = s.exposure(counts)
	}
	if s.q.Info.Shared {
		return row, nil // the others do not inherit what a dead node had, all is shared out anew
	}
	row.Failure, err = s.failure(v, counts, p)
	return row, err
}

// each returns how many points a node has, or how many slots are its part: the
// least and the most.
func (s *solver) each(v int) [2]int {
	if counts := s.counts(v); counts != nil {
		return [2]int{slices.Min(counts), slices.Max(counts)}
	}
	if !s.q.Info.Shared {
		return [2]int{}
	}
	return [2]int{int(slices.Min(s.fair) * float64(v)), int(slices.Max(s.fair) * float64(v))}
}

// named returns the nodes under their own names or made-up ones.
func (s *solver) named() []algorithms.Node {
	if s.q.Yours {
		return s.nodes
	}
	return s.renamed(0)
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, u := float64(n), 0
	for v >= 1000 && u < len(units)-1 {
		v /= 1024
		u++
	}
	if u == 0 || v >= 10 {
		return fmt.Sprintf("%.0f %s", v, units[u])
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}
