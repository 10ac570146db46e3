package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// An heir is what a contestant does with the keys of a node that leaves.
type heir struct {
	row    results.Row // of the largest part that one survivor takes
	vnodes float64     // of a sweep; 0 for none
	ranges float64     // of the hash space that change their owner; below 0 when not known
}

// heirsOf returns first the points of a sweep over vnodes, by their number, and then
// the contestants of the movement at as many nodes, the most even first. It returns
// none without a sweep.
func (r *run) heirsOf() []heir {
	ofOne := func(measure, metric string) []results.Row {
		return where(r.metric(measure, metric), func(row results.Row) bool { return row.Schedule == "remove-one" })
	}
	swept := where(ofOne("shares", "failover-peak"), func(row results.Row) bool { return strings.Contains(row.Cell, "/vnodes=") })
	if len(swept) == 0 {
		return nil
	}
	n := fullest(swept)
	ranges := map[string]float64{}
	for _, row := range slices.Concat(ofOne("shares", "ranges-moved"), ofOne("movement", "ranges-moved")) {
		ranges[row.Cell] = row.Center
	}
	rangesOf := func(cell string) float64 {
		if n, known := ranges[cell]; known {
			return n
		}
		return -1
	}
	var points, others []heir
	for _, row := range where(swept, ofNodes(n)) {
		if v, err := strconv.ParseFloat(results.Param(row.Params, "vnodes"), 64); err == nil && v > 0 {
			points = append(points, heir{row, v, rangesOf(row.Cell)})
		}
	}
	if len(points) < 2 {
		return nil
	}
	slices.SortStableFunc(points, func(a, b heir) int { return cmp.Compare(a.vnodes, b.vnodes) })
	for _, row := range where(ofOne("movement", "failover-peak"), ofNodes(n)) {
		known := slices.ContainsFunc(others, func(h heir) bool { return h.row.Label == row.Label })
		if !known && row.Label != points[0].row.Algorithm {
			others = append(others, heir{row, 0, rangesOf(row.Cell)})
		}
	}
	slices.SortStableFunc(others, func(a, b heir) int { return cmp.Compare(a.row.Center, b.row.Center) })
	const most = 8
	return slices.Concat(points[:min(len(points), most)], others[:min(len(others), maxLines+most)])
}

// heirs draws how the keys of a node that leaves are parted among the others, and
// in how many ranges, for runs that ask what vnodes do to that.
func (r *run) heirs() (Figure, bool) {
	all := r.heirsOf()
	if len(all) == 0 {
		return Figure{}, false
	}
	n := all[0].row.Nodes
	fair := 1 / float64(max(1, n-1))
	var labels []string
	var ranges []float64
	shares := []float64{fair}
	for _, h := range all {
		labels, shares = append(labels, h.row.Label), append(shares, h.row.Center)
		if h.ranges >= 0 {
			ranges = append(ranges, h.ranges)
		}
	}
	parts := rowChart{heading: heading("Largest part that one heir takes", labels, 2), unit: "of the keys of the node that leaves", x: partScale(shares)}
	pieces := rowChart{heading: heading("Ranges that change hands", labels, 2), unit: "of the hash space", x: logScale(ranges, count)}
	for _, h := range all {
		l := r.look(h.row)
		parts.rows = append(parts.rows, row{h.row.Label, []mark{
			{kind: bar, x: 0, to: h.row.Center, look: l},
			{kind: tick, x: fair, look: look{color: ink}},
			// The number stands clear of the tick.
			{kind: span, x: max(fair, h.row.Center), to: max(fair, h.row.Center), look: look{color: l.color}, text: percent(h.row.Center), anchor: left},
		}})
		rw := row{name: h.row.Label}
		if h.ranges >= 0 {
			rw.marks = []mark{
				{kind: dot, x: h.ranges, look: l},
				{kind: span, x: h.ranges, to: h.ranges, look: look{color: l.color}, text: count(h.ranges), anchor: left},
			}
		}
		pieces.rows = append(pieces.rows, rw)
	}
	panels := []*panel{parts.panel(), pieces.panel()}
	panels[1].plot.Y.Tick.Marker = plot.ConstantTicks(nil)
	f := panelFigure(panels, 2, []keyItem{keyTick(look{color: ink}, "all heirs alike")})
	f.height = 95 + vg.Length(len(all))*rowHeight
	f.Name = "heirs"
	f.Title = "Who inherits the keys of a node that leaves"
	f.Caption = heirsCaption(all, n, fair)
	f.footer = r.footerOf(func(t results.Trial) bool {
		return t.Schedule == "remove-one" && t.Nodes == n && (t.Measure == "movement" || t.Measure == "shares")
	})
	return f, true
}

// heirsCaption sets the fewest vnodes against the most.
func heirsCaption(all []heir, n int, fair float64) string {
	few := all[0]
	many := few
	for _, h := range all {
		if h.vnodes > many.vnodes {
			many = h
		}
	}
	text := fmt.Sprintf("With %s and a ring of %s each, one heir takes %s of the keys of the node that leaves, of %s %s, where %s would be even",
		plural(n, "node"), plural(int(few.vnodes), "vnode"), percent(few.row.Center), plural(int(many.vnodes), "vnode"), percent(many.row.Center), percent(fair))
	if few.ranges > 0 && many.ranges > few.ranges {
		text += fmt.Sprintf("; the price is that %s ranges change hands in place of %s", count(many.ranges), count(few.ranges))
	}
	return text + "."
}
