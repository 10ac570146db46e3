package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// The measures of this file are about how evenly a scheme deals out.

// pooled is a quantile of the shares of all nodes in the draws, 1 being fair.
func (c cluster) pooled(q float64, draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, the %gth percentile of the exact shares of all nodes, %d placements", c.text(), 100*q, draws),
		take: func(l *lab) (estimate, error) {
			shares, err := l.shares(c, l.draws(draws))
			if err != nil {
				return estimate{}, err
			}
			return quantile(slices.Concat(shares...), q), nil
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
				slices.SortFunc(order, func(a, b int) int { return cmp.Compare(widths[b], widths[a]) })
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
			if err != nil {
				return estimate{}, err
			}
			return mean(found), nil
		},
	}
}

// counted is the busiest node, 1 being fair, of so many keys that are counted. They are
// too many to be looked up: the shares are exact, and what counting adds to each is
// drawn.
func (c cluster) counted(keys, draws int) measure {
	return measure{
		setup: fmt.Sprintf("%s, the busiest by exact shares and the noise of counting %s keys, %d placements", c.text(), thousands(keys), draws),
		take: func(l *lab) (estimate, error) {
			shares, err := l.shares(c, l.draws(draws))
			if err != nil {
				return estimate{}, err
			}
			var peaks []float64
			for draw, nodes := range shares {
				r := l.rand("counted", c.text(), strconv.Itoa(draw))
				peak := 0.0
				for _, s := range nodes {
					noise := distuv.UnitNormal.Quantile((float64(r.Uint64()>>11) + 0.5) * 0x1p-53)
					peak = max(peak, s+float64(noise*math.Sqrt(s*float64(c.nodes)/float64(keys))))
				}
				peaks = append(peaks, peak)
			}
			return mean(peaks), nil
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
			for _, x := range workloads.Hashes(mustKeys(keys), h.For(p.Mapper).Sum) {
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
