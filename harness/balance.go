package harness

import (
	"fmt"
	"math"

	"github.com/ringbench/ringbench/algorithms"
)

// Spread tells how evenly amounts lie over nodes, relative to the nodes'
// weights: an amount of twice the weight's fair part counts as 2.
type Spread struct {
	CV   float64 // standard deviation over mean, of the population of nodes
	Peak float64 // busiest node, 1 = fair
	Min  float64 // idlest node, 1 = fair
}

// SpreadOf judges the amounts (keys, requests, shares) that each node holds.
// Nodes of weight 0 are passed over. The result is NaN when nothing is held or
// nobody may hold it.
func SpreadOf(amounts, weights []float64) Spread {
	total, totalWeight, n := 0.0, 0.0, 0
	for i, w := range weights {
		total += amounts[i]
		totalWeight += w
		if w > 0 {
			n++
		}
	}
	s := Spread{CV: math.NaN(), Peak: math.NaN(), Min: math.NaN()}
	if n == 0 || total == 0 {
		return s
	}
	s.Peak, s.Min = 0, math.Inf(1)
	sum := 0.0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		x := amounts[i] / total / (w / totalWeight)
		s.Peak = max(s.Peak, x)
		s.Min = min(s.Min, x)
		sum += float64((x - 1) * (x - 1))
	}
	s.CV = math.Sqrt(sum / float64(n))
	return s
}

// Crowding returns the mean over the nodes of 1/f - 1, where f is the fair part that
// a node's weight asks for: n-1 for n equal nodes. Nodes of weight 0 are passed
// over. A perfect placement of K keys spreads by the root of Crowding/K, a ring of V
// random points by that of Crowding/(V+1).
func Crowding(weights []float64) float64 {
	total, sum, n := 0.0, 0.0, 0
	for _, w := range weights {
		total += w
	}
	for _, w := range weights {
		if w > 0 {
			sum += total/w - 1
			n++
		}
	}
	return sum / float64(n)
}

// leastShare is the least part of all weights that a node can have for its load to
// be judged: what it has over what is due to it is squared, and summed.
const leastShare = 1e-100

// CheckShares refuses nodes of which one has a weight, but so small a part of all
// weights that no figure of balance could hold what it has over what is due to it.
func CheckShares(nodes []algorithms.Node) error {
	total := 0.0
	for _, n := range nodes {
		total += n.Weight
	}
	for _, n := range nodes {
		if n.Weight > 0 && n.Weight/total < leastShare {
			return fmt.Errorf("node %q has weight %v of %v, too little to judge its share by: make it 0 or raise it", n.Name, n.Weight, total)
		}
	}
	return nil
}

// counts returns how many of the owners each node is, by index.
func counts(owners []int32, nodes int) []float64 {
	c := make([]float64, nodes)
	for _, o := range owners {
		if o >= 0 {
			c[o]++
		}
	}
	return c
}

// loads returns the part of the requests that each node receives, exactly: the
// sum of the probabilities of the keys it owns.
func loads(owners []int32, p func(rank int) float64, nodes int) []float64 {
	l := make([]float64, nodes)
	for rank, o := range owners {
		if o >= 0 {
			l[o] += p(rank)
		}
	}
	return l
}

// circleOf returns the cells of a small ring for drawing: where each cell ends,
// as a part of the circle, and which node owns it. It returns nil for a
// structure with more cells than an eye can tell apart.
func circleOf(p *Placement) (ends, nodes []float64) {
	const most = 200
	o, ok := p.Mapper.(algorithms.Owned)
	if !ok {
		return nil, nil
	}
	space, cells := o.Cells()
	for last, b := range cells {
		if len(ends) == most {
			return nil, nil
		}
		var w width
		w.add(last)
		ends = append(ends, w.of(space))
		nodes = append(nodes, float64(p.NodeOf(b)))
	}
	return ends, nodes
}
