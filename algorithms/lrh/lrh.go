// Package lrh is local rendezvous hashing: Y. Guan, "Local Rendezvous Hashing:
// Bounded Loads and Minimal Churn via Cache-Local Candidates" (2025, arXiv
// 2512.23434). A ring names the first C different nodes clockwise from a key, its
// candidates, and of those the one with the highest random weight for the key owns
// it.
//
// So a node takes the C-th part of the arcs of C nodes before each of its points,
// and its share spreads as on a ring with C times as many points: by a relative
// standard deviation of about 1/sqrt(v*C), 2.2% for the 256 points a node and 8
// candidates of the paper's benchmark.
//
// # What moves
//
// A node that joins or leaves shifts the candidates of the keys before its points. A
// key whose owner drops out of its candidates moves between two nodes that stay, and
// that happens to (C-1)/(C+1)/(n+1) of the keys when one joins n: with 8 candidates
// seven ninths of what moves to it. What the paper calls zero excess churn is about something else, a node
// that is down but remains on the ring: set its weight to 0, and only its own keys
// move, back too when the weight comes back.
//
// # Weights
//
// As in the paper a weight w counts in the draw among the candidates, by the score
// -w/ln(u) of package weightedrendezvous, and not in the number of points. With as
// many candidates as nodes the shares are as the weights; with fewer, the heavy nodes
// of a window compete with each other and end up a little short. A key all of whose
// candidates have weight 0 goes to the next node clockwise that has one.
//
// # Departures
//
// The paper finds the next different node by offsets stored beside the points, which
// tell runs of one node only; here each candidate is compared with those before it,
// so that the C are always different, and nothing is stored. The replicas of a key,
// of which the paper says nothing, are its candidates by score, and the nodes
// clockwise after them.
//
// # Cost
//
// A lookup finds its place on the ring and goes over C points, or somewhat more where
// a node comes twice; LookupProbes counts the candidates. The structure is that of
// package ring, 15 bytes a point, with 16 bytes a node. Add and Remove cost as there.
package lrh

import (
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/weightedrendezvous"
)

// Info is the contestant.
var Info = algorithms.Define("lrh", "Guan 2025, local rendezvous hashing, arXiv 2512.23434", Default, New).
	Costing("O(candidates)", "15 bytes a point, 16 a node").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits).Tuned("vnodes")

// Config sets the points of the nodes and the candidates of the keys.
type Config struct {
	// Candidates is the number of nodes that compete for a key, 1 to 32. With 1 it
	// is a ring.
	Candidates int `json:"candidates"`

	// VNodes is the number of points of a node, whatever it weighs. Label and
	// PointHash are those of package ring.
	VNodes    int    `json:"vnodes"`
	Label     string `json:"label"`
	PointHash string `json:"point_hash"`
}

// Default is that of the paper's benchmark.
var Default = Config{Candidates: 8, VNodes: 256, Label: ring.Default.Label, PointHash: ring.Default.PointHash}

// maxCandidates keeps the candidates of a key on the stack.
const maxCandidates = 1 << 5

func (c Config) ring() ring.Config {
	return ring.Config{VNodes: c.VNodes, Label: c.Label, PointHash: c.PointHash}
}

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 { return c.ring().Forecast(alike(nodes)) }

// alike returns the nodes with the weight 1, so that all have the same number of
// points.
func alike(nodes []algorithms.Node) []algorithms.Node {
	same := make([]algorithms.Node, len(nodes))
	for i, n := range nodes {
		n.Weight = 1
		same[i] = n
	}
	return same
}

// A Map gives a key to the best of its candidates on a ring.
type Map struct {
	ring       *ring.Map
	candidates int
	seeds      []uint64  // by bucket
	weights    []float64 // by bucket
	equal      bool      // all weights are the same, and not 0
	members    *algorithms.Members
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
	_ algorithms.Sharer     = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
)

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.Candidates < 1 || c.Candidates > maxCandidates {
		return nil, fmt.Errorf("candidates %d, want 1 to %d", c.Candidates, maxCandidates)
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := ring.New(alike(nodes), c.ring())
	if err != nil {
		return nil, err
	}
	m := &Map{ring: r, candidates: c.Candidates, members: members}
	for b, n := range members.All() {
		if err := weightedrendezvous.CheckWeight(n.Weight); err != nil {
			return nil, err
		}
		m.set(b, n)
	}
	m.compare()
	return m, nil
}

// set enters the seed and the weight of the node in bucket b.
func (m *Map) set(b algorithms.Bucket, n algorithms.Node) {
	for int(b) >= len(m.seeds) {
		m.seeds = append(m.seeds, 0)
		m.weights = append(m.weights, 0)
	}
	m.seeds[b], m.weights[b] = xxh3.HashString(n.Name), n.Weight
}

// compare finds out whether the weights are equal.
func (m *Map) compare() {
	m.equal = true
	first := 0.0
	for b, n := range m.members.All() {
		if first == 0 {
			first = m.weights[b]
		}
		m.equal = m.equal && n.Weight == first && first > 0
	}
}

// Lookup returns the candidate of h with the highest score.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	var window [maxCandidates]algorithms.Bucket
	candidates := window[:m.ring.Distinct(h, window[:m.candidates])]
	if !m.equal {
		return m.best(h, candidates)
	}
	// With equal weights the order of the draws is that of the costs. A draw takes 52
	// bits, so that the candidate's number fits below it.
	least := uint64(math.MaxUint64)
	for i, b := range candidates {
		least = min(least, uint64(weightedrendezvous.Draw(h, m.seeds[b]))<<5|uint64(i))
	}
	if len(candidates) == 0 {
		return algorithms.None
	}
	return candidates[least%maxCandidates]
}

// best returns the candidate with the least cost for h, and the next node clockwise
// where all of them have weight 0.
func (m *Map) best(h uint64, candidates []algorithms.Bucket) algorithms.Bucket {
	owner, least := algorithms.None, math.Inf(1)
	for _, b := range candidates {
		if c := m.cost(h, b); c < least {
			owner, least = b, c
		}
	}
	if owner == algorithms.None && len(candidates) > 0 {
		for b := range m.ring.Clockwise(h) {
			if m.weights[b] > 0 {
				return b
			}
		}
	}
	return owner
}

// cost returns what the node in bucket b takes part with for h: infinity for the
// weight 0.
func (m *Map) cost(h uint64, b algorithms.Bucket) float64 {
	if m.weights[b] == 0 {
		return math.Inf(1)
	}
	return weightedrendezvous.Cost(weightedrendezvous.Draw(h, m.seeds[b]), m.weights[b])
}

// LookupProbes is Lookup, with the number of candidates.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	b := m.Lookup(h)
	if b == algorithms.None {
		return b, 0
	}
	return b, min(m.candidates, m.Len())
}

// LookupN writes the candidates of h by score, and then the nodes that come after
// them clockwise. It costs C squared, and len(dst) squared for dst that is long.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	choice := m.members.Choose(dst)
	var window [maxCandidates]algorithms.Bucket
	candidates := window[:m.ring.Distinct(h, window[:m.candidates])]
	for len(candidates) > 0 && choice.More() {
		at := -1
		least := math.Inf(1)
		for i, b := range candidates {
			if c := m.cost(h, b); c < least {
				at, least = i, c
			}
		}
		if at < 0 {
			break
		}
		choice.Offer(candidates[at])
		candidates = append(candidates[:at], candidates[at+1:]...)
	}
	if choice.More() {
		for b := range m.ring.Clockwise(h) {
			if m.weights[b] > 0 && !choice.Offer(b) {
				break
			}
		}
	}
	return choice.Len()
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.ring = m.ring.Clone().(*ring.Map)
	c.seeds, c.weights = slices.Clone(m.seeds), slices.Clone(m.weights)
	c.members = m.members.Clone()
	return &c
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Footprint returns the bytes of the ring, the seeds and the weights.
func (m *Map) Footprint() int64 { return m.ring.Footprint() + int64(16*len(m.seeds)) }

// HotBytes returns the bytes of the ring that lookups read, and of the seeds.
func (m *Map) HotBytes() int64 { return m.ring.HotBytes() + int64(8*len(m.seeds)) }

// Add adds a node with its points.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if err := weightedrendezvous.CheckWeight(n.Weight); err != nil {
		return algorithms.None, err
	}
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	point := n
	point.Weight = 1
	if _, err := m.ring.Add(point); err != nil {
		m.members.Remove(b)
		return algorithms.None, err
	}
	m.set(b, n)
	m.compare()
	return b, nil
}

// Remove removes a node with its points.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	if err := m.ring.Remove(b); err != nil {
		return err
	}
	m.seeds, m.weights = m.seeds[:m.members.Cap()], m.weights[:m.members.Cap()]
	m.compare()
	return nil
}

// SetWeight sets the weight of a node, whose points stay where they are. Keys move
// only to the node or only away from it.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	if err := weightedrendezvous.CheckWeight(w); err != nil {
		return err
	}
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	m.weights[b] = w
	m.compare()
	return nil
}
