package regress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A play is what two scripted workers do: what they tell when they are described and
// what each slice takes.
type play struct {
	described [2]response
	ops       [2]map[string]int                                      // 1,000 unless given
	slice     func(side int, cell string, round, slice int) response // wall 1 ms unless given

	mu     sync.Mutex
	asked  []request // slices, in order
	sides  []int     // whom
	opened [2]map[string]int
}

// cells describes timed cells alike on both sides.
func (p *play) cells(names ...string) *play {
	for side := range p.described {
		p.opened[side] = map[string]int{}
		for _, name := range names {
			metric, _, _ := strings.Cut(name, "/")
			p.described[side].Cells = append(p.described[side].Cells, cellInfo{name, metric + "-ns"})
		}
	}
	return p
}

// An actor is both ends of a worker of a play.
type actor struct {
	bytes.Buffer // what it has answered
	*play
	side  int
	round map[string]int // by cell, how often a worker of the side was opened for it
}

func (a *actor) Write(line []byte) (int, error) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var told response
	switch r.Do {
	case "describe":
		told = a.described[a.side]
	case "calibrate":
		for _, c := range r.Cells {
			n, given := a.ops[a.side][c.Name]
			if !given {
				n = 1000
			}
			told.Operations = append(told.Operations, n)
		}
	case "open":
		for _, c := range r.Cells {
			a.round[c.Name] = a.opened[a.side][c.Name]
			a.opened[a.side][c.Name]++
		}
	case "slice":
		a.asked, a.sides = append(a.asked, r), append(a.sides, a.side)
		told = response{WallNs: 1_000_000, CPUNs: -1}
		if a.slice != nil {
			told = a.slice(a.side, r.Cell, a.round[r.Cell], r.Slice)
		}
		told.WallNs += told.WallNs * int64(r.Extra) / 1000
	}
	return len(line), json.NewEncoder(&a.Buffer).Encode(told)
}

func (*actor) Close() error { return nil }

// begin starts a worker of the play.
func (p *play) begin(side int) *worker {
	a := &actor{play: p, side: side, round: map[string]int{}}
	return &worker{side: side, in: a, out: bufio.NewReader(&a.Buffer), cmd: &exec.Cmd{ProcessState: &os.ProcessState{}}}
}

// layouts are the sides of a play, in two layouts each.
func layouts(name string) Side { return Side{Name: name, Programs: []string{"a", "b"}} }

// compared carries the comparison of the play out, in ten rounds unless told.
func (p *play) compared(t *testing.T, o Options) *results.Comparison {
	t.Helper()
	o.begin = p.begin
	if o.Rounds == 0 {
		o.Rounds = 10
	}
	c, err := Compare(context.Background(), layouts("base"), layouts("head"), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// verdicts writes the rows as "cell metric: verdict".
func verdicts(c *results.Comparison) string {
	var all []string
	for _, r := range c.Rows {
		all = append(all, r.Name+" "+r.Metric+": "+string(r.Verdict))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// slowed is a slice of 1 ms, in head so many times.
func slowed(side int, times float64) response {
	if side == base {
		times = 1
	}
	return response{WallNs: int64(1e6 * times), CPUNs: -1}
}

func TestTurnsAreStrictAndFavourNobodyWhoBegins(t *testing.T) {
	p := (&play{slice: func(side int, _ string, _, _ int) response { return slowed(side, 1.03) }}).cells()
	s := &session{order: workloads.Rand(1, "turns")}
	began := [2]int{}
	const rounds = 20
	for range rounds {
		p.asked, p.sides = nil, nil
		c := &timedCell{ops: 1000, sums: [2]map[int]uint64{{}, {}}}
		if err := s.turns([2]*worker{p.begin(base), p.begin(head)}, c, leastSlices); err != nil {
			t.Fatal(err)
		}
		began[p.sides[0]]++
		for i, side := range p.sides[1:] {
			if side == p.sides[i] {
				t.Fatalf("the sides were asked in the order %v", p.sides)
			}
		}
		if math.Abs(c.ratios[0]-math.Log(1.03)) > 1e-12 || c.base[0] != 1000 {
			t.Fatalf("side %d began: a change of %v from %v ns, want ln 1.03 from 1000", p.sides[0], c.ratios[0], c.base[0])
		}
	}
	if began[base] < rounds/5 || began[head] < rounds/5 {
		t.Errorf("base began %d times, head %d times", began[base], began[head])
	}
}

// Each side first takes a slice that is not counted, over keys of its own, and then
// all others once, in order: 32 where there are up to 8 cells, and else 16.
func TestEachRoundTakesTheWarmUpAndThenEachSliceOnce(t *testing.T) {
	names := []string{"lookup/1", "lookup/2", "lookup/3", "lookup/4", "lookup/5", "lookup/6", "lookup/7", "lookup/8", "lookup/9"}
	for _, tt := range []struct{ cells, slices int }{{1, 32}, {8, 32}, {9, 16}} {
		p := (&play{slice: func(side int, _ string, _, slice int) response {
			if slice == 32 {
				return slowed(side, 1000)
			}
			return slowed(side, 1)
		}}).cells(names[:tt.cells]...)
		c := p.compared(t, Options{Rounds: 8})
		want := []int{32}
		for i := range tt.slices {
			want = append(want, i)
		}
		got := map[[2]any][]int{}
		for i, r := range p.asked {
			key := [2]any{p.sides[i], r.Cell}
			got[key] = append(got[key], r.Slice)
		}
		for key, slices8 := range got {
			if !slices.Equal(slices8, slices.Repeat(want, 8)) {
				t.Fatalf("%d cells, %v: slices %v, want %v in each of 8 rounds", tt.cells, key, slices8, want)
			}
		}
		for _, r := range c.Rows {
			if r.Verdict != results.Unchanged {
				t.Errorf("%d cells: %s is %s, the warm-up counts", tt.cells, r.Name, r.Verdict)
			}
		}
	}
}

// changeByHand is the definition: the median of the means of all pairs of logarithms
// of neighbours' ratios, of those that kept the core: all but 3% of the slice by the
// thread's own clock, where there is one. When fewer than a quarter did, it is of all.
func changeByHand(first, second []response) float64 {
	calm := func(r response) bool { return r.CPUNs <= 0 || float64(r.CPUNs)/float64(r.WallNs) > 0.97 }
	var all, kept []float64
	for i := range first {
		for j := range second {
			if i == j || i == j+1 {
				x := math.Log(float64(second[j].WallNs)) - math.Log(float64(first[i].WallNs))
				if all = append(all, x); calm(first[i]) && calm(second[j]) {
					kept = append(kept, x)
				}
			}
		}
	}
	if 4*len(kept) < len(all)-3 { // the quarter is rounded down
		kept = all
	}
	var means []float64
	for i := range kept {
		for j := i; j < len(kept); j++ {
			means = append(means, (kept[i]+kept[j])/2)
		}
	}
	slices.Sort(means)
	if n := len(means); n%2 == 0 {
		return (means[n/2-1] + means[n/2]) / 2
	}
	return means[len(means)/2]
}

func TestTheChangeOfARoundIsThatOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lost := rapid.IntRange(0, 9).Draw(t, "slices of ten that lose their core")
		script := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) response {
			r := response{WallNs: rapid.Int64Range(500_000, 2_000_000).Draw(t, "wall"), CPUNs: -1}
			switch k := rapid.IntRange(0, 9).Draw(t, "core"); {
			case k < lost:
				r.CPUNs = int64(float64(r.WallNs) * rapid.SampledFrom([]float64{0.4, 0.9, 0.96}).Draw(t, "part"))
			case k%2 == 0:
				r.CPUNs = int64(float64(r.WallNs) * 0.98)
			}
			return r
		}), leastSlices, leastSlices)
		told := [2][]response{script.Draw(t, "base"), script.Draw(t, "head")}
		p := (&play{slice: func(side int, _ string, _, slice int) response {
			if slice == mostSlices {
				return response{WallNs: 1, CPUNs: -1}
			}
			return told[side][slice]
		}}).cells()
		s := &session{order: workloads.Rand(rapid.Uint64().Draw(t, "seed"), "turns")}
		c := &timedCell{ops: 100, sums: [2]map[int]uint64{{}, {}}}
		if err := s.turns([2]*worker{p.begin(base), p.begin(head)}, c, leastSlices); err != nil {
			t.Fatal(err)
		}
		want := changeByHand(told[base], told[head])
		if p.sides[0] == head {
			want = -changeByHand(told[head], told[base])
		}
		if math.Abs(c.ratios[0]-want) > 1e-9 {
			t.Fatalf("side %d began: a change of %v, want %v", p.sides[0], c.ratios[0], want)
		}
		walls := make([]float64, leastSlices)
		for i, r := range told[base] {
			walls[i] = float64(r.WallNs)
		}
		slices.Sort(walls)
		if got, want := c.base[0], (walls[0]+walls[1]+walls[2]+walls[3])/4/100; math.Abs(got-want) > 1e-9*want {
			t.Fatalf("base takes %v ns an operation, its fastest quarter %v", got, want)
		}
	})
}

func TestASliceOfNoTimeBreaksOff(t *testing.T) {
	p := (&play{slice: func(side int, _ string, _, _ int) response { return response{WallNs: int64(1 - side)} }}).cells("lookup/a")
	_, err := Compare(context.Background(), layouts("main"), layouts("mine"), Options{Rounds: 8, begin: p.begin})
	if !errors.Is(err, ErrWorker) || !strings.Contains(err.Error(), "mine timed a slice of lookup/a at 0 ns") {
		t.Errorf("error %v", err)
	}
}

// What a comparison does with cells that change in such rounds, and how many rounds
// it takes for that: ten and up to as many again while it is undecided, and all over
// for a change.
func TestAChangeIsReportedOnceItWasSeenTwice(t *testing.T) {
	wobble := func(round int) float64 { return 1.5 - float64(round%2) }
	for _, tt := range []struct {
		name   string
		head   func(round int) float64
		want   results.Verdict
		rounds int
		note   string
	}{
		{"never", func(int) float64 { return 1 }, results.Unchanged, 10, ""},
		{"slower", func(int) float64 { return 1.05 }, results.Regressed, 20, ""},
		{"faster", func(int) float64 { return 0.95 }, results.Improved, 20, ""},
		{"slower at first", func(round int) float64 { return 1 + 0.05*float64((19-round)/10) }, results.Inconclusive, 20, "not confirmed: once more it was +0.0%, +0.0 to +0.0%"},
		{"faster at first", func(round int) float64 { return 1 - 0.05*float64((19-round)/10) }, results.Inconclusive, 20, "not confirmed: once more it was +0.0%, +0.0 to +0.0%"},
		{"faster, then slower", func(round int) float64 { return 0.9 + 0.2*float64(round/10) }, results.Inconclusive, 20, "not confirmed: once more it was +10.0%, +10.0 to +10.0%"},
		{"now so, now otherwise", wobble, results.Inconclusive, 20, ""},
		{"otherwise in two rounds", func(round int) float64 {
			if round < 2 {
				return wobble(round)
			}
			return 1
		}, results.Unchanged, 15, ""},
	} {
		p := (&play{slice: func(side int, cell string, round, _ int) response {
			if cell == "lookup/calm" {
				return slowed(side, 1)
			}
			return slowed(side, tt.head(round))
		}}).cells("lookup/calm", "lookup/x")
		c := p.compared(t, Options{})
		for _, r := range c.Rows {
			if r.Name == "lookup/calm" {
				if r.Verdict != results.Unchanged || p.opened[base][r.Name] != 10 || p.opened[head][r.Name] != 10 {
					t.Errorf("%s: the cell beside it is %s after %v rounds", tt.name, r.Verdict, p.opened)
				}
				continue
			}
			if r.Verdict != tt.want || p.opened[base][r.Name] != tt.rounds || p.opened[head][r.Name] != tt.rounds || r.Note != tt.note {
				t.Errorf("%s: %s after %v rounds, note %q; want %s after %d, note %q", tt.name, r.Verdict, p.opened, r.Note, tt.want, tt.rounds, tt.note)
			}
		}
		if len(c.Rows) != 2 {
			t.Errorf("%s: rows %s", tt.name, verdicts(c))
		}
	}
}

// Nine rounds are followed by four, four and one: never by more than nine.
func TestAnUndecidedCellGetsTwiceTheRoundsAtMost(t *testing.T) {
	p := (&play{slice: func(side int, _ string, round, _ int) response { return slowed(side, 1.5-float64(round%2)) }}).cells("lookup/x")
	if c := p.compared(t, Options{Rounds: 9}); p.opened[base]["lookup/x"] != 18 || c.Rows[0].Verdict != results.Inconclusive {
		t.Errorf("%v rounds, %s", p.opened, verdicts(c))
	}
}

func TestTheRowOfASlowdownSaysByHowMuch(t *testing.T) {
	p := (&play{slice: func(side int, _ string, round, _ int) response {
		return slowed(side, 1.10+0.01*float64(round%10)) // 10% to 19%, each once
	}}).cells("lookup/x")
	r := p.compared(t, Options{}).Rows[0]
	near := func(got results.Number, want, by float64) bool { return math.Abs(float64(got)-want) <= by }
	// The median of the means is symmetrical; at 99% the three least of the 55 means
	// are left out at either end (the sums 0 to 3 have 5 of 1,024 ways), p is 1 of 1,024.
	low, high := math.Sqrt(1.10*1.12), math.Sqrt(1.17*1.19)
	if !near(r.Base, 1000, 1e-9) || !near(r.Ratio, 1.145, 1e-3) || !near(r.Head, 1000*float64(r.Ratio), 1e-6) ||
		!near(r.Low, low, 0.006) || !near(r.High, high, 0.006) || r.Low < 1.105 || r.High > 1.185 || !near(r.P, 1./1024, 1e-12) {
		t.Errorf("row %+v, want about 1145 from 1000, %v to %v", r, low, high)
	}
}

// With one layout a side, less than 3% is no evidence.
func TestOneLayoutASideAsksForThreePercent(t *testing.T) {
	for _, tt := range []struct {
		base, head int
		slower     float64
		want       results.Verdict
		warnings   int
	}{
		{2, 2, 1.02, results.Regressed, 0}, {1, 2, 1.02, results.Unchanged, 1}, {2, 1, 1.02, results.Unchanged, 1},
		{1, 1, 1.04, results.Regressed, 1},
	} {
		p := (&play{slice: func(side int, _ string, _, _ int) response { return slowed(side, tt.slower) }}).cells("lookup/x")
		c, err := Compare(context.Background(), Side{Programs: make([]string, tt.base)}, Side{Programs: make([]string, tt.head)}, Options{Rounds: 10, begin: p.begin})
		if err != nil {
			t.Fatal(err)
		}
		if c.Rows[0].Verdict != tt.want || len(c.Warnings) != tt.warnings {
			t.Errorf("%d and %d layouts, %v times: %s, warnings %q", tt.base, tt.head, tt.slower, verdicts(c), c.Warnings)
		}
	}
}

// What only one side can run is told and not timed, and so is what a gate stops.
func TestOnlyWhatBothSidesRunRightlyIsTimed(t *testing.T) {
	p := (&play{}).cells("lookup/both", "lookup/not-in-head", "lookup/not-in-base", "lookup/in-neither",
		"lookup/broken-head", "lookup/broken-base", "lookup/broken")
	p.described[head].Cells = append(p.described[head].Cells, cellInfo{"lookup/new", "lookup-ns"}, cellInfo{"lookup/new-and-idle", "lookup-ns"})
	p.described[base].Cells = append(p.described[base].Cells, cellInfo{"lookup/old", "lookup-ns"}, cellInfo{"lookup/old-and-idle", "lookup-ns"})
	p.ops = [2]map[string]int{
		{"lookup/not-in-base": 0, "lookup/in-neither": 0, "lookup/old-and-idle": 0},
		{"lookup/not-in-head": 0, "lookup/in-neither": 0, "lookup/new-and-idle": 0},
	}
	p.described[base].Failed = map[string]string{"lookup/broken-base": "was wrong", "lookup/broken": "wrong"}
	p.described[head].Failed = map[string]string{"lookup/broken-head": "is wrong", "lookup/broken": "still wrong"}
	c := p.compared(t, Options{})
	want := "lookup/both lookup-ns: unchanged; lookup/broken-head answers: wrong answers; lookup/new lookup-ns: added; " +
		"lookup/not-in-base lookup-ns: added; lookup/not-in-head lookup-ns: removed; lookup/old lookup-ns: removed"
	if got := verdicts(c); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if got, want := strings.Join(c.Warnings, "; "), "lookup/broken fails its checks on both sides and is not timed: still wrong; "+
		"lookup/broken-base failed its checks in base, and no longer does"; got != want {
		t.Errorf("warnings %s, want %s", got, want)
	}
	for _, r := range p.asked {
		if r.Cell != "lookup/both" {
			t.Fatalf("%s was timed", r.Cell)
		}
	}
	if r := c.Rows[slices.IndexFunc(c.Rows, func(r results.Change) bool { return r.Verdict == results.Wrong })]; r.Note != "is wrong" {
		t.Errorf("the wrong answers are said to be %q", r.Note)
	}
}

// Both sides have to answer each slice alike, in all rounds.
func TestAnswersOfSlicesAreCompared(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sum    func(side, round, slice int) int
		accept string
		want   string
	}{
		{"alike", func(_, _, slice int) int { return slice }, "", ""},
		{"moved", func(side, _, slice int) int { return slice + side*(slice/15) }, "", "lookup/x placement: placement changed"},
		{"moved in the warm-up's keys", func(side, _, slice int) int { return side * (slice / 32) }, "", "lookup/x placement: placement changed"},
		{"moved, accepted", func(side, _, slice int) int { return side }, "x$", "lookup/x placement: accepted"},
		{"moved, another one accepted", func(side, _, slice int) int { return side }, "y$", "lookup/x placement: placement changed"},
		{"head from round to round", func(side, round, slice int) int { return side * round }, "", "lookup/x answers: wrong answers"},
		{"base from round to round", func(side, round, slice int) int { return (1 - side) * (round + 1) }, "", ""}, // head answers as base never did
		{"both from round to round", func(side, round, slice int) int { return round + side }, "", ""},
	} {
		p := (&play{slice: func(side int, _ string, round, slice int) response {
			return response{WallNs: 1e6, CPUNs: -1, Sum: uint64(tt.sum(side, round, slice))}
		}}).cells("lookup/x")
		o := Options{}
		if tt.accept != "" {
			o.Accept = regexp.MustCompile(tt.accept)
		}
		want := []string{"lookup/x lookup-ns: unchanged", tt.want}
		slices.Sort(want)
		if got := verdicts(p.compared(t, o)); got != strings.TrimPrefix(strings.Join(want, "; "), "; ") {
			t.Errorf("%s: rows %s, want %s", tt.name, got, want)
		}
	}
}

// Extra lookups go to head alone and to the nearest whole number, in the rounds that
// confirm as well; cells that are no lookups are passed over.
func TestSlowdownsThatArePutInAreFound(t *testing.T) {
	for _, tt := range []struct {
		ops     int
		percent float64
		want    int
	}{{1000, 5, 50}, {150, 1, 2}, {149, 1, 1}, {333, 0.1, 0}, {500, 0, 0}} {
		if got := (&timedCell{slower: tt.percent}).extra(tt.ops); got != tt.want {
			t.Errorf("%v%% of %d are %d, want %d", tt.percent, tt.ops, got, tt.want)
		}
	}
	p := (&play{}).cells("lookup/x", "latency/x")
	found, err := Inject(context.Background(), layouts("me"), Options{Rounds: 8, begin: p.begin}, []float64{0, 5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Detected != 0 || found[1].Detected != 2 || found[1].Comparisons != 2 || found[1].Percent != 5 ||
		math.Abs(found[0].Estimate) > 1e-9 || math.Abs(found[1].Estimate-5) > 1e-9 {
		t.Errorf("found %+v", found)
	}
	for i, r := range p.asked {
		if r.Cell != "lookup/x" || r.Extra > 0 && p.sides[i] == base || r.Extra != 0 && r.Extra != 50 {
			t.Fatalf("side %d was asked for %+v", p.sides[i], r)
		}
	}
}
