package claims

import (
	"fmt"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// The measures of this file are about what a change of the membership moves.

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
			if err != nil {
				return estimate{}, err
			}
			return mean(found), nil
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
