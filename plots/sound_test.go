package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
)

// This file says what every figure has to keep to, whatever the records hold. A
// figure is drawn on a canvas that notes all that is drawn, and is looked at as
// the SVG that a reader gets.

// Tolerances, in points: what no eye sees.
const (
	nearly = vg.Length(0.5)
	absurd = 1e5 // a coordinate beyond that stems from no value
)

// An inked is a stroke, a filled area or a text, with what it takes of the page.
type inked struct {
	box     vg.Rectangle
	text    string
	visible bool // it differs from the paper
	opaque  bool // an area that hides what is below it
}

// A declared mark is what the figure says it draws next.
type declared struct {
	frame, box vg.Rectangle
	after      int // how many inks came before
}

// An inspector is a canvas that notes everything.
type inspector struct {
	t     failer
	name  string
	page  vg.Rectangle
	width vg.Length
	color color.Color
	inks  []inked
	marks []declared
}

// A failer is a testing.T or a rapid.T.
type failer interface {
	Errorf(string, ...any)
	Fatal(...any)
}

func (in *inspector) mark(frame, box vg.Rectangle) {
	in.marks = append(in.marks, declared{frame, box, len(in.inks)})
}
func (in *inspector) SetLineWidth(w vg.Length)           { in.width = w }
func (in *inspector) SetLineDash([]vg.Length, vg.Length) {}
func (in *inspector) SetColor(c color.Color)             { in.color = c }
func (in *inspector) Rotate(float64) {
	in.t.Fatal(in.name, "turns the page, which the inspector cannot follow")
}
func (in *inspector) Translate(vg.Point) {
	in.t.Fatal(in.name, "shifts the page, which the inspector cannot follow")
}
func (in *inspector) Scale(float64, float64) {
	in.t.Fatal(in.name, "scales the page, which the inspector cannot follow")
}
func (in *inspector) Push()                                   {}
func (in *inspector) Pop()                                    {}
func (in *inspector) DrawImage(_ vg.Rectangle, _ image.Image) { in.t.Fatal(in.name, "holds an image") }

func (in *inspector) Stroke(p vg.Path) {
	box := extent(p)
	if in.width <= 0 || !in.visible() || box.Size().X+box.Size().Y == 0 { // one of no length shows nothing
		in.inks = append(in.inks, inked{box: box})
		return
	}
	half := in.width / 2
	// The ends are cut off square: a stroke is wide across its course alone.
	if len(p) != 2 || box.Size().X > 0 {
		box.Min.Y, box.Max.Y = box.Min.Y-half, box.Max.Y+half
	}
	if len(p) != 2 || box.Size().Y > 0 && p[0].Pos.Y != p[1].Pos.Y {
		box.Min.X, box.Max.X = box.Min.X-half, box.Max.X+half
	}
	in.inks = append(in.inks, inked{box: box, visible: !isPaper(in.color)})
}

func (in *inspector) Fill(p vg.Path) {
	box := extent(p)
	if !in.visible() || box.Size().X == 0 || box.Size().Y == 0 {
		in.inks = append(in.inks, inked{box: box})
		return
	}
	_, _, _, a := in.color.RGBA()
	in.inks = append(in.inks, inked{box: box, visible: !isPaper(in.color), opaque: a == 0xffff})
}

func (in *inspector) FillString(f font.Face, at vg.Point, s string) {
	if strings.TrimSpace(s) != "" {
		in.inks = append(in.inks, inked{box: lettersBox(f, at, s), text: s, visible: in.visible() && !isPaper(in.color)})
	}
}

func (in *inspector) visible() bool {
	if in.color == nil {
		return true
	}
	_, _, _, a := in.color.RGBA()
	return a > 0
}

func isPaper(c color.Color) bool { return c != nil && color.RGBAModel.Convert(c) == paper }

// lettersBox is the box of a text from the descenders to the tops of letters, 0.21
// below the line and 0.74 above it in Liberation Sans and Arial. A letter that the
// font lacks comes from another one and is at most 1.25 of its size wide, as are
// the emoji of Noto; the widths of the others are those of the font's own table.
func lettersBox(f font.Face, at vg.Point, s string) vg.Rectangle {
	size := f.Font.Size
	var width vg.Length
	known := strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(nil, r); err != nil || i == 0 {
			width += 1.25 * size
			return -1
		}
		return r
	}, s)
	width += f.Width(known)
	return vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 0.21*size}, Max: vg.Point{X: at.X + width, Y: at.Y + 0.74*size}}
}

// extent is the box of a path; that of an arc is the whole circle's.
func extent(p vg.Path) vg.Rectangle {
	box := vg.Rectangle{Min: vg.Point{X: vg.Length(math.Inf(1)), Y: vg.Length(math.Inf(1))}, Max: vg.Point{X: vg.Length(math.Inf(-1)), Y: vg.Length(math.Inf(-1))}}
	add := func(q vg.Point, r vg.Length) {
		box.Min.X, box.Max.X = min(box.Min.X, q.X-r), max(box.Max.X, q.X+r)
		box.Min.Y, box.Max.Y = min(box.Min.Y, q.Y-r), max(box.Max.Y, q.Y+r)
	}
	for _, c := range p {
		switch c.Type {
		case vg.ArcComp:
			add(c.Pos, c.Radius)
		case vg.MoveComp, vg.LineComp, vg.CurveComp:
			add(c.Pos, 0)
			for _, q := range c.Control {
				add(q, 0)
			}
		}
	}
	return box
}

// beyond is how far a box sticks out of another, infinitely when it is at no place.
func beyond(box, within vg.Rectangle) vg.Length {
	most := vg.Length(0)
	for _, d := range []vg.Length{within.Min.X - box.Min.X, box.Max.X - within.Max.X, within.Min.Y - box.Min.Y, box.Max.Y - within.Max.Y} {
		if math.IsNaN(float64(d)) {
			return vg.Length(math.Inf(1))
		}
		most = max(most, d)
	}
	return most
}

// common is how far two boxes overlap, in the direction in which they do so less.
func common(a, b vg.Rectangle) vg.Length {
	return min(min(a.Max.X, b.Max.X)-max(a.Min.X, b.Min.X), min(a.Max.Y, b.Max.Y)-max(a.Min.Y, b.Min.Y))
}

// checkSound fails when the figure breaks a rule, as a file of its own or as a
// part of the report:
//
//  1. no number in its SVG is none, infinite or absurd, nor is one in its words;
//  2. it has a mark;
//  3. each mark is drawn, in ink, and inside the frame that it belongs to;
//  4. nothing is outside of the page;
//  5. no two texts overlap;
//  6. nothing that is drawn later hides a text.
func checkSound(t failer, f Figure) {
	checkNumbers(t, f)
	for _, bare := range []bool{false, true} {
		inspectorOf(t, f, bare).check(bare)
	}
}

// inspectorOf returns what is drawn of the figure.
func inspectorOf(t failer, f Figure, bare bool) *inspector {
	width, height := f.size(bare)
	in := &inspector{t: t, name: f.Name, page: vg.Rectangle{Max: vg.Point{X: width, Y: height}}}
	f.drawPage(draw.NewCanvas(in, width, height), bare)
	return in
}

func (in *inspector) check(bare bool) {
	name := in.name
	if bare {
		name += " in the report"
	}
	if len(in.marks) == 0 {
		in.t.Errorf("%s: no mark", name)
	}
	for i, m := range in.marks {
		// Its ink is what comes before the next mark, or group of marks, is declared.
		next := len(in.inks)
		for _, later := range in.marks[i:] {
			if later.after > m.after {
				next = later.after
				break
			}
		}
		if out := beyond(m.box, m.frame); out > nearly {
			in.t.Errorf("%s: a mark at %v is %.1f outside of its frame %v", name, m.box, out, m.frame)
		}
		ink := slices.ContainsFunc(in.inks[m.after:next], func(i inked) bool {
			return i.visible && i.text == "" && common(i.box, m.box) >= -nearly
		})
		if !ink {
			in.t.Errorf("%s: nothing is drawn for the mark at %v", name, m.box)
		}
	}
	var texts []inked
	for _, i := range in.inks {
		if out := beyond(i.box, in.page); out > nearly {
			in.t.Errorf("%s: %s at %v is %.1f outside of the page of %v", name, i.what(), i.box, out, in.page.Max)
		}
		for _, before := range texts {
			switch {
			case i.text != "" && common(i.box, before.box) > nearly:
				in.t.Errorf("%s: %q and %q overlap, at %v and %v", name, before.text, i.text, before.box, i.box)
			case i.opaque && common(i.box, before.box) > nearly:
				in.t.Errorf("%s: %q at %v is hidden behind %v", name, before.text, before.box, i.box)
			}
		}
		if i.text != "" {
			texts = append(texts, i)
		}
	}
}

func (i inked) what() string {
	if i.text != "" {
		return strconv.Quote(i.text)
	}
	return "a stroke or area"
}

// checkNumbers reads the SVG, which has to be XML, for numbers that are none.
func checkNumbers(t failer, f Figure) {
	svg := f.svg(false)
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(f.Name, err, string(svg))
		}
		switch token := token.(type) {
		case xml.CharData:
			if s := string(token); noNumber.MatchString(s) {
				t.Errorf("%s says %q", f.Name, s)
			}
		case xml.StartElement:
			for _, a := range token.Attr {
				if noNumber.MatchString(a.Value) {
					t.Errorf("%s: <%s %s=%q>", f.Name, token.Name.Local, a.Name.Local, a.Value)
				}
				if a.Name.Local == "aria-label" || a.Name.Local == "style" || a.Name.Local == "xmlns" {
					continue
				}
				for _, n := range strings.FieldsFunc(a.Value, func(r rune) bool { return !strings.ContainsRune("0123456789.-+e", r) }) {
					if strings.Trim(n, "-+e") == "" {
						continue
					}
					if v, err := strconv.ParseFloat(n, 64); err != nil || math.Abs(v) > absurd {
						t.Errorf("%s: <%s %s=%q> is at no place", f.Name, token.Name.Local, a.Name.Local, a.Value)
						break
					}
				}
			}
		}
	}
}

var noNumber = regexp.MustCompile(`NaN|\bInf\b`)

// A collector is a testing.T that keeps what it is told.
type collector struct{ found []string }

func (c *collector) Errorf(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}
func (c *collector) Fatal(args ...any) { c.found = append(c.found, fmt.Sprint(args...)) }

// Each rule is broken by a figure that breaks no other, and by that one alone.
func TestEachRuleOfASoundFigureIsKept(t *testing.T) {
	letters := pen{size: labelSize, color: ink}
	square := func(c draw.Canvas, x, y, size vg.Length) {
		c.FillPolygon(blue, []vg.Point{{X: x, Y: y}, {X: x + size, Y: y}, {X: x + size, Y: y + size}, {X: x, Y: y + size}})
	}
	marked := func(c draw.Canvas, x, y vg.Length) {
		declare(c, vg.Point{X: x, Y: y}, vg.Point{X: x + 5, Y: y + 5})
		square(c, x, y, 5)
	}
	for rule, body := range map[string]func(c draw.Canvas){
		"":                     func(c draw.Canvas) { marked(c, 50, 50); letters.write(c, 80, 50, left, "a name") },
		"no mark":              func(c draw.Canvas) { square(c, 50, 50, 5) },
		"NaN":                  func(c draw.Canvas) { marked(c, 50, 50); square(c, vg.Length(math.NaN()), 60, 5) },
		"Inf":                  func(c draw.Canvas) { marked(c, 50, 50); letters.write(c, 80, 50, left, "+Inf times as much") },
		"at no place":          func(c draw.Canvas) { marked(c, 50, 50); square(c, 60, 60, 1e6) },
		"outside of its frame": func(c draw.Canvas) { marked(draw.Crop(c, 0, -300, 0, 0), 300, 50) },
		"nothing is drawn": func(c draw.Canvas) {
			declare(c, vg.Point{X: 50, Y: 50}, vg.Point{X: 50, Y: 60})
			square(c, 50, 50, 0)
			marked(c, 50, 50)
		},
		"nothing is drawn for": func(c draw.Canvas) {
			declare(c, vg.Point{X: 50, Y: 50}, vg.Point{X: 55, Y: 55})
			c.FillPolygon(paper, []vg.Point{{X: 50, Y: 50}, {X: 55, Y: 50}, {X: 55, Y: 55}})
		},
		"outside of the page": func(c draw.Canvas) { marked(c, 50, 50); letters.write(c, c.Max.X-10, 50, left, "a name at the edge") },
		"overlap": func(c draw.Canvas) {
			marked(c, 50, 50)
			letters.write(c, 80, 50, left, "a name")
			letters.write(c, 95, 54, left, "another name")
		},
		"is hidden behind": func(c draw.Canvas) { letters.write(c, 50, 50, left, "a name"); marked(c, 55, 50) },
	} {
		c := &collector{}
		checkSound(c, Figure{Name: "made up", Title: "A figure", Caption: "Made up.", footer: "for a test", height: 200, body: body})
		if rule == "" && len(c.found) > 0 {
			t.Errorf("a sound figure is found to break a rule: %q", c.found)
		}
		if !slices.ContainsFunc(c.found, func(s string) bool { return strings.Contains(s, rule) }) && rule != "" {
			t.Errorf("a figure that breaks %q is found sound, but for %q", rule, c.found)
		}
	}
}

// A viewer without the fonts draws a text no wider than it was planned.
func TestTextsOfAnSVGSayHowWideTheyAre(t *testing.T) {
	said := regexp.MustCompile(`<text [^>]*textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs" style="[^"]*font-size:14px[^"]*">([^<]*)<`)
	f := Figure{Title: "H<H&H", height: 100, body: func(draw.Canvas) {}}
	// A bold H is 1479 of 2048 units wide, < is 1196 and & is 1479 in Arial's table.
	want := 14 * (3*1479.0 + 1196 + 1479) / 2048
	m := said.FindSubmatch(f.svg(false))
	if m == nil {
		t.Fatal("the title has no width")
	}
	if got, _ := strconv.ParseFloat(string(m[1]), 64); math.Abs(got-want) > 0.05 {
		t.Errorf("%s is said to be %v wide, want %v", m[2], got, want)
	}
	f.Title = "\u4e00"
	if said.Match(f.svg(false)) {
		t.Error("a letter of another font is pressed into a width that was guessed")
	}
}

// Frames that are read beside each other are of one size, to a hair.
func TestFramesOfAFigureAreOfOneSize(t *testing.T) {
	for name, set := range recorded(t) {
		for _, f := range All(set) {
			if slices.Contains([]string{"ring", "who", "hashes", "key-hashes"}, f.Name) {
				continue // which have no frames
			}
			in := inspectorOf(t, f, false)
			first := in.marks[0].frame.Size()
			for _, m := range in.marks {
				if size := m.frame.Size(); math.Abs(float64(size.X-first.X)) > 0.1 || math.Abs(float64(size.Y-first.Y)) > 0.1 {
					t.Fatalf("%s: %s has frames of %v and of %v", name, f.Name, first, size)
				}
			}
		}
	}
}

func TestAFigureWithoutAMarkIsNone(t *testing.T) {
	empty := panelFigure([]*panel{rowChart{x: linearScale(nil, plain), rows: []row{{name: "ring"}}}.panel()}, 1, []keyItem{keyTick(look{color: ink}, "a tick")})
	if n := empty.marks(); n != 0 {
		t.Errorf("a frame without data has %d marks", n)
	}
	full := panelFigure([]*panel{rowChart{x: linearScale(nil, plain), rows: []row{{"ring", []mark{{kind: bar}}}}}.panel()}, 1, nil)
	full.Name = "full"
	if got := shown([]Figure{empty, full}); len(got) != 1 || got[0].Name != "full" {
		t.Errorf("shown are %q", namesOf(got))
	}
}

func TestNamesThatDifferAreNeverCutAlike(t *testing.T) {
	letters := pen{size: labelSize}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"consistent-hashing-", "ring", "wwwwwwwwwwwwwwwwwwww", "7", "\u4e00\u81f4\u6027\u54c8\u5e0c"})
		names := rapid.SliceOfNDistinct(rapid.Map(rapid.SliceOfN(part, 1, 9), func(parts []string) string { return strings.Join(parts, "") }), 1, 12, rapid.ID).Draw(t, "names")
		width := vg.Length(rapid.Float64Range(40, 200).Draw(t, "width"))
		seen := map[string]string{}
		for i, short := range letters.fitAll(names, width) {
			if other, twice := seen[short]; twice {
				t.Fatalf("%q and %q are both written %q", other, names[i], short)
			}
			if seen[short] = names[i]; letters.width(short) > width {
				t.Fatalf("%q is %.1f wide, %.1f allowed", short, letters.width(short), width)
			}
		}
	})
}
