// Package spymemcached places keys as the KetamaNodeLocator of spymemcached does,
// a Java client of memcached (dustin/java-memcached-client, commit fd1447f).
//
//   - Points: md5 of the server's name, "-" and a number from 0 to 39, and of each
//     digest all four little-endian words: 160 points a server. The name is
//     host:port, as Java prints the server's address without a "/" before it;
//     where the client resolves a host name it is host/address:port.
//   - Key: the first little-endian word of its md5 (KETAMA_HASH).
//   - Boundary: the first point at or after the key.
//   - Weights: none, they must be equal.
//   - A change: a server that joins takes keys for itself alone, and one that
//     leaves gives back only its own.
//
// Of two servers' points at one position the server listed last has it.
//
// The replicas of a key are the next servers on the circle; the client itself
// tries others by hashing the key anew.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package spymemcached

import (
	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes spymemcached to the harness.
var Info = algorithms.Define("spymemcached-ketama", "spymemcached, dustin/java-memcached-client@fd1447f", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance)

// Config is empty: KetamaNodeLocator has no settings that would move keys.
type Config struct{}

// Default is the only Config.
var Default Config

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 {
	return points.Bytes * 4 * digests * int64(len(nodes))
}

// digests is how many digests a server has.
const digests = 40

// A Map is a ring as spymemcached lays it out. See package algorithms for what
// may run at the same time.
type Map struct{ *points.Ring }

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
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{Space: points.Space32, Tie: points.LastListed}, layout)
	if err != nil {
		return nil, err
	}
	return &Map{r}, nil
}

// HashKey returns the key's position on the circle, in both halves.
func (*Map) HashKey(key string) uint64 { return algorithms.Widen(hashkit.MD5(key)) }

// LookupKey returns the server of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

func layout(members *algorithms.Members) ([]points.Point, error) {
	all := make([]points.Point, 0, 4*digests*members.Len())
	for b, n := range members.All() {
		all = hashkit.AppendPoints(all, b, n.Name, digests, 4)
	}
	return all, nil
}
