package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ringbench/ringbench/harness/audit"
)

// The report of audit for people: how even it is, what explains that, what moved,
// and the nodes. Terms of the field are left to the JSON.

// A finding is a report being written.
type finding struct {
	prose
	q *audit.Question
	r *audit.Report
}

// auditText writes the report.
func auditText(q *audit.Question, r *audit.Report) string {
	t := &finding{q: q, r: r}
	t.opening()
	t.line("")
	t.evenness()
	t.line("")
	t.causes()
	t.requests()
	t.moves()
	t.line("")
	t.nodes()
	t.next()
	return t.b.String()
}

func (t *finding) opening() {
	text := fmt.Sprintf("%s on %s", number1(t.r.Keys, "key"), number1(t.r.Nodes, "node"))
	if t.uneven() {
		text += ", " + amount(t.r.Requests) + " requests"
	}
	if t.r.Bytes != nil {
		text += ", " + amount(*t.r.Bytes) + " bytes"
	}
	t.line("%s", text)
}

// uneven says whether some keys are asked for more than others.
func (t *finding) uneven() bool { return t.r.Requests != float64(t.r.Keys) }

// number1 writes a count with commas and its noun.
func number1(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return thousands(n) + " " + word + "s"
}

// amount writes a number of requests or bytes.
func amount(v float64) string {
	if v == math.Trunc(v) && v < 1e15 {
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// ratio writes a multiple of a fair share.
func ratio(v *float64) string { return dashed(v, "%.2f") }

func spreadText(v *float64) string {
	if v == nil {
		return "-"
	}
	if *v < 0.1 {
		return fmt.Sprintf("%.2g%%", 100**v)
	}
	return fmt.Sprintf("%.0f%%", 100**v)
}

// evenness writes the table of what is spread how.
func (t *finding) evenness() {
	head := []string{"", "<busiest node", "<idlest node", "stddev/mean"}
	row := func(what string, cv *float64, of func(audit.Node) float64) []string {
		return []string{what, t.extreme(of, 1), t.extreme(of, -1), spreadText(cv)}
	}
	rows := [][]string{row("keys", t.r.CV, keysOf)}
	peaks := []*float64{nil, nil, nil}
	if b := t.r.Before; b != nil {
		head = append(head, "busiest before")
		peaks = []*float64{b.Peak, b.LoadPeak, nil}
	}
	if t.uneven() {
		rows = append(rows, row("requests", t.r.LoadCV, requestsOf))
	}
	if t.r.Bytes != nil {
		rows = append(rows, row("bytes", t.r.BytesCV, bytesOf))
	}
	for i := range rows {
		if len(head) > len(rows[i]) {
			rows[i] = append(rows[i], ratio(peaks[i]))
		}
	}
	t.table(head, rows)
}

func keysOf(n audit.Node) float64     { return float64(n.Keys) }
func requestsOf(n audit.Node) float64 { return n.Requests }
func bytesOf(n audit.Node) float64    { return *n.Bytes }

// ofFair returns what the node has as a multiple of its fair share.
func (t *finding) ofFair(n audit.Node, of func(audit.Node) float64) float64 {
	total, weights := 0.0, 0.0
	for _, o := range t.r.PerNode {
		total += of(o)
		weights += o.Weight
	}
	return of(n) / total / (n.Weight / weights)
}

// extreme tells the most (sign 1) or the least (-1) that a node has of its fair
// share, and the node.
func (t *finding) extreme(of func(audit.Node) float64, sign float64) string {
	var best *float64
	name := ""
	for _, n := range t.r.PerNode {
		if v := t.ofFair(n, of); n.Weight > 0 && !math.IsNaN(v) && (best == nil || sign*v > sign**best) {
			best, name = &v, n.Node
		}
	}
	return ratio(best) + "  " + name
}

// causes says what the spread of the keys looks like.
func (t *finding) causes() {
	y := t.r.Why
	floor := spreadText(t.r.CVFloor)
	switch y.Cause {
	case audit.SingleNode:
		t.say("One node owns everything.")
	case audit.Chance:
		t.say("Chance explains the spread of the keys: under a perfect placement so many spread by about %s (p = %.2g).", floor, *t.r.Chi2P)
	case audit.TooEven:
		t.say("The keys lie more evenly than hashing would put them, which is about %s apart: they are dealt out in turn or by a table.", floor)
	case audit.FewVNodes:
		t.say("The keys spread as on a ring with about %s (%s to %s) for each node%s; chance alone would make it %s. More vnodes mend that.",
			number1(int(math.Round(*y.VNodes)), "vnode"), rough(*y.VNodesLow), rough(*y.VNodesHigh), t.ofWeight(), floor)
		t.say("If there are far more already, or it is no ring, suspect the hash or the labels.")
	case audit.WeakHash:
		t.say("A weak hash, or nodes that are not treated alike: no ring of random points spreads keys like this%s; chance alone would make it %s.", t.outlier(), floor)
	}
	if n := t.r.Nothing; len(n) > 0 {
		t.say("%s no key: %s.", ownNothing(len(n)), inWords(n))
	}
	for _, n := range t.r.PerNode {
		if n.Weight == 0 && n.Keys > 0 {
			t.say("%s has weight 0 and owns %s.", n.Node, number1(n.Keys, "key"))
		}
	}
}

func ownNothing(n int) string {
	if n == 1 {
		return "1 node owns"
	}
	return thousands(n) + " nodes own"
}

// inWords joins names, the first few of many.
func inWords(names []string) string {
	const most = 8
	text := ""
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if len(names) > most {
		text += fmt.Sprintf(" and %s more", thousands(len(names)-most))
	}
	return text
}

func (t *finding) ofWeight() string {
	for _, n := range t.r.PerNode {
		if n.Weight != t.r.PerNode[0].Weight {
			return " of weight 1"
		}
	}
	return ""
}

func (t *finding) outlier() string {
	if t.r.Why.Outlier == "" {
		return ""
	}
	return ", and " + t.r.Why.Outlier + " stands out"
}

// requests says what makes the requests uneven.
func (t *finding) requests() {
	y := t.r.Why
	if !t.uneven() || y.Expected == nil {
		return
	}
	t.line("")
	t.line("The requests per node may be expected to spread by %s, and do by %s:", spreadText(y.Expected), spreadText(t.r.LoadCV))
	t.line("  %6s  from where the nodes stand", spreadText(y.Placement))
	t.line("  %6s  from there being %s distinct keys", spreadText(y.Sampling), thousands(t.r.Keys))
	t.line("  %6s  from some keys being asked for more than others", spreadText(y.Weights))
	t.line("  (Squared, the three add up to the whole.)")
	if !y.HotKeys || len(t.r.HotKeys) == 0 {
		return
	}
	t.say("Hot keys weigh most, which no placement of whole keys mends: the hottest alone is %.2f of a fair share.", *y.HotFloor)
	var rows [][]string
	for _, k := range t.r.HotKeys[:min(5, len(t.r.HotKeys))] {
		rows = append(rows, []string{cut(k.Key), amount(k.Requests), percent(k.Part), fmt.Sprintf("%.2f", k.Fair), k.Node})
	}
	t.table([]string{"hot key", "requests", "of all", "of a fair share", "<node"}, rows)
}

// moves says what moved and whether it had to.
func (t *finding) moves() {
	m := t.r.Moves
	if t.r.Before == nil {
		return
	}
	t.line("")
	if len(t.r.Joined) > 0 {
		t.say("Joined: %s.", inWords(t.r.Joined))
	}
	if len(t.r.Left) > 0 {
		t.say("Left: %s.", inWords(t.r.Left))
	}
	if m.Gone > 0 || m.New > 0 {
		t.say("%s gone and %s new; what follows is of the %s in both files.", are(m.Gone, "key"), thousands(m.New), thousands(m.Common))
	}
	if m.Moved == nil {
		t.say("No key is in both files, so nothing can be said of movement.")
		return
	}
	t.say("%s of the keys moved, %s had to%s. %s moved between nodes that stay.",
		fine(*m.Moved), fine(*m.Minimum), over(*m.Moved, *m.Minimum), capital(fine(*m.Collateral)))
	if t.uneven() && m.MovedLoad != nil {
		t.say("By requests %s moved.", fine(*m.MovedLoad))
	}
	for _, name := range t.r.Left[:min(3, len(t.r.Left))] {
		t.heirs(name)
	}
}

// fine writes a part of a whole, one that is none in words.
func fine(v float64) string {
	switch {
	case v == 0:
		return "none"
	case v < 0.001:
		return fmt.Sprintf("%.2g%%", 100*v)
	}
	return fmt.Sprintf("%.1f%%", 100*v)
}

func capital(s string) string {
	if s == "none" {
		return "None"
	}
	return s
}

// over says how many times the minimum moved.
func over(moved, minimum float64) string {
	if minimum == 0 || moved == 0 {
		return ""
	}
	return fmt.Sprintf(": %.2f times the minimum", moved/minimum)
}

// heirs says who took the keys of a node that left.
func (t *finding) heirs(name string) {
	total := 0
	var to []audit.Flow
	for _, fl := range t.r.Flows {
		if fl.From == name {
			total += fl.Keys
			to = append(to, fl)
		}
	}
	if total == 0 {
		return
	}
	var texts []string
	for _, fl := range to {
		texts = append(texts, fmt.Sprintf("%s %s", fl.To, percent(float64(fl.Keys)/float64(total))))
	}
	t.say("The keys of %s went to %s: %s.", name, number1(len(to), "node"), inWords(texts))
}

// mostRows is how many nodes the table shows.
const mostRows = 20

// nodes writes the table of nodes: all, or the busiest and the idlest of many.
func (t *finding) nodes() {
	weighted := t.ofWeight() != ""
	head := []string{"node", "keys", "of fair"}
	if t.uneven() {
		head = append(head, "requests", "of fair")
	}
	if t.r.Bytes != nil {
		head = append(head, "bytes", "of fair")
	}
	if weighted {
		head = append(head, "weight")
	}
	shown := slices.Clone(t.r.PerNode)
	if len(shown) > mostRows {
		by := keysOf
		if t.uneven() {
			by = requestsOf
		}
		slices.SortStableFunc(shown, func(a, b audit.Node) int { return cmp.Compare(by(b)/b.Weight, by(a)/a.Weight) })
	}
	total := map[string]float64{}
	weights := 0.0
	for _, n := range shown {
		total["keys"] += keysOf(n)
		total["requests"] += n.Requests
		if n.Bytes != nil {
			total["bytes"] += *n.Bytes
		}
		weights += n.Weight
	}
	var rows [][]string
	for i, n := range shown {
		if len(shown) > mostRows && i >= mostRows/2 && i < len(shown)-mostRows/2 {
			if i == mostRows/2 {
				rows = append(rows, append([]string{"..."}, make([]string, len(head)-1)...))
			}
			continue
		}
		ofFair := func(what string, v float64) string {
			x := v / total[what] / (n.Weight / weights)
			if n.Weight == 0 || math.IsNaN(x) {
				return "-"
			}
			return fmt.Sprintf("%.2f", x)
		}
		row := []string{n.Node, thousands(n.Keys), ofFair("keys", float64(n.Keys))}
		if t.uneven() {
			row = append(row, amount(n.Requests), ofFair("requests", n.Requests))
		}
		if t.r.Bytes != nil {
			row = append(row, amount(*n.Bytes), ofFair("bytes", *n.Bytes))
		}
		if weighted {
			row = append(row, number(n.Weight))
		}
		rows = append(rows, row)
	}
	t.table(head, rows)
}

// next says what to try.
func (t *finding) next() {
	switch {
	case t.r.Why.HotKeys && t.uneven():
		t.line("Next    ringbench run zipf --keys-file FILE, for what helps against hot keys")
	case t.r.Why.Cause == audit.FewVNodes:
		t.line("Next    ringbench vnodes --nodes %d --target-peak 1.15", t.r.Nodes)
	case t.q.Before == "":
		t.line("Next    ringbench audit %s AFTER.csv, once a node has joined or left", t.q.File)
	}
}
