package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

func captionOf(t *testing.T, set *results.Set, name string) string {
	t.Helper()
	for _, f := range All(set) {
		if f.Name == name {
			return f.Caption
		}
	}
	t.Fatalf("no figure %s", name)
	return ""
}

func TestCaptionsSayWhatTheDataSay(t *testing.T) {
	set := quick()
	for i := range set.Trials {
		tr := &set.Trials[i]
		switch {
		case tr.Measure == "shares" && tr.Nodes == 10 && strings.Contains(string(tr.Params), ":160}"):
			tr.Values = map[string]float64{"share-cv": 0.0749, "share-peak": 1.124}
		case tr.Measure == "movement" && tr.Algorithm == "modulo" && tr.Nodes == 10 && tr.Schedule == "add-one":
			tr.Values = map[string]float64{"moved-fraction": 10.0 / 11, "moved-minimum": 1.0 / 11}
		case tr.Measure == "lookup" && tr.Algorithm == "modulo" && tr.Nodes == 1000:
			tr.Values = map[string]float64{"lookup-ns": 1.25}
		}
	}
	for name, want := range map[string]string{
		"vnodes-spread": "With 10 nodes and 160 vnodes the shares of the hash space differ by 7.49%",
		"vnodes-peak":   "owns 1.12 times its fair share",
		"movement":      "With 10 nodes, when one node joins, modulo moves 90.9% of the keys, 10 times the least that must move (9.09%).",
		"lookup":        "With 1,000 nodes under uniform requests one lookup of a hashed key takes from 1.25 ns (modulo) to",
		"allocations":   "No: none of the 8 contestants allocates",
		"memory":        "takes from 0 B (modulo) to",
		"trade-off":     "Not considered for the line, as it moves most keys at every change: modulo.",
		"bounded":       "no node takes more than 1.25 times its fair share",
		"hot-keys":      "the least is 1.25 (bounded ring 1.25)",
	} {
		if got := captionOf(t, set, name); !strings.Contains(got, want) {
			t.Errorf("%s says %q, want %q", name, got, want)
		}
	}
}

func TestAnAllocatingLookupIsNamed(t *testing.T) {
	set := quick()
	for i := range set.Trials {
		if tr := &set.Trials[i]; tr.Measure == "allocations" && tr.Algorithm == "jump" && tr.Nodes == 100 {
			tr.Values = map[string]float64{"allocs-per-lookup": 2, "bytes-per-lookup": 64}
		}
	}
	if got := captionOf(t, set, "allocations"); !strings.HasPrefix(got, "jump makes 2 allocations in a lookup at 100 nodes") {
		t.Error(got)
	}
}

// The theory and sampling lines of the sweep come from the summary: at n = 10
// and v = 160, sqrt((n-1)/(nv+1)) and sqrt((n-1)/K).
func TestSweepShowsTheoryAndSampling(t *testing.T) {
	r := arrange(quick())
	s := r.sweep("share-cv")
	if d := cmp.Diff([]int{10, 100}, s.nodes); d != "" {
		t.Fatal(d)
	}
	for _, p := range s.rows[10] {
		if want := math.Sqrt(9 / (10*p.vnodes + 1)); math.Abs(p.Theory/want-1) > 1e-9 {
			t.Errorf("theory at %v vnodes: %v, want %v", p.vnodes, p.Theory, want)
		}
	}
	if k, y := r.sampling(10); k != 1e6 || math.Abs(y-0.003) > 1e-9 {
		t.Errorf("sampling noise of %d keys is %v, want 0.003 of a million", k, y)
	}
}

// Zipf(0.99) gives its top key 7.83% of the requests over 1e5 keys and 6.50%
// over 1e6.
func TestHottestKey(t *testing.T) {
	for _, c := range []struct {
		popularity string
		keys       int
		want       float64
	}{{"zipf:0.99", 1e5, 0.0783}, {"zipf:0.99", 1e6, 0.0650}, {"zipf:0", 1000, 0.001}, {"uniform", 1000, 0}, {"zipf:-1", 10, 0}, {"zipf:1", 0, 0}, {"zipf:x", 10, 0}} {
		if got := hottestKey(c.popularity, c.keys); math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%s over %d keys: %.5f, want %.4f", c.popularity, c.keys, got, c.want)
		}
	}
}

func TestHarmonicIsTheSum(t *testing.T) {
	for _, s := range []float64{0, 0.5, 0.99, 1, 1.2, 3} {
		for _, n := range []int{1, 1000, 1001, 30000} {
			sum := 0.0
			for k := n; k >= 1; k-- {
				sum += math.Pow(float64(k), -s)
			}
			if got := harmonic(n, s); math.Abs(got/sum-1) > 1e-11 {
				t.Errorf("n = %d, s = %v: %v, want %v", n, s, got, sum)
			}
		}
	}
}

func TestNothingBeatsTheParetoFront(t *testing.T) {
	coordinate := rapid.Map(rapid.IntRange(1, 9), func(i int) float64 { return float64(i) })
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bubble {
			return bubble{x: coordinate.Draw(t, "x"), y: coordinate.Draw(t, "y")}
		}), 1, 12).Draw(t, "bubbles")
		front := paretoFront(all)
		beats := func(a, b bubble) bool { return a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y) }
		for _, f := range front {
			for _, b := range all {
				if beats(b, f) {
					t.Fatalf("%v beats %v of the front", b, f)
				}
			}
		}
		for _, b := range all {
			if !slices.ContainsFunc(front, func(f bubble) bool { return f.x == b.x && f.y == b.y || beats(f, b) }) {
				t.Fatalf("%v is beaten by nothing, and not on the front", b)
			}
		}
	})
}

func TestPlaceAvoidsWhatIsTaken(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 200, Y: 200}}
	at := vg.Point{X: 100, Y: 100}
	first := place(at, 5, 40, 10, bounds, nil, nil)
	if first.Min.X <= 105 {
		t.Errorf("a free place to the right is not taken: %v", first)
	}
	taken := []vg.Rectangle{first}
	for range 5 {
		box := place(at, 5, 40, 10, bounds, nil, taken)
		for _, other := range taken {
			if overlap(box, other) > 0 {
				t.Errorf("%v overlaps %v", box, other)
			}
		}
		taken = append(taken, box)
	}
	if box := place(vg.Point{X: 198, Y: 100}, 5, 40, 10, bounds, nil, nil); outside(box, bounds) > 0 {
		t.Errorf("%v is out of bounds", box)
	}
}

func TestCellsOfACircleAddUpToTheWhole(t *testing.T) {
	tr := results.Trial{Nodes: 3, Params: []byte(`{"vnodes":1}`),
		Series: map[string][]float64{"circle_end": {0.1, 0.5, 0.6}, "circle_node": {2, 0, 1}}}
	h, ok := ringOf(tr)
	if !ok {
		t.Fatal("a whole circle is not taken")
	}
	want := []float64{0.4, 0.1, 0.5} // node 2 wraps around: from 0.6 to 0.1
	for i, s := range h.share() {
		if math.Abs(s-want[i]) > 1e-12 {
			t.Errorf("node %d owns %v, want %v", i, s, want[i])
		}
	}
	tr.Series = map[string][]float64{"circle_end": {0.1, 0.5, 0.5}, "circle_node": {2, 0, 1}}
	if h, ok := ringOf(tr); !ok || len(h.cells) != 2 {
		t.Errorf("two points at one place make %d cells, want 2", len(h.cells))
	}
	for name, series := range map[string]map[string][]float64{
		"descending":     {"circle_end": {0.5, 0.1}, "circle_node": {0, 1}},
		"unknown node":   {"circle_end": {0.1, 0.5}, "circle_node": {0, 3}},
		"uneven lengths": {"circle_end": {0.1, 0.5}, "circle_node": {0}},
		"none":           nil,
	} {
		if _, ok := ringOf(results.Trial{Nodes: 3, Series: series}); ok {
			t.Errorf("%s: taken for a circle", name)
		}
	}
}

func TestWorkloadsAreNamedInPlainWords(t *testing.T) {
	for workload, want := range map[string]string{
		"seq:1000000+uniform": "every key asked alike", "uuid:10+zipf:0.99": "Zipf 0.99", "file:a+b.txt:10+counts": "requests as counted", "": "", "odd": "",
	} {
		if got := popularityName(workload); got != want {
			t.Errorf("%q is called %q, want %q", workload, got, want)
		}
	}
}

func TestSchedulesAreNamedInPlainWords(t *testing.T) {
	for schedule, want := range map[string]string{"add-one": "one node joins", "reweight:2": "one weight is multiplied by 2", "grow:3": "3 nodes join", "odd": "odd"} {
		if got := scheduleName(schedule); got != want {
			t.Errorf("%s is called %q, want %q", schedule, got, want)
		}
	}
}

func TestListsCanBeTakenApart(t *testing.T) {
	for want, names := range map[string][]string{
		"":                               nil,
		"ring":                           {"ring"},
		"ring, ring 1:2:4 and jump":      {"ring", "ring 1:2:4", "jump"},
		`"ring label={name},x" and jump`: {"ring label={name},x", "jump"},
	} {
		if got := enumerate(names); got != want {
			t.Errorf("%q are listed as %s, want %s", names, got, want)
		}
	}
}

func TestThinKeepsTheEnds(t *testing.T) {
	if got := thin([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3); !slices.Equal(got, []int{1, 5, 9}) {
		t.Error(got)
	}
}

func TestLinesThatCoverEachOtherBecomeOne(t *testing.T) {
	at := func(y float64) []point { return []point{{1, y, y, y}} }
	names := func(lines []line) (ns []string) {
		for _, l := range merge(lines) {
			ns = append(ns, l.name)
		}
		return ns
	}
	a, b, c, d := line{name: "a", points: at(0)}, line{name: "b", points: at(0)}, line{name: "c", points: at(0)}, line{name: "d", points: at(1)}
	for _, x := range []struct {
		lines []line
		want  []string
	}{
		{[]line{a, b, c}, []string{"all 3"}},
		{[]line{a, b, d}, []string{"a and b", "d"}},
		{[]line{a, b, c, d}, []string{"a and 2 more", "d"}},
		{[]line{a}, []string{"a"}},
	} {
		if d := cmp.Diff(x.want, names(x.lines)); d != "" {
			t.Error(d)
		}
	}
}

// A sentence under a figure is there only as far as the data bear it out.
func TestCaptionsClaimNoMoreThanTheDataShow(t *testing.T) {
	without := func(set *results.Set, out func(*results.Trial) bool) *results.Set {
		set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool { return out(&tr) })
		return set
	}
	again := func(tr results.Trial, seed uint64, values map[string]float64) results.Trial {
		tr.Seed, tr.Values = seed, values
		return tr
	}
	for name, c := range map[string]struct {
		figure, want, not string
		set               func() *results.Set
	}{
		"the bound is that of all placements": {"bounded", "no node takes more than 1.40 times", "1.39 times", func() *results.Set {
			set := quick()
			for _, tr := range set.Trials {
				if tr.Measure == "bounded" {
					set.Trials = append(set.Trials, again(tr, 2, map[string]float64{"load-peak": 1.4, "spill-fraction": tr.Values["spill-fraction"]}))
				}
			}
			return set
		}},
		"the least moves are those of each contestant": {"movement", "no contestant moves more than 1.05 times the least that must move (ring 1:2:4: 5.25%", "more than 5.25%", func() *results.Set {
			set := without(quick(), func(tr *results.Trial) bool {
				return tr.Measure == "movement" && (tr.Algorithm == "modulo" || tr.Nodes != 10)
			})
			for i := range set.Trials {
				if tr := &set.Trials[i]; tr.Measure == "movement" {
					tr.Values = map[string]float64{"moved-fraction": 0.0909, "moved-minimum": 0.0909}
					if tr.Weights != "" {
						tr.Values = map[string]float64{"moved-fraction": 0.0525, "moved-minimum": 0.05}
					}
				}
			}
			return set
		}},
		"one placement is no distribution": {"vnodes-peak", "in the one placement", "in twenty", func() *results.Set {
			return without(quick(), func(tr *results.Trial) bool { return tr.Measure == "shares" && tr.Seed != 1 })
		}},
		"nor has it a band": {"vnodes-spread", "Four times as many vnodes halve that.", "90%", func() *results.Set {
			return without(quick(), func(tr *results.Trial) bool { return tr.Measure == "shares" && tr.Seed != 1 })
		}},
		"floors that were not measured": {"lookup", "from", "Grey", func() *results.Set {
			return without(quick(), func(tr *results.Trial) bool { return results.IsControl(tr.Algorithm) })
		}},
		"a floor without a ring": {"lookup", "Grey: the measuring loop alone.", "one read", func() *results.Set {
			return without(quick(), func(tr *results.Trial) bool { return tr.Algorithm == "ring" && tr.Measure == "lookup" })
		}},
		"chance, which no theory tells of weights": {"balance", "differ by", "Grey", func() *results.Set {
			return without(quick(), func(tr *results.Trial) bool { return tr.Measure == "balance" && tr.Weights == "" })
		}},
		"memory that was not measured": {"trade-off", "by more than noise, than those on the dashed line", "memory", func() *results.Set {
			set := without(quick(), func(tr *results.Trial) bool { return tr.Measure == "memory" })
			for i := range set.Trials {
				delete(set.Trials[i].Values, "footprint-bytes")
			}
			return set
		}},
		"shares of weighted nodes": {"ring", "owns 1.07 times its fair share", "the line is a fair share", func() *results.Set {
			set := quick()
			for i := range set.Trials {
				if tr := &set.Trials[i]; tr.Measure == "shares" {
					tr.Weights, tr.Values["share-peak"] = "nodes.csv", 1.07
				}
			}
			return set
		}},
	} {
		got := captionOf(t, c.set(), c.figure)
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: %s says %q, want %q and not %q", name, c.figure, got, c.want, c.not)
		}
	}
}
