package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// exactTable shows the busiest node and what moves.
func (v view) exactTable() []string {
	labels, more := v.contestants(func(r *Row) bool {
		return r.Nodes == v.n && r.Measure != "remedies" && (r.Metric == "balance-peak" || r.Metric == "load-peak" || r.Metric == "moved-fraction" && adding(r))
	})
	if len(labels) == 0 {
		return nil
	}
	skewed := v.skewed()
	keys := 0
	var uniform, requests, moved, notes []string
	for _, label := range labels {
		c := v.exact(label, skewed)
		uniform, requests, moved, notes = append(uniform, c.uniform), append(requests, c.requests), append(moved, c.moved), append(notes, c.note)
		keys = cmp.Or(keys, c.keys)
	}
	corner := plural(v.n, "node")
	if keys > 0 {
		corner += ", " + count(keys) + " keys"
	}
	t := &table{groups: []heading{{corner, 1}}, heads: []string{""}}
	shown := v.shorten(labels)
	columns := [][]string{shown}
	var peaks []string
	if filled(uniform) {
		peaks, columns = append(peaks, "uniform keys"), append(columns, uniform)
	}
	if filled(requests) {
		peaks, columns = append(peaks, plainWords(skewed)), append(columns, requests)
	}
	if len(peaks) > 0 {
		t.groups, t.heads = append(t.groups, heading{"busiest node (1.00 = fair)", len(peaks)}), append(t.heads, peaks...)
	}
	if filled(moved) {
		t.groups, t.heads = append(t.groups, heading{"keys moved,", 1}), append(t.heads, "adding 1 node")
		columns = append(columns, moved)
	}
	bare := *t
	bare.rows = transpose(columns)
	t.groups, t.heads = append(t.groups, heading{"", 1}), append(t.heads, "")
	t.rows = transpose(append(columns, notes))
	lines := t.lines()
	if wide(lines) {
		lines = bare.lines()
		for i, note := range notes {
			if note != "" {
				lines = append(lines, shown[i]+": "+note)
			}
		}
	}
	return moreLine(lines, more)
}

// exactCells is the line of one contestant in the exact table.
type exactCells struct {
	uniform, requests, moved, note string
	keys                           int
}

func (v view) exact(label, skewed string) exactCells {
	c := exactCells{uniform: "-", requests: "-", moved: "-"}
	var notes []string
	isUniform := func(r *Row) bool { return r.popularity() == "uniform" }
	isSkewed := func(r *Row) bool { return skewed != "" && r.popularity() == skewed }

	// What bounds the load places requests, not keys: its first choices would
	// say nothing about it.
	_, bounded := v.first(func(r *Row) bool { return r.Label == label && r.Measure == "bounded" && r.Skip == "" })
	balance, measure := "balance-peak", "balance"
	load := "load"
	if bounded {
		balance, measure, load = "load-peak", "bounded", "bounded"
	}
	if r, ok := v.value(label, measure, balance, v.n, isUniform); ok {
		v.show(r)
		c.uniform, c.keys = fmt.Sprintf("%.2f", r.Center), r.Keys
	}
	if r, ok := v.value(label, load, "load-peak", v.n, isSkewed); ok {
		v.show(r)
		c.requests, c.keys = fmt.Sprintf("%.2f", r.Center), r.Keys
	}
	if r, ok := v.moves(label, "moved-fraction", adding); ok {
		v.show(r)
		c.moved, c.keys = percent(r.Center, 1), cmp.Or(r.Keys, c.keys)
	}
	if r, ok := v.value(label, "bounded", "spill-fraction", v.n, isSkewed); ok && r.Center > 0 {
		v.show(r)
		notes = append(notes, percent(r.Center, 0)+" spilled")
	}
	if note := v.moveNote(label); note != "" {
		notes = append(notes, note)
	}
	c.note = strings.Join(notes, ", ")
	return c
}

// moves returns a contestant's row about movement: of keys, or else of shares.
func (v view) moves(label, metric string, schedule func(*Row) bool) (*Row, bool) {
	if r, ok := v.value(label, "movement", metric, v.n, schedule); ok {
		return r, true
	}
	return v.value(label, "shares", metric, v.n, schedule)
}

// moveNote says what is unusual in how a contestant takes a change.
func (v view) moveNote(label string) string {
	const telling = 0.001
	if r, ok := v.moves(label, "collateral-fraction", adding); ok && r.Center >= telling {
		return spread(r.Center) + " needlessly"
	}
	if r, ok := v.moves(label, "collateral-fraction", removing); ok && r.Center >= telling {
		all, _ := v.moves(label, "moved-fraction", removing)
		return "removing 1: " + percent(all.Center, 1)
	}
	if v.n == 1 {
		return "" // no node could leave
	}
	_, skipped := v.first(func(r *Row) bool {
		return r.Label == label && r.Measure == "movement" && r.Nodes == v.n && removing(r) && r.Skip != ""
	})
	if skipped {
		return "only the tail leaves"
	}
	return ""
}

// vnodesTable shows what more points on the ring buy.
func (v view) vnodesTable() []string {
	sweep, n := v.sweep()
	if len(sweep) < 2 {
		return nil
	}
	name := strings.ReplaceAll(sweep[0].cv.Algorithm, "-", " ") + " vnodes"
	if n != v.n {
		name += ", " + plural(n, "node")
	}
	heads, cvs, peaks := []string{name}, []string{"share stddev/mean"}, []string{"busiest node"}
	for _, p := range chosen(sweep) {
		v.show(p.cv)
		heads = append(heads, strconv.Itoa(p.vnodes))
		cvs = append(cvs, spread(p.cv.RMS))
		peaks = append(peaks, fmt.Sprintf("%.2f", p.peak.Center))
	}
	t := &table{heads: heads, rows: [][]string{cvs, peaks}}
	for i := range heads[1:] {
		// Headings of figures are flush right with them.
		room := max(width(heads[i+1]), width(cvs[i+1]), width(peaks[i+1]), 5)
		for _, row := range [][]string{heads, cvs, peaks} {
			row[i+1] = fmt.Sprintf("%*s", room, row[i+1])
		}
	}
	return t.lines()
}

// sweepPoint is the ring at one number of vnodes.
type sweepPoint struct {
	vnodes   int
	cv, peak *Row
}

// sweep returns the exact shares of equal nodes by vnodes, ascending, at the
// cluster that the exact part speaks of or else at the smallest that has them.
func (v view) sweep() (points []sweepPoint, n int) {
	at := map[int][]sweepPoint{}
	algorithm := ""
	for _, r := range v.rows {
		vnodes, err := strconv.Atoi(Param(r.Params, "vnodes"))
		if r.Measure != "shares" || r.Metric != "share-cv" || r.Weights != "" || err != nil || v.ofChanges(r) {
			continue
		}
		algorithm = cmp.Or(algorithm, r.Algorithm)
		peak, ok := v.first(func(p *Row) bool { return p.Cell == r.Cell && p.Metric == "share-peak" })
		if ok && r.Algorithm == algorithm && !slices.ContainsFunc(at[r.Nodes], func(p sweepPoint) bool { return p.vnodes == vnodes }) {
			at[r.Nodes] = append(at[r.Nodes], sweepPoint{vnodes, r, peak})
			if n == 0 || r.Nodes == v.n || n != v.n && r.Nodes < n {
				n = r.Nodes
			}
		}
	}
	points = at[n]
	slices.SortFunc(points, func(a, b sweepPoint) int { return cmp.Compare(a.vnodes, b.vnodes) })
	return points, n
}

// ofChanges reports whether the row is about shares in an experiment that asks what
// moves, and not how even they are.
func (v view) ofChanges(r *Row) bool {
	_, ok := v.first(func(m *Row) bool { return m.Experiment == r.Experiment && m.Measure == "shares" && m.Schedule != "" })
	return ok
}

// chosen returns the points that people ask about, or some of them all.
func chosen(points []sweepPoint) []sweepPoint {
	const room = 6
	usual := slices.DeleteFunc(slices.Clone(points), func(p sweepPoint) bool {
		return !slices.Contains([]int{1, 100, 160, 1000}, p.vnodes)
	})
	if len(usual) >= 3 {
		return usual
	}
	if len(points) <= room {
		return points
	}
	some := make([]sweepPoint, room)
	for i := range some {
		some[i] = points[i*(len(points)-1)/(room-1)]
	}
	return some
}
