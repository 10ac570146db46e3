package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// removals draws what a lookup costs once part of the nodes have left, at random
// and last in, first out.
func (r *run) removals() (Figure, bool) {
	rows := where(r.aged, func(row results.Row) bool {
		_, _, ok := leavers(row)
		return ok && row.Measure == "lookup" && row.Metric == "lookup-ns"
	})
	if len(rows) == 0 {
		return Figure{}, false
	}
	shown := timed(rows)
	n := fullest(shown.rows)
	rows = where(shown.rows, ofNodes(n))
	fresh := where(where(r.metric("lookup", "lookup-ns"), ofNodes(n)), ofWorkload(shown.workload))
	var panels []*panel
	var all []line
	kinds := []string{"remove", "remove-last"}
	parts := map[string][]line{}
	for _, k := range kinds {
		of := where(rows, func(row results.Row) bool { kind, _, _ := leavers(row); return kind == k })
		parts[k] = r.linesOverLeft(of, fresh)
		all = append(all, parts[k]...)
	}
	x, y := linearScale(append(abscissas(all), 1), percent), logScale(values(all), duration)
	for _, k := range kinds {
		if lines := parts[k]; len(lines) > 0 {
			panels = append(panels, chart{heading: "nodes left " + ways[k], unit: "time of one lookup", xName: "nodes that left", x: x, y: y,
				lines: lines, columns: 1}.split()...)
		}
	}
	f := panelFigure(panels, 1, nil)
	f.Name = "removals"
	f.Title = "What a lookup costs once nodes have left"
	f.Caption = fastest(rows, n, shown.under()) + shown.note()
	f.footer = r.footerOf(func(t results.Trial) bool { return t.Measure == "lookup" && t.Nodes == n })
	return f, true
}

// leavers returns how nodes left, "remove" or "remove-last", and what part of them.
func leavers(row results.Row) (kind string, part float64, ok bool) {
	kind, text, _ := strings.Cut(row.After(), ":")
	part, err := strconv.ParseFloat(text, 64)
	if err == nil && part >= 1 {
		part /= float64(row.Nodes)
	}
	return kind, part, err == nil && strings.HasPrefix(kind, "remove")
}

// linesOverLeft makes one line of each contestant, over the part that left. It
// starts at the contestant newly built.
func (r *run) linesOverLeft(rows, fresh []results.Row) []line {
	var lines []line
	index := map[string]int{}
	for _, row := range rows {
		i, ok := index[row.Label]
		if !ok {
			i = len(lines)
			index[row.Label] = i
			lines = append(lines, line{name: row.Label, look: r.look(row)})
			if start, ok := find(fresh, row.Label, row.Nodes); ok {
				lines[i].points = append(lines[i].points, point{0, start.Center, start.Low, start.High})
			}
		}
		_, part, _ := leavers(row)
		lines[i].points = append(lines[i].points, point{part, row.Center, row.Low, row.High})
	}
	for i := range lines {
		lines[i].points = tidy(lines[i].points)
	}
	return lines
}

// fastest says who is fastest and who slowest after most nodes left, for each way
// of leaving.
func fastest(rows []results.Row, n int, under string) string {
	var said []string
	for _, kind := range []string{"remove", "remove-last"} {
		of := where(rows, func(row results.Row) bool { k, _, _ := leavers(row); return k == kind })
		if len(of) == 0 {
			continue
		}
		most := slices.MaxFunc(of, func(a, b results.Row) int {
			_, x, _ := leavers(a)
			_, y, _ := leavers(b)
			return cmp.Compare(x, y)
		})
		least, worst := extremes(where(of, func(row results.Row) bool { return row.After() == most.After() }))
		said = append(said, fmt.Sprintf("once %s of %s have left %s, a lookup%s takes from %s (%s) to %s (%s)",
			partOf(most), plural(n, "node"), ways[kind], under, duration(least.Center), least.Label, duration(worst.Center), worst.Label))
	}
	text := strings.Join(said, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// ways are how nodes left, in plain words.
var ways = map[string]string{"remove": "at random", "remove-last": "from the end of the list"}

// partOf writes the part of the nodes that left.
func partOf(row results.Row) string {
	_, part, _ := leavers(row)
	return percent(part)
}

// afterName says in plain words what a structure had been through.
func afterName(row results.Row) string {
	if kind, _, ok := leavers(row); ok {
		return "once " + partOf(row) + " of the nodes have left " + ways[kind]
	}
	return "after " + clean(row.After())
}
