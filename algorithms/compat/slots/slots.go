// Package slots places keys as Redis Cluster does (its specification, and
// redis-cli --cluster create as of 7.2).
//
//   - Slots: 16,384, each owned by one node. `create` deals them out in ranges, node
//     after node in the order in which they are listed, in numbers that differ by
//     one at most. It computes their ends in float32.
//   - Key: its CRC16 (polynomial 0x1021, from 0) modulo 16,384. Where it holds a "{"
//     and, somewhere behind the first one, a "}" with at least one byte between,
//     only what stands between them is hashed: the hash tag.
//   - Weights: `create` knows none. Here they set how long the ranges are, as the
//     weights of `rebalance` do in the end.
//   - A change: Redis moves no slot by itself, its operator does. Here as few as can
//     be move. A node that joins takes its share, rounded down, one slot at a time
//     from the node that is most above its own share; the slots of a node that
//     leaves go back to those they came from, as long as these are below their
//     shares, and else one at a time to the node that is most below. So the
//     assignment depends on what happened, not on the members alone.
//
// The replicas of a key are the owners of further draws. Redis itself copies a
// node as a whole.
package slots

import (
	"math"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/table"
)

// Info describes Redis Cluster. Its changes move no more than they must, but a
// cluster that is created anew with one more node has all ranges elsewhere. The
// slots of a node that leaves are shared out by need, so that the second replica
// does not inherit.
var Info = algorithms.Define("slots", "Redis Cluster specification", Default, New).
	Costing("O(1), one slot", "2 bytes a slot: 32 KiB").
	Declining(algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// Count is the number of slots.
const Count = 16384

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 { return table.Forecast(2*Count, len(nodes)) }

// A Map is the assignment of the slots.
type Map struct {
	table.Table
	members *algorithms.Members
	from    []algorithms.Bucket // whom each slot was taken from last, or None
}

var (
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
)

// New returns a Map in which the nodes have ranges of slots in their order.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{members: members, from: make([]algorithms.Bucket, Count)}
	m.deal()
	return m, nil
}

// deal gives all members their ranges.
func (m *Map) deal() {
	owners := make([]algorithms.Bucket, Count)
	total := m.members.TotalWeight()
	first, cursor := 0, float32(0)
	latest := algorithms.None
	for b, n := range m.members.All() {
		if n.Weight == 0 || first == Count {
			continue
		}
		share := float32(Count * (n.Weight / total))
		last := int(math.Round(float64(float32(cursor+share) - 1)))
		last = min(max(last, first), Count-1)
		for slot := first; slot <= last; slot++ {
			owners[slot] = b
		}
		first, cursor, latest = last+1, cursor+share, b
	}
	for slot := first; slot < Count; slot++ {
		owners[slot] = latest
	}
	for slot := range m.from {
		m.from[slot] = algorithms.None
	}
	m.assign(owners)
}

// assign makes the table; nil, or no owner, is that of no node.
func (m *Map) assign(owners []algorithms.Bucket) {
	if len(owners) > 0 && owners[0] == algorithms.None {
		owners = nil
	}
	m.Table = table.New(owners, m.members)
}

// A need is what a node has and what would be its share.
type need struct {
	has  int
	fair float64
}

// needs returns them by bucket; of an unbound bucket, the zero one.
func (m *Map) needs(owners []algorithms.Bucket) []need {
	all := make([]need, m.members.Cap())
	total := m.members.TotalWeight()
	for b, n := range m.members.All() {
		if n.Weight > 0 {
			all[b].fair = Count * (n.Weight / total)
		}
	}
	for _, b := range owners {
		if b != algorithms.None {
			all[b].has++
		}
	}
	return all
}

// take moves slots to the bucket until it has its share, rounded down: one at a
// time from the node that is most above its own, each node's lowest slots first.
func (m *Map) take(owners []algorithms.Bucket, to algorithms.Bucket) {
	all := m.needs(owners)
	give := make([]int, len(all))
	for all[to].has < int(all[to].fair) {
		most, donor := math.Inf(-1), to
		for b, n := range all {
			if over := float64(n.has) - n.fair; algorithms.Bucket(b) != to && n.has > 0 && over > most {
				most, donor = over, algorithms.Bucket(b)
			}
		}
		if donor == to {
			break
		}
		give[donor]++
		all[donor].has--
		all[to].has++
	}
	for slot, b := range owners {
		if give[b] > 0 {
			give[b]--
			owners[slot], m.from[slot] = to, b
		}
	}
}

// release gives slots that have no owner to those they were taken from, if these
// are below their shares, and the rest to the nodes that are most below.
func (m *Map) release(owners []algorithms.Bucket) {
	all := m.needs(owners)
	give := func(slot int, b algorithms.Bucket) {
		owners[slot], m.from[slot] = b, algorithms.None
		all[b].has++
	}
	for slot, b := range owners {
		if from := m.from[slot]; b == algorithms.None && from != algorithms.None && float64(all[from].has) < all[from].fair {
			give(slot, from)
		}
	}
	for slot, b := range owners {
		if b != algorithms.None {
			continue
		}
		most, heir := math.Inf(-1), algorithms.None
		for b, n := range all {
			if below := n.fair - float64(n.has); n.fair > 0 && below > most {
				most, heir = below, algorithms.Bucket(b)
			}
		}
		if heir == algorithms.None {
			return
		}
		give(slot, heir)
	}
}

// Add adds a node, which takes its share of the slots from the others.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	alone := m.members.TotalWeight() == 0
	b, err := m.members.Add(n)
	if err != nil {
		return b, err
	}
	if alone {
		m.deal()
		return b, nil
	}
	owners := m.Owners()
	m.take(owners, b)
	m.assign(owners)
	return b, nil
}

// Remove removes a node, whose slots go to the others.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	owners := m.Owners()
	for slot := range owners {
		if owners[slot] == b {
			owners[slot] = algorithms.None
		}
		if m.from[slot] == b {
			m.from[slot] = algorithms.None
		}
	}
	m.release(owners)
	m.assign(owners)
	return nil
}

// SetWeight sets a weight. The node takes slots from the others as if it joined,
// or gives away what it has above its share, its highest slots first.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	none := m.members.TotalWeight() == 0
	if err := m.members.SetWeight(b, w); err != nil {
		return err
	}
	if none || m.members.TotalWeight() == 0 {
		m.deal()
		return nil
	}
	owners := m.Owners()
	all := m.needs(owners)
	for slot := Count - 1; slot >= 0 && all[b].has > int(math.Ceil(all[b].fair)); slot-- {
		if owners[slot] == b {
			owners[slot] = algorithms.None
			all[b].has--
		}
	}
	m.release(owners)
	m.take(owners, b)
	m.assign(owners)
	return nil
}

// Slot returns the slot of a key.
func Slot(key string) int { return int(crc16(tag(key)) % Count) }

// tag returns the part of a key that is hashed.
func tag(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := strings.IndexByte(key[open+1:], '}')
	if length < 1 {
		return key
	}
	return key[open+1 : open+1+length]
}

// crcTable holds the checksums of the single bytes.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		c := uint16(i) << 8
		for range 8 {
			carry := c >> 15
			c = c<<1 ^ carry*0x1021
		}
		t[i] = c
	}
	return t
}()

// crc16 is the CRC that is known as XMODEM's.
func crc16(s string) uint16 {
	c := uint16(0)
	for i := range len(s) {
		c = c<<8 ^ crcTable[byte(c>>8)^s[i]]
	}
	return c
}

// HashKey returns the slot of the key, at which Lookup finds its owner.
func (m *Map) HashKey(key string) uint64 { return uint64(Slot(key)) }

// LookupKey returns the owner of the key's slot.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
