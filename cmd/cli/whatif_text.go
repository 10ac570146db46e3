package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/ringbench/ringbench/harness/whatif"
)

// The answer of whatif for people: who is busiest before and after, what moves and
// from where to where, and what can go wrong.

// A change is an answer being written.
type change struct {
	prose
	f *supposing
	q *whatif.Question
	a *whatif.Answer
}

// changeText writes the answer.
func changeText(f *supposing, q *whatif.Question, a *whatif.Answer) string {
	t := &change{f: f, q: q, a: a}
	if len(a.Changes) > 0 {
		t.line("%s, %s -> %d:  %s", strings.ReplaceAll(a.Algorithm, "-", " "), number1(a.Before.Nodes, "node"), a.After.Nodes, strings.Join(a.Changes, " "))
		t.line("")
		t.standing()
		t.line("")
		t.moves()
		t.flows()
	} else {
		t.line("%s, %s; the busiest, %s, has %.2f times its fair share", strings.ReplaceAll(a.Algorithm, "-", " "), number1(a.Before.Nodes, "node"), a.Before.Busiest, a.Before.Peak)
	}
	t.line("")
	t.misses()
	t.cascade()
	t.replicas()
	t.worst()
	t.how()
	t.next()
	return t.b.String()
}

func (t *change) standing() {
	rows := [][]string{
		{"busiest node", fmt.Sprintf("%.2f  %s", t.a.Before.Peak, t.a.Before.Busiest), fmt.Sprintf("%.2f  %s", t.a.After.Peak, t.a.After.Busiest)},
	}
	if r := t.a.Requests; r != nil {
		rows = append(rows, []string{"by requests", fmt.Sprintf("%.2f  %s", r.PeakBefore, r.BusiestBefore), fmt.Sprintf("%.2f  %s", r.PeakAfter, r.BusiestAfter)})
	}
	rows = append(rows, []string{"stddev/mean", spreadText(&t.a.Before.CV), spreadText(&t.a.After.CV)})
	t.table([]string{"", "<before", "<after"}, rows)
}

// moves says what moves and whether it has to.
func (t *change) moves() {
	a := t.a
	t.say("%s of the keys move, %s have to%s. %s move between nodes that the change is not about.",
		capital(fine(a.Moved)), fine(a.Minimum), over(a.Moved, a.Minimum), capital(fine(a.Collateral)))
	if r := a.Requests; r != nil {
		t.say("By requests (%s over %s) %s move.", r.Popularity, number1(r.Keys, "key"), fine(r.Moved))
	}
	if a.Moved == 0 {
		return
	}
	ranges := ""
	if a.Ranges != nil {
		ranges = "in " + number1(*a.Ranges, "range") + ", "
	}
	t.say("They move %samong %s. While one client knows of the change and another does not, they disagree on %s of the keys.",
		ranges, number1(a.Peers, "node"), fine(a.Disagreement))
	if a.Failover != nil {
		t.say("%s takes most of what a node leaves: %s of it.", a.Heir, percent(*a.Failover))
	}
}

// mostFlows is how many flows the table shows.
const mostFlows = 12

func (t *change) flows() {
	if len(t.a.Flows) == 0 {
		return
	}
	head := []string{"from", "<to", "share"}
	if t.a.Exact {
		head = append(head, "ranges")
	}
	var rows [][]string
	rest := 0.0
	for i, f := range t.a.Flows {
		if i >= mostFlows {
			rest += f.Share
			continue
		}
		row := []string{f.From, f.To, fine(f.Share)}
		if t.a.Exact {
			row = append(row, thousands(*f.Ranges))
		}
		rows = append(rows, row)
	}
	t.line("")
	t.table(head, rows)
	if more := len(t.a.Flows) - mostFlows; more > 0 {
		t.line("and %s more with %s", thousands(more), fine(rest))
	}
}

func (t *change) misses() {
	m := t.a.Misses
	if m == nil {
		return
	}
	minute := 0.0
	for i, s := range m.Seconds {
		if s == 60 {
			minute = m.Each[i]
		}
	}
	t.say("A cache in front of %s requests/s misses %s a second at first, %s after a minute, %s in all.",
		amount(m.Rate), rough(m.Peak), rough(minute), rough(m.Total))
}

// cascade says whether all nodes can bear what they have.
func (t *change) cascade() {
	c := t.a.Cascade
	headroom := percent(c.Headroom)
	if len(c.Already) > 0 {
		t.say("Before the change %s above the %s headroom already: %s.", isAre(len(c.Already), "node"), headroom, inWords(c.Already))
	}
	if len(c.Overloads) == 0 {
		if len(t.a.Changes) > 0 {
			t.say("With %s headroom every node bears what it then has.", headroom)
		}
		return
	}
	t.say("%s above the %s headroom: %s.", capitalise(isAre(len(c.Overloads), "node"))+" then", headroom, inWords(c.Overloads))
	switch {
	case c.All:
		t.say("If an overloaded node dies, the fleet is lost: none can bear what the others leave.")
	case len(c.Lost) > len(c.Overloads):
		t.say("If an overloaded node dies, %s are dead in the end: %s.", number1(len(c.Lost), "node"), inWords(c.Lost))
	default:
		t.say("If they die, the others bear what they leave.")
	}
}

func isAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return thousands(n) + " " + word + "s are"
}

func capitalise(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (t *change) replicas() {
	r := t.a.Replicas
	if r == nil {
		return
	}
	t.say("Of %d replicas a key, %s have to be copied. Until then %s of the keys lack their majority.", r.Replicas, fine(r.Moved), fine(r.Exposure))
	if r.SetsBefore != nil && r.SetsAfter != nil {
		t.say("The loss of %d nodes at once costs some key its majority for %s of all sets of %d, and %s after the change.",
			r.MajoritySize, percent(*r.SetsBefore), r.MajoritySize, percent(*r.SetsAfter))
	}
}

func (t *change) worst() {
	w := t.a.Worst
	if w == nil {
		return
	}
	t.say("Worst single failure: %s, with %s of the keys. %s then has %.2f times what was its fair share.", w.Node, percent(w.Share), w.Busiest, w.Load)
	headroom := percent(t.q.Headroom)
	switch {
	case w.Lost == 1:
		t.say("With %s headroom any of the %d nodes can die without taking another along.", headroom, w.Nodes)
	case w.Lost == w.Nodes:
		t.say("With %s headroom it takes all others along. %d of the %d nodes take another along.", headroom, w.Fatal, w.Nodes)
	default:
		t.say("With %s headroom it takes %s along. %d of the %d nodes take another along.", headroom, number1(w.Lost-1, "node"), w.Fatal, w.Nodes)
	}
	if w.Sampled > 0 && w.Sampled != t.a.Sampled {
		t.say("(Counted over %s.)", number1(w.Sampled, "key"))
	}
}

// how says how far the figures can be trusted.
func (t *change) how() {
	if t.a.Bounded {
		t.say("All this is about first choices, before the bound on the load.")
	}
	if t.a.Exact {
		return
	}
	e := 100 * 1.96 * math.Max(*t.a.MovedError, 0)
	t.say("Counted over %s, since %s does not list what its nodes own: the moved share is right to +-%.2g points, 19 times in 20.", number1(t.a.Sampled, "key"), t.a.Algorithm, e)
}

func (t *change) next() {
	switch {
	case !t.q.Worst:
		t.line("Next    --worst for the worst single failure, -o FILE.svg for a figure")
	case t.a.Requests == nil:
		t.line("Next    --popularity zipf:0.99 --rate 50000 for requests and cache misses")
	}
}
