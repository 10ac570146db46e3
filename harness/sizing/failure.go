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
	failures      = 2000
	failurePoints = 2_000_000
	rarelyHealthy = 0.002
)

// failure plays the death of a node over many rings of so many points a node:
// random ones, or those of random names where the hash is not as good. The
// population is that of the row.
func (s *solver) failure(v int, counts []int, p *population) (*Failure, error) {
	f := &Failure{Headroom: s.q.Headroom}
	capacity := make([]float64, len(s.fair))
	for i, fair := range s.fair {
		capacity[i] = (1 + s.q.Headroom) * fair
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	rings := min(max(failurePoints/total, 2), failures)
	ring := func(_ int, r *rand.Rand) (*circle, error) { return randomCircle(counts, capacity, r), nil }
	if s.names {
		rings = min(rings, failures/10)
		ring = func(i int, _ *rand.Rand) (*circle, error) { return s.namedCircle(i, v, capacity) }
	} else if f.Healthy = s.healthy(counts, p); f.Healthy < rarelyHealthy {
		return f, nil
	}
	deaths := min(failures, max(failurePoints*len(counts)/total, failures/10)) // one costs the points of a node
	each := (deaths + rings - 1) / rings
	lost := make([][]int, rings)
	err := inParallel(rings, func(i int) error {
		r := s.rand("failure", i)
		c, err := ring(i, r)
		if c == nil || err != nil {
			return err
		}
		for range each {
			lost[i] = append(lost[i], c.lost(r.IntN(len(counts)), capacity))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.names {
		for _, l := range lost {
			if l != nil {
				f.Healthy += 1 / float64(rings)
			}
		}
	}
	all := slices.Concat(lost...)
	slices.Sort(all)
	if f.Failures = len(all); f.Failures == 0 {
		return f, nil
	}
	sum, alone, none := 0, 0, 0
	for _, n := range all {
		sum += n
		if n == 1 {
			alone++
		}
		if n == len(counts) {
			none++
		}
	}
	n := float64(len(all))
	f.Mean, f.Median = float64(sum)/n, float64(all[len(all)/2])
	f.Survives, f.All = float64(alone)/n, float64(none)/n
	return f, nil
}

// healthy returns the part of the random rings on which no node is above its
// capacity. They are those of the row's population p, unless that is of keys.
func (s *solver) healthy(counts []int, p *population) float64 {
	if s.q.Keys == nil {
		return p.within(Peak, s.q.Headroom)
	}
	p, err := draw(s.draws(), func(i int) (harness.Spread, error) {
		shares := make([]float64, len(counts))
		dirichlet(counts, s.rand("model", i), shares)
		return harness.SpreadOf(shares, s.weights), nil
	})
	if err != nil {
		panic("sizing: " + err.Error()) // nothing in it fails
	}
	return p.within(Peak, s.q.Headroom)
}

// namedCircle returns the ring of the i-th set of random names, nil when a node is
// above its capacity.
func (s *solver) namedCircle(i, v int, capacity []float64) (*circle, error) {
	place, err := harness.NewPlacement(s.q.Info, s.renamed(i), s.with(v))
	if err != nil {
		return nil, err
	}
	cells, ok := place.Cells()
	if !ok {
		return nil, errNoShares(s.q.Info.Name)
	}
	if c := circleOf(cells, len(s.nodes)); !anyOverloaded(c.load, capacity) {
		return c, nil
	}
	return nil, nil
}

// A circle is the points of a ring in their order: who owns each, and how much of
// the hash space lies before it.
type circle struct {
	owner  []int32
	arc    []float64
	points []int32 // node by node
	start  []int32 // where in points each node begins
	load   []float64
	nodes  int // that have points

	// The state of a failure under way.
	next    []int32   // the point that has what this one had; itself while its node lives
	held    []float64 // what each point has
	now     []float64 // load
	dead    []bool
	touched []int32 // points whose next or held is not as at first
}

func newCircle(owner []int32, arc []float64, nodes int) *circle {
	c := &circle{
		owner: owner, arc: arc, held: slices.Clone(arc),
		points: make([]int32, len(owner)), next: make([]int32, len(owner)),
		start: make([]int32, nodes+1), load: make([]float64, nodes), dead: make([]bool, nodes),
	}
	for k, i := range owner {
		c.start[i+1]++
		c.load[i] += arc[k]
		c.next[k] = int32(k)
	}
	for i := range nodes {
		if c.start[i+1] > 0 {
			c.nodes++
		}
		c.start[i+1] += c.start[i]
	}
	free := slices.Clone(c.start)
	for k, i := range owner {
		c.points[free[i]] = int32(k)
		free[i]++
	}
	c.now = slices.Clone(c.load)
	return c
}

// of returns the points of a node.
func (c *circle) of(node int) []int32 { return c.points[c.start[node]:c.start[node+1]] }

// randomCircle draws a ring of so many points a node on which all nodes are
// within their capacity. First the shares are drawn until they are; then the
// share of a node is parted among its points; then the points are shuffled.
func randomCircle(counts []int, capacity []float64, r *rand.Rand) *circle {
	shares := make([]float64, len(counts))
	for {
		dirichlet(counts, r, shares)
		if !anyOverloaded(shares, capacity) {
			break
		}
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	owner, arc := make([]int32, 0, total), make([]float64, 0, total)
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

func anyOverloaded(load, capacity []float64) bool {
	for i := range load {
		if overloaded(load[i], capacity[i]) {
			return true
		}
	}
	return false
}

// overloaded forgives what rounding may add.
func overloaded(load, capacity float64) bool { return load > capacity*(1+1e-12) }

// lost returns how many nodes are dead in the end when the victim dies. Loads only
// grow on the way, so the end does not depend on the order of the deaths. It
// costs as many steps as the dead nodes have points.
func (c *circle) lost(victim int, capacity []float64) int {
	return c.fall([]int{victim}, capacity)
}

// fall is lost when several nodes die at first.
func (c *circle) fall(dying []int, capacity []float64) int {
	n := 0
	for len(dying) > 0 && n < c.nodes {
		d := dying[len(dying)-1]
		dying = dying[:len(dying)-1]
		if c.dead[d] {
			continue
		}
		c.dead[d] = true
		if n++; n == c.nodes {
			break
		}
		for _, k := range c.of(d) {
			c.next[k] = (k + 1) % int32(len(c.owner))
			c.touched = append(c.touched, k)
		}
		for _, k := range c.of(d) {
			to := c.live(k)
			i := c.owner[to]
			c.held[to] += c.held[k]
			c.now[i] += c.held[k]
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

// A Death is what follows the death of one node.
type Death struct {
	Load []float64 // of the nodes once it alone is dead, by index
	Lost int       // nodes that are dead in the end, itself included
}

// Deaths plays the death of each victim by itself on the ring of these cells, by the
// model of a [Failure], but that a node which is above its capacity at first dies
// along.
func Deaths(cells harness.Cells, victims []int, capacity []float64) []Death {
	c := circleOf(cells, len(capacity))
	deaths := make([]Death, len(victims))
	var over []int
	for i, load := range c.load {
		if overloaded(load, capacity[i]) {
			over = append(over, i)
		}
	}
	for k, victim := range victims {
		deaths[k] = Death{c.without(victim), c.fall(append([]int{victim}, over...), capacity)}
	}
	return deaths
}

// without returns the loads when a node is dead and no other.
func (c *circle) without(victim int) []float64 {
	load := slices.Clone(c.load)
	load[victim] = 0
	for _, k := range c.of(victim) {
		heir := k
		for c.owner[heir] == int32(victim) {
			if heir = (heir + 1) % int32(len(c.owner)); heir == k {
				return load // it was alone
			}
		}
		load[c.owner[heir]] += c.arc[k]
	}
	return load
}
