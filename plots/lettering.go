package plots

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
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

// width returns how wide the text will be, at most where the font lacks letters:
// who shows the text takes them from another font, and they are no wider there than
// an emoji, 1.25 times the size.
func (p pen) width(s string) vg.Length {
	return widthOf(fonts.Cache().Lookup(p.style().Font, p.size), s)
}

func widthOf(face font.Face, s string) vg.Length {
	// A figure asks for the same few texts many times, and letters are as wide as
	// their size.
	key := lettersKey{face.Font.Weight, s}
	width, known := widths.Load(key)
	if !known {
		width = measured(face, s) / face.Font.Size
		if widthsKnown.Add(1)%mostWidths == 0 {
			widths.Clear()
		}
		widths.Store(key, width)
	}
	return width.(vg.Length) * face.Font.Size
}

// hasAll reports whether the font has all letters of the text.
func (p pen) hasAll(s string) bool {
	face := fonts.Cache().Lookup(p.style().Font, p.size)
	return !strings.ContainsFunc(s, func(r rune) bool {
		i, err := face.Face.GlyphIndex(nil, r)
		return err != nil || i == 0
	})
}

// lettersKey is a text in one weight of the one face that figures use.
type lettersKey struct {
	weight stdfont.Weight
	text   string
}

// widths are those of the texts asked for last, in size one.
var (
	widths      sync.Map
	widthsKnown atomic.Int64
)

const mostWidths = 1 << 15

func measured(face font.Face, s string) vg.Length {
	const widest = 1.25
	foreign := 0
	known := strings.Map(func(r rune) rune {
		if i, err := face.Face.GlyphIndex(nil, r); err != nil || i == 0 {
			foreign++
			return -1
		}
		return r
	}, s)
	return face.Width(known) + vg.Length(foreign)*widest*face.Font.Size
}

// A typesetter sets the labels of axes, as wide as [pen] takes them to be.
type typesetter struct{ text.Plain }

// Box implements [text.Handler].
func (t typesetter) Box(s string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = t.Plain.Box(s, f)
	return widthOf(t.Fonts.Lookup(f, f.Size), s), height, depth
}

// Draw implements [text.Handler] for one line that is not turned.
func (t typesetter) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	if s == "" {
		return
	}
	face := t.Fonts.Lookup(style.Font, style.Font.Size)
	c.SetColor(style.Color)
	at.X += vg.Length(style.XAlign) * widthOf(face, s)
	at.Y += style.Height(s)*vg.Length(style.YAlign) - face.Extents().Ascent + style.Font.Size
	c.FillString(face, at, s)
}

// write writes the text with its baseline at y and with the part anchor of its
// width to the left of x.
func (p pen) write(c draw.Canvas, x, y vg.Length, anchor float64, s string) {
	if s == "" {
		return
	}
	style := p.style()
	face := fonts.Fonts.Lookup(style.Font, p.size)
	c.SetColor(p.color)
	c.FillString(face, vg.Point{X: x - vg.Length(anchor)*widthOf(face, s), Y: y}, s)
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

// fitAll is fit for names that stand beside each other: those that differ still do
// when they are cut, by their ends where they begin alike, or by a number.
func (p pen) fitAll(names []string, width vg.Length) []string {
	cut := make([]string, len(names))
	whose := map[string]string{}
	for i, name := range names {
		short := p.fit(name, width)
		for n := 1; whose[short] != name && whose[short] != ""; n++ {
			short = p.ends(name, width)
			if whose[short] != name && whose[short] != "" {
				number := fmt.Sprintf(" (%d)", n+1)
				short = p.fit(name, width-p.width(number)) + number
			}
		}
		cut[i], whose[short] = short, name
	}
	return cut
}

// ends cuts the middle out of a text that is wider than width.
func (p pen) ends(s string, width vg.Length) string {
	runes := []rune(s)
	if len(runes) > 400 {
		runes = slices.Concat(runes[:200], runes[len(runes)-200:])
	}
	head, tail := len(runes)/2, len(runes)/2
	text := func() string { return string(runes[:head]) + "..." + string(runes[len(runes)-tail:]) }
	for ; tail > 0 && p.width(text()) > width; head, tail = head-1, tail-1 {
	}
	return text()
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
