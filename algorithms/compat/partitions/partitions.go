// Package partitions places keys as the Go library consistent by B. Sezer does
// (github.com/buraksezer/consistent v1.1.0): keys fall on partitions, and the
// partitions are placed on a ring under a bound.
//
//   - Points: the hash of "i:" and the member's name, for i from 0 to
//     replication_factor-1. (Before v1.0 it was the name and i: set label to
//     {name}{index}.)
//   - Partitions: one after the other, by the hash of their number in 8 bytes, the
//     least first, each goes to the first point at or after it whose member is not
//     full. Full is ceil(partitions / members * load).
//   - Key: its hash modulo partitions.
//   - Hash: the library has none of its own; its documents take xxh64, and so does
//     hasher unless set.
//   - Weights: none.
//   - A change: all partitions are placed anew. As a member that is full passes a
//     partition on, one that moves can push others along, and the bound itself
//     changes with the number of members: so keys move between members that stay.
//
// A partition is one indivisible piece of the keys. With P of them over n members
// the busiest has at least ceil(P/n), however large load is.
//
// Departure: where members share all their points and the rest are full, the
// library panics; here the first member with room takes the partition.
//
// The replicas of a key are the library's closest members: all members in the
// order of the hashes of their names, from the owner on.
package partitions

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/table"
)

// Info describes the library. A change moves partitions among those that stay.
var Info = algorithms.Define("partitions", "github.com/buraksezer/consistent v1.1.0", Default, New).
	Costing("O(1), one partition", "2 bytes a partition, 8 a member").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits).
	TunedTogether("partitions")

// Config has the settings of the library.
type Config struct {
	Partitions        int     `json:"partitions"`         // at least 1
	ReplicationFactor int     `json:"replication_factor"` // points of a member, at least 1
	Load              float64 `json:"load"`               // at least 1
	Hasher            string  `json:"hasher"`             // of members, partitions and keys, by its name in package keyhash
	Label             string  `json:"label"`              // of points, a template as that of package ring
}

// Default is that of the library.
var Default = Config{Partitions: 271, ReplicationFactor: 20, Load: 1.25, Hasher: "xxh64", Label: "{index}:{name}"}

const bytesPerPoint = 2 * 16 // a point, and its copy while they are sorted

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	points := min(float64(c.ReplicationFactor)*float64(len(nodes)), math.MaxInt32)
	return table.Forecast(int64(c.Partitions), len(nodes)) + int64(points)*bytesPerPoint
}

// A Map is the placement of the partitions.
type Map struct {
	table.Table
	members   *algorithms.Members
	config    Config
	placement *ring.Placement
	hash      keyhash.Hash
	around    []algorithms.Bucket // in the order of the hashes of their names
	place     []int32             // by bucket, the place in around
}

var (
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
)

// New returns a Map over the nodes, whose weights must be equal.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := table.CheckSize("partitions", c.Partitions); err != nil {
		return nil, err
	}
	if c.ReplicationFactor < 1 {
		return nil, fmt.Errorf("replication_factor %d, a member needs at least 1 point", c.ReplicationFactor)
	}
	if !(c.Load >= 1) || math.IsInf(c.Load, 0) {
		return nil, fmt.Errorf("load %v, below 1 the members have no room for all partitions: make it 1 or more, such as 1.25", c.Load)
	}
	hash, err := keyhash.ByName(c.Hasher)
	if err != nil {
		return nil, fmt.Errorf("hasher: %w", err)
	}
	placement, err := ring.Config{VNodes: c.ReplicationFactor, Label: c.Label, PointHash: c.Hasher}.Placement()
	if err != nil {
		return nil, err
	}
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{members: members, config: c, placement: placement, hash: hash}
	m.distribute()
	return m, nil
}

// points returns the points of all members in ring order. Of those at one
// position the member that came last owns all.
func (m *Map) points() []ring.Point {
	var all []ring.Point
	for b, n := range m.members.All() {
		all = m.placement.Append(all, b, n.Name, 0, m.config.ReplicationFactor)
	}
	slices.SortFunc(all, func(p, q ring.Point) int {
		return cmp.Or(cmp.Compare(p.Position, q.Position), cmp.Compare(q.Owner, p.Owner))
	})
	for i := 1; i < len(all); i++ {
		if all[i].Position == all[i-1].Position {
			all[i].Owner = all[i-1].Owner
		}
	}
	return all
}

// room returns how many partitions a member may have, which is never more than
// there are.
func (m *Map) room() int {
	all := float64(m.config.Partitions)
	return int(min(math.Ceil(all/float64(m.members.Len())*m.config.Load), all))
}

// distribute places all partitions.
func (m *Map) distribute() {
	m.arrange()
	if m.members.Len() == 0 {
		m.Table = table.New(nil, m.members)
		return
	}
	points, room := m.points(), m.room()
	held := make([]int, m.members.Cap())
	owners := make([]algorithms.Bucket, m.config.Partitions)
	for i := range owners {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], uint64(i))
		h := m.hash.Position(unsafe.String(&number[0], len(number)))
		at, _ := slices.BinarySearchFunc(points, h, func(p ring.Point, h uint64) int { return cmp.Compare(p.Position, h) })
		owners[i] = firstWithRoom(points, at, held, room)
		held[owners[i]]++
	}
	m.Table = table.New(owners, m.members)
}

// firstWithRoom returns the owner of the first point from at on that is not full.
// All that have points can be full only where members have no point of their own.
func firstWithRoom(points []ring.Point, at int, held []int, room int) algorithms.Bucket {
	for _, some := range [][]ring.Point{points[at:], points[:at]} {
		for _, p := range some {
			if held[p.Owner] < room {
				return p.Owner
			}
		}
	}
	return algorithms.Bucket(slices.IndexFunc(held, func(n int) bool { return n < room }))
}

// arrange puts the members in the order of the hashes of their names.
func (m *Map) arrange() {
	type named struct {
		hash  uint64
		name  string
		owner algorithms.Bucket
	}
	var all []named
	for b, n := range m.members.All() {
		all = append(all, named{m.hash.Position(n.Name), n.Name, b})
	}
	slices.SortFunc(all, func(x, y named) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), strings.Compare(x.name, y.name))
	})
	m.around, m.place = nil, make([]int32, m.members.Cap())
	for i, n := range all {
		m.around = append(m.around, n.owner)
		m.place[n.owner] = int32(i)
	}
}

// Add adds a node and places all partitions anew.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err == nil {
		m.distribute()
	}
	return b, err
}

// Remove removes a node and places all partitions anew.
func (m *Map) Remove(b algorithms.Bucket) error {
	_, err := m.members.Remove(b)
	if err == nil {
		m.distribute()
	}
	return err
}

// LookupN chooses among the members from the owner on, in the order of the hashes
// of their names, those of other zones first.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	owner := m.Lookup(h)
	if owner == algorithms.None {
		return 0
	}
	at := int(m.place[owner])
	for _, some := range [2][]algorithms.Bucket{m.around[at:], m.around[:at]} {
		for _, b := range some {
			if !c.Offer(b) {
				return c.Len()
			}
		}
	}
	return c.Len()
}

// HashKey returns the hash of the key, of which the library takes the remainder.
func (m *Map) HashKey(key string) uint64 { return m.hash.Number(key) }

// LookupKey returns the owner of the key's partition.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// Footprint returns the bytes of the partitions and of the order of the members.
func (m *Map) Footprint() int64 { return m.Table.Footprint() + 4*int64(len(m.around)+len(m.place)) }
