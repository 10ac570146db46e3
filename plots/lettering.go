package plots

import (
	"image/color"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	stdfont "golang.org/x/image/font"
)

// The horizontal anchors of a text.
const (
	left   = 0.0
	center = 0.5
	right  = 1.0
)

// A pen writes lines of text in one size, colour and weight.
type pen struct {
	size  vg.Length
	color color.Color
	bold  bool
}

func (p pen) style() draw.TextStyle {
	s := lettering(p.size, p.color)
	if p.bold {
		s.Font.Weight = stdfont.WeightBold
	}
	return s
}

// width returns how wide the text will be.
func (p pen) width(s string) vg.Length { return p.style().Width(s) }

// write writes the text with its baseline at y and with the part anchor of its
// width to the left of x.
func (p pen) write(c draw.Canvas, x, y vg.Length, anchor float64, s string) {
	if s == "" {
		return
	}
	style := p.style()
	face := fonts.Fonts.Lookup(style.Font, p.size)
	c.SetColor(p.color)
	c.FillString(face, vg.Point{X: x - vg.Length(anchor)*face.Width(s), Y: y}, s)
}

// wrap breaks the text at spaces into lines no wider than width. A word that is
// wider by itself is cut short.
func (p pen) wrap(s string, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch longer := line + " " + word; {
		case line == "":
			line = p.fit(word, width)
		case p.width(longer) <= width:
			line = longer
		default:
			lines = append(lines, line)
			line = p.fit(word, width)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fit cuts the text to the width, with three dots where something is missing.
func (p pen) fit(s string, width vg.Length) string {
	if utf8.RuneCountInString(s) < 200 && p.width(s) <= width {
		return s
	}
	runes := []rune(s)
	if len(runes) > 200 {
		runes = runes[:200]
	}
	n := len(runes)
	for ; n > 0 && p.width(string(runes[:n])+"...") > width; n-- {
	}
	return string(runes[:n]) + "..."
}

// clean makes a text from a record fit to be drawn: one line, without the
// control characters that XML forbids and the marks that turn the direction of
// writing around.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// spread moves positions apart until neighbours are at least gap from each
// other, each as near to its place as the others allow, and all within lo and
// hi when there is room. It keeps their order, and takes O(n log n).
func spread(at []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	// Each block is a run of texts that touch; it sits where the sum of its
	// texts' squared displacements is least, and takes in the block below it
	// when it would overlap it.
	type block struct {
		first, n int
		low      vg.Length // place of its lowest text
	}
	var blocks []block
	bottom := func(first, n int) vg.Length {
		var sum vg.Length
		for k := range n {
			sum += at[order[first+k]] - vg.Length(k)*gap
		}
		low := sum / vg.Length(n)
		return max(min(low, hi-vg.Length(n-1)*gap), lo)
	}
	for i := range order {
		b := block{i, 1, bottom(i, 1)}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.low+vg.Length(last.n)*gap <= b.low+1e-9 {
				break
			}
			blocks = blocks[:len(blocks)-1]
			b.first, b.n = last.first, last.n+b.n
			b.low = bottom(b.first, b.n)
		}
		blocks = append(blocks, b)
	}
	placed := make([]vg.Length, len(at))
	for _, b := range blocks {
		for k := range b.n {
			placed[order[b.first+k]] = b.low + vg.Length(k)*gap
		}
	}
	return placed
}
