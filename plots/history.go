package plots

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// maxHistoryPanels bounds the panels of a history; what comes after is left out
// and the caption says so.
const maxHistoryPanels = 24

// The widest names of a line and of a run, so that two panels stand side by side
// and the first run's name ends before the last one's begins.
const (
	maxLineName = 1.5 * vg.Inch
	maxRunName  = 0.65 * vg.Inch
)

// WriteHistory draws the history into the folder, which it makes when it is not
// there, in each of the formats. It returns the paths of the files.
func WriteHistory(dir string, lines []results.Medians, formats []string) ([]string, error) {
	f, ok := History(lines)
	if !ok {
		return nil, errors.New("the history holds no timings to draw")
	}
	return writeFigures(dir, []Figure{f}, formats)
}

// History draws the medians of a history, oldest first: a panel for each
// contestant, in it a line for each measure and number of nodes, as change since
// its first run. Runs of other machines than the newest are left out, for only those
// of one machine compare.
func History(lines []results.Medians) (Figure, bool) {
	h := history{series: map[seriesKey]*series{}}
	for _, m := range lines {
		if m.Machine == lines[len(lines)-1].Machine {
			h.runs = append(h.runs, m)
		}
	}
	h.collect()
	panels, left := h.panels()
	if len(panels) == 0 {
		return Figure{}, false
	}
	f := panelFigure(panels, min(len(panels), 2), nil)
	f.Name = "history"
	f.Title = "Timings from run to run"
	f.Caption = h.caption(left, len(lines)-len(h.runs))
	f.footer = h.footer()
	return f, true
}

// A history is the runs of one machine.
type history struct {
	runs   []results.Medians
	series map[seriesKey]*series
}

type seriesKey struct{ cell, metric string }

// A series is one timed metric of one cell over the runs.
type series struct {
	measure string
	metric  string
	trial   results.Trial // what the cell's name tells of it
	nodes   int
	at      []int // indices into the runs
	values  []float64
}

// maxChange bounds a change that is drawn: a million times is a broken run.
const maxChange = 1e6

func (s *series) last() float64        { return s.values[len(s.values)-1] }
func (s *series) change(i int) float64 { return min(s.values[i]/s.values[0]-1, maxChange) }
func (s *series) totalChange() float64 { return s.change(len(s.values) - 1) }
func (s *series) label() string        { return clean(results.Label(s.trial)) }
func (s *series) isControl() bool      { return s.trial.Algorithm == "control" }

// compare orders series for a reader: the control first, then by contestant.
func (s *series) compare(t *series) int {
	control := func(s *series) int {
		if s.isControl() {
			return 0
		}
		return 1
	}
	place := func(s *series) int {
		if i := slices.Index(measuresInOrder, s.measure); i >= 0 {
			return i
		}
		return len(measuresInOrder)
	}
	return cmp.Or(cmp.Compare(control(s), control(t)), cmp.Compare(s.label(), t.label()), cmp.Compare(place(s), place(t)),
		cmp.Compare(s.measure, t.measure), cmp.Compare(s.nodes, t.nodes), cmp.Compare(s.trial.Cell, t.trial.Cell), cmp.Compare(s.metric, t.metric))
}

// name is what the series is called within the panel of its contestant.
func (s *series) name() string {
	name := clean(strings.ReplaceAll(s.measure, "-", " "))
	if !s.isControl() {
		name += " " + count(float64(s.nodes))
	}
	if p := popularity(s.trial.Workload); p != "" && p != "uniform" {
		name += ", " + popularityName(s.trial.Workload)
	}
	return name
}

var measuresInOrder = []string{"lookup", "latency", "key-lookup", "batch-lookup", "parallel-lookup", "assign", "build", "add", "remove"}

// collect sorts the medians into series. One-read and the probe of the pool
// measure the machine, and are left out; the control is kept, for its line tells
// when it was the machine that changed.
func (h *history) collect() {
	for i, run := range h.runs {
		for cell, metrics := range run.Medians {
			measure, fields := results.ParseCell(cell)
			trial := results.Trial{Cell: cell, Measure: measure}
			nodes := 0
			for _, f := range fields {
				switch f.Name {
				case "algorithm":
					trial.Algorithm = f.Value
				case "weights":
					trial.Weights = f.Value
				case "workload":
					trial.Workload = f.Value
				case "nodes":
					nodes, _ = strconv.Atoi(f.Value)
				}
			}
			if trial.Algorithm == "one-read" || measure == "pool-probe" {
				continue
			}
			for metric, v := range metrics {
				if v <= 0 || !finite(v) {
					continue
				}
				key := seriesKey{cell, metric}
				s := h.series[key]
				if s == nil {
					s = &series{measure: measure, metric: metric, trial: trial, nodes: nodes}
					h.series[key] = s
				}
				s.at = append(s.at, i)
				s.values = append(s.values, v)
			}
		}
	}
}

// sorted returns the series in the order in which they are shown.
func (h *history) sorted() []*series {
	return slices.SortedFunc(maps.Values(h.series), (*series).compare)
}

// panels makes the frames and returns how many did not fit.
func (h *history) panels() (panels []*panel, left int) {
	all := h.sorted()
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].label() == all[0].label() {
			n++
		}
		for _, part := range split(h.lines(all[:n]), maxLines) {
			if len(panels) == maxHistoryPanels {
				left++
				continue
			}
			ch := chart{heading: pen{size: headingSize}.fit(all[0].label(), maxName), x: h.axis(), y: changeScale(values(part)), lines: part, columns: 2}
			if len(panels)%2 == 0 {
				ch.unit = "change since the first run"
			}
			panels = append(panels, ch.panel())
		}
		all = all[n:]
	}
	return panels, left
}

// lines draws the series of one contestant; a name carries the newest value.
func (h *history) lines(all []*series) []line {
	var lines []line
	for i, s := range all {
		name := pen{size: labelSize}.fit(s.name()+": "+duration(s.last()), maxLineName)
		l := line{name: name, look: lookOf(s.trial.Algorithm, i)}
		for i, at := range s.at {
			y := s.change(i)
			l.points = append(l.points, point{float64(at), y, y, y})
		}
		lines = append(lines, l)
	}
	return lines
}

// axis counts the runs, and names the first and the last.
func (h *history) axis() scale {
	last := len(h.runs) - 1
	s := scale{max: float64(last)}
	if last == 0 {
		s.min, s.max = -1, 1
	}
	for i, m := range h.runs {
		t := plot.Tick{Value: float64(i)}
		if i == 0 || i == last {
			t.Label = pen{size: tickSize}.fit(nameOf(m), maxRunName)
		}
		s.ticks = append(s.ticks, t)
	}
	return s
}

// nameOf names a run by its revision, with a plus when that was changed, and by
// its day where there is none.
func nameOf(m results.Medians) string {
	if m.Revision == "" {
		return day(m, "2 Jan")
	}
	runes := []rune(clean(m.Revision))
	name := string(runes[:min(len(runes), 7)])
	if m.Dirty {
		name += "+"
	}
	return name
}

// day writes when the run was.
func day(m results.Medians, layout string) string {
	if t, err := time.Parse(time.RFC3339, m.Start); err == nil {
		return t.UTC().Format(layout)
	}
	return "undated"
}

// changeScale covers the changes in even steps, and at least 5% each way, so that
// noise does not look like news.
func changeScale(changes []float64) scale {
	lo, hi := -0.05, 0.05
	for _, c := range changes {
		lo, hi = min(lo, c), max(hi, c)
	}
	step := roundUp((hi - lo) / 5)
	from, to := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	s := scale{min: from * step, max: to * step}
	for i := from; i <= to; i++ {
		s.ticks = append(s.ticks, plot.Tick{Value: i * step, Label: signed(i * step)})
	}
	return s
}

// signed writes a change with its sign.
func signed(change float64) string {
	switch {
	case math.Abs(change) < 1e-9:
		return "0%"
	case change > 0:
		return "+" + percent(change)
	}
	return "-" + percent(-change)
}

// caption says what changed most, and what is not shown.
func (h *history) caption(left, others int) string {
	text := "One run so far: lines come with the next. "
	if all := slices.DeleteFunc(h.sorted(), (*series).isControl); len(all) > 0 && len(h.runs) > 1 {
		most := slices.MaxFunc(all, func(a, b *series) int {
			return cmp.Or(cmp.Compare(math.Abs(a.totalChange()), math.Abs(b.totalChange())), b.compare(a))
		})
		text = fmt.Sprintf("Most changed: %s of %s with %s, %s since the first run, to %s. ",
			strings.ReplaceAll(most.measure, "-", " "), most.label(), plural(most.nodes, "node"), signed(most.totalChange()), duration(most.last()))
	}
	text += "Names carry the number of nodes and the newest median. When the control moved too, it was the machine."
	if others > 0 {
		text += fmt.Sprintf(" Left out: %s of other machines.", plural(others, "run"))
	}
	if left > 0 {
		text += fmt.Sprintf(" Left out: %s.", plural(left, "panel"))
	}
	return clean(text)
}

func (h *history) footer() string {
	first, last := h.runs[0], h.runs[len(h.runs)-1]
	var suites []string
	for _, m := range h.runs {
		if !slices.Contains(suites, m.Suite) {
			suites = append(suites, m.Suite)
		}
	}
	return clean(fmt.Sprintf("suite %s; %s, %s to %s; %s; seed %d; ringbench %s",
		strings.Join(suites, ", "), plural(len(h.runs), "run"), day(first, time.DateOnly), day(last, time.DateOnly), last.Machine, last.Seed, last.Version))
}
