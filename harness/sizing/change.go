package sizing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// Change tells what joining and leaving cost, for a node of the most common
// weight: how much of the hash space moves, in how many separate ranges, and how
// many other nodes take part.
type Change struct {
	Weight     float64 `json:"weight"`
	Moved      float64 `json:"moved"` // by a node that joins, in the mean
	MovedP5    float64 `json:"moved_p5"`
	MovedP95   float64 `json:"moved_p95"`
	Ranges     float64 `json:"ranges"` // in the mean
	Peers      float64 `json:"peers"`  // in the mean
	LeftMoved  float64 `json:"removed_moved"`
	LeftP5     float64 `json:"removed_moved_p5"`
	LeftP95    float64 `json:"removed_moved_p95"`
	LeftRanges float64 `json:"removed_ranges"`
	LeftPeers  float64 `json:"removed_peers"`
	Least      float64 `json:"least"`      // what has to move to a node that joins
	Collateral float64 `json:"collateral"` // part that moves between nodes that stay when one joins, in the mean
}

// change works out the cost of a change. The points of a node that joins fall on
// the arcs of the others; those on one arc move one range together.
func (s *solver) change(counts []int) *Change {
	node := s.commonest()
	p, total := float64(counts[node]), 0.0
	for _, n := range counts {
		total += float64(n)
	}
	joins := distuv.Beta{Alpha: p, Beta: total}
	leaves := distuv.Beta{Alpha: p, Beta: total - p}
	c := &Change{
		Weight: s.weights[node],
		Moved:  joins.Mean(), MovedP5: joins.Quantile(0.05), MovedP95: joins.Quantile(0.95),
		Ranges:    p * total / (total + p - 1),
		LeftMoved: leaves.Mean(), LeftP5: leaves.Quantile(0.05), LeftP95: leaves.Quantile(0.95),
		LeftRanges: p * (total - p) / (total - 1),
	}
	c.Least = s.weights[node] / (s.weights[node] + s.totalWeight())
	c.Peers = peers(counts, -1, c.Ranges)
	c.LeftPeers = peers(counts, node, c.LeftRanges)
	return c
}

func (s *solver) totalWeight() float64 {
	total := 0.0
	for _, w := range s.weights {
		total += w
	}
	return total
}

// Bounds of the work behind a change that is measured.
const (
	mostChanges  = 60
	leastChanges = 5
	changeBudget = 4_000_000 // points or slots in all
)

// changeMeasured is change for an algorithm in which the other nodes give away or
// take what they did not before: it has a node join, and one leave, over sets of
// random names.
func (s *solver) changeMeasured(v int) (*Change, error) {
	node := s.commonest()
	n := min(max(changeBudget/max(v, 1), leastChanges), mostChanges)
	joins, leaves := make([]changed, n), make([]changed, n)
	err := inParallel(n, func(i int) error {
		nodes := s.renamed(i)
		joining := algorithms.Node{Name: nodes[node].Name + "-new", Weight: s.weights[node]}
		var err error
		if joins[i], err = s.changed(v, nodes, func(p *harness.Placement) workloads.Change {
			return workloads.Change{Op: workloads.AddNode, Node: p.Announce(joining)}
		}); err != nil {
			return err
		}
		leaves[i], err = s.changed(v, nodes, func(*harness.Placement) workloads.Change {
			return workloads.Change{Op: workloads.RemoveNode, Node: node}
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &Change{Weight: s.weights[node], Least: s.weights[node] / (s.weights[node] + s.totalWeight())}
	c.Moved, c.MovedP5, c.MovedP95, c.Ranges, c.Peers, c.Collateral = summed(joins)
	c.LeftMoved, c.LeftP5, c.LeftP95, c.LeftRanges, c.LeftPeers, _ = summed(leaves)
	return c, nil
}

// A changed is what one change does.
type changed struct{ moved, collateral, ranges, peers float64 }

// changed applies the change to a placement of the nodes with the knob at v.
func (s *solver) changed(v int, nodes []algorithms.Node, change func(*harness.Placement) workloads.Change) (changed, error) {
	p, err := harness.NewPlacement(s.q.Info, nodes, s.with(v))
	if err != nil {
		return changed{}, err
	}
	c := change(p)
	before, ok := p.Cells()
	if !ok {
		return changed{}, errNoShares(s.q.Info.Name)
	}
	if err := p.Apply(c); err != nil {
		return changed{}, err
	}
	after, _ := p.Cells()
	flows := harness.Flows(before, after)
	what := changed{ranges: float64(harness.Ranges(flows))}
	peers := map[int]bool{}
	for _, f := range flows {
		what.moved += f.Share
		if f.From != c.Node && f.To != c.Node {
			what.collateral += f.Share
		}
		for _, i := range []int{f.From, f.To} {
			if i != c.Node {
				peers[i] = true
			}
		}
	}
	what.peers = float64(len(peers))
	return what, nil
}

// summed returns the means, and of what moved the ends of nine tenths.
func summed(all []changed) (moved, p5, p95, ranges, peers, collateral float64) {
	var each []float64
	n := float64(len(all))
	for _, c := range all {
		each = append(each, c.moved)
		moved += c.moved / n
		ranges += c.ranges / n
		peers += c.peers / n
		collateral += c.collateral / n
	}
	slices.Sort(each)
	return moved, stat.Quantile(0.05, stat.Empirical, each, nil), stat.Quantile(0.95, stat.Empirical, each, nil), ranges, peers, collateral
}

// peers returns over how many nodes so many ranges spread, in the mean.
func peers(counts []int, without int, ranges float64) float64 {
	total, sum := 0.0, 0.0
	for i, n := range counts {
		if i != without {
			total += float64(n)
		}
	}
	for i, n := range counts {
		if i != without {
			sum -= math.Expm1(ranges * math.Log1p(-float64(n)/total*(1-1e-15)))
		}
	}
	return sum
}

// commonest returns a node of the weight that most nodes have, the lightest of
// equals.
func (s *solver) commonest() int {
	have := map[float64]int{}
	for _, w := range s.weights {
		have[w]++
	}
	best := 0
	for i, w := range s.weights {
		b := s.weights[best]
		if cmp.Or(cmp.Compare(have[w], have[b]), cmp.Compare(b, w)) > 0 {
			best = i
		}
	}
	return best
}

// Bounds of the work behind quorum exposure.
const (
	exposureSteps = 4_000_000
	exposureRings = 50
)

// exposure returns the part of the sets of replicas/2+1 nodes whose joint loss
// takes the majority of the replicas of some range, in the mean over random
// rings. Nil when there are too many sets to tell.
func (s *solver) exposure(counts []int) *float64 {
	replicas, n := s.q.Replicas, len(counts)
	if _, ok := harness.QuorumSetsOf(n, replicas); !ok {
		return nil
	}
	total := 0
	for _, c := range counts {
		total += c
	}
	rings := min(max(exposureSteps/(total*replicas), 1), exposureRings)
	parts := make([]float64, rings)
	inParallel(rings, func(i int) error {
		parts[i] = exposedSets(shuffledOwners(counts, s.rand("exposure", i)), n, replicas).Part()
		return nil
	})
	part := stat.Mean(parts, nil)
	return &part
}

// shuffledOwners returns the owners of points in a random order.
func shuffledOwners(counts []int, r *rand.Rand) []int32 {
	var owner []int32
	for i, n := range counts {
		for range n {
			owner = append(owner, int32(i))
		}
	}
	r.Shuffle(len(owner), func(i, j int) { owner[i], owner[j] = owner[j], owner[i] })
	return owner
}

// exposedSets collects the sets of nodes that hold the majority of the replicas of
// some range, which are the distinct owners of the points from its end on. It
// walks the circle backwards, so that the replicas of the next range are known
// from those of the last: only its first owner can make a new set.
func exposedSets(owner []int32, nodes, replicas int) *harness.QuorumSets {
	sets := harness.NewQuorumSets(nodes, replicas)
	var holders []int32 // distinct, clockwise
	for k := 2*len(owner) - 1; k >= 0; k-- {
		first := owner[k%len(owner)]
		if at := slices.Index(holders, first); at >= 0 {
			holders = slices.Delete(holders, at, at+1)
		} else if len(holders) == replicas {
			holders = holders[:replicas-1]
		}
		holders = slices.Insert(holders, 0, first)
		if k < len(owner) && len(holders) == replicas { // the first round only finds the holders of the last point
			sets.AddLeading(holders)
		}
	}
	return sets
}
