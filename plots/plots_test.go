package plots

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

var update = flag.Bool("update", false, "write the golden figures anew")

// quickFigures are the figures of a run that has all measures, in order.
var quickFigures = []string{"vnodes-spread", "vnodes-peak", "ring", "balance", "movement", "hot-keys", "bounded",
	"lookup", "latency", "trade-off", "memory", "allocations", "build", "membership"}

func drawn(t interface{ Fatal(...any) }, f Figure, format string) []byte {
	var b bytes.Buffer
	if err := f.Draw(&b, format); err != nil {
		t.Fatal(f.Name, err)
	}
	return b.Bytes()
}

func namesOf(figures []Figure) []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	return names
}

func TestARunWithAllMeasuresGivesAllFigures(t *testing.T) {
	if d := cmp.Diff(quickFigures, namesOf(All(quick()))); d != "" {
		t.Error(d)
	}
}

func TestGoldenFigures(t *testing.T) {
	for _, f := range All(quick()) {
		if f.Name != "allocations" && f.Name != "trade-off" {
			continue
		}
		path := filepath.Join("testdata", f.Name+".svg")
		got := drawn(t, f, "svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(parts(string(want)), parts(string(got)), near); d != "" {
			t.Errorf("%s differs from %s, look at it and run with -update if it is as meant:\n%s", f.Name, path, d)
		}
	}
}

// parts takes an SVG apart into texts and numbers.
func parts(svg string) (parts []any) {
	at := 0
	for _, n := range number.FindAllStringIndex(svg, -1) {
		v, _ := strconv.ParseFloat(svg[n[0]:n[1]], 64)
		parts = append(parts, svg[at:n[0]], v)
		at = n[1]
	}
	return append(parts, svg[at:])
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// near lets coordinates differ by less than an eye can see: machines do not
// round the last digit alike.
var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.02 })

func TestEachFigureNamesSuiteMachineAndSeeds(t *testing.T) {
	for _, f := range All(quick()) {
		svg := string(drawn(t, f, "svg"))
		seeds := "seed 1"
		if strings.HasPrefix(f.Name, "vnodes") {
			seeds = "50 seeds from 1"
		}
		for _, want := range []string{"suite quick", "Imaginary Xeon Gold 6000, 2 cores, linux/amd64", seeds, "ringbench v0.0.0-test"} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s does not say %q", f.Name, want)
			}
		}
	}
}

func TestFiguresComeInEveryFormat(t *testing.T) {
	for _, f := range All(quick()) {
		if f.Name != "ring" && f.Name != "lookup" {
			continue
		}
		im, err := png.Decode(bytes.NewReader(drawn(t, f, "png")))
		if err != nil {
			t.Fatal(err)
		}
		if w := im.Bounds().Dx(); w < 150*7 {
			t.Errorf("%s is %d dots wide, too few for print", f.Name, w)
		}
		if pdf := drawn(t, f, "pdf"); !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Contains(pdf, []byte("Date (")) {
			t.Errorf("%s: no PDF, or one that holds the time of drawing", f.Name)
		}
	}
}

// The order in which trials were taken, and the time of drawing, are no part of
// a figure.
func TestSameRecordsGiveTheSameBytes(t *testing.T) {
	a, b := quick(), quick()
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(b.Trials), func(i, j int) { b.Trials[i], b.Trials[j] = b.Trials[j], b.Trials[i] })
	first, second := All(a), All(b)
	for i, f := range first {
		formats := []string{"svg"}
		if f.Name == "bounded" {
			formats = Formats
		}
		for _, format := range formats {
			if !bytes.Equal(drawn(t, f, format), drawn(t, second[i], format)) {
				t.Errorf("%s.%s depends on the order of the trials or on the time", f.Name, format)
			}
		}
	}
	var x, y bytes.Buffer
	if err := WriteReport(&x, a); err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(&y, b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(x.String(), y.String()); d != "" {
		t.Errorf("the report depends on the order of the trials:\n%s", d)
	}
}

// A text is a line of text in an SVG, with the box that it takes.
type svgText struct {
	s    string
	box  vg.Rectangle
	size float64
}

// texts parses an SVG, which must be well-formed XML without a number that is
// none, and returns its texts and its size.
func texts(t interface{ Fatal(...any) }, svg []byte) (found []svgText, width, height float64) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return found, width, height
		}
		if err != nil {
			t.Fatal(err, string(svg))
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
			if a.Name.Local != "aria-label" && notANumber.MatchString(a.Value) {
				t.Fatal("not a number in", start.Name.Local, a.Name.Local, a.Value)
			}
		}
		switch start.Name.Local {
		case "svg":
			fmt.Sscanf(attr["viewBox"], "0 0 %f %f", &width, &height)
		case "text":
			token, _ := d.Token()
			s, _ := token.(xml.CharData)
			x, _ := strconv.ParseFloat(attr["x"], 64)
			y, _ := strconv.ParseFloat(attr["y"], 64)
			m := fontSize.FindStringSubmatch(attr["style"])
			if m == nil || !strings.Contains(attr["style"], "'Liberation Sans',Arial,sans-serif") {
				t.Fatal("text without size or family:", attr["style"])
			}
			size, _ := strconv.ParseFloat(m[1], 64)
			p := pen{size: vg.Length(size), bold: strings.Contains(attr["style"], "font-weight:bold")}
			top := height + y // y counts down from the foot of the page
			found = append(found, svgText{string(s), vg.Rectangle{
				Min: vg.Point{X: vg.Length(x), Y: vg.Length(top - 0.7*size)},
				Max: vg.Point{X: vg.Length(x) + p.width(string(s)), Y: vg.Length(top + 0.1*size)},
			}, size})
		}
	}
}

var (
	notANumber = regexp.MustCompile(`NaN|Inf`)
	fontSize   = regexp.MustCompile(`font-size:([0-9.]+)px`)
)

// crowded is a run with so many contestants that a frame cannot hold them.
func crowded() *results.Set {
	set := quick()
	for _, t := range slices.Clone(set.Trials) {
		if t.Measure == "shares" || results.IsControl(t.Algorithm) {
			continue
		}
		for i := range 2 {
			c := t
			c.Algorithm = fmt.Sprintf("%s-%c", t.Algorithm, 'a'+i)
			c.Cell = strings.Replace(t.Cell, "algorithm="+t.Algorithm, "algorithm="+c.Algorithm, 1)
			set.Trials = append(set.Trials, c)
		}
	}
	return set
}

func TestManyContestantsAreSplitOverFrames(t *testing.T) {
	r := arrange(crowded())
	lines := r.linesOverNodes(where(r.metric("lookup", "lookup-ns"), ofWorkload("seq:1000000+uniform")))
	if len(lines) != 24 {
		t.Fatalf("%d contestants, want 24", len(lines))
	}
	total := 0
	for _, group := range split(lines, maxLines) {
		if total += len(group); len(group) > maxLines {
			t.Errorf("%d lines in a frame", len(group))
		}
	}
	if total != len(lines) {
		t.Errorf("%d of %d lines drawn", total, len(lines))
	}
}

func TestASetWithoutTrialsGivesNoFiguresAndStillAReport(t *testing.T) {
	set := &results.Set{Run: results.Run{Suite: "empty", Schema: results.Schema}}
	if figures := All(set); len(figures) != 0 {
		t.Errorf("figures from nothing: %v", namesOf(figures))
	}
	var b bytes.Buffer
	if err := WriteReport(&b, set); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "This run is not complete") {
		t.Error("a run without an end passes for a complete one")
	}
}

func TestEveryMeasureAloneDrawsWhatItCan(t *testing.T) {
	want := map[string][]string{
		"shares": {"vnodes-spread", "vnodes-peak", "ring"}, "balance": {"balance"}, "load": nil, "movement": {"movement"},
		"bounded": {"bounded"}, "lookup": {"lookup"}, "latency": nil, "key-lookup": {"key-lookup"}, "memory": {"memory"},
		"allocations": {"allocations"}, "build": {"build"}, "add": {"membership"}, "remove": {"membership"},
	}
	all := quick()
	for measure, names := range want {
		set := &results.Set{Run: all.Run, End: all.End}
		for _, t := range all.Trials {
			if t.Measure == measure {
				set.Trials = append(set.Trials, t)
			}
		}
		if d := cmp.Diff(names, namesOf(All(set))); d != "" {
			t.Errorf("%s: %s", measure, d)
		}
		for _, f := range All(set) {
			checkSound(t, f)
		}
	}
}

func keys(m map[string]float64) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// hostile is a run whose every text tries to break out of where it is written.
func hostile() *results.Set {
	set := quick()
	evil := "<script>alert('x')</script>\"'&--></svg>]]>\x00\x1b[31m\u202e" + strings.Repeat("x", 500)
	set.Run.Suite, set.Run.Version, set.Run.Start = evil, evil, evil
	set.Run.Command = []string{"ringbench", evil, "it's"}
	set.Run.Spec = json.RawMessage(`{"title":"</pre><script>"}`)
	e := &set.Run.Environment
	e.CPU, e.OS, e.Kernel, e.Revision, e.Absent = evil, evil, evil, evil, []string{evil}
	set.Warnings = []string{evil}
	set.End.Warnings, set.End.Complete, set.End.Reason = []string{evil}, false, evil
	for i := range set.Trials {
		t := &set.Trials[i]
		if t.Algorithm != "modulo" && t.Algorithm != "jump" {
			continue
		}
		t.Algorithm = evil + t.Algorithm
		t.Cell += "/evil=" + evil
		if t.Workload != "" {
			t.Workload += evil
		}
		if t.Schedule != "" {
			t.Schedule = evil
		}
		t.Weights = evil
		if i%7 == 0 {
			t.Skip, t.Values = evil, nil
		}
	}
	return set
}

func TestHostileNamesStayText(t *testing.T) {
	set := hostile()
	for _, f := range All(set) {
		svg := drawn(t, f, "svg")
		found, width, _ := texts(t, svg)
		for _, text := range found {
			if float64(text.box.Max.X) > width+1 {
				t.Errorf("%s: %.40q runs off the page", f.Name, text.s)
			}
		}
		if bytes.Contains(svg, []byte("<script")) {
			t.Errorf("%s holds a script", f.Name)
		}
	}
	for _, f := range All(set)[3:5] {
		drawn(t, f, "png")
		drawn(t, f, "pdf")
	}
	var b bytes.Buffer
	if err := WriteReport(&b, set); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "</svg>]]", "\x1b"} {
		if strings.Contains(page, bad) {
			t.Errorf("the report holds %q", bad)
		}
	}
	if opened, closed := strings.Count(page, "<svg"), strings.Count(page, "</svg>"); opened != closed || opened != len(All(set)) {
		t.Errorf("%d svg elements opened, %d closed, for %d figures", opened, closed, len(All(set)))
	}
}

func TestWriteAllWritesEachFigureInEachFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	set := quick()
	set.Trials = slices.DeleteFunc(set.Trials, func(t results.Trial) bool { return t.Measure != "allocations" && t.Measure != "build" })
	paths, err := WriteAll(dir, set, []string{"svg", "png"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"allocations.svg", "allocations.png", "build.svg", "build.png"} {
		want = append(want, filepath.Join(dir, name))
	}
	if d := cmp.Diff(want, paths); d != "" {
		t.Error(d)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d files in the folder, want %d (%v)", len(entries), len(want), err)
	}
}

func TestAnUnknownFormatIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	_, err := WriteAll(dir, quick(), []string{"svg", "gif"})
	if err == nil || err.Error() != `unknown format "gif" of a figure, take svg, png, pdf` {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the folder was made")
	}
}
