package results

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"golang.org/x/perf/benchmath"
)

// ErrMachines says that two runs come from different machines, between which
// timed metrics say nothing.
var ErrMachines = errors.New("timed on different machines")

// A stored run was taken at another time than the one it is compared with. The
// same program then differs from itself by a tenth in many cells, so that only a
// change beyond that is evidence, and it is tried at the level for all cells
// together.
const (
	storedTolerance = 1.10
	storedHeap      = 1.01
	storedLevel     = 0.05
)

// CompareRuns compares two runs: exact metrics with equality, heap within 1%, and
// timed ones with a tolerance of 10%, since the runs were not taken side by side.
// With exactOnly, only the exact metrics. A cell of which a check failed in head
// has wrong answers, whatever its figures. Timed metrics of runs from different
// machines wrap [ErrMachines].
func CompareRuns(base, head *Set, exactOnly bool, accept *regexp.Regexp) (*Comparison, error) {
	c := &Comparison{Design: "two stored runs"}
	c.Rows = CompareExact(base.Trials, head.Trials, accept)
	if !exactOnly {
		here, there := base.Run.Environment.Machine(), head.Run.Environment.Machine()
		timed := timedRows(base, head)
		if here != there && len(timed) > 0 {
			return nil, fmt.Errorf("%w: %s, and %s; --exact compares what does not depend on the machine", ErrMachines, here, there)
		}
		if len(timed) > 0 {
			c.Machine = here
		}
		c.Rows = append(c.Rows, timed...)
	}
	if was, is := clockOf(base), clockOf(head); !exactOnly && was != "" && is != "" && was != is {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the timings of base are %s and those of head %s, which may differ for that alone: run base again with the ringbench of head", clockName(was), clockName(is)))
	}
	c.Rows = withFailures(c.Rows, head)
	for _, s := range []*Set{base, head} {
		if s.End == nil || !s.End.Complete {
			c.Warnings = append(c.Warnings, "a run is not complete, and what it lacks is not compared")
			break
		}
	}
	c.Sort()
	return c, nil
}

// The clocks that timed values come from.
const (
	cpuClock  = "cpu"
	wallClock = "wall"
)

// clockOf returns the clock that the set's timed values come from, "" when there are
// none. CPU time was recorded before it made the values: those of trials without
// BlockNs are wall time.
func clockOf(s *Set) string {
	clock := ""
	for _, t := range s.Trials {
		switch {
		case t.Timing == nil || t.Skip != "":
		case t.Timing.BlockNs > 0 && t.Timing.CPUNs > 0:
			return cpuClock
		default:
			clock = wallClock
		}
	}
	return clock
}

// clockName says the clock in words.
func clockName(clock string) string {
	if clock == cpuClock {
		return "CPU time"
	}
	return "wall time"
}

// withFailures puts one row for each cell of which a check failed in the set in
// place of the rows that its figures have.
func withFailures(rows []Change, head *Set) []Change {
	failed := map[string]bool{}
	var wrong []Change
	for i := range head.Trials {
		if t := &head.Trials[i]; t.Failed() && !failed[t.Cell] {
			failed[t.Cell] = true
			wrong = append(wrong, Change{Name: t.Cell, Metric: everything, Verdict: Wrong, Note: t.Skip,
				Base: none, Head: none, Ratio: none, Low: none, High: none, P: none})
		}
	}
	rows = slices.DeleteFunc(rows, func(r Change) bool { return failed[r.Name] })
	return append(rows, wrong...)
}

// timedRows compares what a clock or the heap told.
func timedRows(base, head *Set) []Change {
	type name struct{ cell, metric string }
	values := func(s *Set) (map[name][]float64, []name) {
		m := map[name][]float64{}
		var order []name
		for _, t := range s.Trials {
			for _, metric := range Metrics {
				v, ok := t.Values[metric.Name]
				if !ok || metric.Kind == Computed {
					continue
				}
				n := name{t.Cell, metric.Name}
				if m[n] == nil {
					order = append(order, n)
				}
				m[n] = append(m[n], v)
			}
		}
		return m, order
	}
	x, order := values(base)
	y, more := values(head)
	for _, n := range more {
		if x[n] == nil {
			order = append(order, n)
		}
	}
	var rows []Change
	for _, n := range order {
		if cellOfControl(n.cell) {
			continue
		}
		r := Change{Name: n.cell, Metric: n.metric, Base: none, Head: none, Ratio: none, Low: none, High: none, P: none}
		switch {
		case x[n] == nil:
			r.Verdict = Added
		case y[n] == nil:
			r.Verdict = Removed
		default:
			r.compareSamples(x[n], y[n])
		}
		rows = append(rows, r)
	}
	for i := range rows {
		rows[i].judgeStored(len(rows))
	}
	return rows
}

// cellOfControl says whether the cell belongs to a contestant for which [IsControl] holds.
func cellOfControl(cell string) bool {
	_, fields := ParseCell(cell)
	for _, f := range fields {
		if f.Name == "algorithm" {
			return IsControl(f.Value)
		}
	}
	return false
}

// compareSamples sets the figures of the row from the repetitions of both runs.
// The interval is the widest that the intervals of the two medians allow.
func (r *Change) compareSamples(base, head []float64) {
	a, b := benchmath.NewSample(base, &benchmath.DefaultThresholds), benchmath.NewSample(head, &benchmath.DefaultThresholds)
	xc, xl, xh, _ := median(a.Values)
	yc, yl, yh, _ := median(b.Values)
	r.Base, r.Head, r.Ratio = Number(xc), Number(yc), Number(yc/xc)
	r.Low, r.High = Number(yl/xh), Number(yh/xl)
	r.P = Number(benchmath.AssumeNothing.Compare(a, b).P)
}

// judgeStored gives the row its verdict as one of so many.
func (r *Change) judgeStored(rows int) {
	if r.Verdict != "" {
		return
	}
	tolerance := storedTolerance
	if m, _ := MetricByName(r.Metric); m.Kind == Heap {
		tolerance = storedHeap
	}
	ratio, low, high := float64(r.Ratio), float64(r.Low), float64(r.High)
	sure := float64(r.P)*float64(rows) < storedLevel || low == high
	switch {
	case math.IsNaN(ratio):
		r.Verdict = Inconclusive
	case low > tolerance && sure:
		r.Verdict = Regressed
	case high < 1/tolerance && sure:
		r.Verdict = Improved
	case low >= 1/tolerance && high <= tolerance:
		r.Verdict = Unchanged
	default:
		r.Verdict = Inconclusive
	}
}
