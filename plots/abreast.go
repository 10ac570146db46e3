package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// gatherings are the ways to look many keys up, with the shapes of their answers.
var gatherings = []struct {
	measure, metric, name string
	shape                 marker
	hollow                bool
}{
	{"lookup", "lookup-ns", "one after the other", circle, false},
	{"batch-lookup", "batch-lookup-ns", "in one call", diamond, true},
	{"parallel-lookup", "parallel-lookup-ns", "from all cores", square, true},
	{"parallel-lookup-writer", "parallel-lookup-ns", "from all cores, with a writer", triangle, true},
}

// abreast draws what a key costs when many are looked up together.
func (r *run) abreast() (Figure, bool) {
	var any []results.Row
	for _, g := range gatherings {
		any = append(any, r.metric(g.measure, g.metric)...)
	}
	shown := timed(any)
	byMeasure := map[string][]results.Row{}
	var together []results.Row // of those that are no single lookups
	for _, row := range shown.rows {
		byMeasure[row.Measure] = append(byMeasure[row.Measure], row)
		if row.Measure != "lookup" {
			together = append(together, row)
		}
	}
	if len(together) == 0 || len(byMeasure["lookup"]) == 0 {
		return Figure{}, false
	}
	n := fullest(together)
	rc := rowChart{xName: "time of one lookup"}
	var xs []float64
	for _, label := range byValue(where(byMeasure["lookup"], ofNodes(n))) {
		rw := row{name: label}
		var got []float64
		for _, g := range gatherings {
			if at, ok := find(byMeasure[g.measure], label, n); ok {
				shape := r.look(at)
				shape.marker, shape.hollow = g.shape, g.hollow
				rw.marks = append(rw.marks, mark{kind: dot, x: at.Center, look: shape})
				got = append(got, at.Center)
			}
		}
		if len(got) < 2 {
			continue
		}
		lo, hi := slices.Min(got), slices.Max(got)
		l := rw.marks[0].look
		rw.marks = append([]mark{{kind: span, x: lo, to: hi, look: look{color: grid}}}, rw.marks...)
		rw.marks = append(rw.marks,
			mark{kind: span, x: lo, to: lo, look: look{color: l.color}, text: duration(lo), anchor: right},
			mark{kind: span, x: hi, to: hi, look: look{color: l.color}, text: duration(hi), anchor: left})
		rc.rows, xs = append(rc.rows, rw), append(xs, lo, hi)
	}
	if len(rc.rows) == 0 {
		return Figure{}, false
	}
	worst, slowest := 0.0, "" // of all that were measured, drawn or not
	for _, written := range where(byMeasure["parallel-lookup-writer"], ofNodes(n)) {
		if alone, ok := find(byMeasure["parallel-lookup"], written.Label, n); ok && timesAsMuch(written.Center, alone.Center) > worst {
			worst, slowest = timesAsMuch(written.Center, alone.Center), written.Label
		}
	}
	rc.x = logScale(xs, duration)
	var key []keyItem
	for _, g := range gatherings {
		if len(byMeasure[g.measure]) > 0 {
			key = append(key, keyDot(look{color: soft, marker: g.shape, hollow: g.hollow}, g.name))
		}
	}
	f := panelFigure([]*panel{rc.panel()}, 1, key)
	f.height = 80 + vg.Length(len(rc.rows))*rowHeight
	f.Name = "abreast"
	f.Title = "Many lookups together"
	f.Caption = fmt.Sprintf("With %s%s. From all cores: the time that passes, over the lookups of all of them.", plural(n, "node"), shown.under())
	if slowest != "" {
		f.Caption += fmt.Sprintf(" A writer that changes the membership 100 times a second makes a lookup take %s times as long at most (%s).",
			trimmed(worst, 2), slowest)
	}
	f.Caption += shown.note()
	f.footer = r.footer("lookup", "batch-lookup", "parallel-lookup")
	return f, true
}
