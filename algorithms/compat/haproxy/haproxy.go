// Package haproxy places keys as "hash-type consistent" of HAProxy does
// (haproxy/haproxy, commit 50872da, which became 3.5-dev5: src/lb_chash.c,
// src/backend.c and src/hash.c).
//
//   - Points: 16 for each unit of weight. The i-th of the server with the id d is the
//     avalanche of d*4096 + i: names play no part. A server's id is the number
//     after the "@" that its name ends in, or else its place in the list, from 1;
//     when that id is taken, the next one that is free, and the places of the
//     servers after it are counted on from there. A server that is added later gets
//     the lowest id that is free, and keeps it.
//   - Key: its hash_function, and with avalanche that of the result, which is Bob
//     Jenkins' avalanche of 32 bits times 3,221,225,473. As in HAProxy, sdbm with
//     avalanche is the default.
//   - Boundary: the nearer of the point before the key and the one at or after it;
//     the one before where both are equally near.
//   - Weights: whole numbers from 0 to 256.
//   - A change: a server that joins takes keys for itself alone, and one that
//     leaves, or loses weight, gives back only its own. But ids are places: a list
//     read anew without a server in its middle is another circle.
//
// With hash_balance_factor, a percentage above 100, a request goes to the first
// server from its choice on, clockwise, that holds fewer requests than its slots:
// see [Bounded].
//
// Departures: hash_function none (the key is the hash) and hash-key (points by
// address) are left out; the slots of weights that add up to more than 4,096 are
// counted without the overflow of 32 bits that they have in HAProxy; all servers
// are up, and none is a backup.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package haproxy

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes HAProxy to the harness.
var Info = algorithms.Define("haproxy-chash", "HAProxy 3.5, haproxy/haproxy@50872da", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.OrderIndependent, algorithms.Inherits)

// Config has the settings of HAProxy under their names, with "_" for "-".
type Config struct {
	HashFunction string `json:"hash_function"` // sdbm, djb2, wt6 or crc32
	Avalanche    bool   `json:"avalanche"`

	// HashBalanceFactor is how much a server may hold of the mean load, in
	// percent, above 100; 0 bounds nothing.
	HashBalanceFactor int `json:"hash_balance_factor"`
}

// Default has the defaults of hash-type consistent.
var Default = Config{HashFunction: "sdbm", Avalanche: true}

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 {
	units := 0.0
	for _, n := range nodes {
		units += min(n.Weight, maxWeight)
	}
	return points.Bytes * perUnit * int64(units)
}

const (
	perUnit   = 16   // points for a unit of weight
	maxWeight = 256  // of a server
	idStep    = 4096 // between the first points of two ids, before the avalanche
)

// A Map is a ring as HAProxy lays it out. See package algorithms for what may run
// at the same time.
type Map struct {
	points.Weighted
	hash func(string) uint32
	ids  []uint32 // by bucket, 0 for one that is bound to no node
}

var (
	_ algorithms.Mapper     = (*Map)(nil)
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.KeyHasher  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Forecaster = Config{}
)

// New builds a ring of the nodes: a *Map, or with a hash_balance_factor a
// *Bounded.
func New(nodes []algorithms.Node, c Config) (algorithms.Mapper, error) {
	hash, err := c.function()
	if err != nil {
		return nil, err
	}
	if f := c.HashBalanceFactor; f != 0 && (f <= 100 || f > math.MaxInt32) {
		return nil, fmt.Errorf("hash_balance_factor %d, it must be above 100, or 0 for no bound", f)
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{hash: hash}
	r, err := points.New(members, points.Circle{Space: points.Space32, Rule: points.Nearest, Tie: points.FirstListed}, m.layout)
	if err != nil {
		return nil, err
	}
	m.Weighted = points.Weighted{Ring: r}
	if c.HashBalanceFactor == 0 {
		return m, nil
	}
	b := &Bounded{Map: m, factor: uint64(c.HashBalanceFactor)}
	b.fit()
	return b, nil
}

// function returns the hash of the keys.
func (c Config) function() (func(string) uint32, error) {
	var known []string
	for _, f := range functions {
		if f.name == c.HashFunction {
			if !c.Avalanche {
				return f.sum, nil
			}
			return func(key string) uint32 { return avalanche(f.sum(key)) }, nil
		}
		known = append(known, f.name)
	}
	return nil, fmt.Errorf("unknown hash_function %q, %s", c.HashFunction, algorithms.Nearest(c.HashFunction, known))
}

// HashKey returns the key's position on the circle, in both halves.
func (m *Map) HashKey(key string) uint64 { return algorithms.Widen(m.hash(key)) }

// LookupKey returns the server of the key, whatever the load.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// layout makes the points, and gives ids to the nodes that have none.
func (m *Map) layout(members *algorithms.Members) ([]points.Point, error) {
	total := 0
	for _, n := range members.All() {
		if n.Weight != math.Trunc(n.Weight) || n.Weight > maxWeight {
			return nil, algorithms.Unsupported("node %q has weight %v, HAProxy takes whole numbers from 0 to %d", n.Name, n.Weight, maxWeight)
		}
		total += perUnit * int(n.Weight)
	}
	ids, err := m.identify(members)
	if err != nil {
		return nil, err
	}
	all := make([]points.Point, 0, total)
	for b, n := range members.All() {
		for i := range perUnit * uint32(n.Weight) {
			all = append(all, points.Point{Position: uint64(avalanche(ids[b]*idStep + i)), Owner: b})
		}
	}
	m.ids = ids
	return all, nil
}

// identify returns the ids of the members by bucket.
func (m *Map) identify(members *algorithms.Members) ([]uint32, error) {
	ids := make([]uint32, members.Cap())
	taken := map[uint32]string{}
	take := func(b algorithms.Bucket, id uint32, name string) error {
		if other, dup := taken[id]; dup {
			return fmt.Errorf("node %q has the id %d of node %q, ids must differ", name, id, other)
		}
		ids[b], taken[id] = id, name
		return nil
	}
	for b, n := range members.All() {
		id, err := idOf(n.Name)
		if err == nil && id == 0 && int(b) < len(m.ids) {
			id = m.ids[b]
		}
		if err == nil && id != 0 {
			err = take(b, id, n.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	next := uint32(1)
	for b, n := range members.All() {
		if ids[b] == 0 {
			for taken[next] != "" {
				next++
			}
			ids[b], taken[next] = next, n.Name
		}
		if m.ids == nil { // in a list that is read, a place counts whatever id it has
			next++
		}
	}
	return ids, nil
}

// idOf returns the id that a name ends in, or 0 when there is none.
func idOf(name string) (uint32, error) {
	i := strings.LastIndexByte(name, '@')
	if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(name[i+1:], 10, 31)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("node %q ends in the id %s, it must be from 1 to 2147483647", name, name[i+1:])
	}
	return uint32(id), nil
}

var functions = []struct {
	name string
	sum  func(string) uint32
}{{"sdbm", sdbm}, {"djb2", djb2}, {"wt6", wt6}, {"crc32", checksum}}

func sdbm(key string) uint32 {
	h := uint32(0)
	for i := range len(key) {
		h = h*65599 + uint32(key[i])
	}
	return h
}

func djb2(key string) uint32 {
	h := uint32(5381)
	for i := range len(key) {
		h = h*33 + uint32(key[i])
	}
	return h
}

// wt6 is a hash by Willy Tarreau: two words that are turned by as many bits as
// their own bits say, and change places.
func wt6(key string) uint32 {
	x, y := uint32(0xa53c965a), uint32(0x5ca6953a)
	turnY, turnX := 6, 18
	for i := range len(key) {
		c := uint32(key[i])
		x, y = ^(x ^ c), ^(y + c)
		x, y = bits.RotateLeft32(y, turnY), bits.RotateLeft32(x, turnX)
		mix := x>>16 ^ y
		turnY, turnX = int(mix&31), int(mix>>11&31)
	}
	return x ^ y
}

// checksum is crc32 with the IEEE polynomial. The bytes are read, and not kept.
func checksum(key string) uint32 {
	return crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// avalanche is Bob Jenkins' hash of a number of 32 bits in six steps
// (burtleburtle.net/bob/hash/integer.html), times a prime near 3/4 of the circle.
func avalanche(a uint32) uint32 {
	a += 0x7ed55d16 + a<<12
	a ^= 0xc761c23c ^ a>>19
	a += 0x165667b1 + a<<5
	a = (a + 0xd3a2646c) ^ a<<9
	a += 0xfd7046c5 + a<<3
	a ^= 0xb55a4f09 ^ a>>16
	return a * 3221225473
}
