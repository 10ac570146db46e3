package harness

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ringbench/ringbench/results"
)

// A group checks itself once it has been timed: whether the machine was quiet,
// whether its keys were too few for the branch predictor, and whether its floors lie
// below what they are the floors of. What it finds are warnings of the run.

// quiet is the ratio of the control's 90th to its 10th percentile over the
// repetitions up to which the machine counts as quiet.
const quiet = 1.25

// judgeControl warns when the control, which always does the same, did not take
// the same.
func (st *stage) judgeControl() {
	ns := slices.Sorted(slices.Values(st.timings[st.control]))
	if len(ns) < 4 {
		return
	}
	low, high := ns[len(ns)/10], ns[len(ns)-1-len(ns)/10]
	if high > low*quiet {
		st.outcome.Warnings = append(st.outcome.Warnings, fmt.Sprintf(
			"%s: the control, which always does the same, took %.2f to %.2f ns: the machine was not quiet, close other programs and run again",
			st.group.name, low, high))
	}
}

// judgePool warns when lookups over the larger pool cost more, each at its best: the
// two ran side by side, but on a shared machine not undisturbed. What the control
// costs more over it is that of reading more hashes, and no contestant's.
func (st *stage) judgePool() {
	type side struct{ small, large float64 }
	best := map[string]*side{}
	name := map[string]string{}
	control := ""
	for c, ns := range st.timings {
		if c.trial.Measure != "pool-probe" || len(ns) == 0 {
			continue
		}
		key := c.key()
		if best[key] == nil {
			best[key] = &side{}
		}
		if c.pool == st.large {
			best[key].large = slices.Min(ns)
		} else {
			best[key].small = slices.Min(ns)
		}
		name[key] = fmt.Sprintf("%s over %d nodes", c.subject.contestant.Name, c.subject.n)
		if c.subject.info.Name == "control" {
			control = key
		}
	}
	more := 0.0 // of a lookup over the larger pool, whatever is looked up
	if c := best[control]; c != nil && c.small > 0 && c.large > 0 {
		more = max(0, c.large-c.small)
	}
	for _, key := range slices.Sorted(maps.Keys(best)) {
		b := best[key]
		if key == control || b.small == 0 || b.large == 0 || best[control] == nil { // without a control nobody knows
			continue
		}
		if own := b.large - more; own > b.small*probeLimit {
			st.outcome.Warnings = append(st.outcome.Warnings, fmt.Sprintf(
				"%s: %.1f ns a lookup over %d keys but %.1f over %d, without what reading more hashes takes: real traffic costs more than the figures say",
				name[key], b.small, st.pool.len(), own, st.large.len()))
		}
	}
}

// judgeFloors warns when a floor lies above a contestant by more than their
// intervals: a contestant was faster than its floor, so one of the two figures is wrong.
// From key to node a contestant may have a faster hash than the control.
func (st *stage) judgeFloors() {
	floors := map[look][]*cell{}
	for _, c := range st.group.cells {
		if results.IsControl(c.subject.info.Name) && c.trial.Measure != "key-lookup" && c.trial.Measure != "pool-probe" {
			l := look{c.trial.Measure, c.pool}
			floors[l] = append(floors[l], c)
		}
	}
	for _, c := range st.group.cells {
		if results.IsControl(c.subject.info.Name) {
			continue
		}
		_, _, high, sure := results.Median(st.timings[c])
		for _, floor := range floors[look{c.trial.Measure, c.pool}] {
			if floor.subject.info.Name == "one-read" && floor.floor != c.floor {
				continue
			}
			_, low, _, too := results.Median(st.timings[floor])
			if min(sure, too) >= 0.9 && low > high {
				st.outcome.Warnings = append(st.outcome.Warnings, fmt.Sprintf(
					"self-check failed: %s takes %.2f ns or more and %s over %d nodes %.2f or less (%s), although no lookup can be faster than its floor: run again on a quieter machine",
					floorName(floor), low, c.subject.contestant.Name, c.subject.n, high, c.trial.Cell))
			}
		}
	}
}

// floorName says which floor it is.
func floorName(c *cell) string {
	if c.subject.info.Name == "control" {
		return "the empty loop"
	}
	return "one read of " + bytesText(c.floor)
}
