package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// maxPanels bounds the panels of one figure.
const maxPanels = 6

// A sweep is one metric of exact shares against the number of vnodes.
type sweep struct {
	metric string
	nodes  []int                // one panel each
	rows   map[int][]sweepPoint // by number of nodes
}

type sweepPoint struct {
	results.Row
	vnodes float64
}

// contestant is what a point's line is called: its label without the vnodes.
func (p sweepPoint) contestant() string {
	name, _, _ := strings.Cut(p.Label, " v=")
	if p.Weights != "" {
		name += " " + clean(p.Weights)
	}
	return name
}

func (r *run) sweep(metric string) sweep {
	s := sweep{metric: metric, rows: map[int][]sweepPoint{}}
	changes := map[string]bool{} // experiments that ask what moves, not how even shares are
	for _, row := range r.metric("shares", "moved-fraction") {
		changes[row.Experiment] = true
	}
	for _, row := range r.metric("shares", metric) {
		v, err := strconv.ParseFloat(results.Param(row.Params, "vnodes"), 64)
		if err != nil || v <= 0 || !finite(v) || changes[row.Experiment] {
			continue
		}
		s.rows[row.Nodes] = append(s.rows[row.Nodes], sweepPoint{row, v})
	}
	for n, points := range s.rows {
		// A contestant with one number of vnodes answers another question.
		counts := map[string]map[float64]bool{}
		for _, p := range points {
			if counts[p.contestant()] == nil {
				counts[p.contestant()] = map[float64]bool{}
			}
			counts[p.contestant()][p.vnodes] = true
		}
		s.rows[n] = slices.DeleteFunc(points, func(p sweepPoint) bool { return len(counts[p.contestant()]) < 2 })
		if len(s.rows[n]) > 0 {
			s.nodes = append(s.nodes, n)
		}
	}
	slices.Sort(s.nodes)
	s.nodes = thin(s.nodes, maxPanels)
	return s
}

// thin keeps at most n of the values, the first and the last among them.
func thin(values []int, n int) []int {
	if len(values) <= n {
		return values
	}
	kept := make([]int, n)
	for i := range kept {
		kept[i] = values[i*(len(values)-1)/(n-1)]
	}
	return kept
}

// lines makes the lines of one panel from f, which gives the height of a point.
func (r *run) sweepLines(points []sweepPoint, f func(sweepPoint) point) []line {
	var lines []line
	index := map[string]int{}
	for _, p := range points {
		name := p.contestant()
		i, ok := index[name]
		if !ok {
			i = len(lines)
			index[name] = i
			lines = append(lines, line{name: name, look: lookOf(p.Algorithm, variantOf(lines, p.Algorithm))})
		}
		lines[i].points = append(lines[i].points, f(p))
	}
	for i := range lines {
		lines[i].points = tidy(lines[i].points)
	}
	return lines[:min(len(lines), maxLines)]
}

// variantOf counts the lines that have the algorithm's own look already.
func variantOf(lines []line, algorithm string) int {
	n := 0
	for _, l := range lines {
		if l.look.color == lookOf(algorithm, 0).color {
			n++
		}
	}
	return n
}

// figure makes the figure of a sweep from the lines of each panel.
func (s sweep) figure(r *run, unit string, name func(float64) string, panelLines func(n int) []line) Figure {
	perPanel := map[int][]line{}
	var xs, ys []float64
	for _, n := range s.nodes {
		perPanel[n] = panelLines(n)
		xs = append(xs, abscissas(perPanel[n])...)
		ys = append(ys, values(perPanel[n])...)
	}
	x, y := logScale(xs, count), logScale(ys, name)
	var all []line
	for _, n := range s.nodes {
		all = append(all, perPanel[n]...)
	}
	columns := columnsFor(all, min(len(s.nodes), 3))
	var panels []*panel
	for i, n := range s.nodes {
		ch := chart{heading: plural(n, "node"), xName: "vnodes per node", x: x, y: y, lines: perPanel[n], columns: columns}
		if i%columns == 0 {
			ch.unit = unit
		}
		panels = append(panels, ch.panel())
	}
	f := panelFigure(panels, columns, nil)
	f.footer = r.footer("shares")
	return f
}

// vnodesSpread draws the spread of the nodes' shares against vnodes.
func (r *run) vnodesSpread() (Figure, bool) {
	s := r.sweep("share-cv")
	if len(s.nodes) == 0 {
		return Figure{}, false
	}
	f := s.figure(r, "stddev / mean of the nodes' shares", percent, func(n int) []line {
		lines := r.sweepLines(s.rows[n], func(p sweepPoint) point {
			return point{p.vnodes, p.RMS, p.Low, p.High}
		})
		theory := line{name: "theory", look: look{color: ink, dash: dotted}, thin: true}
		from, to := math.Inf(1), 0.0
		for _, p := range s.rows[n] {
			if p.Theory > 0 {
				theory.points = append(theory.points, point{p.vnodes, p.Theory, p.Theory, p.Theory})
			}
			from, to = min(from, p.vnodes), max(to, p.vnodes)
		}
		theory.points = tidy(theory.points)
		if len(theory.points) > 0 {
			lines = append(lines, theory)
		}
		if k, y := r.sampling(n); y > 0 {
			name := "noise of counting " + magnitude(float64(k)) + " keys"
			lines = append(lines, line{name: name, look: look{color: floor, dash: dashed}, thin: true, inside: true,
				points: []point{{from, y, y, y}, {to, y, y, y}}})
		}
		return lines
	})
	f.Name = "vnodes-spread"
	f.Title = "More vnodes, more even shares"
	p := s.representative()
	f.Caption = fmt.Sprintf("With %s and %s the shares of the hash space differ by %s (standard deviation over mean). "+
		"Four times as many vnodes halve that.%s",
		plural(p.Nodes, "node"), plural(int(p.vnodes), "vnode"), percent(p.RMS), p.bands())
	return f, true
}

// sampling is the spread that a perfect algorithm shows at n nodes when its
// keys are counted, from the run's own counts, and the number of the keys.
func (r *run) sampling(n int) (keys int, cv float64) {
	for _, row := range r.metric("balance", "balance-cv") {
		if row.Nodes == n && row.Weights == "" && row.Floor > 0 && finite(row.Floor) {
			return row.Keys, row.Floor
		}
	}
	return 0, 0
}

// vnodesPeak draws the busiest node against vnodes.
func (r *run) vnodesPeak() (Figure, bool) {
	s := r.sweep("share-peak")
	if len(s.nodes) == 0 {
		return Figure{}, false
	}
	f := s.figure(r, "busiest node, above its fair share", excess, func(n int) []line {
		return r.sweepLines(s.rows[n], func(p sweepPoint) point {
			return point{p.vnodes, p.Center - 1, p.Low - 1, p.High - 1}
		})
	})
	f.Name = "vnodes-peak"
	f.Title = "How far the busiest node stands above its fair share"
	p := s.representative()
	f.Caption = fmt.Sprintf("With %s and %s the busiest node owns %s times its fair share", plural(p.Nodes, "node"), plural(int(p.vnodes), "vnode"), times(p.Center))
	switch {
	case p.N == 1:
		f.Caption += " in the one placement looked at."
	case p.N < enoughForTails:
		f.Caption += fmt.Sprintf(" in the mean of %s.", plural(p.N, "placement"))
	default:
		f.Caption += fmt.Sprintf(" in the mean of the placements; one placement in twenty is worse than %s.", times(p.High))
	}
	f.Caption += p.bands()
	return f, true
}

// enoughForTails is how many placements it takes to speak of one in twenty.
const enoughForTails = 20

// bands says what the bands around a sweep's lines hold; nothing when there are
// none or too few placements to say.
func (p sweepPoint) bands() string {
	if p.N < enoughForTails {
		return ""
	}
	return " Bands hold 90% of the placements."
}

// representative is the point that a caption speaks of: the fewest nodes, and
// the vnodes nearest to 160, the default of ring.
func (s sweep) representative() sweepPoint {
	points := s.rows[s.nodes[0]]
	best := points[0]
	for _, p := range points {
		if math.Abs(math.Log(p.vnodes/160)) < math.Abs(math.Log(best.vnodes/160)) {
			best = p
		}
	}
	return best
}

// magnitude writes a large number short: 1M, 10k.
func magnitude(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size {
			return trimmed(v/u.size, 3) + u.name
		}
	}
	return trimmed(v, 3)
}
