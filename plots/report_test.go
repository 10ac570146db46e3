package plots

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

func report(t *testing.T, set *results.Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteReport(&b, set); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportNeedsNoOtherFile(t *testing.T) {
	page := report(t, quick())
	for _, m := range regexp.MustCompile(`(src|srcset|action|poster)=|@import|url\(|<link|<script|https?://[^"]*`).FindAllString(page, -1) {
		if m != "http://www.w3.org/2000/svg" {
			t.Errorf("the report refers to something outside: %q", m)
		}
	}
}

// What scrolls within the page has to be reached, and named, without a mouse. That
// nothing else keeps a reader out is checked by .ci/report, in a browser.
func TestWhatScrollsCanBeFocusedAndHasAName(t *testing.T) {
	page := report(t, quick())
	scrolls := regexp.MustCompile(`<(?:pre|\w+ class="[^"]*\bscroll\b)[^>]*>`).FindAllString(page, -1)
	if len(scrolls) < 5 {
		t.Fatalf("only %d elements scroll", len(scrolls))
	}
	named := regexp.MustCompile(` tabindex="0" role="group" aria-label(ledby)?="[^"]+"`)
	for _, e := range scrolls {
		if !named.MatchString(e) {
			t.Errorf("it cannot be focused, or has no name: %s", e)
		}
	}
	for _, m := range regexp.MustCompile(` aria-labelledby="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+m[1]+`"`) {
			t.Errorf("the name %q is not on the page", m[1])
		}
	}
}

func TestReportLinksLeadSomewhereAndIDsDiffer(t *testing.T) {
	page := report(t, quick())
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		ids[m[1]] = true
	}
	links := regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) == 0 {
		t.Error("no links")
	}
	for _, m := range links {
		if !ids[m[1]] {
			t.Errorf("link to %q leads nowhere", m[1])
		}
	}
}

func TestReportTellsAllThatAReaderAsks(t *testing.T) {
	set := quick()
	set.End.Warnings = []string{"the control moved"}
	set.Warnings = []string{"dropped a torn last line"}
	set.Run.Command = []string{"ringbench", "run", "quick", "--only", "a b"}
	set.Run.Environment.Revision, set.Run.Environment.Dirty = "0123456789abcdef", true
	page := report(t, set)
	for _, want := range []string{
		"the control moved", "dropped a torn last line", // warnings
		"EXACT, the same on every machine", "MEASURED HERE", // the first screen
		"Imaginary(R) Xeon(R) Gold 6000 CPU @ 2.70GHz", "32 KiB, 1 MiB, 32 MiB", "Not told by this system: governor", // machine
		"METHODOLOGY.md",                           // method
		"one read from 4 KiB", "a constant answer", // floors
		"unsupported operation: jump has no weights", // skips
		"ringbench run quick --only &#39;a b&#39;",   // how to repeat it
		"<dt>seed</dt><dd>1</dd>", "v0.0.0-test", "0123456789abcdef, with changes",
		"Zero everywhere", "allocations per lookup (allocations)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	for _, f := range All(set) {
		if !strings.Contains(page, `<figure id="figure-`+f.Name+`">`) {
			t.Errorf("the report lacks the figure %s", f.Name)
		}
	}
	if strings.Contains(page, "This run is not complete") {
		t.Error("a complete run passes for an incomplete one")
	}
	set.End.Complete, set.End.Reason = false, "interrupted"
	if page := report(t, set); !strings.Contains(page, "This run is not complete</strong>: interrupted.") {
		t.Error("an interrupted run passes for a complete one")
	}
}

// The page swaps the colours of the figures for a dark screen by name: one that
// it does not know would stay as it is, and might vanish.
func TestEveryColorOfAFigureHasADarkOne(t *testing.T) {
	known := map[string]bool{}
	for _, c := range screenColors() {
		known[string(c.Light)] = true
	}
	for _, f := range slices.Concat(All(crowded()), All(questions()), All(reds())) {
		svg := onScreen(f.svg(true))
		for _, m := range regexp.MustCompile(`var\(--c([0-9A-F]{6}),`).FindAllSubmatch(svg, -1) {
			if !known[string(m[1])] {
				t.Errorf("%s: #%s has no dark counterpart", f.Name, m[1])
			}
		}
		if m := regexp.MustCompile(`(fill|stroke):#[^;"]*`).Find(svg); m != nil {
			t.Errorf("%s: %s is fixed", f.Name, m)
		}
	}
}

func parseColor(s string) color.RGBA {
	c := color.RGBA{A: 0xff}
	for i, p := range []*uint8{&c.R, &c.G, &c.B} {
		for _, d := range s[2*i : 2*i+2] {
			*p = *p<<4 | uint8(strings.IndexRune("0123456789ABCDEF", d))
		}
	}
	return c
}

// darkOf is what the page puts in the place of each colour, as its style sheet says.
func darkOf() map[color.RGBA]color.RGBA {
	dark := map[color.RGBA]color.RGBA{}
	for _, p := range screenColors() {
		dark[parseColor(string(p.Light))] = parseColor(string(p.Dark))
	}
	return dark
}

// reds is a heat map with every red there is.
func reds() *results.Set {
	set := &results.Set{}
	for i := range 40 {
		for _, hash := range []string{"xxh3", "md5", "crc32"} {
			set.Trials = append(set.Trials, shareTrial(hash, fmt.Sprintf("{name}#{index+%d}", i), "node-{i}", 0.079*math.Pow(1.1, float64(i)), 0))
		}
	}
	return set
}

func TestDarkColorsAreReadable(t *testing.T) {
	dark := darkOf()
	for _, c := range append(slices.Clone(palette), ink, soft, floor) {
		for _, light := range []color.RGBA{c, readable(c)} {
			if c := contrast(dark[light], dark[paper]); c < 4 {
				t.Errorf("#%s stands out from the dark at %.1f to 1", hex(dark[light]), c)
			}
		}
	}
}

// More of something stands out more from the page, light or dark, and the least of it
// more than nothing, which has the colour of the grid. A number in a cell can be read.
func TestMoreStandsOutMoreFromEveryPage(t *testing.T) {
	dark := darkOf()
	for name, colors := range map[string]func(part float64) color.RGBA{
		"given":    func(part float64) color.RGBA { return shade(given, part) },
		"shuffled": func(part float64) color.RGBA { return shade(shuffled, part) },
		"uneven":   func(part float64) color.RGBA { fill, _ := heatColors(1.3*math.Pow(10, part), 1.3); return fill },
	} {
		for page, see := range map[string]func(color.RGBA) color.RGBA{
			"light": func(c color.RGBA) color.RGBA { return c },
			"dark":  func(c color.RGBA) color.RGBA { return dark[c] },
		} {
			before := contrast(see(grid), see(paper))
			last := color.RGBA{}
			for part := 0.0; part <= 1; part += 0.01 {
				c := colors(part)
				if c == last {
					continue
				}
				last = c
				now := contrast(see(c), see(paper))
				if see(c) == (color.RGBA{}) || now <= before {
					t.Fatalf("%s, %s page: %.0f%% has #%s and stands out at %.2f to 1, less at %.2f", name, page, 100*part, hex(see(c)), now, before)
				}
				before = now
			}
			if before < 3.5 {
				t.Errorf("%s, %s page: all of it stands out at %.2f to 1", name, page, before)
			}
		}
	}
	for ratio := 1.0; ratio < 30; ratio *= 1.05 {
		fill, text := heatColors(ratio, 1.3)
		if a, b := contrast(fill, text), contrast(dark[fill], dark[text]); a < 4 || b < 4 {
			t.Errorf("a number of %.2f stands out from its cell at %.2f to 1, at night at %.2f", ratio, a, b)
		}
	}
}

func TestSpreadLeavesOutARepeatedUnit(t *testing.T) {
	for _, c := range []struct{ value, low, high, want string }{
		{"12.3 ns", "11 ns", "14 ns", "11 to 14"},
		{"1 \u00b5s", "990 ns", "1.1 \u00b5s", "990 ns to 1.1 \u00b5s"},
		{"12%", "11%", "14%", "11 to 14"},
		{"1.12", "1.08", "1.20", "1.08 to 1.20"},
	} {
		if got := spreadOf(c.value, c.low, c.high); got != c.want {
			t.Errorf("%s around %s: %q, want %q", c.low+", "+c.high, c.value, got, c.want)
		}
	}
}
