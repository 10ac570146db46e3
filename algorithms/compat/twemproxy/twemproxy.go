// Package twemproxy places keys as the distribution ketama of twemproxy does, the
// proxy for memcached and Redis that is also called nutcracker (twitter/twemproxy
// 0.5, src/hashkit/nc_ketama.c and src/nc_server.c).
//
//   - Points: md5 of the server's name, "-" and a number from 0, and of each digest
//     all four little-endian words: 160 points a server in the mean. A name
//     host:11211 counts as the host alone, as it does in twemproxy for a server
//     without a name of its own.
//   - Key: what the setting hash names, fnv1a_64 by default, and 0 for the empty
//     key. With hash_tag, two characters such as {}, only what stands between the
//     first of them and the next second one is hashed, unless that is nothing.
//   - Boundary: the first point at or after the key.
//   - Weights: a server has floor(w/W * 160 / 4 * n + 1e-10) digests, W being the sum
//     of the weights and n the number of servers, in steps of 32 bits. A server
//     below 1/40 of the mean weight has none: see Pointless.
//   - A change: the number of points depends on n and W, so that a server that
//     joins or leaves may change the points of the others.
//
// The hash crc32 has 15 bits on a circle of 32: all keys go to the servers of the
// first points (twitter/twemproxy issue 175). crc32a has all of them.
//
// Departures: two servers' points at one position are the server's whose name
// sorts first, where twemproxy leaves that to the order in which qsort happens to
// put them; a server of weight 0, which twemproxy refuses, is a member without
// points and does not count in n; weights need not be whole numbers; names are
// not cut at 85 bytes. Servers are never ejected.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package twemproxy

import (
	"fmt"
	"math"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes twemproxy to the harness.
var Info = algorithms.Define("twemproxy-ketama", "twemproxy (nutcracker) 0.5", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits)

// Config has the settings of a twemproxy pool, under their names.
type Config struct {
	// Hash places the keys: one_at_a_time, md5, crc16, crc32, crc32a, fnv1_64,
	// fnv1a_64, fnv1_32, fnv1a_32, hsieh, murmur or jenkins.
	Hash string `json:"hash"`

	// HashTag is two characters that enclose the part of a key that is hashed,
	// or empty for the whole key.
	HashTag string `json:"hash_tag"`
}

// Default has the defaults of twemproxy.
var Default = Config{Hash: "fnv1a_64"}

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 { return points.Bytes * 160 * int64(len(nodes)) }

// A Map is a ring as twemproxy lays it out. See package algorithms for what may
// run at the same time.
type Map struct {
	points.Weighted
	hash func(string) uint32
	tag  string
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

// New builds a ring of the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	hash, err := hashkit.Twemproxy.ByName(c.Hash)
	if err != nil {
		return nil, err
	}
	if len(c.HashTag) != 0 && len(c.HashTag) != 2 {
		return nil, fmt.Errorf("hash_tag %q, it must be two bytes such as {}, or empty", c.HashTag)
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{Space: points.Space32}, layout)
	if err != nil {
		return nil, err
	}
	return &Map{points.Weighted{Ring: r}, hash, c.HashTag}, nil
}

// HashKey returns the key's position on the circle, in both halves.
func (m *Map) HashKey(key string) uint64 {
	if key = m.tagged(key); key == "" {
		return 0
	}
	return algorithms.Widen(m.hash(key))
}

// tagged returns the part of the key that is hashed.
func (m *Map) tagged(key string) string {
	if m.tag == "" {
		return key
	}
	first := strings.IndexByte(key, m.tag[0])
	if first < 0 {
		return key
	}
	if n := strings.IndexByte(key[first+1:], m.tag[1]); n > 0 {
		return key[first+1:][:n]
	}
	return key
}

// LookupKey returns the server of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

func layout(members *algorithms.Members) ([]points.Point, error) {
	servers := 0
	for _, n := range members.All() {
		if n.Weight > math.MaxInt32 {
			return nil, fmt.Errorf("node %q has weight %v, twemproxy keeps weights below 2^31", n.Name, n.Weight)
		}
		if n.Weight > 0 {
			servers++
		}
	}
	total := float32(members.TotalWeight())
	all := make([]points.Point, 0, 160*servers)
	for b, n := range members.All() {
		if n.Weight > 0 {
			all = hashkit.AppendPoints(all, b, strings.TrimSuffix(n.Name, ":11211"), digests(n.Weight, total, servers), 4)
		}
	}
	return all, nil
}

// digests returns how many digests a server of weight w has, of so many servers
// of that total weight: three steps of 32 bits, and a sum of 64 that is rounded
// to 32.
func digests(w float64, total float32, servers int) int {
	part := float32(w) / total
	share := float32(float32(float32(part*160)/4) * float32(servers))
	return int(math.Floor(float64(float32(float64(share) + 1e-10))))
}
