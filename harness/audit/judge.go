package audit

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/harness"
)

// A fleet is the nodes of both files in one list, with the weights that they have
// before and after.
type fleet struct {
	names         []string
	of            [2][]int32 // node of a reading -> index into names
	before, after []float64  // 0 for no member
	weight        []float64
}

// fleetOf joins the nodes of the files and of the list.
func fleetOf(q Question, before, after *reading) (*fleet, error) {
	f := &fleet{}
	index := map[string]int32{}
	add := func(name string, weight float64) int32 {
		i, known := index[name]
		if !known {
			i = int32(len(f.names))
			index[name] = i
			f.names = append(f.names, name)
			f.weight = append(f.weight, weight)
		}
		return i
	}
	if err := harness.CheckShares(q.Nodes); err != nil {
		return nil, err
	}
	for _, n := range q.Nodes {
		add(n.Name, n.Weight)
	}
	for k, r := range []*reading{before, after} {
		for i, name := range r.names {
			if _, known := index[name]; !known && q.Nodes != nil {
				return nil, fmt.Errorf("%s:%d: node %q is not in the list of nodes, add it there with its weight", r.path, r.where[i], name)
			}
			f.of[k] = append(f.of[k], add(name, 1))
		}
	}
	if q.Nodes == nil {
		f.sort()
	}
	f.before, f.after = make([]float64, len(f.names)), make([]float64, len(f.names))
	in := [2][]bool{make([]bool, len(f.names)), make([]bool, len(f.names))}
	for k := range f.of {
		for _, i := range f.of[k] {
			in[k][i] = true
		}
	}
	for i, w := range f.weight {
		// A node of the list that is in neither file is a member that owns nothing.
		idle := !in[0][i] && !in[1][i]
		if in[0][i] || idle {
			f.before[i] = w
		}
		if in[1][i] || idle {
			f.after[i] = w
		}
	}
	return f, nil
}

// sort puts the nodes in the order of their names, numbers in them by value.
func (f *fleet) sort() {
	order := make([]int32, len(f.names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return natural(f.names[a], f.names[b]) })
	place := make([]int32, len(order))
	names := make([]string, len(order))
	for to, from := range order {
		place[from] = int32(to)
		names[to] = f.names[from]
	}
	f.names = names // all weights are alike
	for k := range f.of {
		for i, n := range f.of[k] {
			f.of[k][i] = place[n]
		}
	}
}

// natural compares names so that node-2 comes before node-10.
func natural(a, b string) int {
	digits := func(s string) int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	for x, y := a, b; ; {
		if x == "" || y == "" {
			return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
		}
		if i, j := digits(x), digits(y); i > 0 && j > 0 {
			m, n := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[i:], y[j:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
}

// A census is what the keys of one file add up to.
type census struct {
	names    []string
	held     []amounts // by node of the fleet
	keys     float64
	requests float64
	bytes    float64
	squares  float64 // of the requests of the keys
	split    int
	hottest  hottest
}

// judge works out the report.
func judge(ctx context.Context, q Question, before, after *reading) (*Report, error) {
	f, err := fleetOf(q, before, after)
	if err != nil {
		return nil, err
	}
	// Two tallies whatever the machine: their sums are then the same on each.
	tallies := [2]*tally{newTally(f), newTally(f)}
	visits := make([]visit, len(tallies))
	for i, t := range tallies {
		visits[i] = func(key []byte, x, y *holding) { t.count(f, key, x, y) }
	}
	if err := join(ctx, before.store, after.store, visits...); err != nil {
		return nil, err
	}
	all := tallies[0]
	all.add(tallies[1])
	now, then, mv := all.now, all.then, all.moving
	now.took(after, f.of[1])
	then.took(before, f.of[0])
	r := f.report(after, now)
	if before.path != "" {
		past := f.report(before, then)
		past.stand(f.before, then)
		r.Before = &Standing{past.Keys, count(f.before, then), past.Requests, past.CV, past.Peak, past.LoadCV, past.LoadPeak, past.Split}
		f.moves(r, mv, then)
	}
	r.stand(f.after, now)
	r.explain(f.after, now)
	return r, nil
}

func count(weights []float64, c *census) int {
	n := 0
	for i, w := range weights {
		if w > 0 || c.held[i].keys > 0 {
			n++
		}
	}
	return n
}

func newCensus(f *fleet) *census {
	return &census{names: f.names, held: make([]amounts, len(f.names))}
}

// took takes in the requests and the bytes of the nodes, which are known from
// reading.
func (c *census) took(r *reading, of []int32) {
	for i, a := range r.held {
		c.held[of[i]].requests = a.requests
		c.held[of[i]].bytes = a.bytes
		c.requests += a.requests
		c.bytes += a.bytes
	}
}

// add takes the keys of another census in.
func (c *census) add(o *census) {
	for i, a := range o.held {
		c.held[i].keys += a.keys
	}
	c.keys += o.keys
	c.squares += o.squares
	c.split += o.split
	for _, h := range o.hottest {
		c.hottest.offer([]byte(h.key), h.requests, h.node)
	}
}

func (c *census) count(key []byte, h *holding, of []int32) {
	node := of[h.node]
	c.held[node].keys++
	c.keys++
	c.squares += float64(h.requests * h.requests)
	if h.split {
		c.split++
	}
	c.hottest.offer(key, h.requests, node)
}

// report fills in the table of nodes.
func (f *fleet) report(r *reading, c *census) *Report {
	p := &Report{
		Keys: int(c.keys), Requests: c.requests, Joined: []string{}, Left: []string{}, Nothing: []string{}, HotKeys: []HotKey{}, Moves: Moves{Flows: []Flow{}},
	}
	bytesOf := func(v float64) *float64 {
		if !r.sized {
			return nil
		}
		return &v
	}
	p.Bytes = bytesOf(c.bytes)
	for i, a := range c.held {
		weight := f.after[i]
		if weight == 0 && a.keys == 0 && a.requests == 0 && f.weight[i] > 0 {
			continue // it has left
		}
		p.Nodes++
		p.PerNode = append(p.PerNode, Node{f.names[i], int(a.keys), a.requests, bytesOf(a.bytes), a.keys / c.keys, f.weight[i]})
		if a.keys == 0 && weight > 0 {
			p.Nothing = append(p.Nothing, f.names[i])
		}
	}
	if c.split > 0 && r.store.first != nil {
		first := r.store.first
		p.Split = &Split{c.split, first.line, first.key, r.names[first.here], r.names[first.than]}
	}
	return p
}

// known returns the number, nil when there is none.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// fair returns the parts of the whole that the weights ask for.
func fair(weights []float64) []float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	parts := make([]float64, len(weights))
	for i, w := range weights {
		parts[i] = w / total
	}
	return parts
}

// column picks one amount of each node.
func column(held []amounts, of func(amounts) float64) []float64 {
	c := make([]float64, len(held))
	for i, a := range held {
		c[i] = of(a)
	}
	return c
}

func keysOf(a amounts) float64     { return a.keys }
func requestsOf(a amounts) float64 { return a.requests }
func bytesOf(a amounts) float64    { return a.bytes }

// stand fills in how even the assignment is.
func (r *Report) stand(weights []float64, c *census) {
	keys := harness.SpreadOf(column(c.held, keysOf), weights)
	load := harness.SpreadOf(column(c.held, requestsOf), weights)
	r.CV, r.Peak, r.Min = known(keys.CV), known(keys.Peak), known(keys.Min)
	r.LoadCV, r.LoadPeak = known(load.CV), known(load.Peak)
	if r.Bytes != nil {
		bytes := harness.SpreadOf(column(c.held, bytesOf), weights)
		r.BytesCV, r.BytesPeak = known(bytes.CV), known(bytes.Peak)
	}
	r.CVFloor = known(math.Sqrt(harness.Crowding(weights) / c.keys))
	r.Chi2P = known(chiSquare(column(c.held, keysOf), weights))
}

// chiSquare returns the chance that keys placed by the weights alone spread as
// they do or wider, NaN for a single node.
func chiSquare(keys, weights []float64) float64 {
	sum, total, nodes := 0.0, 0.0, 0
	for _, k := range keys {
		total += k
	}
	for i, part := range fair(weights) {
		if part == 0 {
			if keys[i] > 0 {
				return 0 // where nothing may be
			}
			continue
		}
		nodes++
		expected := part * total
		sum += float64((keys[i]-expected)*(keys[i]-expected)) / expected
	}
	if nodes < 2 || total == 0 {
		return math.NaN()
	}
	return distuv.ChiSquared{K: float64(nodes - 1)}.Survival(sum)
}

// A tally is what one visit adds up.
type tally struct {
	now, then *census
	*moving
}

func newTally(f *fleet) *tally {
	return &tally{now: newCensus(f), then: newCensus(f), moving: &moving{flows: map[[2]int32]int{}}}
}

func (t *tally) count(f *fleet, key []byte, x, y *holding) {
	if x != nil {
		t.then.count(key, x, f.of[0])
	}
	if y != nil {
		t.now.count(key, y, f.of[1])
	}
	t.moving.count(f, x, y)
}

func (t *tally) add(o *tally) {
	t.now.add(o.now)
	t.then.add(o.then)
	t.common += o.common
	t.gone += o.gone
	t.new += o.new
	t.loads += o.loads
	t.movedLoad += o.movedLoad
	for e, n := range o.flows {
		t.flows[e] += n
	}
}

// A moving adds up where the keys of both files went.
type moving struct {
	common, gone, new int
	loads, movedLoad  float64
	flows             map[[2]int32]int
}

func (m *moving) count(f *fleet, x, y *holding) {
	switch {
	case x == nil:
		m.new++
	case y == nil:
		m.gone++
	default:
		m.common++
		m.loads += x.requests
		from, to := f.of[0][x.node], f.of[1][y.node]
		if from != to {
			m.flows[[2]int32{from, to}]++
			m.movedLoad += x.requests
		}
	}
}

// moves fills in the movement.
func (f *fleet) moves(r *Report, m *moving, then *census) {
	r.Moves = Moves{Common: m.common, Gone: m.gone, New: m.new, Flows: []Flow{}}
	var flows []harness.Flow
	keys := float64(m.common)
	for e, n := range m.flows {
		flows = append(flows, harness.Flow{From: int(e[0]), To: int(e[1]), Share: float64(n) / keys, Ranges: n})
	}
	slices.SortFunc(flows, func(a, b harness.Flow) int {
		return cmp.Or(cmp.Compare(b.Ranges, a.Ranges), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for _, fl := range flows {
		r.Flows = append(r.Flows, Flow{f.names[fl.From], f.names[fl.To], fl.Ranges, fl.Share})
	}
	for i, name := range f.names {
		was, is := f.before[i] > 0 || then.held[i].keys > 0, f.after[i] > 0
		switch {
		case is && !was:
			r.Joined = append(r.Joined, name)
		case was && !is && f.weight[i] > 0:
			r.Left = append(r.Left, name)
		}
	}
	if m.common == 0 {
		return
	}
	moved := harness.MovedCells(flows, viewOf(f.before), viewOf(f.after))
	r.Moved, r.Minimum = known(moved.Moved), known(moved.Minimum)
	r.Disruption, r.Collateral, r.Failover = known(moved.Disruption()), known(moved.Collateral), known(moved.Failover)
	r.MovedLoad = known(m.movedLoad / m.loads)
}

func viewOf(weights []float64) harness.View {
	v := harness.View{Weights: weights}
	for _, w := range weights {
		v.Total += w
	}
	return v
}

// mostHot is how many of the hottest keys are told.
const mostHot = 10

// hottest keeps the keys that are asked for most, the coolest of them first.
type hottest []hot

type hot struct {
	key      string
	requests float64
	node     int32
}

// compare orders by requests, and keys of as many by name.
func (h hot) compare(o hot) int {
	return cmp.Or(cmp.Compare(h.requests, o.requests), strings.Compare(o.key, h.key))
}

func (h hottest) Len() int           { return len(h) }
func (h hottest) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h hottest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hottest) Push(x any)        { *h = append(*h, x.(hot)) }
func (h *hottest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *hottest) offer(key []byte, requests float64, node int32) {
	if len(*h) == mostHot {
		if least := (*h)[0]; requests < least.requests || requests == least.requests && string(key) > least.key {
			return
		}
		heap.Pop(h)
	}
	heap.Push(h, hot{string(key), requests, node})
}
