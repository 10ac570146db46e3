package results

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exported(t testing.TB, s *Set, write func(io.Writer, *Set) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// broken is a run with each way of not measuring: by nature, and by defect.
func broken() *Set {
	s := small()
	f := fixture{set: *s}
	f.trial(plainRing, "lookup", 100, 1, 0, "uniform", "", nil).Skip = "failed the gate: node \"s1-node-3\" owns none of 1048576 keys"
	f.trial(plainRing, "latency", 100, 1, 0, "uniform", "", map[string]float64{"latency-ns": 20})
	f.trial(plainRing, "latency", 100, 1, 1, "uniform", "", nil).Skip = "wrong answers: a block of 1024 lookups from 0 on differs from the checked ones"
	f.trial(plainRing, "balance", 100, 1, 0, "uniform", "", map[string]float64{"balance-min": 0.9, "balance-peak": 1.2})
	return &f.set
}

func TestGoldenExports(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Set) error{
		"github-action.json": WriteGitHubAction, "github-action-bigger.json": WriteGitHubActionBigger,
		"bencher.json": WriteBencher, "junit.xml": WriteJUnit,
	} {
		golden(t, name, string(exported(t, broken(), write)))
	}
}

// A file may hold values that no run measures. Their sums overflow, and JSON knows
// no infinity.
func TestExportsBearTheLargestNumbers(t *testing.T) {
	const most = math.MaxFloat64
	for _, values := range [][2]float64{{most, most}, {most, -most}, {-most, -most}, {1e200, 1e200}} {
		s := small()
		f := fixture{set: *s}
		for i, v := range values {
			f.trial(plainRing, "balance", 77, uint64(i)+1, 0, "uniform", "", map[string]float64{"balance-peak": v, "balance-min": v, "balance-cv": v})
			f.trial(plainRing, "build", 77, 1, i, "", "", map[string]float64{"build-ns": v})
			f.trial(plainRing, "movement", 77, uint64(i)+1, 0, "uniform", "add-one", map[string]float64{"moved-fraction": v})
		}
		for name, write := range map[string]func(io.Writer, *Set) error{
			"github-action": WriteGitHubAction, "github-action-bigger": WriteGitHubActionBigger, "bencher": WriteBencher,
			"junit": WriteJUnit, "csv": WriteCSV, "benchfmt": WriteBenchfmt,
			"summary": func(w io.Writer, s *Set) error { return WriteSummary(w, Summarize(s)) },
		} {
			if out := string(exported(t, &f.set, write)); strings.Contains(out, "Inf") || strings.Contains(out, "NaN") {
				t.Errorf("%s of %v is not finite:\n%s", name, values, out)
			}
		}
		for _, r := range Summarize(&f.set) {
			if r.Nodes != 77 || r.Metric != "balance-peak" {
				continue
			}
			if want := values[0]/2 + values[1]/2; math.Abs(r.Center-want) > 1e-11*math.Abs(values[0]) {
				t.Errorf("mean of %v: %v, want %v", values, r.Center, want)
			}
		}
	}
}

// The shape is that of the action's README: a list of objects with name, unit
// and value, and with range and extra or not. Names tell the entries apart, for
// the action draws one chart a name.
func TestGitHubActionReadsTheExport(t *testing.T) {
	for better, write := range map[Direction]func(io.Writer, *Set) error{Lower: WriteGitHubAction, Higher: WriteGitHubActionBigger} {
		var entries []struct {
			Name  *string  `json:"name"`
			Unit  *string  `json:"unit"`
			Value *float64 `json:"value"`
			Range string   `json:"range"`
			Extra string   `json:"extra"`
		}
		strict(t, exported(t, quick(), write), &entries)
		want := map[string]float64{}
		for _, r := range Summarize(quick()) {
			if m, ok := MetricByName(r.Metric); ok && m.Better == better {
				want[r.Cell+" "+r.Metric] = r.Center
			}
		}
		got := map[string]float64{}
		for _, e := range entries {
			if e.Name == nil || e.Unit == nil || e.Value == nil || *e.Name == "" || *e.Unit == "" {
				t.Fatalf("%+v lacks a name, unit or value", e)
			}
			if _, twice := got[*e.Name]; twice {
				t.Errorf("%s is there twice", *e.Name)
			}
			got[*e.Name] = *e.Value
		}
		if len(want) == 0 {
			t.Fatalf("no metric of which %v is better", better)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v is better (-want +got):\n%s", better, diff)
		}
	}
}

// A run without metrics of a direction is an empty list, which the action reads,
// and not null, which it does not.
func TestNoEntryIsAnEmptyList(t *testing.T) {
	s := small()
	if got := strings.TrimSpace(string(exported(t, s, WriteGitHubActionBigger))); got != "[]" {
		t.Errorf("got %s", got)
	}
}

// The shape is that of Bencher's published schema: benchmark to measure to an
// object with value, and with lower_value and upper_value or not. A name of a
// benchmark may have 1,024 characters and one of a measure 64.
func TestBencherReadsTheExport(t *testing.T) {
	var cells map[string]map[string]struct {
		Value *float64 `json:"value"`
		Lower *float64 `json:"lower_value"`
		Upper *float64 `json:"upper_value"`
	}
	strict(t, exported(t, quick(), WriteBencher), &cells)
	n := 0
	for _, r := range Summarize(quick()) {
		if r.Metric == "" {
			continue
		}
		n++
		m := cells[r.Cell][r.Metric]
		if m.Value == nil || *m.Value != r.Center {
			t.Fatalf("%s %s: %+v, want %v", r.Cell, r.Metric, m, r.Center)
		}
		if (m.Lower == nil) != (r.N == 1) || (m.Upper == nil) != (r.N == 1) {
			t.Errorf("%s %s: bounds %v %v over %d values", r.Cell, r.Metric, m.Lower, m.Upper, r.N)
		}
		if m.Lower != nil && (*m.Lower > *m.Value || *m.Upper < *m.Value) {
			t.Errorf("%s %s: %v is not within %v and %v", r.Cell, r.Metric, *m.Value, *m.Lower, *m.Upper)
		}
		if len(r.Cell) > 1024 || len(r.Metric) > 64 {
			t.Errorf("%s %s: a name too long for Bencher", r.Cell, r.Metric)
		}
	}
	for cell, metrics := range cells {
		n -= len(metrics)
		if len(metrics) == 0 {
			t.Errorf("%s: no metrics", cell)
		}
	}
	if n != 0 {
		t.Errorf("%d metrics of the summary have no place in the export, or several", n)
	}
}

// strict decodes JSON whose fields are all known.
func strict(t *testing.T, b []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("something follows the JSON: %v", err)
	}
}

// junitSchema is what two published schemas say of an element of a JUnit report,
// that of Ant (windyroad/JUnit-Schema, JUnit.xsd) and that of Jenkins'
// xunit-plugin (junit-10.xsd), the narrower of the two in each point.
var junitSchema = map[string]struct {
	required, optional []string          // attributes
	form               map[string]string // attribute -> regular expression
	children           string            // regular expression over the names of the children, each followed by a space
	text               bool
}{
	"testsuite": {
		required: []string{"name", "timestamp", "hostname", "tests", "failures", "errors", "time"}, optional: []string{"skipped", "package", "id"},
		form: map[string]string{
			"name": token, "hostname": token, "timestamp": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`,
			"tests": `\d+`, "failures": `\d+`, "errors": `\d+`, "skipped": `\d+`, "time": decimal,
		},
		children: `properties (testcase )*system-out system-err `,
	},
	"properties": {children: `(property )*`},
	"property":   {required: []string{"name", "value"}, form: map[string]string{"name": token}},
	"testcase": {
		required: []string{"name", "classname", "time"}, form: map[string]string{"name": token, "classname": token, "time": decimal},
		children: `((skipped|error|failure) )?`,
	},
	"skipped":    {optional: []string{"message", "type"}, text: true},
	"failure":    {required: []string{"type"}, optional: []string{"message"}, text: true},
	"error":      {required: []string{"type"}, optional: []string{"message"}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

const (
	token   = `\S+( \S+)*`
	decimal = `\d{1,9}(\.\d*)?`
)

// checkJUnit returns where a report breaks the schema.
func checkJUnit(report []byte) (breaches []string) {
	d := xml.NewDecoder(bytes.NewReader(report))
	type open struct {
		name, children, text string
	}
	stack := []open{{}}
	complain := func(format string, args ...any) {
		line, _ := d.InputPos()
		breaches = append(breaches, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
	}
	for {
		token, err := d.Token()
		if err == io.EOF {
			if root := stack[0].children; root != "testsuite " {
				complain("the root is %q", root)
			}
			return breaches
		}
		if err != nil {
			complain("%v", err)
			return breaches
		}
		top := &stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			top.children += token.Name.Local + " "
			schema, known := junitSchema[token.Name.Local]
			if !known {
				complain("unknown element %q", token.Name.Local)
			}
			var names []string
			for _, a := range token.Attr {
				names = append(names, a.Name.Local)
				if !slices.Contains(schema.required, a.Name.Local) && !slices.Contains(schema.optional, a.Name.Local) {
					complain("%s has no attribute %q", token.Name.Local, a.Name.Local)
				}
				if form := schema.form[a.Name.Local]; form != "" && !regexp.MustCompile("^(?:"+form+")$").MatchString(a.Value) {
					complain("%s %s=%q is not %s", token.Name.Local, a.Name.Local, a.Value, form)
				}
			}
			for _, r := range schema.required {
				if !slices.Contains(names, r) {
					complain("%s lacks the attribute %q", token.Name.Local, r)
				}
			}
			stack = append(stack, open{name: token.Name.Local})
		case xml.CharData:
			top.text += string(token)
		case xml.EndElement:
			schema := junitSchema[top.name]
			if !regexp.MustCompile("^(?:" + schema.children + ")$").MatchString(top.children) {
				complain("%s holds %q", top.name, top.children)
			}
			if !schema.text && strings.TrimSpace(top.text) != "" {
				complain("%s holds the text %q", top.name, top.text)
			}
			stack = stack[:len(stack)-1]
		}
	}
}

func TestJUnitKeepsToThePublishedSchemas(t *testing.T) {
	odd := broken()
	odd.Run.Start = "some day"
	odd.Run.Environment = Environment{}
	odd.Trials[1].Skip = "control \x00 and <markup> & \"quotes\"\n]]>"
	for name, s := range map[string]*Set{"quick": quick(), "broken": broken(), "odd": odd, "empty": {Run: Run{Suite: "x"}}} {
		for _, breach := range checkJUnit(exported(t, s, WriteJUnit)) {
			t.Errorf("%s: %s", name, breach)
		}
	}
}

func TestJUnitCountsCellsThatFailOrAreSkipped(t *testing.T) {
	var suite junitSuite
	if err := xml.Unmarshal(exported(t, broken(), WriteJUnit), &suite); err != nil {
		t.Fatal(err)
	}
	var failed, skipped []string
	for _, c := range suite.Cases {
		if c.Failure != nil {
			failed = append(failed, c.Class)
		}
		if c.Skipped != nil {
			skipped = append(skipped, c.Class)
		}
	}
	slices.Sort(failed)
	if !slices.Equal(failed, []string{"ringbench.latency", "ringbench.lookup"}) || suite.Failures != 2 {
		t.Errorf("failed %v, counted %d", failed, suite.Failures)
	}
	if !slices.Equal(skipped, []string{"ringbench.movement"}) || suite.Skipped != 1 {
		t.Errorf("skipped %v, counted %d", skipped, suite.Skipped)
	}
	if suite.Tests != 6 {
		t.Errorf("%d tests, want one for each of 6 cells", suite.Tests)
	}
}

// The check of the schema has to see what is wrong, or it proves nothing.
func TestTheCheckOfTheSchemaCanFail(t *testing.T) {
	good := string(exported(t, broken(), WriteJUnit))
	for _, change := range [][2]string{
		{` hostname="localhost"`, ``},
		{`2026-01-02T03:04:05`, `2026-01-02T03:04:05Z`},
		{`<system-err></system-err>`, ``},
		{` type="failed"`, ``},
		{`tests="6"`, `tests="6" color="red"`},
		{`<skipped `, `<failure type="x"></failure><skipped `},
		{`time="0.0000`, `time="1e-4`},
		{`<properties>`, `<properties>text`},
		{`testsuite`, `suite`},
		{`</testsuite>`, ``},
	} {
		bad := strings.ReplaceAll(good, change[0], change[1])
		if bad == good {
			t.Errorf("%q does not occur", change[0])
		} else if len(checkJUnit([]byte(bad))) == 0 {
			t.Errorf("%q for %q passes", change[1], change[0])
		}
	}
}

// TestBenchstatReadsTheExport runs the real benchstat over two exports that
// differ in one allocation and by noise.
func TestBenchstatReadsTheExport(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "benchstat")
	if out, err := exec.Command("go", "build", "-o", tool, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("cannot build benchstat: %v\n%s", err, out)
	}
	base, head := quick(), quick()
	for i := range head.Trials {
		if v := head.Trials[i].Values; head.Trials[i].Measure == "allocations" && head.Trials[i].Algorithm == "jump" {
			v["allocs-per-lookup"] = 1
		}
	}
	for name, s := range map[string]*Set{"base": base, "head": head} {
		if err := WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return WriteBenchfmt(w, s) }); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(tool, "-filter", ".unit:(allocs/op OR moved-keys OR sec/op)", "base", "head")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, out)
	}
	text := string(out)
	find := func(unit, cell string) string {
		_, table, _ := strings.Cut(text, unit)
		for line := range strings.Lines(table) {
			if strings.Contains(line, cell) {
				return line
			}
		}
		t.Fatalf("benchstat shows no %s of %s:\n%s", unit, cell, text)
		return ""
	}
	// An exact value has no spread, and no test is made of a change: one value is
	// evidence enough, where of a measured one benchstat would ask for more.
	for unit, cell := range map[string]string{"allocs/op": "Allocations/algorithm=ring/nodes=10/", "moved-keys": "Movement/algorithm=modulo/nodes=100/"} {
		line := find(unit, cell)
		if strings.Count(line, "± 0%") != 2 || !strings.Contains(line, "0.00% (n=1)") || strings.Contains(line, "∞") {
			t.Errorf("%s is not shown as exact: %s", unit, line)
		}
	}
	if line := find("allocs/op", "Allocations/algorithm=jump/nodes=10/"); !strings.Contains(line, "1.000") {
		t.Errorf("the added allocation is not shown: %s", line)
	}
	if line := find("sec/op", "Lookup/algorithm=ring/nodes=10/"); !strings.Contains(line, "±") || !strings.Contains(line, "n=9") {
		t.Errorf("a timing is not shown with its spread: %s", line)
	}
	for _, complaint := range []string{"exact distribution expected", "missing", "units differ"} {
		if strings.Contains(text, complaint) {
			t.Errorf("benchstat complains: %s\n%s", complaint, text)
		}
	}
	if testing.Verbose() {
		t.Log(text)
	}
}
