// Package envoyring places keys as the load balancing policy ring hash of Envoy
// does (source/extensions/load_balancing_policies/ring_hash, as of 2026).
//
//   - Points: the hash of the host's name, "_" and a number from 0, by
//     hash_function xxh64 or MurmurHash64A. Their total is fixed, not their number
//     for each host: weights are divided by their sum, and with the least of them w
//     the circle gets ceil(w*minimum_ring_size) / w points, so that the lightest
//     host has a whole number of them, but no more than maximum_ring_size. Host by
//     host, in the order in which they are listed, points are made until as many
//     exist as the hosts so far have a claim to.
//   - Key: its xxh64, as the policies for headers and cookies hash it.
//   - Boundary: the first point at or after the key.
//   - Weights: as above. Envoy takes whole numbers; here any will do. Beside a
//     heavy host a light one may have far less than its share, since it has few
//     points.
//   - A change: as the total rests, every other host gives points away when one
//     joins, and takes some when one leaves. So keys move between hosts that stay:
//     of 10 hosts, one more moves 15% of the keys instead of 9%.
//
// Departures: Envoy leaves the order of points at one position open, here the
// host whose name sorts first owns it; a ring of no points is an error, where
// Envoy has no host for any request; localities, priorities, health and
// hash_balance_factor are left out. With the default minimum_ring_size of 1,024, 200
// hosts have 6 points each, and the busiest typically has 2.4 times its share.
//
// The replicas of a key are the next hosts on the circle. Envoy's own retries go
// to the next point, which may be the same host's.
package envoyring

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes the ring of Envoy.
var Info = algorithms.Define("envoy-ring", "Envoy, load balancing policy ring_hash", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.OrderIndependent, algorithms.Inherits).
	TunedTogether("minimum_ring_size")

// Config has the settings of Envoy under their names.
type Config struct {
	MinimumRingSize int `json:"minimum_ring_size"` // points to have at least, 1 to 8388608
	MaximumRingSize int `json:"maximum_ring_size"` // points to have at most, in the same range

	// HashFunction is that of the points, XX_HASH or MURMUR_HASH_2; keys are
	// hashed with xxh64 whatever it is.
	HashFunction string `json:"hash_function"`
}

// Default is that of Envoy.
var Default = Config{MinimumRingSize: 1024, MaximumRingSize: MostPoints, HashFunction: "XX_HASH"}

var functions = map[string]func([]byte) uint64{"XX_HASH": xxhash.Sum64, "MURMUR_HASH_2": murmur2}

// MostPoints is the most that Envoy and gRPC take for either size.
const MostPoints = 8 << 20

// Check refuses sizes that Envoy refuses, and a ring without points.
func (c Config) Check() error {
	for _, size := range []struct {
		name  string
		value int
	}{{"minimum_ring_size", c.MinimumRingSize}, {"maximum_ring_size", c.MaximumRingSize}} {
		if size.value < 1 || size.value > MostPoints {
			return fmt.Errorf("%s %d, it must be 1 to %d", size.name, size.value, MostPoints)
		}
	}
	if c.MinimumRingSize > c.MaximumRingSize {
		return fmt.Errorf("minimum_ring_size (%d) > maximum_ring_size (%d), lower the one or raise the other", c.MinimumRingSize, c.MaximumRingSize)
	}
	if functions[c.HashFunction] == nil {
		return fmt.Errorf("hash_function %q, it is XX_HASH or MURMUR_HASH_2", c.HashFunction)
	}
	return nil
}

// Step returns the value of minimum_ring_size that is nearest to size.
func (c Config) Step(size int) int { return min(max(size, 1), c.MaximumRingSize) }

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	if c.Check() != nil {
		return 0
	}
	total := int64(0)
	for _, n := range c.PointCounts(nodes) {
		total += int64(n)
	}
	return total * points.Bytes
}

// PointCounts returns the number of points of each node.
func (c Config) PointCounts(nodes []algorithms.Node) []int {
	total, least := 0.0, 1.0
	for _, n := range nodes {
		total += n.Weight
	}
	for _, n := range nodes {
		if n.Weight > 0 {
			least = min(least, max(n.Weight/total, math.SmallestNonzeroFloat64))
		}
	}
	scale := min(math.Ceil(float64(least*float64(c.MinimumRingSize)))/least, float64(c.MaximumRingSize))
	counts := make([]int, len(nodes))
	have, claim := 0.0, 0.0
	for i, n := range nodes {
		// The product is rounded before it is added, as Envoy is compiled.
		claim += float64(scale * (n.Weight / total))
		if upTo := math.Ceil(claim); n.Weight > 0 && upTo > have {
			counts[i] = int(upTo - have)
			have = upTo
		}
	}
	return counts
}

// Shares returns the part of the circle that each node owns.
func (c Config) Shares(nodes []algorithms.Node) ([]float64, error) {
	m, err := New(nodes, c)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, len(nodes))
	prev := uint64(math.MaxUint64) // the circle begins behind its last position
	_, cells := m.Cells()
	for last, b := range cells {
		width := last - prev
		if width == 0 { // one cell that is all of the circle
			shares[b] = 1
		}
		shares[b] += float64(width) * 0x1p-64
		prev = last
	}
	return shares, nil
}

// A Map is the ring of Envoy.
type Map struct{ points.Weighted }

var (
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Scatterer  = Config{}
)

// New returns a Map over the nodes, in their order.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{}, func(members *algorithms.Members) ([]points.Point, error) {
		var nodes []algorithms.Node
		var buckets []algorithms.Bucket
		for b, n := range members.All() {
			nodes, buckets = append(nodes, n), append(buckets, b)
		}
		return Scatter(nodes, buckets, c), nil
	})
	if err != nil {
		return nil, err
	}
	return &Map{points.Weighted{Ring: r}}, nil
}

// Scatter returns the points that the nodes make in their order, for a Config that
// passes Check. nodes[i] has the bucket buckets[i].
func Scatter(nodes []algorithms.Node, buckets []algorithms.Bucket, c Config) []points.Point {
	hash := functions[c.HashFunction]
	var all []points.Point
	for i, count := range c.PointCounts(nodes) {
		label := append([]byte(nodes[i].Name), '_')
		for k := range count {
			position := hash(strconv.AppendInt(label, int64(k), 10))
			all = append(all, points.Point{Position: position, Owner: buckets[i]})
		}
	}
	return all
}

// HashKey returns the xxh64 of the key.
func (m *Map) HashKey(key string) uint64 { return xxhash.Sum64String(key) }

// LookupKey returns the owner of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
