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

	"github.com/ringbench/ringbench/results"
)

// exponent returns s of a workload "...+zipf:S".
func exponent(workload string) (s float64, ok bool) {
	text, ok := strings.CutPrefix(popularity(workload), "zipf:")
	if !ok {
		return 0, false
	}
	s, err := strconv.ParseFloat(text, 64)
	return s, err == nil && s >= 0 && finite(s)
}

// leastExponents is how many exponents make a figure over them.
const leastExponents = 4

// skewness draws the busiest node against the exponent of Zipf's law, above the
// floor that the hottest key sets.
func (r *run) skewness() (Figure, bool) {
	perNodes := map[int]map[string]*line{}
	keys := 0
	exponents := map[float64]bool{}
	rows := r.metric("load", "load-peak")
	for _, row := range rows {
		s, ok := exponent(row.Workload)
		if !ok {
			continue
		}
		exponents[s], keys = true, max(keys, row.Keys)
		if perNodes[row.Nodes] == nil {
			perNodes[row.Nodes] = map[string]*line{}
		}
		l := perNodes[row.Nodes][row.Label]
		if l == nil {
			l = &line{name: row.Label, look: r.look(row)}
			perNodes[row.Nodes][row.Label] = l
		}
		l.points = append(l.points, point{s, row.Center, row.Low, row.High})
	}
	if len(exponents) < leastExponents {
		return Figure{}, false
	}
	var xs, ys []float64
	for s := range exponents {
		xs = append(xs, s)
	}
	slices.Sort(xs)
	sizes := thin(sorted(perNodes), 2)
	panelLines, floors := map[int][]line{}, map[int][]line{}
	for _, n := range sizes {
		floorLine := line{name: "hottest key", look: look{color: floor, dash: dashed}, thin: true}
		for _, s := range xs {
			if y := float64(n) * hottestKey("zipf:"+strconv.FormatFloat(s, 'g', -1, 64), keys); y >= 1 {
				floorLine.points = append(floorLine.points, point{s, y, y, y})
			}
		}
		var lines []line
		for _, label := range sorted(perNodes[n]) {
			l := *perNodes[n][label]
			l.points = tidy(l.points)
			lines = append(lines, l)
		}
		panelLines[n], floors[n] = lines, nil
		if len(floorLine.points) > 0 {
			floors[n] = []line{floorLine}
		}
		ys = append(ys, values(slices.Concat(lines, floors[n]))...)
	}
	x, y := linearScale(xs, plain), logScale(ys, plain)
	var panels []*panel
	var all []line
	for _, n := range sizes {
		all = slices.Concat(all, panelLines[n], floors[n])
	}
	columns := columnsFor(all, len(sizes))
	if len(all) > len(sizes)*(maxLines+1) {
		columns = 1 // as many frames as it takes for the one size, and then for the other
	}
	for i, n := range sizes {
		ch := chart{heading: plural(n, "node"), xName: "exponent of Zipf's law", x: x, y: y, lines: panelLines[n], columns: columns}
		if i%columns == 0 {
			ch.unit = "busiest node, as a multiple of its fair share"
		}
		panels = append(panels, ch.split(floors[n]...)...)
	}
	f := panelFigure(panels, columns, nil)
	f.Name = "skew"
	f.Title = "The hottest key sets a floor that no placement is below"
	f.Caption = skewCaption(where(rows, ofNodes(sizes[len(sizes)-1])), xs, sizes[len(sizes)-1], keys)
	f.footer = r.footer("load")
	return f, true
}

// skewCaption says from which exponent on the hottest key decides.
func skewCaption(rows []results.Row, exponents []float64, n, keys int) string {
	for _, s := range exponents {
		hot := float64(n) * hottestKey("zipf:"+strconv.FormatFloat(s, 'g', -1, 64), keys)
		best := math.Inf(1)
		for _, row := range rows {
			if at, ok := exponent(row.Workload); ok && at == s {
				best = min(best, row.Center)
			}
		}
		if hot > 1 && best < 2*hot && hot > best/2 {
			return fmt.Sprintf("With %s, from an exponent of %s on the hottest key alone makes up half of the busiest node's load or more: "+
				"it is %s times a fair share, and the best contestant reaches %s.", plural(n, "node"), plain(s), times(hot), times(best))
		}
	}
	return fmt.Sprintf("With %s and %s, at no exponent here does the hottest key make up half of the busiest node's load.", plural(n, "node"), plural(keys, "key"))
}

// sorted returns the keys of a map in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	var keys []K
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// An option is one thing to do about hot keys: what it leaves and what it costs.
type option struct {
	name, cost string
	order      int // of its kind
	row        results.Row
	price      float64 // in the unit of its kind
}

// remedies draws what is left on the busiest node under each remedy for hot keys,
// with its cost.
func (r *run) remedies() (Figure, bool) {
	rows := r.metric("remedies", "load-peak")
	if len(rows) == 0 {
		return Figure{}, false
	}
	n := fullest(rows)
	rows = where(rows, ofNodes(n))
	bounded := where(r.metric("bounded", "load-peak"), ofNodes(n))
	popularities := workloads(rows)
	popularities = popularities[:min(len(popularities), 2)]
	var names []string
	byName := map[string]map[string]option{} // popularity -> name
	for _, w := range popularities {
		byName[w] = map[string]option{}
		for _, o := range r.options(where(slices.Concat(rows, bounded), ofWorkload(w))) {
			if _, twice := byName[w][o.name]; !twice {
				byName[w][o.name] = o
			}
			if !slices.Contains(names, o.name) {
				names = append(names, o.name)
			}
		}
	}
	var xs []float64
	for _, w := range popularities {
		for _, o := range byName[w] {
			xs = append(xs, o.row.Center, o.row.High)
		}
	}
	for _, w := range popularities {
		xs = append(xs, hottestKey(popularity(w), rows[0].Keys)*float64(n))
	}
	x := linearScale(xs, plain)
	var panels []*panel
	var key []keyItem
	for i, w := range popularities {
		rc := rowChart{heading: popularityName(w), x: x}
		hottest := hottestKey(popularity(w), rows[0].Keys) * float64(n)
		if i == 0 {
			rc.unit = "busiest node, 1 = its fair share of all requests"
		}
		for _, name := range names {
			rw := row{name: name}
			if o, ok := byName[w][name]; ok {
				l := optionLooks[o.order]
				rw.marks = []mark{
					{kind: span, x: o.row.Low, to: o.row.High, look: look{color: l.color}},
					{kind: dot, x: o.row.Center, look: l},
					{kind: span, x: o.row.High, to: o.row.High, look: look{color: soft}, text: o.cost, anchor: left},
				}
				if o.order == 0 && hottest > 0 {
					rw.marks = append(rw.marks, mark{kind: tick, x: hottest, look: look{color: ink}})
					key = []keyItem{keyTick(look{color: ink}, "the hottest key alone, which one node has to bear")}
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
	f := panelFigure(panels, len(panels), key)
	f.height = 85 + vg.Length(len(names))*rowHeight
	f.Name = "remedies"
	f.Title = "What helps against hot keys, and what it costs"
	f.Caption = remedyCaption(byName[popularities[len(popularities)-1]], popularities[len(popularities)-1], n)
	f.footer = r.footer("remedies", "bounded")
	return f, true
}

// optionLooks draw nothing done, split, cached and bounded.
var optionLooks = []look{
	{color: grey, marker: wedge}, {color: blue, marker: circle}, {color: green, marker: triangle}, {color: red, marker: square},
}

// options reads the remedies of the rows, which are of one popularity, with their
// costs.
func (r *run) options(rows []results.Row) []option {
	cost := func(row results.Row, metric string) float64 {
		for _, c := range r.rows {
			if c.Cell == row.Cell && c.Metric == metric {
				return c.Center
			}
		}
		return 0
	}
	var options []option
	for _, row := range rows {
		o := option{row: row}
		if row.Measure == "bounded" {
			epsilon, err := strconv.ParseFloat(results.Param(row.Params, "epsilon"), 64)
			if err != nil || row.Algorithm != "bounded-ring" {
				continue
			}
			o.order, o.name = 3, "bound "+trimmed(1+epsilon, 3)
			o.price = cost(row, "spill-fraction")
			o.cost = percent(o.price) + " spilled"
		} else {
			_, fields := results.ParseCell(row.Cell)
			for _, f := range fields {
				if f.Name == "remedy" {
					o.order, o.name = remedyName(f.Value)
				}
			}
			switch o.order {
			case 1:
				o.price = cost(row, "extra-copies")
				o.cost = count(o.price) + " copies"
			case 2:
				o.price = cost(row, "cached-fraction")
				o.cost = percent(o.price) + " from clients"
			}
		}
		if o.name != "" {
			options = append(options, o)
		}
	}
	slices.SortStableFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.row.Center, a.row.Center))
	})
	return options
}

// remedyName says a remedy in words.
func remedyName(spec string) (order int, name string) {
	parts := strings.Split(clean(spec), ":")
	switch {
	case parts[0] == "split" && len(parts) == 3:
		return 1, fmt.Sprintf("top %s split %s ways", parts[1], parts[2])
	case parts[0] == "cache" && len(parts) == 2:
		return 2, fmt.Sprintf("top %s at the client", parts[1])
	}
	return 0, "nothing done"
}

func remedyCaption(options map[string]option, workload string, n int) string {
	// Of each kind the best, or what costs less and comes near it.
	var best, chosen [4]option
	for _, name := range sorted(options) {
		o := options[name]
		if b := &best[o.order]; b.name == "" || o.row.Center < b.row.Center {
			*b = o
		}
	}
	for _, name := range sorted(options) {
		o := options[name]
		near := o.row.Center <= 1.05*best[o.order].row.Center
		if c := &chosen[o.order]; near && (c.name == "" || o.price < c.price) {
			*c = o
		}
	}
	nothing, split, cached, bound := chosen[0], chosen[1], chosen[2], chosen[3]
	if nothing.name == "" {
		return "Each remedy with what it leaves on the busiest node."
	}
	text := fmt.Sprintf("With %s and %s, the busiest node takes %s times its fair share when nothing is done", plural(n, "node"), popularityName(workload), times(nothing.row.Center))
	for _, o := range []option{split, cached, bound} {
		if o.name != "" {
			text += fmt.Sprintf("; %s leaves %s (%s)", o.name, times(o.row.Center), o.cost)
		}
	}
	return text + "."
}
