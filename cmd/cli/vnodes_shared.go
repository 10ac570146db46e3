package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/harness/sizing"
	"github.com/ringbench/ringbench/results"
)

// What vnodes says beyond the usual where the knob counts what all nodes share:
// the points of a circle whose total is fixed, or the slots of a table.

// perNode words what a node has at one value of such a knob.
func perNode(r sizing.Row) string {
	if r.Each[0] == r.Each[1] {
		return strconv.Itoa(r.Each[0])
	}
	return fmt.Sprintf("%d to %d", r.Each[0], r.Each[1])
}

// at words one value of the knob: 160 vnodes, size 65537.
func (t *answering) at(v int) string {
	if t.a.Shared {
		return fmt.Sprintf("%s %d", t.a.Knob, v)
	}
	return fmt.Sprintf("%d %s", v, t.a.Knob)
}

// counted words what there is more of the higher the knob is.
func (t *answering) counted() string {
	if t.a.Shared {
		return t.pieces()
	}
	return t.a.Knob
}

// pieces words what a shared knob counts.
func (t *answering) pieces() string {
	switch {
	case t.points():
		return "points"
	case t.a.Knob == "partitions":
		return t.a.Knob
	}
	return "slots"
}

// oddsOf words the confidence as so many of so many.
func (t *answering) oddsOf() string {
	few, many, whole := strings.Cut(odds(t.q.Confidence), " in ")
	if !whole {
		return few + " of"
	}
	return few + " of " + many
}

// points reports whether the structure is a circle.
func (t *answering) points() bool { return t.q.Info.PointCounts != nil }

// collateral says what a change moves beyond what it must.
func (t *answering) collateral() {
	c := t.a.Change
	if !t.a.Shared || c.Collateral < 0.0005 {
		return
	}
	why := "their " + t.pieces() + " are shared out anew"
	if t.points() {
		why = "the total rests, and they give points away"
	}
	t.say("%s must move; %s moves between nodes that stay, since %s.", percent(c.Least), percent(c.Collateral), why)
}

// preset shows the default for what it is.
func (t *answering) preset() {
	i := slices.IndexFunc(t.a.Rows, func(r sizing.Row) bool { return r.VNodes == t.a.Preset })
	if !t.a.Shared || i < 0 || t.a.Preset == t.a.VNodes {
		return
	}
	r := t.a.Rows[i]
	t.say("The default %s of %d gives each of %d nodes %s %s: %s.", t.a.Knob, t.a.Preset, t.a.Nodes, perNode(r), t.pieces(), t.typical(r))
}

// typical words how even one row is.
func (t *answering) typical(r sizing.Row) string {
	if t.cv() {
		return fmt.Sprintf("the shares then spread by %s, in %s clusters by at most %s", percent(r.CVP50), t.oddsOf(), percent(r.CVAsk))
	}
	return fmt.Sprintf("the busiest then has %.2f times its fair share, in %s clusters at most %.2f", r.PeakP50, t.oddsOf(), r.PeakAsk)
}

// bounded says how a bound on the partitions of a node limits what more of them
// can do.
func (t *answering) bounded() {
	load := results.Param(t.a.Params, "load")
	if t.a.VNodes > 0 || load == "" {
		return
	}
	t.say("The load of %s lets a node hold so much more than its fair share, and some node does. Try --param load=%s.", load, number(t.lowerLoad()))
}

// lowerLoad is a load that leaves half of what the target allows to the rounding
// of partitions.
func (t *answering) lowerLoad() float64 {
	return 1 + float64(int(50*(t.q.Target.Value-1)+0.5))/100
}
