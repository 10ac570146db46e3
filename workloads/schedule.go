package workloads

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// An Op is a kind of change to the membership.
type Op int

const (
	AddNode    Op = iota // a node joins
	RemoveNode           // a node leaves
	SetWeight            // a node's weight changes
)

// String returns "add", "remove" or "reweight".
func (o Op) String() string {
	return [...]string{"add", "remove", "reweight"}[o]
}

// A Change is one change to the membership.
type Change struct {
	Op Op

	// Node is an index into the list of nodes that the schedule starts from. A
	// node that joins has the next index: n, n+1, ...
	Node int

	// Factor is what SetWeight multiplies the node's weight by.
	Factor float64
}

// A Schedule is what happens to a cluster of n nodes.
type Schedule struct {
	Name string // the spec that made it, in its shortest form

	// Steps holds the changes. Those of one step happen together, and the step
	// is measured against the state before it.
	Steps [][]Change

	// Independent says that each step starts from the n nodes of the beginning,
	// not from where the step before it ended.
	Independent bool
}

// schedules lists what ParseSchedule takes, as its error shows it.
const schedules = "add-one, remove-one, remove-last, remove-each or reweight:F"

// ParseSchedule makes the schedule for a cluster of n nodes that the spec names:
//
//	add-one       a node joins
//	remove-one    a node leaves, any with equal chance
//	remove-last   the node with the highest index leaves
//	remove-each   each node leaves in turn, all others being there
//	reweight:F    the weight of a node, any with equal chance, is multiplied by F
//
// A schedule that leaves nobody to own the keys is an error.
func ParseSchedule(spec string, n int, r *rand.Rand) (Schedule, error) {
	if n < 1 {
		return Schedule{}, fmt.Errorf("schedule %q: %d nodes, it needs at least one", spec, n)
	}
	if text, ok := strings.CutPrefix(spec, "reweight:"); ok {
		return parseReweight(spec, text, n, r)
	}
	if strings.HasPrefix(spec, "remove-") && n < 2 {
		return Schedule{}, fmt.Errorf("schedule %q: it would leave no node, start from at least two", spec)
	}
	one := func(c Change) (Schedule, error) {
		return Schedule{Name: spec, Steps: [][]Change{{c}}}, nil
	}
	switch spec {
	case "add-one":
		return one(Change{Op: AddNode, Node: n})
	case "remove-one":
		return one(Change{Op: RemoveNode, Node: below(r, n)})
	case "remove-last":
		return one(Change{Op: RemoveNode, Node: n - 1})
	case "remove-each":
		s := Schedule{Name: spec, Independent: true}
		for i := range n {
			s.Steps = append(s.Steps, []Change{{Op: RemoveNode, Node: i}})
		}
		return s, nil
	}
	return Schedule{}, fmt.Errorf("schedule %q is unknown, want %s", spec, schedules)
}

func parseReweight(spec, text string, n int, r *rand.Rand) (Schedule, error) {
	factor, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return Schedule{}, fmt.Errorf("schedule %q: factor %q is not a number, write reweight:2", spec, text)
	case !(factor >= 0) || math.IsInf(factor, 1):
		return Schedule{}, fmt.Errorf("schedule %q: factor %v, it must be a finite number of 0 or more", spec, factor)
	case factor == 0 && n < 2:
		return Schedule{}, fmt.Errorf("schedule %q: it would leave no weight, start from at least two nodes", spec)
	}
	change := Change{Op: SetWeight, Node: below(r, n), Factor: factor}
	name := "reweight:" + strconv.FormatFloat(math.Abs(factor), 'g', -1, 64)
	return Schedule{Name: name, Steps: [][]Change{{change}}}, nil
}
