package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// A run is a set of records, arranged for drawing.
type run struct {
	set      *results.Set
	rows     []results.Row  // that hold a drawable value
	aged     []results.Row  // the same, of structures that had been through changes
	variants map[string]int // label -> place among the contestants of its algorithm
}

func arrange(set *results.Set) *run {
	r := &run{set: set, variants: map[string]int{}}
	for _, row := range results.Summarize(set) {
		if row.N > 0 && row.Nodes > 0 && finite(row.Center) {
			if !finite(row.Low) || !finite(row.High) {
				row.Low, row.High = row.Center, row.Center
			}
			row.Label = clean(row.Label)
			for _, v := range []*float64{&row.Center, &row.Low, &row.High, &row.Min, &row.Max, &row.RMS, &row.Theory, &row.Floor} {
				if math.Abs(*v) < leastDrawn {
					*v = 0
				}
			}
			if row.After() != "" {
				r.aged = append(r.aged, row)
				continue
			}
			r.rows = append(r.rows, row)
		}
	}
	// Sweeps over a parameter have figures of their own, in which the colour is
	// not that of a contestant.
	byAlgorithm := map[string][]results.Row{}
	for _, row := range r.rows {
		if row.Measure != "shares" {
			byAlgorithm[row.Algorithm] = append(byAlgorithm[row.Algorithm], row)
		}
	}
	for _, rows := range byAlgorithm {
		slices.SortFunc(rows, func(a, b results.Row) int {
			return cmp.Or(cmp.Compare(a.Weights, b.Weights), cmp.Compare(len(a.Label), len(b.Label)), cmp.Compare(a.Label, b.Label))
		})
		n := 0
		for _, row := range rows {
			if _, known := r.variants[row.Label]; !known {
				r.variants[row.Label] = n
				n++
			}
		}
	}
	return r
}

// leastDrawn is the least number above zero that is told from it: below, decades
// are out of the reach of floating point.
const leastDrawn = 1e-300

// finite reports whether v is a number that can be scaled without overflow.
func finite(v float64) bool { return math.Abs(v) <= 1e300 }

// timesAsMuch is a/b, kept to what is finite.
func timesAsMuch(a, b float64) float64 { return max(-1/leastDrawn, min(a/b, 1/leastDrawn)) }

// look returns how the contestant of a row is drawn.
func (r *run) look(row results.Row) look { return lookOf(row.Algorithm, r.variants[row.Label]) }

// metric returns the rows of a metric in a measure, without the controls.
func (r *run) metric(measure, metric string) []results.Row {
	var rows []results.Row
	for _, row := range r.rows {
		if row.Measure == measure && row.Metric == metric && !results.IsControl(row.Algorithm) {
			rows = append(rows, row)
		}
	}
	return rows
}

// workloads returns the workloads of the rows, uniform popularity first.
func workloads(rows []results.Row) []string {
	var all []string
	for _, row := range rows {
		if !slices.Contains(all, row.Workload) {
			all = append(all, row.Workload)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(skew(a), skew(b)), cmp.Compare(a, b))
	})
	return all
}

// skew orders popularities: uniform, then the others.
func skew(workload string) int {
	if popularity(workload) == "uniform" {
		return 0
	}
	return 1
}

// popularity is the second part of a workload: "uniform", "zipf:0.99", "counts".
func popularity(workload string) string {
	_, p, found := cutLast(workload, "+")
	if !found {
		return ""
	}
	return p
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// keysOf is the first part of a workload.
func keysOf(workload string) string {
	keys, _, _ := cutLast(workload, "+")
	return keys
}

// keyKind is the kind of the keys of a workload: "random", "seq", "file".
func keyKind(workload string) string {
	kind, _, _ := strings.Cut(keysOf(workload), ":")
	return kind
}

// popularityName says a popularity in plain words.
func popularityName(workload string) string {
	switch p := clean(popularity(workload)); {
	case p == "uniform":
		return "every key asked alike"
	case strings.HasPrefix(p, "zipf:"):
		return "Zipf " + strings.TrimPrefix(p, "zipf:")
	case p == "counts":
		return "requests as counted"
	default:
		return p
	}
}

// where returns the rows for which keep holds.
func where(rows []results.Row, keep func(results.Row) bool) []results.Row {
	var kept []results.Row
	for _, row := range rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

func ofWorkload(workload string) func(results.Row) bool {
	return func(row results.Row) bool { return row.Workload == workload }
}

func ofNodes(n int) func(results.Row) bool {
	return func(row results.Row) bool { return row.Nodes == n }
}

// linesOverNodes makes one line of each contestant, over the number of nodes.
func (r *run) linesOverNodes(rows []results.Row) []line {
	var lines []line
	index := map[string]int{}
	for _, row := range rows {
		i, ok := index[row.Label]
		if !ok {
			i = len(lines)
			index[row.Label] = i
			lines = append(lines, line{name: row.Label, look: r.look(row)})
		}
		lines[i].points = append(lines[i].points, point{float64(row.Nodes), row.Center, row.Low, row.High})
	}
	beside := asideOf(nodeCounts(rows))
	for i := range lines {
		lines[i].points = tidy(lines[i].points)
		lines[i].aside = beside
	}
	return lines
}

// leastPower is the least power of two that sets numbers of nodes aside: below it
// there are too few numbers to leave any out.
const leastPower = 16

// asideOf returns those of the numbers of nodes, ascending, that stand beside a line
// over them and not on it. At a power of two, and at one node more, some algorithms
// are at their best and their worst; a line through both would look like noise. One
// more than a power stands aside when there is any other number, the powers when at
// least two others are left.
func asideOf(sizes []int) []float64 {
	power := func(n int) bool { return n >= leastPower && n&(n-1) == 0 }
	var powers, above []float64
	for _, n := range sizes {
		switch {
		case power(n):
			powers = append(powers, float64(n))
		case power(n - 1):
			above = append(above, float64(n))
		}
	}
	ordinary := len(sizes) - len(powers) - len(above)
	switch {
	case ordinary >= 2:
		above = append(above, powers...)
	case ordinary+len(powers) == 0:
		return nil
	}
	slices.Sort(above)
	return above
}

// tidy sorts points along the axis and keeps one at each place.
func tidy(points []point) []point {
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return slices.CompactFunc(points, func(a, b point) bool { return a.x == b.x })
}

// nodeCounts returns the numbers of nodes in the rows, ascending.
func nodeCounts(rows []results.Row) []int {
	var ns []int
	for _, row := range rows {
		ns = append(ns, row.Nodes)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// fullest returns the number of nodes for which there are most rows, the
// larger of equals; 0 when there are none.
func fullest(rows []results.Row) int {
	have := map[int]int{}
	for _, row := range rows {
		have[row.Nodes]++
	}
	best := 0
	for _, n := range nodeCounts(rows) {
		if have[n] >= have[best] {
			best = n
		}
	}
	return best
}

// footer names the suite, the machine and the seeds behind the measures.
func (r *run) footer(measures ...string) string {
	return r.footerOf(func(t results.Trial) bool { return slices.Contains(measures, t.Measure) })
}

// footerOf is the footer of a figure that draws the trials for which drawn holds.
func (r *run) footerOf(drawn func(results.Trial) bool) string {
	type draw struct {
		cell string
		seed uint64
	}
	seen := map[draw]bool{}
	seeds := map[string]int{} // by cell
	var only uint64           // the seed, when there is one
	reps := 0
	for _, t := range r.set.Trials {
		if t.Skip != "" || !drawn(t) {
			continue
		}
		if d := (draw{t.Cell, t.Seed}); !seen[d] {
			seen[d] = true
			seeds[t.Cell]++
			only = t.Seed
		}
		if t.Timing != nil {
			reps = max(reps, t.Rep+1)
		}
	}
	least, most := 0, 0
	for _, n := range seeds {
		if most = max(most, n); least == 0 || n < least {
			least = n
		}
	}
	parts := []string{"suite " + brief(r.set.Run.Suite)}
	if m := machine(r.set.Run.Environment); m != "" {
		parts = append(parts, m)
	}
	switch {
	case most == 1:
		parts = append(parts, fmt.Sprintf("seed %d", only))
	case least == most:
		parts = append(parts, fmt.Sprintf("%d seeds from %d", most, r.set.Run.Seed))
	default:
		parts = append(parts, fmt.Sprintf("%d to %d seeds from %d", least, most, r.set.Run.Seed))
	}
	if reps > 1 {
		parts = append(parts, fmt.Sprintf("%d repetitions", reps))
	}
	if v := version(r.set.Run); v != "" {
		parts = append(parts, "ringbench "+v)
	}
	return strings.Join(parts, " \u00b7 ")
}

// version names the build: its version, or its revision when it has none.
func version(run results.Run) string {
	revision := run.Environment.Revision
	if released := run.Version != "(devel)" && run.Version != ""; released || revision == "" {
		return brief(strings.Trim(run.Version, "()"))
	}
	return clean(revision[:min(len(revision), 10)])
}

// brief cuts a text that is longer than a footer has room for.
func brief(s string) string {
	const most = 64
	if runes := []rune(clean(s)); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return clean(s)
}

// machine names the machine in a few words.
func machine(e results.Environment) string {
	cpu := brief(e.CPU)
	for _, noise := range []string{"(R)", "(TM)", "(tm)", " Processor", " CPU"} {
		cpu = strings.ReplaceAll(cpu, noise, "")
	}
	cpu, _, _ = strings.Cut(cpu, " @")
	var parts []string
	if cpu = strings.Join(strings.Fields(cpu), " "); cpu != "" {
		parts = append(parts, cpu)
	}
	if e.Cores > 0 {
		parts = append(parts, plural(e.Cores, "core"))
	}
	if e.OS != "" {
		parts = append(parts, brief(e.OS+"/"+e.Arch))
	}
	return strings.Join(parts, ", ")
}

// plural counts things: "1 core", "2 cores".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(float64(n)) + " " + thing + "s"
}
