package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A panel is one frame of a figure: axes, what is drawn between them, and a
// line or two of text above.
type panel struct {
	heading string // what sets this panel apart from its neighbours; ""
	unit    string // of the vertical axis, or what the panel shows
	xName   string // of the horizontal axis
	plot    *plot.Plot

	// room returns what names and numbers beside the marks need before and after a
	// frame of a width. A wider frame needs no more. It may be nil.
	room func(frame vg.Length) (before, after vg.Length)
}

// A keyItem explains a marker where no name can stand beside it.
type keyItem struct {
	text string
	draw func(c draw.Canvas, p vg.Point)
}

// Heights of the lines of text above a panel, and the gaps between panels.
const (
	headingLine = vg.Length(14)
	unitLine    = vg.Length(13)

	axisNameLine = vg.Length(13.6)
	keyLine      = vg.Length(20)
	headGap      = vg.Length(5)
	columnGap    = vg.Length(18)
	rowGap       = vg.Length(14)
)

// pointRoom is the room beside a frame for the half of a marker at its edge.
const pointRoom = markerSize*1.4 + 1

// newPlot returns an empty plot in the house style.
func newPlot(x, y scale) *plot.Plot {
	p := plot.New()
	p.TextHandler = fonts
	p.BackgroundColor = nil
	x.apply(&p.X)
	y.apply(&p.Y)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: soft, Width: hairWidth}
		a.Tick.LineStyle = draw.LineStyle{Color: soft, Width: hairWidth}
		a.Tick.Length = 3.5
		align := a.Tick.Label
		a.Tick.Label = lettering(tickSize, soft)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = align.XAlign, align.YAlign
	}
	// The grid carries the eye along; a line and ticks beside it would only
	// repeat it.
	p.Y.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	p.Y.Padding = pointRoom - 2.5 // and a space, which follows the labels
	p.Add(gridLines{x, y}, axisBreak{x, y})
	return p
}

// gridLines draws a hair line at each labelled tick of the vertical axis, and
// of the horizontal one when vertical is a list of names.
type gridLines struct{ x, y scale }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: grid, Width: hairWidth}
	for _, t := range g.y.ticks {
		if !t.IsMinor() {
			y := c.Y(p.Y.Norm(t.Value))
			c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
		}
	}
	for _, t := range g.x.ticks {
		if !t.IsMinor() {
			x := c.X(p.X.Norm(t.Value))
			c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		}
	}
}

// drawHead writes the texts above the panel; c is where its data stand. The
// headings of all panels of a figure are level, whether or not a unit follows.
func (p *panel) drawHead(c draw.Canvas, units, headingRoom, unitRoom vg.Length) {
	y := c.Max.Y + headGap + 2
	unit, heading := pen{size: labelSize, color: soft}, pen{size: headingSize, color: ink, bold: true}
	unit.write(c, c.Min.X, y, left, unit.fit(p.unit, unitRoom))
	heading.write(c, c.Min.X, y+units, left, heading.fit(p.heading, headingRoom))
}

// drawKey explains the markers at the top, and returns the room below.
func drawKey(c draw.Canvas, key []keyItem) draw.Canvas {
	if len(key) == 0 {
		return c
	}
	text := pen{size: labelSize, color: soft}
	lines := keyLines(key)
	quiet := c
	quiet.Canvas = mute{c.Canvas} // an explanation shows no value
	y := c.Max.Y - labelSize - 2
	for i, line := range lines {
		x := c.Min.X
		for _, k := range line {
			k.draw(quiet, vg.Point{X: x + 4, Y: y + labelSize*0.35})
			text.write(c, x+12, y, left, text.fit(k.text, pageWidth-2*pageMargin-12))
			x += 12 + text.width(k.text) + keyGap
		}
		if i < len(lines)-1 {
			y -= nextKeyLine
		}
	}
	c.Max.Y = y + labelSize + 2 - keyLine
	return c
}

// A mute is a canvas that is no [witness].
type mute struct{ vg.Canvas }

// keyLines breaks an explanation into lines of the width of the page.
func keyLines(key []keyItem) (lines [][]keyItem) {
	x := vg.Length(0)
	for _, k := range key {
		width := 12 + pen{size: labelSize}.width(k.text)
		if len(lines) == 0 || x+width > pageWidth-2*pageMargin {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], k)
		x += width + keyGap
	}
	return lines
}

const (
	keyGap      = vg.Length(18)
	nextKeyLine = vg.Length(14)
)

// drawPanels lays the panels out in rows of the given number of columns, with
// their data areas aligned, and draws them.
func drawPanels(c draw.Canvas, panels []*panel, columns int) {
	columns = min(columns, len(panels))
	grid := make([][]*plot.Plot, (len(panels)+columns-1)/columns)
	var headings, units, axisNames vg.Length
	for i, p := range panels {
		own := *p.plot // what is fitted to the page is a copy, for figures are drawn at once
		grid[i/columns] = append(grid[i/columns], &own)
		if p.heading != "" {
			headings = headingLine
		}
		if p.unit != "" {
			units = unitLine
		}
		if p.xName != "" {
			axisNames = axisNameLine
		}
	}
	axisName := pen{size: labelSize, color: soft}
	for r, row := range fitPanels(c, panels, grid, headGap+headings+units, axisNames) {
		for i, t := range row {
			t.plot.Draw(t.canvas)
			name := axisName.fit(panels[r*columns+i].xName, t.frame.Size().X+columnGap)
			half := axisName.width(name) / 2
			x := min(max(t.frame.Center().X, c.Min.X+half), c.Max.X-half)
			axisName.write(c, x, t.canvas.Min.Y-axisNameLine+labelSize*0.23, center, name)
			// A text over a panel may reach to that over the next one.
			room := func(text func(*panel) string) vg.Length {
				for next := i + 1; next < len(row); next++ {
					if text(panels[r*columns+next]) != "" {
						return row[next].frame.Min.X - t.frame.Min.X - columnGap/3
					}
				}
				return c.Max.X - t.frame.Min.X
			}
			panels[r*columns+i].drawHead(t.frame, units,
				room(func(p *panel) string { return p.heading }), room(func(p *panel) string { return p.unit }))
		}
	}
}

// fitPanels places the plots of the panels on the page, between heads and names of
// the axis of these heights. How
// wide the frames are tells which labels have room, and how much of the names beside
// the marks stands within them; what follows from it makes them wider or leaves them
// as they are.
func fitPanels(c draw.Canvas, panels []*panel, grid [][]*plot.Plot, head, axisNames vg.Length) (tiles [][]tile) {
	columns := len(grid[0])
	width := vg.Length(0)
	for range 2 {
		margin := pointRoom
		g := gaps{top: head, between: axisNames + rowGap + head, bottom: axisNames}
		var first, last vg.Length // labels of an axis, which stick out of their frame
		for i, p := range panels {
			own := grid[i/columns][i%columns]
			if p.room != nil {
				before, after := p.room(width)
				own.Y.Padding, margin = p.plot.Y.Padding+max(0, before), max(margin, after)
			}
			a, b := endLabels(&own.X)
			first, last = max(first, a), max(last, b)
			g.left = max(g.left, a-leftOf(own))
		}
		g.right, g.columns = max(margin, last), max(margin+columnGap, first+last+4)
		tiles = layOut(grid, g, c)
		width = tiles[0][0].frame.Size().X
		for _, row := range tiles {
			for _, t := range row {
				thinLabels(t.plot, t.frame)
			}
		}
	}
	return tiles
}

// gaps is the room around the frames of a figure.
type gaps struct {
	top, between, bottom, left, right, columns vg.Length
}

// A tile is where a plot goes: its frame, and the canvas with its axes around it.
type tile struct {
	plot   *plot.Plot
	canvas draw.Canvas
	frame  draw.Canvas
}

// leastFrame is how wide and high a frame is at least, whatever the room.
const leastFrame = vg.Length(20)

// layOut gives all plots frames of one size that are level with each other. (As
// plot.Align does, but that measures what the axes take in equal parts of the page,
// and places nothing when one is narrower than the names beside it.)
func layOut(grid [][]*plot.Plot, g gaps, c draw.Canvas) [][]tile {
	type room struct{ left, right, low, high vg.Length }
	rows, columns := len(grid), len(grid[0])
	around := make([][]room, rows)
	tiles := make([][]tile, rows)
	lefts, lows := make([]vg.Length, columns), make([]vg.Length, rows)
	var rights, highs vg.Length
	for r, row := range grid {
		for col, p := range row {
			frame := p.DataCanvas(c)
			a := room{frame.Min.X - c.Min.X, c.Max.X - frame.Max.X, frame.Min.Y - c.Min.Y, c.Max.Y - frame.Max.Y}
			around[r] = append(around[r], a)
			lefts[col], lows[r] = max(lefts[col], a.left), max(lows[r], a.low)
			rights, highs = max(rights, a.right), max(highs, a.high)
		}
	}
	// The gaps have room for what sticks out on the right and above.
	size := c.Size()
	width, height := size.X-g.left-max(g.right, rights)-g.columns*vg.Length(columns-1), size.Y-g.top-highs-g.bottom-g.between*vg.Length(rows-1)
	for _, l := range lefts {
		width -= l
	}
	for _, l := range lows {
		height -= l
	}
	width, height = max(width/vg.Length(columns), leastFrame), max(height/vg.Length(rows), leastFrame)
	y := c.Max.Y - g.top
	for r, row := range grid {
		x := c.Min.X + g.left
		for col, p := range row {
			x += lefts[col]
			a := around[r][col]
			frame := vg.Rectangle{Min: vg.Point{X: x, Y: y - height}, Max: vg.Point{X: x + width, Y: y}}
			tiles[r] = append(tiles[r], tile{p,
				draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: frame.Min.Sub(vg.Point{X: a.left, Y: a.low}), Max: frame.Max.Add(vg.Point{X: a.right, Y: a.high}),
				}},
				draw.Canvas{Canvas: c.Canvas, Rectangle: frame},
			})
			x += width + g.columns
		}
		y -= height + lows[r] + g.between
	}
	return tiles
}

// endLabels returns how far the first and the last label of a horizontal axis reach
// beyond it.
func endLabels(a *plot.Axis) (first, last vg.Length) {
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		half := pen{size: tickSize}.width(t.Label) / 2
		if t.IsMinor() {
			continue
		}
		if at := a.Norm(t.Value); at < 0.5 {
			first = max(first, half*vg.Length(1-2*at))
		} else {
			last = max(last, half*vg.Length(2*at-1))
		}
	}
	return first, last
}

// leftOf is the room that the vertical axis of a plot takes.
func leftOf(p *plot.Plot) vg.Length {
	width := p.Y.Padding
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() {
			width = max(width, p.Y.Padding+p.Y.Tick.Label.Width(t.Label))
		}
	}
	return width
}

// thinLabels leaves out labels of the axes where they would run into each other:
// all but every second, every third, and so on. That of the lane of zero stays.
func thinLabels(p *plot.Plot, c draw.Canvas) {
	thin := func(a *plot.Axis, length vg.Length, reach func(label string) vg.Length) {
		s, ok := a.Scale.(scale)
		ticks := slices.Clone(a.Tick.Marker.Ticks(a.Min, a.Max))
		if !ok || s.names {
			return
		}
		var labelled []int
		for i, t := range ticks {
			if !t.IsMinor() {
				labelled = append(labelled, i)
			}
		}
		clear := func(kept []int) bool {
			for k := 1; k < len(kept); k++ {
				before, after := ticks[kept[k-1]], ticks[kept[k]]
				if vg.Length(s.at(after.Value)-s.at(before.Value))*length < reach(before.Label)+reach(after.Label) {
					return false
				}
			}
			return true
		}
		kept := labelled
		for stride := 1; stride <= len(labelled) && !clear(kept); stride++ {
			for offset := range stride {
				if kept = nil; s.lane {
					kept = append(kept, labelled[0])
				}
				for k := len(kept) + offset; k < len(labelled); k += stride {
					kept = append(kept, labelled[k])
				}
				if clear(kept) {
					break
				}
			}
		}
		for i := range ticks {
			if !slices.Contains(kept, i) {
				ticks[i].Label = ""
			}
		}
		a.Tick.Marker = plot.ConstantTicks(ticks)
	}
	letters := pen{size: tickSize}
	thin(&p.X, c.Max.X-c.Min.X, func(label string) vg.Length { return letters.width(label)/2 + 2 })
	thin(&p.Y, c.Max.Y-c.Min.Y, func(string) vg.Length { return tickSize / 2 })
}

// drawPage draws a whole figure: title and caption above, body, notes and
// footer below. Bare leaves out the paper, the title and the caption, for a
// place that has its own.
func (f Figure) drawPage(c draw.Canvas, bare bool) {
	if !bare {
		c.SetColor(paper)
		c.Fill(c.Rectangle.Path())
	}
	margin := marginOf(bare)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	width := c.Max.X - c.Min.X
	if !bare {
		title := pen{size: titleSize, color: ink, bold: true}
		y := c.Max.Y - titleSize*0.8
		title.write(c, c.Min.X, y, left, title.fit(f.Title, width))
		caption := pen{size: captionSize, color: soft}
		for _, line := range f.captionLines(width) {
			y -= captionLine
			caption.write(c, c.Min.X, y-2, left, line)
		}
		c.Max.Y = y - 12
	}
	footer := pen{size: footerSize, color: soft}
	lines := f.footerLines(width)
	for i, line := range lines {
		footer.write(c, c.Min.X, c.Min.Y+footerLine*vg.Length(len(lines)-1-i), left, line)
	}
	c.Min.Y += footerLine*vg.Length(len(lines)) + 5
	f.body(drawKey(c, f.key))
}

const (
	captionLine = vg.Length(13.5)
	footerLine  = vg.Length(10)
)

// captionLines and footerLines break these texts into lines of the width.
func (f Figure) captionLines(width vg.Length) []string {
	return pen{size: captionSize, color: soft}.wrap(f.Caption, width)
}

func (f Figure) footerLines(width vg.Length) []string {
	return pen{size: footerSize, color: soft}.wrap(f.footer, width)
}

// size returns the size of the page. It grows with the lines of caption and
// footer, so that the body keeps its height.
func (f Figure) size(bare bool) (w, h vg.Length) {
	w = pageWidth - 2*pageMargin
	h = f.height + nextKeyLine*vg.Length(max(0, len(keyLines(f.key))-1)) + footerLine*vg.Length(len(f.footerLines(w))-1)
	if !bare {
		h += titleSize + 12 + captionLine*vg.Length(len(f.captionLines(w)))
	}
	margin := marginOf(bare)
	return w + 2*margin, h + 2*margin
}

// marginOf is the empty space around a page; a bare one keeps only what strokes
// at its edge need.
func marginOf(bare bool) vg.Length {
	if bare {
		return 2
	}
	return pageMargin
}
