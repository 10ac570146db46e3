package results

import (
	"slices"
	"strconv"
	"strings"
)

// agedTable shows what a lookup costs once the structure has been through
// changes, at the cluster that most is known of, beside a new one.
func (v view) agedTable() []string {
	rows, n := v.agedLookups()
	if n == 0 {
		return nil
	}
	aged := view{set: v.set, rows: rows, n: n, screen: v.screen}
	labels, more := aged.contestants(func(*Row) bool { return true })
	t := &table{groups: []heading{{plural(n, "node"), 1}}, heads: []string{"ns/lookup", "new"}}
	columns := [][]string{v.shorten(labels)}
	column := func(after string) {
		var cells []string
		for _, label := range labels {
			cell := "-"
			from := aged
			if after == "" {
				from = v
			}
			if r, ok := from.value(label, "lookup", "lookup-ns", n, func(r *Row) bool { return r.After() == after }); ok {
				v.show(r)
				cell = v.mark(r, withError(r))
			}
			cells = append(cells, cell)
		}
		columns = append(columns, cells)
	}
	column("")
	t.groups = append(t.groups, heading{"", 1})
	for _, after := range telling(rows) {
		kind, part, _ := strings.Cut(after, ":")
		group := map[string]string{"remove": "left at random", "remove-last": "from the end"}[kind]
		if last := &t.groups[len(t.groups)-1]; last.text == group {
			last.span++
		} else {
			t.groups = append(t.groups, heading{group, 1})
		}
		t.heads = append(t.heads, partLeft(part))
		column(after)
	}
	t.rows = transpose(columns)
	return moreLine(t.lines(), more)
}

// agedLookups returns the times of lookups after nodes had left, at the cluster
// with most of them; 0 when there are none.
func (v view) agedLookups() (rows []*Row, nodes int) {
	number := map[int]int{}
	for _, r := range v.aged {
		if isLookup(r) && strings.HasPrefix(r.After(), "remove") {
			if number[r.Nodes]++; number[r.Nodes] > number[nodes] || number[r.Nodes] == number[nodes] && r.Nodes > nodes {
				nodes = r.Nodes
			}
		}
	}
	for _, r := range v.aged {
		if isLookup(r) && r.Nodes == nodes && strings.HasPrefix(r.After(), "remove") {
			rows = append(rows, r)
		}
	}
	return rows, nodes
}

// telling returns the removals that the screen has room for: the middle and the
// largest of each kind, those of any node first.
func telling(rows []*Row) []string {
	byKind := map[string][]string{}
	for _, r := range rows {
		kind, _, _ := strings.Cut(r.After(), ":")
		if !slices.Contains(byKind[kind], r.After()) {
			byKind[kind] = append(byKind[kind], r.After())
		}
	}
	var chosen []string
	for _, kind := range []string{"remove", "remove-last"} {
		all := byKind[kind]
		slices.SortFunc(all, compareNatural)
		if len(all) > 2 {
			all = []string{all[len(all)/2], all[len(all)-1]}
		}
		chosen = append(chosen, all...)
	}
	return chosen
}

// partLeft writes how many nodes a removal is about: "90%", or a number of them.
func partLeft(text string) string {
	if part, err := strconv.ParseFloat(text, 64); err == nil && part < 1 {
		return percent(part, 0)
	}
	return text
}
