// Package multiprobe is multi-probe consistent hashing: B. Appleton and
// M. O'Reilly, "Multi-probe consistent hashing" (2015, arXiv 1505.00062), section 3.
// It spreads keys over a ring as evenly as many points a node would, with one: a
// key is hashed k times, and of the k places on the circle the one with the least
// way to go clockwise to a point decides.
//
// For many nodes the busiest owns k/(k-1) times its fair share, 1.05 with the 21
// probes of the paper. The shares as a whole are wider than that suggests, since
// nothing holds up the small ones: their relative standard deviation is
// 1/sqrt(2k-1), 15.6% with 21 probes, where a ring of 100 points a node has 10%.
//
// # Probes
//
// The paper leaves open how probes are drawn, and its authors' program takes
// h1 + i*h2 of two hashes. Three such probes hang together, and the shares stray
// from the paper's theory by several parts in a hundred, up to nine at 10 nodes. So
// the probes here are the hash of the key and what a linear congruential generator
// makes of it; Shares, which takes them as independent, then holds to within what
// 10 million keys show.
//
// # Departures
//
// A point on a probe is at distance 0, where the authors' program goes on to the
// next one; with 64 bits this is never seen. Of two points at the same distance,
// the earlier probe decides.
//
// # Cost
//
// k searches of the ring's cells, 1.2 cells each in the mean, and no dependence on n
// but for the caches: the searches do not wait for each other. LookupProbes counts
// the probes. The structure is that of package ring with twice the cells, 30 bytes a
// point: with as few cells as a ring has, a probe in 12 to 100 leaves the cells that
// are read without a branch, by how the points crowd, and a key has 21 probes. Add and
// Remove cost n and move the least possible; any node can leave. A weight sets the
// number of a node's points as on a ring, which needs more vnodes than 1 where
// weights are not whole. The paper knows no replicas.
package multiprobe

import (
	"fmt"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// Info is the contestant.
var Info = algorithms.Define("multiprobe", "Appleton, O'Reilly 2015, multi-probe consistent hashing, arXiv 1505.00062", Default, New).
	Costing("O(probes), 1.2 cells each in the mean", "30 bytes a point").
	Declining(algorithms.Balance).Tuned("probes")

// Config sets the points of the nodes and the probes of the keys.
type Config struct {
	// Probes is the number of places where a key is looked for, 1 to 2^20. With 1 it
	// is a ring.
	Probes int `json:"probes"`

	// VNodes, Label and PointHash are those of package ring.
	VNodes    int    `json:"vnodes"`
	Label     string `json:"label"`
	PointHash string `json:"point_hash"`
}

// Default is that of the paper: one point a node and 21 probes a key.
var Default = Config{Probes: 21, VNodes: 1, Label: ring.Default.Label, PointHash: ring.Default.PointHash}

func (c Config) ring() ring.Config {
	return ring.Config{VNodes: c.VNodes, Label: c.Label, PointHash: c.PointHash, Roomy: true}
}

// Step returns the number of probes that is nearest to probes.
func (c Config) Step(probes int) int { return min(max(probes, 1), mostProbes) }

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 { return c.ring().Forecast(nodes) }

// A Map gives a key to the node whose point is closest to one of its probes.
type Map struct {
	ring   *ring.Map
	probes int
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
	_ algorithms.Sharer     = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
)

// mostProbes is far more than balance gains by, and keeps a lookup that is asked
// for by mistake below a second.
const mostProbes = 1 << 20

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.Probes < 1 || c.Probes > mostProbes {
		return nil, fmt.Errorf("probes %d, a key has 1 to %d", c.Probes, mostProbes)
	}
	r, err := ring.New(nodes, c.ring())
	if err != nil {
		return nil, err
	}
	return &Map{ring: r, probes: c.Probes}, nil
}

// Lookup returns the node whose point is closest to one of the probes of h, the
// first of which is h itself.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	return m.ring.Closest(h, factor, step, m.probes)
}

// A probe is the one before times factor plus step. The factor is the one of 64 bits
// in table 6 of G. Steele and S. Vigna, "Computationally easy, spectrally good
// multipliers for congruential pseudorandom number generators", 2021; the step may
// be any odd number.
const (
	factor = 0xd1342543de82ef95
	step   = 0x9e3779b97f4a7c15
)

// LookupProbes is Lookup, with the number of probes.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	b := m.Lookup(h)
	if b == algorithms.None {
		return b, 0
	}
	return b, m.probes
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	return &Map{m.ring.Clone().(*ring.Map), m.probes}
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.ring.Len() }

// Footprint returns the bytes of the ring.
func (m *Map) Footprint() int64 { return m.ring.Footprint() }

// HotBytes returns the bytes of the ring that lookups read.
func (m *Map) HotBytes() int64 { return m.ring.HotBytes() }

// Add adds a node with its points, so keys move only to it.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) { return m.ring.Add(n) }

// Remove removes a node with its points, so only its own keys move.
func (m *Map) Remove(b algorithms.Bucket) error { return m.ring.Remove(b) }

// SetWeight gives a node the number of points that fits the new weight, so keys
// move only to the node or only away from it.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error { return m.ring.SetWeight(b, w) }
