package plots

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// Only axis.go makes an axis logarithmic, for it alone knows what becomes of zero.
func TestNoOtherFileMakesAnAxisLogarithmic(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range []string{"plot." + "LogScale", "plot." + "LogTicks", "log:" + " ", ".log" + " ="} {
			if file != "axis.go" && strings.Contains(string(source), way) {
				t.Errorf("%s makes a logarithmic axis of its own: %s", file, way)
			}
		}
	}
}

// The expected places follow from the rule and the share of the lane: a decade has
// an equal part of what is left.
func TestZeroHasALaneOfALogarithmicAxis(t *testing.T) {
	for _, c := range []struct {
		name   string
		s      scale
		v, at  float64
		labels string
	}{
		{"zero", logScale([]float64{0, 1, 100}, plain), 0, 0, "0 1 10 100"},
		{"a decade", logScale([]float64{0, 1, 100}, plain), 10, laneShare + (1-laneShare)/2, "0 1 10 100"},
		{"no zero, no lane", logScale([]float64{1, 100}, plain), 10, 0.5, "1 10 100"},
		{"less than the least", logScaleFrom(1, []float64{0.3, 1, 100}, plain), 0.3, 0, "< 1 1 10 100"},
		{"all less than the least", logScaleFrom(1, []float64{0.3, 0}, plain), 0.3, 0, "< 1 1 2 5 10"},
		{"bytes", sizeScale([]float64{0, 1024, 4096}, bytesName), 2048, laneShare + (1-laneShare)/2, "0 B 1 KiB 2 KiB 4 KiB"},
		{"seconds", timeScale([]float64{0, 1, 100}), 10, laneShare + (1-laneShare)/2, "0 1 s 10 s 1 min"},
		{"nothing but zero", logScale([]float64{0, 0}, plain), 0.5, 0.5, "0 0.2 0.4 0.6 0.8 1"},
		{"below zero", logScale([]float64{-1, 4}, plain), 1.5, 0.5, "-1 0 1 2 3 4"},
	} {
		if got := c.s.at(c.v); math.Abs(got-c.at) > 1e-12 {
			t.Errorf("%s: %v is at %v of the axis, want %v", c.name, c.v, got, c.at)
		}
		var labels []string
		for _, tick := range c.s.ticks {
			if !tick.IsMinor() {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.labels {
			t.Errorf("%s: the labels are %s, want %s", c.name, got, c.labels)
		}
	}
}

// A zero shows as much as any other value: where one cell of the records has it in
// place of a value like that of the others, every figure draws as many marks.
func TestZeroIsDrawn(t *testing.T) {
	type question struct{ suite, measure, metric string }
	for name, set := range recorded(t) {
		asked := map[question]bool{}
		for _, tr := range set.Trials {
			for metric := range tr.Values {
				q := question{suiteOf(tr), tr.Measure, metric}
				if asked[q] || results.IsControl(tr.Algorithm) {
					continue
				}
				asked[q] = true
				t.Run(strings.Join([]string{name, q.suite, q.measure, q.metric}, "/"), func(t *testing.T) {
					t.Parallel()
					with := func(v float64) map[string]int {
						marks := map[string]int{}
						for _, f := range arrange(sifted(set, func(t results.Trial) bool { return suiteOf(t) == q.suite }, func(t *results.Trial) {
							if t.Cell == tr.Cell {
								t.Values[metric] = v
							}
						})).figures() {
							marks[f.Name] = f.marks()
						}
						return marks
					}
					some, none := with(0.123), with(0)
					for figure, n := range some {
						if figure == "allocations" || figure == "needless" && metric == "collateral-fraction" {
							continue // which draws equal lines as one; which is about what is not zero
						}
						if none[figure] < n {
							t.Errorf("%s: %d marks when %s is 0.123, and %d when it is 0", figure, n, tr.Cell, none[figure])
						}
					}
				})
			}
		}
	}
}
