// Package groupcache places keys as the package consistenthash of groupcache does
// (golang/groupcache, consistenthash/consistenthash.go), which also serves the
// many programs that took a copy of it.
//
//   - Points: the hash of a number from 0, written before the node's name without
//     anything between; as many as replicas says, which is 50 in the HTTP pool of
//     groupcache.
//   - Key: its hash by the same function, crc32 unless hash_fn says another.
//   - Boundary: the first point at or after the key.
//   - Weights: none, they must be equal.
//   - A change: groupcache has no removal, it makes the circle anew. A node that
//     joins takes keys for itself, and one that leaves gives back only its own.
//
// Of two nodes' points at one position the node added last has it. Names that
// begin with a digit share whole labels: the point 1 of "1.2.3.4" is the point 11
// of ".2.3.4". That the list's order decides then is kept; here it is the order of
// the buckets.
//
// The replicas of a key are the next nodes on the circle, which groupcache itself
// never asks for.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package groupcache

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// Info describes groupcache to the harness.
var Info = algorithms.Define("groupcache", "golang/groupcache, package consistenthash", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance).Tuned("replicas")

// Config has what consistenthash.New is given.
type Config struct {
	// Replicas is the number of points of a node, 1 or more.
	Replicas int `json:"replicas"`

	// Hash is the name of a function of 32 bits in package keyhash.
	Hash string `json:"hash_fn"`
}

// Default has the defaults of groupcache's HTTP pool.
var Default = Config{Replicas: 50, Hash: "crc32"}

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	if c.Replicas > math.MaxInt64/points.Bytes/max(len(nodes), 1) {
		return math.MaxInt64
	}
	return points.Bytes * int64(c.Replicas) * int64(len(nodes))
}

// maxPoints bounds the points of a ring.
const maxPoints = math.MaxInt32

// A Map is a ring as groupcache lays it out. See package algorithms for what may
// run at the same time.
type Map struct {
	*points.Ring
	hash func(string) uint64
}

var (
	_ algorithms.Mapper     = (*Map)(nil)
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.KeyHasher  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
)

// New builds a ring of the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	hash, err := keyhash.ByName(c.Hash)
	if err != nil {
		return nil, err
	}
	if hash.Bits != 32 {
		return nil, fmt.Errorf("hash_fn %q has %d bits, groupcache takes one of 32, such as crc32", c.Hash, hash.Bits)
	}
	return build(nodes, c.Replicas, hash.Position)
}

// build is New with any hash whose lower half is the position.
func build(nodes []algorithms.Node, replicas int, hash func(string) uint64) (*Map, error) {
	if replicas < 1 {
		return nil, fmt.Errorf("replicas %d, it must be 1 or more", replicas)
	}
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{Space: points.Space32, Tie: points.LastListed}, func(m *algorithms.Members) ([]points.Point, error) {
		if m.Len() > maxPoints/replicas {
			return nil, fmt.Errorf("%d nodes of %d points are more than 2^31, take fewer replicas", m.Len(), replicas)
		}
		all := make([]points.Point, 0, replicas*m.Len())
		for b, n := range m.All() {
			for i := range replicas {
				all = append(all, points.Point{Position: hash(strconv.Itoa(i)+n.Name) % points.Space32, Owner: b})
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	return &Map{r, hash}, nil
}

// HashKey returns the key's position on the circle, in both halves.
func (m *Map) HashKey(key string) uint64 { return m.hash(key) }

// LookupKey returns the node of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
