package plots

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// withHashes is a run that also asks other questions of shares, each at one
// number of vnodes only, as the suite full does.
func withHashes() *results.Set {
	set := quick()
	for _, n := range []int{10, 100} {
		for i := range 240 {
			label := fmt.Sprintf("{index}-%s-{name}-%d", strings.Repeat("long", 20), i)
			params, _ := json.Marshal(map[string]any{"vnodes": 150, "label": label})
			set.Trials = append(set.Trials, results.Trial{
				Type: "trial", Experiment: "hashes", Measure: "shares", Algorithm: "ring", Params: params, Hash: "xxh3", Nodes: n, Seed: 1,
				Cell:   results.CellName("shares", "ring", n, []results.Field{{Name: "label", Value: label}}, "", "", "", ""),
				Values: map[string]float64{"share-cv": 2.5, "share-peak": 9},
			})
		}
	}
	return set
}

func TestOnlyWhatVariesItsVnodesIsASweep(t *testing.T) {
	plain, mixed := arrange(quick()), arrange(withHashes())
	for _, metric := range []string{"share-cv", "share-peak"} {
		want, got := plain.sweep(metric), mixed.sweep(metric)
		for n := range want.rows {
			if len(got.rows[n]) != len(want.rows[n]) {
				t.Errorf("%s at %d nodes: %d points, the sweep has %d", metric, n, len(got.rows[n]), len(want.rows[n]))
			}
		}
		if g, w := got.representative(), want.representative(); g.vnodes != w.vnodes || g.Center != w.Center {
			t.Errorf("%s: the caption speaks of %v vnodes (%v), not of %v (%v)", metric, g.vnodes, g.Center, w.vnodes, w.Center)
		}
	}
}

// Names never claim so much of a panel that no room is left to draw in.
func TestNamesLeaveRoomToDraw(t *testing.T) {
	for columns := 1; columns <= 3; columns++ {
		x, y := logScale([]float64{1, 1000}, count), logScale([]float64{0.01, 1}, percent)
		l := line{name: strings.Repeat("a very long name ", 20), points: []point{{1, 1, 1, 1}, {1000, 0.01, 0.01, 0.01}}}
		panels := slices.Repeat([]*panel{chart{x: x, y: y, lines: []line{l}, columns: columns}.panel()}, columns)
		in := inspectorOf(t, panelFigure(panels, columns, nil), false)
		column := (pageWidth - 2*pageMargin) / vg.Length(columns)
		if frame := in.marks[0].frame.Size().X; frame < 0.25*column {
			t.Errorf("%d columns: names leave %.0f of %.0f points", columns, frame, column)
		}
	}
}
