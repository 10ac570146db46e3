package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A panel is one frame of a figure: axes, what is drawn between them, and a
// line or two of text above.
type panel struct {
	heading string // what sets this panel apart from its neighbours; ""
	unit    string // of the vertical axis, or what the panel shows
	plot    *plot.Plot
	margin  vg.Length // room that names at the ends of lines need on the right
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
	keyLine     = vg.Length(20)
	headGap     = vg.Length(5)
	columnGap   = vg.Length(18)
	rowGap      = vg.Length(14)
)

// newPlot returns an empty plot in the house style.
func newPlot(x, y scale, xName string) *plot.Plot {
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
		a.Label.TextStyle = lettering(labelSize, soft)
		a.Label.TextStyle.XAlign = draw.XCenter
		a.Label.Padding = 3
	}
	// The grid carries the eye along; a line and ticks beside it would only
	// repeat it.
	p.Y.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	p.X.Label.Text = xName
	p.Add(gridLines{x, y})
	return p
}

// gridLines draws a hair line at each labelled tick of the vertical axis, and
// of the horizontal one when vertical is a list of names.
type gridLines struct{ x, y scale }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: grid, Width: hairWidth}
	for _, t := range g.y.ticks {
		if !t.IsMinor() && g.y.contains(t.Value) {
			y := c.Y(p.Y.Norm(t.Value))
			c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
		}
	}
	for _, t := range g.x.ticks {
		if !t.IsMinor() && g.x.contains(t.Value) {
			x := c.X(p.X.Norm(t.Value))
			c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		}
	}
}

// drawHead writes the texts above the panel; c is where its data stand. The
// headings of all panels of a figure are level, whether or not a unit follows.
func (p *panel) drawHead(c draw.Canvas, units vg.Length) {
	y := c.Max.Y + headGap + 2
	pen{size: labelSize, color: soft}.write(c, c.Min.X, y, left, p.unit)
	pen{size: headingSize, color: ink, bold: true}.write(c, c.Min.X, y+units, left, p.heading)
}

// drawKey explains the markers in a line at the top, and returns the room below.
func drawKey(c draw.Canvas, key []keyItem) draw.Canvas {
	if len(key) == 0 {
		return c
	}
	text := pen{size: labelSize, color: soft}
	x, y := c.Min.X, c.Max.Y-labelSize-2
	for _, k := range key {
		k.draw(c, vg.Point{X: x + 4, Y: y + labelSize*0.35})
		text.write(c, x+12, y, left, k.text)
		x += 12 + text.width(k.text) + 18
	}
	c.Max.Y -= keyLine
	return c
}

// drawPanels lays the panels out in rows of the given number of columns, with
// their data areas aligned, and draws them.
func drawPanels(c draw.Canvas, panels []*panel, columns int) {
	columns = min(columns, len(panels))
	rows := (len(panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	var headings, units, margin vg.Length
	for i := range rows * columns {
		if i >= len(panels) {
			grid[i/columns] = append(grid[i/columns], nil)
			continue
		}
		grid[i/columns] = append(grid[i/columns], panels[i].plot)
		if panels[i].heading != "" {
			headings = headingLine
		}
		if panels[i].unit != "" {
			units = unitLine
		}
		margin = max(margin, panels[i].margin)
	}
	head := headGap + headings + units
	tiles := draw.Tiles{
		Cols: columns, Rows: rows,
		PadTop: head, PadY: head + rowGap,
		PadRight: margin, PadX: margin + columnGap,
	}
	for r, row := range plot.Align(grid, tiles, c) {
		for col, canvas := range row {
			if grid[r][col] == nil {
				continue
			}
			grid[r][col].Draw(canvas)
			panels[r*columns+col].drawHead(grid[r][col].DataCanvas(canvas), units)
		}
	}
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
	f.body(c)
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
	h = f.height + footerLine*vg.Length(len(f.footerLines(w))-1)
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
