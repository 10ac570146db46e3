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
}

// lookupTable shows the cost of a lookup beside its floors, at the smallest
// cluster and at a large one. Columns that the screen has no room for go from
// the right.
func (v view) lookupTable() []string {
	labels, more := v.contestants(isLookup)
	if len(labels) == 0 {
		return nil
	}
	shown := slices.Concat([]string{hashAlone, oneRead}, v.shorten(labels))
	columns := v.lookupColumns(slices.Concat([]string{hashAlone, oneRead}, labels))
	for {
		lines := layOutLookups(shown, columns)
		if !wide(lines) || len(columns) == 1 {
			return moreLine(lines, more)
		}
		columns = columns[:len(columns)-1]
	}
}

// isLookup reports whether the row is a contestant's lookup time.
func isLookup(r *Row) bool {
	return r.Measure == "lookup" && r.Metric == "lookup-ns" && !r.control()
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
	add := func(group, head, measure, metric string, n int, format func(*Row) string) {
		c := lookupColumn{group: group, head: head}
		for _, label := range labels {
			cell := "-"
			if r, ok := v.lookupCell(label, measure, metric, n); ok {
				cell = format(r)
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
	add("ns one by one", plural(large, "node"), "latency", "latency-ns", large, withError)
	add("allocs", "", "allocations", "allocs-per-lookup", small, func(r *Row) string { return strconv.FormatFloat(r.Center, 'f', -1, 64) })
	add("memory", plural(large, "node"), "memory", "memory-bytes", large, func(r *Row) string { return size(r.Center) })
	return columns
}

// lookupCell returns the row of a floor or of a contestant.
func (v view) lookupCell(label, measure, metric string, n int) (*Row, bool) {
	if r, ok := v.floor(label, measure, metric, n); ok {
		return r, true
	}
	return v.value(label, measure, metric, n, nil)
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

// floor returns the row of one of the two floors: hashing a key, and reading
// one slot of an array as large as the ring at that size.
func (v view) floor(label, measure, metric string, n int) (*Row, bool) {
	switch {
	case label == hashAlone && measure == "lookup":
		if r, ok := v.first(func(r *Row) bool { return r.Algorithm == "control" && r.Metric == "key-lookup-ns" && r.Nodes == n }); ok {
			return r, true
		}
		return v.first(func(r *Row) bool { return r.Algorithm == "control" && r.Metric == "key-lookup-ns" })
	case label == oneRead:
		want := v.readBytes(n)
		return v.first(func(r *Row) bool {
			return r.Algorithm == "one-read" && r.Measure == measure && r.Metric == metric && Param(r.Params, "bytes") == strconv.FormatInt(want, 10)
		})
	}
	return &Row{}, false
}

// readBytes returns the size of the array that stands for the ring's structure
// at a cluster size, or for the largest when no ring takes part.
func (v view) readBytes(n int) int64 {
	var footprint float64
	for _, r := range v.rows {
		if r.Metric == "footprint-bytes" && r.Nodes == n && !r.control() {
			if r.Label == "ring" {
				footprint = r.Center
				break
			}
			footprint = max(footprint, r.Center)
		}
	}
	return FloorBytes(footprint)
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
