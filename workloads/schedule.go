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
	MoveLast             // a node moves to the end of the list; the members stay the same
)

// String returns "add", "remove", "reweight" or "move".
func (o Op) String() string {
	return [...]string{"add", "remove", "reweight", "move"}[o]
}

// A Change is one change to the membership.
type Change struct {
	Op Op

	// Node is an index into the list of nodes that the schedule starts from. A
	// node that joins has the next index: n, n+1, ... An index names the same node
	// throughout, wherever that node stands in the list by then.
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
const schedules = "add-one, remove-one, remove-last, remove-each, remove:K, remove-last:K, grow:K, double, rolling, reorder or reweight:F"

// maxGrowth is the most nodes that join in one step.
const maxGrowth = 1 << 20

// ParseSchedule makes the schedule for a cluster of n nodes that the spec names:
//
//	add-one       a node joins
//	remove-one    a node leaves, any with equal chance
//	remove-last   the node with the highest index leaves
//	remove-each   each node leaves in turn, all others being there
//	remove:K      K nodes leave together, any K with equal chance; K below 1 is a
//	              part of them all, such as 0.9
//	remove-last:K the K nodes with the highest indices leave together, the highest
//	              first
//	grow:K        K nodes join together
//	double        as many nodes join together as there are
//	rolling       each node in turn leaves and a new one joins, in one step; the
//	              next step goes on from there, until none of the first is left
//	reorder       the list of nodes is shuffled so that none keeps its place, any
//	              such cycle of the places with equal chance; nobody joins or leaves
//	reweight:F    the weight of a node, any with equal chance, is multiplied by F
//
// A schedule that leaves nobody to own the keys is an error.
func ParseSchedule(spec string, n int, r *rand.Rand) (Schedule, error) {
	if n < 1 {
		return Schedule{}, fmt.Errorf("schedule %q: %d nodes, it needs at least one", spec, n)
	}
	kind, text, parameter := strings.Cut(spec, ":")
	if parameter {
		switch kind {
		case "reweight":
			return parseReweight(spec, text, n, r)
		case "remove":
			return parseRemove(spec, text, n, r)
		case "remove-last":
			return parseRemoveLast(spec, text, n)
		case "grow":
			return parseGrow(spec, text, n)
		}
	}
	if strings.HasPrefix(spec, "remove-") && n < 2 {
		return Schedule{}, fmt.Errorf("schedule %q: it would leave no node, start from at least two", spec)
	}
	if (spec == "rolling" || spec == "reorder") && n < 2 {
		return Schedule{}, fmt.Errorf("schedule %q: one node, start from at least two", spec)
	}
	s := Schedule{Name: spec}
	switch spec {
	case "add-one":
		s.Steps = [][]Change{joining(n, 1)}
	case "remove-one":
		s.Steps = [][]Change{{{Op: RemoveNode, Node: below(r, n)}}}
	case "remove-last":
		s.Steps = [][]Change{{{Op: RemoveNode, Node: n - 1}}}
	case "remove-each":
		s.Independent = true
		for i := range n {
			s.Steps = append(s.Steps, []Change{{Op: RemoveNode, Node: i}})
		}
	case "double":
		s.Steps = [][]Change{joining(n, n)}
	case "rolling":
		for i := range n {
			s.Steps = append(s.Steps, []Change{{Op: RemoveNode, Node: i}, {Op: AddNode, Node: n + i}})
		}
	case "reorder":
		s.Steps = [][]Change{reordering(n, r)}
	default:
		return Schedule{}, fmt.Errorf("schedule %q is unknown, want %s", spec, schedules)
	}
	return s, nil
}

// joining returns the changes by which k nodes join n.
func joining(n, k int) []Change {
	changes := make([]Change, k)
	for i := range changes {
		changes[i] = Change{Op: AddNode, Node: n + i}
	}
	return changes
}

// reordering moves every node to the end of the list, one after the other, in an
// order that Sattolo's algorithm draws: its permutations are one cycle over all
// places.
func reordering(n int, r *rand.Rand) []Change {
	changes := make([]Change, n)
	for i := range changes {
		changes[i] = Change{Op: MoveLast, Node: i}
	}
	for i := n - 1; i > 0; i-- {
		j := below(r, i)
		changes[i], changes[j] = changes[j], changes[i]
	}
	return changes
}

func parseRemove(spec, text string, n int, r *rand.Rand) (Schedule, error) {
	k, name, err := parseLeavers(spec, text, n)
	if err != nil {
		return Schedule{}, err
	}
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	step := make([]Change, k)
	for i := range step {
		j := i + below(r, n-i)
		nodes[i], nodes[j] = nodes[j], nodes[i]
		step[i] = Change{Op: RemoveNode, Node: nodes[i]}
	}
	return Schedule{Name: "remove:" + name, Steps: [][]Change{step}}, nil
}

func parseRemoveLast(spec, text string, n int) (Schedule, error) {
	k, name, err := parseLeavers(spec, text, n)
	if err != nil {
		return Schedule{}, err
	}
	step := make([]Change, k)
	for i := range step {
		step[i] = Change{Op: RemoveNode, Node: n - 1 - i}
	}
	return Schedule{Name: "remove-last:" + name, Steps: [][]Change{step}}, nil
}

// parseLeavers reads how many of n nodes leave: a number of them, or below 1 the
// part of them, rounded to whole nodes. The name is the shortest form.
func parseLeavers(spec, text string, n int) (k int, name string, err error) {
	if part, err := strconv.ParseFloat(text, 64); err == nil && part > 0 && part < 1 {
		k = int(math.Round(part * float64(n)))
		name = strconv.FormatFloat(part, 'g', -1, 64)
		if k == 0 {
			return 0, "", fmt.Errorf("schedule %q: that is no whole node of %d, start from more", spec, n)
		}
	} else if k, err = parseNodes(spec, text); err != nil {
		return 0, "", err
	} else {
		name = strconv.Itoa(k)
	}
	if k >= n {
		return 0, "", fmt.Errorf("schedule %q: it would leave no node of %d, remove %d at most", spec, n, n-1)
	}
	return k, name, nil
}

func parseGrow(spec, text string, n int) (Schedule, error) {
	k, err := parseNodes(spec, text)
	switch {
	case err != nil:
		return Schedule{}, err
	case k > maxGrowth:
		return Schedule{}, fmt.Errorf("schedule %q: %d nodes join, at most %d are possible", spec, k, maxGrowth)
	}
	return Schedule{Name: "grow:" + strconv.Itoa(k), Steps: [][]Change{joining(n, k)}}, nil
}

// parseNodes reads a number of nodes, at least one.
func parseNodes(spec, text string) (int, error) {
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 {
		return 0, fmt.Errorf("schedule %q: %q is not a number of nodes, write a whole number of 1 or more", spec, text)
	}
	return k, nil
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
