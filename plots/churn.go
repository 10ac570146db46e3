package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// churnOrder is the order in which the schedules of a figure stand.
var churnOrder = []string{"add-one", "remove-one", "remove-each", "double", "rolling", "reorder"}

// schedulesOf returns the schedules of the rows, at most n, those of churnOrder
// first.
func schedulesOf(rows []results.Row, n int) []string {
	var all []string
	for _, row := range rows {
		if row.Schedule != "" && !slices.Contains(all, row.Schedule) {
			all = append(all, row.Schedule)
		}
	}
	place := func(s string) int {
		if i := slices.Index(churnOrder, s); i >= 0 {
			return i
		}
		return len(churnOrder)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return all[:min(len(all), n)]
}

// churn draws what each of many kinds of change moves, for a run that has more of
// them than the figure of movement shows.
func (r *run) churn() (Figure, bool) {
	rows := r.metric("movement", "moved-fraction")
	if len(rows) == 0 {
		return Figure{}, false
	}
	n := fullest(rows)
	all := where(rows, ofNodes(n))
	rows = where(all, func(row results.Row) bool { return !strings.HasPrefix(row.Schedule, "reweight") })
	schedules := schedulesOf(rows, maxPanels)
	if len(schedules) < 3 {
		return Figure{}, false
	}
	shown := map[string]int{} // in how many of the panels a contestant is
	for _, row := range rows {
		if slices.Contains(schedules, row.Schedule) {
			shown[row.Label]++
		}
	}
	inSome := where(rows, func(row results.Row) bool { return slices.Contains(schedules, row.Schedule) })
	rows = where(inSome, func(row results.Row) bool { return 2*shown[row.Label] > len(schedules) })
	if len(rows) == 0 {
		return Figure{}, false
	}
	minimum := map[string]float64{}
	for _, row := range r.metric("movement", "moved-minimum") {
		minimum[row.Cell] = row.Center
	}
	labels := byMean(rows)
	parts := centers(rows)
	for _, row := range rows {
		parts = append(parts, minimum[row.Cell])
	}
	x := partScale(parts)
	columns := min(3, len(schedules))
	var panels []*panel
	for i, schedule := range schedules {
		rc := rowChart{heading: heading(scheduleName(schedule), labels, columns), x: x}
		if i == 0 {
			rc.unit = "keys that move"
		}
		for _, label := range labels {
			rw := row{name: label}
			if found := where(rows, func(row results.Row) bool { return row.Label == label && row.Schedule == schedule }); len(found) > 0 {
				least := minimum[found[0].Cell]
				rw.marks = []mark{
					{kind: bar, x: 0, to: found[0].Center, look: r.look(found[0])},
					{kind: tick, x: least, look: look{color: ink}},
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
	f.height = 40 + vg.Length((len(panels)+columns-1)/columns)*(55+vg.Length(len(labels))*(rowHeight-2))
	f.Name = "churn"
	f.Title = "Keys that move in each kind of change"
	f.Caption = churnCaption(all, r.metric("movement", "collateral-fraction"), minimum, n)
	if left := missing(inSome, rows); len(left) > 0 {
		f.Caption += " Measured under few of these changes, and so not shown: " + some(left) + "."
	}
	f.footer = r.footer("movement")
	return f, true
}

// heading cuts what stands over one of so many panels beside a column of labels.
func heading(s string, labels []string, columns int) string {
	names := vg.Length(0)
	for _, l := range labels {
		p := pen{size: labelSize}
		names = max(names, p.width(p.fit(l, maxName)))
	}
	room := (pageWidth-2*pageMargin-names-12)/vg.Length(columns) - columnGap
	return pen{size: headingSize, bold: true}.fit(s, room+0.6*columnGap)
}

// byMean returns the labels of the rows, least in the mean of their values first.
func byMean(rows []results.Row) []string {
	sum, number := map[string]float64{}, map[string]float64{}
	var labels []string
	for _, row := range rows {
		if number[row.Label] == 0 {
			labels = append(labels, row.Label)
		}
		sum[row.Label] += row.Center
		number[row.Label]++
	}
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Compare(sum[a]/number[a], sum[b]/number[b]) })
	return labels
}

// churnCaption counts who moves keys between nodes that stay, and names the worst.
func churnCaption(rows, collaterals []results.Row, minimum map[string]float64, n int) string {
	shuffles := map[string]bool{}
	for _, row := range where(collaterals, ofNodes(n)) {
		shuffles[row.Label] = shuffles[row.Label] || row.Center > 0
	}
	sparing := 0
	for _, s := range shuffles {
		if !s {
			sparing++
		}
	}
	worst := rows[0]
	for _, row := range rows {
		if row.Center-minimum[row.Cell] > worst.Center-minimum[worst.Cell] {
			worst = row
		}
	}
	return fmt.Sprintf("With %s, %d of %d contestants never move a key between two nodes that stay. The worst is %s when %s: %s of the keys move, where %s must.",
		plural(n, "node"), sparing, len(shuffles), worst.Label, scheduleName(worst.Schedule), percent(worst.Center), percent(minimum[worst.Cell]))
}

// A decay is the misses of one contestant over time after a change, in the mean
// over its placements.
type decay struct {
	label, schedule string
	row             results.Row
	seconds, misses []float64
	total           float64
}

// decays reads the misses of a run, of the number of nodes that has most.
func (r *run) decays() []decay {
	rows := r.metric("misses", "miss-total")
	if len(rows) == 0 {
		return nil
	}
	var all []decay
	for _, row := range where(rows, ofNodes(fullest(rows))) {
		d := decay{label: row.Label, schedule: row.Schedule, row: row, total: row.Center}
		placements := 0.0
		for _, t := range r.set.Trials {
			seconds, misses := t.Series["miss_seconds"], t.Series["misses"]
			if t.Cell != row.Cell || len(seconds) == 0 || len(seconds) != len(misses) || d.seconds != nil && len(seconds) != len(d.seconds) {
				continue
			}
			if d.seconds == nil {
				d.seconds, d.misses = seconds, make([]float64, len(seconds))
			}
			for i, m := range misses {
				d.misses[i] += m
			}
			placements++
		}
		if placements == 0 {
			continue
		}
		for i := range d.misses {
			d.misses[i] /= placements
		}
		all = append(all, d)
	}
	return all
}

// missRate draws what comes to the origin behind a cache after a change.
func (r *run) missRate() (Figure, bool) {
	decays := r.decays()
	if len(decays) == 0 {
		return Figure{}, false
	}
	var rows []results.Row
	for _, d := range decays {
		rows = append(rows, d.row)
	}
	schedules := schedulesOf(rows, 2)
	perSchedule := map[string][]line{}
	var xs, ys []float64
	for _, d := range decays {
		l := line{name: d.label, look: r.look(d.row)}
		for i, t := range d.seconds {
			if m := d.misses[i]; finite(t) && finite(m) {
				l.points = append(l.points, point{t, m, m, m})
			}
		}
		l.points = tidy(l.points)
		if len(l.points) > 0 {
			perSchedule[d.schedule] = append(perSchedule[d.schedule], l)
		}
	}
	for _, s := range schedules {
		xs, ys = append(xs, abscissas(perSchedule[s])...), append(ys, values(perSchedule[s])...)
	}
	if len(xs) == 0 {
		return Figure{}, false
	}
	x, y := timeScale(xs), missScale(ys)
	var panels []*panel
	for i, s := range schedules {
		ch := chart{heading: scheduleName(s), xName: "time after the change", x: x, y: y, lines: perSchedule[s], columns: 1}
		if i == 0 {
			ch.unit = "misses a second"
		}
		panels = append(panels, ch.split()...)
	}
	f := panelFigure(panels, 1, nil)
	f.Name = "misses"
	f.Title = "What a change sends to the origin behind a cache"
	f.Caption = missCaption(decays, schedules[0])
	f.footer = r.footer("misses")
	return f, true
}

// missScale is the axis of misses a second. They fade for ever; what is less than
// one stands in the lane of the axis.
func missScale(perSecond []float64) scale { return logScaleFrom(1, perSecond, count) }

func missCaption(decays []decay, schedule string) string {
	var worst, best decay
	for _, d := range decays {
		if d.schedule != schedule {
			continue
		}
		if worst.label == "" || d.total > worst.total {
			worst = d
		}
		if best.label == "" || d.total < best.total {
			best = d
		}
	}
	at := func(d decay) string {
		text := count(math.Round(d.misses[0])) + " misses a second at first"
		if i := slices.Index(d.seconds, 60); i >= 0 {
			text += ", " + count(math.Round(d.misses[i])) + " after a minute"
		}
		return text + ", " + count(math.Round(d.total)) + " in all"
	}
	text := fmt.Sprintf("With %s and %s, when %s, %s has %s", plural(worst.row.Nodes, "node"), popularityName(worst.row.Workload), scheduleName(schedule), worst.label, at(worst))
	if best.label != worst.label {
		text += fmt.Sprintf("; %s has %s", best.label, at(best))
	}
	return text + ". Nothing expires."
}

// views draws on how much two clients disagree that know different lists.
func (r *run) views() (Figure, bool) {
	keys, requests := r.metric("views", "view-disagreement"), r.metric("views", "view-disagreement-load")
	if len(keys) == 0 {
		return Figure{}, false
	}
	n := fullest(keys)
	keys, requests = where(keys, ofNodes(n)), where(requests, ofNodes(n))
	schedules := schedulesOf(keys, 3)
	labels := byMean(keys)
	x := partScale(centers(slices.Concat(keys, requests)))
	var panels []*panel
	for i, schedule := range schedules {
		rc := rowChart{heading: heading(viewName(schedule), labels, len(schedules)), x: x}
		if i == 0 {
			rc.unit = "keys and requests sent to different nodes"
		}
		for _, label := range labels {
			rw := row{name: label}
			of := func(row results.Row) bool { return row.Label == label && row.Schedule == schedule }
			for _, row := range where(keys, of) {
				l := r.look(row)
				rw.marks = append(rw.marks, mark{kind: bar, x: 0, to: row.Center, look: l})
			}
			for _, row := range where(requests, of) {
				rw.marks = append(rw.marks, mark{kind: dot, x: row.Center, look: look{color: ink, marker: circle, hollow: true}})
			}
			rc.rows = append(rc.rows, rw)
		}
		p := rc.panel()
		if i > 0 {
			p.plot.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
		panels = append(panels, p)
	}
	f := panelFigure(panels, len(panels), []keyItem{keyDot(look{color: ink, marker: circle, hollow: true}, "requests; the bars are keys")})
	f.height = 85 + vg.Length(len(labels))*rowHeight
	f.Name = "views"
	f.Title = "Two clients that know different lists of the cluster"
	f.Caption = viewCaption(keys, schedules, n)
	f.footer = r.footer("views")
	return f, true
}

// viewName says how the lists of two clients differ.
func viewName(schedule string) string {
	switch schedule {
	case "remove-one", "remove-each", "add-one":
		return "one lacks a node"
	case "reorder":
		return "one list in another order"
	case "rolling":
		return "one replacement behind"
	}
	return scheduleName(schedule)
}

func viewCaption(rows []results.Row, schedules []string, n int) string {
	least, most := extremes(where(rows, func(row results.Row) bool { return row.Schedule == schedules[0] }))
	text := fmt.Sprintf("With %s, when %s, two clients with %s disagree on %s of the keys, and with %s on %s.",
		plural(n, "node"), viewName(schedules[0]), least.Label, percent(least.Center), most.Label, percent(most.Center))
	if reordered := where(rows, func(row results.Row) bool { return row.Schedule == "reorder" }); len(reordered) > 0 {
		unmoved := where(reordered, func(row results.Row) bool { return row.Center == 0 })
		text += fmt.Sprintf(" The order of the list alone matters to %d of %d.", len(reordered)-len(unmoved), len(reordered))
	}
	return text
}
