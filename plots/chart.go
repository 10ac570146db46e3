package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// maxLines is how many lines a frame holds before its chart is split.
const maxLines = 8

// A point is a place on a line, with the band around it; lo = hi = y is none.
type point struct{ x, y, lo, hi float64 }

// A line is one contestant in a chart, or a floor or theory beside them.
type line struct {
	name   string
	look   look
	points []point   // by x
	thin   bool      // no markers and a thin stroke: not a contestant
	inside bool      // the name stands on the line's left end, not beside its right one
	aside  []float64 // places on the horizontal axis whose points the line does not join
}

// isAside reports whether a point stands beside the line.
func (l line) isAside(p point) bool { return slices.Contains(l.aside, p.x) }

// joined returns the line without the points beside it.
func (l line) joined() line {
	l.points = slices.DeleteFunc(slices.Clone(l.points), l.isAside)
	return l
}

// A chart draws lines over a common horizontal axis and names each at its right
// end.
type chart struct {
	heading, unit, xName string
	x, y                 scale
	lines                []line
	columns              int // that share the width of the page
}

// values returns all numbers of the chart's lines along the vertical axis.
func values(lines []line) (ys []float64) {
	for _, l := range lines {
		for _, p := range l.points {
			ys = append(ys, p.y, p.lo, p.hi)
		}
	}
	return ys
}

// abscissas returns all numbers along the horizontal axis.
func abscissas(lines []line) (xs []float64) {
	for _, l := range lines {
		for _, p := range l.points {
			xs = append(xs, p.x)
		}
	}
	return xs
}

// frameRoom is what a frame and the labels of its axis take of a column at least;
// the names beside its lines have the rest.
const frameRoom = vg.Length(95)

// columnOf is the width of one of so many columns.
func columnOf(columns int) vg.Length {
	return (pageWidth - 2*pageMargin - 60) / vg.Length(max(1, columns))
}

// split makes a panel of every few lines of the chart, each with its axes and with
// what stands beside all of them, so that no frame is crowded and no line left out.
func (ch chart) split(beside ...line) (panels []*panel) {
	for _, group := range split(ch.lines, maxLines) {
		part := ch
		part.lines = slices.Concat(group, beside)
		panels = append(panels, part.panel())
	}
	return panels
}

// columnsFor returns how many columns, at most that many, leave room for the names
// of the lines.
func columnsFor(lines []line, most int) int {
	for ; most > 1; most-- {
		if !slices.ContainsFunc(lines, func(l line) bool {
			return !l.inside && min(maxName, l.pen().width(l.name)) > columnOf(most)-frameRoom
		}) {
			break
		}
	}
	return most
}

// panel makes the chart a panel.
func (ch chart) panel() *panel {
	p := &panel{heading: ch.heading, unit: ch.unit, xName: ch.xName, plot: newPlot(ch.x, ch.y)}
	column := columnOf(ch.columns)
	drawn := make([]line, 0, len(ch.lines))
	for _, l := range ch.lines {
		if len(l.points) > 0 {
			drawn = append(drawn, l)
		}
	}
	for _, l := range drawn {
		p.plot.Add(band(l.joined()))
	}
	for _, l := range drawn {
		p.plot.Add(l)
	}
	var beside names
	var called []string
	for _, l := range drawn {
		if l.inside {
			p.plot.Add(inscription{l, drawn})
		} else {
			beside = append(beside, l)
			called = append(called, l.name)
		}
	}
	for i, name := range (pen{size: labelSize}).fitAll(called, min(maxName, column-frameRoom)) {
		beside[i].name = name
	}
	p.plot.Add(beside)

	// Where the data end before the axis does, the names need less margin.
	var need, end vg.Length
	for _, l := range beside {
		need = max(need, labelGap+l.pen().width(l.name)+2)
		end = max(end, vg.Length(p.plot.X.Norm(l.end().x)))
	}
	p.room = func(frame vg.Length) (before, after vg.Length) { return 0, need - (1-end)*frame }
	return p
}

// end returns the point at which the name of the line stands: the last that is joined,
// or else the last.
func (l line) end() point {
	if joined := l.joined().points; len(joined) > 0 {
		return joined[len(joined)-1]
	}
	return l.points[len(l.points)-1]
}

func (l line) pen() pen { return pen{size: labelSize, color: l.look.textColor()} }

// Plot draws the stroke and the markers.
func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path []vg.Point
	for _, pt := range l.joined().points {
		path = append(path, vg.Point{X: x(pt.x), Y: y(pt.y)})
	}
	style := l.look.line()
	if l.thin {
		style.Width = 1
	}
	for _, pt := range path {
		declare(c, pt)
	}
	if len(path) > 1 {
		c.StrokeLines(style, path)
	}
	// A line that begins and ends at one place would not be seen.
	if !l.thin || !slices.ContainsFunc(path, func(q vg.Point) bool { return q != path[0] }) {
		for _, pt := range path {
			l.look.draw(c, pt, markerSize)
		}
	}
	l.drawAside(c, x, y)
}

// asideSize is the radius of a marker beside a line.
const asideSize = 0.8 * markerSize

// drawAside draws the points beside the line, small, and joins those of a power of two
// and one node more by a hair line.
func (l line) drawAside(c draw.Canvas, x, y func(float64) vg.Length) {
	var last *point
	for _, pt := range l.points {
		if !l.isAside(pt) {
			continue
		}
		if last != nil && pt.x == last.x+1 {
			c.StrokeLine2(draw.LineStyle{Color: l.look.color, Width: hairWidth}, x(last.x), y(last.y), x(pt.x), y(pt.y))
		}
		last = &pt
	}
	for _, pt := range l.points {
		if l.isAside(pt) {
			l.look.draw(c, vg.Point{X: x(pt.x), Y: y(pt.y)}, asideSize)
		}
	}
}

// A band fills between the lo and hi of a line.
type band line

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var outline []vg.Point
	wide := false
	for _, pt := range b.points {
		wide = wide || y(pt.hi)-y(pt.lo) > 0.05 // points: what can be seen
		outline = append(outline, vg.Point{X: x(pt.x), Y: y(pt.hi)})
	}
	if !wide {
		return
	}
	if len(b.points) == 1 {
		at, pt := x(b.points[0].x), b.points[0]
		declare(c, vg.Point{X: at, Y: y(pt.lo)}, vg.Point{X: at, Y: y(pt.hi)})
		c.StrokeLine2(draw.LineStyle{Color: faint(b.look.color), Width: 5},
			at, y(pt.lo), at, y(pt.hi))
		return
	}
	for i := len(b.points) - 1; i >= 0; i-- {
		pt := b.points[i]
		outline = append(outline, vg.Point{X: x(pt.x), Y: y(pt.lo)})
	}
	declare(c, outline...)
	c.FillPolygon(faint(b.look.color), outline)
}

// An inscription writes the name of a level line on it or below it, where the least
// of the other lines is.
type inscription struct {
	line
	all []line
}

func (in inscription) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	from, to := x(in.points[0].x), x(in.points[len(in.points)-1].x)
	if in.name == "" {
		return
	}
	text := in.pen()
	name := text.fit(in.name, to-from-6)
	width := text.width(name)
	var best vg.Point
	least := math.Inf(1)
	for _, above := range []vg.Length{3, -labelSize} {
		for k := range 9 {
			at := vg.Point{X: from + 3 + (to-from-6-width)*vg.Length(k)/8, Y: y(in.points[0].y) + above}
			box := vg.Rectangle{Min: at.Add(vg.Point{X: -2, Y: -3}), Max: at.Add(vg.Point{X: width + 2, Y: labelSize * 0.8})}
			cost := 1000 * float64(outside(box, c.Rectangle))
			for _, l := range in.all {
				for i, pt := range l.points {
					q := vg.Point{X: x(pt.x), Y: y(pt.y)}
					cost += float64(overlap(around(q, markerSize), box))
					for step := vg.Length(0); i > 0 && step < 1; step += 1.0 / 32 {
						before := vg.Point{X: x(l.points[i-1].x), Y: y(l.points[i-1].y)}
						cost += float64(overlap(around(before.Add(q.Sub(before).Scale(step)), 0.5), box))
					}
				}
			}
			if cost < least {
				best, least = at, cost
			}
		}
	}
	text.write(c, best.X, best.Y, left, name)
}

// names writes the name of each line at its right end, moved up or down where
// they would overlap, with a hair line back to the end.
type names []line

func (ns names) Plot(c draw.Canvas, p *plot.Plot) {
	if len(ns) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	at := make([]vg.Length, len(ns))
	var column vg.Length
	for i, l := range ns {
		end := l.end()
		at[i] = y(end.y)
		column = vg.Length(math.Max(float64(column), float64(x(end.x))))
	}
	gap := min(labelSize*1.22, (c.Max.Y-c.Min.Y)/vg.Length(max(1, len(ns)-1)))
	for i, to := range spread(at, gap, c.Min.Y+3, c.Max.Y) {
		l := ns[i]
		from := x(l.end().x)
		style := draw.LineStyle{Color: l.look.color, Width: hairWidth}
		if displaced := to - at[i]; displaced > 3.5 || displaced < -3.5 || column-from > 1 {
			c.StrokeLine2(style, from+markerSize, at[i], column+labelGap-1.5, to)
		}
		l.pen().write(c, column+labelGap, to-labelSize*0.35, left, l.name)
	}
}
