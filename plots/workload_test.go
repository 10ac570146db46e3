package plots

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

func figureOf(t *testing.T, set *results.Set, name string) Figure {
	t.Helper()
	for _, f := range All(set) {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure %s", name)
	return Figure{}
}

func TestTheWorkloadIsTheOneThatMostContestantsHave(t *testing.T) {
	row := func(label, workload string, keys int) results.Row {
		cell := "balance/algorithm=a/nodes=1"
		if name, hash, hashed := strings.Cut(label, " "); hashed {
			cell += "/hash=" + hash
			label = name + " " + hash
		}
		return results.Row{Label: label, Workload: workload, Keys: keys, Cell: cell}
	}
	for name, c := range map[string]struct {
		rows           []results.Row
		want, timed    string
		left, leftTime []string
	}{
		"none":                           {},
		"one":                            {[]results.Row{row("a", "k+uniform", 9)}, "k+uniform", "k+uniform", nil, nil},
		"most":                           {[]results.Row{row("a", "a+uniform", 9), row("b", "z+uniform", 9), row("c", "z+uniform", 9)}, "z+uniform", "z+uniform", []string{"a"}, []string{"a"}},
		"most, though it is skewed":      {[]results.Row{row("a", "a+uniform", 9), row("b", "z+zipf:1", 9), row("c", "z+zipf:1", 9)}, "z+zipf:1", "a+uniform", []string{"a"}, []string{"b", "c"}},
		"as many, uniform first":         {[]results.Row{row("a", "a+zipf:1", 99), row("a", "b+uniform", 9)}, "b+uniform", "b+uniform", nil, nil},
		"as many, then most keys":        {[]results.Row{row("a", "a+uniform", 9), row("a", "b+uniform", 10)}, "b+uniform", "b+uniform", nil, nil},
		"hashes of one contestant count": {[]results.Row{row("a", "a+uniform", 9), row("a md5", "a+uniform", 9), row("a java", "a+uniform", 9), row("a", "b+uniform", 9), row("b", "b+uniform", 9)}, "b+uniform", "b+uniform", nil, nil},
	} {
		for i, pair := range [][2]pick{{commonest(c.rows), {workload: c.want, left: c.left}}, {timed(c.rows), {workload: c.timed, left: c.leftTime}}} {
			got, want := pair[0], pair[1]
			if got.workload != want.workload || !slices.Equal(got.left, want.left) {
				t.Errorf("%s (%d): %q without %q, want %q without %q", name, i, got.workload, got.left, want.workload, want.left)
			}
			for _, row := range got.rows {
				if row.Workload != got.workload {
					t.Errorf("%s: a row under %s among those under %s", name, row.Workload, got.workload)
				}
			}
		}
	}
}

// The run of two workloads once showed ring and modulo, and said that nothing beats
// ring: the alphabet had chosen the keys of another suite.
func TestTheTradeOffShowsAllThatTheRunHas(t *testing.T) {
	f := figureOf(t, twoWorkloads(t), "trade-off")
	checkSound(t, f)
	svg := string(drawn(t, f, "svg"))
	for _, label := range []string{"ring", "maglev", "modulo", "jump", "rendezvous", "counting noise of 1M keys"} {
		if !strings.Contains(svg, ">"+label+"<") {
			t.Errorf("the figure does not show %s", label)
		}
	}
	for _, want := range []string{"balance under seq:key-:0:1000000+uniform.", "No contestant is better", "dashed line: maglev.", "Each timing is one reading"} {
		if !strings.Contains(f.Caption, want) {
			t.Errorf("%q does not say %q", f.Caption, want)
		}
	}
	if got := captionOf(t, twoWorkloads(t), "balance"); !strings.Contains(got, "With 100 nodes under seq:key-:0:1000000+uniform the keys per node differ by 0.964% of the mean with modulo and by 7.65% with ring.") {
		t.Error(got)
	}
}

// With 100 nodes and 100,000 keys counting alone makes 3.15% of one placement, give or
// take a seventh: two contestants at 3.22% and 3.15% are equally even, and the faster
// is beaten by nothing.
func TestWhatNoiseCannotTellApartTies(t *testing.T) {
	at := func(label string, x, low, high, y float64) bubble {
		return bubble{label: label, name: label, x: x, xs: interval{low, high}, y: y, ys: countingNoise(y, 100, 1)}
	}
	jump, rendezvous, other, slots, ring := at("jump", 16, 15, 17, 0.0322), at("rendezvous", 70, 69, 71, 0.0315), at("other", 16.5, 16, 18, 0.0330),
		at("slots", 80, 79, 81, 0.013), at("ring", 6, 5, 7, 0.08)
	if n := jump.ys; math.Abs(n.low-0.0322*(1-2/math.Sqrt(198))) > 1e-9 || math.Abs(n.high-0.0322*(1+2/math.Sqrt(198))) > 1e-9 {
		t.Errorf("the noise around 3.22%% is from %v to %v", n.low, n.high)
	}
	if wide, narrow := countingNoise(1, 100, 1), countingNoise(1, 100, 25); math.Abs((narrow.high-1)/(wide.high-1)-0.2) > 1e-9 {
		t.Error("25 placements do not make the noise a fifth")
	}
	for _, c := range []struct {
		bubbles []bubble
		want    string
	}{
		{[]bubble{jump, rendezvous}, "jump"},
		{[]bubble{rendezvous, other, jump}, "jump other"},
		{[]bubble{jump, slots}, "jump slots"},
		{[]bubble{slots, jump, rendezvous, ring, other}, "ring jump other slots"},
	} {
		var names []string
		for _, b := range notBeaten(c.bubbles) {
			names = append(names, b.label)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("not beaten are %s, want %s", got, c.want)
		}
	}
	want := "With 100 nodes. No contestant shown is better in one and no worse in the other, by more than noise, than those on the dashed line: jump; within noise of it: other."
	if got := frontCaption(notBeaten([]bubble{rendezvous, other, jump}), 100, pick{}, pick{}, []string{"x"}); got != want {
		t.Errorf("the caption is %q", got)
	}
}

// Intervals that overlap in turn may let all be beaten; a front is there all the same,
// and without noise it is that of the centres.
func TestThereIsAlwaysAFront(t *testing.T) {
	value := rapid.Float64Range(1, 3)
	rapid.Check(t, func(t *rapid.T) {
		noise := rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "noise")
		bubbles := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bubble {
			x, y := value.Draw(t, "x"), value.Draw(t, "y")
			w := noise * rapid.Float64Range(0, 1).Draw(t, "w")
			return bubble{x: x, y: y, xs: interval{x - w, x + w}, ys: interval{y * (1 - noise), y * (1 + noise)}}
		}), 1, 10).Draw(t, "bubbles")
		front := notBeaten(bubbles)
		if len(front) == 0 {
			t.Fatal("there is no front")
		}
		if noise > 0 {
			return
		}
		for _, b := range bubbles {
			beaten := slices.ContainsFunc(bubbles, func(o bubble) bool { return o.x <= b.x && o.y <= b.y && (o.x < b.x || o.y < b.y) })
			on := slices.ContainsFunc(front, func(o bubble) bool { return o.x == b.x && o.y == b.y })
			if on == beaten {
				t.Fatalf("%v, %v: on the front %v, beaten %v", b.x, b.y, on, beaten)
			}
		}
	})
}

// withZipfTimings is the quick run in which lookups are timed under hot keys too, ten
// times as fast, the floors among them.
func withZipfTimings() *results.Set {
	set := quick()
	for _, tr := range slices.Clone(set.Trials) {
		if tr.Measure != "lookup" && tr.Measure != "latency" && tr.Measure != "key-lookup" || !strings.HasSuffix(tr.Workload, "+uniform") {
			continue
		}
		tr.Cell = strings.Replace(tr.Cell, "workload=seq:1000000+uniform", "workload=random:1000000+zipf:0.99", 1)
		if tr.Cell == "" || tr.Workload == "" {
			continue
		}
		tr.Workload = "random:1000000+zipf:0.99"
		values := map[string]float64{}
		for metric, v := range tr.Values {
			values[metric] = v / 10
		}
		tr.Values = values
		// Those of hot keys come first.
		set.Trials = append([]results.Trial{tr}, set.Trials...)
	}
	return set
}

func TestTimingsUnderTwoPopularitiesAreNotMixed(t *testing.T) {
	spoken := regexp.MustCompile(`aria-label="[^"]*"`)
	body := func(f Figure) string { return spoken.ReplaceAllString(string(f.svg(true)), "") }
	want := map[string]string{}
	for _, f := range All(quick()) {
		want[f.Name] = body(f)
	}
	for _, f := range All(withZipfTimings()) {
		if body(f) != want[f.Name] {
			t.Errorf("timings under hot keys change the figure %s", f.Name)
		}
		says := strings.Contains(f.Caption, "under uniform requests")
		if want := f.Name == "lookup" || f.Name == "latency" || f.Name == "trade-off"; says != want {
			t.Errorf("%s names the workload: %v, there was a choice: %v\n%s", f.Name, says, want, f.Caption)
		}
	}
}

func TestARowWithoutAValueSaysSo(t *testing.T) {
	set := questions()
	set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool {
		return tr.Measure == "movement" && tr.Algorithm == "jump" && tr.Schedule == "double"
	})
	f := figureOf(t, set, "churn")
	if n := strings.Count(string(drawn(t, f, "svg")), ">not measured<"); n != 1 {
		t.Errorf("%d rows say that nothing was measured, want 1", n)
	}
	if strings.Contains(string(drawn(t, figureOf(t, questions(), "churn"), "svg")), "not measured") {
		t.Error("a row says that nothing was measured, and everything was")
	}
}

// Movement of each contestant at one number of nodes only, 12 of 14 of them at 100.
func TestMovementShowsTheSizesThatMostHave(t *testing.T) {
	set := &results.Set{Run: quick().Run, End: quick().End}
	base := joins().Trials[0]
	add := func(algorithm string, n int) {
		tr := base
		tr.Algorithm, tr.Nodes = algorithm, n
		tr.Cell = results.CellName("movement", algorithm, n, nil, tr.Workload, "add-one", "", "")
		tr.Values = map[string]float64{"moved-fraction": 1.1 / float64(n+1), "moved-minimum": 1 / float64(n+1)}
		set.Trials = append(set.Trials, tr)
	}
	for i := range 12 {
		add(fmt.Sprintf("wide-%c", 'a'+i), 100)
	}
	for _, n := range []int{10, 60, 128, 1000} {
		add("ring", n)
	}
	add("only-sixty", 60)
	f := figureOf(t, set, "movement")
	checkSound(t, f)
	svg := string(drawn(t, f, "svg"))
	for i := range 12 {
		if !strings.Contains(svg, fmt.Sprintf(">wide %c<", 'a'+i)) {
			t.Errorf("wide %c has no row", 'a'+i)
		}
	}
	if strings.Contains(svg, ">only sixty<") || strings.Contains(svg, "not measured") {
		t.Error("a row is empty")
	}
	if want := " Measured with none of 10; 100; 1,000 nodes, and so not shown: only sixty."; !strings.HasSuffix(f.Caption, want) {
		t.Errorf("%q does not end in %q", f.Caption, want)
	}
}

func TestSizesApart(t *testing.T) {
	for _, c := range []struct {
		have map[int]int // contestants by number of nodes
		want []int
	}{
		{map[int]int{10: 1, 100: 1, 129: 1, 1000: 1, 1025: 1}, []int{10, 100, 1000}},
		{map[int]int{10: 9, 60: 2, 100: 18, 128: 7, 129: 13, 1000: 7}, []int{10, 100, 1000}},
		{map[int]int{10: 1, 100: 1, 129: 2, 1000: 1}, []int{10, 129, 1000}},
		{map[int]int{1: 1, 2: 1, 4: 1, 8: 1, 16: 1}, []int{1, 4, 16}},
		{map[int]int{7: 1}, []int{7}},
		{map[int]int{math.MaxInt: 1, 1: 2}, []int{1, math.MaxInt}},
	} {
		var rows []results.Row
		for n, contestants := range c.have {
			for i := range contestants {
				rows = append(rows, results.Row{Nodes: n, Label: strconv.Itoa(i)})
			}
		}
		if got := apart(rows, 3); !slices.Equal(got, c.want) {
			t.Errorf("of %v are shown %v, want %v", c.have, got, c.want)
		}
	}
}

func TestNumbersAroundAPowerOfTwoStandBesideTheLine(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  []float64
	}{
		{[]int{10, 16, 17, 100, 128, 129, 1000, 1024, 1025}, []float64{16, 17, 128, 129, 1024, 1025}},
		{[]int{10, 100, 129, 1000}, []float64{129}},
		{[]int{10, 100, 128}, []float64{128}},
		{[]int{16, 64, 256}, nil},
		{[]int{10, 16, 64, 256}, nil},
		{[]int{16, 17, 256, 257}, []float64{17, 257}},
		{[]int{17, 33}, nil},
		{[]int{2, 3, 5, 8, 9}, nil},
		{nil, nil},
	} {
		if d := cmp.Diff(c.want, asideOf(c.sizes)); d != "" {
			t.Errorf("%v: %s", c.sizes, d)
		}
	}

	// Ring takes 1 us at 129 nodes of four; the line goes on from 100 to 1,000.
	f := figureOf(t, quick(), "lookup")
	svg := string(drawn(t, f, "svg"))
	if !strings.Contains(svg, "not on the lines: powers of two and one node more (129)") {
		t.Error("the figure does not say which numbers are not on the lines")
	}
	for _, l := range arrange(quick()).linesOverNodes(arrange(quick()).metric("lookup", "lookup-ns")) {
		var on []float64
		for _, p := range l.joined().points {
			on = append(on, p.x)
		}
		if !slices.Equal(on, []float64{10, 100, 1000}) || len(l.points) != 4 || l.end().x != 1000 {
			t.Errorf("%s: the line joins %v of %d points", l.name, on, len(l.points))
		}
	}
	// Each contestant's stroke has as many corners as it joins points, each point a marker.
	stroke := regexp.MustCompile(`<path d="M([0-9.,L]+)" style="fill:none;stroke:#009E73;stroke-width:1.6`)
	m := stroke.FindStringSubmatch(svg)
	if m == nil || strings.Count(m[1], "L") != 2 {
		t.Errorf("the line of jump is drawn as %q, want three corners", m)
	}
	if n := strings.Count(svg, `style="fill:#009E73"`); n != 4 {
		t.Errorf("jump has %d markers, want 4", n)
	}
}

// tickAt returns where the labels of ticks of a figure are, from left to right.
func tickAt(t *testing.T, svg []byte, label string) (xs []float64) {
	found, _, _ := texts(t, svg)
	for _, text := range found {
		if text.s == label {
			xs = append(xs, float64(text.box.Min.X+text.box.Max.X)/2)
		}
	}
	slices.Sort(xs)
	return xs
}

// The hottest of a million keys under Zipf 0.99 has 1 in the sum of k^-0.99 of all
// requests; on a node of n of equal weight that is n times as much of its fair share.
func TestTheHottestKeyStandsInEveryPanel(t *testing.T) {
	sum := 0.0
	for k := 1_000_000; k >= 1; k-- {
		sum += math.Pow(float64(k), -0.99)
	}
	svg := drawn(t, figureOf(t, quick(), "hot-keys"), "svg")
	var lines []float64
	for _, m := range regexp.MustCompile(`<path d="M([0-9.]+),[0-9.]+L([0-9.]+),[0-9.]+" style="fill:none;stroke:#7D8694;stroke-width:1.1;stroke-dasharray`).FindAllStringSubmatch(string(svg), -1) {
		if m[1] != m[2] {
			t.Errorf("a line from %s to %s", m[1], m[2])
		}
		x, _ := strconv.ParseFloat(m[1], 64)
		lines = append(lines, x)
	}
	ones, tens := tickAt(t, svg, "1"), tickAt(t, svg, "10")
	if len(lines) != 3 || len(ones) != 3 || len(tens) != 3 {
		t.Fatalf("%d lines in %d panels", len(lines), len(ones))
	}
	slices.Sort(lines)
	found, _, _ := texts(t, svg)
	for i, n := range []float64{10, 100, 1000} {
		for _, text := range found { // a heading begins where its frame does
			if text.s == plural(int(n), "node") && float64(text.box.Min.X) > lines[i] {
				t.Errorf("with %v nodes the line is to the left of the frame", n)
			}
		}
		want := ones[i] + (tens[i]-ones[i])*math.Log10(n/sum)
		if math.Abs(lines[i]-want) > 0.6 {
			t.Errorf("with %v nodes the line of %.2f times a fair share is at %.1f, want %.1f", n, n/sum, lines[i], want)
		}
	}
}

// The same keys dealt out under two sets of them are two rows of a table of the report.
func TestTwoSetsOfKeysAreTwoRowsOfATable(t *testing.T) {
	r := arrange(twoWorkloads(t))
	m, _ := results.MetricByName("balance-cv")
	table := r.table(r.metric("balance", "balance-cv"), m)
	got := map[string]string{}
	for _, row := range table.Rows {
		if _, twice := got[row.Name+" "+row.Under]; twice {
			t.Errorf("%s, %s is there twice", row.Name, row.Under)
		}
		got[row.Name+" "+row.Under] = row.Cells[0].Value
	}
	for row, want := range map[string]string{"ring seq:100000+uniform": "8.04%", "ring uuid:100000+uniform": "8.32%", "ring seq:key-:0:1000000+uniform": "7.65%", "modulo java seq:100000+uniform": "0.55%"} {
		if got[row] != want {
			t.Errorf("%s has %q, want %s", row, got[row], want)
		}
	}
}

// Keys that were dealt out under one hash tell nothing of hashes: a row of the map
// would be empty but for one cell.
func TestKeysUnderOneHashAreNamedInPlaceOfAnEmptyRow(t *testing.T) {
	f := figureOf(t, twoWorkloads(t), "key-hashes")
	svg := string(drawn(t, f, "svg"))
	if !strings.Contains(svg, ">ring seq:100000<") || strings.Contains(svg, ">ring seq:key-:0:1000000<") {
		t.Error("the rows are not those of three hashes")
	}
	if !strings.Contains(f.Caption, "with fewer than 3 hashes: ") || !strings.Contains(f.Caption, "ring seq:key-:0:1000000") {
		t.Errorf("%q does not name the keys that are not shown", f.Caption)
	}
}

// Contestants beyond those that have room count in what the caption says.
func TestTheWorstOfManyQuorumsIsOfAll(t *testing.T) {
	set := &results.Set{Run: quick().Run, End: quick().End}
	for i := range maxQuorumRows + 6 {
		part := 0.1 + 0.01*float64(i)
		algorithm := fmt.Sprintf("other-%c%c", 'a'+i/26, 'a'+i%26)
		set.Trials = append(set.Trials, results.Trial{Type: "trial", Measure: "replicas", Algorithm: algorithm, Nodes: 12, Keys: 1000, Seed: 1, Params: []byte("{}"),
			Workload: "seq:1000+uniform", Cell: results.CellName("replicas", algorithm, 12, []results.Field{{Name: "replicas", Value: "3"}}, "seq:1000+uniform", "", "", ""),
			Values: map[string]float64{"quorum-exposure": part}})
	}
	got := captionOf(t, set, "quorums")
	if !strings.Contains(got, "with other aa, and of 39% with other bd.") || !strings.HasSuffix(got, "for want of room: other ay, other az, other ba, other bb, other bc and other bd.") {
		t.Error(got)
	}
}

// No node takes more than the most in any placement, in whichever cell that was.
func TestTheMostOfABoundIsThatOfAllItsCells(t *testing.T) {
	set := quick()
	for _, tr := range slices.Clone(set.Trials) {
		if tr.Measure == "bounded" {
			for requests, peak := range map[string]float64{"400": 1.2, "500": 1.31, "600": 1.22} {
				of := tr
				of.Cell += "/requests=" + requests
				of.Values = map[string]float64{"load-peak": peak, "spill-fraction": 0}
				set.Trials = append(set.Trials, of)
			}
		}
	}
	if got := captionOf(t, set, "bounded"); !strings.Contains(got, "no node takes more than 1.31 times its fair share") {
		t.Error(got)
	}
}

// Lookups after removals under hot keys are not joined to those of even requests.
func TestRemovalsUnderTwoPopularitiesAreNotMixed(t *testing.T) {
	set := withRemovals()
	for _, tr := range slices.Clone(set.Trials) {
		if tr.Measure == "lookup" && strings.Contains(tr.Cell, "/after=") {
			tr.Cell = strings.Replace(tr.Cell, "workload=seq:1000000+uniform", "workload=random:1000000+zipf:0.99", 1)
			tr.Workload = "random:1000000+zipf:0.99"
			tr.Values = map[string]float64{"lookup-ns": tr.Values["lookup-ns"] / 10}
			set.Trials = append([]results.Trial{tr}, set.Trials...)
		}
	}
	want := strings.ReplaceAll(captionOf(t, withRemovals(), "removals"), "a lookup takes", "a lookup under uniform requests takes")
	if got := captionOf(t, set, "removals"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestALogarithmicScaleBeginsNearItsValues(t *testing.T) {
	for _, c := range []struct {
		values []float64
		min    float64
		label  string
	}{
		{[]float64{0.65, 70}, 0.5, "0.5"}, {[]float64{0.3, 70}, 0.2, "0.2"}, {[]float64{0.12, 70}, 0.1, "0.1"}, {[]float64{1.1, 70}, 1, "1"}, {[]float64{3, 7}, 1, "1"}, {[]float64{30, 70}, 50, ""},
	} {
		s := logScale(c.values, plain).upFrom(c.values)
		if c.label == "" { // one decade stays
			c.min, c.label = 10, "10"
		}
		if math.Abs(s.min/c.min-1) > 1e-9 || s.ticks[0].Label != c.label || math.Abs(s.ticks[0].Value/c.min-1) > 1e-9 {
			t.Errorf("%v: from %v, first tick %v %q, want %v", c.values, s.min, s.ticks[0].Value, s.ticks[0].Label, c.min)
		}
	}
}

func TestBoundsAreDrawnByName(t *testing.T) {
	f := figureOf(t, quick(), "bounded")
	checkSound(t, f)
	svg := drawn(t, f, "svg")
	if !strings.Contains(string(svg), ">limit 1.25<") || !strings.Contains(f.Caption, "the limit itself, 1 + epsilon") {
		t.Fatal("the bound has no name")
	}
	// Between the ticks of 1 and 100 of the left panel, at half of log10(1.25) of the way.
	found, _, height := texts(t, svg)
	at := map[string]float64{}
	for _, text := range found {
		if _, seen := at[text.s]; !seen && text.box.Min.X < 40 {
			at[text.s] = height - float64(text.box.Min.Y+text.box.Max.Y)/2
		}
	}
	var levels []float64
	for _, m := range regexp.MustCompile(`<path d="M[0-9.]+,([0-9.]+)L[0-9.]+,([0-9.]+)" style="fill:none;stroke:#7D8694;stroke-dasharray:1.5,2"`).FindAllStringSubmatch(string(svg), -1) {
		if m[1] == m[2] {
			y, _ := strconv.ParseFloat(m[1], 64)
			levels = append(levels, y)
		}
	}
	if want := at["1"] + (at["100"]-at["1"])*math.Log10(1.25)/2; len(levels) != 1 || math.Abs(levels[0]-want) > 1.5 {
		t.Errorf("levels are drawn at %v, want one at %.1f", levels, want)
	}
}

// Lookups under another popularity are a mark of their own beside those of the same
// keys asked for alike, and no mark where there are none such.
func TestLookupsUnderAnotherPopularityHaveTheirMark(t *testing.T) {
	rename := func(from, to string) *results.Set {
		set := quick()
		for i := range set.Trials {
			tr := &set.Trials[i]
			if tr.Measure == "lookup" && tr.Workload == "seq:1000000+zipf:0.99" {
				tr.Workload, tr.Cell = strings.Replace(tr.Workload, from, to, 1), strings.Replace(tr.Cell, from, to, 1)
			}
		}
		return set
	}
	without := func(drop func(*results.Trial) bool) *results.Set {
		set := quick()
		set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool { return drop(&tr) })
		return set
	}
	for name, tt := range map[string]struct {
		set  *results.Set
		want string // in the key and the caption, "" for no mark
	}{
		"Zipf":       {quick(), "Zipf 0.99"},
		"counts":     {rename("zipf:0.99", "counts"), "requests as counted"},
		"bytes":      {rename("zipf:0.99", "bytes"), ""},
		"other keys": {rename("seq:", "random:"), ""},
		"none": {without(func(tr *results.Trial) bool {
			return tr.Measure == "lookup" && strings.HasSuffix(tr.Workload, "+zipf:0.99")
		}), ""},
		"no uniform lookups": {without(func(tr *results.Trial) bool {
			return tr.Measure != "lookup" && tr.Measure != "latency" || tr.Measure == "lookup" && strings.HasSuffix(tr.Workload, "+uniform")
		}), ""},
	} {
		f, ok := (arrange(tt.set)).latency()
		if !ok {
			if name != "no uniform lookups" {
				t.Errorf("%s: no figure", name)
			}
			continue
		}
		text := string(drawn(t, f, "svg"))
		inKey := strings.Contains(text, ">independent lookups, "+tt.want+"<")
		inCaption := strings.Contains(f.Caption, " Under "+tt.want+", independent lookups take ")
		if tt.want == "" {
			inKey, inCaption = strings.Contains(text, ">independent lookups, "), strings.Contains(f.Caption, " Under ")
		}
		if inKey != (tt.want != "") || inCaption != (tt.want != "") {
			t.Errorf("%s: in the key %v, in the caption %v, want %q\n%s", name, inKey, inCaption, tt.want, f.Caption)
		}
		// 0.62 times the model's lookup; its noise is 2%.
		if tt.want != "" && !strings.Contains(text, ">"+duration(0.62*(6+3*math.Log10(1600)))+"<") {
			t.Errorf("%s: the row of ring does not begin with the mark", name)
		}
	}
}

// The figure of lookups draws the floors, the one read among them.
func TestTheLookupFigureHasBothFloors(t *testing.T) {
	text := string(drawn(t, figureOf(t, quick(), "lookup"), "svg"))
	for _, name := range []string{emptyLoop, oneRead} {
		if !strings.Contains(text, ">"+name+"<") {
			t.Errorf("no floor %q", name)
		}
	}
}
