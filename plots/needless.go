package plots

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// needless draws what one node that joins moves beyond what it must, for a run
// that has it at several numbers of nodes: some systems in use only fail at some.
func (r *run) needless() (Figure, bool) {
	joins := func(metric string) []results.Row {
		return where(r.metric("movement", metric), func(row results.Row) bool { return row.Schedule == "add-one" && finite(row.Center) })
	}
	moved, collateral := joins("moved-fraction"), joins("collateral-fraction")
	sizes := sizesOf(moved)
	everywhere := func(row results.Row) bool {
		return len(sizesOf(where(moved, func(m results.Row) bool { return m.Label == row.Label }))) == len(sizes)
	}
	left := missing(moved, where(moved, everywhere))
	moved, collateral = where(moved, everywhere), where(collateral, everywhere)
	moves := func(row results.Row) bool { return row.Center > 0 }
	if len(sizes) < 2 || len(moved) == 0 || !slices.ContainsFunc(collateral, moves) {
		return Figure{}, false
	}
	sizes = sizes[:min(len(sizes), maxPanels)]
	minimum := map[string]float64{}
	for _, row := range joins("moved-minimum") {
		minimum[row.Cell] = row.Center
	}
	labels := byMean(moved)
	parts := append(centers(moved), 0.01)
	for _, row := range moved {
		parts = append(parts, minimum[row.Cell])
	}
	x := linearScale(parts, percent)
	columns := min(3, len(sizes))
	var panels []*panel
	for i, n := range sizes {
		rc := rowChart{heading: heading(count(float64(n))+" + 1 nodes", labels, columns), x: x}
		if i == 0 {
			rc.unit = "keys that move"
		}
		for _, label := range labels {
			rw := row{name: label}
			for _, found := range where(moved, func(row results.Row) bool { return row.Label == label && row.Nodes == n }) {
				rw.marks = []mark{
					{kind: bar, x: 0, to: found.Center, look: r.look(found)},
					{kind: tick, x: minimum[found.Cell], look: look{color: ink}},
				}
			}
			rc.rows = append(rc.rows, rw)
		}
		p := rc.panel()
		if i%columns > 0 {
			p.plot.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
		panels = append(panels, p)
	}
	f := panelFigure(panels, columns, []keyItem{keyTick(look{color: ink}, "the least that must move")})
	f.height = 30 + vg.Length((len(panels)+columns-1)/columns)*(55+vg.Length(len(labels))*rowHeight)
	f.Name = "needless"
	f.Title = "Keys that move when one node joins, and those that must"
	f.Caption = needlessCaption(moved, collateral, minimum)
	if len(left) > 0 {
		f.Caption += " Not measured at each of these numbers of nodes, and so not shown: " + some(left) + "."
	}
	f.footer = r.footer("movement")
	return f, true
}

// sizesOf returns the numbers of nodes of the rows, ascending.
func sizesOf(rows []results.Row) []int {
	var sizes []int
	for _, row := range rows {
		sizes = append(sizes, row.Nodes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func centers(rows []results.Row) []float64 {
	var values []float64
	for _, row := range rows {
		values = append(values, row.Center)
	}
	return values
}

// needlessCaption names who moves keys between nodes that stay, each at the number
// of nodes where it does most.
func needlessCaption(moved, collateral []results.Row, minimum map[string]float64) string {
	worst := map[string]results.Row{}
	for _, row := range collateral {
		if row.Center > worst[row.Label].Center {
			worst[row.Label] = row
		}
	}
	var parts []string
	for _, label := range byMean(moved) {
		row, ok := worst[label]
		if !ok {
			continue
		}
		all := where(moved, func(m results.Row) bool { return m.Cell == row.Cell })
		parts = append(parts, fmt.Sprintf("%s moves %s at %s where %s must, %s between nodes that stay",
			label, percent(all[0].Center), plural(row.Nodes, "node"), percent(minimum[row.Cell]), percent(row.Center)))
	}
	text := "When one node joins, " + strings.Join(parts, "; ") + "."
	var sparing []string
	for _, label := range byMean(moved) {
		if _, ok := worst[label]; !ok {
			sparing = append(sparing, label)
		}
	}
	if len(sparing) > 0 {
		text += " Nothing moves between nodes that stay with " + enumerate(sparing) + "."
	}
	return text
}
