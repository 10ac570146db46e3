package results

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// A Row is one metric of one cell, over all its seeds and repetitions.
type Row struct {
	Cell       string          `json:"cell"`
	Experiment string          `json:"experiment"`
	Measure    string          `json:"measure"`
	Algorithm  string          `json:"algorithm"`
	Label      string          `json:"contestant"` // by [Label]
	Params     json.RawMessage `json:"params"`     // in force; [Param] reads one
	Workload   string          `json:"workload"`
	Schedule   string          `json:"schedule"`
	Weights    string          `json:"weights"`
	Hash       string          `json:"hash"`
	Nodes      int             `json:"nodes"`
	Points     int             `json:"points"` // random points of a node of weight 1, see [Trial]; 0 where the theory of rings says nothing
	Keys       int             `json:"keys"`
	Metric     string          `json:"metric"` // "" in the row of a cell that was skipped

	N          int     `json:"values"`        // values behind the row
	Center     float64 `json:"center"`        // timed and heap: the median; exact: the mean, which is the value when there is one seed
	Low        float64 `json:"low"`           // timed and heap: interval of the median; exact: 5% of the values
	High       float64 `json:"high"`          // timed and heap: interval of the median; exact: 95% of the values
	Confidence float64 `json:"confidence"`    // that the interval holds the true median; 0 for exact metrics
	Min        float64 `json:"min"`           // of the values
	Max        float64 `json:"max"`           // of the values
	StdDev     float64 `json:"stddev"`        // of the values; 0 when there is only one
	RMS        float64 `json:"rms"`           // root of the mean square: what theory speaks of, for a cv over many placements
	Floor      float64 `json:"uniform_floor"` // balance-cv of perfectly uniform placement of so many keys; 0 where it does not apply
	Theory     float64 `json:"theory"`        // what theory says of a ring's share-cv, balance-cv and point-collisions; 0 where it says nothing
	Skip       string  `json:"skip"`          // why nothing was measured; "" when it was

	FloorBytes  int64   `json:"floor_bytes"`       // size of the array whose one read is the floor of these lookups; 0 for none
	WallOverCPU float64 `json:"wall_over_cpu"`     // of a timing: how much longer the blocks lasted than their thread computed, 1 for no longer; 0 where it is not known
	BlockNs     float64 `json:"shortest_block_ns"` // of a timing: how long the shortest block lasted; 0 where it is not known
}

// waited is the ratio of wall to CPU time above which a timing was taken while others
// had the processor for a good part of it. Its figure is that of the CPU time and
// holds, but caches were not its own.
const waited = 1.2

// Waited says whether others had the processor for a good part of the timing.
func (r *Row) Waited() bool { return r.WallOverCPU > waited }

// Replicas returns the number of replicas in the name of the cell, 0 when the row
// is not about replicas.
func (r *Row) Replicas() int {
	_, fields := ParseCell(r.Cell)
	for _, f := range fields {
		if n, err := strconv.Atoi(f.Value); f.Name == "replicas" && err == nil {
			return n
		}
	}
	return 0
}

// After returns the schedule that a structure had been through before it was
// measured, "" for one newly built.
func (r *Row) After() string {
	_, fields := ParseCell(r.Cell)
	for _, f := range fields {
		if f.Name == "after" {
			return f.Value
		}
	}
	return ""
}

// level is the confidence that the interval around a median has, and nominal the one
// that it would have were repetitions independent. They are not: those of one run share
// what the machine did in those minutes. Of eight runs under a steady load of eight,
// taken one after the other, the intervals of nominally 0.95 hold the median of all in
// 89% and exclude each other in 5% of pairs; those of nominally 0.995 hold it in 98%,
// and none exclude each other.
const (
	level   = 0.95
	nominal = 0.995
)

// Summarize makes one row of each cell and metric, and one without a metric of
// each cell that was skipped. Its order and values depend on the records only,
// not on the order in which they were taken.
//
// An exact metric counts once a seed, since every repetition repeats it. Timed
// and heap metrics count every repetition; the interval around their median
// rests on the order of the values alone and assumes no distribution. It has a
// confidence of 0.95 from six values on; with fewer it is the full range, and
// Confidence says what that is worth.
//
// A cell of which a check failed in any repetition has the reason and no figures:
// wrong answers void all its timings.
func Summarize(s *Set) []Row {
	var cells []cell
	at := map[string]int{}
	for _, t := range s.Trials {
		i, ok := at[t.Cell]
		if !ok {
			i = len(cells)
			at[t.Cell] = i
			cells = append(cells, cell{})
		}
		cells[i].trials = append(cells[i].trials, t)
	}
	for i := range cells {
		slices.SortFunc(cells[i].trials, func(a, b Trial) int {
			return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Rep, b.Rep))
		})
		cells[i].label = Label(cells[i].trials[0])
	}
	slices.SortFunc(cells, compareCells)
	var rows []Row
	for _, c := range cells {
		rows = append(rows, c.summarize()...)
	}
	return rows
}

// cell is a cell's trials by seed and repetition.
type cell struct {
	label  string
	trials []Trial
}

// compareCells orders cells for people: by measure, contestant, and then by the
// name of the cell with its numbers in numeric order.
func compareCells(a, b cell) int {
	x, y := a.trials[0], b.trials[0]
	return cmp.Or(
		compareListed(measures, x.Measure, y.Measure),
		compareListed(contestants, x.Algorithm, y.Algorithm),
		compareNatural(a.label, b.label),
		compareNatural(x.Cell, y.Cell),
	)
}

// summarize makes the rows of the cell.
func (c cell) summarize() []Row {
	trials := c.trials
	t := trials[0]
	head := Row{
		Cell: t.Cell, Experiment: t.Experiment, Measure: t.Measure, Algorithm: t.Algorithm, Label: c.label,
		Params: t.Params, Workload: t.Workload, Schedule: t.Schedule, Weights: t.Weights, Hash: t.Hash,
		Nodes: t.Nodes, Points: t.randomPoints(), Keys: t.Keys,
	}
	for _, t := range trials {
		if t.Failed() {
			head.Skip = t.Skip
			return []Row{head}
		}
	}
	var rows []Row
	for _, m := range Metrics {
		var values []float64
		last := -1 // the trial that the last value came from
		for i, t := range trials {
			v, ok := t.Values[m.Name]
			if !ok || m.Kind == Computed && last >= 0 && trials[last].Seed == t.Seed {
				continue
			}
			values, last = append(values, v), i
		}
		if len(values) > 0 {
			row := head
			row.Metric = m.Name
			row.summarize(values, m.Kind)
			if m.Kind == Timed {
				row.readings(trials)
			}
			rows = append(rows, row)
		}
	}
	if rows == nil {
		for _, t := range trials {
			head.Skip = cmp.Or(head.Skip, t.Skip)
		}
		return []Row{head}
	}
	return rows
}

// readings fills in what the raw readings tell.
func (r *Row) readings(trials []Trial) {
	wall, cpu := 0.0, 0.0
	for _, t := range trials {
		if t.Timing == nil || t.Skip != "" {
			continue
		}
		if t.Timing.CPUNs > 0 {
			wall, cpu = wall+float64(t.Timing.WallNs), cpu+float64(t.Timing.CPUNs)
		}
		if lasted := float64(t.Timing.BlockNs); lasted > 0 && (r.BlockNs == 0 || lasted < r.BlockNs) {
			r.BlockNs = lasted
		}
		r.FloorBytes = t.Timing.FloorBytes
	}
	if cpu > 0 {
		r.WallOverCPU = wall / cpu
	}
}

// summarize fills in the statistics.
func (r *Row) summarize(values []float64, kind Kind) {
	slices.Sort(values)
	n := len(values)
	r.N, r.Min, r.Max = n, values[0], values[n-1]
	// No run measures values whose sums and squares overflow, but a file may hold
	// them: of these the statistics are those of the parts of the largest.
	const huge = 1e150
	unit := max(-r.Min, r.Max)
	if unit < huge {
		unit = 1
	}
	if unit > 1 {
		for i := range values {
			values[i] /= unit
		}
	}
	var sum, squares float64
	for _, v := range values {
		sum += v
		squares += float64(v * v)
	}
	mean := sum / float64(n)
	r.RMS = math.Sqrt(squares / float64(n))
	if n > 1 {
		var deviations float64
		for _, v := range values {
			deviations += float64((v - mean) * (v - mean))
		}
		r.StdDev = math.Sqrt(deviations / float64(n-1))
	}
	if kind == Computed {
		r.Center, r.Low, r.High = mean, quantile(values, 0.05), quantile(values, 0.95)
	} else {
		r.Center, r.Low, r.High, r.Confidence = median(values)
	}
	for _, v := range []*float64{&r.Center, &r.Low, &r.High, &r.StdDev, &r.RMS} {
		if unit > 1 {
			*v = max(-math.MaxFloat64, min(math.MaxFloat64, *v*unit))
		}
		if kind == Computed {
			*v = Exact(*v)
		}
	}
	r.theory()
	r.Floor, r.Theory = Exact(r.Floor), Exact(r.Theory)
}

// Median returns the median of values, an interval around it and the
// confidence that this holds the true median: 0.95 from six values on. With none all
// are 0.
func Median(values []float64) (center, low, high, confidence float64) {
	if len(values) == 0 {
		return 0, 0, 0, 0
	}
	return median(slices.Sorted(slices.Values(values)))
}

// median is [Median] of values that are sorted and not empty.
func median(values []float64) (center, low, high, confidence float64) {
	const enough = 9 // values for a bounded interval
	n := len(values)
	if n >= enough {
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), nominal)
		return s.Center, s.Lo, s.Hi, level
	}
	// The range misses the median when all values fall on one side of it.
	return quantile(values, 0.5), values[0], values[n-1], min(level, 1-math.Pow(0.5, float64(n-1)))
}

// quantile interpolates between the sorted values; 0 is the first, 1 the last.
func quantile(values []float64, p float64) float64 {
	at := p * float64(len(values)-1)
	i := min(int(at), len(values)-1)
	if i == len(values)-1 {
		return values[i]
	}
	part := at - float64(i)
	return values[i] + float64(part*(values[i+1]-values[i]))
}

// theory sets what the noise floor and theory say about a spread.
func (r *Row) theory() {
	if r.Weights != "" || r.Nodes < 2 || r.After() != "" { // the number of members is not told
		return
	}
	n, keys, v := float64(r.Nodes), float64(r.Keys), float64(r.Points)
	placement := 0.0 // square of the cv of a ring's shares
	if v > 0 {
		placement = (n - 1) / (float64(n*v) + 1)
	}
	switch r.Metric {
	case "share-cv":
		r.Theory = math.Sqrt(placement)
	case "point-collisions":
		// Points on M positions, each equally likely: all of them less the
		// positions that are taken, M * (1 - (1-1/M)^points).
		if m, err := strconv.ParseFloat(Param(r.Params, "modulus"), 64); err == nil && m > 1 && placement > 0 {
			points := float64(n * v)
			r.Theory = points + float64(m*math.Expm1(float64(points*math.Log1p(-1/m))))
		}
	case "balance-cv":
		if keys > 0 {
			r.Floor = math.Sqrt((n - 1) / keys)
			if placement > 0 {
				r.Theory = math.Sqrt((n-1)/keys + float64((1-1/keys)*placement))
			}
		}
	}
}

// unpointed are the rings of ringbench itself whose records were written before
// a trial told its points.
var unpointed = []string{"ring", "bounded-ring", "ring-binary-search", "ring-array"}

// randomPoints returns the trial's points, which records from before there was the
// field tell by the algorithm and its parameters.
func (t *Trial) randomPoints() int {
	if t.Points != nil {
		return max(0, *t.Points)
	}
	if !slices.Contains(unpointed, t.Algorithm) {
		return 0
	}
	if p := Param(t.Params, "points"); p != "" && p != "null" && p != "[]" && p != "{}" {
		return 0 // somebody chose where the points stand
	}
	v, err := strconv.Atoi(Param(t.Params, "vnodes"))
	if err != nil {
		return 0
	}
	return max(0, v)
}

// WriteSummary writes rows as CSV (RFC 4180) under a header. Floor, theory and
// confidence are empty where they do not apply.
func WriteSummary(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	c.Write([]string{"cell", "experiment", "measure", "algorithm", "contestant", "params", "workload", "schedule", "weights", "hash",
		"nodes", "points", "keys", "metric", "unit", "better", "kind", "values", "center", "low", "high", "confidence", "min", "max", "stddev", "rms",
		"uniform_floor", "theory", "floor_bytes", "wall_over_cpu", "shortest_block_ns", "skip"})
	for _, r := range rows {
		line := []string{r.Cell, r.Experiment, r.Measure, r.Algorithm, r.Label, string(r.Params), r.Workload, r.Schedule, r.Weights, r.Hash,
			strconv.Itoa(r.Nodes), strconv.Itoa(r.Points), strconv.Itoa(r.Keys)}
		if m, ok := MetricByName(r.Metric); ok {
			line = append(line, m.Name, m.Unit, m.Better.String(), m.Kind.String(), strconv.Itoa(r.N))
			for _, v := range []float64{r.Center, r.Low, r.High} {
				line = append(line, formatFloat(v))
			}
			line = append(line, unlessZero(r.Confidence))
			for _, v := range []float64{r.Min, r.Max, r.StdDev, r.RMS} {
				line = append(line, formatFloat(v))
			}
			for _, v := range []float64{r.Floor, r.Theory, float64(r.FloorBytes), r.WallOverCPU, r.BlockNs} {
				line = append(line, unlessZero(v))
			}
			line = append(line, r.Skip)
		} else {
			line = append(line, "", "", "", "", "0")
			line = append(line, slices.Repeat([]string{""}, 13)...)
			line = append(line, r.Skip)
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

func unlessZero(v float64) string {
	if v == 0 {
		return ""
	}
	return formatFloat(v)
}
