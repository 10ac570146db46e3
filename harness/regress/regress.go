// Package regress tells whether one program is slower than another, or places
// keys otherwise, on a machine that is not quiet.
//
// It stands beside the runs of the harness and does not use their records: both
// programs are built and run anew, side by side, since a figure of yesterday
// differs from one of today by more than what is looked for. A round is the unit
// that is repeated: a fresh process of each program, each with a layout of its
// functions drawn anew, which take turns at slices of a millisecond over the same
// keys. The middle of the logarithms of the ratios between neighbouring slices of a
// round is one observation. Over the rounds these are judged by the exact
// distribution of signed ranks; see judge for the rules.
//
// What is exact is computed once on each side and compared with equality. It
// needs no rounds, and holds on any machine.
//
// A comparison takes a [Folder], which builds the two sides, and [Compare]; see the
// example.
//
// A side is any program made of the command's worker, see [Work]: the parent asks
// and the worker answers, one line of JSON each, over stdin and stdout.
package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A Side is one of the two programs.
type Side struct {
	Name     string   // for people: "main at 1a2b3c4d"
	Programs []string // the program in several layouts of its functions; none where base does not have it yet
	Symbols  string   // the program with its symbols, for counts of instructions; "" for the first of Programs
}

// DefaultRounds is enough to find a slowdown of 3% in nearly all cases, for up to
// a thousand cells.
const DefaultRounds = 20

// LeastRounds is how many rounds it takes for an interval.
const LeastRounds = 8

// sliceTarget is how long a slice should last: shorter than the time for which a
// system lets a thread run, and long enough for the clock.
const sliceTarget = time.Millisecond

// Options say what is compared and how long.
type Options struct {
	Spec      *harness.Spec
	Only      *regexp.Regexp // keep the cells whose name matches; nil keeps all
	Accept    *regexp.Regexp // cells whose placement may change; nil is none
	Rounds    int            // LeastRounds or more; undecided cells get up to twice as many
	Exact     bool           // nothing is timed
	Count     bool           // count instructions, too, where valgrind is installed
	MaxMemory int64          // bytes that one structure may take; 0: no limit
	Seed      uint64         // of the orders and of the layouts drawn
	Progress  func(Progress) // may be nil; called between measurements

	inject  []float64              // percents of extra lookups in head's slices; each cell is measured with each
	observe func(change float64)   // of a cell and round: from the side that began to the other
	begin   func(side int) *worker // in tests, instead of a process
}

// Progress is a moment of a comparison.
type Progress struct {
	Stage       string // what is being done
	Done, Total int    // steps of the stage
}

// Compare compares the two sides. An error that is not the context's says that
// the comparison could not be carried out; it wraps [ErrWorker] when a side broke
// down on the way.
func Compare(ctx context.Context, base, head Side, o Options) (*results.Comparison, error) {
	if len(base.Programs) == 0 {
		return &results.Comparison{Base: base.Name, Head: head.Name, Design: "nothing: base does not have the command yet"}, nil
	}
	s, err := newSession(ctx, base, head, o)
	if err != nil {
		return nil, err
	}
	if err := s.describe(); err != nil {
		return nil, err
	}
	if err := s.time(); err != nil {
		return nil, err
	}
	if s.Count {
		if err := s.instructions(); err != nil {
			return nil, err
		}
	}
	return s.comparison(), nil
}

// A session is a comparison under way.
type session struct {
	Options
	ctx      context.Context
	sides    [2]Side // base, head
	spec     json.RawMessage
	least    float64 // logarithm of the least change that is one
	rows     []results.Change
	cells    []*timedCell
	findings []finding // of the cells
	warnings []string
	order    *rand.Rand
}

const (
	base = 0
	head = 1
)

// A timedCell is a cell that both sides can run.
type timedCell struct {
	pairing
	name, metric string
	ops          int
	slower       float64           // percent of extra lookups in head's slices
	sums         [2]map[int]uint64 // by slice: what each side answered in the first round
	fickle       [2]bool           // whether it answered otherwise in a later one
	doubt        string            // why a change was not confirmed
	counts       string            // how the instructions differ
}

func newSession(ctx context.Context, b, h Side, o Options) (*session, error) {
	s := &session{Options: o, ctx: ctx, sides: [2]Side{b, h}, least: slowdown}
	if s.Rounds == 0 {
		s.Rounds = DefaultRounds
	}
	if s.Rounds < LeastRounds {
		return nil, fmt.Errorf("%d rounds cannot tell anything, take %d or more", s.Rounds, LeastRounds)
	}
	if !s.Exact && min(len(b.Programs), len(h.Programs)) < 2 {
		s.least = noChange
		s.warnings = append(s.warnings, "Each program is there in one layout of its functions: changes under 3% are no evidence and pass.")
	}
	var err error
	if s.spec, err = json.Marshal(o.Spec); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	s.order = workloads.Rand(o.Seed, "compare")
	return s, nil
}

// step tells how far the comparison is.
func (s *session) step(stage string, done, total int) {
	if s.Progress != nil {
		s.Progress(Progress{stage, done, total})
	}
}

// describe asks both sides what they have, compares what is exact, and calibrates
// the cells that both can run.
func (s *session) describe() error {
	const stage = "exact metrics"
	var told [2]response
	var ops [2][]int
	for side := range s.sides {
		s.step(stage, side, 2)
		var err error
		if told[side], ops[side], err = s.describeSide(side); err != nil {
			return err
		}
	}
	s.step(stage, 2, 2)
	if len(told[base].Cells)+len(told[base].Exact)+len(told[head].Cells)+len(told[head].Exact) == 0 {
		return harness.ErrNoCell
	}
	if s.Exact {
		told[base].Cells, told[head].Cells = nil, nil
	}
	s.rows = append(s.rows, results.CompareExact(told[base].Exact, told[head].Exact, s.Accept)...)
	s.failures(told[base].Failed, told[head].Failed)
	at := map[string]int{}
	for i, c := range told[head].Cells {
		at[c.Name] = i
	}
	for i, c := range told[base].Cells {
		j, both := at[c.Name]
		delete(at, c.Name)
		canBase, canHead := ops[base][i] > 0, both && ops[head][j] > 0
		switch {
		case canBase && canHead:
			if told[head].Failed[c.Name] == "" && told[base].Failed[c.Name] == "" {
				s.add(c, ops[base][i])
			}
		case canBase:
			s.rows = append(s.rows, onOneSide(c, results.Removed))
		case canHead:
			s.rows = append(s.rows, onOneSide(c, results.Added))
		}
	}
	for _, j := range slices.Sorted(maps.Values(at)) {
		if ops[head][j] > 0 {
			s.rows = append(s.rows, onOneSide(told[head].Cells[j], results.Added))
		}
	}
	return nil
}

// add adds a timed cell, once for each slowdown that is put in; these are lookups.
func (s *session) add(c cellInfo, ops int) {
	slowdowns := s.inject
	switch {
	case slowdowns == nil:
		slowdowns = []float64{0}
	case c.Metric != "lookup-ns":
		return
	}
	for _, percent := range slowdowns {
		s.cells = append(s.cells, &timedCell{name: c.Name, metric: c.Metric, ops: ops, slower: percent, sums: [2]map[int]uint64{{}, {}}})
	}
}

func onOneSide(c cellInfo, v results.Verdict) results.Change {
	none := results.Number(math.NaN())
	return results.Change{Name: c.Name, Metric: c.Metric, Base: none, Head: none, Ratio: none, Low: none, High: none, P: none, Verdict: v}
}

// failures reports what the gate found wrong. What was wrong before is no
// regression.
func (s *session) failures(was, is map[string]string) {
	for _, cell := range slices.Sorted(maps.Keys(is)) {
		row := onOneSide(cellInfo{Name: cell, Metric: "answers"}, results.Wrong)
		if row.Note = is[cell]; was[cell] != "" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s fails its checks on both sides and is not timed: %s", cell, is[cell]))
			continue
		}
		s.rows = append(s.rows, row)
	}
	for _, cell := range slices.Sorted(maps.Keys(was)) {
		if is[cell] == "" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s failed its checks in base, and no longer does", cell))
		}
	}
}

// describeSide asks one side for its cells and exact metrics, and for the number
// of operations that make a slice, 0 for a cell that it cannot run.
func (s *session) describeSide(side int) (response, []int, error) {
	w, err := s.start(side, s.sides[side].Programs[0])
	if err != nil {
		return response{}, nil, err
	}
	defer w.stop()
	told, err := w.ask(s.request("describe"))
	if err != nil || len(told.Cells) == 0 || s.Exact {
		return told, nil, err
	}
	r := request{Do: "calibrate", TargetNs: int64(sliceTarget)}
	for _, c := range told.Cells {
		r.Cells = append(r.Cells, opening{Name: c.Name})
	}
	calibrated, err := w.ask(r)
	if err == nil && len(calibrated.Operations) != len(told.Cells) {
		err = fmt.Errorf("%w: %s calibrated %d of %d cells", ErrWorker, s.sides[side].Name, len(calibrated.Operations), len(told.Cells))
	}
	return told, calibrated.Operations, err
}

// request is one that carries the spec.
func (s *session) request(do string) request {
	r := request{Do: do, Spec: s.spec, MaxMemory: s.MaxMemory}
	if s.Only != nil {
		r.Only = s.Only.String()
	}
	return r
}

// time measures the cells, and those that seem to have changed once again from the
// start.
func (s *session) time() (err error) {
	if len(s.cells) == 0 {
		return nil
	}
	if s.findings, err = s.decide("rounds", s.cells); err != nil {
		return err
	}
	return s.confirm()
}

// decide measures the cells in as many rounds as were asked for, those that are
// undecided then in more, up to twice as many, and judges them.
func (s *session) decide(stage string, timed []*timedCell) ([]finding, error) {
	if err := s.run(stage, timed, s.Rounds); err != nil {
		return nil, err
	}
	findings := s.judge(timed)
	more := max(s.Rounds/2, 1)
	for n := s.Rounds; n < 2*s.Rounds; n += more {
		var undecided []*timedCell
		for i, f := range findings {
			if f.verdict == results.Inconclusive {
				undecided = append(undecided, timed[i])
			}
		}
		if undecided == nil {
			break
		}
		if err := s.run(fmt.Sprintf("more rounds of %s", cells(len(undecided))), undecided, min(more, 2*s.Rounds-n)); err != nil {
			return nil, err
		}
		findings = s.judge(timed)
	}
	return findings, nil
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return strconv.Itoa(n) + " cells"
}

func (s *session) judge(timed []*timedCell) []finding {
	ps := make([]*pairing, len(timed))
	for i, c := range timed {
		ps[i] = &c.pairing
	}
	return judge(ps, s.least)
}

// confirm measures the cells that seem to have changed once more, with other
// processes and layouts. Those that do not in the same way are inconclusive.
func (s *session) confirm() error {
	var flagged []int
	for i, f := range s.findings {
		if f.verdict == results.Regressed || f.verdict == results.Improved {
			flagged = append(flagged, i)
		}
	}
	if len(flagged) == 0 {
		return nil
	}
	again := make([]*timedCell, len(flagged))
	for k, i := range flagged {
		c := s.cells[i]
		again[k] = &timedCell{name: c.name, metric: c.metric, ops: c.ops, slower: c.slower, sums: [2]map[int]uint64{{}, {}}}
	}
	findings, err := s.decide(fmt.Sprintf("confirming %s", cells(len(flagged))), again)
	if err != nil {
		return err
	}
	for k, f := range findings {
		i := flagged[k]
		if f.verdict != s.findings[i].verdict {
			s.findings[i].verdict = results.Inconclusive
			percent := func(log float64) float64 { return 100 * (math.Exp(log) - 1) }
			s.cells[i].doubt = fmt.Sprintf("not confirmed: once more it was %+.1f%%, %+.1f to %+.1f%%", percent(f.estimate), percent(f.low), percent(f.high))
		}
	}
	return nil
}

// comparison puts everything together.
func (s *session) comparison() *results.Comparison {
	c := &results.Comparison{
		Base: s.sides[base].Name, Head: s.sides[head].Name,
		Design: "exact metrics alone", Warnings: s.warnings, Rows: s.rows,
	}
	if len(s.cells) > 0 {
		e := results.Probe(harness.ClockCost())
		c.Machine = e.Machine()
		if e.Load1 > 0 {
			c.Machine += fmt.Sprintf(", load %.1f", e.Load1)
		}
		layouts := min(len(s.sides[base].Programs), len(s.sides[head].Programs))
		c.Design = fmt.Sprintf("%d rounds of fresh processes, %s a side, %d slices of 1 ms each", s.Rounds, plural(layouts, "layout"), slicesOf(len(s.cells)))
	}
	for i, t := range s.cells {
		row := s.findings[i].row(t.name, t.metric)
		row.Note = strings.Trim(t.doubt+", "+t.counts, ", ")
		c.Rows = append(c.Rows, row)
		c.Rows = append(c.Rows, s.answers(t)...)
	}
	c.Sort()
	return c
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// answers reports a cell whose answers differ between the sides, or from round to
// round.
func (s *session) answers(t *timedCell) []results.Change {
	row := onOneSide(cellInfo{Name: t.name, Metric: "placement"}, results.Moved)
	switch {
	case t.fickle[head] && !t.fickle[base]:
		row.Metric, row.Verdict, row.Note = "answers", results.Wrong, "head answers the same slice otherwise from round to round"
	case t.fickle[base]:
		return nil
	case maps.Equal(t.sums[base], t.sums[head]):
		return nil
	case s.Accept != nil && s.Accept.MatchString(t.name):
		row.Verdict, row.Note = results.Accepted, "key owners move"
	default:
		row.Note = "key owners move"
	}
	return []results.Change{row}
}
