package results

import "slices"

// togetherColumns are what a speed run knows beyond single lookups.
var togetherColumns = []struct{ group, head, measure, metric string }{
	{"ns/lookup", "in a batch", "batch-lookup", "batch-lookup-ns"},
	{"ns/lookup", "all cores", "parallel-lookup", "parallel-lookup-ns"},
	{"ns/lookup", "and a writer", "parallel-lookup-writer", "parallel-lookup-ns"},
	{"time to", "build", "build", "build-ns"},
	{"time to", "add", "add", "add-ns"},
	{"time to", "remove", "remove", "remove-ns"},
}

// togetherTable shows what many lookups together cost, and changes of the
// membership, at the largest cluster up to 1,000 nodes. It is nil for a run that
// asks for neither.
func (v view) togetherTable() []string {
	beyond := func(r *Row) bool {
		return slices.Contains([]string{"batch-lookup", "parallel-lookup", "parallel-lookup-writer", "add", "remove"}, r.Measure) && !r.control()
	}
	n := 0
	for _, r := range v.rows {
		if beyond(r) && r.Nodes <= 1000 {
			n = max(n, r.Nodes)
		}
	}
	if n == 0 {
		return nil
	}
	labels, more := v.contestants(func(r *Row) bool { return beyond(r) && r.Nodes == n })
	var columns []lookupColumn
	for _, c := range togetherColumns {
		column := lookupColumn{group: c.group, head: c.head}
		if c.group == "ns/lookup" {
			column.group += ", " + plural(n, "node")
		}
		for _, label := range labels {
			cell := "-"
			if r, ok := v.value(label, c.measure, c.metric, n, nil); ok {
				v.show(r)
				if cell = figure(r.Center, r.Center); c.group == "time to" {
					cell = Duration(r.Center)
				}
				cell = v.mark(r, cell)
			}
			column.cells = append(column.cells, cell)
		}
		if filled(column.cells) {
			columns = append(columns, column)
		}
	}
	return moreLine(layOutLookups(v.shorten(labels), columns), more)
}
