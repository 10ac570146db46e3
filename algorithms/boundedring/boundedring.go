// Package boundedring is consistent hashing with bounded loads: a request goes to
// the first node clockwise on the ring that still has room. With m requests
// placed, the one being placed included, a node of weight w has room for
//
//	ceil((1+epsilon) * m * w / W)
//
// requests, W being the weights' sum. So no node ever takes a request that
// brings it above (1+epsilon) times its share, rounded up, and every node with
// a weight may hold at least one.
//
// Source: V. Mirrokni, M. Thorup, M. Zadimoghaddam, "Consistent Hashing with
// Bounded Loads", arXiv 1608.01350, section 2. Two departures: weights, and
// that requests placed before stay where they are when the bound changes or a
// node joins; only Release and Remove take them away. A request for which m was
// smaller may therefore leave a node above the bound of a later moment.
//
// The bound is exact. Epsilon and the weights are taken as the decimals that
// they are written as, and the comparison is one of integers: 1.1 * 10 has the
// ceiling 11, where binary fractions would make it 12. Only where the integers
// would outgrow 63 bits are the shares rounded down, by about one part in 2^62.
//
// Assign costs a lookup on the ring, and for a full node the walk to the next:
// O(f * v) points for f full nodes in a row, of v points each. The structure is
// that of package ring and 20 bytes a node; a change of the membership adds
// O(n) to the ring's cost.
package boundedring

import (
	"fmt"
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// Config is that of package ring, with the bound.
type Config struct {
	ring.Config

	// Epsilon is how far above its share a node may be loaded: 0.25 allows 1.25
	// times the share. It is above 0.
	Epsilon float64 `json:"epsilon"`

	// Expected fixes m in the bound, so that capacities do not grow with the
	// requests; 0 lets m be the requests placed. When more requests come than
	// Expected, they are placed while there is room, and Assign returns None
	// when there is none left.
	Expected int `json:"expected"`
}

// Default is a ring under the bound 1.25.
var Default = Config{Config: ring.Default, Epsilon: 0.25}

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	points, loads := c.Config.Forecast(nodes), int64(bytesPerNode*len(nodes))
	if points > math.MaxInt64-loads {
		return math.MaxInt64
	}
	return points + loads
}

// Info describes the algorithm to the harness.
var Info = algorithms.Define("bounded-ring", "Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350", Default, New).
	Declining(algorithms.Balance).Tuned("vnodes")

// A Map is a ring that places requests under a bound. Lookup, which is that of
// the ring and ignores load, may run at any time that the membership rests;
// all of Assign, AssignSteps, Release and Load need exclusive use.
type Map struct {
	*circle
	config   Config
	bound    bound
	load     []int64 // by bucket
	assigned int64   // sum of the loads

	// met marks, by bucket, the nodes that the walk numbered walk has met.
	met  []uint32
	walk uint32
}

type circle = ring.Map

const bytesPerNode = 8 + 8 + 4 // load, share and mark

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
	_ algorithms.Forecaster   = Config{}
)

// New builds a ring of the nodes, without load.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0) {
		return nil, fmt.Errorf("epsilon %v, it must be a finite number above 0", c.Epsilon)
	}
	if c.Expected < 0 {
		return nil, fmt.Errorf("expected %d, it must be a number of requests, or 0 for those placed", c.Expected)
	}
	r, err := ring.New(nodes, c.Config)
	if err != nil {
		return nil, err
	}
	m := &Map{circle: r, config: c}
	m.rebound()
	return m, nil
}

// rebound fits the bound and the tables to the members.
func (m *Map) rebound() {
	var weights []float64
	for b, n := range m.Nodes() {
		for len(weights) <= int(b) {
			weights = append(weights, 0)
		}
		weights[b] = n.Weight
	}
	m.bound = newBound(m.config.Epsilon, weights)
	if grow := len(weights) - len(m.load); grow > 0 {
		m.load = append(m.load, make([]int64, grow)...)
		m.met = append(m.met, make([]uint32, grow)...)
	}
}

// Assign places a request at the first node clockwise from h that has room. It
// does not allocate.
func (m *Map) Assign(h uint64) (algorithms.Bucket, bool) {
	b, steps := m.AssignSteps(h)
	return b, b != algorithms.None && steps == 0
}

// AssignSteps is Assign, with the number of different full nodes it passed.
func (m *Map) AssignSteps(h uint64) (algorithms.Bucket, int) {
	requests := m.requests()
	first := m.Lookup(h)
	if first == algorithms.None {
		return algorithms.None, 0
	}
	if m.hasRoom(first, requests) {
		m.take(first)
		return first, 0
	}
	if m.walk++; m.walk == 0 {
		clear(m.met)
		m.walk = 1
	}
	steps := 0
	for b := range m.Clockwise(h) {
		if m.met[b] == m.walk {
			continue
		}
		m.met[b] = m.walk
		if m.hasRoom(b, requests) {
			m.take(b)
			return b, steps
		}
		if steps++; steps == m.Len() {
			break
		}
	}
	return algorithms.None, steps
}

// requests returns the m of the bound for the request to be placed next.
func (m *Map) requests() uint64 {
	if m.config.Expected > 0 {
		return uint64(m.config.Expected)
	}
	return uint64(m.assigned) + 1
}

// hasRoom reports whether load + 1 <= ceil(requests * share), which for
// integers is load < requests * share.
func (m *Map) hasRoom(b algorithms.Bucket, requests uint64) bool {
	return m.bound.below(uint64(m.load[b]), requests, b)
}

func (m *Map) take(b algorithms.Bucket) {
	m.load[b]++
	m.assigned++
}

// Release ends a request that Assign placed on the bucket. The requests of a
// removed node went with it and must not be released; a bucket without requests
// is a programmer's error and panics.
func (m *Map) Release(b algorithms.Bucket) {
	if b < 0 || int(b) >= len(m.load) || m.load[b] == 0 {
		panic(fmt.Sprintf("boundedring: Release of bucket %d, which holds no request", b))
	}
	m.load[b]--
	m.assigned--
}

// Load returns the requests on the bucket and its capacity, the load up to
// which the next request may bring it. A bucket bound to no node has neither.
func (m *Map) Load(b algorithms.Bucket) (load, capacity int) {
	if b < 0 || int(b) >= len(m.load) {
		return 0, 0
	}
	return int(m.load[b]), m.bound.capacity(m.requests(), b)
}

// Add adds a node, without load. Requests stay where they are.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.circle.Add(n)
	if err == nil {
		m.rebound()
	}
	return b, err
}

// Remove removes a node, and its requests with it: whoever wants them served
// assigns them again.
func (m *Map) Remove(b algorithms.Bucket) error {
	if err := m.circle.Remove(b); err != nil {
		return err
	}
	m.assigned -= m.load[b]
	m.load[b] = 0
	m.rebound()
	return nil
}

// SetWeight changes the points and the capacity of a node. Requests stay where
// they are, also those above the new capacity.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	err := m.circle.SetWeight(b, w)
	if err == nil {
		m.rebound()
	}
	return err
}

// Footprint returns the bytes of the ring and of the tables by bucket.
func (m *Map) Footprint() int64 {
	return m.circle.Footprint() + int64(bytesPerNode*len(m.load))
}
