package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// view is a set seen through its summary.
type view struct {
	set  *Set
	rows []*Row
	aged []*Row // of structures that had been through changes, which are in no other table
	n    int    // the cluster that the exact part speaks of; 0 when there is none

	*screen // of which views of parts of the set are views too
}

// screen is what holds for the screen as a whole.
type screen struct {
	shown   map[topic]bool // what the tables made so far hold figures of
	waiting float64        // part of the timings during which others had the processor
	marked  bool           // whether a table made so far holds the mark of such a timing
}

func newView(s *Set) view {
	v := view{set: s, screen: &screen{shown: map[topic]bool{}}}
	for _, r := range Summarize(s) {
		if r.After() != "" {
			v.aged = append(v.aged, &r)
			continue
		}
		v.rows = append(v.rows, &r)
		switch r.Metric {
		case "balance-peak", "load-peak", "moved-fraction":
			if !r.control() && (v.n == 0 || r.Nodes < v.n) {
				v.n = r.Nodes
			}
		}
	}
	v.waiting = v.waitingPart()
	return v
}

// control reports whether the row measures the harness and no algorithm.
func (r *Row) control() bool { return IsControl(r.Algorithm) }

// popularity is the part of the workload that says how often keys are asked.
func (r *Row) popularity() string { return r.Workload[strings.LastIndexByte(r.Workload, '+')+1:] }

// plainWords writes a popularity as a heading.
func plainWords(popularity string) string {
	if s, ok := strings.CutPrefix(popularity, "zipf:"); ok {
		return "Zipf " + s
	}
	if popularity == "counts" {
		return "real requests"
	}
	return popularity
}

// first returns the first row that matches, and an empty one when none does.
func (v view) first(match func(*Row) bool) (*Row, bool) {
	if i := slices.IndexFunc(v.rows, match); i >= 0 {
		return v.rows[i], true
	}
	return &Row{}, false
}

// evenly is the popularity under which each key is asked for as often as any other.
const evenly = "uniform"

// looksUp says whether a measure times lookups of keys, which it does under one
// popularity or several.
func looksUp(measure string) bool {
	switch measure {
	case "lookup", "latency", "key-lookup", "batch-lookup", "parallel-lookup", "parallel-lookup-writer", "assign", "pool-probe":
		return true
	}
	return false
}

// under says whether the row is of a popularity; a row without keys is of each.
func (r *Row) under(popularity string) bool {
	return r.Workload == "" || r.popularity() == popularity
}

// value returns the first row of a contestant's metric at a size, from a
// measure, that the filter (which may be nil) lets through. Of a measure that looks
// keys up it is a row under the uniform popularity: [view.valueUnder] takes another.
func (v view) value(label, measure, metric string, nodes int, filter func(*Row) bool) (*Row, bool) {
	return v.valueUnder(evenly, label, measure, metric, nodes, filter)
}

// valueUnder is [view.value] under a popularity, which counts for measures that look
// keys up and for no others: the workload of those is for the filter to choose.
func (v view) valueUnder(popularity, label, measure, metric string, nodes int, filter func(*Row) bool) (*Row, bool) {
	return v.first(func(r *Row) bool {
		return r.Label == label && r.Measure == measure && r.Metric == metric && r.Nodes == nodes &&
			(!looksUp(measure) || r.under(popularity)) && (filter == nil || filter(r))
	})
}

// contestants returns the labels of those with rows that match, in order, at
// most so many as the screen takes: those without set parameters go first.
func (v view) contestants(match func(*Row) bool) (labels []string, more int) {
	var plain, set []string
	for _, r := range v.rows {
		switch {
		case r.control() || !match(r) || slices.Contains(plain, r.Label) || slices.Contains(set, r.Label):
		case strings.Contains(r.Label, "="):
			set = append(set, r.Label)
		default:
			plain = append(plain, r.Label)
		}
	}
	all := append(plain, set...)
	more = max(0, len(all)-maxContestants)
	labels = all[:len(all)-more]
	order := map[string]Trial{}
	for _, r := range v.rows {
		if _, seen := order[r.Label]; !seen {
			order[r.Label] = Trial{Algorithm: r.Algorithm, Cell: r.Cell, Params: r.Params, Weights: r.Weights}
		}
	}
	slices.SortFunc(labels, func(a, b string) int { return compareContestants(order[a], order[b]) })
	return labels, more
}

// shorten leaves the weights out of the labels of weighted rendezvous, which has no
// other use, as long as they stay distinct.
func (v view) shorten(labels []string) []string {
	short := slices.Clone(labels)
	for i, label := range labels {
		row, _ := v.first(func(r *Row) bool { return r.Label == label })
		name := strings.Replace(label, " "+row.Weights, "", 1)
		if row.Weights != "" && name == "weighted rendezvous" && !slices.Contains(short, name) {
			short[i] = name
		}
	}
	return short
}

// moreLine tells of contestants that did not fit.
func moreLine(lines []string, more int) []string {
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more in the report", more))
	}
	return lines
}

// skewed returns the popularity that the screen shows beside uniform keys, and
// "" when there is none.
func (v view) skewed() string {
	found := ""
	for _, r := range v.rows {
		if p := r.popularity(); r.Nodes == v.n && p != "" && p != "uniform" && (r.Measure == "load" || r.Measure == "bounded") {
			if p == "zipf:0.99" {
				return p
			}
			found = cmp.Or(found, p)
		}
	}
	return found
}

// adding and removing tell the schedules whose steps are one node that joins or
// leaves; "remove:3" and "remove-last:0.5" are others.
func adding(r *Row) bool { return strings.HasPrefix(r.Schedule, "add-") }
func removing(r *Row) bool {
	return strings.HasPrefix(r.Schedule, "remove-") && !strings.Contains(r.Schedule, ":")
}

// maxContestants is how many contestants the first screen shows.
const maxContestants = 10

// timed reports whether the set has timings or heap readings.
func (v view) timed() bool {
	_, ok := v.first(measured)
	return ok
}

// measured reports whether the row comes from a clock or the allocator.
func measured(r *Row) bool {
	m, ok := MetricByName(r.Metric)
	return ok && m.Kind != Computed
}

// exactAnswer reports whether the row is exact, and not a by-product of timings.
func (v view) exactAnswer(r *Row) bool {
	if r.Metric == "" || measured(r) || r.Measure == "allocations" && v.timed() {
		return false
	}
	_, timed := v.first(func(m *Row) bool { return m.Cell == r.Cell && measured(m) })
	return !timed
}
