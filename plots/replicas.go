package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ringbench/ringbench/results"
)

// replicaRows returns the rows of a metric about replicas, of the number of nodes
// and of replicas that most of them are about.
func (r *run) replicaRows(measure, metric string) []results.Row {
	rows := r.metric(measure, metric)
	if len(rows) == 0 {
		return nil
	}
	rows = where(rows, ofNodes(fullest(rows)))
	number := map[int]int{}
	most := 0
	for i := range rows {
		k := rows[i].Replicas()
		if number[k]++; number[k] > number[most] {
			most = k
		}
	}
	return where(rows, func(row results.Row) bool { return row.Replicas() == most })
}

// replicas draws which part of the replicas a change copies, and who takes over
// from a node that is gone.
func (r *run) replicas() (Figure, bool) {
	moved := r.replicaRows("replica-movement", "replica-moved-fraction")
	if len(moved) == 0 {
		return Figure{}, false
	}
	minimum := map[string]float64{}
	for _, row := range r.metric("replica-movement", "replica-moved-minimum") {
		minimum[row.Cell] = row.Center
	}
	schedules, labels := schedulesOf(moved, 2), byMean(moved)
	heirs := where(r.replicaRows("replica-movement", "failover-peak"), func(row results.Row) bool { return slices.Contains(labels, row.Label) })
	copies := r.replicaRows("replica-movement", "replica-failover-peak")
	columns := len(schedules)
	if len(heirs) > 0 {
		columns++
	}
	var panels []*panel
	parts := centers(slices.Concat(moved, heirs, copies))
	for _, row := range moved {
		parts = append(parts, minimum[row.Cell])
	}
	x := partScale(parts)
	add := func(name, unit string, marks func(label string) []mark) {
		rc := rowChart{heading: heading(name, labels, columns), unit: unit, x: x}
		for _, label := range labels {
			rc.rows = append(rc.rows, row{name: label, marks: marks(label)})
		}
		p := rc.panel()
		if len(panels) > 0 {
			p.plot.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
		panels = append(panels, p)
	}
	for _, schedule := range schedules {
		add(scheduleName(schedule), "replicas that are copied", func(label string) (marks []mark) {
			for _, row := range where(moved, func(row results.Row) bool { return row.Label == label && row.Schedule == schedule }) {
				marks = append(marks, mark{kind: bar, to: row.Center, look: r.look(row)}, mark{kind: tick, x: minimum[row.Cell], look: look{color: ink}})
			}
			return marks
		})
	}
	hollow := look{color: ink, marker: circle, hollow: true}
	keys := []keyItem{keyTick(look{color: ink}, "the least that must be copied")}
	if len(heirs) > 0 {
		gone := schedulesOf(heirs, 1)[0]
		add("the largest heir", "part of a dead node's keys", func(label string) (marks []mark) {
			of := func(row results.Row) bool { return row.Label == label && row.Schedule == gone }
			for _, row := range where(heirs, of) {
				marks = append(marks, mark{kind: bar, to: row.Center, look: r.look(row)})
			}
			for _, row := range where(copies, of) {
				marks = append(marks, mark{kind: dot, x: row.Center, look: hollow})
			}
			return marks
		})
		keys = append(keys, keyDot(hollow, "part of its replicas that one has to copy"))
	}
	f := panelFigure(panels, columns, keys)
	f.height = 85 + vg.Length(len(labels))*rowHeight
	f.Name = "replicas"
	f.Title = "Replicas that a change copies, and who inherits"
	f.Caption = replicasCaption(moved, heirs, minimum)
	f.footer = r.footer("replica-movement")
	return f, true
}

func replicasCaption(moved, heirs []results.Row, minimum map[string]float64) string {
	worst := moved[0]
	for _, row := range moved {
		if row.Center-minimum[row.Cell] > worst.Center-minimum[worst.Cell] {
			worst = row
		}
	}
	text := fmt.Sprintf("With %s of each key on %s, when %s, %s copies %s of them, where %s must be.",
		plural(worst.Replicas(), "replica"), plural(worst.Nodes, "node"), scheduleName(worst.Schedule), worst.Label, percent(worst.Center), percent(minimum[worst.Cell]))
	if len(heirs) > 0 {
		_, most := extremes(heirs)
		if others := where(heirs, func(row results.Row) bool { return row.Algorithm != "modulo" }); len(others) > 0 { // which moves nearly all keys
			heirs = others
		}
		least, _ := extremes(heirs)
		text += fmt.Sprintf(" Of the keys of a dead node one heir takes %s with %s and %s with %s.", percent(most.Center), most.Label, percent(least.Center), least.Label)
	}
	return text
}

// quorums draws the part of the sets of nodes whose loss takes some key its
// majority, for each contestant and by the number of vnodes.
func (r *run) quorums() (Figure, bool) {
	rows := r.replicaRows("replicas", "quorum-exposure")
	if len(rows) == 0 {
		return Figure{}, false
	}
	violations := map[string]results.Row{}
	for _, row := range r.metric("replicas", "replica-zone-violations") {
		violations[row.Cell] = row
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b results.Row) int { return cmp.Compare(a.Center, b.Center) })
	all := rows
	rows = rows[:min(len(rows), maxQuorumRows)]
	sets := "pairs"
	if quorum := rows[0].Replicas()/2 + 1; quorum != 2 {
		sets = fmt.Sprintf("sets of %d", quorum)
	}
	hollow := look{color: ink, marker: circle, hollow: true}
	rc := rowChart{heading: plural(rows[0].Nodes, "node"), unit: sets + " that hold a key's majority"}
	zoned := false
	parts := centers(rows)
	for _, q := range rows {
		marks := []mark{{kind: bar, to: q.Center, look: r.look(q)}}
		if v, ok := violations[q.Cell]; ok && v.Keys > 0 {
			marks = append(marks, mark{kind: dot, x: v.Center / float64(v.Keys), look: hollow})
			parts = append(parts, v.Center/float64(v.Keys))
			zoned = true
		}
		rc.rows = append(rc.rows, row{name: q.Label, marks: marks})
	}
	rc.x = partScale(parts)
	panels := []*panel{rc.panel()}
	if l, nodes := r.exposureLine(); len(l.points) > 1 {
		panels = append(panels, chart{heading: plural(nodes, "node"), unit: "the same by vnodes", xName: "points a node",
			x: logScale(abscissas([]line{l}), count), y: partScale(values([]line{l})), lines: []line{l}, columns: 1}.panel())
	}
	var keys []keyItem
	if zoned {
		keys = append(keys, keyDot(hollow, "keys with two replicas in one zone, where there are zones"))
	}
	f := panelFigure(panels, len(panels), keys)
	f.height = 85 + max(6, vg.Length(len(rows)))*rowHeight
	f.Name = "quorums"
	f.Title = "Which " + sets + " of nodes must not die together"
	f.Caption = quorumCaption(all, violations, sets)
	if left := missing(all, rows); len(left) > 0 {
		f.Caption += " Not shown, for want of room: " + some(left) + "."
	}
	f.footer = r.footer("replicas")
	return f, true
}

// maxQuorumRows bounds the contestants in the figure of quorums.
const maxQuorumRows = 24

// exposureLine is the exposure of a ring by its number of vnodes, at the size of
// cluster that has most of them.
func (r *run) exposureLine() (line, int) {
	at := map[int][]point{}
	nodes := 0
	for _, row := range r.metric("replicas", "quorum-exposure") {
		v, err := strconv.ParseFloat(results.Param(row.Params, "vnodes"), 64)
		if row.Algorithm != "ring" || fieldOf(row, "zones") != "" || err != nil || v <= 0 || !finite(v) || !finite(row.Center) || row.Center < 0 || row.Center > 1 {
			continue
		}
		at[row.Nodes] = append(at[row.Nodes], point{v, row.Center, row.Low, row.High})
		if len(at[row.Nodes]) > len(at[nodes]) {
			nodes = row.Nodes
		}
	}
	return line{name: "ring", look: lookOf("ring", 0), points: tidy(at[nodes])}, nodes
}

func quorumCaption(rows []results.Row, violations map[string]results.Row, sets string) string {
	least, most := extremes(rows)
	text := fmt.Sprintf("With %s and %s, the loss of %s of the %s of nodes takes some key its majority with %s, and of %s with %s.",
		plural(least.Nodes, "node"), plural(least.Replicas(), "replica"), percent(least.Center), sets, least.Label, percent(most.Center), most.Label)
	worst := results.Row{}
	for _, row := range rows {
		if v := violations[row.Cell]; v.Keys > 0 && v.Center > worst.Center {
			worst = v
		}
	}
	if worst.Keys > 0 {
		text += fmt.Sprintf(" %s of the keys have two replicas in one zone with %s.", percent(worst.Center/float64(worst.Keys)), worst.Label)
	}
	return text
}
