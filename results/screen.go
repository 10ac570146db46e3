package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxContestants is how many contestants the first screen shows.
const maxContestants = 10

// WriteExact writes the first part of the first screen: who gets how much, and
// what moves, at the smallest cluster there is, in plain words. A section whose
// data are missing is left out; when all are, each exact metric gets a plain
// table. It writes nothing when the set has nothing exact.
func WriteExact(w io.Writer, s *Set) error {
	v := newView(s)
	sections := [][]string{v.exactTable(), v.vnodesTable()}
	if sections[0] == nil && sections[1] == nil {
		sections = v.plainTables(v.exactAnswer)
	}
	seconds := 0.0
	if s.End != nil {
		seconds = s.End.ExactSeconds
	}
	if !v.timed() {
		sections = append(sections, v.warnings())
	}
	return writePart(w, "EXACT, the same on every machine", seconds, sections)
}

// WriteMeasured writes the second part of the first screen: what a lookup costs
// here, with its floors first. It writes nothing when the set has no timings.
func WriteMeasured(w io.Writer, s *Set) error {
	v := newView(s)
	if !v.timed() {
		return nil
	}
	sections := [][]string{v.lookupTable()}
	if sections[0] == nil {
		sections = v.plainTables(measured)
	}
	seconds := 0.0
	if s.End != nil && s.End.Seconds > s.End.ExactSeconds {
		seconds = s.End.Seconds - s.End.ExactSeconds
	}
	sections = append(sections, v.unrest(), v.warnings())
	return writePart(w, "MEASURED HERE"+v.quiet(), seconds, sections)
}

// writePart writes a title and the sections under it, an empty line between two.
func writePart(w io.Writer, title string, seconds float64, sections [][]string) error {
	sections = slices.DeleteFunc(sections, func(lines []string) bool { return len(lines) == 0 })
	if len(sections) == 0 {
		return nil
	}
	if seconds > 0 {
		right := 0
		for _, l := range sections[0] {
			right = max(right, width(l))
		}
		took := fmt.Sprintf("%.0f s", max(1, seconds))
		title = fmt.Sprintf("%s  %*s", title, max(0, right-width(title)-2), took)
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	for i, lines := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// view is a set seen through its summary.
type view struct {
	set  *Set
	rows []Row
	n    int // the cluster that the exact part speaks of; 0 when there is none
}

func newView(s *Set) view {
	v := view{set: s, rows: Summarize(s)}
	for _, r := range v.rows {
		switch r.Metric {
		case "balance-peak", "load-peak", "moved-fraction":
			if !r.control() && (v.n == 0 || r.Nodes < v.n) {
				v.n = r.Nodes
			}
		}
	}
	return v
}

// control reports whether the row measures the harness and no algorithm.
func (r Row) control() bool { return r.Algorithm == "control" || r.Algorithm == "one-read" }

// popularity is the part of the workload that says how often keys are asked.
func (r Row) popularity() string { return r.Workload[strings.LastIndexByte(r.Workload, '+')+1:] }

// plainWords writes a popularity as a heading.
func plainWords(popularity string) string {
	if s, ok := strings.CutPrefix(popularity, "zipf:"); ok {
		return "Zipf " + s
	}
	if popularity == "counts" {
		return "real requests"
	}
	return popularity
}

// first returns the first row that matches.
func (v view) first(match func(Row) bool) (Row, bool) {
	if i := slices.IndexFunc(v.rows, match); i >= 0 {
		return v.rows[i], true
	}
	return Row{}, false
}

// value returns the first row of a contestant's metric at a size, from a
// measure, that the filter (which may be nil) lets through.
func (v view) value(label, measure, metric string, nodes int, filter func(Row) bool) (Row, bool) {
	return v.first(func(r Row) bool {
		return r.Label == label && r.Measure == measure && r.Metric == metric && r.Nodes == nodes && (filter == nil || filter(r))
	})
}

// contestants returns the labels of those with rows that match, in order, at
// most so many as the screen takes: those without set parameters go first.
func (v view) contestants(match func(Row) bool) (labels []string, more int) {
	var plain, set []string
	for _, r := range v.rows {
		switch {
		case r.control() || !match(r) || slices.Contains(plain, r.Label) || slices.Contains(set, r.Label):
		case strings.Contains(r.Label, "="):
			set = append(set, r.Label)
		default:
			plain = append(plain, r.Label)
		}
	}
	all := append(plain, set...)
	more = max(0, len(all)-maxContestants)
	labels = all[:len(all)-more]
	order := map[string]Trial{}
	for _, r := range v.rows {
		if _, seen := order[r.Label]; !seen {
			order[r.Label] = Trial{Algorithm: r.Algorithm, Cell: r.Cell, Params: r.Params, Weights: r.Weights}
		}
	}
	slices.SortFunc(labels, func(a, b string) int { return compareContestants(order[a], order[b]) })
	return labels, more
}

// shorten leaves the weights out of the labels whose algorithm is weighted by
// its name already, as long as they stay distinct.
func (v view) shorten(labels []string) []string {
	short := slices.Clone(labels)
	for i, label := range labels {
		name, _, weighted := strings.Cut(label, ",")
		if weighted && strings.HasPrefix(name, "weighted ") && !slices.Contains(short, name) {
			short[i] = name
		}
	}
	return short
}

// moreLine tells of contestants that did not fit.
func moreLine(lines []string, more int) []string {
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more in the report", more))
	}
	return lines
}

// skewed returns the popularity that the screen shows beside uniform keys, and
// "" when there is none.
func (v view) skewed() string {
	found := ""
	for _, r := range v.rows {
		if p := r.popularity(); r.Nodes == v.n && p != "" && p != "uniform" && (r.Measure == "load" || r.Measure == "bounded") {
			if p == "zipf:0.99" {
				return p
			}
			found = cmp.Or(found, p)
		}
	}
	return found
}

// adding and removing tell schedules by their names.
func adding(r Row) bool   { return strings.HasPrefix(r.Schedule, "add") }
func removing(r Row) bool { return strings.HasPrefix(r.Schedule, "remove") }

// exactTable shows the busiest node and what moves.
func (v view) exactTable() []string {
	labels, more := v.contestants(func(r Row) bool {
		return r.Nodes == v.n && (r.Metric == "balance-peak" || r.Metric == "load-peak" || r.Metric == "moved-fraction" && adding(r))
	})
	if len(labels) == 0 {
		return nil
	}
	skewed := v.skewed()
	keys := 0
	var uniform, requests, moved, notes []string
	for _, label := range labels {
		c := v.exact(label, skewed)
		uniform, requests, moved, notes = append(uniform, c.uniform), append(requests, c.requests), append(moved, c.moved), append(notes, c.note)
		keys = cmp.Or(keys, c.keys)
	}
	corner := plural(v.n, "node")
	if keys > 0 {
		corner += ", " + count(keys) + " keys"
	}
	t := &table{groups: []heading{{corner, 1}}, heads: []string{""}}
	shown := v.shorten(labels)
	columns := [][]string{shown}
	var peaks []string
	if filled(uniform) {
		peaks, columns = append(peaks, "uniform keys"), append(columns, uniform)
	}
	if filled(requests) {
		peaks, columns = append(peaks, plainWords(skewed)), append(columns, requests)
	}
	if len(peaks) > 0 {
		t.groups, t.heads = append(t.groups, heading{"busiest node (1.00 = fair)", len(peaks)}), append(t.heads, peaks...)
	}
	if filled(moved) {
		t.groups, t.heads = append(t.groups, heading{"keys moved,", 1}), append(t.heads, "adding 1 node")
		columns = append(columns, moved)
	}
	bare := *t
	bare.rows = transpose(columns)
	t.groups, t.heads = append(t.groups, heading{"", 1}), append(t.heads, "")
	t.rows = transpose(append(columns, notes))
	lines := t.lines()
	if wide(lines) {
		lines = bare.lines()
		for i, note := range notes {
			if note != "" {
				lines = append(lines, shown[i]+": "+note)
			}
		}
	}
	return moreLine(lines, more)
}

// filled reports whether a column holds anything.
func filled(column []string) bool {
	return slices.ContainsFunc(column, func(s string) bool { return s != "-" })
}

func transpose(columns [][]string) [][]string {
	rows := make([][]string, len(columns[0]))
	for i := range rows {
		for _, c := range columns {
			rows[i] = append(rows[i], c[i])
		}
	}
	return rows
}

// exactCells is the line of one contestant in the exact table.
type exactCells struct {
	uniform, requests, moved, note string
	keys                           int
}

func (v view) exact(label, skewed string) exactCells {
	c := exactCells{uniform: "-", requests: "-", moved: "-"}
	var notes []string
	isUniform := func(r Row) bool { return r.popularity() == "uniform" }
	isSkewed := func(r Row) bool { return skewed != "" && r.popularity() == skewed }

	// What bounds the load places requests, not keys: its first choices would
	// say nothing about it.
	_, bounded := v.first(func(r Row) bool { return r.Label == label && r.Measure == "bounded" })
	balance, measure := "balance-peak", "balance"
	load := "load"
	if bounded {
		balance, measure, load = "load-peak", "bounded", "bounded"
	}
	if r, ok := v.value(label, measure, balance, v.n, isUniform); ok {
		c.uniform, c.keys = fmt.Sprintf("%.2f", r.Center), r.Keys
	}
	if r, ok := v.value(label, load, "load-peak", v.n, isSkewed); ok {
		c.requests, c.keys = fmt.Sprintf("%.2f", r.Center), r.Keys
	}
	if r, ok := v.moves(label, "moved-fraction", adding); ok {
		c.moved, c.keys = percent(r.Center, 1), cmp.Or(r.Keys, c.keys)
	}
	if r, ok := v.value(label, "bounded", "spill-fraction", v.n, isSkewed); ok && r.Center > 0 {
		notes = append(notes, percent(r.Center, 0)+" spilled")
	}
	if note := v.moveNote(label); note != "" {
		notes = append(notes, note)
	}
	c.note = strings.Join(notes, ", ")
	return c
}

// moves returns a contestant's row about movement: of keys, or else of shares.
func (v view) moves(label, metric string, schedule func(Row) bool) (Row, bool) {
	if r, ok := v.value(label, "movement", metric, v.n, schedule); ok {
		return r, true
	}
	return v.value(label, "shares", metric, v.n, schedule)
}

// moveNote says what is unusual in how a contestant takes a change.
func (v view) moveNote(label string) string {
	const telling = 0.001
	if r, ok := v.moves(label, "collateral-fraction", adding); ok && r.Center >= telling {
		return spread(r.Center) + " needlessly"
	}
	if r, ok := v.moves(label, "collateral-fraction", removing); ok && r.Center >= telling {
		all, _ := v.moves(label, "moved-fraction", removing)
		return "removing 1: " + percent(all.Center, 1)
	}
	_, skipped := v.first(func(r Row) bool {
		return r.Label == label && r.Measure == "movement" && r.Nodes == v.n && removing(r) && r.Skip != ""
	})
	if skipped {
		return "only the tail leaves"
	}
	return ""
}

// vnodesTable shows what more points on the ring buy.
func (v view) vnodesTable() []string {
	sweep, n := v.sweep()
	if len(sweep) < 2 {
		return nil
	}
	name := strings.ReplaceAll(sweep[0].cv.Algorithm, "-", " ") + " vnodes"
	if n != v.n {
		name += ", " + plural(n, "node")
	}
	heads, cvs, peaks := []string{name}, []string{"load stddev/mean"}, []string{"busiest node"}
	for _, p := range chosen(sweep) {
		heads = append(heads, strconv.Itoa(p.vnodes))
		cvs = append(cvs, spread(p.cv.RMS))
		peaks = append(peaks, fmt.Sprintf("%.2f", p.peak.Center))
	}
	t := &table{heads: heads, rows: [][]string{cvs, peaks}}
	for i := range heads[1:] {
		// Headings of figures are flush right with them.
		room := max(width(heads[i+1]), width(cvs[i+1]), width(peaks[i+1]), 5)
		for _, row := range [][]string{heads, cvs, peaks} {
			row[i+1] = fmt.Sprintf("%*s", room, row[i+1])
		}
	}
	return t.lines()
}

// sweepPoint is the ring at one number of vnodes.
type sweepPoint struct {
	vnodes   int
	cv, peak Row
}

// sweep returns the exact shares of equal nodes by vnodes, ascending, at the
// cluster that the exact part speaks of or else at the smallest that has them.
func (v view) sweep() (points []sweepPoint, n int) {
	at := map[int][]sweepPoint{}
	algorithm := ""
	for _, r := range v.rows {
		vnodes, err := strconv.Atoi(Param(r.Params, "vnodes"))
		if r.Measure != "shares" || r.Metric != "share-cv" || r.Weights != "" || err != nil {
			continue
		}
		algorithm = cmp.Or(algorithm, r.Algorithm)
		peak, ok := v.first(func(p Row) bool { return p.Cell == r.Cell && p.Metric == "share-peak" })
		if ok && r.Algorithm == algorithm && !slices.ContainsFunc(at[r.Nodes], func(p sweepPoint) bool { return p.vnodes == vnodes }) {
			at[r.Nodes] = append(at[r.Nodes], sweepPoint{vnodes, r, peak})
			if n == 0 || r.Nodes == v.n || n != v.n && r.Nodes < n {
				n = r.Nodes
			}
		}
	}
	points = at[n]
	slices.SortFunc(points, func(a, b sweepPoint) int { return cmp.Compare(a.vnodes, b.vnodes) })
	return points, n
}

// chosen returns the points that people ask about, or some of them all.
func chosen(points []sweepPoint) []sweepPoint {
	const room = 6
	usual := slices.DeleteFunc(slices.Clone(points), func(p sweepPoint) bool {
		return !slices.Contains([]int{1, 100, 160, 1000}, p.vnodes)
	})
	if len(usual) >= 3 {
		return usual
	}
	if len(points) <= room {
		return points
	}
	some := make([]sweepPoint, room)
	for i := range some {
		some[i] = points[i*(len(points)-1)/(room-1)]
	}
	return some
}

// timed reports whether the set has timings or heap readings.
func (v view) timed() bool {
	_, ok := v.first(measured)
	return ok
}

// measured reports whether the row comes from a clock or the allocator.
func measured(r Row) bool {
	m, ok := MetricByName(r.Metric)
	return ok && m.Kind != Computed
}

// exactAnswer reports whether the row is exact, and not a by-product of timings.
func (v view) exactAnswer(r Row) bool {
	if r.Metric == "" || measured(r) || r.Measure == "allocations" && v.timed() {
		return false
	}
	_, timed := v.first(func(m Row) bool { return m.Cell == r.Cell && measured(m) })
	return !timed
}

// lookupTable shows the cost of a lookup beside its floors.
func (v view) lookupTable() []string {
	isLookup := func(r Row) bool { return r.Measure == "lookup" && r.Metric == "lookup-ns" && !r.control() }
	labels, more := v.contestants(isLookup)
	if len(labels) == 0 {
		return nil
	}
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
	type column struct {
		group, head string
		cell        func(label string) string
	}
	at := func(measure, metric string, n int, format func(Row) string) func(string) string {
		return func(label string) string {
			r, ok := v.floor(label, measure, metric, n)
			if !ok {
				r, ok = v.value(label, measure, metric, n, nil)
			}
			if !ok {
				return "-"
			}
			return format(r)
		}
	}
	columns := []column{{"ns/lookup", plural(small, "node"), at("lookup", "lookup-ns", small, withError)}}
	if large != small {
		columns = append(columns, column{"ns/lookup", plural(large, "node"), at("lookup", "lookup-ns", large, withError)})
	}
	columns = append(columns,
		column{"ns one by one", plural(large, "node"), at("latency", "latency-ns", large, withError)},
		column{"allocs", "", at("allocations", "allocs-per-lookup", small, func(r Row) string { return strconv.FormatFloat(r.Center, 'f', -1, 64) })},
		column{"memory", plural(large, "node"), at("memory", "memory-bytes", large, func(r Row) string { return size(r.Center) })},
	)
	shown := v.shorten(labels)
	labels = slices.Concat([]string{hashAlone, oneRead}, labels)
	shown = slices.Concat([]string{hashAlone, oneRead}, shown)
	for {
		cells := [][]string{shown}
		t := &table{groups: []heading{{"", 1}}, heads: []string{""}}
		for i, c := range columns {
			var cs []string
			for _, label := range labels {
				cs = append(cs, c.cell(label))
			}
			if !filled(cs) {
				continue
			}
			if i > 0 && c.group == columns[i-1].group {
				t.groups[len(t.groups)-1].span++
			} else {
				t.groups = append(t.groups, heading{c.group, 1})
			}
			t.heads, cells = append(t.heads, c.head), append(cells, cs)
		}
		t.rows = slices.DeleteFunc(transpose(cells), func(row []string) bool { return !filled(row[1:]) })
		lines := t.lines()
		if !wide(lines) || len(columns) == 1 {
			return moreLine(lines, more)
		}
		columns = columns[:len(columns)-1]
	}
}

// The floors of a lookup, as the screen calls them.
const (
	hashAlone = "hash alone"
	oneRead   = "one random read"
)

// floor returns the row of one of the two floors: hashing a key, and reading
// one slot of an array as large as the ring at that size.
func (v view) floor(label, measure, metric string, n int) (Row, bool) {
	switch {
	case label == hashAlone && measure == "lookup":
		if r, ok := v.first(func(r Row) bool { return r.Algorithm == "control" && r.Metric == "key-lookup-ns" && r.Nodes == n }); ok {
			return r, true
		}
		return v.first(func(r Row) bool { return r.Algorithm == "control" && r.Metric == "key-lookup-ns" })
	case label == oneRead:
		want := v.readBytes(n)
		return v.first(func(r Row) bool {
			return r.Algorithm == "one-read" && r.Measure == measure && r.Metric == metric && Param(r.Params, "bytes") == strconv.Itoa(want)
		})
	}
	return Row{}, false
}

// readBytes returns the size of the array that stands for the ring's structure
// at a cluster size, or for the largest when no ring takes part.
func (v view) readBytes(n int) int {
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
	const least, most = 1 << 12, 1 << 40
	bytes := least
	for float64(bytes) < footprint && bytes < most {
		bytes *= 2
	}
	return bytes
}

// withError writes a time with half of its interval.
func withError(r Row) string {
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
func (v view) wobble() (wobbles []float64, worst Row, most float64) {
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

// quiet says in the title whether repetitions agree.
func (v view) quiet() string {
	wobbles, _, _ := v.wobble()
	switch {
	case len(wobbles) == 0:
		return ""
	case quantile(wobbles, 0.5) <= restless:
		return ", machine quiet"
	}
	return ", machine busy"
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

// warnings returns what the run and the reader warn of.
func (v view) warnings() []string {
	var lines []string
	for _, w := range v.set.Warnings {
		lines = append(lines, "warning: "+w)
	}
	if end := v.set.End; end != nil {
		for _, w := range end.Warnings {
			lines = append(lines, "warning: "+w)
		}
		if !end.Complete && end.Reason != "" {
			lines = append(lines, "warning: the run is not complete: "+end.Reason)
		}
	}
	return lines
}

// plainTables shows the metrics of the rows that match, as contestants by cluster sizes.
func (v view) plainTables(match func(Row) bool) [][]string {
	const maxTables, maxSizes = 4, 5
	type kind struct{ measure, metric, workload, schedule string }
	var kinds []kind
	for _, m := range Metrics {
		for _, r := range v.rows {
			k := kind{r.Measure, r.Metric, r.Workload, r.Schedule}
			if r.Metric == m.Name && match(r) && !r.control() && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	var tables [][]string
	for _, k := range kinds[:min(len(kinds), maxTables)] {
		in := func(r Row) bool { return (kind{r.Measure, r.Metric, r.Workload, r.Schedule}) == k }
		labels, more := v.contestants(in)
		var sizes []int
		for _, r := range v.rows {
			if in(r) && !r.control() && !slices.Contains(sizes, r.Nodes) {
				sizes = append(sizes, r.Nodes)
			}
		}
		slices.Sort(sizes)
		if len(sizes) > maxSizes {
			sizes = append(sizes[:maxSizes-1], sizes[len(sizes)-1])
		}
		m, _ := MetricByName(k.metric)
		title := m.Label
		for _, s := range []string{k.workload, k.schedule} {
			if s != "" {
				title += ", " + s
			}
		}
		t := &table{heads: []string{"nodes"}}
		columns := [][]string{v.shorten(labels)}
		for _, n := range sizes {
			t.heads = append(t.heads, strconv.Itoa(n))
			var cells []string
			for _, label := range labels {
				cell := "-"
				if r, ok := v.first(func(r Row) bool { return in(r) && r.Label == label && r.Nodes == n }); ok {
					cell = plainValue(m, r.Center)
				}
				cells = append(cells, cell)
			}
			columns = append(columns, cells)
		}
		t.rows = transpose(columns)
		tables = append(tables, moreLine(append([]string{title}, t.lines()...), more))
	}
	return tables
}

// plainValue writes a value in the unit of its metric.
func plainValue(m Metric, v float64) string {
	switch m.Unit {
	case "ns":
		return duration(v)
	case "bytes":
		return size(v)
	case "fraction":
		return percent(v, 1)
	case "x fair":
		return fmt.Sprintf("%.2f", v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
