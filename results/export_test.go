package results

import (
	"bytes"
	"encoding/csv"
	"math"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, small()); err != nil {
		t.Fatal(err)
	}
	golden(t, "trials.csv", b.String())
	lines, err := csv.NewReader(&b).ReadAll() // it refuses lines of unequal length
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 5; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
}

func TestBenchfmt(t *testing.T) {
	s := small()
	s.Run.Environment.GOMAXPROCS = 1
	f := fixture{set: *s}
	f.trial(plainRing, "movement", 10, 1, 0, "uniform", "add-one", map[string]float64{"moved-fraction": 0.0909, "moved-minimum": 0.0909, "ranges-moved": 70})
	f.trial(plainRing, "key-lookup", 10, 1, 0, "uniform", "", map[string]float64{"key-lookup-ns": 1.5, "footprint-bytes": 1e6})
	f.trial(plainRing, "balance", 10, 1, 0, "uniform", "", map[string]float64{"balance-cv": 0.5})
	f.trial(plainRing, "balance", 10, 2, 0, "uniform", "", map[string]float64{"balance-cv": 0.25})
	f.trial(plainRing, "allocations", 10, 1, 0, "uniform", "", map[string]float64{"allocs-per-lookup": 0, "bytes-per-lookup": 0})
	var b bytes.Buffer
	if err := WriteBenchfmt(&b, &f.set); err != nil {
		t.Fatal(err)
	}
	golden(t, "benchfmt.txt", b.String())
}

// readBack reads Go benchmarks as benchstat does: into tables of cells by unit.
func readBack(t *testing.T, text string) (map[string]map[string][]float64, benchfmt.UnitMetadataMap) {
	t.Helper()
	name := regexp.MustCompile(`^[A-Za-z0-9_=/.,:+-]+$`)
	rows, err := (&benchproc.ProjectionParser{}).Parse(".fullname", nil)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string][]float64{}
	r := benchfmt.NewReader(strings.NewReader(text), "export")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			if !name.Match(rec.Name) {
				t.Errorf("name %q", rec.Name)
			}
			if _, parts := rec.Name.Parts(); string(parts[len(parts)-1]) != "-2" {
				t.Errorf("%q does not end in GOMAXPROCS", rec.Name)
			}
			key := rows.Project(rec).Get(rows.Fields()[0])
			if cells[key] == nil {
				cells[key] = map[string][]float64{}
			}
			for _, v := range rec.Values {
				cells[key][v.Unit] = append(cells[key][v.Unit], v.Value)
			}
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return cells, r.Units()
}

func TestBenchfmtIsReadBackToTheSameSummary(t *testing.T) {
	set := quick()
	var b bytes.Buffer
	if err := WriteBenchfmt(&b, set); err != nil {
		t.Fatal(err)
	}
	cells, units := readBack(t, b.String())
	seen := map[string]bool{}
	for _, row := range Summarize(set) {
		if row.Metric == "" {
			continue
		}
		m, _ := MetricByName(row.Metric)
		unit, scale := row.Metric, 1.0
		switch {
		case row.Metric == row.Measure+"-ns":
			unit, scale = "sec/op", 1e-9
		case row.Metric == "allocs-per-lookup":
			unit = "allocs/op"
		case row.Metric == "bytes-per-lookup":
			unit = "B/op"
		case keyFractions[row.Metric] != "":
			unit, scale = keyFractions[row.Metric], float64(row.Keys)
		}
		values := cells[benchName(row.Cell, 2)][unit]
		if m.Kind == Computed && len(values) < row.N || m.Kind != Computed && len(values) != row.N {
			t.Fatalf("%s %s: %d values, want %d", row.Cell, unit, len(values), row.N)
		}
		sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
		summary := units.GetAssumption(unit).Summary(sample, 0.95)
		want := row.Center * scale
		if strings.HasSuffix(unit, "-keys") {
			want = math.Round(want)
		}
		if medians := m.Kind != Computed || row.N == 1; medians && math.Abs(summary.Center-want) > 1e-9*want {
			t.Errorf("%s %s: center %v, want %v", row.Cell, unit, summary.Center, want)
		}
		if len(summary.Warnings) > 0 && len(values) >= 6 {
			t.Errorf("%s %s: %v", row.Cell, unit, summary.Warnings)
		}
		if better := units.GetBetter(unit); better != map[Direction]int{Lower: -1, Higher: 1, Neither: 0}[m.Better] {
			t.Errorf("%s: better %d", unit, better)
		}
		seen[unit] = true
	}
	for _, unit := range []string{"sec/op", "moved-keys", "balance-cv", "memory-bytes", "allocs/op"} {
		if !seen[unit] {
			t.Errorf("nothing in %s was read back", unit)
		}
	}
}

func TestBenchNamesNeverEndInDigitsOfTheirOwn(t *testing.T) {
	for cell, want := range map[string]string{
		"key-lookup/algorithm=ring/nodes=10/hash=fnv1a-64": "KeyLookup/algorithm=ring/nodes=10/hash=fnv1a-64-1",
		"lookup/label=_7b":           "Lookup/label=_7b-1",
		"odd cell/\xffalgorithm=é\n": "Odd_cell/_algorithm=__-1",
		"":                           "/-1",
	} {
		if got := benchName(cell, 0); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
}
