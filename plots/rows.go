package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rowHeight is the height of one contestant in a chart of rows.
const rowHeight = vg.Length(19)

// maxName is the widest name of a contestant; a longer one is cut.
const maxName = 2.9 * vg.Inch

// tickReach is how far a tick reaches above and below the middle of its lane.
const tickReach = vg.Length(6.5)

// leastBar is the length of a bar that stands for nothing.
const leastBar = vg.Length(1)

// A row is one contestant in a chart of rows.
type row struct {
	name  string
	marks []mark
}

// A mark is what a row shows at a value.
type mark struct {
	kind   markKind
	x, to  float64   // spans and bars reach from x to to
	look   look      // colour, and the shape of a dot
	lane   vg.Length // above the middle of the row
	text   string    // beside the mark; "" for none
	anchor float64   // left writes the text to the right of the mark, right to the left
}

type markKind int

const (
	dot  markKind = iota
	tick          // an upright stroke: a minimum or a bound
	span          // a thin line
	bar
)

// A rowChart shows contestants one below the other along a common horizontal
// axis.
type rowChart struct {
	heading, unit, xName string
	x                    scale
	rows                 []row
}

func (rc rowChart) panel() *panel {
	y := scale{names: true, min: -0.5, max: float64(len(rc.rows)) - 0.5}
	var all []string
	for _, r := range rc.rows {
		all = append(all, r.name)
	}
	names := pen{size: labelSize}.fitAll(all, maxName)
	for i := range rc.rows {
		y.ticks = append(y.ticks, plot.Tick{Value: rc.height(i), Label: names[i]})
	}
	p := &panel{heading: rc.heading, unit: rc.unit, xName: rc.xName, plot: newPlot(rc.x, y)}
	p.plot.Y.Tick.Label.Color = ink
	p.plot.Y.Padding = 6
	p.room = rc.textRoom
	p.plot.Y.Tick.Label.Font.Size = labelSize
	p.plot.Add(rc)
	return p
}

// textRoom returns the room that the texts beside marks need before a frame of a
// width and after it.
func (rc rowChart) textRoom(frame vg.Length) (before, after vg.Length) {
	for _, r := range rc.rows {
		for _, m := range r.marks {
			end := m.x
			if m.kind == span || m.kind == bar {
				end = m.to
			}
			at, need := vg.Length(rc.x.at(end)), m.textWidth()
			switch {
			case need == 0:
			case m.anchor == right:
				before = max(before, need-at*frame)
			default:
				after = max(after, need-(1-at)*frame)
			}
		}
	}
	return before, after
}

// textWidth is the room that the text beside the mark takes, with the gap.
func (m mark) textWidth() vg.Length {
	if m.text == "" {
		return 0
	}
	return textOffset + pen{size: tickSize}.width(m.text) + 2
}

// textOffset is from a mark to the text beside it.
const textOffset = vg.Length(6.5)

// height is the place of row i on the vertical axis.
func (rc rowChart) height(i int) float64 { return float64(len(rc.rows) - 1 - i) }

// notMeasured stands in a row without marks, which else would look like one of
// nothing but zeros.
const notMeasured = "not measured"

// Plot draws the marks, spans and bars below ticks below dots.
func (rc rowChart) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range rc.rows {
		if len(r.marks) == 0 {
			text := pen{size: tickSize}.fit(notMeasured, c.Max.X-c.Min.X-6)
			mark{kind: span, look: look{color: soft}, text: text, anchor: left}.draw(c, c.Min.X-2, c.Min.X-2, y(rc.height(i)))
		}
	}
	for _, kinds := range [][]markKind{{bar, span}, {tick}, {dot}} {
		for i, r := range rc.rows {
			for _, m := range r.marks {
				if m.kind == kinds[0] || m.kind == kinds[len(kinds)-1] {
					m.draw(c, x(m.x), x(m.to), y(rc.height(i))+m.lane)
				}
			}
		}
	}
}

func (m mark) draw(c draw.Canvas, x, to, y vg.Length) {
	text := pen{size: tickSize, color: readable(m.look.color)}
	switch m.kind {
	case dot:
		declare(c, vg.Point{X: x, Y: y})
		m.look.draw(c, vg.Point{X: x, Y: y}, markerSize+0.4)
	case tick:
		declare(c, vg.Point{X: x, Y: y - tickReach}, vg.Point{X: x, Y: y + tickReach})
		c.StrokeLine2(draw.LineStyle{Color: m.look.color, Width: 1.2}, x, y-tickReach, x, y+tickReach)
	case span:
		if x != to {
			declare(c, vg.Point{X: x, Y: y}, vg.Point{X: to, Y: y})
		}
		c.StrokeLine2(draw.LineStyle{Color: m.look.color, Width: 1.3, Dashes: m.look.dash}, x, y, to, y)
		x = to
	case bar:
		declare(c, vg.Point{X: x, Y: y - 5}, vg.Point{X: to, Y: y + 5})
		// A bar of no length is drawn as well: nothing at all is what was not measured.
		from, end := min(x, to), max(x, to, min(x, to)+leastBar)
		c.FillPolygon(m.look.color, []vg.Point{{X: from, Y: y - 5}, {X: end, Y: y - 5}, {X: end, Y: y + 5}, {X: from, Y: y + 5}})
		x = to
	}
	offset := textOffset
	if m.anchor == right {
		offset = -offset
	}
	if m.text != "" {
		w := text.width(m.text)
		from := x + offset - vg.Length(m.anchor)*w
		c.FillPolygon(paper, []vg.Point{{X: from - 1, Y: y - 5}, {X: from + w + 1, Y: y - 5}, {X: from + w + 1, Y: y + 5}, {X: from - 1, Y: y + 5}})
	}
	text.write(c, x+offset, y-tickSize*0.35, m.anchor, m.text)
}

// keyDot explains a marker's shape.
func keyDot(l look, text string) keyItem {
	return keyItem{text, func(c draw.Canvas, p vg.Point) { l.draw(c, p, markerSize+0.4) }}
}

// keyTick explains an upright stroke.
func keyTick(l look, text string) keyItem {
	return keyItem{text, func(c draw.Canvas, p vg.Point) {
		mark{kind: tick, look: l}.draw(c, p.X, p.X, p.Y)
	}}
}
