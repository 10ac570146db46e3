package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness/sizing"
)

// The answer of vnodes for people: the count first, in one sentence what it
// means, a short table around it, what it costs, and what to try next. Terms of
// the field are left to the JSON.

// An answering is an answer being written.
type answering struct {
	f *sizingFlags
	q *sizing.Question
	a *sizing.Answer
	prose
}

// answerText writes the answer.
func answerText(f *sizingFlags, q *sizing.Question, a *sizing.Answer) string {
	t := &answering{f: f, q: q, a: a}
	if a.Trivial {
		t.line("A single node owns everything, however many %s it has.", a.Knob)
		t.line("Next    ringbench vnodes --nodes 2 %s", t.targetFlag())
		return t.b.String()
	}
	t.verdict()
	t.line("")
	t.table()
	if !t.hopeless() {
		t.line("")
		t.costs()
	}
	t.keys()
	t.yours()
	t.contenders()
	t.next()
	return t.b.String()
}

func (t *answering) cv() bool { return t.q.Target.Metric == sizing.CV }

func (t *answering) targetFlag() string {
	if t.cv() {
		return "--target-cv " + number(t.q.Target.Value)
	}
	return "--target-peak " + number(t.q.Target.Value)
}

// number writes a number as it was typed.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// each is what the knob is counted by.
func (t *answering) each(v int) string {
	if t.a.Knob == "vnodes" {
		return plural(v, "vnode") + " per node"
	}
	return fmt.Sprintf("%s=%d", t.a.Knob, v)
}

// recommended is the answer, with what the heaviest node gets of it.
func (t *answering) recommended() string {
	each := t.each(t.a.VNodes)
	if t.a.Knob != "vnodes" || algorithms.EqualWeights(t.q.Nodes) {
		return each
	}
	heaviest := 0.0
	for _, n := range t.q.Nodes {
		heaviest = max(heaviest, n.Weight)
	}
	points := max(1, math.Round(float64(t.a.VNodes)*heaviest))
	return fmt.Sprintf("%s of weight 1 (one of weight %s gets %.0f)", each, number(heaviest), points)
}

// odds words a confidence: 19 in 20.
func odds(p float64) string {
	for _, n := range []int{2, 3, 4, 5, 10, 20, 50, 100, 1000} {
		if k := p * float64(n); math.Abs(k-math.Round(k)) < 1e-9 && k > 0.5 && k < float64(n)-0.5 {
			return fmt.Sprintf("%.0f in %d", k, n)
		}
	}
	return strconv.FormatFloat(p*100, 'g', 12, 64) + "%"
}

// clusters words what the answer is about.
func (t *answering) clusters() string {
	if algorithms.EqualWeights(t.q.Nodes) {
		return plural(t.a.Nodes, "equal node")
	}
	return fmt.Sprintf("%d nodes with your weights", t.a.Nodes)
}

// what words what a node has of.
func (t *answering) what() string {
	switch {
	case t.q.Keys == nil:
		return ""
	case t.q.Keys.Unit == "keys":
		return " of the keys"
	}
	return " of the requests"
}

// limit words the target, as the end of "the busiest ..." or "the shares ...".
func (t *answering) limit() string {
	if t.cv() {
		of := "shares"
		if t.q.Keys != nil {
			of = t.q.Keys.Unit + " per node"
		}
		return fmt.Sprintf("the %s then spread by at most %s (standard deviation over mean)", of, percent(t.q.Target.Value))
	}
	fair := "its part by weight"
	if algorithms.EqualWeights(t.q.Nodes) {
		fair = fmt.Sprintf("1/%d", t.a.Nodes)
	}
	return fmt.Sprintf("the busiest then owns at most %s times its fair share%s (%s)", number(t.q.Target.Value), t.what(), fair)
}

// hopeless says whether the keys alone exceed the target.
func (t *answering) hopeless() bool {
	return t.a.VNodes == 0 && t.a.Measured == nil && t.a.Model == nil
}

// verdict says the count, or that there is none.
func (t *answering) verdict() {
	a := t.a
	if a.VNodes == 0 {
		t.say("No number of %s gets there: %s.", t.counted(), a.Why)
		if m := a.Measured; m != nil && a.Model != nil {
			t.say("The hash %s does not spread its points as a good one does: at %d %s the typical %s is %s, at %d it is %s.",
				a.Hash, m.VNodes, a.Knob, t.metric(), t.value(m.P50), m.Tried, t.value(m.TriedP50))
			t.line("With a good hash %d would do. Try --hash xxh3.", a.Model.VNodes)
		}
		t.bounded()
		return
	}
	t.line("Use %s.", t.recommended())
	t.say("In %s clusters of %s, which differ in the names of their nodes, %s.", t.oddsOf(), t.clusters(), t.limit())
	if m := a.Measured; m != nil && a.Model != nil && m.Parts {
		t.say("A good hash would need %d; with %s, %s of %s random clusters met the target there.",
			a.Model.VNodes, a.Hash, percent(m.Met), thousands(m.Placements))
	}
	if a.Algorithm == "bounded-ring" {
		t.say("That is before the bound, which sends what is too much for a node on to the next.")
	}
}

func (t *answering) metric() string {
	if t.cv() {
		return "spread"
	}
	return "busiest node"
}

// value writes the target's metric.
func (t *answering) value(v float64) string {
	if t.cv() {
		return percent(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percent writes a part of a whole with as few digits as tell it.
func percent(v float64) string {
	switch p := 100 * v; {
	case p == 0 || p >= 99.95:
		return fmt.Sprintf("%.0f%%", p)
	case p >= 99 || p < 10:
		return strconv.FormatFloat(math.Round(p*10)/10, 'f', -1, 64) + "%"
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// thousands writes a whole number with a comma between thousands.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// table writes the rows, the recommended one marked.
func (t *answering) table() {
	type column struct {
		over, head string
		left       bool
		cell       func(r sizing.Row) string
	}
	over := "busiest node"
	if t.cv() {
		over = "spread"
	}
	columns := []column{
		{"", t.a.Knob, false, func(r sizing.Row) string { return strconv.Itoa(r.VNodes) }},
		{over, "typical", false, func(r sizing.Row) string { return t.value(t.pick(r.PeakP50, r.CVP50)) }},
		{"", odds(t.q.Confidence), false, func(r sizing.Row) string { return t.value(t.pick(r.PeakAsk, r.CVAsk)) }},
	}
	if t.a.Shared {
		columns = append(columns, column{t.pieces(), "per node", false, perNode})
	}
	if t.q.Yours {
		columns = append(columns, column{"", "your nodes", false, func(r sizing.Row) string { return t.value(t.pick(r.Yours.Peak, r.Yours.CV)) }})
	}
	columns = append(columns, column{"memory", "", false, func(r sizing.Row) string { return sizing.Bytes(r.Memory) }})
	if t.fails() {
		columns = append(columns, column{"one node dies,", percent(t.q.Headroom) + " headroom: fleet survives", true, func(r sizing.Row) string { return survival(r.Failure) }})
	}
	cells := [][]string{{}, {}}
	for _, c := range columns {
		cells[0] = append(cells[0], c.over)
		cells[1] = append(cells[1], c.head)
	}
	for _, r := range t.a.Rows {
		var row []string
		for _, c := range columns {
			row = append(row, c.cell(r))
		}
		cells = append(cells, row)
	}
	for i, row := range cells {
		text := ""
		if i > 1 && t.a.Rows[i-2].VNodes == t.a.VNodes {
			row[0] = "> " + row[0]
		}
		for k, c := range columns {
			width := 0
			for j := range cells {
				if k < 3 && j == 0 {
					continue // a head over several columns
				}
				width = max(width, len(cells[j][k]))
			}
			switch {
			case k == 0:
				text += fmt.Sprintf("%*s", max(width, len(t.a.Knob)), row[k])
			case c.left:
				text += fmt.Sprintf("   %-*s", width, row[k])
			case i == 0 && k == 1:
				text += "  " + row[k]
			case i == 0 && k == 2:
				text += strings.Repeat(" ", max(0, len("  typical  ")+width-len("  "+row[1])))
			default:
				text += fmt.Sprintf("  %*s", width, row[k])
			}
		}
		t.line("%s", strings.TrimRight(text, " "))
	}
}

func (t *answering) pick(peak, cv float64) float64 {
	if t.cv() {
		return cv
	}
	return peak
}

// fails says whether the table tells of failures.
func (t *answering) fails() bool {
	return !t.hopeless() && !slices.ContainsFunc(t.a.Rows, func(r sizing.Row) bool { return r.Failure == nil })
}

// survival words the part of the clusters that outlive a death.
func survival(f *sizing.Failure) string {
	switch {
	case f.Failures == 0:
		return "- (hardly any is within it at first)"
	case f.Survives == 1:
		return "over " + percent(1-3/float64(f.Failures))
	}
	return percent(min(f.Survives, 0.999))
}

// costs says what a change moves and what the last step buys.
func (t *answering) costs() {
	if c := t.a.Change; c != nil {
		node := "a node"
		if !algorithms.EqualWeights(t.q.Nodes) {
			node = "a node of weight " + number(c.Weight)
		}
		from := "every node"
		if c.Peers < float64(t.a.Nodes)-0.5 {
			from = fmt.Sprintf("about %.0f of the %d nodes", c.Peers, t.a.Nodes)
		}
		of := "ring"
		if t.a.Shared && !t.points() {
			of = "table"
		}
		t.say("Adding %s moves %s of the keys, in about %s pieces of the %s, from %s.", node, span(c.MovedP5, c.MovedP95), rough(c.Ranges), of, from)
		t.collateral()
	}
	t.preset()
	t.lastStep()
	if t.fails() && slices.ContainsFunc(t.a.Rows, func(r sizing.Row) bool { return r.Failure.Failures > 0 }) {
		t.deaths()
	}
	t.exposure()
}

// rough writes a count with two digits that tell.
func rough(v float64) string {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(max(v, 1)))-1))
	return thousands(int(math.Round(v/unit) * unit))
}

// deaths says what stands behind the column about a node that dies.
func (t *answering) deaths() {
	lost := 1 / (1 - 1/float64(t.a.Nodes))
	f := t.row().Failure
	headroom := percent(t.q.Headroom)
	if algorithms.EqualWeights(t.q.Nodes) && lost > 1+t.q.Headroom {
		t.say("When one of %d nodes dies, the others get %.2f times what they had: %s headroom cannot bear it, whatever the count.",
			t.a.Nodes, lost, headroom)
		return
	}
	t.say("One node dies: its keys go to the nodes that follow it on the ring, and a node that is then more than %s above its fair share (--headroom) dies too. The column is the part of deaths, any node being the first, that take no other along; clusters with a node beyond that from the start are left out.", headroom)
	if f.Failures > 0 && f.Survives < 0.995 {
		t.say("Of the fleets that do not survive, %s.", t.losses(f))
	}
}

// exposure says what the loss of several nodes at once breaks.
func (t *answering) exposure() {
	low, at := t.a.Rows[0], t.row()
	if t.q.Replicas < 2 || low.Exposure == nil || at.Exposure == nil {
		return
	}
	quorum := t.q.Replicas/2 + 1
	sets := "pairs"
	if quorum > 2 {
		sets = fmt.Sprintf("sets of %d", quorum)
	}
	t.say("With %d replicas, the loss of %d nodes at once costs some key its majority for %s of the %s; at %d %s for %s.",
		t.q.Replicas, quorum, percent(*at.Exposure), sets, low.VNodes, t.a.Knob, percent(*low.Exposure))
}

// losses says what becomes of clusters that do not survive.
func (t *answering) losses(f *sizing.Failure) string {
	if f.All >= 0.8*(1-f.Survives) {
		return "nearly all lose every node"
	}
	rest := (f.Mean - f.Survives) / (1 - f.Survives)
	return fmt.Sprintf("the typical one loses %.0f of %d nodes", rest, t.a.Nodes)
}

// row is the recommended row or, without one, the one that the table stands
// around.
func (t *answering) row() sizing.Row {
	for _, r := range t.a.Rows {
		if r.VNodes == t.a.VNodes {
			return r
		}
	}
	return t.a.Rows[len(t.a.Rows)/2]
}

// lastStep says what the step to the recommended value buys, and for how much.
func (t *answering) lastStep() {
	i := slices.IndexFunc(t.a.Rows, func(r sizing.Row) bool { return r.VNodes == t.a.VNodes })
	if i < 1 {
		return
	}
	from, to := t.a.Rows[i-1], t.a.Rows[i]
	if t.pick(from.PeakAsk, from.CVAsk) <= t.pick(to.PeakAsk, to.CVAsk) {
		return // a table can be more even by luck with fewer slots
	}
	gain := fmt.Sprintf("the busiest node comes down from %.2f to %.2f times", from.PeakAsk, to.PeakAsk)
	if t.cv() {
		gain = fmt.Sprintf("the spread comes down from %s to %s", percent(from.CVAsk), percent(to.CVAsk))
	}
	memory := float64(to.Memory) / float64(from.Memory)
	t.say("%d -> %s: %s, for %s the memory in every client that looks keys up.", from.VNodes, t.at(to.VNodes), gain, times(memory))
}

// times words a factor.
func times(f float64) string {
	if r := math.Round(f); math.Abs(f-r) < 0.1*r && r == 2 {
		return "twice"
	} else if math.Abs(f-r) < 0.1*r && r > 2 {
		return fmt.Sprintf("%.0f times", r)
	}
	return fmt.Sprintf("%.1f times", f)
}

// span words a range of parts, with digits enough to tell its ends apart.
func span(low, high float64) string {
	digits := 1
	for unit := 0.1; digits < 6 && 100*(high-low) < 3*unit; unit /= 10 {
		digits++
	}
	return fmt.Sprintf("%.*f to %.*f%%", digits, 100*low, digits, 100*high)
}

// keys says which part of the spread is not the ring's.
func (t *answering) keys() {
	k := t.a.Keys
	if k == nil {
		return
	}
	unit := t.q.Keys.Unit
	t.line("")
	t.line("The %s per node spread by %s at %s (standard deviation over mean):", unit, percent(k.Total), t.at(k.VNodes))
	t.line("  %6s  from where the points stand, which more %s mend", percent(k.Placement), t.counted())
	t.line("  %6s  from there being %s distinct keys, which they do not", percent(k.Sampling), thousands(k.Distinct))
	t.line("  %6s  from some keys being asked for more than others, nor this", percent(k.Weights))
	t.line("  (Squared, the three add up to the whole.)")
	floor := fmt.Sprintf("the busiest node is within %.2f", k.FloorPeak)
	if t.cv() {
		floor = "the spread is within " + percent(k.FloorCV)
	}
	t.say("Under a perfect placement of these keys %s, %s.", floor, odds(t.q.Confidence))
	if k.Empty >= 0.001 {
		t.say("Even then some node gets no key at all with probability %.2f.", k.Empty)
	}
	if k.Weights > k.Sampling && k.HotKey != "" {
		t.say("The hottest key, %q, takes %s of the requests: %.2f times a fair share by itself.", k.HotKey, percent(k.Hottest), k.HotPeak)
	}
	if k.Weights < k.Sampling {
		t.say("A test that counts these keys should allow every node %s either way: with a limit of %s it fails %s of the time.",
			percent(k.Tolerance), percent(k.Strict), percent(k.FailsBy))
	}
	if t.a.VNodes == 0 && t.a.Why != "" && t.a.Measured == nil {
		t.say("What helps: a bound on the load (bounded-ring), caching or splitting the hot keys, more keys.")
	}
}

// yours says how the asker's own nodes stand.
func (t *answering) yours() {
	y := t.a.Yours
	if y == nil {
		return
	}
	i := slices.IndexFunc(t.a.Rows, func(r sizing.Row) bool { return r.VNodes == y.VNodes })
	own := t.a.Rows[i].Yours
	t.line("")
	standing := fmt.Sprintf("more even than %s", percent(1-own.Percentile))
	if own.Percentile > 0.5 {
		standing = fmt.Sprintf("less even than %s", percent(own.Percentile))
	}
	t.say("Your nodes at %s: %s is the busiest, with %.2f times its fair share%s. That is %s of the clusters that differ from yours in names only.",
		t.at(y.VNodes), y.Busiest, y.Share/y.Fair, t.what(), standing)
	t.say("Your column goes up and down by luck: one %s more, or one node renamed, and it is another. Choose by the column %q, which holds whatever the names.", singular(t.counted()), odds(t.q.Confidence))
	if y.Deaths > 0 {
		t.say("%s", t.ownDeaths(y))
	} else if t.fails() && !y.Healthy {
		t.say("One of them is more than %s above its fair share already.", percent(t.q.Headroom))
	}
	if len(y.Nothing) > 0 {
		t.say("Own nothing: %s.", strings.Join(y.Nothing, ", "))
	}
}

// ownDeaths says which of the asker's own nodes may die.
func (t *answering) ownDeaths(y *sizing.Yours) string {
	const most = 6 // names that are listed
	headroom := percent(t.q.Headroom)
	switch n := len(y.Fatal); {
	case n == 0:
		return fmt.Sprintf("With %s headroom any one of them can die without taking another along.", headroom)
	case n == y.Deaths:
		return fmt.Sprintf("With %s headroom the death of any one of them takes others along.", headroom)
	case n > most:
		return fmt.Sprintf("With %s headroom the death of one of them takes others along for %d of the %d.", headroom, n, y.Deaths)
	}
	return fmt.Sprintf("With %s headroom the death of %s, each alone, takes others along; that of any other does not.", headroom, strings.Join(y.Fatal, ", "))
}

func singular(knob string) string { return strings.TrimSuffix(knob, "s") }

// contenders sets the answer beside other algorithms.
func (t *answering) contenders() {
	if len(t.a.Compare) == 0 {
		return
	}
	rows := [][]string{{"", "busiest node", "moved by adding one", "ns/lookup", "memory"}}
	counted := false
	var notes []string
	for _, c := range t.a.Compare {
		name := strings.ReplaceAll(c.Algorithm, "-", " ")
		if c.Algorithm == t.a.Algorithm {
			name += ", " + t.at(t.a.VNodes)
		}
		if c.Skip != "" {
			rows = append(rows, []string{name, "-", "-", "-", "-"})
			notes = append(notes, name+": out of the question, "+strings.Join(c.Cannot, "; "))
			continue
		}
		peak := dashed(c.Peak, "%.2f")
		if c.PeakFloor != nil {
			peak, counted = peak+" *", true
		}
		cannot := c.Cannot
		if c.Spilled != nil {
			cannot = append([]string{percent(*c.Spilled) + " of requests go to another node than the first"}, cannot...)
		}
		moved := "-"
		if c.Moved != nil {
			moved = percent(*c.Moved)
		}
		memory := "-"
		if c.Memory != nil {
			memory = sizing.Bytes(int64(*c.Memory))
		}
		rows = append(rows, []string{name, peak, moved, dashed(c.LookupNs, "%.0f"), memory})
		if len(cannot) > 0 {
			notes = append(notes, name+": "+strings.Join(cannot, "; "))
		}
	}
	t.line("")
	writeTable(&t.b, rows[0], rows[1:]) // a strings.Builder does not fail
	for _, note := range notes {
		t.say("- %s", note)
	}
	if counted {
		for _, c := range t.a.Compare {
			if c.PeakFloor != nil {
				t.say("* counted with 100,000 keys, of which a perfect placement shows %.2f", *c.PeakFloor)
				break
			}
		}
	}
}

func dashed(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// next says what to try.
func (t *answering) next() {
	var hints []string
	if t.q.Keys == nil {
		hints = append(hints, "Hot keys come on top:  --keys-file FILE")
	}
	if !t.q.Yours {
		hints = append(hints, "Your real names:  --nodes-file FILE")
	}
	if len(hints) < 2 && !t.f.compare && t.a.VNodes > 0 {
		hints = append(hints, "Other algorithms:  --compare")
	}
	if len(hints) < 2 && t.f.output == "" {
		hints = append(hints, "Drawn:  -o FILE.svg")
	}
	if len(hints) > 0 {
		t.line("%s", strings.Join(hints, "    "))
	}
}
