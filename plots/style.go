package plots

import (
	"hash/fnv"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file alone decides how things look: sizes, type, colours, dashes and
// markers. An algorithm has one colour, dash and marker in every figure of
// every run, so that a reader learns it once.

// Sizes of a page and of what stands on it.
const (
	pageWidth   = 7.2 * vg.Inch
	pageHeight  = 4.6 * vg.Inch
	pageMargin  = vg.Length(14)
	pngDPI      = 160
	lineWidth   = vg.Length(1.6)
	hairWidth   = vg.Length(0.6)
	markerSize  = vg.Length(2.9) // radius
	labelGap    = vg.Length(11)  // from the end of a line to its name
	titleSize   = vg.Length(14)
	captionSize = vg.Length(10)
	headingSize = vg.Length(10)
	labelSize   = vg.Length(9.5)
	tickSize    = vg.Length(9)
	footerSize  = vg.Length(7.5)
)

// The neutral colours. On screen the report swaps them for dark ones.
var (
	ink   = rgb(0x1d2129) // titles and names
	soft  = rgb(0x5b6472) // captions, units, ticks
	floor = rgb(0x7d8694) // floors and theory: what no algorithm can beat
	grid  = rgb(0xe3e6ea)
	paper = rgb(0xffffff)
)

// The palette is that of Okabe and Ito, which people of any colour vision can
// tell apart, without its yellow, which is invisible on white, and with a wine
// red and an olive from Paul Tol's.
var (
	blue   = rgb(0x0072b2)
	sky    = rgb(0x56b4e9)
	green  = rgb(0x009e73)
	orange = rgb(0xe69f00)
	red    = rgb(0xd55e00)
	pink   = rgb(0xcc79a7)
	wine   = rgb(0x882255)
	olive  = rgb(0x8a8a1e)
	grey   = rgb(0x6e6e6e)

	palette = []color.RGBA{blue, sky, green, orange, red, pink, wine, olive, grey}
)

// The dashes, in points of stroke and gap.
var (
	solid   []vg.Length
	dashed  = []vg.Length{6, 2.5}
	dotted  = []vg.Length{1.5, 2}
	dashDot = []vg.Length{7, 2, 1.5, 2}

	dashes = [][]vg.Length{solid, dashed, dashDot, dotted}
)

// A look is how one contestant is drawn.
type look struct {
	color  color.RGBA
	dash   []vg.Length
	marker marker
	hollow bool // an outlined marker, for a variant of the same algorithm
}

// looks fixes the look of the algorithms that come with ringbench.
var looks = map[string]look{
	"ring":                {color: blue, dash: solid, marker: circle},
	"ring-binary-search":  {color: sky, dash: dashed, marker: circle},
	"ring-array":          {color: sky, dash: dotted, marker: square},
	"bounded-ring":        {color: red, dash: solid, marker: square},
	"bounded-random-jump": {color: orange, dash: dashed, marker: wedge},
	"jump":                {color: green, dash: solid, marker: triangle},
	"jump-reference":      {color: olive, dash: dashed, marker: triangle},
	"rendezvous":          {color: pink, dash: solid, marker: diamond},
	"weighted-rendezvous": {color: wine, dash: dashDot, marker: diamond},
	"power":               {color: olive, dash: dotted, marker: wedge},
	"jumpback":            {color: sky, dash: solid, marker: wedge},
	"flip":                {color: pink, dash: dotted, marker: square},
	"binomial":            {color: grey, dash: dashDot, marker: diamond},
	"multiprobe":          {color: blue, dash: dashed, marker: square},
	"lrh":                 {color: sky, dash: dashDot, marker: diamond},
	"anchor":              {color: orange, dash: solid, marker: circle},
	"dx":                  {color: red, dash: dashed, marker: diamond},
	"memento":             {color: wine, dash: solid, marker: square},
	"skeleton-rendezvous": {color: pink, dash: dashed, marker: diamond},
	"maglev":              {color: olive, dash: solid, marker: diamond},
	"modulo":              {color: grey, dash: dashed, marker: wedge},
	"control":             {color: floor, dash: dotted, marker: circle},
	"one-read":            {color: floor, dash: dashed, marker: circle},
}

// lookOf returns the look of an algorithm. An unknown name gets one that
// depends on the name alone. Variants count from 0 among the contestants of
// the same algorithm: the first has the algorithm's own look, the next ones
// another dash and hollow markers.
func lookOf(algorithm string, variant int) look {
	l, known := looks[algorithm]
	if !known {
		h := fnv.New32a()
		h.Write([]byte(algorithm))
		n := int(h.Sum32() & math.MaxInt32)
		l.color = palette[n%len(palette)]
		n /= len(palette)
		l.dash = dashes[n%len(dashes)]
		n /= len(dashes)
		l.marker = marker(n % markers)
	}
	if variant > 0 {
		own := slices.IndexFunc(dashes, func(d []vg.Length) bool { return slices.Equal(d, l.dash) })
		l.dash = dashes[(own+1+(variant-1)%(len(dashes)-1))%len(dashes)]
		l.hollow = true
	}
	return l
}

// A marker is the shape of a data point.
type marker int

const (
	circle marker = iota
	square
	triangle
	diamond
	wedge
	markers = iota
)

// outline returns the shape's outline around p; r is the radius of the circle,
// the other shapes cover about the same area.
func (m marker) outline(p vg.Point, r vg.Length) vg.Path {
	corners := func(scale float64, degrees ...float64) vg.Path {
		var path vg.Path
		for i, d := range degrees {
			sin, cos := math.Sincos(d * math.Pi / 180)
			q := vg.Point{X: p.X + r*vg.Length(scale*cos), Y: p.Y + r*vg.Length(scale*sin)}
			if i == 0 {
				path.Move(q)
			} else {
				path.Line(q)
			}
		}
		path.Close()
		return path
	}
	switch m {
	case square:
		return corners(1.25, 45, 135, 225, 315)
	case triangle:
		return corners(1.4, 90, 210, 330)
	case diamond:
		return corners(1.3, 0, 90, 180, 270)
	case wedge:
		return corners(1.4, 30, 150, 270)
	}
	var path vg.Path
	path.Move(vg.Point{X: p.X + r, Y: p.Y})
	path.Arc(p, r, 0, 2*math.Pi)
	path.Close()
	return path
}

// draw draws the marker of a look at p: filled on a thin rim of paper that sets
// it off from the lines, or hollow.
func (l look) draw(c draw.Canvas, p vg.Point, r vg.Length) {
	path := l.marker.outline(p, r)
	fill, rim, width := l.color, paper, vg.Length(0.8)
	if l.hollow {
		fill, rim, width = paper, l.color, 1.3
	}
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: rim, Width: width})
	c.Stroke(path)
}

// line is the style of the look's line.
func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: lineWidth, Dashes: l.dash}
}

// textColor is the look's colour, darkened where small letters in it would be
// hard to read on paper.
func (l look) textColor() color.RGBA { return readable(l.color) }

// readable darkens a colour until it stands out from paper at 4.5 to 1, the
// least contrast that the accessibility guidelines of the web ask of text.
func readable(c color.RGBA) color.RGBA {
	for contrast(c, paper) < 4.5 {
		c.R, c.G, c.B = darker(c.R), darker(c.G), darker(c.B)
	}
	return c
}

// night is what the report puts in the place of paper on a dark screen.
var night = rgb(0x14171c)

// onNight returns the colour that stands for c on a dark screen.
func onNight(c color.RGBA) color.RGBA {
	switch c {
	case ink:
		return rgb(0xe8ebf0)
	case soft:
		return rgb(0xaab2bf)
	case floor:
		return rgb(0x8f98a6)
	case grid:
		return rgb(0x2d333c)
	case paper:
		return night
	case pink: // which lightened alone would meet wine
		return rgb(0xf0b4d6)
	case wine:
		return rgb(0xcc5a94)
	case darkText:
		return paleText
	case paleText:
		return darkText
	}
	for contrast(c, night) < 5 {
		c.R, c.G, c.B = lighter(c.R), lighter(c.G), lighter(c.B)
	}
	return c
}

func lighter(v uint8) uint8 { return v + uint8(float64(0xff-v)*0.06) + 1 }

// A ramp is the colours of an amount. The more there is, the more its colour stands
// out from the page, on paper as at night.
type ramp struct {
	little, much           color.RGBA // on paper
	littleAtNight, atNight color.RGBA
	steps                  int
}

// rampOf fades a colour into the page.
func rampOf(full color.RGBA, steps int) ramp {
	const least = 0.3 // which stands out more than the grid
	return ramp{mix(paper, full, least), full, mix(night, onNight(full), least), onNight(full), steps}
}

// The ramps of the figures: of what a node that leaves gives, of what moves between
// nodes that stay, and of what is worse than theory allows.
var (
	given    = rampOf(blue, 16)
	shuffled = rampOf(red, 16)
	uneven   = ramp{rgb(0xf6c9b0), rgb(0xa51f12), mix(night, rgb(0xff8a66), 0.28), rgb(0xff8a66), 8}
)

// at returns the colour of an amount, from 0 to 1, on paper.
func (r ramp) at(part float64) color.RGBA { return mix(r.little, r.much, r.step(part)) }

// step rounds an amount to a step of the ramp.
func (r ramp) step(part float64) float64 {
	return math.Round(min(1, max(0, part))*float64(r.steps)) / float64(r.steps)
}

// mix returns the colour between two: the first at 0, the second at 1.
func mix(a, b color.RGBA, at float64) color.RGBA {
	of := func(v, w uint8) uint8 { return uint8(math.Round(float64(v) + at*(float64(w)-float64(v)))) }
	return color.RGBA{R: of(a.R, b.R), G: of(a.G, b.G), B: of(a.B, b.B), A: 0xff}
}

func darker(v uint8) uint8 { return uint8(float64(v) * 0.95) }

// contrast is the ratio of the relative luminances of two colours, 1 to 21, by
// the Web Content Accessibility Guidelines 2.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// faint is the colour of a band under a line of colour c.
func faint(c color.RGBA) color.Color {
	return translucent{R: c.R, G: c.G, B: c.B, A: 0x30}
}

// A translucent is a color.NRGBA that rounds up when it is multiplied by
// its opacity, so that dividing by it again gives the colour and not the one
// below it.
type translucent color.NRGBA

func (t translucent) RGBA() (r, g, b, a uint32) {
	a = uint32(t.A) * 0x101
	times := func(v uint8) uint32 { return (uint32(v)*0x101*a + 0xfffe) / 0xffff }
	return times(t.R), times(t.G), times(t.B), a
}

// fonts holds Liberation Sans, whose letters are as wide as Arial's, so that
// text drawn by a viewer that has only the latter takes the space meant for it.
var fonts = typesetter{text.Plain{Fonts: font.NewCache(liberation.Collection())}}

// lettering returns the style of a text, anchored at its left end on the
// baseline.
func lettering(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: fonts,
	}
}
