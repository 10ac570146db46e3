// Package nginx places keys as the directive "hash KEY consistent" of nginx does
// (nginx/nginx, commit 3f6f782, ngx_http_upstream_hash_module.c), which follows
// the Perl client Cache::Memcached::Fast.
//
//   - Points: 160 for each unit of weight. The i-th is the crc32 of host, a zero
//     byte, port and the point before it as four little-endian bytes, beginning with
//     0. The server's name is divided at its last ":" if only digits follow;
//     otherwise it is all host, and the port empty. Of unix:PATH the host is PATH.
//   - Key: its crc32.
//   - Boundary: the first point at or after the key.
//   - Weights: whole numbers, each unit 160 points more. They are not divided by
//     their sum: weights of 100 mean 100 times the memory of weights of 1.
//   - A change: a server that joins takes keys for itself alone, and one that
//     leaves, or loses weight, gives back only its own.
//
// Departures: of two servers' points at one position nginx drops those that qsort
// happens to put second, here the server whose name sorts first has it; a server
// of weight 0, which nginx refuses, is a member without points; servers are never
// down. The replicas of a key are the next servers on the circle, which are those
// that nginx tries next.
//
// The structure is that of package points, 16 bytes a point, as in nginx. Every
// change makes all points anew.
package nginx

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes nginx to the harness.
var Info = algorithms.Define("nginx-chash", "nginx, nginx/nginx@3f6f782", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance)

// Config is empty: the directive has no settings.
type Config struct{}

// Default is the only Config.
var Default Config

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 {
	units := 0.0
	for _, n := range nodes {
		units += n.Weight
	}
	if units > math.MaxInt64/(points.Bytes*perUnit) {
		return math.MaxInt64
	}
	return points.Bytes * perUnit * int64(units)
}

// perUnit is how many points a unit of weight gives.
const perUnit = 160

// A Map is a ring as nginx lays it out. See package algorithms for what may run
// at the same time.
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
func (*Map) HashKey(key string) uint64 {
	// The bytes are read, and not kept.
	return algorithms.Widen(crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(key), len(key))))
}

// LookupKey returns the server of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

func layout(members *algorithms.Members) ([]points.Point, error) {
	total := 0.0
	for _, n := range members.All() {
		if n.Weight != math.Trunc(n.Weight) {
			return nil, algorithms.Unsupported("node %q has weight %v, nginx takes whole numbers", n.Name, n.Weight)
		}
		total += n.Weight
	}
	if total > math.MaxInt32/perUnit {
		return nil, algorithms.Unsupported("a total weight of %v makes more points than 2^31, take smaller weights", total)
	}
	all := make([]points.Point, 0, perUnit*int(total))
	for b, n := range members.All() {
		host, port := split(n.Name)
		base := crc32.ChecksumIEEE([]byte(host + "\x00" + port))
		var before [4]byte
		for range perUnit * int(n.Weight) {
			at := crc32.Update(base, crc32.IEEETable, before[:])
			all = append(all, points.Point{Position: uint64(at), Owner: b})
			binary.LittleEndian.PutUint32(before[:], at)
		}
	}
	return all, nil
}

// split divides a server's name into what is hashed before and after the zero.
func split(name string) (host, port string) {
	if len(name) >= 5 && strings.EqualFold(name[:5], "unix:") {
		return name[5:], ""
	}
	if head := strings.TrimRight(name, "0123456789"); strings.HasSuffix(head, ":") {
		return head[:len(head)-1], name[len(head):]
	}
	return name, ""
}
