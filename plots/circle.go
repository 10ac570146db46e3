package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// nodeColors tells the nodes of a small ring apart.
var nodeColors = []color.RGBA{blue, orange, green, pink, sky, red, wine, olive, grey, ink}

// nodeColor returns the colour of a node; beyond ten they come again.
func nodeColor(i int) color.RGBA { return nodeColors[i%len(nodeColors)] }

// A hashRing is the hash space of a small ring, cut into cells.
type hashRing struct {
	nodes    int
	vnodes   float64
	weighted bool    // or may be: the nodes are not known to be of one weight
	peak     float64 // largest share as a multiple of the fair one
	cells    []cell
}

// A cell is owned by one node: it reaches from the end of the cell before to
// its own end, both in parts of the whole circle.
type cell struct {
	from, to float64 // from < to <= from+1
	node     int
}

// share returns the part of the circle that each node owns.
func (h hashRing) share() []float64 {
	s := make([]float64, h.nodes)
	for _, c := range h.cells {
		s[c.node] += c.to - c.from
	}
	return s
}

// ringOf reads the circle that a trial holds in its series: the ends of the
// cells, ascending, and the nodes that own them. A trial without a whole one
// has none.
func ringOf(t results.Trial) (hashRing, bool) {
	ends, nodes := t.Series["circle_end"], t.Series["circle_node"]
	h := hashRing{nodes: t.Nodes}
	if len(ends) == 0 || len(ends) != len(nodes) || t.Nodes < 1 || t.Nodes > len(nodeColors) {
		return h, false
	}
	before := ends[len(ends)-1] - 1
	for i, end := range ends {
		node := int(nodes[i])
		if !(end >= 0 && end <= 1 && end >= before) || node < 0 || node >= t.Nodes {
			return h, false
		}
		if end > before { // two points at one place leave nothing between them
			h.cells = append(h.cells, cell{before, end, node})
		}
		before = end
	}
	h.weighted = t.Weights != ""
	switch peak, told := t.Values["share-peak"]; {
	case told:
		h.peak = peak
	case h.weighted:
		return h, false
	default:
		h.peak = slices.Max(h.share()) * float64(h.nodes)
	}
	h.vnodes, _ = strconv.ParseFloat(results.Param(t.Params, "vnodes"), 64)
	return h, true
}

// circles draws the ring itself, with few and with more vnodes.
func (r *run) circles() (Figure, bool) {
	var rings []hashRing
	for _, t := range r.set.Trials {
		if h, ok := ringOf(t); ok && !slices.ContainsFunc(rings, func(o hashRing) bool { return o.nodes == h.nodes && o.vnodes == h.vnodes }) {
			rings = append(rings, h)
		}
	}
	if len(rings) == 0 {
		return Figure{}, false
	}
	// The size with most rings, and of that at most three.
	n, most := 0, 0
	for _, h := range rings {
		have := 0
		for _, o := range rings {
			if o.nodes == h.nodes {
				have++
			}
		}
		if have > most {
			n, most = h.nodes, have
		}
	}
	rings = slices.DeleteFunc(rings, func(h hashRing) bool { return h.nodes != n })
	slices.SortFunc(rings, func(a, b hashRing) int { return cmp.Compare(a.vnodes, b.vnodes) })
	for len(rings) > 3 {
		rings = slices.Delete(rings, len(rings)/2, len(rings)/2+1)
	}
	f := Figure{Name: "ring", Title: "The ring: who owns which part of the hash space", height: 235,
		footer: r.footerOf(func(t results.Trial) bool { _, ok := ringOf(t); return ok })}
	first, last := rings[0], rings[len(rings)-1]
	f.Caption = fmt.Sprintf("%s on one placement, a colour each. With %s a node the busiest owns %s times its fair share",
		plural(n, "node"), plural(int(first.vnodes), "vnode"), times(first.peak))
	if len(rings) > 1 {
		f.Caption += fmt.Sprintf(", with %s %s times", plural(int(last.vnodes), "vnode"), times(last.peak))
	}
	f.Caption += ". The bars below are the shares"
	if !slices.ContainsFunc(rings, func(h hashRing) bool { return h.weighted }) {
		f.Caption += "; the line is a fair share"
	}
	f.Caption += "."
	top := 0.0
	for _, h := range rings {
		top = max(top, slices.Max(h.share()))
	}
	f.body = func(c draw.Canvas) {
		tiles := draw.Tiles{Cols: len(rings), Rows: 1, PadX: 20}
		for i, h := range rings {
			h.draw(tiles.At(c, i, 0), top)
		}
	}
	return f, true
}

// draw draws the circle, clockwise from the top, and the shares below; a bar of
// full height is the share top.
func (h hashRing) draw(c draw.Canvas, top float64) {
	const barsHeight = 55
	if h.vnodes > 0 {
		pen{size: headingSize, color: ink, bold: true}.write(c, c.Center().X, c.Max.Y-headingSize, center,
			plural(int(h.vnodes), "vnode")+" a node")
	}
	above := draw.Crop(c, 0, 0, barsHeight+12, -headingLine-4)
	outer := min(above.Max.X-above.Min.X, above.Max.Y-above.Min.Y) / 2
	inner := outer * 0.68
	for _, cl := range h.cells {
		outline := arc(above.Center(), inner, outer, cl.from, cl.to)
		declare(above, outline...)
		c.FillPolygon(nodeColor(cl.node), outline)
	}
	for _, cl := range h.cells {
		// A rim of paper parts the cells where there is room for one.
		if vg.Length(cl.to-cl.from)*outer*2*math.Pi > 2 {
			for _, at := range []float64{cl.from, cl.to} {
				sin, cos := math.Sincos(2 * math.Pi * at)
				o := above.Center()
				c.StrokeLine2(draw.LineStyle{Color: paper, Width: 0.7},
					o.X+inner*vg.Length(sin), o.Y+inner*vg.Length(cos), o.X+outer*vg.Length(sin), o.Y+outer*vg.Length(cos))
			}
		}
	}
	pen{size: labelSize, color: soft}.write(c, above.Center().X, above.Center().Y+2, center, "busiest node")
	pen{size: titleSize, color: ink, bold: true}.write(c, above.Center().X, above.Center().Y-titleSize, center, times(h.peak)+"x")

	below := draw.Canvas{Canvas: c.Canvas, Rectangle: c.Rectangle}
	below.Max.Y = c.Min.Y + barsHeight
	width := min((below.Max.X-below.Min.X)/vg.Length(h.nodes), 14)
	start := below.Center().X - width*vg.Length(h.nodes)/2
	shares := h.share()
	for i, s := range shares {
		x := start + width*vg.Length(i)
		y := below.Min.Y + max(vg.Length(s/top)*barsHeight, leastBar)
		declare(below, vg.Point{X: x, Y: below.Min.Y}, vg.Point{X: x + width, Y: y})
		c.FillPolygon(nodeColor(i), []vg.Point{{X: x + 1, Y: below.Min.Y}, {X: x + width - 1, Y: below.Min.Y}, {X: x + width - 1, Y: y}, {X: x + 1, Y: y}})
	}
	if h.weighted {
		return // a fair share is another for each
	}
	fair := below.Min.Y + vg.Length(1/float64(h.nodes)/top)*barsHeight
	declare(below, vg.Point{X: start, Y: fair}, vg.Point{X: start + width*vg.Length(h.nodes), Y: fair})
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, start-3, fair, start+width*vg.Length(h.nodes)+3, fair)
}

// arc returns the outline of a piece of a ring between two angles, in parts of
// the circle clockwise from the top.
func arc(o vg.Point, inner, outer vg.Length, from, to float64) []vg.Point {
	steps := int(math.Ceil((to-from)*120)) + 1
	var points []vg.Point
	at := func(r vg.Length, i int) {
		sin, cos := math.Sincos(2 * math.Pi * (from + (to-from)*float64(i)/float64(steps)))
		points = append(points, vg.Point{X: o.X + r*vg.Length(sin), Y: o.Y + r*vg.Length(cos)})
	}
	for i := 0; i <= steps; i++ {
		at(outer, i)
	}
	for i := steps; i >= 0; i-- {
		at(inner, i)
	}
	return points
}
