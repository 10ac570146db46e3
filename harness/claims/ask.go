package claims

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// The measures of this file ask a placement what no cell of a run tells.

// pooled is a quantile of the shares of all nodes in the draws, 1 being fair.
func (c cluster) pooled(q float64, draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, the %gth percentile of the exact shares of all nodes, %d placements", c.text(), 100*q, draws),
		take: func(l *lab) (estimate, error) {
			shares, err := l.shares(c, l.draws(draws))
			return quantile(slices.Concat(shares...), q), err
		},
	}
}

// spread is the standard deviation over mean of the shares, the root of the mean of
// its square over the draws. It asks the same placements as pooled.
func (c cluster) spread(draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, exact shares, %d placements, root mean square", c.text(), draws),
		take: func(l *lab) (estimate, error) {
			shares, err := l.shares(c, l.draws(draws))
			if err != nil {
				return estimate{}, err
			}
			var cvs []float64
			for _, s := range shares {
				cvs = append(cvs, harness.SpreadOf(s, slices.Repeat([]float64{1}, len(s))).CV)
			}
			return rms(cvs), nil
		},
	}
}

// worse is how often a ring has a busier node with v+1 points a node than with v.
func worse(nodes, v, draws int) measure {
	at := func(v int) cell {
		return cell{alg: "ring", params: params{"vnodes": v}, nodes: nodes, measure: "shares", draws: draws, pair: "extra point"}
	}
	return measure{
		setup: fmt.Sprintf("%s, and one point more, the others staying: how often the busiest node grows", at(v).text()),
		take: func(l *lab) (estimate, error) {
			few, err := l.values(at(v), "share-peak")
			if err != nil {
				return estimate{}, err
			}
			more, err := l.values(at(v+1), "share-peak")
			if err != nil {
				return estimate{}, err
			}
			hits := make([]float64, len(few))
			for i := range few {
				if more[i] > few[i] {
					hits[i] = 1
				}
			}
			return mean(hits), nil
		},
	}
}

// quotient is how many times the root mean square of a metric in one cell is that
// in another.
func quotient(a, b cell, metric string) measure {
	return measure{
		setup: a.text() + ", by the same of " + b.text(),
		take: func(l *lab) (estimate, error) {
			va, err := l.values(a, metric)
			if err != nil {
				return estimate{}, err
			}
			vb, err := l.values(b, metric)
			if err != nil {
				return estimate{}, err
			}
			return rms(va).over(rms(vb)), nil
		},
	}
}

// probes is the mean number of steps of a lookup, in the unit of the algorithm.
func (c cluster) probes(keys int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %s keys", c.text(), thousands(keys)),
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			m, ok := p.Mapper.(algorithms.Prober)
			if !ok {
				return estimate{}, fmt.Errorf("%s does not count its steps", c.alg)
			}
			steps := make([]float64, l.draws(keys))
			for i, h := range l.hashes(len(steps), "probes", c.text()) {
				_, n := m.LookupProbes(h)
				steps[i] = float64(n)
			}
			return mean(steps), nil
		},
	}
}

// moved is the part of the keys that a change moves, by owners of random hashes.
func (c cluster) moved(what string, keys int, change ...workloads.Change) measure {
	return c.movement(what, keys, func(m harness.Movement) float64 { return m.Moved }, change...)
}

// collateral is the part of them that moves between two nodes that stay.
func (c cluster) collateral(what string, keys int, change ...workloads.Change) measure {
	return c.movement(what+", between nodes that stay", keys, func(m harness.Movement) float64 { return m.Collateral }, change...)
}

func (c cluster) movement(what string, keys int, of func(harness.Movement) float64, change ...workloads.Change) measure {
	return measure{
		setup: fmt.Sprintf("%s, %s, %s keys", c.text(), what, thousands(keys)),
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			m, err := l.change(p, l.hashes(l.draws(keys), "moved", c.text()), change)
			return proportion(of(m), float64(l.draws(keys))), err
		},
	}
}

// change carries the change out and compares the owners of the hashes.
func (l *lab) change(p *harness.Placement, hs []uint64, change []workloads.Change) (harness.Movement, error) {
	look := func() harness.View {
		v := harness.View{Owners: make([]int32, len(hs))}
		p.Owners(hs, v.Owners)
		v.Weights, v.Total = p.Weights()
		return v
	}
	before := look()
	for _, c := range change {
		if c.Op == workloads.AddNode {
			c.Node = p.Announce(algorithms.Node{Name: l.name(0, len(p.Nodes)), Weight: 1})
		}
		if err := p.Apply(c); err != nil {
			return harness.Movement{}, err
		}
	}
	return harness.Moved(before, look(), nil), nil
}

// grown is the change by which the cluster grows by k nodes.
func grown(k int) []workloads.Change {
	return slices.Repeat([]workloads.Change{{Op: workloads.AddNode}}, k)
}

// left is the change by which the node of an index leaves.
func left(i int) workloads.Change { return workloads.Change{Op: workloads.RemoveNode, Node: i} }

// positions is the part of a ring that moves when the node of an index leaves n whose
// points are named by their places in the list.
func positions(n, index, draws int) measure {
	c := cluster{alg: "ring", nodes: n}
	return measure{
		setup: fmt.Sprintf("%s known by their places, number %d leaves, exact shares, %d placements", c.text(), index+1, draws),
		take: func(l *lab) (estimate, error) {
			found, err := each(l, l.draws(draws), func(draw int) (float64, error) {
				var cells [2]harness.Cells
				for i, c := range []cluster{c, {alg: c.alg, nodes: n - 1}} {
					p, err := l.build(c, draw)
					if err != nil {
						return 0, err
					}
					cells[i], _ = p.Cells()
				}
				for i, place := range cells[1].Node {
					if int(place) >= index {
						cells[1].Node[i]++ // who stands there now
					}
				}
				moved := 0.0
				for _, f := range harness.Flows(cells[0], cells[1]) {
					moved += f.Share
				}
				return moved, nil
			})
			return mean(found), err
		},
	}
}

// empty is how many of n nodes get none of the keys under a hash.
func empty(alg string, nodes int, hash, keys string) measure {
	return measure{
		setup: fmt.Sprintf("%s, %d nodes, the keys %s hashed by %s: nodes without a key", alg, nodes, keys, hash),
		exact: true,
		take: func(l *lab) (estimate, error) {
			h, err := keyhash.ByName(hash)
			if err != nil {
				return estimate{}, err
			}
			p, err := l.build(cluster{alg: alg, nodes: nodes}, 0)
			if err != nil {
				return estimate{}, err
			}
			owned := make([]bool, nodes)
			for _, x := range workloads.Hashes(mustKeys(keys), h.Sum) {
				owned[p.NodeOf(p.Mapper.Lookup(x))] = true
			}
			n := 0.0
			for _, o := range owned {
				if !o {
					n++
				}
			}
			return known(n), nil
		},
	}
}

// part is the part of random hashes that a node of the first placement owns.
func (c cluster) part(node, keys int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %s keys, the part of node %d", c.text(), thousands(keys), node+1),
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			hs := l.hashes(l.draws(keys), "part", c.text())
			owners := make([]int32, len(hs))
			p.Owners(hs, owners)
			n := 0.0
			for _, o := range owners {
				if int(o) == node {
					n++
				}
			}
			return proportion(n/float64(len(hs)), float64(len(hs))), nil
		},
	}
}

// scaledWeights is the part of the keys that move when all weights are multiplied.
func (c cluster) scaledWeights(factor float64, keys int) measure {
	return measure{
		setup: fmt.Sprintf("%s, all multiplied by %g, %s keys", c.text(), factor, thousands(keys)),
		exact: true,
		take: func(l *lab) (estimate, error) {
			scaled := c
			scaled.weights = make([]float64, len(c.weights))
			for i, w := range c.weights {
				scaled.weights[i] = w * factor
			}
			hs := l.hashes(l.draws(keys), "scaled", c.text())
			var owners [2][]int32
			for i, c := range []cluster{c, scaled} {
				p, err := l.build(c, 0)
				if err != nil {
					return estimate{}, err
				}
				owners[i] = make([]int32, len(hs))
				p.Owners(hs, owners[i])
			}
			moved := 0.0
			for i, o := range owners[0] {
				if o != owners[1][i] {
					moved++
				}
			}
			return known(moved / float64(len(hs))), nil
		},
	}
}

// uneven is the number of nodes whose slots of a table are not floor(M/n) or
// ceil(M/n), in all draws.
func (c cluster) uneven(size, draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %d placements: nodes with another number of slots", c.text(), draws),
		exact: true,
		take: func(l *lab) (estimate, error) {
			shares, err := l.shares(c, l.draws(draws))
			wrong := 0.0
			for _, s := range slices.Concat(shares...) {
				slots := math.Round(s * float64(size) / float64(c.nodes))
				if slots != math.Floor(float64(size)/float64(c.nodes)) && slots != math.Ceil(float64(size)/float64(c.nodes)) {
					wrong++
				}
			}
			return known(wrong), err
		},
	}
}

// turns is how many slots of the tables of a worked example are not as its source
// prints them: of three nodes, and when the second is gone.
func turns(size int, offsets, skips []uint64, all, withoutSecond []algorithms.Bucket) measure {
	return measure{
		setup: fmt.Sprintf("maglev over %d slots, three nodes with offsets %v and skips %v: slots that differ", size, offsets, skips),
		exact: true,
		take: func(*lab) (estimate, error) {
			nodes := algorithms.Nodes("B0", "B1", "B2")
			prefer := func(name string) (offset, skip uint64) {
				i := name[1] - '0'
				return offsets[i], skips[i] - 1
			}
			m, err := maglev.NewPreferring(nodes, size, prefer)
			if err != nil {
				return estimate{}, err
			}
			wrong := 0.0
			compare := func(want []algorithms.Bucket) {
				for slot, b := range want {
					if m.Lookup(uint64(slot)) != b {
						wrong++
					}
				}
			}
			compare(all)
			if err := m.Remove(1); err != nil {
				return estimate{}, err
			}
			compare(withoutSecond)
			return known(wrong), nil
		},
	}
}

// shared is how many points of a ring stand where another does.
func shared(alg string, names []string, p params) measure {
	return measure{
		setup: fmt.Sprintf("%s over %s to %s", cell{alg: alg, params: p, nodes: len(names), measure: "shares"}.text(), names[0], names[len(names)-1]),
		exact: true,
		take: func(l *lab) (estimate, error) {
			place, err := l.place(alg, algorithms.Nodes(names...), p)
			if err != nil {
				return estimate{}, err
			}
			m, ok := place.Mapper.(interface{ PointCollisions() int })
			if !ok {
				return estimate{}, fmt.Errorf("%s does not count its points", alg)
			}
			return known(float64(m.PointCollisions())), nil
		},
	}
}

func (l *lab) place(alg string, nodes []algorithms.Node, p params) (*harness.Placement, error) {
	info, ok := l.infos[alg]
	if !ok {
		return nil, fmt.Errorf("there is no algorithm %q, leave the claim out with --only", alg)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return harness.NewPlacement(info, nodes, text)
}

// ids is how many of the raw numbers from..to-1 change their node when n nodes
// become m: numbers that nobody hashes, as in a lesson.
func ids(alg string, n, m, from, to int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %d nodes become %d, the numbers %d to %d as they are", alg, n, m, from, to-1),
		exact: true,
		take: func(l *lab) (estimate, error) {
			p, err := l.build(cluster{alg: alg, nodes: n}, 0)
			if err != nil {
				return estimate{}, err
			}
			var hs []uint64
			for id := from; id < to; id++ {
				hs = append(hs, uint64(id))
			}
			moved, err := l.change(p, hs, grown(m-n))
			return known(math.Round(moved.Moved * float64(len(hs)))), err
		},
	}
}

// A lesson is a ring drawn by hand: where its points are, who joins or leaves, and
// who owns which key before and after.
type lesson struct {
	points  []point
	modulus uint64
	joins   string
	leaves  string
	before  map[uint64]string
	after   map[uint64]string
	moved   [2]uint64 // the only positions that change hands, from and to; 0, 0 when nothing is said
}

type point struct {
	at   uint64
	node string
}

// wrong counts the statements of the lesson that a ring does not bear out: owners
// before and after, and whether any position outside of moved changes hands, or one
// inside does not.
func (x lesson) wrong() measure {
	setup := fmt.Sprintf("ring with points %s on a circle of %d", pointsText(x.points), x.modulus)
	if x.joins != "" {
		setup += ", " + x.joins + " joins"
	}
	if x.leaves != "" {
		setup += ", " + x.leaves + " leaves"
	}
	return measure{setup: setup + ": statements that do not hold", exact: true, take: x.check}
}

func pointsText(ps []point) string {
	text := ""
	for i, p := range ps {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", p.node, p.at)
	}
	return text
}

func (x lesson) check(l *lab) (estimate, error) {
	var listed []map[string]any
	var nodes []algorithms.Node
	for _, p := range x.points {
		listed = append(listed, map[string]any{"position": p.at, "node": p.node})
		if p.node != x.joins {
			nodes = append(nodes, algorithms.Node{Name: p.node, Weight: 1})
		}
	}
	p, err := l.place("ring", nodes, params{"points": listed, "modulus": x.modulus, "vnodes": 1})
	if err != nil {
		return estimate{}, err
	}
	wrong := 0.0
	owner := func(at uint64) string { return p.Nodes[p.NodeOf(p.Mapper.Lookup(at))].Name }
	look := func(want map[uint64]string) (all []string) {
		for at, node := range want {
			if owner(at) != node {
				wrong++
			}
		}
		for at := range x.modulus {
			all = append(all, owner(at))
		}
		return all
	}
	before := look(x.before)
	switch {
	case x.joins != "":
		err = p.Apply(workloads.Change{Op: workloads.AddNode, Node: p.Announce(algorithms.Node{Name: x.joins, Weight: 1})})
	case x.leaves != "":
		err = p.Apply(left(slices.IndexFunc(nodes, func(n algorithms.Node) bool { return n.Name == x.leaves })))
	}
	if err != nil {
		return estimate{}, err
	}
	after := look(x.after)
	for at := range before {
		inside := uint64(at) >= x.moved[0] && uint64(at) <= x.moved[1] && x.moved[1] > 0
		if (before[at] != after[at]) != inside {
			wrong++
		}
	}
	return known(wrong), nil
}

// ownPoints is the part of the points of a ring on which a key belongs to the
// point's own node, and the position after it to the next one's.
func (c cluster) ownPoints() measure {
	return measure{
		setup: c.text() + ", a key on every point",
		exact: true,
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			cells, ok := p.Cells()
			if !ok {
				return estimate{}, fmt.Errorf("%s does not list its cells", c.alg)
			}
			right := 0
			for i, at := range cells.Last {
				next := cells.Node[(i+1)%len(cells.Node)]
				if p.NodeOf(p.Mapper.Lookup(at)) == int(cells.Node[i]) && p.NodeOf(p.Mapper.Lookup(at+1)) == int(next) {
					right++
				}
			}
			return known(float64(right) / float64(len(cells.Last))), nil
		},
	}
}

// popular is the part of the requests for the most popular of n keys.
func popular(popularity string, n int) measure {
	return measure{
		setup: fmt.Sprintf("%s over %s keys, the most popular one", popularity, thousands(n)),
		exact: true,
		take: func(*lab) (estimate, error) {
			p, err := workloads.ParsePopularity(popularity, n, nil)
			if err != nil {
				return estimate{}, err
			}
			top := 0.0
			for rank := range n {
				top = max(top, p.P(rank))
			}
			return known(top), nil
		},
	}
}

// missing is the misses a second so long after a change, or with seconds below 0
// the misses in all. The keys are what is random in modulo, the ring on a ring.
func (c cell) missing(seconds float64) measure {
	what := "misses in all"
	if seconds >= 0 {
		what = fmt.Sprintf("misses a second after %g s", seconds)
	}
	return measure{
		setup: c.text() + ", 50,000 requests a second: " + what,
		take: func(l *lab) (estimate, error) {
			trials, err := l.run(c)
			if err != nil {
				return estimate{}, err
			}
			vs := make([]float64, len(trials))
			for i, t := range trials {
				vs[i] = t.Values["miss-total"]
				if seconds >= 0 {
					at := slices.Index(t.Series["miss_seconds"], seconds)
					vs[i] = t.Series["misses"][at]
				}
			}
			e := mean(vs)
			if len(vs) > 1 {
				return e, nil
			}
			// Each key misses or does not, with one chance for all.
			keys := mustKeys(c.keys).Len()
			p, err := workloads.ParsePopularity(c.requests, keys, nil)
			if err != nil {
				return e, err
			}
			chance := trials[0].Values["miss-total"] / float64(keys)
			square := 0.0
			for rank := range keys {
				x := 1.0
				if seconds >= 0 {
					rate := p.P(rank) * 50_000
					x = rate * math.Exp(-float64(rate*seconds))
				}
				square += float64(x * x)
			}
			e.err = math.Sqrt(square * chance * (1 - chance))
			return e, nil
		},
	}
}

// firstSecond is the part of all misses that come within the first second, between
// what the rates at its two ends allow.
func (c cell) firstSecond() measure {
	return measure{
		setup: c.text() + ", 50,000 requests a second: the part of the misses in the first second",
		take: func(l *lab) (estimate, error) {
			trials, err := l.run(c)
			if err != nil {
				return estimate{}, err
			}
			t := trials[0]
			rates := t.Series["misses"]
			at := slices.Index(t.Series["miss_seconds"], 1)
			middle := (rates[0] + rates[at]) / 2 / t.Values["miss-total"]
			spread := (rates[0] - rates[at]) / 2 / t.Values["miss-total"]
			return estimate{value: middle, err: spread / errorsAllowed, low: middle - spread, high: middle + spread, least: middle, most: middle}, nil
		},
	}
}

// busiest is how much the nodes own that have the tenth of the widest gaps, 1 being
// fair: all of them own nearly the same under multi-probe, and a tenth of the keys
// tells it far better than those of one node do.
func (c cluster) busiest(keys, draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %s keys, the tenth of the nodes with the widest gaps, %d placements", c.text(), thousands(keys), draws),
		take: func(l *lab) (estimate, error) {
			found, err := each(l, l.draws(draws), func(draw int) (float64, error) {
				p, err := l.build(c, draw)
				if err != nil {
					return 0, err
				}
				gaps, err := l.build(cluster{alg: "ring", params: params{"vnodes": 1}, nodes: c.nodes}, draw)
				if err != nil {
					return 0, err
				}
				widths, _ := gaps.Shares()
				order := make([]int, c.nodes)
				for i := range order {
					order[i] = i
				}
				slices.SortFunc(order, func(a, b int) int { return compareDown(widths[a], widths[b]) })
				wide := make([]bool, c.nodes)
				for _, i := range order[:c.nodes/10] {
					wide[i] = true
				}
				hits := 0
				for _, h := range l.hashes(keys, "busiest", c.text(), strconv.Itoa(draw)) {
					if wide[p.NodeOf(p.Mapper.Lookup(h))] {
						hits++
					}
				}
				return float64(hits) / float64(keys) * float64(c.nodes) / float64(c.nodes/10), nil
			})
			return mean(found), err
		},
	}
}

func compareDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// underlying is the spread of the shares behind counts of keys: what the counts
// show, less what so few keys add by chance.
func (c cell) underlying() measure {
	return measure{
		setup: c.text() + ", less what chance adds to the counts",
		take: func(l *lab) (estimate, error) {
			vs, err := l.values(c, "balance-cv")
			if err != nil {
				return estimate{}, err
			}
			noise := float64(c.nodes-1) / float64(mustKeys(c.keys).Len())
			for i, v := range vs {
				vs[i] = v*v - noise
			}
			return mean(vs).root(), nil
		},
	}
}

// A naive is rendezvous hashing with the score w*u that people write who do not know
// better. It is here to be refuted.
type naive struct {
	names   []uint64
	weights []float64
}

var naiveInfo = algorithms.Define("naive-weighted-rendezvous", "folklore", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*naive, error) {
	hash, err := keyhash.ByName(keyhash.Default)
	m := &naive{}
	for _, n := range nodes {
		m.names = append(m.names, hash.Sum(n.Name))
		m.weights = append(m.weights, n.Weight)
	}
	return m, err
}).Declining(algorithms.Balance)

// Lookup returns the node with the highest w*u.
func (m *naive) Lookup(h uint64) algorithms.Bucket {
	best, owner := -1.0, algorithms.None
	for i, name := range m.names {
		hi, lo := bits.Mul64(h^name, 0x9e3779b97f4a7c15)
		u := float64((hi^lo)*0xd1342543de82ef95>>11) * 0x1p-53
		if score := u * m.weights[i]; score > best {
			best, owner = score, algorithms.Bucket(i)
		}
	}
	return owner
}

// Len returns the number of nodes.
func (m *naive) Len() int { return len(m.names) }
