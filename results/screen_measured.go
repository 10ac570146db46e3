package results

import (
	"fmt"
	"slices"
	"strconv"
)

// lookupColumn is a column of the table of lookups.
type lookupColumn struct {
	group, head string
	cells       []string
	rows        []*Row // that the cells are of
}

// lookupTable shows the cost of a lookup beside its floors, at the smallest
// cluster and at a large one. Columns that the screen has no room for go from
// the right.
func (v view) lookupTable() []string {
	labels, more := v.contestants(isLookup)
	if len(labels) == 0 {
		return nil
	}
	shown := slices.Concat([]string{hashAlone, v.readName()}, v.shorten(labels))
	columns := v.lookupColumns(slices.Concat([]string{hashAlone, oneRead}, labels))
	for {
		lines := layOutLookups(shown, columns)
		if !wide(lines) || len(columns) == 1 {
			for _, c := range columns {
				v.show(c.rows...)
			}
			return moreLine(lines, more)
		}
		columns = columns[:len(columns)-1]
	}
}

// isLookup reports whether the row is a contestant's lookup time, all keys asked for
// alike.
func isLookup(r *Row) bool {
	return r.Measure == "lookup" && r.Metric == "lookup-ns" && !r.control() && r.popularity() == evenly
}

// skewedLookups returns the popularity of requests, other than the uniform one, under
// which most lookups of the size were timed; "" for none. "bytes" is none of requests.
func (v view) skewedLookups(n int) string {
	number := map[string]int{}
	best := ""
	for _, r := range v.rows {
		if p := r.popularity(); r.Measure == "lookup" && r.Metric == "lookup-ns" && !r.control() && r.Nodes == n && !slices.Contains([]string{"", evenly, "bytes"}, p) {
			if number[p]++; number[p] > number[best] {
				best = p
			}
		}
	}
	return best
}

// lookupColumns makes the columns that hold anything.
func (v view) lookupColumns(labels []string) []lookupColumn {
	var sizes []int
	for _, r := range v.rows {
		if isLookup(r) {
			sizes = append(sizes, r.Nodes)
		}
	}
	small, large := slices.Min(sizes), slices.Max(sizes)
	if slices.Contains(sizes, 1000) {
		large = 1000
	}
	var columns []lookupColumn
	popularity := evenly
	add := func(group, head, measure, metric string, n int, format func(*Row) string) {
		c := lookupColumn{group: group, head: head}
		for _, label := range labels {
			cell := "-"
			if r, ok := v.lookupCell(label, measure, metric, n, popularity); ok {
				cell = v.mark(r, format(r))
				c.rows = append(c.rows, r)
			}
			c.cells = append(c.cells, cell)
		}
		if filled(c.cells) {
			columns = append(columns, c)
		}
	}
	add("ns/lookup", plural(small, "node"), "lookup", "lookup-ns", small, withError)
	if large != small {
		add("ns/lookup", plural(large, "node"), "lookup", "lookup-ns", large, withError)
	}
	if popularity = v.skewedLookups(large); popularity != "" {
		add(plainWords(popularity), plural(large, "node"), "lookup", "lookup-ns", large, func(r *Row) string { return figure(r.Center, r.Center) })
	}
	popularity = evenly
	add("ns one by one", plural(large, "node"), "latency", "latency-ns", large, withError)
	add("allocs", "", "allocations", "allocs-per-lookup", small, func(r *Row) string { return strconv.FormatFloat(r.Center, 'f', -1, 64) })
	add("memory", plural(large, "node"), "memory", "memory-bytes", large, func(r *Row) string { return size(r.Center) })
	return columns
}

// lookupCell returns the row of a floor or of a contestant under a popularity, where
// the measure has one.
func (v view) lookupCell(label, measure, metric string, n int, popularity string) (*Row, bool) {
	if r, ok := v.floor(label, measure, metric, n, popularity); ok {
		return r, true
	}
	return v.valueUnder(popularity, label, measure, metric, n, nil)
}

// layOutLookups makes a table of the columns, with neighbours of one group under
// one heading and without lines that hold nothing.
func layOutLookups(shown []string, columns []lookupColumn) []string {
	t := &table{groups: []heading{{"", 1}}, heads: []string{""}}
	cells := [][]string{shown}
	for i, c := range columns {
		if i > 0 && c.group == columns[i-1].group {
			t.groups[len(t.groups)-1].span++
		} else {
			t.groups = append(t.groups, heading{c.group, 1})
		}
		t.heads, cells = append(t.heads, c.head), append(cells, c.cells)
	}
	t.rows = slices.DeleteFunc(transpose(cells), func(row []string) bool { return !filled(row[1:]) })
	return t.lines()
}

// The floors of a lookup, as the screen calls them.
const (
	hashAlone = "hash alone"
	oneRead   = "one random read"
)

// readName says whose floor the read is, for it is none of what is smaller.
func (v view) readName() string {
	if slices.ContainsFunc(v.rows, func(r *Row) bool { return isLookup(r) && r.Label == "ring" }) {
		return "one read, ring size"
	}
	return oneRead
}

// floor returns the row of one of the two floors: hashing a key, and reading
// one slot of an array no larger than what lookups of the ring read at that size.
func (v view) floor(label, measure, metric string, n int, popularity string) (*Row, bool) {
	switch {
	case label == hashAlone && measure == "lookup":
		return v.first(func(r *Row) bool {
			return r.Algorithm == "control" && r.Metric == "key-lookup-ns" && r.popularity() == popularity
		})
	case label == oneRead:
		want := v.readBytes(n)
		return v.first(func(r *Row) bool {
			return r.Algorithm == "one-read" && r.Measure == measure && r.Metric == metric && r.popularity() == popularity &&
				Param(r.Params, "bytes") == strconv.FormatInt(want, 10)
		})
	}
	return &Row{}, false
}

// readBytes returns the size of the array whose read is the floor of the ring's
// lookups at a cluster size, or of those of the largest structure when no ring takes
// part; 0 when there is no such floor.
func (v view) readBytes(n int) int64 {
	var bytes int64
	for _, r := range v.rows {
		if isLookup(r) && r.Nodes == n {
			if r.Label == "ring" {
				return r.FloorBytes
			}
			bytes = max(bytes, r.FloorBytes)
		}
	}
	return bytes
}

// withError writes a time with half of its interval.
func withError(r *Row) string {
	if r.N < 2 {
		return figure(r.Center, r.Center)
	}
	return figure(r.Center, r.Center) + " +-" + figure((r.High-r.Low)/2, r.Center)
}

// figure writes v with a decimal unless the value it belongs to has three digits
// before the point.
func figure(v, of float64) string {
	if of < 99.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// The half-width of an interval, over its center, at which timings are called
// unquiet, and at which the screen says so.
const (
	restless = 0.05
	wild     = 0.15
)

// wobble returns the half-widths of the timed rows over their centers.
func (v view) wobble() (wobbles []float64, worst *Row, most float64) {
	for _, r := range v.rows {
		if m, _ := MetricByName(r.Metric); m.Kind != Timed || r.Metric == "" || r.N < 3 || r.Center <= 0 || r.control() {
			continue
		}
		w := (r.High - r.Low) / 2 / r.Center
		if wobbles = append(wobbles, w); w > most {
			worst, most = r, w
		}
	}
	slices.Sort(wobbles)
	return wobbles, worst, most
}

// quiet says in the title whether repetitions agree, those of the control among
// them.
func (v view) quiet() string {
	wobbles, _, _ := v.wobble()
	switch {
	case len(wobbles) == 0:
		return ""
	case quantile(wobbles, 0.5) <= restless && v.controlSpread() <= moved:
		return ", machine quiet"
	}
	return ", machine busy"
}

// moved is the ratio of the control's 90th to its 10th percentile over the
// repetitions of an experiment above which a run warns that the machine was not
// quiet.
const moved = 1.25

// controlSpread returns that ratio, the largest of all experiments; 0 when there
// are too few repetitions to tell.
func (v view) controlSpread() float64 {
	type repetition struct {
		experiment string
		rep        int
	}
	seen := map[repetition]bool{}
	controls := map[string][]float64{}
	for _, t := range v.set.Trials {
		at := repetition{t.Experiment, t.Rep}
		if t.Timing != nil && t.Timing.ControlNs > 0 && !seen[at] {
			seen[at] = true
			controls[t.Experiment] = append(controls[t.Experiment], t.Timing.ControlNs)
		}
	}
	most := 0.0
	for _, ns := range controls {
		if slices.Sort(ns); len(ns) >= 4 {
			most = max(most, ns[len(ns)-1-len(ns)/10]/ns[len(ns)/10])
		}
	}
	return most
}

// mostMarked is the part of the timings up to which the screen marks those during which
// others had the processor; of more it says so once.
const mostMarked = 0.5

// waitingPart returns the part of the contestants' timings during which others had the
// processor, of those of which it is known: lookups of all cores have no CPU time.
func (v view) waitingPart() float64 {
	all, waiting := 0, 0
	for _, r := range slices.Concat(v.rows, v.aged) {
		if !r.control() && r.WallOverCPU > 0 {
			all++
			if r.Waited() {
				waiting++
			}
		}
	}
	return float64(waiting) / float64(max(all, 1))
}

// marks reports whether the figure of the row has the mark of [Row.Waited].
func (v view) marks(r *Row) bool { return r.Waited() && v.waiting <= mostMarked }

// mark puts it after the figure. Every table of timings writes its figures through it,
// and tells [view.show] of those that it keeps.
func (v view) mark(r *Row, figure string) string {
	if v.marks(r) {
		return figure + "~"
	}
	return figure
}

// waits explains the mark, where a table holds one.
func (v view) waits() []string {
	switch {
	case v.waiting > mostMarked:
		return fold("Other programs used the core during more than 1/6 of most timings; the figures are CPU time and exclude them.")
	case v.marked:
		return fold("~ other programs used the core during more than 1/6 of this timing; the figure is CPU time and excludes them")
	}
	return nil
}

// unrest says when repetitions vary wildly.
func (v view) unrest() []string {
	wobbles, worst, most := v.wobble()
	many := 0
	for _, w := range wobbles {
		if w > wild {
			many++
		}
	}
	if many == 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("Repetitions vary by more than +-%.0f%% in %d of %d timings, most in %s of", 100*wild, many, len(wobbles), worst.Measure),
		fmt.Sprintf("%s at %s (+-%.0f%%). Let the machine rest and run again.", worst.Label, plural(worst.Nodes, "node"), 100*most),
	}
}
