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

// scheduleName says a schedule in plain words.
func scheduleName(schedule string) string {
	kind, times, _ := strings.Cut(schedule, ":")
	switch kind {
	case "add-one":
		return "one node joins"
	case "remove-one":
		return "one node leaves"
	case "remove-each":
		return "each node leaves in turn"
	case "remove-last":
		return "the last node leaves"
	case "remove":
		return clean(times) + " nodes leave"
	case "grow":
		return clean(times) + " nodes join"
	case "double":
		return "the cluster doubles"
	case "rolling":
		return "one node is replaced"
	case "reorder":
		return "the list is reordered"
	case "reweight":
		return "one weight is multiplied by " + clean(times)
	}
	return clean(schedule)
}

// A move is what one change of membership moves, and what it had to.
type move struct {
	results.Row
	minimum float64
}

// moves returns the movement of all contestants, with the minimum beside it. How
// often keys are asked does not move them, so that contestants under several
// workloads stand side by side; of one that has several, the one that moves most
// without need stands for it.
func (r *run) moves() []move {
	minimum := map[string]float64{}
	for _, row := range r.metric("movement", "moved-minimum") {
		minimum[row.Cell] = row.Center
	}
	type change struct {
		label, schedule string
		nodes           int
	}
	at := map[change]int{}
	var moves []move
	for _, row := range r.metric("movement", "moved-fraction") {
		least, ok := minimum[row.Cell]
		if !ok {
			continue
		}
		i, known := at[change{row.Label, row.Schedule, row.Nodes}]
		switch m := (move{row, least}); {
		case !known:
			at[change{row.Label, row.Schedule, row.Nodes}] = len(moves)
			moves = append(moves, m)
		case m.Center-least > moves[i].Center-moves[i].minimum:
			moves[i] = m
		}
	}
	return moves
}

// apart returns at most n numbers of nodes of the rows, ascending and each at least
// twice the one before: first the ones that most contestants have. Of equals those go
// first that stand evenly between the least and the largest.
func apart(rows []results.Row, n int) []int {
	sizes, have := nodeCounts(rows), map[int]int{}
	for _, size := range sizes {
		have[size] = contestants(where(rows, ofNodes(size)))
	}
	var even []int
	for _, v := range sizes {
		if len(even) == 0 || v/2 >= even[len(even)-1] {
			even = append(even, v)
		}
	}
	even = thin(even, n)
	byContestants := slices.Clone(sizes)
	slices.SortStableFunc(byContestants, func(a, b int) int {
		standing := func(v int) int { return -cmp.Compare(slices.Index(even, v), -1) }
		return cmp.Or(cmp.Compare(have[b], have[a]), cmp.Compare(standing(a), standing(b)))
	})
	var kept []int
	for _, v := range byContestants {
		near := func(k int) bool { return v/2 < k && k/2 < v }
		if len(kept) < n && !slices.ContainsFunc(kept, near) {
			kept = append(kept, v)
		}
	}
	slices.Sort(kept)
	return kept
}

// movement draws the part of the keys that a change of membership moves.
func (r *run) movement() (Figure, bool) {
	moves := r.moves()
	if len(moves) == 0 {
		return Figure{}, false
	}
	var rows []results.Row
	var schedules []string
	for _, m := range moves {
		rows = append(rows, m.Row)
		if !slices.Contains(schedules, m.Schedule) {
			schedules = append(schedules, m.Schedule)
		}
	}
	slices.SortStableFunc(schedules, func(a, b string) int { return cmp.Compare(scheduleRank(a), scheduleRank(b)) })
	schedules = schedules[:min(len(schedules), 2)]
	isDrawn := func(row results.Row) bool { return slices.Contains(schedules, row.Schedule) }
	sizes := apart(where(rows, isDrawn), 3)
	all := moves
	moves = slices.DeleteFunc(slices.Clone(moves), func(m move) bool { return !isDrawn(m.Row) || !slices.Contains(sizes, m.Nodes) })
	labels := r.labelsByExcess(moves, sizes[0])

	var xs []float64
	var drawn []results.Row
	for _, m := range moves {
		xs, drawn = append(xs, m.Center, m.minimum), append(drawn, m.Row)
	}
	x := logScale(xs, percent)
	shapes := []marker{circle, square, triangle}
	var key []keyItem
	for i, n := range sizes {
		key = append(key, keyDot(look{color: soft, marker: shapes[i]}, plural(n, "node")))
	}
	key = append(key, keyTick(look{color: ink}, "the least that must move"))

	var panels []*panel
	for i, schedule := range schedules {
		rc := rowChart{heading: scheduleName(schedule), x: x, unit: "part of the keys that move"}
		for _, label := range labels {
			rw := row{name: label}
			for lane, n := range sizes {
				for _, m := range moves {
					if m.Label == label && m.Schedule == schedule && m.Nodes == n {
						rw.marks = append(rw.marks, moveMarks(m, r.look(m.Row), shapes[lane], len(sizes), lane)...)
					}
				}
			}
			rc.rows = append(rc.rows, rw)
		}
		p := rc.panel()
		if i > 0 {
			p.plot.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
		panels = append(panels, p)
	}
	f := panelFigure(panels, 2, key)
	f.height = 95 + vg.Length(len(labels))*(rowHeight+3)
	f.Name = "movement"
	f.Title = "Keys that change their node when the cluster changes"
	f.Caption = movementCaption(all, schedules[0], sizes[0]) + elsewhere(rows, drawn, sizes)
	f.footer = r.footer("movement")
	return f, true
}

func scheduleRank(schedule string) int {
	return slices.Index([]string{"remove-one", "add-one"}, schedule) * -1
}

// moveMarks draws one change in a lane of its contestant's row.
func moveMarks(m move, l look, shape marker, lanes, lane int) []mark {
	at := vg.Length(5) * (vg.Length(lanes-1)/2 - vg.Length(lane))
	l.marker = shape
	return []mark{
		{kind: span, x: m.minimum, to: m.Center, look: look{color: l.color}, lane: at},
		{kind: tick, x: m.minimum, look: look{color: ink}, lane: at},
		{kind: dot, x: m.Center, look: l, lane: at},
	}
}

// labelsByExcess orders the contestants by how far they are above the minimum
// at n nodes.
func (r *run) labelsByExcess(moves []move, n int) []string {
	excess := map[string]float64{}
	var labels []string
	for _, m := range moves {
		if _, seen := excess[m.Label]; !seen {
			labels = append(labels, m.Label)
			excess[m.Label] = 1
		}
		if m.Nodes == n && m.minimum > 0 {
			excess[m.Label] = max(excess[m.Label], m.Center/m.minimum)
		}
	}
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Compare(math.Round(10*excess[a]), math.Round(10*excess[b])) })
	return labels
}

func movementCaption(moves []move, schedule string, n int) string {
	var worst move
	for _, m := range moves {
		if m.Schedule == schedule && m.Nodes == n && m.minimum > 0 &&
			(worst.minimum == 0 || timesAsMuch(m.Center, m.minimum) > timesAsMuch(worst.Center, worst.minimum)) {
			worst = m
		}
	}
	switch {
	case worst.minimum == 0:
		return "Each contestant beside the least that any algorithm has to move."
	case worst.Center < 1.1*worst.minimum:
		return fmt.Sprintf("With %s, when %s, no contestant moves more than %s times the least that must move (%s: %s of the keys).",
			plural(n, "node"), scheduleName(schedule), trimmed(max(1, timesAsMuch(worst.Center, worst.minimum)), 3), worst.Label, percent(worst.Center))
	}
	return fmt.Sprintf("With %s, when %s, %s moves %s of the keys, %s times the least that must move (%s). "+
		"A dot on its stroke moves no key without need.",
		plural(n, "node"), scheduleName(schedule), worst.Label, percent(worst.Center), trimmed(timesAsMuch(worst.Center, worst.minimum), 2), percent(worst.minimum))
}
