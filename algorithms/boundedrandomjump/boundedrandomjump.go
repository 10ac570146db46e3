// Package boundedrandomjump is consistent hashing with bounded loads and random
// jumps: a request whose node is full does not go to the neighbour, which every
// other request for that node goes to as well, but to a node that its own hash
// draws anew. Package bound says when a node is full.
//
// Source: J. Chen, B. Coleman, A. Shrivastava, "Revisiting Consistent Hashing with
// Bounded Loads", arXiv 1908.08762, section 4.
//
// # Structure
//
// Nodes sit in the slots of a table. The hash of a key starts an endless sequence
// of random slots; the first of them that is taken is the key's first choice, and
// full nodes are passed the same way. So all nodes of one weight are equally
// likely, whatever their names. A node of weight w has max(1, round(vnodes * w))
// slots, the lowest that are free when it joins.
//
// A change moves only the keys of the node that it is about, as long as the table
// stays as large as it is. New makes it the power of two with room for 1.25 times
// the slots in use, at least 64; a node that finds no slot is refused, and the
// table has to be built anew, which moves nearly all keys. Whoever expects the
// cluster to grow gives the capacity. Which slot a node has depends on the order
// in which the nodes joined, so the package declines order-independent: clients
// must agree on that order.
//
// # Cost
//
// A lookup probes as many slots as there are for one taken: 1.25 to 2.5 in the mean from 13 nodes on,
// each of them a cache miss in a large table. Assign adds as much for each full
// node that it passes. The table has 4 bytes a slot, and the books 20 a node. Add
// and SetWeight search the table for free slots: O(slots + n).
package boundedrandomjump

import (
	"fmt"
	"iter"
	"math"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/bound"
)

// Config sets the table and the bound.
type Config struct {
	// VNodes is the number of slots of a node of weight 1, at least 1. More of
	// them follow fractions of a weight more closely, and change nothing else.
	VNodes int `json:"vnodes"`

	// Capacity is the weight that the table has room for, in all; 0 leaves it to
	// the nodes of New.
	Capacity int `json:"capacity"`

	bound.Limits
}

// Default has 4 slots a node and the bound 1.25.
var Default = Config{4, 0, bound.Default}

const (
	leastSlots = 64
	mostSlots  = 1<<31 - 1
)

// Forecast returns the bytes that New needs at its peak.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	books := float64(bound.BytesPerNode * len(nodes))
	if bytes := 4*c.slots(nodes) + books; bytes < math.MaxInt64 {
		return int64(bytes)
	}
	return math.MaxInt64
}

// slots returns the length of the table for the nodes. It is a float64 because it
// may be beyond any integer.
func (c Config) slots(nodes []algorithms.Node) float64 {
	if c.Capacity > 0 {
		return float64(c.Capacity) * float64(c.VNodes)
	}
	taken := 0.0
	for _, n := range nodes {
		taken += c.slotsOf(n)
	}
	size := float64(leastSlots)
	for size < 1.25*taken {
		size *= 2
	}
	return size
}

// slotsOf returns how many slots a node has, 0 for weight 0.
func (c Config) slotsOf(n algorithms.Node) float64 {
	if n.Weight == 0 {
		return 0
	}
	return max(1, math.Round(float64(c.VNodes)*n.Weight))
}

// Info describes the algorithm to the harness.
var Info = algorithms.Define("bounded-random-jump", "Chen, Coleman, Shrivastava 2019, arXiv 1908.08762", Default, New).
	Costing("O(1), at most 2.5 slots in the mean from 13 nodes on", "4 bytes a slot, 20 a node").
	Declining(algorithms.OrderIndependent)

// A Map places requests under a bound. Lookup, LookupN and LookupProbes ignore
// load and may run at any time that the membership rests; all of Assign,
// AssignSteps, Release and Load need exclusive use.
type Map struct {
	config  Config
	slots   []int32 // the bucket in each, free where there is none
	taken   int     // slots that are not free
	owners  int     // nodes that have a slot
	members *algorithms.Members
	loads   *bound.Loads
}

const free = int32(algorithms.None)

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
	_ algorithms.Forecaster   = Config{}
)

// New builds a table of the nodes, without load.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.VNodes < 1 {
		return nil, fmt.Errorf("vnodes %d, a node needs at least 1", c.VNodes)
	}
	if c.Capacity < 0 {
		return nil, fmt.Errorf("capacity %d, it must be a weight, or 0 to leave it to the nodes", c.Capacity)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	size := c.slots(nodes)
	if size > mostSlots {
		return nil, fmt.Errorf("a table of %.3g slots, it holds at most %d: lower vnodes, capacity or the weights", size, mostSlots)
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{config: c, slots: make([]int32, int(size)), members: members}
	for i := range m.slots {
		m.slots[i] = free
	}
	next := 0
	for b, n := range members.All() {
		wanted := int(min(c.slotsOf(n), mostSlots))
		if next+wanted > len(m.slots) {
			return nil, fmt.Errorf("capacity %d is too small for node %q of weight %v and those before it, raise it", c.Capacity, n.Name, n.Weight)
		}
		m.settle(b, next, wanted)
		next += wanted
	}
	m.loads = bound.New(c.Limits, members.All())
	return m, nil
}

// settle gives the bucket so many free slots, the first from the one at from on.
// There must be enough of them.
func (m *Map) settle(b algorithms.Bucket, from, wanted int) {
	if wanted == 0 {
		return
	}
	m.owners++
	m.taken += wanted
	for i := from; wanted > 0; i++ {
		if m.slots[i] == free {
			m.slots[i] = int32(b)
			wanted--
		}
	}
}

// leave frees the slots of the bucket but for the first of them, which it keeps.
func (m *Map) leave(b algorithms.Bucket, keep int) {
	had := 0
	for i, s := range m.slots {
		if s != int32(b) {
			continue
		}
		if had++; had > keep {
			m.slots[i] = free
			m.taken--
		}
	}
	if had > 0 && keep == 0 {
		m.owners--
	}
}

// A sequence draws the slots of a key, one after the other.
type sequence struct {
	state uint64
	size  uint64
}

func (m *Map) from(h uint64) sequence { return sequence{h, uint64(len(m.slots))} }

// next draws a slot: the generator splitmix64 of S. Vigna, public domain, brought
// into the range by multiplication.
func (s *sequence) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	x := s.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	slot, _ := bits.Mul64(x^x>>31, s.size)
	return slot
}

// patience bounds the slots that a key draws, as a multiple of those there are.
// The chance that one particular slot is not among them is e^-32.
const patience = 32

// Lookup returns the first choice of h. Its slots are drawn until one is taken.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	if m.taken > 0 {
		for s, n := m.from(h), patience*len(m.slots); n > 0; n-- {
			if b := m.slots[s.next()]; b != free {
				return algorithms.Bucket(b)
			}
		}
	}
	return m.lowest()
}

// lowest returns the bucket in the lowest slot that is taken: what is left when
// patience ends.
func (m *Map) lowest() algorithms.Bucket {
	for _, b := range m.slots {
		if b != free {
			return algorithms.Bucket(b)
		}
	}
	return algorithms.None
}

// LookupProbes is Lookup with the number of slots drawn. Without nodes it is 0.
func (m *Map) LookupProbes(h uint64) (algorithms.Bucket, int) {
	if m.taken > 0 {
		s := m.from(h)
		for n := range patience * len(m.slots) {
			if b := m.slots[s.next()]; b != free {
				return algorithms.Bucket(b), n + 1
			}
		}
	}
	return m.lowest(), 0
}

// choices yields the nodes in the order in which h prefers them, most of them
// many times. In the end all that have a slot come in the order of the slots.
func (m *Map) choices(h uint64) iter.Seq[algorithms.Bucket] {
	return func(yield func(algorithms.Bucket) bool) {
		if m.taken == 0 {
			return
		}
		s := m.from(h)
		for range patience * len(m.slots) {
			if b := m.slots[s.next()]; b != free && !yield(algorithms.Bucket(b)) {
				return
			}
		}
		for _, b := range m.slots {
			if b != free && !yield(algorithms.Bucket(b)) {
				return
			}
		}
	}
}

// LookupN writes the nodes that h draws, each once and a zone's first before any
// second. The last few of many take long: all n nodes take about n * ln n draws.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	if !c.More() {
		return 0
	}
	for b := range m.choices(h) {
		if !c.Offer(b) {
			break
		}
	}
	return c.Len()
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Assign places a request at the first node of its sequence that has room. It
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
	for b := range m.choices(h) {
		if !l.Meet(b) {
			continue
		}
		if l.HasRoom(b, requests) {
			l.Take(b)
			return b, steps
		}
		if steps++; steps == m.owners {
			break
		}
	}
	return algorithms.None, steps
}

// Release ends a request that Assign placed on the bucket. The requests of a
// removed node went with it and must not be released; a bucket without requests
// is a programmer's error and panics.
func (m *Map) Release(b algorithms.Bucket) { m.loads.Release(b) }

// Load returns the requests on the bucket and its capacity, the load up to
// which the next request may bring it. A bucket bound to no node has neither.
func (m *Map) Load(b algorithms.Bucket) (load, capacity int) { return m.loads.Load(b) }

// full refuses a node that wants more slots than are free.
func (m *Map) full(n algorithms.Node, wanted float64) error {
	if left := len(m.slots) - m.taken; wanted > float64(left) {
		return algorithms.Unsupported("node %q of weight %v needs %.0f more slots, %d of %d are free: build the table anew, with a larger capacity",
			n.Name, n.Weight, wanted, left, len(m.slots))
	}
	return nil
}

// Add adds a node, without load, into the lowest slots that are free; when there
// are too few of them the error wraps [errors.ErrUnsupported]. Requests stay
// where they are.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	wanted := m.config.slotsOf(n)
	if err := m.full(n, wanted); err != nil {
		m.members.Remove(b)
		return algorithms.None, err
	}
	m.settle(b, 0, int(wanted))
	m.loads.Fit(m.members.All())
	return b, nil
}

// Remove removes a node, and its requests with it: whoever wants them served
// assigns them again.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	m.leave(b, 0)
	m.loads.Drop(b)
	m.loads.Fit(m.members.All())
	return nil
}

// SetWeight changes the slots and the capacity of a node: it takes more of those
// that are free, or leaves the last of its own. Requests stay where they are,
// also those above the new capacity.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	old, _ := m.members.Node(b)
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	n, _ := m.members.Node(b)
	had, wanted := m.config.slotsOf(old), m.config.slotsOf(n)
	if err := m.full(n, wanted-had); err != nil {
		m.members.SetWeight(b, old.Weight)
		return err
	}
	if wanted < had {
		m.leave(b, int(wanted))
	} else if wanted > had {
		if had > 0 {
			m.owners-- // settle counts it again
		}
		m.settle(b, 0, int(wanted-had))
	}
	m.loads.Fit(m.members.All())
	return nil
}

// Footprint returns the bytes of the table and of the books by bucket.
func (m *Map) Footprint() int64 { return int64(4*len(m.slots)) + m.loads.Footprint() }

// HotBytes returns the bytes of the slots: lookups do not ask for loads.
func (m *Map) HotBytes() int64 { return int64(4 * len(m.slots)) }
