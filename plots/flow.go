package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Flows is the figure of a change of the membership: how much goes from which node
// to which, and what a cache misses because of that. It is drawn from an answer
// instead of records.
type Flows struct {
	Algorithm      string
	Changes        string // as they were asked for
	Moved, Minimum float64
	Sampled        int // keys behind the flows, 0 when they are exact
	Flows          []Flow

	Rate    float64 // requests a second; 0 when no misses are told
	Seconds []float64
	Misses  []float64 // a second, at each of Seconds
}

// A Flow is the share of the keys that goes from one node to another.
type Flow struct {
	From, To string
	Share    float64
}

// mostEnds is how many nodes have a bar of their own on each side; the others
// share one.
const mostEnds = 14

// others names the bar of the nodes without one.
const others = "others"

// An end is a bar on one side of the flows.
type end struct {
	name     string
	share    float64
	low      vg.Length // of the bar
	from, to vg.Length // of what is not taken by a band yet
}

// ends returns the bars of one side, the largest first.
func (fs Flows) ends(name func(Flow) string) []end {
	var es []end
	for _, f := range fs.Flows {
		i := slices.IndexFunc(es, func(e end) bool { return e.name == name(f) })
		if i < 0 {
			es = append(es, end{name: name(f)})
			i = len(es) - 1
		}
		es[i].share += f.Share
	}
	slices.SortStableFunc(es, func(a, b end) int { return cmp.Compare(b.share, a.share) })
	if len(es) > mostEnds {
		rest := end{name: others}
		for _, e := range es[mostEnds-1:] {
			rest.share += e.share
		}
		es = append(es[:mostEnds-1], rest)
	}
	return es
}

// Sizes of the bars and of what stands beside them.
const (
	barWidth  = vg.Length(12)
	barGap    = vg.Length(5)
	endNames  = vg.Length(120)
	flowsHigh = vg.Length(250)
)

// Figure makes the figure.
func (fs Flows) Figure() Figure {
	f := Figure{Name: "flows", Title: "What moves: " + clean(fs.Changes), height: flowsHigh}
	f.Caption = fmt.Sprintf("%s: %s of the keys move, %s have to. A band is what goes from one node to another.", clean(fs.Algorithm), percent(fs.Moved), percent(fs.Minimum))
	if len(fs.Flows) == 0 {
		f.Caption = clean(fs.Algorithm) + ": nothing moves."
	}
	f.footer = "exact shares of the hash space"
	if fs.Sampled > 0 {
		f.footer = fmt.Sprintf("counted over %s keys", count(float64(fs.Sampled)))
	}
	var misses []*panel
	if p := fs.missPanel(); p != nil {
		misses = []*panel{p}
		f.height += 190
	}
	f.body = func(c draw.Canvas) {
		if misses != nil {
			below := draw.Crop(c, 0, 0, 0, -(flowsHigh - 20))
			drawPanels(below, misses, 1)
			c = draw.Crop(c, 0, 0, c.Max.Y-c.Min.Y-(flowsHigh-30), 0)
		}
		fs.draw(c)
	}
	return f
}

// missPanel is the misses over time, nil when there are none.
func (fs Flows) missPanel() *panel {
	l := line{name: clean(fs.Algorithm), look: lookOf(fs.Algorithm, 0)}
	for i, t := range fs.Seconds {
		m := fs.Misses[i]
		l.points = append(l.points, point{t, m, m, m})
	}
	if fs.Rate == 0 || len(l.points) == 0 {
		return nil
	}
	ch := chart{
		heading: fmt.Sprintf("Misses of a cache at %s requests a second", count(fs.Rate)), unit: "misses a second", xName: "time after the change",
		x: timeScale(abscissas([]line{l})), y: missScale(values([]line{l})), lines: []line{l}, columns: 1,
	}
	return ch.panel()
}

// draw draws the bars and the bands between them, as high as what they stand for.
func (fs Flows) draw(c draw.Canvas) {
	if len(fs.Flows) == 0 {
		return
	}
	from, to := fs.ends(func(f Flow) string { return f.From }), fs.ends(func(f Flow) string { return f.To })
	total := 0.0
	for _, e := range from {
		total += e.share
	}
	room := c.Max.Y - c.Min.Y - barGap*vg.Length(max(len(from), len(to))-1) - headingLine
	scale := room / vg.Length(total)
	layOut := func(es []end) {
		y := c.Max.Y - headingLine
		for i := range es {
			es[i].from = y
			y -= vg.Length(es[i].share) * scale
			es[i].to, es[i].low = es[i].from, y
			y -= barGap
		}
	}
	layOut(from)
	layOut(to)
	left0, right0 := c.Min.X+endNames, c.Max.X-endNames
	hue := map[string]color.RGBA{}
	for i, e := range from {
		hue[e.name] = palette[i%len(palette)]
	}
	find := func(es []end, name string) *end {
		for i := range es {
			if es[i].name == name {
				return &es[i]
			}
		}
		return &es[len(es)-1] // the others
	}
	flows := slices.Clone(fs.Flows)
	at := func(es []end, name string) int {
		for i := range es {
			if es[i].name == name {
				return i
			}
		}
		return len(es) - 1
	}
	slices.SortStableFunc(flows, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(at(from, a.From), at(from, b.From)), cmp.Compare(at(to, a.To), at(to, b.To)))
	})
	for _, f := range flows {
		a, b := find(from, f.From), find(to, f.To)
		high := vg.Length(f.Share) * scale
		band := ribbon(left0+barWidth, a.to, right0-barWidth, b.to, high)
		declare(c, band...)
		c.FillPolygon(faint(hue[a.name]), band)
		a.to -= high
		b.to -= high
	}
	bar := func(x vg.Length, e end, fill color.RGBA) {
		declare(c, vg.Point{X: x, Y: e.low}, vg.Point{X: x + barWidth, Y: e.from})
		c.FillPolygon(fill, []vg.Point{{X: x, Y: e.low}, {X: x + barWidth, Y: e.low}, {X: x + barWidth, Y: e.from}, {X: x, Y: e.from}})
	}
	letters := pen{size: labelSize, color: ink}
	label := func(es []end, write func(y vg.Length, s string)) {
		middles := make([]vg.Length, len(es))
		names := make([]string, len(es))
		room := endNames - 8
		for i, e := range es {
			middles[i] = (e.from + e.low) / 2
			names[i] = cmp.Or(clean(e.name), "nobody")
			room = min(room, endNames-8-letters.width("  "+percent(e.share)))
		}
		names = letters.fitAll(names, room)
		for i, y := range spread(middles, labelSize*1.2, c.Min.Y+4, c.Max.Y-headingLine) {
			write(y-labelSize*0.35, names[i]+"  "+percent(es[i].share))
		}
	}
	for _, e := range from {
		bar(left0, e, hue[e.name])
	}
	for _, e := range to {
		bar(right0-barWidth, e, grey)
	}
	label(from, func(y vg.Length, s string) { letters.write(c, left0-6, y, right, s) })
	label(to, func(y vg.Length, s string) { letters.write(c, right0+6, y, left, s) })
	heading := pen{size: headingSize, color: soft, bold: true}
	heading.write(c, left0+barWidth, c.Max.Y-headingSize, right, "from")
	heading.write(c, right0-barWidth, c.Max.Y-headingSize, left, "to")
}

// ribbon is the outline of a band of the given height between two places, whose
// upper edges are told. It leaves and arrives level.
func ribbon(x0, y0, x1, y1, high vg.Length) []vg.Point {
	const steps = 24
	var points []vg.Point
	edge := func(i int, drop vg.Length) {
		t := vg.Length(i) / steps
		ease := t * t * (3 - 2*t)
		points = append(points, vg.Point{X: x0 + (x1-x0)*t, Y: y0 + (y1-y0)*ease - drop})
	}
	for i := 0; i <= steps; i++ {
		edge(i, 0)
	}
	for i := steps; i >= 0; i-- {
		edge(i, high)
	}
	return points
}
