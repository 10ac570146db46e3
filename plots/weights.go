package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// weights draws how far nodes miss their weights, and the memory that it takes to
// miss them less.
func (r *run) weights() (Figure, bool) {
	errs := r.metric("weights", "weight-error")
	sizes := r.metric("weights", "footprint-bytes")
	if len(errs) == 0 {
		return Figure{}, false
	}
	n := fullest(errs)
	errs, sizes = where(errs, ofNodes(n)), where(sizes, ofNodes(n))
	left, right := weightLines(errs), weightLines(sizes)
	if len(left) == 0 || len(right) == 0 {
		return Figure{}, false
	}
	x := logScale(abscissas(slices.Concat(left, right)), count)
	panels := []*panel{
		chart{heading: "The most that a node misses its weight by", unit: "part of its fair share", xName: "points for a unit of weight", x: x,
			y: logScale(values(left), percent), lines: left, columns: 1}.panel(),
		chart{heading: "Memory", unit: "of the structure", xName: "points for a unit of weight", x: x,
			y: sizeScale(values(right), bytesName), lines: right, columns: 1}.panel(),
	}
	f := panelFigure(panels, 1, []keyItem{{"level, dashed: a scheme without points", func(c draw.Canvas, p vg.Point) {
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: 1, Dashes: []vg.Length{3, 1.5}}, p.X-4, p.Y, p.X+5, p.Y)
	}}})
	f.Name = "weights"
	f.Title = "How closely nodes follow their weights"
	f.Caption = weightsCaption(errs, sizes, n)
	f.footer = r.footer("weights")
	return f, true
}

// weightLines makes a line over the points of each algorithm and pattern of
// weights, a colour for each pattern; what has no points is level.
func weightLines(rows []results.Row) []line {
	var patterns []string
	type series struct{ algorithm, pattern string }
	points, level := map[series][]point{}, map[series]point{}
	var order []series
	from, to := math.Inf(1), 0.0
	for _, row := range rows {
		s := series{row.Algorithm, row.Weights}
		if !slices.Contains(patterns, row.Weights) {
			patterns = append(patterns, row.Weights)
		}
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
		p := point{0, row.Center, row.Low, row.High}
		v, err := strconv.ParseFloat(results.Param(row.Params, "vnodes"), 64)
		if err != nil || v <= 0 || !finite(v) {
			p.lo, p.hi = p.y, p.y
			level[s] = p
			continue
		}
		p.x = v
		points[s] = append(points[s], p)
		from, to = min(from, v), max(to, v)
	}
	var lines []line
	for _, s := range order {
		i := slices.Index(patterns, s.pattern)
		l := look{color: palette[i%len(palette)], marker: marker(i % markers)}
		if ps := tidy(points[s]); len(ps) > 0 {
			lines = append(lines, line{name: patternName(s.pattern), look: l, points: ps})
		}
		if p, ok := level[s]; ok && to > 0 {
			a, b := p, p
			a.x, b.x = from, to
			l.dash = dashed
			lines = append(lines, line{look: l, points: []point{a, b}, thin: true, inside: true})
		}
	}
	return lines[:min(len(lines), 2*maxLines)]
}

// patternName shortens a pattern of weights: "1 (x9), 0.001".
func patternName(pattern string) string {
	ws := strings.Split(clean(pattern), ":")
	first := 0
	for first < len(ws) && ws[first] == ws[0] {
		first++
	}
	if len(ws) > 4 && first == len(ws)-1 {
		return fmt.Sprintf("%s (x%d), %s", ws[0], first, ws[first])
	}
	return pen{size: headingSize, bold: true}.fit(strings.Join(ws, ":"), maxName)
}

// weightsCaption names the worst miss at the default number of points, or at the
// most there are, and the least of all.
func weightsCaption(rows, sizes []results.Row, n int) string {
	const usual = 160
	var worst, best results.Row
	for _, row := range rows {
		v, err := strconv.ParseFloat(results.Param(row.Params, "vnodes"), 64)
		if err == nil && v == usual && (worst.Label == "" || row.Center > worst.Center) {
			worst = row
		}
		if best.Label == "" || row.Center < best.Center {
			best = row
		}
	}
	text := ""
	if worst.Label != "" {
		text = fmt.Sprintf("With %s of weights %s, and %d points for a unit of weight, %s misses a weight by %s in the mean of placements. ",
			plural(n, "node"), patternName(worst.Weights), usual, strings.ReplaceAll(worst.Algorithm, "-", " "), percent(worst.Center))
	}
	text += fmt.Sprintf("The least is %s (%s, weights %s", percent(best.Center), strings.ReplaceAll(best.Algorithm, "-", " "), patternName(best.Weights))
	for _, row := range sizes {
		if row.Cell == best.Cell {
			text += ", " + bytesName(row.Center)
		}
	}
	return text + ")."
}

// collisions draws how many points of a ring fall on positions that are taken, and
// what that does to the shares, by the bits of a position.
func (r *run) collisions() (Figure, bool) {
	modulus := func(row results.Row) float64 {
		m, err := strconv.ParseFloat(results.Param(row.Params, "modulus"), 64)
		if err != nil || m == 0 {
			return 0x1p64
		}
		return m
	}
	counted := where(r.metric("shares", "point-collisions"), func(row results.Row) bool { return strings.Contains(row.Cell, "/modulus=") })
	spread := where(r.metric("shares", "share-cv"), func(row results.Row) bool { return strings.Contains(row.Cell, "/modulus=") })
	perModulus := map[float64][]results.Row{}
	for _, row := range counted {
		perModulus[modulus(row)] = append(perModulus[modulus(row)], row)
	}
	if len(perModulus) < 2 {
		return Figure{}, false
	}
	var hit, theory, shares []line
	for i, m := range thin64(sorted(perModulus), len(palette)) {
		name := plain(math.Round(math.Log2(m))) + " bits"
		l := look{color: palette[i%len(palette)], marker: marker(i % markers)}
		measured := line{name: name, look: l}
		estimate := line{name: name, look: look{color: l.color, dash: dotted}, thin: true}
		for _, row := range perModulus[m] {
			nodes := float64(row.Nodes)
			measured.points = append(measured.points, point{nodes, row.Center, row.Center, row.Center})
			if row.Theory > 0 {
				estimate.points = append(estimate.points, point{nodes, row.Theory, row.Theory, row.Theory})
			}
		}
		measured.points, estimate.points = tidy(measured.points), tidy(estimate.points)
		if len(measured.points) > 0 {
			hit = append(hit, measured)
		}
		if len(estimate.points) > 1 {
			estimate.name, estimate.inside = "", true // the measured line has the name
			theory = append(theory, estimate)
		}
		cv := line{name: name, look: l}
		for _, row := range where(spread, func(row results.Row) bool { return modulus(row) == m }) {
			cv.points = append(cv.points, point{float64(row.Nodes), row.RMS, row.Low, row.High})
		}
		cv.points = tidy(cv.points)
		if len(cv.points) > 0 {
			shares = append(shares, cv)
		}
	}
	if len(hit) == 0 || len(shares) == 0 {
		return Figure{}, false
	}
	x, columns := logScale(abscissas(slices.Concat(shares, hit, theory)), count), columnsFor(shares, 2)
	panels := []*panel{
		chart{heading: "Points that collide", unit: "of all nodes together", xName: "nodes", x: x,
			y: collisionScale(hit, theory), lines: slices.Concat(theory, hit), columns: columns}.panel(),
		chart{heading: "Spread of the shares", unit: "stddev / mean", xName: "nodes", x: x,
			y: logScale(values(shares), percent), lines: shares, columns: columns}.panel(),
	}
	var key []keyItem
	if len(theory) > 0 {
		key = append(key, keyItem{"the birthday estimate", func(c draw.Canvas, p vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: soft, Width: 1, Dashes: dotted}, p.X-4, p.Y, p.X+5, p.Y)
		}})
	}
	f := panelFigure(panels, columns, key)
	f.Name = "collisions"
	f.Title = "Points that fall on one another"
	f.Caption = collisionsCaption(counted, spread, modulus)
	f.footer = r.footerOf(func(t results.Trial) bool { return t.Measure == "shares" && strings.Contains(t.Cell, "/modulus=") })
	return f, true
}

// collisionScale is the axis of collisions, on which the estimates go down to next
// to nothing: what is less than any measured value, and than one in ten placements,
// stands in the lane of the axis.
func collisionScale(measured, estimates []line) scale {
	least := 0.1
	for _, v := range values(measured) {
		if v > 0 {
			least = min(least, v)
		}
	}
	return logScaleFrom(least, values(slices.Concat(measured, estimates)), plain)
}

// thin64 keeps at most n of the values, from the least.
func thin64(values []float64, n int) []float64 { return values[:min(len(values), n)] }

func collisionsCaption(counted, spread []results.Row, modulus func(results.Row) float64) string {
	n := nodeCounts(counted)
	largest := n[len(n)-1]
	var narrow, wide results.Row
	for _, row := range where(counted, ofNodes(largest)) {
		if narrow.Label == "" || modulus(row) < modulus(narrow) {
			narrow = row
		}
	}
	// spreadIn ends a sentence about a cell with the spread of its shares, if known.
	spreadIn := func(cell, verb string) string {
		for _, row := range spread {
			if row.Cell == cell {
				return verb + percent(row.RMS)
			}
		}
		return ""
	}
	for _, row := range where(counted, ofNodes(largest)) {
		if row.Center < 0.01*float64(largest) && (wide.Label == "" || modulus(row) < modulus(wide)) {
			wide = row
		}
	}
	estimate := ""
	if narrow.Theory > 0 {
		estimate = fmt.Sprintf(" (%s by the birthday estimate)", count(math.Round(narrow.Theory)))
	}
	text := fmt.Sprintf("With %s on positions of %s bits, %s points collide%s%s",
		plural(largest, "node"), plain(math.Round(math.Log2(modulus(narrow)))), count(math.Round(narrow.Center)), estimate, spreadIn(narrow.Cell, " and the shares spread by "))
	if wide.Label != "" && wide.Cell != narrow.Cell {
		text += fmt.Sprintf("; from %s bits on fewer than one in a hundred nodes has such a point%s",
			plain(math.Round(math.Log2(modulus(wide)))), spreadIn(wide.Cell, ", and the spread is "))
	}
	return text + "."
}
