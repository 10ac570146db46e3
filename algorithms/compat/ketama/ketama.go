// Package ketama places keys as libketama does, the library by which Last.fm made
// consistent hashing the custom of memcached clients (RJ/ketama, commit 18cf9a7).
//
//   - Points: md5 of the server's name, "-" and a number from 0, and of each digest
//     all four little-endian words: 40 digests a server in the mean, 160 points.
//   - Key: the first little-endian word of its md5.
//   - Boundary: the first point at or after the key.
//   - Weights: a server has floor(w/W * 40 * n) digests, W being the sum of the
//     weights and n the number of servers, with w/W and the product rounded to 32
//     bits. So 8 equal servers have 160 points each, but those of ketama.servers
//     1,264 in all instead of 1,280, and a server below 1/40 of the mean weight has
//     none: see Pointless.
//   - A change: the number of points depends on n and W, so that a server that
//     joins or leaves may change the points of the others. With equal weights the
//     rounding alone decides: at 60 servers each has 160, at 61 it has 156, and
//     keys move between servers that stay.
//
// Departures: two servers' points at one position are the server's whose name
// sorts first, where libketama leaves that to the order in which qsort happens to
// put them; a server of weight 0, which libketama refuses, is a member without
// points and does not count in n; weights need not be whole numbers; a name may be
// longer than 22 bytes, and a key may hold a NUL.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package ketama

import (
	"fmt"
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes libketama to the harness.
var Info = algorithms.Define("ketama", "libketama (Last.fm), RJ/ketama@18cf9a7", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits)

// Config is empty: libketama has no settings.
type Config struct{}

// Default is the only Config.
var Default Config

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 { return points.Bytes * 160 * int64(len(nodes)) }

// A Map is a ring as libketama lays it out. See package algorithms for what may
// run at the same time.
type Map struct{ points.Weighted }

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
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{Space: points.Space32}, layout)
	if err != nil {
		return nil, err
	}
	return &Map{points.Weighted{Ring: r}}, nil
}

// HashKey returns the key's position on the circle, in both halves.
func (*Map) HashKey(key string) uint64 { return algorithms.Widen(hashkit.MD5(key)) }

// LookupKey returns the server of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// maxWeight is the largest weight, that of a signed long in libketama.
const maxWeight = math.MaxInt64

func layout(members *algorithms.Members) ([]points.Point, error) {
	servers := 0
	for _, n := range members.All() {
		if n.Weight > maxWeight {
			return nil, fmt.Errorf("node %q has weight %v, libketama keeps weights below 2^63", n.Name, n.Weight)
		}
		if n.Weight > 0 {
			servers++
		}
	}
	total := float32(members.TotalWeight())
	all := make([]points.Point, 0, 160*servers)
	for b, n := range members.All() {
		if n.Weight > 0 {
			all = hashkit.AppendPoints(all, b, n.Name, digests(n.Weight, total, servers), 4)
		}
	}
	return all, nil
}

// digests returns how many digests a server of weight w has, of so many servers
// of that total weight. The part of the total is rounded to 32 bits, and once
// more the product.
func digests(w float64, total float32, servers int) int {
	part := float32(w) / total
	return int(math.Floor(float64(float32(float64(part) * 40 * float64(servers)))))
}
