// Package boundedring is consistent hashing with bounded loads: a request goes to
// the first node clockwise on the ring that still has room. Package bound says
// how much that is.
//
// Source: V. Mirrokni, M. Thorup, M. Zadimoghaddam, "Consistent Hashing with
// Bounded Loads", arXiv 1608.01350, section 2, with the departures that package
// bound names.
//
// Assign costs a lookup on the ring, and for a full node the walk to the next:
// O(f * v) points for f full nodes in a row, of v points each. The structure is
// that of package ring and 20 bytes a node; a change of the membership adds
// O(n) to the ring's cost.
package boundedring

import (
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/bound"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// Config is that of package ring, with the bound.
type Config struct {
	ring.Config
	bound.Limits
}

// Default is a ring under the bound 1.25.
var Default = Config{ring.Default, bound.Default}

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	points, loads := c.Config.Forecast(nodes), int64(bound.BytesPerNode*len(nodes))
	if points > math.MaxInt64-loads {
		return math.MaxInt64
	}
	return points + loads
}

// Info describes the algorithm to the harness.
var Info = algorithms.Define("bounded-ring", "Mirrokni, Thorup, Zadimoghaddam 2018, consistent hashing with bounded loads, arXiv 1608.01350", Default, New).
	Costing("that of ring; Assign O(vnodes) more for each full node", "15 bytes a point, 20 a node").
	Declining(algorithms.Balance).Tuned("vnodes")

// A Map is a ring that places requests under a bound. Lookup, which is that of
// the ring and ignores load, may run at any time that the membership rests;
// all of Assign, AssignSteps, Release and Load need exclusive use.
type Map struct {
	*circle
	loads *bound.Loads
}

type circle = ring.Map

var (
	_ algorithms.Mapper       = (*Map)(nil)
	_ algorithms.Adder        = (*Map)(nil)
	_ algorithms.Remover      = (*Map)(nil)
	_ algorithms.Reweighter   = (*Map)(nil)
	_ algorithms.Replicator   = (*Map)(nil)
	_ algorithms.Assigner     = (*Map)(nil)
	_ algorithms.StepAssigner = (*Map)(nil)
	_ algorithms.Loader       = (*Map)(nil)
	_ algorithms.Prober       = (*Map)(nil)
	_ algorithms.Sizer        = (*Map)(nil)
	_ algorithms.Owned        = (*Map)(nil)
	_ algorithms.Cloner       = (*Map)(nil)
	_ algorithms.Forecaster   = Config{}
)

// New builds a ring of the nodes, without load.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r, err := ring.New(nodes, c.Config)
	if err != nil {
		return nil, err
	}
	return &Map{r, bound.New(c.Limits, r.Nodes())}, nil
}

// Assign places a request at the first node clockwise from h that has room. It
// does not allocate.
func (m *Map) Assign(h uint64) (algorithms.Bucket, bool) {
	b, steps := m.AssignSteps(h)
	return b, b != algorithms.None && steps == 0
}

// AssignSteps is Assign, with the number of different full nodes it passed.
func (m *Map) AssignSteps(h uint64) (algorithms.Bucket, int) {
	l := m.loads
	requests := l.Requests()
	first := m.Lookup(h)
	if first == algorithms.None {
		return algorithms.None, 0
	}
	if l.HasRoom(first, requests) {
		l.Take(first)
		return first, 0
	}
	l.Walk()
	steps := 0
	for b := range m.Clockwise(h) {
		if !l.Meet(b) {
			continue
		}
		if l.HasRoom(b, requests) {
			l.Take(b)
			return b, steps
		}
		if steps++; steps == m.Len() {
			break
		}
	}
	return algorithms.None, steps
}

// Clone returns a Map of its own with the same requests, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	return &Map{m.circle.Clone().(*circle), m.loads.Clone()}
}

// Release ends a request that Assign placed on the bucket. The requests of a
// removed node went with it and must not be released; a bucket without requests
// is a programmer's error and panics.
func (m *Map) Release(b algorithms.Bucket) { m.loads.Release(b) }

// Load returns the requests on the bucket and its capacity, the load up to
// which the next request may bring it. A bucket bound to no node has neither.
func (m *Map) Load(b algorithms.Bucket) (load, capacity int) { return m.loads.Load(b) }

// Add adds a node, without load. Requests stay where they are.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.circle.Add(n)
	if err == nil {
		m.loads.Fit(m.Nodes())
	}
	return b, err
}

// Remove removes a node, and its requests with it: whoever wants them served
// assigns them again.
func (m *Map) Remove(b algorithms.Bucket) error {
	if err := m.circle.Remove(b); err != nil {
		return err
	}
	m.loads.Drop(b)
	m.loads.Fit(m.Nodes())
	return nil
}

// SetWeight changes the points and the capacity of a node. Requests stay where
// they are, also those above the new capacity.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	err := m.circle.SetWeight(b, w)
	if err == nil {
		m.loads.Fit(m.Nodes())
	}
	return err
}

// Footprint returns the bytes of the ring and of the tables by bucket.
func (m *Map) Footprint() int64 { return m.circle.Footprint() + m.loads.Footprint() }
