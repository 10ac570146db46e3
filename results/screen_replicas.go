package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ofReplicas returns the rows about replicas that the screen speaks of: those of
// the cluster, and the number of replicas, that most of them are about. It
// returns a view of nothing when there are none.
func (v view) ofReplicas() (of view, replicas int) {
	type kind struct{ nodes, replicas int }
	number := map[kind]int{}
	var most kind
	for _, r := range v.rows {
		k := kind{r.Nodes, r.Replicas()}
		if k.replicas == 0 || r.control() || r.Skip != "" {
			continue
		}
		if number[k]++; number[k] > number[most] {
			most = k
		}
	}
	of = view{set: v.set, n: most.nodes, screen: v.screen}
	if most.replicas > 0 {
		for _, r := range v.rows {
			if r.Nodes == most.nodes && r.Replicas() == most.replicas {
				of.rows = append(of.rows, r)
			}
		}
	}
	return of, most.replicas
}

// losses says of how many nodes the sets are whose loss takes a majority.
func losses(replicas int) string {
	if quorum := replicas/2 + 1; quorum > 2 {
		return fmt.Sprintf("sets of %d", quorum)
	}
	if replicas < 2 {
		return "nodes"
	}
	return "pairs"
}

// replicasTable shows where replicas lie, what a change copies, and who inherits.
func (v view) replicasTable() []string {
	v, replicas := v.ofReplicas()
	labels, more := v.contestants(func(r *Row) bool { return r.Skip == "" })
	if len(labels) == 0 {
		return nil
	}
	t := &table{
		groups: []heading{{plural(v.n, "node") + ", " + plural(replicas, "replica"), 1}, {"fullest", 1}, {"two in", 1}, {losses(replicas) + " that", 1}, {"replicas copied", 2}, {"most to", 1}},
		heads:  []string{"", "(1=fair)", "a zone", "break it", "1 joins", "1 leaves", "an heir"},
	}
	for _, label := range labels {
		cell := func(measure, metric string, schedule func(*Row) bool, write func(*Row) string) string {
			if r, ok := v.value(label, measure, metric, v.n, schedule); ok {
				v.show(r)
				return write(r)
			}
			return "-"
		}
		part := func(r *Row) string { return percent(r.Center, 1) }
		t.rows = append(t.rows, []string{
			label,
			cell("replicas", "replica-balance-peak", nil, func(r *Row) string { return fmt.Sprintf("%.2f", r.Center) }),
			cell("replicas", "replica-zone-violations", nil, func(r *Row) string { return percent(r.Center/float64(max(1, r.Keys)), 1) }),
			cell("replicas", "quorum-exposure", nil, part),
			cell("replica-movement", "replica-moved-fraction", adding, part),
			cell("replica-movement", "replica-moved-fraction", removing, part),
			cell("replica-movement", "failover-peak", removing, part),
		})
	}
	return moreLine(t.lines(), more)
}

// quorumTable shows what more points on the ring do to the sets of nodes whose
// loss breaks a quorum.
func (v view) quorumTable() []string {
	points := v.exposures()
	if len(points) < 2 {
		return nil
	}
	first := points[0].cv
	t := &table{heads: []string{strings.ReplaceAll(first.Algorithm, "-", " ") + " vnodes, " + plural(first.Nodes, "node")}}
	parts, peaks := []string{losses(first.Replicas()) + " that break it"}, []string{"fullest node"}
	for _, p := range points {
		v.show(p.cv)
		t.heads = append(t.heads, fmt.Sprintf("%6d", p.vnodes))
		parts = append(parts, fmt.Sprintf("%6s", percent(p.cv.Center, 1)))
		peaks = append(peaks, fmt.Sprintf("%6.2f", p.peak.Center))
	}
	t.rows = [][]string{parts, peaks}
	return t.lines()
}

// exposures returns the quorum exposure of a ring by vnodes, ascending, at the
// cluster that has it at most values, in the place of a spread.
func (v view) exposures() []sweepPoint {
	at := map[int][]sweepPoint{}
	algorithm, n := "", 0
	for _, r := range v.rows {
		vnodes, err := strconv.Atoi(Param(r.Params, "vnodes"))
		if r.Metric != "quorum-exposure" || r.Weights != "" || err != nil || cellField(r, "zones") != "" {
			continue
		}
		algorithm = cmp.Or(algorithm, r.Algorithm)
		peak, ok := v.first(func(p *Row) bool { return p.Cell == r.Cell && p.Metric == "replica-balance-peak" })
		known := slices.ContainsFunc(at[r.Nodes], func(p sweepPoint) bool { return p.vnodes == vnodes })
		if !ok || known || r.Algorithm != algorithm {
			continue
		}
		at[r.Nodes] = append(at[r.Nodes], sweepPoint{vnodes, r, peak})
		if len(at[r.Nodes]) > len(at[n]) {
			n = r.Nodes
		}
	}
	points := at[n]
	slices.SortFunc(points, func(a, b sweepPoint) int { return cmp.Compare(a.vnodes, b.vnodes) })
	const room = 6
	return points[:min(len(points), room)]
}
