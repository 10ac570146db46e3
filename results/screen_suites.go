package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A suite that asks one question has its answer on the first screen: each of these
// tables holds one, for runs that are mostly about it.

// suiteTables returns the tables of the suite whose question the rows answer, and
// nothing when they are about several things, or about none of these.
func (v view) suiteTables() [][]string {
	for _, tables := range []func() [][]string{v.viewTables, v.weightTables, v.hashTables, v.collisionTables, v.epsilonTables, v.churnTables} {
		if t := slices.DeleteFunc(tables(), func(lines []string) bool { return len(lines) == 0 }); len(t) > 0 {
			return t
		}
	}
	return nil
}

// about reports whether the rows with values are from these measures alone.
func (v view) about(measures ...string) bool {
	found := false
	for _, r := range v.rows {
		if r.Metric == "" || r.control() {
			continue
		}
		if !slices.Contains(measures, r.Measure) {
			return false
		}
		found = true
	}
	return found
}

// with returns the rows of a metric in a measure, without the controls.
func (v view) with(measure, metric string) []*Row {
	var rows []*Row
	for _, r := range v.rows {
		if r.Measure == measure && r.Metric == metric && !r.control() {
			rows = append(rows, r)
		}
	}
	return rows
}

// smallest returns the number of nodes of the smallest cluster of the rows.
func smallest(rows []*Row) int {
	n := 0
	for _, r := range rows {
		if n == 0 || r.Nodes < n {
			n = r.Nodes
		}
	}
	return n
}

// distinct returns what of says of the rows, each once and in their order.
func distinct(rows []*Row, of func(*Row) string) []string {
	var all []string
	for _, r := range rows {
		if s := of(r); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// changeName says in a few words, for the head of a column, what happens.
func changeName(schedule string) string {
	switch schedule {
	case "add-one":
		return "1 joins"
	case "remove-one":
		return "1 leaves"
	case "remove-each":
		return "each in turn"
	case "double":
		return "doubled"
	case "rolling":
		return "1 replaced"
	case "reorder":
		return "reordered"
	}
	if k, ok := strings.CutPrefix(schedule, "remove:"); ok {
		return k + " leave"
	}
	return schedule
}

// changeColumns makes a table of contestants by schedules, as many as have room.
func (v view) changeColumns(title, corner string, rows []*Row) []string {
	schedules := distinct(rows, func(r *Row) string { return r.Schedule })
	place := func(s string) int {
		return slices.Index([]string{"reorder", "rolling", "double", "remove-each", "remove-one", "add-one"}, s)
	}
	slices.SortStableFunc(schedules, func(a, b string) int { return cmp.Compare(place(b), place(a)) })
	labels, more := v.contestants(func(r *Row) bool { return slices.Contains(rows, r) })
	for ; ; schedules = schedules[:len(schedules)-1] {
		t := &table{groups: []heading{{corner, 1}, {title, len(schedules)}}, heads: []string{""}}
		for _, s := range schedules {
			t.heads = append(t.heads, changeName(s))
		}
		for i, label := range labels {
			cells := []string{v.shorten(labels)[i]}
			for _, s := range schedules {
				at := slices.IndexFunc(rows, func(r *Row) bool { return r.Label == label && r.Schedule == s })
				if at < 0 {
					cells = append(cells, "-")
				} else {
					v.show(rows[at])
					cells = append(cells, percent(rows[at].Center, 1))
				}
			}
			t.rows = append(t.rows, cells)
		}
		if lines := t.lines(); !wide(lines) || len(schedules) == 1 {
			return moreLine(lines, more)
		}
	}
}

// viewTables answers on how much two clients disagree.
func (v view) viewTables() [][]string {
	if !v.about("views") {
		return nil
	}
	keys, requests := v.with("views", "view-disagreement"), v.with("views", "view-disagreement-load")
	n := smallest(keys)
	other := func(r *Row) bool { return r.Nodes != n }
	keys, requests = slices.DeleteFunc(keys, other), slices.DeleteFunc(requests, other)
	var tables [][]string
	if len(keys) > 0 {
		tables = append(tables, v.changeColumns("keys two clients send apart", plural(n, "node"), keys))
	}
	if len(requests) > 0 {
		tables = append(tables, v.changeColumns("requests, "+plainWords(requests[0].popularity()), "", requests))
	}
	return tables
}

// churnTables answers what each change moves, and what that sends to an origin.
func (v view) churnTables() [][]string {
	moved := v.with("movement", "moved-fraction")
	n := smallest(moved)
	moved = slices.DeleteFunc(moved, func(r *Row) bool { return r.Nodes != n })
	if !v.about("movement", "misses", "shares") || len(distinct(moved, func(r *Row) string { return r.Schedule })) < 3 {
		return nil
	}
	tables := [][]string{v.changeColumns("keys that move", plural(n, "node"), moved)}
	misses := v.with("misses", "miss-total")
	if len(misses) == 0 {
		return tables
	}
	t := &table{groups: []heading{{plural(misses[0].Nodes, "node") + ", " + changeName(misses[0].Schedule), 1}, {"cache misses", 2}}, heads: []string{"", "a second at first", "in all"}}
	for _, r := range misses {
		peak, ok := v.first(func(p *Row) bool { return p.Cell == r.Cell && p.Metric == "miss-peak" })
		if ok && r.Schedule == misses[0].Schedule && r.Nodes == misses[0].Nodes && len(t.rows) < maxContestants {
			v.show(r)
			t.rows = append(t.rows, []string{r.Label, thousands(peak.Center), thousands(r.Center)})
		}
	}
	return append(tables, t.lines())
}

// thousands writes a whole number to three digits that matter.
func thousands(v float64) string {
	if v >= 1e15 {
		return fmt.Sprintf("%.3g", v)
	}
	if v >= 1000 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-2)
		v = math.Round(v/unit) * unit
	}
	return fmt.Sprintf("%.0f", v)
}

// weightTables answers how far the parts miss the weights, by points a unit.
func (v view) weightTables() [][]string {
	errs := v.with("weights", "weight-error")
	if !v.about("weights", "movement") || len(errs) == 0 {
		return nil
	}
	n := smallest(errs)
	errs = slices.DeleteFunc(errs, func(r *Row) bool { return r.Nodes != n })
	name := func(r *Row) string { return strings.ReplaceAll(r.Algorithm, "-", " ") }
	patterns := distinct(errs, func(r *Row) string { return r.Weights })
	patterns = patterns[:min(len(patterns), 3)]
	points := func(r *Row) string { return Param(r.Params, "vnodes") }
	t := &table{
		groups: []heading{{plural(n, "node") + ",", 1}, {"worst miss of a weight", len(patterns)}, {"", 1}},
		heads:  []string{"points a unit"},
	}
	for _, p := range patterns {
		t.heads = append(t.heads, weightPattern(p))
	}
	t.heads = append(t.heads, "memory")
	for _, at := range distinct(errs, func(r *Row) string { return name(r) + " " + points(r) }) {
		row, memory := []string{strings.TrimSpace(at)}, "-"
		for _, p := range patterns {
			cell := "-"
			for _, r := range errs {
				if name(r)+" "+points(r) != at || r.Weights != p {
					continue
				}
				v.show(r)
				switch {
				case r.Center >= 9: // of a node that has so many times its part
					cell = thousands(r.Center+1) + "x"
				case r.Center >= 1:
					cell = percent(r.Center, 0)
				default:
					cell = percent(r.Center, 1)
				}
				if z, ok := v.first(func(z *Row) bool { return z.Cell == r.Cell && z.Metric == "footprint-bytes" }); ok && p == patterns[0] {
					memory = size(z.Center)
				}
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, append(row, memory))
	}
	tables := [][]string{t.lines()}
	moved := slices.DeleteFunc(v.with("movement", "moved-fraction"), func(r *Row) bool { return r.Weights != patterns[0] || r.Nodes != n })
	must := v.with("movement", "moved-minimum")
	m := &table{groups: []heading{{"one weight of " + weightPattern(patterns[0]), 1}, {"keys moved", 1}, {"must move", 1}}, heads: []string{"", "", ""}}
	for _, r := range moved {
		i := slices.IndexFunc(must, func(o *Row) bool { return o.Cell == r.Cell })
		if factor, ok := strings.CutPrefix(r.Schedule, "reweight:"); ok && i >= 0 && len(m.rows) < maxContestants {
			v.show(r)
			m.rows = append(m.rows, []string{name(r) + ", times " + factor, percent(r.Center, 1), percent(must[i].Center, 1)})
		}
	}
	if len(m.rows) > 0 {
		tables = append(tables, m.lines())
	}
	return tables
}

// weightPattern shortens a long pattern of weights to its first and last.
func weightPattern(p string) string {
	ws := strings.Split(p, ":")
	if len(ws) <= 4 {
		return p
	}
	return ws[0] + ".." + ws[len(ws)-1]
}

// collisionTables answers how many points collide, and what of it.
func (v view) collisionTables() [][]string {
	swept := func(r *Row) bool { return cellField(r, "modulus") != "" }
	counted := slices.DeleteFunc(v.with("shares", "point-collisions"), func(r *Row) bool { return !swept(r) })
	modules := distinct(counted, func(r *Row) string { return cellField(r, "modulus") })
	if !v.about("shares") || len(modules) < 2 {
		return nil
	}
	bits := func(m string) float64 {
		if f, err := strconv.ParseFloat(m, 64); err == nil && f >= 1 {
			return math.Log2(f)
		}
		return 64
	}
	slices.SortFunc(modules, func(a, b string) int { return cmp.Compare(bits(a), bits(b)) })
	var sizes []int
	for _, r := range counted {
		if !slices.Contains(sizes, r.Nodes) {
			sizes = append(sizes, r.Nodes)
		}
	}
	slices.Sort(sizes)
	sizes = sizes[:min(len(sizes), 3)]
	t := &table{groups: []heading{{"a point has", 1}, {"points that collide", len(sizes)}, {"busiest node (1.00 = fair)", len(sizes)}}, heads: []string{""}}
	for range 2 {
		for _, n := range sizes {
			t.heads = append(t.heads, plural(n, "node"))
		}
	}
	for _, m := range modules {
		row := []string{fmt.Sprintf("%.4g bits", bits(m))}
		for _, metric := range []string{"point-collisions", "share-peak"} {
			for _, n := range sizes {
				cell := "-"
				if r, ok := v.first(func(r *Row) bool {
					return r.Measure == "shares" && r.Metric == metric && r.Nodes == n && r.Schedule == "" && cellField(r, "modulus") == m
				}); ok {
					v.show(r)
					cell = fmt.Sprintf("%.2f", r.Center)
					if metric == "point-collisions" {
						cell = thousands(r.Center)
					}
				}
				row = append(row, cell)
			}
		}
		t.rows = append(t.rows, row)
	}
	lines := t.lines()
	if order := slices.DeleteFunc(v.with("shares", "moved-fraction"), func(r *Row) bool { return r.Schedule != "reorder" }); len(order) > 0 {
		v.show(order...)
		most := slices.MaxFunc(order, func(a, b *Row) int { return cmp.Compare(a.Max, b.Max) })
		text := "The order in which nodes join changes the owner of nothing."
		if most.Max > 0 {
			text = fmt.Sprintf("The order in which nodes join changes the owner of up to %s.", percent(most.Max, 1))
		}
		lines = append(lines, fold(text)...)
	}
	return [][]string{lines}
}

// cellField returns what the row's cell says of a field, "" for none.
func cellField(r *Row, name string) string {
	_, fields := ParseCell(r.Cell)
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// unevenFrom is how many times the spread that theory expects is called uneven.
const unevenFrom = 1.3

// overTheory is the spread of the row as a multiple of what theory expects; 0 when
// that says nothing.
func (r *Row) overTheory() float64 {
	if expected := cmp.Or(r.Theory, r.Floor); expected > 0 {
		return r.RMS / expected
	}
	return 0
}

// named says of the row how the nodes and their points are named.
func (r *Row) named() string {
	return fmt.Sprintf("%s on %s", cellField(r, "label"), cmp.Or(cellField(r, "names"), "the nodes"))
}

// hashTables answers which hashes spread points, and which keys, as chance would: of
// each the worst of all labels, names and keys. What is uneven under every hash is
// told apart, for no hash is to blame.
func (v view) hashTables() [][]string {
	points := slices.DeleteFunc(v.with("shares", "share-cv"), func(r *Row) bool { return cellField(r, "point_hash") == "" || r.overTheory() == 0 })
	keys := slices.DeleteFunc(v.with("balance", "balance-cv"), func(r *Row) bool { return r.overTheory() == 0 })
	if !v.about("shares", "balance") || len(distinct(points, func(r *Row) string { return cellField(r, "point_hash") })) < 3 {
		return nil
	}
	least := map[string]float64{} // of all hashes, by names
	for _, r := range points {
		if was, ok := least[r.named()]; !ok || r.overTheory() < was {
			least[r.named()] = r.overTheory()
		}
	}
	var always []string
	for _, names := range distinct(points, (*Row).named) {
		if least[names] >= unevenFrom {
			always = append(always, names)
		}
	}
	type worst struct{ points, keys Row }
	of := map[string]*worst{}
	var order []string
	keep := func(hash string, r *Row, place func(*worst) *Row) {
		if of[hash] == nil {
			of[hash], order = &worst{}, append(order, hash)
		}
		if w := place(of[hash]); r.overTheory() > w.overTheory() {
			*w = *r
		}
	}
	for _, r := range points {
		if least[r.named()] < unevenFrom {
			keep(cellField(r, "point_hash"), r, func(w *worst) *Row { return &w.points })
		}
	}
	for _, r := range keys {
		keep(r.Hash, r, func(w *worst) *Row { return &w.keys })
	}
	slices.SortStableFunc(order, func(a, b string) int {
		x, y := of[a], of[b]
		return cmp.Compare(max(x.points.overTheory(), x.keys.overTheory()), max(y.points.overTheory(), y.keys.overTheory()))
	})
	t := &table{groups: []heading{{"worst spread", 1}, {"(1.0 = as by chance)", 2}, {"", 1}}, heads: []string{"", "of points", "of keys", ""}}
	const room = 44
	for _, hash := range order {
		row, note := []string{hash}, ""
		w := of[hash]
		for _, r := range []*Row{&w.points, &w.keys} {
			cell := "-"
			if r.overTheory() > 0 {
				v.show(r)
				cell = short(r.overTheory())
			}
			row = append(row, cell)
		}
		switch p, k := w.points.overTheory(), w.keys.overTheory(); {
		case p >= unevenFrom && p >= k:
			note = w.points.named()
		case k >= unevenFrom:
			note = w.keys.Algorithm + ", " + strings.TrimSuffix(w.keys.Workload, "+uniform")
		}
		t.rows = append(t.rows, append(row, cut(note, room)))
	}
	lines := t.lines()
	if len(always) > 0 {
		lines = append(lines, fold("Uneven under every hash: "+strings.Join(always[:min(len(always), 3)], "; ")+".")...)
	}
	return [][]string{lines}
}

// cut shortens a note to a width.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most-3]), " ,") + "..."
	}
	return s
}

// epsilonTables answers what a bound brings, and what it costs, as it tightens.
func (v view) epsilonTables() [][]string {
	rows := slices.DeleteFunc(v.with("bounded", "load-peak"), func(r *Row) bool {
		return r.Weights != "" || cellField(r, "epsilon") == "" || cellField(r, "outstanding") != "" || Param(r.Params, "vnodes") == "1"
	})
	if !v.about("bounded", "bounded-movement") || len(distinct(rows, func(r *Row) string { return cellField(r, "epsilon") })) < 3 {
		return nil
	}
	popularity := rows[len(rows)-1].popularity()
	for _, r := range rows {
		if r.popularity() != "uniform" {
			popularity = r.popularity()
		}
	}
	n := rows[0].Nodes
	rows = slices.DeleteFunc(rows, func(r *Row) bool { return r.popularity() != popularity || r.Nodes != n })
	slices.SortStableFunc(rows, func(a, b *Row) int {
		x, _ := strconv.ParseFloat(cellField(a, "epsilon"), 64)
		y, _ := strconv.ParseFloat(cellField(b, "epsilon"), 64)
		return cmp.Compare(x, y)
	})
	var tables [][]string
	for _, algorithm := range distinct(rows, func(r *Row) string { return r.Algorithm }) {
		t := &table{
			groups: []heading{{plural(n, "node") + ", " + plainWords(popularity), 1}, {"busiest", 1}, {"requests", 1}, {"nodes", 1}, {"full", 1}, {"hot key", 1}, {"moves when", 1}},
			heads:  []string{strings.ReplaceAll(algorithm, "-", " "), "node", "sent on", "passed", "nodes", "on nodes", "1 joins"},
		}
		for _, r := range rows {
			if r.Algorithm != algorithm || len(t.rows) == maxContestants {
				continue
			}
			cell := func(metric string, write func(float64) string) string {
				if o, ok := v.first(func(o *Row) bool { return o.Cell == r.Cell && o.Metric == metric }); ok {
					v.show(o)
					return write(o.Center)
				}
				return "-"
			}
			part := func(x float64) string { return percent(x, 0) }
			moves := "-"
			if o, ok := v.first(func(o *Row) bool {
				return o.Measure == "bounded-movement" && o.Metric == "moved-fraction" && adding(o) && o.Algorithm == r.Algorithm && o.Weights == "" &&
					o.Nodes == n && cellField(o, "epsilon") == cellField(r, "epsilon")
			}); ok {
				v.show(o)
				moves = percent(o.Center, 1)
			}
			t.rows = append(t.rows, []string{"epsilon " + cellField(r, "epsilon"), fmt.Sprintf("%.2f", r.Center), cell("spill-fraction", part),
				cell("extra-steps", short), cell("full-fraction", part), cell("hot-key-nodes", thousands), moves})
		}
		tables = append(tables, t.lines())
	}
	return tables
}
