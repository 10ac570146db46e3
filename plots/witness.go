package plots

import (
	"image"
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A witness is a canvas that is told of each mark before it is drawn: what it
// takes of the page, and the frame that it belongs in. The canvases that write
// files are none; a figure is counted by one, and tests hold it to its word by
// another.
type witness interface {
	mark(frame, box vg.Rectangle)
}

// declare tells a canvas that is a witness of a mark: a point, a bar, a span, a
// tick, a band, a floor, a cell of a heat map, anything that shows a value of the
// records. What is drawn next at the corners is that mark. The frame is the area
// of c.
func declare(c draw.Canvas, corners ...vg.Point) {
	canvas := c.Canvas
	for {
		inner, wraps := canvas.(draw.Canvas) // what is cropped wraps what it is cropped from
		if !wraps {
			break
		}
		canvas = inner.Canvas
	}
	w, ok := canvas.(witness)
	if !ok || len(corners) == 0 {
		return
	}
	box := vg.Rectangle{Min: corners[0], Max: corners[0]}
	for _, p := range corners[1:] {
		box.Min.X, box.Max.X = min(box.Min.X, p.X), max(box.Max.X, p.X)
		box.Min.Y, box.Max.Y = min(box.Min.Y, p.Y), max(box.Max.Y, p.Y)
	}
	w.mark(c.Rectangle, box)
}

// marks counts the marks of the figure. A figure without one shows nothing.
func (f Figure) marks() int {
	var t tally
	width, height := f.size(true)
	f.drawPage(draw.NewCanvas(&t, width, height), true)
	return t.marks
}

// A tally draws nothing, and counts marks.
type tally struct{ marks int }

func (t *tally) mark(frame, box vg.Rectangle)             { t.marks++ }
func (*tally) SetLineWidth(vg.Length)                     {}
func (*tally) SetLineDash([]vg.Length, vg.Length)         {}
func (*tally) SetColor(color.Color)                       {}
func (*tally) Rotate(float64)                             {}
func (*tally) Translate(vg.Point)                         {}
func (*tally) Scale(float64, float64)                     {}
func (*tally) Push()                                      {}
func (*tally) Pop()                                       {}
func (*tally) Stroke(vg.Path)                             {}
func (*tally) Fill(vg.Path)                               {}
func (*tally) FillString(font.Face, vg.Point, string)     {}
func (*tally) DrawImage(rect vg.Rectangle, _ image.Image) {}
