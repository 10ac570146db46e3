package results

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var plainRing = contestant{"ring", nil, `{"vnodes":100}`, ""}

// rowOf returns the row of a metric, which there must be once.
func rowOf(t *testing.T, rows []Row, metric string) Row {
	t.Helper()
	var found []Row
	for _, r := range rows {
		if r.Metric == metric {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d rows of %q", len(found), metric)
	}
	return found[0]
}

func TestTimedMetricsGiveMedianAndInterval(t *testing.T) {
	for _, c := range []struct {
		values                        []float64
		center, low, high, confidence float64
	}{
		{[]float64{7}, 7, 7, 7, 0},
		{[]float64{9, 1, 2}, 2, 1, 9, 0.75},
		{[]float64{5, 1, 3, 100, 2}, 3, 1, 100, 0.9375},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, 1, 6, 0.95},
		// Independent, nine values would miss the median in 2/2^9 of the runs, and the
		// fourth to the seventeenth of 20 in 2(1+20+190+1140)/2^20 of them, as against
		// 2(1+20+190+1140+4845)/2^20 for the next ones within.
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 1, 9, 0.95},
		{[]float64{20, 1, 19, 2, 18, 3, 17, 4, 16, 5, 15, 6, 14, 7, 13, 8, 12, 9, 11, 10}, 10.5, 4, 17, 0.95},
	} {
		f := newFixture()
		for rep, v := range c.values {
			f.trial(plainRing, "lookup", 10, 1, rep, "uniform", "", map[string]float64{"lookup-ns": v})
		}
		r := rowOf(t, Summarize(f.end()), "lookup-ns")
		if r.N != len(c.values) || r.Center != c.center || r.Low != c.low || r.High != c.high || math.Abs(r.Confidence-c.confidence) > 1e-12 {
			t.Errorf("%v: N %d, center %v, %v..%v at %v", c.values, r.N, r.Center, r.Low, r.High, r.Confidence)
		}
	}
}

func TestTheIntervalHoldsTheMedianAsOftenAsItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rounds = 4000
	for n, independent := range map[int]float64{3: 0.75, 5: 0.9375, 9: 1 - 2/512., 20: 1 - 2*1351/float64(1<<20)} {
		var held, confidence float64
		for range rounds {
			values := make([]float64, n)
			for i := range values {
				values[i] = r.ExpFloat64() // its median is ln 2
			}
			slices.Sort(values)
			_, low, high, c := median(values)
			if confidence = c; low <= math.Ln2 && math.Ln2 <= high {
				held++
			}
		}
		sigma := math.Sqrt(independent * (1 - independent) / rounds)
		if part := held / rounds; math.Abs(part-independent) > 4*sigma || confidence > independent {
			t.Errorf("%d values: held in %.4f of the rounds, want %.4f, says %.4f", n, part, independent, confidence)
		}
	}
}

func TestExactMetricsCountOnceASeed(t *testing.T) {
	f := newFixture()
	for seed := uint64(1); seed <= 21; seed++ {
		for rep := range 3 {
			f.trial(plainRing, "balance", 10, seed, rep, "uniform", "", map[string]float64{"balance-peak": float64(seed)})
		}
	}
	got := rowOf(t, Summarize(f.end()), "balance-peak")
	want := Row{N: 21, Center: 11, Low: 2, High: 20, Min: 1, Max: 21, StdDev: Exact(math.Sqrt(38.5)), RMS: Exact(math.Sqrt(3311.0 / 21))}
	got = Row{N: got.N, Center: got.Center, Low: got.Low, High: got.High, Confidence: got.Confidence, Min: got.Min, Max: got.Max, StdDev: got.StdDev, RMS: got.RMS}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFloorAndTheoryStandWhereTheyApply(t *testing.T) {
	values := map[string]float64{"balance-cv": 0.1, "share-cv": 0.1, "balance-peak": 1.2}
	floor, share := Exact(math.Sqrt(9/1e6)), Exact(math.Sqrt(9.0/1001))
	both := Exact(math.Sqrt(9/1e6 + (1-1e-6)*9.0/1001))
	listed := contestant{"ring", nil, `{"vnodes":100,"points":[{"name":"a","at":3}]}`, ""}
	for name, c := range map[string]struct {
		who                            contestant
		floor, shareTheory, balanceThy float64
	}{
		"ring":            {plainRing, floor, share, both},
		"bounded ring":    {contestant{"bounded-ring", nil, `{"vnodes":100}`, ""}, floor, share, both},
		"weighted ring":   {contestant{"ring", nil, `{"vnodes":100}`, "1:2"}, 0, 0, 0},
		"points by hand":  {listed, floor, 0, 0},
		"jump":            {contestant{"jump", nil, `{}`, ""}, floor, 0, 0},
		"other with such": {contestant{"multiprobe", nil, `{"vnodes":100}`, ""}, floor, 0, 0},
	} {
		f := newFixture()
		f.trial(c.who, "balance", 10, 1, 0, "uniform", "", values)
		rows := Summarize(f.end())
		balance, shares, peak := rowOf(t, rows, "balance-cv"), rowOf(t, rows, "share-cv"), rowOf(t, rows, "balance-peak")
		if balance.Floor != c.floor || balance.Theory != c.balanceThy || shares.Floor != 0 || shares.Theory != c.shareTheory || peak.Floor != 0 || peak.Theory != 0 {
			t.Errorf("%s: balance-cv %v %v, share-cv %v %v, balance-peak %v %v", name, balance.Floor, balance.Theory, shares.Floor, shares.Theory, peak.Floor, peak.Theory)
		}
	}
}

// What a trial tells of its points counts, whatever the algorithm is called; from
// before it did, the four rings of ringbench itself have as many as vnodes says.
func TestTheoryIsAboutThePointsThatATrialTells(t *testing.T) {
	told := func(n int) *int { return &n }
	for _, c := range []struct {
		algorithm, params string
		points            *int
		want              int
	}{
		{"mine", `{}`, told(20), 20},
		{"mine", `{"vnodes":7}`, told(0), 0},
		{"ring", `{"vnodes":7}`, told(9), 9},
		{"ring", `{"vnodes":7}`, told(0), 0},
		{"ring", `{"vnodes":7}`, told(-3), 0},
		{"ring", `{"vnodes":7}`, nil, 7},
		{"ring", `{"vnodes":7,"points":[{"position":1,"node":"a"}]}`, nil, 0},
		{"ring-array", `{"vnodes":7}`, nil, 7},
		{"ring-binary-search", `{"vnodes":7}`, nil, 7},
		{"bounded-ring", `{"vnodes":7}`, nil, 7},
		{"ring-like", `{"vnodes":7}`, nil, 0},
		{"ring", `{}`, nil, 0},
	} {
		f := newFixture()
		f.trial(contestant{c.algorithm, nil, c.params, ""}, "shares", 10, 1, 0, "", "", map[string]float64{"share-cv": 0.3}).Points = c.points
		r := rowOf(t, Summarize(f.end()), "share-cv")
		theory := 0.0
		if c.want > 0 {
			theory = Exact(math.Sqrt(9 / float64(10*c.want+1))) // sqrt((n-1)/(nv+1))
		}
		if r.Points != c.want || r.Theory != theory {
			t.Errorf("%s %s: %d points, theory %v; want %d and %v", c.algorithm, c.params, r.Points, r.Theory, c.want, theory)
		}
	}
}

func TestSummaryOfOddSizesHoldsOnlyNumbers(t *testing.T) {
	for _, n := range []int{-1, 0, 1} {
		f := newFixture()
		f.trial(plainRing, "balance", n, 1, 0, "uniform", "", map[string]float64{"balance-cv": 0, "share-cv": 0})
		for _, r := range Summarize(f.end()) {
			if r.Floor != 0 || r.Theory != 0 {
				t.Errorf("%d nodes: floor %v, theory %v", n, r.Floor, r.Theory)
			}
		}
	}
}

func TestSkippedCellsKeepTheirReason(t *testing.T) {
	f := newFixture()
	f.trial(plainRing, "movement", 10, 1, 0, "uniform", "remove-one", nil).Skip = "cannot"
	f.trial(plainRing, "movement", 10, 2, 0, "uniform", "remove-one", nil).Skip = "cannot either"
	rows := Summarize(f.end())
	if len(rows) != 1 || rows[0].Metric != "" || rows[0].N != 0 || rows[0].Skip != "cannot" || rows[0].Schedule != "remove-one" {
		t.Errorf("rows %+v", rows)
	}
}

func TestSummaryIsInOrderWhateverTheOrderOfTrials(t *testing.T) {
	set := quick()
	want := Summarize(set)
	r := rand.New(rand.NewPCG(5, 5))
	r.Shuffle(len(set.Trials), func(i, j int) { set.Trials[i], set.Trials[j] = set.Trials[j], set.Trials[i] })
	if diff := cmp.Diff(want, Summarize(set)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var cells []string
	for _, row := range want {
		if row.Measure == "shares" && row.Nodes == 10 && row.Metric == "share-cv" {
			cells = append(cells, Param(row.Params, "vnodes"))
		}
	}
	if diff := cmp.Diff([]string{"1", "4", "16", "64", "100", "160", "256", "640", "1000", "2560"}, cells); diff != "" {
		t.Errorf("the sweep is out of order (-want +got):\n%s", diff)
	}
}

func TestSummaryCSV(t *testing.T) {
	set := small()
	var b bytes.Buffer
	if err := WriteSummary(&b, Summarize(set)); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.csv", b.String())
	lines, err := csv.NewReader(&b).ReadAll() // it refuses lines of unequal length
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 3; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
}

func TestOneWrongAnswerVoidsTheCell(t *testing.T) {
	f := newFixture()
	c := contestant{"ring", nil, `{}`, ""}
	for rep := range 6 {
		f.trial(c, "lookup", 10, 1, rep, "uniform", "", map[string]float64{"lookup-ns": 8})
	}
	wrong := &f.set.Trials[3]
	wrong.Values, wrong.Skip = nil, "wrong answers: a block of 1024 operations differs"
	rows := Summarize(f.end())
	if len(rows) != 1 || rows[0].Metric != "" || rows[0].Skip != wrong.Skip {
		t.Errorf("rows %+v, want one without figures", rows)
	}
}

// Who reads the table reads what programs read from the same rows as JSON.
func TestEachFieldOfARowHasAColumn(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSummary(&b, nil); err != nil {
		t.Fatal(err)
	}
	columns := strings.Split(strings.TrimSpace(b.String()), ",")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		if name := f.Tag.Get("json"); !slices.Contains(columns, name) {
			t.Errorf("field %s (%q) has no column", f.Name, name)
		}
	}
}
