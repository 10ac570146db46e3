package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// hotKeys draws the busiest node when every key is asked alike beside the
// busiest node when some keys are asked far more.
func (r *run) hotKeys() (Figure, bool) {
	even, loads := where(r.metric("balance", "balance-peak"), positive), where(r.metric("load", "load-peak"), positive)
	bounded := where(r.metric("bounded", "load-peak"), positive)
	skewed := where(slices.Concat(loads, bounded), func(row results.Row) bool { return skew(row.Workload) > 0 })
	if len(skewed) == 0 || len(even) == 0 {
		return Figure{}, false
	}
	popular := mostCommon(skewed)
	skewed = where(skewed, func(row results.Row) bool { return popularity(row.Workload) == popular })
	even = where(even, ofWorkload(workloads(even)[0]))

	// A contestant that bounds the load is judged by the load that it lets
	// through, not by its first choice.
	bounds := map[string]bool{}
	for _, row := range bounded {
		if popularity(row.Workload) == popular {
			bounds[row.Label] = true
		}
	}
	skewed = where(skewed, func(row results.Row) bool { return row.Measure == "bounded" || !bounds[row.Label] })
	even = where(slices.Concat(even, where(bounded, func(row results.Row) bool { return skew(row.Workload) == 0 })),
		func(row results.Row) bool { return row.Measure == "bounded" || !bounds[row.Label] })

	sizes := apart(nodeCounts(skewed), 3)
	labels := byValue(where(skewed, ofNodes(sizes[len(sizes)-1])))
	for _, row := range skewed {
		if !slices.Contains(labels, row.Label) {
			labels = append(labels, row.Label)
		}
	}
	var xs []float64
	for _, row := range slices.Concat(even, skewed) {
		xs = append(xs, row.Center)
	}
	x := logScale(xs, plain)

	key := []keyItem{
		keyDot(look{color: soft, hollow: true}, popularityName("+uniform")),
		keyDot(look{color: soft}, popularityName("+"+popular)),
	}
	var panels []*panel
	for i, n := range sizes {
		rc := rowChart{heading: plural(n, "node"), x: x}
		if i == 0 {
			rc.unit = "requests of the busiest node, as a multiple of its fair share"
		}
		for _, label := range labels {
			rw := row{name: label}
			a, okA := find(even, label, n)
			b, okB := find(skewed, label, n)
			if okA && okB {
				rw.marks = append(rw.marks, mark{kind: span, x: min(a.Center, b.Center), to: max(a.Center, b.Center), look: look{color: grid}})
			}
			if okA {
				l := r.look(a)
				l.marker, l.hollow = circle, true
				rw.marks = append(rw.marks, mark{kind: dot, x: a.Center, look: l})
			}
			if okB {
				l := r.look(b)
				l.marker, l.hollow = circle, false
				rw.marks = append(rw.marks, mark{kind: dot, x: b.Center, look: l})
			}
			rc.rows = append(rc.rows, rw)
		}
		p := rc.panel()
		if i > 0 {
			p.plot.Y.Tick.Marker = plot.ConstantTicks(nil)
		}
		if hottest := hottestKey(popular, skewed[0].Keys); hottest > 0 && x.contains(hottest*float64(n)) {
			p.plot.Add(upright{hottest * float64(n), draw.LineStyle{Color: floor, Width: 1.1, Dashes: dashed}})
			if len(key) == 2 {
				key = append(key, keyTick(look{color: floor}, "the hottest key alone"))
			}
		}
		panels = append(panels, p)
	}
	f := panelFigure(panels, 3, key)
	f.height = 95 + vg.Length(len(labels))*rowHeight
	f.Name = "hot-keys"
	f.Title = "Even keys do not make even requests"
	n := sizes[len(sizes)-1]
	least, most := extremes(where(skewed, ofNodes(n)))
	f.Caption = fmt.Sprintf("When requests follow %s, with %s the busiest node takes up to %s times its fair share (%s); the least is %s (%s).",
		popularityName("+"+popular), plural(n, "node"), times(most.Center), most.Label, times(least.Center), least.Label)
	f.footer = r.footer("balance", "load", "bounded")
	return f, true
}

// An upright is a line across the panel at a value.
type upright struct {
	at    float64
	style draw.LineStyle
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x := c.X(p.X.Norm(u.at))
	c.StrokeLine2(u.style, x, c.Min.Y, x, c.Max.Y)
}

// mostCommon returns the popularity of most of the rows.
func mostCommon(rows []results.Row) string {
	n := map[string]int{}
	best := popularity(rows[0].Workload)
	for _, row := range rows {
		p := popularity(row.Workload)
		n[p]++
		if n[p] > n[best] {
			best = p
		}
	}
	return best
}

// byValue returns the labels of the rows, least value first.
func byValue(rows []results.Row) []string {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b results.Row) int { return cmp.Compare(a.Center, b.Center) })
	var labels []string
	for _, row := range rows {
		if !slices.Contains(labels, row.Label) {
			labels = append(labels, row.Label)
		}
	}
	return labels
}

func find(rows []results.Row, label string, n int) (results.Row, bool) {
	for _, row := range rows {
		if row.Label == label && row.Nodes == n {
			return row, true
		}
	}
	return results.Row{}, false
}

// hottestKey is the part of all requests that goes to the most asked of the
// keys under Zipf's law; 0 when the popularity is another. A node that owns it
// has at least that load, whatever the algorithm.
func hottestKey(popularity string, keys int) float64 {
	exponent, ok := strings.CutPrefix(popularity, "zipf:")
	if !ok || keys < 1 {
		return 0
	}
	s, err := strconv.ParseFloat(exponent, 64)
	if err != nil || s < 0 || !finite(s) {
		return 0
	}
	return 1 / harmonic(keys, s)
}

// harmonic is the sum of k^-s for k from 1 to n: term by term at first, the
// rest by the formula of Euler and Maclaurin, which is good to 12 digits here.
func harmonic(n int, s float64) float64 {
	const direct = 1000
	sum := 0.0
	for k := 1; k <= min(n, direct); k++ {
		sum += math.Pow(float64(k), -s)
	}
	if n <= direct {
		return sum
	}
	a, b := float64(direct), float64(n)
	integral := math.Log(b / a)
	if s != 1 {
		integral = (math.Pow(b, 1-s) - math.Pow(a, 1-s)) / (1 - s)
	}
	fa, fb := math.Pow(a, -s), math.Pow(b, -s)
	return sum + integral + (fb-fa)/2 + s*(fa/a-fb/b)/12
}

// bounded draws what a bound on the load achieves and what it costs.
func (r *run) bounded() (Figure, bool) {
	peaks, spills := where(r.metric("bounded", "load-peak"), positive), r.metric("bounded", "spill-fraction")
	if swept(spills) != nil { // which has a figure of its own
		chosen := func(row results.Row) bool { return fieldOf(row, "requests") == "" && fieldOf(row, "expected") == "" }
		peaks, spills = where(peaks, chosen), where(spills, chosen)
	}
	if len(peaks) == 0 || len(spills) == 0 {
		return Figure{}, false
	}
	// Without a bound, under the same requests.
	var ring []line
	for _, workload := range workloads(peaks) {
		metric, measure := "load-peak", "load"
		if skew(workload) == 0 {
			metric, measure = "balance-peak", "balance"
		}
		rows := where(r.metric(measure, metric), func(row results.Row) bool {
			return row.Label == "ring" && popularity(row.Workload) == popularity(workload)
		})
		for _, l := range r.linesOverNodes(rows) {
			l.name = "ring, " + popularityShort(workload)
			if skew(workload) == 0 {
				l.look.dash, l.look.hollow = dashed, true
			}
			ring = append(ring, l)
		}
	}
	lines := func(rows []results.Row) []line {
		var all []line
		for _, workload := range workloads(rows) {
			for _, l := range r.linesOverNodes(where(rows, ofWorkload(workload))) {
				l.name = strings.Replace(l.name, "bounded ring", "bound", 1)
				l.name += ", " + popularityShort(workload)
				if skew(workload) == 0 {
					l.look.dash, l.look.hollow = dashed, true
				}
				all = append(all, l)
			}
		}
		return all[:min(len(all), maxLines)]
	}
	left := slices.Concat(lines(peaks), ring)
	right := lines(spills)
	x := logScale(abscissas(slices.Concat(left, right)), count)
	panels := []*panel{
		chart{heading: "Busiest node", unit: "multiple of its fair share", xName: "nodes", x: x, y: logScale(values(left), plain), lines: left, columns: 2}.panel(),
		chart{heading: "Requests sent past their first choice", unit: "part of all requests", xName: "nodes", x: x, y: linearScale(values(right), percent), lines: right, columns: 2}.panel(),
	}
	f := panelFigure(panels, 2, nil)
	f.Name = "bounded"
	f.Title = "What a bound on the load achieves, and what it costs"
	worst := slices.MaxFunc(spills, func(a, b results.Row) int { return cmp.Compare(a.Center, b.Center) })
	f.Caption = fmt.Sprintf("With %s and %s, %s passes %s of the requests on to another node, and no node takes more than %s times its fair share.",
		plural(worst.Nodes, "node"), popularityName(worst.Workload), worst.Label, percent(worst.Center), times(peakOf(peaks, worst)))
	f.footer = r.footer("bounded")
	return f, true
}

// peakOf returns the largest value, over all placements, in the same cell.
func peakOf(rows []results.Row, of results.Row) float64 {
	for _, row := range rows {
		if row.Cell == of.Cell {
			return row.Max
		}
	}
	return math.NaN()
}

// popularityShort is popularityName for the end of a line.
func popularityShort(workload string) string {
	if skew(workload) == 0 {
		return "uniform"
	}
	return popularityName(workload)
}
