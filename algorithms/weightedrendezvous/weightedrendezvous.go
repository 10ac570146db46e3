// Package weightedrendezvous is rendezvous hashing with weights, by the
// logarithmic method (Schindelhauer and Schomaker, "Weighted Distributed Hash
// Tables", SPAA 2005): the score of a node of weight w is -w/ln(u), where u is
// uniform in (0,1) and drawn from the hashes of key and node; the highest wins.
//
// As -ln(u)/w is exponential with rate w, a node owns exactly w/W of the keys.
// No weight is relative to the others: adding a node or raising its weight moves
// keys only to it, and multiplying all weights by one number moves nothing
// (within the rounding of w*c, that is one key in 10^15). The price is time: a
// lookup draws for all n nodes. The structure takes 20 bytes a node; Add, Remove
// and SetWeight cost n.
//
// # The draw
//
// The draw is x, the xor-multiply score of package rendezvous with one more
// step, since here not only the order of the scores counts but their size, and
// 1-u = (x>>12 + 1/2) / 2^52. That is exact in a float64, and u is never 0 or 1.
// With one bit more the largest would be rounded to 1, and there u = 0.
//
// # The logarithm
//
// A lookup minimises the cost -ln(u)/w. Since -ln(u) >= 1-u, a node whose
// (1-u)/w is no less than the least cost so far cannot win, and needs no
// logarithm; about ln(n) nodes do. Placement must be the same on every machine,
// while the library's Log is written in assembly for some; so negLog here is made
// of single float64 operations, each rounded by itself.
package weightedrendezvous

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// Info is the contestant.
var Info = algorithms.Define("weighted-rendezvous", "Schindelhauer, Schomaker 2005, logarithmic method", Default, New).
	Costing("O(n), and about ln(n) logarithms", "20 bytes a node")

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives a key to the node with the least cost for it.
type Map struct {
	// The nodes of positive weight in the order of their names, so that the
	// first of equal costs is the one with the least name.
	seeds   []uint64
	rates   []float64 // 2^-52 / w, what a unit of the draw costs at least
	buckets []algorithms.Bucket
	members *algorithms.Members
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{members: members}
	for i, n := range nodes {
		if err := CheckWeight(n.Weight); err != nil {
			return nil, err
		}
		if n.Weight > 0 {
			m.buckets = append(m.buckets, algorithms.Bucket(i))
		}
	}
	slices.SortFunc(m.buckets, func(a, b algorithms.Bucket) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) })
	for _, b := range m.buckets {
		m.seeds = append(m.seeds, xxh3.HashString(nodes[b].Name))
		m.rates = append(m.rates, ulp/nodes[b].Weight)
	}
	return m, nil
}

// The weights between which no cost can overflow or lose precision.
const minWeight, maxWeight = 1e-200, 1e200

// CheckWeight refuses a weight that is not 0 and that float64 cannot divide by
// without loss.
func CheckWeight(w float64) error {
	if w != 0 && (w < minWeight || w > maxWeight) {
		return algorithms.Unsupported("weight %g, it must be 0 or between %g and %g", w, minWeight, maxWeight)
	}
	return nil
}

// multiplier returns the odd number that all draws for h are multiplied by.
func multiplier(h uint64) uint64 { return bits.RotateLeft64(h, 32) | 1 }

// ulp is the spacing of the values that 1-u takes.
const ulp = 1.0 / (1 << 52)

// draw returns the draw of the node with that seed for h, 0 <= draw < 2^52. The
// last constant is odd and has no structure; it is the fractional part of the
// square root of 3.
func draw(h, seed, mul uint64) int64 {
	x := (h ^ seed) * mul
	x ^= x >> 32
	return int64(x * 0xbb67ae8584caa73b >> 12)
}

// cost returns -ln(u)/w for a draw, given ulp/w. It is at least draw*rate, in
// float64 as in truth.
func cost(draw int64, rate float64) float64 {
	return negLog((float64(draw)+0.5)*ulp) / ulp * rate
}

// Draw returns the draw of the node with that name for h, as a number of steps of
// 2^-52; the seed is the xxh3 hash of the name. It is for algorithms that let fewer
// nodes compete.
func Draw(h, seed uint64) int64 { return draw(h, seed, multiplier(h)) }

// Cost returns what a node of weight w > 0 takes part with, given its draw: the
// nodes compete for the least. It grows with the draw, up to rounding.
func Cost(draw int64, w float64) float64 { return cost(draw, ulp/w) }

// Lookup returns the bucket with the least cost for h.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	mul := multiplier(h)
	rates := m.rates[:len(m.seeds)]
	best, at := math.Inf(1), -1
	for i, seed := range m.seeds {
		d := draw(h, seed, mul)
		if float64(d)*rates[i] < best {
			if c := cost(d, rates[i]); c < best {
				best, at = c, i
			}
		}
	}
	if at < 0 {
		return algorithms.None
	}
	return m.buckets[at]
}

// LookupN writes the buckets with the least costs for h, least first. It costs
// n, and len(dst) squared for dst that is long. Where there are zones, the least
// of each come first, and it costs n for every one that it writes.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	top := dst[:min(len(dst), len(m.seeds))] // indices into seeds, until the end
	if len(top) == 0 {
		return 0
	}
	mul := multiplier(h)
	if c := m.members.Choose(dst); c.Zoned() {
		return algorithms.Ranked(c, m.buckets, func(i int) float64 { return -m.costOf(algorithms.Bucket(i), h, mul) })
	}
	found := 0
	most := math.Inf(1) // cost of top[found-1] once all are found
	for i, seed := range m.seeds {
		d := draw(h, seed, mul)
		if float64(d)*m.rates[i] >= most {
			continue
		}
		c := cost(d, m.rates[i])
		if found == len(top) {
			if c >= most {
				continue
			}
			found--
		}
		j := found
		for ; j > 0 && c < m.costOf(top[j-1], h, mul); j-- {
			top[j] = top[j-1]
		}
		top[j] = algorithms.Bucket(i)
		found++
		if found == len(top) {
			most = m.costOf(top[found-1], h, mul)
		}
	}
	for j, i := range top {
		top[j] = m.buckets[i]
	}
	return len(top)
}

// costOf returns the cost that the node at index i has for h.
func (m *Map) costOf(i algorithms.Bucket, h, mul uint64) float64 {
	return cost(draw(h, m.seeds[i], mul), m.rates[i])
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	return &Map{slices.Clone(m.seeds), slices.Clone(m.rates), slices.Clone(m.buckets), m.members.Clone()}
}

// Len returns the number of nodes, those of weight 0 included.
func (m *Map) Len() int { return m.members.Len() }

// Footprint returns the bytes of the seeds, rates and buckets.
func (m *Map) Footprint() int64 { return int64(len(m.seeds)) * (8 + 8 + 4) }

// HotBytes returns the bytes of seeds and weights, all of which a lookup reads in
// order.
func (m *Map) HotBytes() int64 { return int64(len(m.seeds)) * (8 + 8) }

// Add adds the node.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if err := CheckWeight(n.Weight); err != nil {
		return algorithms.None, err
	}
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	m.put(b, n)
	return b, nil
}

// Remove removes the node of the bucket.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	m.drop(b)
	return nil
}

// SetWeight sets the weight of the node of the bucket.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	if err := CheckWeight(w); err != nil {
		return err
	}
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	m.drop(b)
	n, _ := m.members.Node(b)
	m.put(b, n)
	return nil
}

// put enters the node in its place in the order of names, unless its weight is 0.
func (m *Map) put(b algorithms.Bucket, n algorithms.Node) {
	if n.Weight == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(m.buckets, n.Name, func(b algorithms.Bucket, name string) int {
		n, _ := m.members.Node(b)
		return cmp.Compare(n.Name, name)
	})
	m.seeds = slices.Insert(m.seeds, i, xxh3.HashString(n.Name))
	m.rates = slices.Insert(m.rates, i, ulp/n.Weight)
	m.buckets = slices.Insert(m.buckets, i, b)
}

// drop takes the node of the bucket out, if it is in.
func (m *Map) drop(b algorithms.Bucket) {
	if i := slices.Index(m.buckets, b); i >= 0 {
		m.seeds = slices.Delete(m.seeds, i, i+1)
		m.rates = slices.Delete(m.rates, i, i+1)
		m.buckets = slices.Delete(m.buckets, i, i+1)
	}
}
