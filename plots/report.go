package plots

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"image/color"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ringbench/ringbench/results"
)

//go:embed report.html
var reportHTML string

var reportTemplate = template.Must(template.New("report").Parse(reportHTML))

// A page is what the template lays out. All its texts are plain: the template
// escapes them. Only the figures are markup, and their texts are escaped when
// they are drawn.
type page struct {
	Suite, Start, Machine, Version string
	Incomplete                     string // why the run is not whole; "" when it is
	Warnings                       []string
	Screen                         string // the first screen
	Findings                       []string
	Figures                        []pageFigure
	Tables                         []pageTable
	Zero                           []string // what has no table, being zero throughout
	Floors                         *pageTable
	Skips                          []pageSkip
	Facts                          []fact // of the machine
	Absent                         string // what the system did not tell
	Command, Seed, Revision, Spec  string
	Colors                         []screenColor
}

type pageFigure struct {
	Name, Title, Caption string
	Drawing              template.HTML
}

type pageTable struct {
	Title, Note string
	Heads       []string
	Rows        []pageRow
	Wide        bool // takes more room than half a page
}

type pageRow struct {
	Name, Under string
	Cells       []pageCell
}

type pageCell struct{ Value, Spread string }

type pageSkip struct{ Cell, Reason string }

type fact struct{ Name, Value string }

// A screenColor is a colour of the figures and what takes its place on a dark
// screen.
type screenColor struct{ Light, Dark template.CSS }

// WriteReport writes the run as one HTML page that needs no other file: the
// first screen, the figures, the tables, the machine, the method, and how to
// repeat it. A part that the records do not hold is left out.
func WriteReport(w io.Writer, set *results.Set) error {
	r := arrange(set)
	env := set.Run.Environment
	p := page{
		Suite: set.Run.Suite, Start: set.Run.Start, Version: version(set.Run), Machine: machine(env),
		Incomplete: incomplete(set),
		Warnings:   slices.Clone(set.Warnings),
		Findings:   results.Findings(set),
		Floors:     r.floorTable(),
		Skips:      r.skips(),
		Facts:      facts(env),
		Absent:     strings.Join(env.Absent, ", "),
		Command:    commandLine(set.Run.Command),
		Seed:       strconv.FormatUint(set.Run.Seed, 10),
		Revision:   env.Revision,
		Spec:       indented(set.Run.Spec),
		Colors:     screenColors(),
	}
	p.Tables, p.Zero = r.tables()
	if env.Dirty && p.Revision != "" {
		p.Revision += ", with changes"
	}
	if set.End != nil {
		p.Warnings = append(p.Warnings, set.End.Warnings...)
	}
	var screen bytes.Buffer
	if err := results.WriteExact(&screen, set); err != nil {
		return err
	}
	exact := screen.Len()
	if err := results.WriteMeasured(&screen, set); err != nil {
		return err
	}
	p.Screen = screen.String()
	if 0 < exact && exact < screen.Len() {
		p.Screen = p.Screen[:exact] + "\n" + p.Screen[exact:]
	}
	for _, f := range r.figures() {
		p.Figures = append(p.Figures, pageFigure{f.Name, f.Title, f.Caption, template.HTML(onScreen(f.svg(true)))})
	}
	var text bytes.Buffer
	if err := reportTemplate.Execute(&text, p); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(visible, text.Bytes()))
	return err
}

// visible replaces what a page must not hold: control characters, and the marks
// that turn the direction of writing around.
func visible(r rune) rune {
	if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
		return unicode.ReplacementChar
	}
	return r
}

// incomplete says why the run is not whole, and "" when it is.
func incomplete(set *results.Set) string {
	switch {
	case set.End == nil:
		return "the run has no end: it was stopped, or goes on"
	case set.End.Complete:
		return ""
	case set.End.Reason != "":
		return set.End.Reason
	}
	return "some trials are missing"
}

// tables makes a table of each metric of a measure that the run holds, one for
// each change of membership, in the order of the summary: contestants down,
// numbers of nodes across. Metrics that are zero throughout are only named.
func (r *run) tables() (tables []pageTable, zero []string) {
	type subject struct{ measure, metric, schedule, after string }
	of := func(row results.Row) subject { return subject{row.Measure, row.Metric, row.Schedule, row.After()} }
	seen := map[subject]bool{}
	all := slices.Concat(r.rows, r.aged)
	for _, first := range all {
		s := of(first)
		if seen[s] || results.IsControl(first.Algorithm) {
			continue
		}
		seen[s] = true
		rows := where(all, func(row results.Row) bool { return of(row) == s && !results.IsControl(row.Algorithm) })
		m, _ := results.MetricByName(s.metric)
		title := m.Label
		if s.schedule != "" {
			title += ", " + scheduleName(s.schedule)
		}
		if s.after != "" {
			title += ", " + afterName(first)
		}
		if !slices.ContainsFunc(rows, func(row results.Row) bool { return row.Min != 0 || row.Max != 0 }) {
			zero = append(zero, title+" ("+s.measure+")")
			continue
		}
		t := r.table(rows, m)
		t.Title, t.Note = title, tableNote(s.measure, m, rows)
		tables = append(tables, t)
	}
	return tables, zero
}

// tableNote says what a table's figures are.
func tableNote(measure string, m results.Metric, rows []results.Row) string {
	note := m.Name + " of measure " + measure + ": " + m.Meaning + "."
	switch m.Better {
	case results.Lower:
		note += " Less is better."
	case results.Higher:
		note += " More is better."
	}
	most := 0
	for _, row := range rows {
		most = max(most, row.N)
	}
	switch {
	case most < 2:
	case m.Kind == results.Computed:
		note += " Mean over the placements; below it where 5% and 95% of them lie."
	default:
		note += " Median of the repetitions; below it an interval for the median."
	}
	return note
}

// table lays the rows of one metric out.
func (r *run) table(rows []results.Row, m results.Metric) pageTable {
	sizes := nodeCounts(rows)
	t := pageTable{Heads: []string{"nodes"}}
	for _, n := range sizes {
		t.Heads = append(t.Heads, count(float64(n)))
	}
	all := workloads(rows)
	named := func(workload string) string {
		name := popularityName(workload)
		for _, other := range all {
			if other != workload && popularityName(other) == name {
				return clean(workload) // of several sets of keys
			}
		}
		return name
	}
	index := map[string]int{}
	for _, row := range rows {
		under := ""
		if len(all) > 1 {
			under = named(row.Workload)
		}
		id := row.Label + "\x00" + under
		i, ok := index[id]
		if !ok {
			i = len(t.Rows)
			index[id] = i
			t.Rows = append(t.Rows, pageRow{Name: row.Label, Under: under, Cells: make([]pageCell, len(sizes))})
		}
		at, _ := slices.BinarySearch(sizes, row.Nodes)
		t.Rows[i].Cells[at] = cellOf(row, m)
		t.Wide = t.Wide || len(sizes) > 3 && t.Rows[i].Cells[at].Spread != ""
	}
	return t
}

// cellOf writes a value and the spread around it, in the unit of the metric.
func cellOf(row results.Row, m results.Metric) pageCell {
	name := valueName(m)
	c := pageCell{Value: name(row.Center)}
	if row.N > 1 && row.High > row.Low {
		c.Spread = spreadOf(c.Value, name(row.Low), name(row.High))
	}
	return c
}

// spreadOf writes a range, without the unit when it is that of the value.
func spreadOf(value, low, high string) string {
	u := func(s string) string { return strings.TrimLeft(s, "0123456789.,-") }
	if unit := u(value); u(low) == unit && u(high) == unit {
		low, high = strings.TrimSuffix(low, unit), strings.TrimSuffix(high, unit)
	}
	return low + " to " + high
}

// valueName returns how values of a metric are written.
func valueName(m results.Metric) func(float64) string {
	switch m.Unit {
	case "ns":
		return duration
	case "bytes":
		return bytesName
	case "fraction":
		return percent
	case "x fair":
		return times
	}
	return plain
}

// floorTable lists what the harness itself costs: the controls of each timing.
func (r *run) floorTable() *pageTable {
	t := &pageTable{Heads: []string{"control"}}
	column := map[string]int{}
	index := map[string]int{}
	for _, row := range r.rows {
		m, _ := results.MetricByName(row.Metric)
		if !results.IsControl(row.Algorithm) || m.Kind != results.Timed {
			continue
		}
		if _, ok := column[row.Metric]; !ok {
			column[row.Metric] = len(t.Heads) - 1
			t.Heads = append(t.Heads, m.Label)
		}
		name := "the measuring loop, a constant answer"
		if size, err := strconv.ParseFloat(results.Param(row.Params, "bytes"), 64); err == nil && row.Algorithm == "one-read" {
			name = "one read from " + bytesName(size)
		}
		i, ok := index[name]
		if !ok {
			i = len(t.Rows)
			index[name] = i
			t.Rows = append(t.Rows, pageRow{Name: name})
		}
		for len(t.Rows[i].Cells) <= column[row.Metric] {
			t.Rows[i].Cells = append(t.Rows[i].Cells, pageCell{})
		}
		if at := &t.Rows[i].Cells[column[row.Metric]]; at.Value == "" {
			*at = cellOf(row, m)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	for i := range t.Rows {
		for len(t.Rows[i].Cells) < len(t.Heads)-1 {
			t.Rows[i].Cells = append(t.Rows[i].Cells, pageCell{})
		}
	}
	return t
}

// skips lists the cells in which nothing was measured, one line a cell.
func (r *run) skips() []pageSkip {
	var skips []pageSkip
	seen := map[pageSkip]bool{}
	for _, t := range r.set.Trials {
		if s := (pageSkip{t.Cell, t.Skip}); t.Skip != "" && !seen[s] {
			seen[s] = true
			skips = append(skips, s)
		}
	}
	slices.SortStableFunc(skips, func(a, b pageSkip) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Reason, b.Reason))
	})
	return skips
}

// facts lists what the system told of itself.
func facts(e results.Environment) []fact {
	var fs []fact
	add := func(name, value string) {
		if value != "" {
			fs = append(fs, fact{name, value})
		}
	}
	if e.CPU != "" {
		add("processor", e.CPU)
	}
	if e.Cores > 0 {
		add("cores", fmt.Sprintf("%d, of which Go used %d", e.Cores, e.GOMAXPROCS))
	}
	var caches []string
	for _, c := range e.CacheBytes {
		caches = append(caches, bytesName(float64(c)))
	}
	add("caches", strings.Join(caches, ", "))
	if e.MemoryBytes > 0 {
		add("memory", bytesName(float64(e.MemoryBytes)))
	}
	if e.CgroupBytes > 0 {
		add("memory limit", bytesName(float64(e.CgroupBytes)))
	}
	if e.CgroupCPUs > 0 {
		add("processor limit", plain(e.CgroupCPUs)+" cores")
	}
	add("system", strings.TrimSpace(strings.Join([]string{e.OS + "/" + e.Arch, e.Kernel}, " ")))
	add("hypervisor", e.Hypervisor)
	add("frequency governor", e.Governor)
	if !slices.Contains(e.Absent, "load1") {
		add("load average at the start", digits(e.Load1, 2))
	}
	if e.ClockNs > 0 {
		add("one clock reading", duration(e.ClockNs))
	}
	add("Go", e.GoVersion)
	return fs
}

// commandLine joins the words of a command as a shell would read them.
func commandLine(words []string) string {
	var quoted []string
	for _, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !strings.ContainsRune(unquoted, r) }) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}

const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%"

// indented writes JSON for people; what is no JSON stays as it is.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

var svgColor = regexp.MustCompile(`(fill|stroke):#([0-9A-F]{6})`)

// onScreen makes the colours of a drawing variables of the page, which sets
// them for light and for dark screens.
func onScreen(svg []byte) []byte {
	return svgColor.ReplaceAll(svg, []byte("$1:var(--c$2,#$2)"))
}

// screenColors pairs each colour of the figures with one for dark screens.
func screenColors() []screenColor {
	var pairs []screenColor
	seen := map[color.RGBA]bool{}
	add := func(light, dark color.RGBA) {
		if !seen[light] {
			seen[light] = true
			pairs = append(pairs, screenColor{template.CSS(hex(light)), template.CSS(hex(dark))})
		}
	}
	for _, c := range append(slices.Clone(palette), ink, soft, floor, grid, paper, paleText, darkText) {
		add(c, onNight(c))
		if c != grid && c != paper && c != paleText {
			add(readable(c), onNight(c))
		}
	}
	for _, r := range []ramp{given, shuffled, uneven} {
		for i := range r.steps + 1 {
			part := float64(i) / float64(r.steps)
			add(r.at(part), mix(r.littleAtNight, r.atNight, part))
		}
	}
	return pairs
}

func hex(c color.RGBA) string { return fmt.Sprintf("%02X%02X%02X", c.R, c.G, c.B) }
