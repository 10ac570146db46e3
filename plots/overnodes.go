package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/results"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An overNodes figure draws one metric of all contestants against the number
// of nodes, on logarithmic axes, with what no contestant can beat beside them.
type overNodes struct {
	unit   string
	name   func(float64) string                                    // of values
	scale  func(values []float64, name func(float64) string) scale // logScale unless set
	parts  []part                                                  // with common axes, one below the other
	floors []line
}

// A part is a chart of an overNodes figure, with a heading when there are
// several.
type part struct {
	heading string
	lines   []line
}

// figure makes the figure. A part with many lines is split into several frames
// with the same axes; where there is only one number of nodes, the values stand
// in rows.
func (o overNodes) figure() Figure {
	if o.scale == nil {
		o.scale = logScale
	}
	var all []line
	for _, p := range o.parts {
		all = append(all, p.lines...)
	}
	sizes := abscissas(all)
	x, y := logScale(slices.Concat(sizes, abscissas(stretch(o.floors, sizes))), count), o.scale(values(slices.Concat(all, o.floors)), o.name)
	if slices.Min(sizes) == slices.Max(sizes) {
		return o.rows(sizes[0])
	}
	var panels []*panel
	for _, p := range o.parts {
		for _, group := range split(p.lines, maxLines) {
			lines := slices.Concat(group, stretch(o.floors, sizes))
			ch := chart{heading: p.heading, unit: o.unit, xName: "nodes", x: x, y: y, lines: lines, columns: 1}
			panels = append(panels, ch.panel())
		}
	}
	return panelFigure(panels, 1, asideKey(all))
}

// asideKey explains the markers beside lines over the number of nodes.
func asideKey(lines []line) []keyItem {
	var all []string
	seen := map[float64]bool{}
	var drawn look
	for _, x := range abscissas(lines) {
		seen[x] = true
	}
	for _, l := range lines {
		drawn = l.look
		for _, x := range l.aside {
			if seen[x] && !slices.Contains(all, count(x)) {
				all = append(all, count(x))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	const most = 8
	if len(all) > most {
		all = append(all[:most], "more")
	}
	drawn.color, drawn.hollow = soft, false
	return []keyItem{{"not on the lines: powers of two and one node more (" + strings.Join(all, "; ") + ")",
		func(c draw.Canvas, p vg.Point) { drawn.draw(c, p, asideSize) }}}
}

// rows draws the values at the one number of nodes there is, least first.
func (o overNodes) rows(nodes float64) Figure {
	var panels []*panel
	most := 0
	for _, p := range o.parts {
		lines := slices.Concat(p.lines, o.floors)
		if len(lines) == 0 {
			continue
		}
		most = max(most, len(lines))
		slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.points[0].y, b.points[0].y) })
		rc := rowChart{heading: p.heading, unit: o.unit + ", " + plural(int(nodes), "node")}
		var ys []float64
		for _, l := range lines {
			at := l.points[0]
			for _, pt := range l.points {
				if pt.x == nodes {
					at = pt
				}
			}
			ys = append(ys, at.y, at.lo, at.hi)
			rc.rows = append(rc.rows, row{l.name, []mark{
				{kind: span, x: at.lo, to: at.hi, look: look{color: l.look.color}},
				{kind: dot, x: at.y, look: l.look},
				{kind: span, x: max(at.y, at.hi), to: max(at.y, at.hi), look: look{color: l.look.color}, text: o.name(at.y), anchor: left},
			}})
		}
		rc.x = o.scale(ys, o.name)
		panels = append(panels, rc.panel())
	}
	f := panelFigure(panels, 1, nil)
	f.height = 20 + vg.Length(len(panels))*(60+vg.Length(most)*rowHeight)
	return f
}

// split deals the lines to the fewest groups of at most n, as even as possible.
func split(lines []line, n int) [][]line {
	groups := (len(lines) + n - 1) / n
	var parts [][]line
	for i := range groups {
		parts = append(parts, lines[i*len(lines)/groups:(i+1)*len(lines)/groups])
	}
	return parts
}

// stretch draws a floor that was measured at one size only over all the sizes of
// the contestants.
func stretch(floors []line, sizes []float64) []line {
	var out []line
	for _, l := range floors {
		if len(l.points) == 1 {
			p, q := l.points[0], l.points[0]
			p.x, q.x = slices.Min(sizes), slices.Max(sizes)
			l.points = []point{p, q}
		}
		out = append(out, l)
	}
	return out
}

// extremes returns the rows of the least and the largest value.
func extremes(rows []results.Row) (least, most results.Row) {
	least, most = rows[0], rows[0]
	for _, row := range rows {
		if row.Center < least.Center {
			least = row
		}
		if row.Center > most.Center {
			most = row
		}
	}
	return least, most
}

// lookup draws the throughput of lookups against the number of nodes.
func (r *run) lookup() (Figure, bool) {
	rows := r.metric("lookup", "lookup-ns")
	if len(rows) == 0 {
		return Figure{}, false
	}
	shown := timed(rows)
	rows = shown.rows
	o := overNodes{unit: "time of one lookup", name: duration, parts: []part{{"", r.linesOverNodes(rows)}}, floors: r.lookupFloors("lookup", "lookup-ns", shown.workload)}
	f := o.figure()
	f.Name = "lookup"
	f.Title = "What a lookup costs as the cluster grows"
	n := fullest(rows)
	least, most := extremes(where(rows, ofNodes(n)))
	f.Caption = fmt.Sprintf("With %s%s one lookup of a hashed key takes from %s (%s) to %s (%s), when lookups do not wait for each other.",
		plural(n, "node"), shown.under(), duration(least.Center), least.Label, duration(most.Center), most.Label)
	var grey []string
	for _, l := range o.floors {
		grey = append(grey, floorWords[l.name])
	}
	if grey != nil {
		f.Caption += " Grey: " + strings.Join(grey, ", and ") + "."
	}
	f.Caption += shown.note()
	f.footer = r.footer("lookup")
	return f, true
}

// keyLookup draws the way from the string key to the node, for a run that has
// timed no other: a library that hashes the keys itself has none.
func (r *run) keyLookup() (Figure, bool) {
	rows := r.metric("key-lookup", "key-lookup-ns")
	if len(rows) == 0 || len(r.metric("lookup", "lookup-ns")) > 0 {
		return Figure{}, false
	}
	shown := timed(rows)
	n := fullest(shown.rows)
	rows = where(shown.rows, ofNodes(n))
	o := overNodes{unit: "time of one lookup", name: duration, parts: []part{{"", r.linesOverNodes(rows)}}}
	if ns, ok := r.control("key-lookup-ns", shown.workload, n); ok {
		o.floors = []line{{name: "hash alone", look: lookOf("control", 0), points: []point{{float64(n), ns, ns, ns}}}}
	}
	f := o.figure()
	f.Name = "key-lookup"
	f.Title = "From the string key to the node"
	least, most := extremes(rows)
	f.Caption = fmt.Sprintf("With %s%s the way from a string key to its node takes from %s (%s) to %s (%s), each with its own hash of the key.",
		plural(n, "node"), shown.under(), duration(least.Center), least.Label, duration(most.Center), most.Label)
	if o.floors != nil {
		f.Caption += " Grey: hashing the key, without a lookup."
	}
	f.Caption += shown.note()
	f.footer = r.footer("key-lookup")
	return f, true
}

// The floors of a lookup by their names on the figure, and what a caption calls
// them.
const (
	emptyLoop = "empty loop"
	oneRead   = "one read"
)

var floorWords = map[string]string{
	emptyLoop: "the measuring loop alone",
	oneRead:   "one read from an array no larger than what lookups of ring read",
}

// lookupFloors returns the floors of a timed measure: the loop around a control
// that does nothing, and one read from an array no larger than what lookups of
// ring read.
func (r *run) lookupFloors(measure, metric, workload string) []line {
	loop := line{name: emptyLoop, look: lookOf("control", 0), thin: true}
	read := line{name: oneRead, look: lookOf("one-read", 0), thin: true}
	reads := map[int64]float64{} // bytes -> ns
	for _, row := range r.rows {
		if row.Measure != measure || row.Metric != metric || !results.IsControl(row.Algorithm) {
			continue
		}
		if row.Workload != workload && row.Workload != "" {
			continue
		}
		if row.Algorithm == "control" {
			loop.points = append(loop.points, point{float64(row.Nodes), row.Center, row.Center, row.Center})
			continue
		}
		if size, err := strconv.ParseInt(results.Param(row.Params, "bytes"), 10, 64); err == nil && row.Workload == workload {
			reads[size] = row.Center
		}
	}
	for _, row := range r.metric(measure, metric) {
		if row.Label != "ring" || row.Workload != workload {
			continue
		}
		if ns, ok := reads[row.FloorBytes]; ok {
			read.points = append(read.points, point{float64(row.Nodes), ns, ns, ns})
		}
	}
	var floors []line
	for _, l := range []line{loop, read} {
		if l.points = tidy(l.points); len(l.points) > 0 {
			floors = append(floors, l)
		}
	}
	return floors
}

// balance draws how evenly counted keys fall on the nodes.
func (r *run) balance() (Figure, bool) {
	rows := r.metric("balance", "balance-cv")
	if len(rows) == 0 {
		return Figure{}, false
	}
	shown := commonest(rows)
	rows = shown.rows
	o := overNodes{unit: "stddev / mean of the keys per node", name: percent, parts: []part{{"", r.linesOverNodes(rows)}}}
	noise := line{look: look{color: floor, dash: dashed}, thin: true}
	for _, row := range rows {
		if row.Floor > 0 && finite(row.Floor) && row.Weights == "" {
			noise.name = "chance, " + magnitude(float64(row.Keys)) + " keys"
			noise.points = append(noise.points, point{float64(row.Nodes), row.Floor, row.Floor, row.Floor})
		}
	}
	if noise.points = tidy(noise.points); len(noise.points) > 0 {
		o.floors = []line{noise}
	}
	f := o.figure()
	f.Name = "balance"
	f.Title = "How evenly the keys fall on the nodes"
	n := fullest(rows)
	least, most := extremes(where(rows, ofNodes(n)))
	f.Caption = fmt.Sprintf("With %s%s the keys per node differ by %s of the mean with %s and by %s with %s.",
		plural(n, "node"), shown.under(), percent(least.Center), least.Label, percent(most.Center), most.Label)
	if o.floors != nil {
		f.Caption += " Grey: what chance alone makes of so many keys, however good the algorithm."
	}
	f.Caption += shown.note()
	f.footer = r.footer("balance")
	return f, true
}

// memory draws what the structures hold.
func (r *run) memory() (Figure, bool) {
	rows := r.metric("memory", "memory-bytes")
	unit, what := "heap held by the structure", "measured on the heap"
	if len(rows) == 0 {
		rows = r.metric("memory", "footprint-bytes")
		unit, what = "bytes of the structure", "counted from its lengths"
	}
	if len(rows) == 0 {
		return Figure{}, false
	}
	f := overNodes{unit: unit, name: bytesName, scale: sizeScale, parts: []part{{"", r.linesOverNodes(rows)}}}.figure()
	f.Name = "memory"
	f.Title = "What an algorithm keeps in memory"
	n := fullest(rows)
	least, most := extremes(where(rows, ofNodes(n)))
	f.Caption = fmt.Sprintf("With %s the structure takes from %s (%s) to %s (%s), %s.",
		plural(n, "node"), bytesName(least.Center), least.Label, bytesName(most.Center), most.Label, what)
	f.footer = r.footer("memory")
	return f, true
}

// enumerate joins names: "a", "a and b", "a, b and c". One that holds a comma itself
// is quoted.
func enumerate(names []string) string {
	s := ""
	for i, name := range names {
		name = results.Listed(name)
		switch {
		case i == 0:
		case i == len(names)-1:
			s += " and "
		default:
			s += ", "
		}
		s += name
	}
	return s
}

// allocations draws the allocations per lookup.
func (r *run) allocations() (Figure, bool) {
	rows := r.metric("allocations", "allocs-per-lookup")
	if len(rows) == 0 {
		return Figure{}, false
	}
	lines := merge(r.linesOverNodes(rows))
	ch := chart{unit: "allocations per lookup", xName: "nodes", lines: lines, columns: 1,
		x: logScale(abscissas(lines), count), y: linearScale(values(lines), plain)}
	panels := ch.split()
	f := panelFigure(panels, 1, asideKey(lines))
	f.height = 30 + vg.Length(len(panels))*120
	if least := vg.Length(min(len(lines), maxLines)) * labelSize * 1.3; least > 60 {
		f.height += (least - 60) * vg.Length(len(panels))
	}
	f.Name = "allocations"
	f.Title = "Does a lookup allocate?"
	_, most := extremes(rows)
	if most.Center == 0 {
		f.Caption = fmt.Sprintf("No: none of the %s allocates on the heap to look a key up, at any size.", plural(contestants(rows), "contestant"))
	} else {
		f.Caption = fmt.Sprintf("%s makes %s in a lookup at %s; an allocation costs more than most lookups, and work for the garbage collector later.",
			most.Label, plainPlural(most.Center, "allocation"), plural(most.Nodes, "node"))
	}
	f.footer = r.footer("allocations")
	return f, true
}

func plainPlural(v float64, thing string) string {
	if v == 1 {
		return "1 " + thing
	}
	return plain(v) + " " + thing + "s"
}

// contestants counts the labels in the rows.
func contestants(rows []results.Row) int {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.Label] = true
	}
	return len(seen)
}

// merge makes one line of those that cover each other.
func merge(lines []line) []line {
	var merged []line
	var names [][]string
	for _, l := range lines {
		i := slices.IndexFunc(merged, func(m line) bool { return slices.Equal(m.points, l.points) })
		if i < 0 {
			merged = append(merged, l)
			names = append(names, nil)
			i = len(merged) - 1
		}
		names[i] = append(names[i], l.name)
	}
	for i := range merged {
		switch n := len(names[i]); {
		case n == len(lines) && n > 1:
			merged[i].name = fmt.Sprintf("all %d", n)
		case n > 2:
			merged[i].name = fmt.Sprintf("%s and %d more", names[i][0], n-1)
		default:
			merged[i].name = enumerate(names[i])
		}
		if len(names[i]) > 1 {
			merged[i].look = look{color: soft, dash: solid, marker: circle}
		}
	}
	return merged
}

// build draws the time to build the structure.
func (r *run) build() (Figure, bool) {
	rows := r.metric("build", "build-ns")
	if len(rows) == 0 {
		return Figure{}, false
	}
	f := overNodes{unit: "time to build", name: duration, parts: []part{{"", r.linesOverNodes(rows)}}}.figure()
	f.Name = "build"
	f.Title = "How long it takes to start from a list of nodes"
	n := fullest(rows)
	least, most := extremes(where(rows, ofNodes(n)))
	f.Caption = fmt.Sprintf("Building the structure over %s takes from %s (%s) to %s (%s).",
		plural(n, "node"), duration(least.Center), least.Label, duration(most.Center), most.Label)
	f.footer = r.footer("build")
	return f, true
}

// membership draws the time to take in and to let go of one node.
func (r *run) membership() (Figure, bool) {
	joins, leaves := r.metric("add", "add-ns"), r.metric("remove", "remove-ns")
	all := slices.Concat(joins, leaves)
	if len(all) == 0 {
		return Figure{}, false
	}
	f := overNodes{unit: "time of the change", name: duration, parts: []part{
		{"a node joins", r.linesOverNodes(joins)},
		{"a node leaves", r.linesOverNodes(leaves)},
	}}.figure()
	f.Name = "membership"
	f.Title = "How long a change of membership takes"
	n := fullest(all)
	least, most := extremes(where(all, ofNodes(n)))
	f.Caption = fmt.Sprintf("With %s one change takes from %s (%s) to %s (%s). What happens to the keys is another question.",
		plural(n, "node"), duration(least.Center), least.Label, duration(most.Center), most.Label)
	f.footer = r.footer("add", "remove")
	return f, true
}

// panelFigure makes a figure of panels under an explanation of their markers.
func panelFigure(panels []*panel, columns int, key []keyItem) Figure {
	rows := (len(panels) + columns - 1) / columns
	height := pageHeight - 90
	if rows > 1 {
		height = 30 + vg.Length(rows)*200
	}
	return Figure{key: key, height: height, body: func(c draw.Canvas) { drawPanels(c, panels, columns) }}
}
