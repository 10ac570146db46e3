package sizing

import (
	"math/rand/v2"
	"slices"

	"github.com/ringbench/ringbench/harness"
)

// Failure tells what follows when one node dies, any with equal chance. The model
// is a fluid one: a node's load is its share of the hash space, its capacity is
// 1 + headroom times its fair share, and all nodes are within it at first. What
// the dead node had goes to the next live point clockwise; a node that comes
// above its capacity dies too, until all that live can bear what they have.
type Failure struct {
	Headroom float64 `json:"headroom"`
	Healthy  float64 `json:"healthy"`     // part of the clusters that are within capacity at first
	Survives float64 `json:"survives"`    // part of those in which no second node dies
	Mean     float64 `json:"lost_mean"`   // nodes lost in the end
	Median   float64 `json:"lost_median"` // the same
	All      float64 `json:"loses_all"`   // part in which every node dies
	Failures int     `json:"failures"`    // deaths behind these figures, 0 when hardly any cluster is healthy
}

// Bounds of the work behind a Failure.
const (
	failures      = 4000
	failurePoints = 8_000_000
	rarelyHealthy = 0.002
)

// failure plays the death of a node over random rings of so many points a node.
func (s *solver) failure(counts []int) *Failure {
	f := &Failure{Headroom: s.q.Headroom}
	capacity := make([]float64, len(s.fair))
	for i, fair := range s.fair {
		capacity[i] = (1 + s.q.Headroom) * fair
	}
	f.Healthy = s.healthy(counts)
	if f.Healthy < rarelyHealthy {
		return f
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	rings := min(max(failurePoints/total, 8), failures)
	each := (failures + rings - 1) / rings
	lost := make([][]int, rings)
	inParallel(rings, func(i int) error {
		r := s.rand("failure", i)
		c := randomCircle(counts, capacity, r)
		for range each {
			lost[i] = append(lost[i], c.lost(r.IntN(len(counts)), capacity))
		}
		return nil
	})
	all := slices.Concat(lost...)
	slices.Sort(all)
	f.Failures = len(all)
	for _, n := range all {
		f.Mean += float64(n) / float64(len(all))
		if n == 1 {
			f.Survives += 1 / float64(len(all))
		}
		if n == len(counts) {
			f.All += 1 / float64(len(all))
		}
	}
	f.Median = float64(all[len(all)/2])
	return f
}

// healthy returns the part of the random rings on which no node is above its
// capacity.
func (s *solver) healthy(counts []int) float64 {
	p, err := draw(drawsFor(len(counts)), func(i int) (harness.Spread, error) {
		shares := make([]float64, len(counts))
		dirichlet(counts, s.rand("model", i), shares)
		return harness.SpreadOf(shares, s.weights), nil
	})
	if err != nil {
		panic("sizing: " + err.Error()) // nothing in it fails
	}
	return p.within(Peak, s.q.Headroom)
}

// A circle is the points of a ring in their order: who owns each, and how much of
// the hash space lies before it.
type circle struct {
	owner  []int32
	arc    []float64
	points [][]int32 // of each node
	load   []float64 // of each node

	// The state of a failure under way.
	next    []int32 // the point that has what this one had; itself while its node lives
	held    []float64
	now     []float64 // load
	dead    []bool
	touched []int32 // points whose next or held is not as at first
}

func newCircle(owner []int32, arc []float64, nodes int) *circle {
	c := &circle{owner: owner, arc: arc, points: make([][]int32, nodes), load: make([]float64, nodes)}
	c.next = make([]int32, len(owner))
	for k, i := range owner {
		c.points[i] = append(c.points[i], int32(k))
		c.load[i] += arc[k]
		c.next[k] = int32(k)
	}
	c.held = slices.Clone(arc)
	c.now = slices.Clone(c.load)
	c.dead = make([]bool, nodes)
	return c
}

// randomCircle draws a ring of so many points a node on which all nodes are
// within their capacity. First the shares are drawn until they are; then the
// share of a node is parted among its points; then the points are shuffled.
func randomCircle(counts []int, capacity []float64, r *rand.Rand) *circle {
	shares := make([]float64, len(counts))
	for {
		dirichlet(counts, r, shares)
		if !slices.ContainsFunc(overloads(shares, capacity), func(over bool) bool { return over }) {
			break
		}
	}
	var owner []int32
	var arc []float64
	for i, n := range counts {
		first, sum := len(arc), 0.0
		for range n {
			x := r.ExpFloat64()
			owner, arc = append(owner, int32(i)), append(arc, x)
			sum += x
		}
		for k := first; k < len(arc); k++ {
			arc[k] *= shares[i] / sum
		}
	}
	r.Shuffle(len(arc), func(i, j int) {
		owner[i], owner[j] = owner[j], owner[i]
		arc[i], arc[j] = arc[j], arc[i]
	})
	return newCircle(owner, arc, len(counts))
}

func overloads(load, capacity []float64) []bool {
	over := make([]bool, len(load))
	for i := range load {
		over[i] = overloaded(load[i], capacity[i])
	}
	return over
}

// overloaded forgives what rounding may add.
func overloaded(load, capacity float64) bool { return load > capacity*(1+1e-12) }

// lost returns how many nodes are dead in the end when the victim dies. Loads only
// grow on the way, so the end does not depend on the order of the deaths. It
// costs as many steps as the dead nodes have points.
func (c *circle) lost(victim int, capacity []float64) int {
	dying := []int{victim}
	n := 0
	for len(dying) > 0 && n < len(c.points) {
		d := dying[len(dying)-1]
		dying = dying[:len(dying)-1]
		if c.dead[d] {
			continue
		}
		c.dead[d] = true
		if n++; n == len(c.points) {
			break
		}
		for _, k := range c.points[d] {
			c.next[k] = (k + 1) % int32(len(c.owner))
			c.touched = append(c.touched, k)
		}
		for _, k := range c.points[d] {
			to := c.live(k)
			i := c.owner[to]
			c.held[to] += c.held[k]
			c.now[i] += c.held[k]
			c.held[k] = 0
			c.touched = append(c.touched, to)
			if overloaded(c.now[i], capacity[i]) {
				dying = append(dying, int(i))
			}
		}
	}
	for _, k := range c.touched {
		c.next[k], c.held[k] = k, c.arc[k]
	}
	c.touched = c.touched[:0]
	copy(c.now, c.load)
	clear(c.dead)
	return n
}

// live returns the next point of a live node, and shortens the way there.
func (c *circle) live(k int32) int32 {
	end := k
	for c.next[end] != end {
		end = c.next[end]
	}
	for c.next[k] != end && k != end {
		k, c.next[k] = c.next[k], end
	}
	return end
}
