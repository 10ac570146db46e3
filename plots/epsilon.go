package plots

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// leastEpsilons is how many values of epsilon make a figure over it.
const leastEpsilons = 3

// epsilonOf returns epsilon of a row's bound.
func epsilonOf(row results.Row) (float64, bool) {
	e, err := strconv.ParseFloat(results.Param(row.Params, "epsilon"), 64)
	return e, err == nil && e > 0 && finite(e)
}

// swept returns the rows that are part of a sweep over epsilon and, when it is at all,
// over it alone: of the number of nodes with most rows, unweighted, and with m as
// many as there are.
func swept(rows []results.Row) []results.Row {
	rows = where(rows, func(row results.Row) bool {
		_, ok := epsilonOf(row)
		return ok && row.Weights == "" && fieldOf(row, "epsilon") != "" && fieldOf(row, "expected") == ""
	})
	rows = where(rows, ofNodes(fullest(rows)))
	values := map[float64]bool{}
	for _, row := range rows {
		e, _ := epsilonOf(row)
		values[e] = true
	}
	if len(values) < leastEpsilons {
		return nil
	}
	return rows
}

// notOfSweep reports whether a row is not part of a sweep over epsilon: those set how
// many requests there are, or are expected.
func notOfSweep(row results.Row) bool {
	return fieldOf(row, "requests") == "" && fieldOf(row, "expected") == ""
}

// alike returns the rows of the number of requests that most of them have.
func alike(rows []results.Row) []results.Row {
	have, most := map[string]int{}, ""
	for _, row := range rows {
		n := fieldOf(row, "requests")
		if have[n]++; have[n] > have[most] {
			most = n
		}
	}
	return where(rows, func(row results.Row) bool { return fieldOf(row, "requests") == most })
}

// overEpsilon makes one line of each algorithm and popularity.
func (r *run) overEpsilon(rows []results.Row, named func(results.Row) string) []line {
	var lines []line
	index := map[string]int{}
	for _, row := range rows {
		name := named(row)
		i, ok := index[name]
		if !ok {
			i = len(lines)
			index[name] = i
			l := lookOf(row.Algorithm, 0)
			if skew(row.Workload) == 0 {
				l.hollow, l.dash = true, dotted
			}
			lines = append(lines, line{name: name, look: l})
		}
		e, _ := epsilonOf(row)
		lines[i].points = append(lines[i].points, point{e, row.Center, row.Low, row.High})
	}
	for i := range lines {
		lines[i].points = tidy(lines[i].points)
	}
	return lines
}

// way names how a contestant goes on from a full node, in few letters.
func way(row results.Row) string {
	return strings.TrimPrefix(strings.ReplaceAll(row.Algorithm, "-", " "), "bounded ")
}

// epsilons draws what a bound costs as it tightens: requests that go elsewhere, with
// requests that stay and that end; the nodes that need the hottest key; and what
// moves with the membership.
func (r *run) epsilons() (Figure, bool) {
	spills := alike(swept(r.metric("bounded", "spill-fraction")))
	if len(spills) == 0 {
		return Figure{}, false
	}
	held := func(ended bool) func(results.Row) bool {
		return func(row results.Row) bool { return (fieldOf(row, "outstanding") != "") == ended }
	}
	byPopularity := func(row results.Row) string { return way(row) + ", " + popularityShort(row.Workload) }
	var charts []chart
	var all []line
	add := func(heading, unit string, name func(float64) string, lines []line) {
		if len(lines) == 0 {
			return
		}
		y := logScale(values(lines), name)
		charts = append(charts, chart{heading: heading, unit: unit, xName: "epsilon", y: y, lines: lines})
		all = append(all, lines...)
	}
	spilled := func(ended bool) []line { return r.overEpsilon(where(spills, held(ended)), byPopularity) }
	add("Requests stay", "part sent past their first choice", percent, spilled(false))
	add("Requests end", "part sent past their first choice", percent, spilled(true))
	hot := where(alike(swept(r.metric("bounded", "hot-key-nodes"))), func(row results.Row) bool {
		return skew(row.Workload) > 0 && held(false)(row)
	})
	add("Hottest key", "nodes that serve it", plain, r.overEpsilon(hot, byPopularity))
	moves := where(swept(r.metric("bounded-movement", "moved-fraction")), func(row results.Row) bool {
		return strings.HasPrefix(row.Schedule, "add")
	})
	byRequests := func(row results.Row) string {
		n, err := strconv.ParseFloat(fieldOf(row, "requests"), 64)
		if err != nil {
			return way(row)
		}
		return way(row) + ", " + count(n)
	}
	if lines := r.overEpsilon(moves, byRequests); len(lines) > 0 {
		least := line{name: "must move", look: look{color: floor, dash: dashed}, thin: true}
		for i := range lines {
			// Alike in popularity, the lines differ in the number of requests.
			lines[i].look.hollow, lines[i].look.dash = i%2 == 1, dashes[i%2*3]
		}
		for _, row := range swept(r.metric("bounded-movement", "moved-minimum")) {
			if e, _ := epsilonOf(row); strings.HasPrefix(row.Schedule, "add") {
				least.points = append(least.points, point{e, row.Center, row.Center, row.Center})
			}
		}
		least.points = tidy(least.points)
		add("A node joins", "part of the requests that move", percent, append(lines, least))
	}
	columns := columnsFor(all, 2)
	var panels []*panel
	for _, ch := range charts {
		ch.x, ch.columns = logScale(abscissas(all), plain), columns
		panels = append(panels, ch.split()...)
	}
	f := panelFigure(panels, columns, nil)
	f.Name = "epsilon"
	f.Title = "The tighter the bound, the more goes elsewhere"
	tight, loose := spills[0], spills[0]
	for _, row := range where(spills, func(row results.Row) bool { return held(false)(row) && skew(row.Workload) > 0 }) {
		e, _ := epsilonOf(row)
		if least, _ := epsilonOf(tight); e < least || skew(tight.Workload) == 0 {
			tight = row
		}
		if most, _ := epsilonOf(loose); e > most || skew(loose.Workload) == 0 {
			loose = row
		}
	}
	a, _ := epsilonOf(tight)
	b, _ := epsilonOf(loose)
	f.Caption = fmt.Sprintf("With %s under %s, an epsilon of %s sends %s of the requests past their first choice; with %s it is %s.",
		plural(tight.Nodes, "node"), popularityName(tight.Workload), plain(a), percent(tight.Center), plain(b), percent(loose.Center))
	f.footer = r.footer("bounded", "bounded-movement")
	return f, true
}
