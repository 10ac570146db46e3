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

// nameShare is the most of a column's width that names beside lines may take.
const nameShare = 0.6

// panel makes the chart a panel.
func (ch chart) panel() *panel {
	p := &panel{heading: ch.heading, unit: ch.unit, plot: newPlot(ch.x, ch.y, ch.xName)}
	column := (pageWidth - 2*pageMargin - 60) / vg.Length(max(1, ch.columns))
	drawn := make([]line, 0, len(ch.lines))
	for _, l := range ch.lines {
		if l = ch.visible(l); len(l.points) > 0 {
			drawn = append(drawn, l)
		}
	}
	for _, l := range drawn {
		p.plot.Add(band{l.joined(), ch.y})
	}
	for _, l := range drawn {
		p.plot.Add(l)
	}
	var beside names
	for _, l := range drawn {
		if l.inside {
			p.plot.Add(inscription(l))
		} else {
			l.name = l.pen().fit(l.name, min(maxName, nameShare*column))
			beside = append(beside, l)
		}
	}
	p.plot.Add(beside)

	// Where the data end before the axis does, the names need less margin.
	var need, end vg.Length
	for _, l := range beside {
		need = max(need, labelGap+l.pen().width(l.name)+2)
		end = max(end, vg.Length(p.plot.X.Norm(l.end().x)))
	}
	p.margin = max(0, need-(1-end)*(column-need)*0.9)
	return p
}

// visible returns the line with the points that the chart's axes can show.
func (ch chart) visible(l line) line {
	var points []point
	for _, p := range l.points {
		if ch.x.contains(p.x) && ch.y.contains(p.y) {
			points = append(points, p)
		}
	}
	l.points = points
	return l
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
	if len(path) > 1 {
		c.StrokeLines(style, path)
	}
	if !l.thin || len(path) == 1 {
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
type band struct {
	line line
	y    scale
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var outline []vg.Point
	wide := false
	for _, pt := range b.line.points {
		wide = wide || pt.hi > pt.lo
		outline = append(outline, vg.Point{X: x(pt.x), Y: y(b.y.clamp(pt.hi))})
	}
	if !wide {
		return
	}
	if len(b.line.points) == 1 {
		at, pt := x(b.line.points[0].x), b.line.points[0]
		c.StrokeLine2(draw.LineStyle{Color: faint(b.line.look.color), Width: 5},
			at, y(b.y.clamp(pt.lo)), at, y(b.y.clamp(pt.hi)))
		return
	}
	for i := len(b.line.points) - 1; i >= 0; i-- {
		pt := b.line.points[i]
		outline = append(outline, vg.Point{X: x(pt.x), Y: y(b.y.clamp(pt.lo))})
	}
	c.FillPolygon(faint(b.line.look.color), outline)
}

// An inscription writes the name of a line on its left end.
type inscription line

func (in inscription) Plot(c draw.Canvas, p *plot.Plot) {
	first := in.points[0]
	line(in).pen().write(c, c.X(p.X.Norm(first.x))+3, c.Y(p.Y.Norm(first.y))+3, left, in.name)
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
