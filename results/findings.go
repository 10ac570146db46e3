package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxFindings is how many findings the first screen has room for.
const maxFindings = 3

// Findings says in at most three sentences what the data show, the most telling
// first. Each is there only when the data bear it out, with their figures in it.
func Findings(s *Set) []string {
	v := newView(s)
	var found []string
	for _, find := range []func(view) string{needlessMoves, hotKey, fewVnodes, searchGain, tailOnly, agedLookup, growingLookup, sharedZones, soleHeir, fewPairs} {
		if sentence := find(v); sentence != "" && len(found) < maxFindings {
			found = append(found, sentence)
		}
	}
	return found
}

// needlessMoves names the contestant that moves most beyond what must move.
func needlessMoves(v view) string {
	const telling = 1.5
	worst, moved, must := telling, &Row{}, 0.0
	for _, r := range v.rows {
		if r.Metric != "moved-fraction" || r.Nodes != v.n || !adding(r) || r.control() {
			continue
		}
		least, ok := v.first(func(m *Row) bool { return m.Cell == r.Cell && m.Metric == "moved-minimum" })
		if ok && least.Center > 0 && r.Center/least.Center > worst {
			worst, moved, must = r.Center/least.Center, r, least.Center
		}
	}
	if must == 0 {
		return ""
	}
	return fmt.Sprintf("%s moves %s times more keys than needed: %s instead of %s.",
		sentenceCase(moved.Label), times(worst), percent(moved.Center, 1), percent(must, 1))
}

// hotKey tells what a skewed popularity does to the busiest node, and whether a
// bound on the load helps. Where a node is as busy when all keys are asked alike,
// it is the placement that is to blame and no key.
func hotKey(v view) string {
	const telling = 1.2
	skewed := v.skewed()
	if skewed == "" {
		return ""
	}
	least, bound, boundLabel := math.Inf(1), math.Inf(1), ""
	for _, r := range v.rows {
		if r.Metric != "load-peak" || r.Nodes != v.n || r.popularity() != skewed || r.control() {
			continue
		}
		switch r.Measure {
		case "bounded":
			if r.Center < bound {
				bound, boundLabel = r.Center, r.Label
			}
		case "load":
			if _, bounded := v.first(func(b *Row) bool { return b.Label == r.Label && b.Metric == "load-peak" && b.Measure == "bounded" }); bounded {
				continue
			}
			even, ok := v.value(r.Label, "balance", "balance-peak", r.Nodes, nil)
			if !ok || r.Center < telling*even.Center {
				return ""
			}
			least = min(least, r.Center)
		}
	}
	switch {
	case math.IsInf(least, 1):
		return ""
	case boundLabel == "":
		return fmt.Sprintf("A hot key defeats them all: the busiest node serves %.2f times its share or more.", least)
	case bound > 0.9*least:
		return ""
	}
	return fmt.Sprintf("A hot key defeats all but bounded load: %.2f times fair against %.2f.", least, bound)
}

// fewVnodes tells what the usual number of vnodes leaves to luck.
func fewVnodes(v view) string {
	const telling, usual = 0.02, 160
	sweep, n := v.sweep()
	i := slices.IndexFunc(sweep, func(p sweepPoint) bool { return p.vnodes == usual })
	if i < 0 {
		i = slices.IndexFunc(sweep, func(p sweepPoint) bool { return p.vnodes >= usual })
	}
	if i < 0 {
		return ""
	}
	j := slices.IndexFunc(sweep, func(p sweepPoint) bool { return p.vnodes >= 5*sweep[i].vnodes })
	if j < 0 || sweep[i].peak.Center-1 < telling || sweep[j].peak.Center >= sweep[i].peak.Center {
		return ""
	}
	return fmt.Sprintf("%d vnodes leave the busiest of %d nodes %s over fair, %d leave %s.",
		sweep[i].vnodes, n, percent(sweep[i].peak.Center-1, 0), sweep[j].vnodes, percent(sweep[j].peak.Center-1, 0))
}

// searchGain compares the ring's lookup with a binary search over the same points.
func searchGain(v view) string {
	const telling = 1.2
	ring, search, ok := v.pair("ring", "ring binary search")
	if !ok || search.Center < telling*ring.Center || search.Low <= ring.High {
		return ""
	}
	return fmt.Sprintf("Ring is %s times faster than binary search: %s ns against %s at %s.",
		times(search.Center/ring.Center), short(ring.Center), short(search.Center), plural(ring.Nodes, "node"))
}

// pair returns the lookup times of two contestants at the largest cluster that
// both have, of the same keys, all asked for alike.
func (v view) pair(a, b string) (*Row, *Row, bool) {
	x, y := &Row{}, &Row{}
	for _, r := range v.rows {
		if isLookup(r) && r.Label == a && r.Nodes >= x.Nodes {
			if other, ok := v.value(b, r.Measure, r.Metric, r.Nodes, func(o *Row) bool { return o.Workload == r.Workload }); ok {
				x, y = r, other
			}
		}
	}
	return x, y, x.Nodes > 0
}

// tailOnly tells what it costs when a node leaves that jump cannot let go of.
func tailOnly(v view) string {
	const telling = 0.01
	worst := &Row{}
	for _, r := range v.rows {
		if r.Metric == "collateral-fraction" && r.Nodes == v.n && removing(r) && r.Algorithm != "modulo" && !r.control() && r.Center > worst.Center {
			worst = r
		}
	}
	if worst.Center < telling {
		return ""
	}
	return fmt.Sprintf("When a node leaves, %s also moves %s of the keys between nodes that stay.",
		worst.Label, percent(worst.Center, 1))
}

// growingLookup names the contestant whose lookup grows most with the cluster.
func growingLookup(v view) string {
	const telling = 5.0
	growth, from, to := telling, &Row{}, &Row{}
	lookups := slices.DeleteFunc(slices.Clone(v.rows), func(r *Row) bool { return !isLookup(r) })
	for _, r := range lookups {
		for _, big := range lookups {
			if big.Label == r.Label && big.Nodes > r.Nodes && r.Center > 0 && big.Center/r.Center > growth {
				growth, from, to = big.Center/r.Center, r, big
			}
		}
	}
	if to.Nodes == 0 {
		return ""
	}
	return fmt.Sprintf("%s slows down as the cluster grows: %s ns at %d nodes, %s at %d.",
		sentenceCase(from.Label), short(from.Center), from.Nodes, short(to.Center), to.Nodes)
}

// agedLookup tells who looks up fastest and slowest after most nodes left at
// random.
func agedLookup(v view) string {
	const telling = 1.5
	rows, n := v.agedLookups()
	most := ""
	for _, r := range rows {
		if kind, _, _ := strings.Cut(r.After(), ":"); kind == "remove" && (most == "" || compareNatural(r.After(), most) > 0) {
			most = r.After()
		}
	}
	var least, worst *Row
	for _, r := range rows {
		if r.After() != most {
			continue
		}
		if least == nil || r.Center < least.Center {
			least = r
		}
		if worst == nil || r.Center > worst.Center {
			worst = r
		}
	}
	if worst == nil || worst.Center < telling*least.Center {
		return ""
	}
	_, part, _ := strings.Cut(most, ":")
	return fmt.Sprintf("After %s of %s left at random a lookup takes %s ns with %s, %s with %s.",
		partLeft(part), plural(n, "node"), short(least.Center), least.Label, short(worst.Center), worst.Label)
}

// sharedZones tells how many keys lie twice in one zone when nobody tells the
// algorithm of the zones.
func sharedZones(v view) string {
	const telling = 0.01
	worst, part := &Row{}, telling
	for _, r := range v.rows {
		if r.Metric == "replica-zone-violations" && r.Keys > 0 && r.Center/float64(r.Keys) > part {
			worst, part = r, r.Center/float64(r.Keys)
		}
	}
	if worst.Keys == 0 {
		return ""
	}
	return fmt.Sprintf("%s puts %s of the keys twice in one zone.", sentenceCase(worst.Label), percent(part, 1))
}

// soleHeir names who gives a dead node's keys to one other node, beside who parts
// them best.
func soleHeir(v view) string {
	const telling = 0.5
	v, _ = v.ofReplicas()
	best, worst := &Row{Center: math.Inf(1)}, &Row{}
	for _, r := range v.rows {
		if r.Metric != "failover-peak" || !removing(r) || r.control() {
			continue
		}
		if r.Center < best.Center && r.Algorithm != "modulo" { // which moves nearly all keys
			best = r
		}
		if r.Center > worst.Center {
			worst = r
		}
	}
	if worst.Center < telling || worst.Center < 2*best.Center {
		return ""
	}
	return fmt.Sprintf("Of a dead node's keys one heir gets %s with %s, %s with %s.",
		percent(worst.Center, 0), worst.Label, percent(best.Center, 0), best.Label)
}

// fewPairs tells what more vnodes do to the sets of nodes whose loss breaks a
// quorum.
func fewPairs(v view) string {
	points := v.exposures()
	if len(points) < 2 {
		return ""
	}
	few, many := points[0], points[len(points)-1]
	if many.cv.Center < 2*few.cv.Center {
		return ""
	}
	return fmt.Sprintf("At v=%d %s of the %s of %d nodes are some key's majority, at v=%d %s.",
		few.vnodes, percent(few.cv.Center, 1), losses(few.cv.Replicas()), few.cv.Nodes, many.vnodes, percent(many.cv.Center, 0))
}

// times writes a ratio without false precision.
func times(v float64) string {
	if v < 2.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
