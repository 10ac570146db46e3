package results

import (
	"fmt"
	"slices"
	"strconv"
)

// A question is what one plain table answers.
type question struct{ measure, metric, workload, schedule string }

func (r *Row) question() question { return question{r.Measure, r.Metric, r.Workload, r.Schedule} }

// plainTables shows what the rows that match hold, a table each for the first
// questions they answer: contestants by cluster sizes.
func (v view) plainTables(match func(*Row) bool) [][]string {
	const most = 4
	var questions []question
	for _, m := range Metrics {
		for _, r := range v.rows {
			if q := r.question(); r.Metric == m.Name && match(r) && !r.control() && !slices.Contains(questions, q) {
				questions = append(questions, q)
			}
		}
	}
	var tables [][]string
	for _, q := range questions[:min(len(questions), most)] {
		tables = append(tables, v.plainTable(q))
	}
	return tables
}

// plainTable answers one question.
func (v view) plainTable(q question) []string {
	labels, more := v.contestants(func(r *Row) bool { return r.question() == q })
	m, _ := MetricByName(q.metric)
	title := m.Label
	for _, s := range []string{q.workload, q.schedule} {
		if s != "" {
			title += ", " + s
		}
	}
	t := &table{heads: []string{"nodes"}}
	columns := [][]string{v.shorten(labels)}
	for _, n := range v.plainSizes(q) {
		t.heads = append(t.heads, strconv.Itoa(n))
		var cells []string
		for _, label := range labels {
			cell := "-"
			if r, ok := v.first(func(r *Row) bool { return r.question() == q && r.Label == label && r.Nodes == n }); ok {
				v.show(r)
				cell = v.mark(r, plainValue(m, r.Center))
			}
			cells = append(cells, cell)
		}
		columns = append(columns, cells)
	}
	t.rows = transpose(columns)
	return moreLine(append([]string{title}, t.lines()...), more)
}

// plainSizes returns the clusters for which there is an answer: the smallest,
// and the largest when there is no room for all.
func (v view) plainSizes(q question) []int {
	const most = 5
	var sizes []int
	for _, r := range v.rows {
		if r.question() == q && !r.control() && !slices.Contains(sizes, r.Nodes) {
			sizes = append(sizes, r.Nodes)
		}
	}
	slices.Sort(sizes)
	if len(sizes) > most {
		sizes = append(sizes[:most-1], sizes[len(sizes)-1])
	}
	return sizes
}

// plainValue writes a value in the unit of its metric.
func plainValue(m Metric, v float64) string {
	switch m.Unit {
	case "ns":
		return Duration(v)
	case "bytes":
		return size(v)
	case "fraction":
		return percent(v, 1)
	case "x fair":
		return fmt.Sprintf("%.2f", v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
