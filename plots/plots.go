// Package plots turns the records of a run into pictures and a page: figures as
// SVG, PNG or PDF, and a report in one HTML file. It measures nothing and knows
// no algorithm; all it draws is in the records, so that a figure can be made
// again, and the same records always give the same bytes.
//
// It is the last stage of the flow: spec, trials, records, summary, picture.
// Numbers come from [results.Summarize]; style.go decides how they look.
package plots

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ringbench/ringbench/results"
)

// A Figure is one picture of a run. Drawing it is safe for concurrent use.
type Figure struct {
	Name    string // stem of its file: "lookup"
	Title   string // in plain words
	Caption string // what it shows, with what the data say

	footer string
	key    []keyItem // above the body, explained there
	height vg.Length // of a line of the key, body and footer
	body   func(c draw.Canvas)
}

// All makes the figures for which the set holds data, in the order in which a
// report shows them: exact figures first. A set without trials gives none, and no
// figure is without a mark.
func All(set *results.Set) []Figure { return arrange(set).figures() }

func (r *run) figures() []Figure {
	var figures []Figure
	for _, make := range []func() (Figure, bool){
		r.vnodesSpread,
		r.vnodesPeak,
		r.circles,
		r.balance,
		r.collisions,
		r.pointHashes,
		r.keyHashes,
		r.weights,
		r.movement,
		r.churn,
		r.who,
		r.heirs,
		r.needless,
		r.missRate,
		r.views,
		r.replicas,
		r.quorums,
		r.hotKeys,
		r.skewness,
		r.remedies,
		r.bounded,
		r.epsilons,
		r.lookup,
		r.keyLookup,
		r.latency,
		r.abreast,
		r.removals,
		r.tradeOff,
		r.memory,
		r.allocations,
		r.build,
		r.membership,
	} {
		if f, ok := make(); ok {
			figures = append(figures, f)
		}
	}
	return shown(figures)
}

// shown returns the figures that show something.
func shown(figures []Figure) []Figure {
	return slices.DeleteFunc(figures, func(f Figure) bool { return f.marks() == 0 })
}

// Formats lists what a figure can be drawn as.
var Formats = []string{"svg", "png", "pdf"}

// CheckFormat refuses a format that no figure can be drawn as.
func CheckFormat(format string) error {
	if !slices.Contains(Formats, format) {
		return fmt.Errorf("unknown format %q of a figure, take %s", format, strings.Join(Formats, ", "))
	}
	return nil
}

// Draw writes the figure in a format of [Formats].
func (f Figure) Draw(w io.Writer, format string) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	width, height := f.size(false)
	switch format {
	case "svg":
		_, err := w.Write(f.svg(false))
		return err
	case "pdf":
		return f.pdf(w)
	}
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	f.drawPage(draw.New(c), false)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// svg returns the figure as an svg element, in a file of its own or, bare, to
// stand in a page that writes title and caption itself.
func (f Figure) svg(bare bool) []byte {
	width, height := f.size(bare)
	c := vgsvg.New(width, height)
	f.drawPage(draw.New(c), bare)
	var b bytes.Buffer
	c.WriteTo(&b) // a bytes.Buffer does not fail

	_, drawing, _ := bytes.Cut(b.Bytes(), []byte("<svg"))
	_, drawing, _ = bytes.Cut(drawing, []byte(">"))
	drawing = bytes.ReplaceAll(drawing, []byte(fontByGonum), []byte(fontInSVG))
	drawing = bytes.ReplaceAll(drawing, []byte("font-variant:normal;"), nil)
	drawing = bytes.ReplaceAll(drawing, []byte("font-weight:normal;"), nil)
	drawing = bytes.ReplaceAll(drawing, []byte("font-style:normal;"), nil)
	drawing = textElement.ReplaceAllFunc(drawing, asWideAsPlanned)

	var out bytes.Buffer
	size := fmt.Sprintf(` width="%.5gpt" height="%.5gpt"`, width, height)
	if bare {
		size = ""
	} else {
		out.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	}
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %.5g %.5g" role="img" aria-label="%s">`,
		size, width, height, html.EscapeString(f.Title+". "+f.Caption))
	out.Write(drawing)
	return out.Bytes()
}

// The family that the drawing library writes, and what takes its place: Arial
// has letters of the same widths, and is there where Liberation Sans is not.
const (
	fontByGonum = "font-family:Liberation Sans;"
	fontInSVG   = "font-family:'Liberation Sans',Arial,sans-serif;"
)

var textElement = regexp.MustCompile(`<text ([^>]*?)style="([^"]*font-size:([0-9.]+)px[^"]*)">([^<]*)</text>`)

// asWideAsPlanned tells a viewer how wide a text of an SVG is, for one that has
// neither of its fonts takes another, which may be wider than the room. A text of
// letters that the font lacks is left alone.
func asWideAsPlanned(element []byte) []byte {
	parts := textElement.FindSubmatch(element)
	size, err := strconv.ParseFloat(string(parts[3]), 64)
	s := html.UnescapeString(string(parts[4]))
	p := pen{size: vg.Length(size), bold: bytes.Contains(parts[2], []byte("font-weight:bold"))}
	if err != nil || s == "" || !p.hasAll(s) {
		return element
	}
	return fmt.Appendf(nil, `<text %stextLength="%.5g" lengthAdjust="spacingAndGlyphs" style="%s">%s</text>`, parts[1], p.width(s).Points(), parts[2], parts[4])
}

// pdf writes the figure as a PDF file.
func (f Figure) pdf(w io.Writer) error {
	width, height := f.size(false)
	c := vgpdf.New(width, height)
	page := draw.New(c)
	page.Canvas = pdfCanvas{c}
	f.drawPage(page, false)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	undated := pdfDate.ReplaceAllFunc(b.Bytes(), func(date []byte) []byte { return bytes.Repeat([]byte(" "), len(date)) })
	_, err := w.Write(undated)
	return err
}

// pdfDate finds the time of drawing in a PDF file. It is blanked out, for the
// same records give the same bytes, and the offsets in the file have to stay.
var pdfDate = regexp.MustCompile(`/(Creation|Mod)Date \(D:[0-9]+\)`)

// A pdfCanvas gives the PDF canvas of the drawing library what it takes texts
// and colours to be.
type pdfCanvas struct{ vg.Canvas }

// FillString hands a text on in code page 1252; what that lacks becomes a
// question mark. Bold letters come out regular, for the canvas can embed one
// face a document.
func (c pdfCanvas) FillString(f font.Face, p vg.Point, s string) {
	var b []byte
	for _, r := range s {
		letter, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			letter = '?'
		}
		b = append(b, letter)
	}
	f = fonts.Fonts.Lookup(lettering(f.Font.Size, nil).Font, f.Font.Size)
	c.Canvas.FillString(f, p, string(b))
}

// SetColor hands a colour on that is not multiplied by its opacity.
func (c pdfCanvas) SetColor(clr color.Color) {
	if t, ok := clr.(translucent); ok {
		clr = straight(t)
	}
	c.Canvas.SetColor(clr)
}

// straight is a colour with an opacity that its other parts do not know of.
type straight color.NRGBA

func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.R) * 0x101, uint32(s.G) * 0x101, uint32(s.B) * 0x101, uint32(s.A) * 0x101
}

// WriteAll draws all figures of the set into the folder, which it makes when it
// is not there, in each of the formats. It returns the paths of the files.
func WriteAll(dir string, set *results.Set, formats []string) ([]string, error) {
	return writeFigures(dir, All(set), formats)
}

func writeFigures(dir string, figures []Figure, formats []string) ([]string, error) {
	for _, format := range formats {
		if err := CheckFormat(format); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the figures: %w", err)
	}
	var paths []string
	for _, f := range figures {
		for _, format := range formats {
			path := filepath.Join(dir, f.Name+"."+format)
			err := results.WriteFile(path, func(w io.Writer) error { return f.Draw(w, format) })
			if err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}
