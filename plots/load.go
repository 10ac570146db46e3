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
	even, loads := r.metric("balance", "balance-peak"), r.metric("load", "load-peak")
	bounded := r.metric("bounded", "load-peak")
	skewed := where(slices.Concat(loads, bounded), func(row results.Row) bool { return skew(row.Workload) > 0 })
	if len(skewed) == 0 || len(even) == 0 {
		return Figure{}, false
	}
	popular := mostCommon(skewed)
	hot := commonest(where(skewed, func(row results.Row) bool { return popularity(row.Workload) == popular }))
	skewed = hot.rows
	// The same keys, where they were counted.
	if same := where(even, func(row results.Row) bool { return keysOf(row.Workload) == keysOf(hot.workload) }); len(same) > 0 {
		even = same
	}
	even = commonest(even).rows
	hottest := hottestKey(popular, skewed[0].Keys)

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
	all := skewed
	if swept(bounded) != nil { // which has a figure of its own
		skewed = where(skewed, notOfSweep)
	}
	if len(skewed) == 0 {
		return Figure{}, false
	}

	sizes := apart(skewed, 3)
	drawn := where(skewed, func(row results.Row) bool { return slices.Contains(sizes, row.Nodes) })
	labels := byValue(where(drawn, ofNodes(sizes[len(sizes)-1])))
	for _, row := range drawn {
		if !slices.Contains(labels, row.Label) {
			labels = append(labels, row.Label)
		}
	}
	var xs []float64
	for _, row := range slices.Concat(even, drawn) {
		xs = append(xs, row.Center)
	}
	for _, n := range sizes {
		if hottest > 0 {
			xs = append(xs, hottest*float64(n))
		}
	}
	x := logScale(xs, plain).upFrom(xs)

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
		if hottest > 0 {
			p.plot.Add(upright{hottest * float64(n), draw.LineStyle{Color: floor, Width: 1.1, Dashes: dashed}})
		}
		panels = append(panels, p)
	}
	if hottest > 0 {
		key = append(key, keyTick(look{color: floor}, "the hottest key alone, on a node of average weight"))
	}
	f := panelFigure(panels, 3, key)
	f.height = 95 + vg.Length(len(labels))*rowHeight
	f.Name = "hot-keys"
	f.Title = "Even keys do not make even requests"
	n := sizes[len(sizes)-1]
	least, most := extremes(where(all, ofNodes(n)))
	f.Caption = fmt.Sprintf("When requests follow %s, with %s%s the busiest node takes up to %s times its fair share (%s); the least is %s (%s).",
		popularityName("+"+popular), plural(n, "node"), hot.under(), times(most.Center), most.Label, times(least.Center), least.Label)
	f.Caption += hot.note() + elsewhere(skewed, drawn, sizes)
	f.footer = r.footer("balance", "load", "bounded")
	return f, true
}

// elsewhere names the contestants of the rows that are at none of the sizes drawn.
func elsewhere(rows, drawn []results.Row, sizes []int) string {
	left := missing(rows, drawn)
	if len(left) == 0 {
		return ""
	}
	var numbers []string
	for _, n := range sizes {
		numbers = append(numbers, count(float64(n)))
	}
	return fmt.Sprintf(" Measured with none of %s nodes, and so not shown: %s.", strings.Join(numbers, "; "), some(left))
}

// upFrom lets a logarithmic scale begin at the last of 1, 2 and 5 times a power of
// ten that is not above the values, for most of a decade would be empty.
func (s scale) upFrom(values []float64) scale {
	if !s.log || s.lane {
		return s
	}
	least := s.max
	for _, v := range values {
		if v > 0 {
			least = min(least, v)
		}
	}
	for _, f := range []float64{5, 2} {
		if start := f * s.min; start <= least && s.max > 10*s.min*(1+1e-9) {
			s.ticks = slices.DeleteFunc(slices.Clone(s.ticks), func(t plot.Tick) bool { return t.Value < start*(1-1e-9) })
			if len(s.ticks) > 0 && s.ticks[0].IsMinor() {
				s.ticks[0].Label = plain(start)
			}
			s.min = start
			return s
		}
	}
	return s
}

// An upright is a line across the panel at a value.
type upright struct {
	at    float64
	style draw.LineStyle
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x := c.X(p.X.Norm(u.at))
	declare(c, vg.Point{X: x, Y: c.Min.Y}, vg.Point{X: x, Y: c.Max.Y})
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
	peaks, spills := r.metric("bounded", "load-peak"), r.metric("bounded", "spill-fraction")
	if swept(spills) != nil { // which has a figure of its own
		peaks, spills = where(peaks, notOfSweep), where(spills, notOfSweep)
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
		if same := where(rows, ofWorkload(workload)); len(same) > 0 {
			rows = same
		}
		rows = commonest(rows).rows
		for _, l := range r.linesOverNodes(rows) {
			l.name = "ring " + popularityShort(workload)
			if skew(workload) == 0 {
				l.look.dash, l.look.hollow = dashed, true
			}
			ring = append(ring, l)
		}
	}
	named := func(label, workload string) string {
		return strings.Replace(label, "bounded ring", "bound", 1) + " " + popularityShort(workload)
	}
	lines := func(rows []results.Row) []line {
		var all []line
		for _, workload := range workloads(rows) {
			for _, l := range r.linesOverNodes(where(rows, ofWorkload(workload))) {
				l.name = named(l.name, workload)
				if skew(workload) == 0 {
					l.look.dash, l.look.hollow = dashed, true
				}
				all = append(all, l)
			}
		}
		return all
	}
	measured, right := lines(peaks), lines(spills)
	x := logScale(abscissas(slices.Concat(measured, ring, right)), count)
	left := slices.Concat(measured, limits(peaks, x))
	all := slices.Concat(left, right, ring)
	columns := columnsFor(all, 2)
	busiest := chart{heading: "Busiest node", unit: "multiple of its fair share", xName: "nodes", x: x,
		y: logScale(values(slices.Concat(left, ring)), plain), lines: left, columns: columns}.split(ring...)
	past := chart{heading: "Requests sent past their first choice", unit: "part of all requests", xName: "nodes", x: x,
		y: linearScale(values(right), percent), lines: right, columns: columns}.split()
	var panels []*panel
	for i := range max(len(busiest), len(past)) { // side by side
		panels = slices.Concat(panels, busiest[min(i, len(busiest)):min(i+1, len(busiest))], past[min(i, len(past)):min(i+1, len(past))])
	}
	f := panelFigure(panels, columns, asideKey(slices.Concat(measured, ring, right)))
	f.Name = "bounded"
	f.Title = "What a bound on the load achieves, and what it costs"
	worst := slices.MaxFunc(spills, func(a, b results.Row) int { return cmp.Compare(a.Center, b.Center) })
	f.Caption = fmt.Sprintf("With %s and %s, %s passes %s of the requests on to another node",
		plural(worst.Nodes, "node"), popularityName(worst.Workload), worst.Label, percent(worst.Center))
	if peak := peakOf(r.metric("bounded", "load-peak"), worst); !math.IsNaN(peak) {
		f.Caption += fmt.Sprintf(", and no node takes more than %s times its fair share", times(peak))
	}
	f.Caption += ". Grey: the limit itself, 1 + epsilon."
	f.footer = r.footer("bounded")
	return f, true
}

// limits draws the bounds of the rows, each across the axis and with its name.
func limits(rows []results.Row, x scale) []line {
	var lines []line
	seen := map[float64]bool{}
	for _, row := range rows {
		if e, ok := epsilonOf(row); ok && !seen[e] {
			seen[e] = true
			at := results.Exact(1 + e)
			lines = append(lines, line{name: "limit " + trimmed(at, 4), look: look{color: floor, dash: dotted}, thin: true,
				points: []point{{x.min, at, at, at}, {x.max, at, at, at}}})
		}
	}
	return lines
}

// peakOf returns the largest value of a contestant in any placement, under the same
// popularity at the same number of nodes; of is among the rows.
func peakOf(rows []results.Row, of results.Row) float64 {
	peak := math.NaN()
	for _, row := range rows {
		if row.Label == of.Label && row.Nodes == of.Nodes && popularity(row.Workload) == popularity(of.Workload) && !(row.Max <= peak) {
			peak = row.Max
		}
	}
	return peak
}

// popularityShort is popularityName for the end of a line.
func popularityShort(workload string) string {
	if skew(workload) == 0 {
		return "uniform"
	}
	return popularityName(workload)
}
