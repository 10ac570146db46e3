package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// timings are the three questions about the speed of a lookup, with the shapes
// of their answers.
var timings = []struct {
	measure, metric, name string
	shape                 marker
	hollow                bool
}{
	{"lookup", "lookup-ns", "independent lookups", circle, false},
	{"key-lookup", "key-lookup-ns", "from the string key", diamond, true},
	{"latency", "latency-ns", "each waits for the last", square, true},
}

// latency draws the three timings of a lookup side by side.
func (r *run) latency() (Figure, bool) {
	var all []results.Row // of all three
	byMetric := map[string][]results.Row{}
	for _, t := range timings {
		rows := where(r.metric(t.measure, t.metric), positive)
		if len(rows) > 0 {
			rows = where(rows, ofWorkload(workloads(rows)[0]))
		}
		byMetric[t.metric] = rows
		all = append(all, rows...)
	}
	if len(byMetric["latency-ns"]) == 0 || len(byMetric["lookup-ns"]) == 0 {
		return Figure{}, false
	}
	n := fullest(all)
	all = where(all, ofNodes(n))
	labels := byValue(where(byMetric["lookup-ns"], ofNodes(n)))
	for _, row := range all {
		if !slices.Contains(labels, row.Label) {
			labels = append(labels, row.Label)
		}
	}

	var xs []float64
	var rows []row
	add := func(name string, l look, find func(metric string) (float64, bool)) {
		rw := row{name: name}
		var got []float64
		for _, t := range timings {
			if v, ok := find(t.metric); ok && v > 0 {
				got = append(got, v)
				shape := l
				shape.marker, shape.hollow = t.shape, t.hollow
				rw.marks = append(rw.marks, mark{kind: dot, x: v, look: shape})
			}
		}
		if len(got) == 0 {
			return
		}
		lo, hi := slices.Min(got), slices.Max(got)
		xs = append(xs, lo, hi)
		rw.marks = append([]mark{{kind: span, x: lo, to: hi, look: look{color: grid}}}, rw.marks...)
		rw.marks = append(rw.marks,
			mark{kind: span, x: lo, to: lo, look: look{color: l.color}, text: duration(lo), anchor: right},
			mark{kind: span, x: hi, to: hi, look: look{color: l.color}, text: duration(hi), anchor: left})
		rows = append(rows, rw)
	}
	add("floor: empty loop", look{color: floor}, func(metric string) (float64, bool) { return r.control(metric, n) })
	for _, label := range labels {
		var l look
		for _, row := range all {
			if row.Label == label {
				l = r.look(row)
			}
		}
		add(label, l, func(metric string) (float64, bool) {
			row, ok := find(byMetric[metric], label, n)
			return row.Center, ok
		})
	}
	rc := rowChart{x: logScale(padded(xs), duration), rows: rows, xName: "time of one lookup"}
	var key []keyItem
	for _, t := range timings {
		if len(byMetric[t.metric]) > 0 {
			key = append(key, keyDot(look{color: soft, marker: t.shape, hollow: t.hollow}, t.name))
		}
	}
	f := panelFigure([]*panel{rc.panel()}, 1, key)
	f.height = 80 + vg.Length(len(rows))*rowHeight
	f.Name = "latency"
	f.Title = "One lookup, three questions"
	worst, factor := "", 0.0
	for _, label := range labels {
		a, okA := find(byMetric["lookup-ns"], label, n)
		b, okB := find(byMetric["latency-ns"], label, n)
		if okA && okB && a.Center > 0 && b.Center/a.Center > factor {
			worst, factor = label, b.Center/a.Center
		}
	}
	f.Caption = fmt.Sprintf("With %s. A string key has to be hashed first.", plural(n, "node"))
	if worst != "" {
		f.Caption = fmt.Sprintf("With %s. Lookups that wait for the answer before take up to %s times as long (%s) as lookups "+
			"that the processor may overlap; a string key has to be hashed first.", plural(n, "node"), trimmed(factor, 2), worst)
	}
	f.footer = r.footer("lookup", "latency", "key-lookup")
	return f, true
}

// padded adds room for a number beside the outermost marks of a logarithmic
// axis.
func padded(xs []float64) []float64 {
	if len(xs) == 0 {
		return xs
	}
	return append(slices.Clone(xs), slices.Min(xs)/1.5, slices.Max(xs)*1.5)
}

// control returns the value of the control at n nodes, or at the only size at
// which it was measured.
func (r *run) control(metric string, n int) (float64, bool) {
	var rows []results.Row
	for _, row := range r.rows {
		if row.Algorithm == "control" && row.Metric == metric && row.Measure+"-ns" == metric {
			rows = append(rows, row)
		}
	}
	if at := where(rows, ofNodes(n)); len(at) > 0 {
		return at[0].Center, true
	}
	if len(rows) > 0 {
		return rows[0].Center, true
	}
	return 0, false
}

// A bubble is a contestant in the trade-off: its place, and its memory as area.
type bubble struct {
	name       string
	look       look
	x, y, area float64
	radius     vg.Length
}

// largest is the radius of the bubble with most memory, smallest that of a
// bubble that would else vanish.
const (
	largest  = vg.Length(24)
	smallest = vg.Length(2.6)
)

// tradeOff draws balance against speed, with memory as area.
func (r *run) tradeOff() (Figure, bool) {
	speed, even := where(r.metric("lookup", "lookup-ns"), positive), where(r.metric("balance", "balance-cv"), positive)
	if len(speed) == 0 || len(even) == 0 {
		return Figure{}, false
	}
	speed, even = where(speed, ofWorkload(workloads(speed)[0])), where(even, ofWorkload(workloads(even)[0]))
	paired := where(speed, func(row results.Row) bool { _, ok := find(even, row.Label, row.Nodes); return ok })
	if len(paired) == 0 {
		return Figure{}, false
	}
	n := fullest(paired)
	var bubbles []bubble
	for _, row := range where(paired, ofNodes(n)) {
		b := bubble{name: pen{size: labelSize}.fit(row.Label, maxName), look: r.look(row), x: row.Center}
		e, _ := find(even, row.Label, n)
		b.y = e.Center
		b.area = r.memoryOf(row.Label, n)
		if b.x > 0 && b.y > 0 && !slices.ContainsFunc(bubbles, func(o bubble) bool { return o.name == b.name }) {
			bubbles = append(bubbles, b)
		}
	}
	if len(bubbles) < 2 {
		return Figure{}, false
	}
	most := slices.MaxFunc(bubbles, func(a, b bubble) int { return cmp.Compare(a.area, b.area) })
	var xs, ys []float64
	for i, b := range bubbles {
		bubbles[i].radius = smallest
		if most.area > 0 {
			bubbles[i].radius = max(smallest, largest*vg.Length(math.Sqrt(b.area/most.area)))
		}
		// The bubbles need room within the axes.
		xs, ys = append(xs, b.x/1.2, b.x*1.2), append(ys, b.y/1.3, b.y*1.3)
	}
	// Large bubbles are drawn first, so that none hides another.
	slices.SortStableFunc(bubbles, func(a, b bubble) int { return cmp.Compare(b.radius, a.radius) })
	x, y := logScale(xs, duration), logScale(ys, percent)
	p := &panel{unit: "stddev / mean of the keys per node (lower is more even)", plot: newPlot(x, y, "time of one lookup (further left is faster)")}
	front := paretoFront(slices.DeleteFunc(slices.Clone(bubbles), func(b bubble) bool { return r.movesFarTooMuch(b.name, n) }))
	if len(front) == 0 {
		return Figure{}, false
	}
	p.plot.Add(staircase(front), cloud{bubbles, front})
	f := panelFigure([]*panel{p}, 1, nil)
	f.height += 30
	f.Name = "trade-off"
	f.Title = "Speed, evenness and memory: the trade-off"
	var names []string
	for _, b := range front {
		names = append(names, b.name)
	}
	f.Caption = fmt.Sprintf("With %s. Nothing is both faster and more even than what lies on the broken line: %s.",
		plural(n, "node"), enumerate(names))
	if most.area > 0 {
		f.Caption += fmt.Sprintf(" Areas show memory; the largest, %s, takes %s.", most.name, bytesName(most.area))
	}
	if beaten := byName(bubbles, func(b bubble) bool { return r.movesFarTooMuch(b.name, n) }); len(beaten) > 0 {
		f.Caption += " Not considered for the line, as it moves most keys at every change: " + enumerate(beaten) + "."
	}
	f.footer = r.footer("lookup", "balance", "memory")
	return f, true
}

// byName returns the names of the bubbles for which keep holds.
func byName(bubbles []bubble, keep func(bubble) bool) []string {
	var names []string
	for _, b := range bubbles {
		if keep(b) {
			names = append(names, b.name)
		}
	}
	return names
}

// movesFarTooMuch reports whether a contestant moves at least half of the keys
// when it need not move a fifth: it is no consistent hashing.
func (r *run) movesFarTooMuch(label string, n int) bool {
	for _, m := range r.moves() {
		if m.Label == label && m.Nodes == n && m.Center > 0.5 && m.minimum < 0.2 {
			return true
		}
	}
	return false
}

// memoryOf returns the bytes that a contestant holds, measured if possible.
func (r *run) memoryOf(label string, n int) float64 {
	for _, metric := range []string{"memory-bytes", "footprint-bytes"} {
		for _, measure := range []string{"memory", "lookup"} {
			if row, ok := find(r.metric(measure, metric), label, n); ok {
				return max(row.Center, 0)
			}
		}
	}
	return 0
}

// paretoFront returns the bubbles that no other beats in both directions, from
// the fastest to the most even.
func paretoFront(bubbles []bubble) []bubble {
	sorted := slices.Clone(bubbles)
	slices.SortStableFunc(sorted, func(a, b bubble) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	var front []bubble
	for _, b := range sorted {
		if len(front) == 0 || b.y < front[len(front)-1].y {
			front = append(front, b)
		}
	}
	return front
}

// A staircase draws the front: what lies above and to the right of it is beaten.
type staircase []bubble

func (s staircase) Plot(c draw.Canvas, p *plot.Plot) {
	c.StrokeLines(draw.LineStyle{Color: soft, Width: 1.1, Dashes: dashed}, s.path(c, p))
}

// path returns the corners of the line.
func (s staircase) path(c draw.Canvas, p *plot.Plot) []vg.Point {
	x, y := p.Transforms(&c)
	path := []vg.Point{{X: x(s[0].x), Y: c.Max.Y}}
	for i, b := range s {
		if i > 0 {
			path = append(path, vg.Point{X: x(b.x), Y: y(s[i-1].y)})
		}
		path = append(path, vg.Point{X: x(b.x), Y: y(b.y)})
	}
	return append(path, vg.Point{X: c.Max.X, Y: y(s[len(s)-1].y)})
}

// A cloud draws bubbles and their names, which keep clear of the front.
type cloud struct {
	bubbles []bubble
	front   staircase
}

func (cl cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var taken []vg.Rectangle
	corners := cl.front.path(c, p)
	for i, a := range corners[1:] {
		b := corners[i]
		taken = append(taken, vg.Rectangle{
			Min: vg.Point{X: min(a.X, b.X) - 1.5, Y: min(a.Y, b.Y) - 1.5},
			Max: vg.Point{X: max(a.X, b.X) + 1.5, Y: max(a.Y, b.Y) + 1.5},
		})
	}
	for _, b := range cl.bubbles {
		at := vg.Point{X: x(b.x), Y: y(b.y)}
		taken = append(taken, around(at, b.radius*0.92))
		path := circle.outline(at, b.radius)
		if b.radius > 2*smallest {
			c.SetColor(faint(b.look.color))
			c.Fill(path)
			c.SetLineStyle(draw.LineStyle{Color: b.look.color, Width: 1.2})
			c.Stroke(path)
		}
	}
	for _, b := range cl.bubbles {
		at := vg.Point{X: x(b.x), Y: y(b.y)}
		b.look.draw(c, at, markerSize)
		taken = append(taken, around(at, markerSize))
	}
	for _, b := range cl.bubbles {
		text := pen{size: labelSize, color: b.look.textColor()}
		at := vg.Point{X: x(b.x), Y: y(b.y)}
		box := place(at, b.radius, text.width(b.name), labelSize, c.Rectangle, taken)
		taken = append(taken, box)
		if from, to := nearest(box, at); to > b.radius+12 {
			c.StrokeLine2(draw.LineStyle{Color: b.look.color, Width: hairWidth}, at.X, at.Y, from.X, from.Y)
		}
		text.write(c, box.Min.X, box.Min.Y+labelSize*0.2, left, b.name)
	}
}

func around(p vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - r, Y: p.Y - r}, Max: vg.Point{X: p.X + r, Y: p.Y + r}}
}

// place finds room for a text of the given size near a bubble: the nearest of a
// few places that stays within bounds and overlaps least of what is taken.
func place(at vg.Point, r, w, h vg.Length, bounds vg.Rectangle, taken []vg.Rectangle) vg.Rectangle {
	var best vg.Rectangle
	least := vg.Length(math.Inf(1))
	for ring := range 16 {
		gap := r + 4 + vg.Length(ring)*h*0.8
		diagonal := gap * 0.72
		for _, d := range []vg.Point{
			{X: gap, Y: -h / 2}, {X: -gap - w, Y: -h / 2}, // right, left
			{X: -w / 2, Y: gap - 2}, {X: -w / 2, Y: -gap - h + 2}, // above, below
			{X: diagonal, Y: diagonal - 2}, {X: diagonal, Y: -diagonal - h + 2},
			{X: -diagonal - w, Y: diagonal - 2}, {X: -diagonal - w, Y: -diagonal - h + 2},
		} {
			box := vg.Rectangle{Min: at.Add(d), Max: at.Add(d).Add(vg.Point{X: w, Y: h})}
			cost := 100 * outside(box, bounds)
			for _, t := range taken {
				cost += overlap(box, t)
			}
			if cost < least {
				best, least = box, cost
			}
			if cost == 0 {
				return box
			}
		}
	}
	return best
}

// nearest returns the point of the rectangle that is nearest to p, and how far.
func nearest(box vg.Rectangle, p vg.Point) (vg.Point, vg.Length) {
	q := vg.Point{X: min(max(p.X, box.Min.X), box.Max.X), Y: min(max(p.Y, box.Min.Y), box.Max.Y)}
	return q, vg.Length(math.Hypot(float64(q.X-p.X), float64(q.Y-p.Y)))
}

// overlap is the area that two rectangles share.
func overlap(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return max(w, 0) * max(h, 0)
}

// outside is how far a rectangle sticks out of another.
func outside(a, bounds vg.Rectangle) vg.Length {
	return max(0, bounds.Min.X-a.Min.X) + max(0, a.Max.X-bounds.Max.X) +
		max(0, bounds.Min.Y-a.Min.Y) + max(0, a.Max.Y-bounds.Max.Y)
}
