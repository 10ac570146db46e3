// Package ringarray is the ring of package ring by brute force: the circle is an
// array of slots of equal width, most of them empty, and a lookup steps
// clockwise from the slot of the key's hash to the next one that holds a point.
// A slot that holds points knows the first of them in a sorted array, so points
// within a slot are told apart exactly: the owners are those of package ring.
//
// For P points and S slots: 12 bytes a point and 4 a slot. Lookup steps over S/P
// slots in the mean, all S at worst. Every change of the membership builds all
// anew, O(P + S).
package ringarray

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/ringbinarysearch"
)

// Config is that of package ring, with a number of slots.
type Config struct {
	ring.Config

	// Slots is the number of slots; 0 is the smallest power of two that is at
	// least 4 times the number of points.
	Slots int `json:"slots"`
}

// Default is that of package ring, with slots as many as fit the points.
var Default = Config{Config: ring.Default}

// maxSlots keeps the index of a point within an int32.
const maxSlots = math.MaxInt32

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	points := c.Config.Forecast(nodes)
	slots := 4 * int64(c.Slots)
	if c.Slots == 0 {
		slots = points // 4 bytes times 8 slots a point is less than a point takes
	}
	if points > math.MaxInt64-slots {
		return math.MaxInt64
	}
	return points + slots
}

// Info describes the algorithm to the harness.
var Info = algorithms.Define("ring-array", "Karger et al. 1997, STOC; laid out in slots", Default, New).
	Costing("O(1), slots per point in the mean", "12 bytes a point, 4 a slot").
	Declining(algorithms.Balance).Tuned("vnodes")

// A Map is a ring laid out in slots. See package algorithms for what may run at
// the same time.
type Map struct {
	*sorted
	slots     []int32 // index of the first point in the slot, or empty
	positions []uint64
	owners    []algorithms.Bucket
	config    Config
	placement *ring.Placement
}

// sorted holds the points, and answers all but Lookup.
type sorted = ringbinarysearch.Map

const empty = -1

var (
	_ algorithms.Mapper     = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Prober     = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
)

// New builds a ring of the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.Slots < 0 || c.Slots > maxSlots {
		return nil, fmt.Errorf("slots %d, want 1 to %d, or 0 for as many as fit the points", c.Slots, maxSlots)
	}
	placement, err := c.Placement()
	if err != nil {
		return nil, err
	}
	points, err := ringbinarysearch.New(nodes, c.Config)
	if err != nil {
		return nil, err
	}
	m := &Map{sorted: points, config: c, placement: placement}
	m.layOut()
	return m, nil
}

// layOut fills the slots from the sorted points.
func (m *Map) layOut() {
	m.positions, m.owners = m.Sorted()
	n := m.config.Slots
	if n == 0 && len(m.owners) > 0 {
		n = 1 << bits.Len(uint(4*len(m.owners)-1))
	}
	m.slots = make([]int32, n)
	for i := range m.slots {
		m.slots[i] = empty
	}
	for i, position := range m.positions {
		if s := m.slot(position); m.slots[s] == empty {
			m.slots[s] = int32(i)
		}
	}
}

func (m *Map) slot(position uint64) int {
	s, _ := bits.Mul64(position, uint64(len(m.slots)))
	return int(s)
}

// Lookup returns the owner of h: the node of the first point clockwise.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	b, _ := m.LookupProbes(h)
	return b
}

// LookupProbes is Lookup with the number of slots and points it looked at. On
// an empty ring it is 0.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if len(m.owners) == 0 {
		return algorithms.None, 0
	}
	h = m.placement.Position(h)
	probes, s := 1, m.slot(h)
	for m.slots[s] == empty {
		probes++
		if s++; s == len(m.slots) {
			return m.owners[0], probes
		}
	}
	for i := int(m.slots[s]); i < len(m.positions); i++ {
		probes++
		if m.positions[i] >= h {
			return m.owners[i], probes
		}
	}
	return m.owners[0], probes
}

// Divisor returns the modulus, under which a hash is taken as a number.
func (m *Map) Divisor() (divisor uint64, number bool) { return m.placement.Divisor() }

// Footprint returns the bytes of the slots and of the sorted arrays.
func (m *Map) Footprint() int64 { return m.sorted.Footprint() + int64(4*len(m.slots)) }

// Add adds a node and its points.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.sorted.Add(n)
	m.layOut()
	return b, err
}

// Remove removes a node and its points.
func (m *Map) Remove(b algorithms.Bucket) error {
	err := m.sorted.Remove(b)
	m.layOut()
	return err
}

// SetWeight gives a node the number of points that fits the new weight.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	err := m.sorted.SetWeight(b, w)
	m.layOut()
	return err
}
