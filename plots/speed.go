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
	var any []results.Row // of all three
	for _, t := range timings {
		any = append(any, r.metric(t.measure, t.metric)...)
	}
	// All three under one workload: the caption compares them.
	shown := timed(any)
	all := shown.rows
	byMetric := map[string][]results.Row{}
	for _, row := range all {
		byMetric[row.Metric] = append(byMetric[row.Metric], row)
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

	hot := r.hotLookups(byMetric["lookup-ns"], n)

	var xs []float64
	var rows []row
	add := func(name string, l look, find func(metric string) (float64, bool), underHot func() (float64, bool)) {
		rw := row{name: name}
		var got []float64
		put := func(v float64, shape marker, hollow bool) {
			got = append(got, v)
			shaped := l
			shaped.marker, shaped.hollow = shape, hollow
			rw.marks = append(rw.marks, mark{kind: dot, x: v, look: shaped})
		}
		// Drawn first: where it is as long, the circle stands within it.
		if v, ok := underHot(); ok {
			put(v, hotShape, true)
		}
		for _, t := range timings {
			if v, ok := find(t.metric); ok {
				put(v, t.shape, t.hollow)
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
	add("floor: empty loop", look{color: floor}, func(metric string) (float64, bool) { return r.control(metric, shown.workload, n) },
		func() (float64, bool) { return 0, false })
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
		}, func() (float64, bool) {
			row, ok := find(hot.rows, label, n)
			return row.Center, ok
		})
	}
	rc := rowChart{x: logScale(xs, duration), rows: rows, xName: "time of one lookup"}
	var key []keyItem
	for _, t := range timings {
		if len(byMetric[t.metric]) > 0 {
			key = append(key, keyDot(look{color: soft, marker: t.shape, hollow: t.hollow}, t.name))
		}
	}
	if len(hot.rows) > 0 {
		key = append(key, keyDot(look{color: soft, marker: hotShape, hollow: true}, timings[0].name+", "+popularityName(hot.workload)))
	}
	f := panelFigure([]*panel{rc.panel()}, 1, key)
	f.height = 80 + vg.Length(len(rows))*rowHeight
	f.Name = "latency"
	f.Title = "One lookup, three questions"
	worst, factor := "", 0.0
	for _, label := range labels {
		a, okA := find(byMetric["lookup-ns"], label, n)
		b, okB := find(byMetric["latency-ns"], label, n)
		if okA && okB && a.Center > 0 && timesAsMuch(b.Center, a.Center) > factor {
			worst, factor = label, timesAsMuch(b.Center, a.Center)
		}
	}
	f.Caption = fmt.Sprintf("With %s%s. A string key has to be hashed first.", plural(n, "node"), shown.under())
	if worst != "" {
		f.Caption = fmt.Sprintf("With %s%s. Lookups that wait for the answer before take up to %s times as long (%s) as lookups "+
			"that the processor may overlap; a string key has to be hashed first.", plural(n, "node"), shown.under(), trimmed(factor, 2), worst)
	}
	f.Caption += hotSentence(hot, byMetric["lookup-ns"], n)
	f.Caption += shown.note()
	f.footer = r.footer("lookup", "latency", "key-lookup")
	return f, true
}

// hotShape is the shape of independent lookups under another popularity.
const hotShape = triangle

// hotLookups returns the lookups, of those of n nodes, under the popularity that most
// contestants have beside the uniform one, of keys of the same kind: what lookups are
// timed over are random keys, as many as there are draws or as the popularity has ranks.
// It is empty where the lookups shown are not uniform themselves.
func (r *run) hotLookups(shown []results.Row, n int) pick {
	return commonest(where(r.metric("lookup", "lookup-ns"), func(row results.Row) bool {
		if row.Nodes != n || skew(row.Workload) == 0 || popularity(row.Workload) == "" || popularity(row.Workload) == "bytes" {
			return false
		}
		even, ok := find(shown, row.Label, n)
		return ok && skew(even.Workload) == 0 && keyKind(even.Workload) == keyKind(row.Workload)
	}))
}

// hotSentence says by how much another popularity changes independent lookups; "" where
// there is none.
func hotSentence(hot pick, shown []results.Row, n int) string {
	least, most := math.Inf(1), math.Inf(-1)
	leastName, mostName := "", ""
	for _, row := range hot.rows {
		even, ok := find(shown, row.Label, n)
		if !ok || even.Center <= 0 {
			continue
		}
		factor := timesAsMuch(row.Center, even.Center)
		if factor < least {
			least, leastName = factor, row.Label
		}
		if factor > most {
			most, mostName = factor, row.Label
		}
	}
	if leastName == "" {
		return ""
	}
	text := " Under " + popularityName(hot.workload) + ", independent lookups take "
	if leastName == mostName {
		return text + fmt.Sprintf("%s times as long (%s).", trimmed(least, 2), leastName)
	}
	return text + fmt.Sprintf("%s to %s times as long (%s, %s).", trimmed(least, 2), trimmed(most, 2), leastName, mostName)
}

// control returns the value of the control under a workload at n nodes, or at the
// only size at which it was measured.
func (r *run) control(metric, workload string, n int) (float64, bool) {
	var rows []results.Row
	for _, row := range r.rows {
		if row.Algorithm == "control" && (row.Workload == workload || row.Workload == "") && row.Metric == metric && row.Measure+"-ns" == metric {
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

// A bubble is a contestant in the trade-off: its place with the noise around it, and
// its memory as area.
type bubble struct {
	label, name string // the name is the label as far as there is room for it
	look        look
	x, y, area  float64
	xs, ys      interval
	radius      vg.Length
}

// An interval is where a value may lie, for all that its noise lets one know.
type interval struct{ low, high float64 }

// below reports whether all of the interval is below the other. Intervals that meet
// tie.
func (i interval) below(o interval) bool { return i.high < o.low }

// beats reports whether a bubble is better than another in one direction by more than
// noise, and not worse by more than noise in the other.
func (b bubble) beats(o bubble) bool {
	return b.xs.below(o.xs) && !o.ys.below(b.ys) || b.ys.below(o.ys) && !o.xs.below(b.xs)
}

// countingNoise is the interval around the spread of the keys over n nodes, as two
// standard deviations of it in the mean of so many placements. Of n amounts a spread
// is known to one part in sqrt(2 (n-1)), whether chance dealt out keys or points.
func countingNoise(cv float64, n, placements int) interval {
	part := 2 / math.Sqrt(2*float64(max(1, n-1))*float64(max(1, placements)))
	return interval{cv * max(0, 1-part), cv * (1 + part)}
}

// largest is the radius of the bubble with most memory, smallest that of a
// bubble that would else vanish.
const (
	largest  = vg.Length(24)
	smallest = vg.Length(2.6)
)

// The frame of the trade-off is at least so wide and high, in points.
const (
	cloudWidth  = 400
	cloudHeight = 170
)

// tradeOff draws balance against speed, with memory as area.
func (r *run) tradeOff() (Figure, bool) {
	allSpeed, allEven := r.metric("lookup", "lookup-ns"), r.metric("balance", "balance-cv")
	pairedWith := func(rows []results.Row) func(results.Row) bool {
		return func(row results.Row) bool { _, ok := find(rows, row.Label, row.Nodes); return ok }
	}
	speed := timed(where(allSpeed, pairedWith(allEven)))
	even := commonest(where(allEven, pairedWith(speed.rows)))
	paired := where(speed.rows, pairedWith(even.rows))
	if len(paired) == 0 {
		return Figure{}, false
	}
	n := fullest(paired)
	var bubbles []bubble
	noise := line{look: look{color: floor, dash: dotted}, thin: true}
	single := true // whether a timing is of one reading
	for _, row := range where(paired, ofNodes(n)) {
		e, _ := find(even.rows, row.Label, n)
		b := bubble{label: row.Label, name: row.Label, look: r.look(row),
			x: row.Center, xs: interval{row.Low, row.High}, y: e.Center, ys: countingNoise(e.Center, n, e.N), area: r.memoryOf(row.Label, n)}
		if slices.ContainsFunc(bubbles, func(o bubble) bool { return o.label == b.label }) {
			continue
		}
		bubbles, single = append(bubbles, b), single && row.N == 1
		if e.Floor > 0 && finite(e.Floor) && noise.points == nil {
			at := countingNoise(e.Floor, n, e.N)
			noise.name = "counting noise of " + magnitude(float64(e.Keys)) + " keys"
			noise.points = []point{{0, e.Floor, at.low, at.high}}
		}
	}
	if len(bubbles) < 2 {
		return Figure{}, false
	}
	front := notBeaten(slices.DeleteFunc(slices.Clone(bubbles), func(b bubble) bool { return r.movesFarTooMuch(b.label, n) }))
	if len(front) == 0 {
		return Figure{}, false
	}
	most := slices.MaxFunc(bubbles, func(a, b bubble) int { return cmp.Compare(a.area, b.area) })
	var xs, ys []float64
	for i, b := range bubbles {
		bubbles[i].radius = smallest
		if most.area > 0 {
			bubbles[i].radius = max(smallest, largest*vg.Length(math.Sqrt(b.area/most.area)))
		}
		xs, ys = append(xs, b.x), append(ys, b.y)
	}
	ys = append(ys, values([]line{noise})...)
	// Large bubbles are drawn first, so that none hides another.
	slices.SortStableFunc(bubbles, func(a, b bubble) int { return cmp.Compare(b.radius, a.radius) })
	x, y := logScale(xs, duration), logScale(ys, percent)
	for range 2 { // room for the first leaves less for the last
		for _, b := range bubbles {
			x, y = x.withRoom(b.x, float64(b.radius+2)/cloudWidth), y.withRoom(b.y, float64(b.radius+2)/cloudHeight)
		}
	}
	p := &panel{unit: "stddev / mean of the keys per node (lower is more even)", xName: "time of one lookup (further left is faster)", plot: newPlot(x, y)}
	cl := cloud{bubbles: bubbles, front: staircase(paretoFront(front))}
	if len(noise.points) > 0 {
		from, to := noise.points[0], noise.points[0]
		from.x, to.x = x.min, x.max
		noise.points = []point{from, to}
		p.plot.Add(band(noise), noise)
		cl.floor = noise
	}
	p.plot.Add(cl.front, cl)
	f := panelFigure([]*panel{p}, 1, nil)
	f.height += 30 + 8*vg.Length(max(0, len(bubbles)-16))
	f.Name = "trade-off"
	f.Title = "Speed, evenness and memory: the trade-off"
	left := missing(slices.Concat(allSpeed, allEven), where(paired, ofNodes(n)))
	f.Caption = frontCaption(front, n, speed, even, left)
	if single {
		f.Caption += " Each timing is one reading, whose noise is not known."
	}
	if most.area > 0 {
		f.Caption += fmt.Sprintf(" Areas show memory; the largest shown, %s, takes %s.", most.name, bytesName(most.area))
	}
	if beaten := byName(bubbles, func(b bubble) bool { return r.movesFarTooMuch(b.label, n) }); len(beaten) > 0 {
		f.Caption += " Not considered for the line, as it moves most keys at every change: " + enumerate(beaten) + "."
	}
	if len(left) > 0 {
		f.Caption += " Not shown, for want of both values there: " + some(left) + "."
	}
	f.footer = r.footer("lookup", "balance", "memory")
	return f, true
}

// frontCaption says what nothing beats, and among what.
func frontCaption(front []bubble, n int, speed, even pick, left []string) string {
	among, none := "", "No contestant"
	if len(left) > 0 {
		none = "No contestant shown"
	}
	switch {
	case speed.of > 1 && even.of > 1:
		among = fmt.Sprintf(", timings%s and balance%s", speed.under(), even.under())
	case even.of > 1:
		among = ", balance" + even.under()
	case speed.of > 1:
		among = ", timings" + speed.under()
	}
	on := paretoFront(front)
	text := fmt.Sprintf("With %s%s. %s is better in one and no worse in the other, by more than noise, than those on the dashed line: %s",
		plural(n, "node"), among, none, enumerate(byName(on, func(bubble) bool { return true })))
	ties := byName(front, func(b bubble) bool {
		return !slices.ContainsFunc(on, func(o bubble) bool { return o.label == b.label })
	})
	if len(ties) > 0 {
		text += "; within noise of it: " + some(ties)
	}
	return text + "."
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

// notBeaten returns the bubbles that no other beats by more than noise, the fastest
// first. Noise may let three beat each other in turn; when it lets that happen to all,
// it returns the front of their centres.
func notBeaten(bubbles []bubble) []bubble {
	var front []bubble
	for _, b := range bubbles {
		if !slices.ContainsFunc(bubbles, func(o bubble) bool { return o.beats(b) }) {
			front = append(front, b)
		}
	}
	if front == nil {
		return paretoFront(bubbles)
	}
	slices.SortStableFunc(front, func(a, b bubble) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	return front
}

// paretoFront returns the bubbles of which no other's centre is better in both
// directions, from the fastest to the most even.
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
	path := s.path(c, p)
	declare(c, path...)
	c.StrokeLines(draw.LineStyle{Color: soft, Width: 1.1, Dashes: dashed}, path)
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
	floor   line // level, with its name at the end that has more room; none without points
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
			declare(c, around(at, b.radius).Min, around(at, b.radius).Max)
			c.SetColor(faint(b.look.color))
			c.Fill(path)
			c.SetLineStyle(draw.LineStyle{Color: b.look.color, Width: 1.2})
			c.Stroke(path)
		}
	}
	for _, b := range cl.bubbles {
		at := vg.Point{X: x(b.x), Y: y(b.y)}
		declare(c, at)
		b.look.draw(c, at, markerSize)
		taken = append(taken, around(at, markerSize))
	}
	if len(cl.floor.points) > 0 {
		at := y(cl.floor.points[0].y)
		taken = append(taken, cl.nameFloor(c, at, taken), vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: at - 1}, Max: vg.Point{X: c.Max.X, Y: at + 1}})
	}
	var written []vg.Rectangle
	for i, name := range cl.names(c) {
		b := cl.bubbles[i]
		text := pen{size: labelSize, color: b.look.textColor()}
		at := vg.Point{X: x(b.x), Y: y(b.y)}
		box := place(at, b.radius, text.width(name), labelSize, c.Rectangle, taken, written)
		written = append(written, box)
		if from, to := nearest(box, at); to > b.radius+12 {
			c.StrokeLine2(draw.LineStyle{Color: b.look.color, Width: hairWidth}, at.X, at.Y, from.X, from.Y)
		}
		text.write(c, box.Min.X, box.Min.Y+labelSize*0.2, left, name)
	}
}

// nameFloor writes the name of the floor above its line or below, where least is
// taken, and returns the place.
func (cl cloud) nameFloor(c draw.Canvas, at vg.Length, taken []vg.Rectangle) vg.Rectangle {
	text := pen{size: tickSize, color: cl.floor.look.textColor()}
	w := text.width(cl.floor.name)
	var best vg.Rectangle
	least := vg.Length(math.Inf(1))
	for step := range 9 {
		x := c.Min.X + 3 + (c.Max.X-c.Min.X-w-6)*(1-vg.Length(step)/8)
		for _, low := range []vg.Length{at + 2, at - tickSize - 1} {
			box := vg.Rectangle{Min: vg.Point{X: x, Y: low}, Max: vg.Point{X: x + w, Y: low + tickSize}}
			cost := 100 * outside(box, c.Rectangle)
			for _, t := range taken {
				cost += overlap(box, t)
			}
			if cost < least {
				best, least = box, cost
			}
		}
	}
	text.write(c, best.Min.X, best.Min.Y+tickSize*0.25, left, cl.floor.name)
	return best
}

// names returns what is written beside the bubbles: names cut so far that all of
// them take no more than a third of the frame.
func (cl cloud) names(c draw.Canvas) []string {
	var all []string
	for _, b := range cl.bubbles {
		all = append(all, b.name)
	}
	size := c.Size()
	room := size.X * size.Y / 3 / (1.3 * labelSize) / vg.Length(len(all))
	return pen{size: labelSize}.fitAll(all, min(maxName, max(40, room)))
}

func around(p vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - r, Y: p.Y - r}, Max: vg.Point{X: p.X + r, Y: p.Y + r}}
}

// place finds room for a text of the given size near a bubble: the nearest of a
// few places that stays within bounds, off the texts that are written, and overlaps
// least of what is taken. Where there is none it looks for the nearest anywhere.
func place(at vg.Point, r, w, h vg.Length, bounds vg.Rectangle, taken, written []vg.Rectangle) vg.Rectangle {
	best := vg.Rectangle{Min: bounds.Min, Max: bounds.Min.Add(vg.Point{X: w, Y: h})}
	least := vg.Length(math.Inf(1))
	try := func(low vg.Point, further vg.Length) {
		box := vg.Rectangle{Min: low, Max: low.Add(vg.Point{X: w, Y: h})}
		cost := further + 1000*outside(box, bounds)
		for _, t := range taken {
			cost += overlap(box, t)
		}
		for _, t := range written {
			cost += 1000 * overlap(box, t)
		}
		if cost < least {
			best, least = box, cost
		}
	}
	for ring := range 16 {
		gap := r + 4 + vg.Length(ring)*h*0.8
		diagonal := gap * 0.72
		for _, d := range []vg.Point{
			{X: gap, Y: -h / 2}, {X: -gap - w, Y: -h / 2}, // right, left
			{X: -w / 2, Y: gap - 2}, {X: -w / 2, Y: -gap - h + 2}, // above, below
			{X: diagonal, Y: diagonal - 2}, {X: diagonal, Y: -diagonal - h + 2},
			{X: -diagonal - w, Y: diagonal - 2}, {X: -diagonal - w, Y: -diagonal - h + 2},
		} {
			if try(at.Add(d), 0); least == 0 {
				return best
			}
		}
	}
	for x := bounds.Min.X; x+w <= bounds.Max.X; x += h / 2 {
		for y := bounds.Min.Y; y+h <= bounds.Max.Y; y += h / 2 {
			_, distance := nearest(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}, at)
			try(vg.Point{X: x, Y: y}, distance/10)
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
