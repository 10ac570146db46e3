// Package grpcring places keys as the load balancing policy ring_hash of gRPC
// does (grpc-go, balancer/ringhash at commit 4793ad0; gRPC A42). It is the ring of
// Envoy, see package envoyring, with these differences:
//
//   - The hosts make their points in the order of their names, so that it does not
//     matter how they are listed.
//   - maximum_ring_size is 4,096 unless set. (Their names in a service config are
//     minRingSize and maxRingSize.)
//   - Key: its xxh64, as the hash policy for headers has it.
//
// Departures: gRPC in Go cuts both sizes down to the environment variable
// GRPC_RING_HASH_CAP, 4,096 unless set; here they are taken as given. gRPC leaves
// the order of points at one position open, here the host whose name sorts first
// owns it. A size of 0 is an error here, and means the default there.
package grpcring

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/envoyring"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes the ring of gRPC.
var Info = algorithms.Define("grpc-ring", "gRPC, load balancing policy ring_hash, A42", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits).
	TunedTogether("minimum_ring_size")

// Config has the settings of gRPC.
type Config struct {
	MinimumRingSize int `json:"minimum_ring_size"` // points to have at least, 1 to 8388608
	MaximumRingSize int `json:"maximum_ring_size"` // points to have at most, in the same range
}

// Default is that of gRPC.
var Default = Config{MinimumRingSize: 1024, MaximumRingSize: 4096}

// envoy returns the Config of the ring in Envoy's terms.
func (c Config) envoy() envoyring.Config {
	e := envoyring.Default
	e.MinimumRingSize, e.MaximumRingSize = c.MinimumRingSize, c.MaximumRingSize
	return e
}

// Step returns the value of minimum_ring_size that is nearest to size.
func (c Config) Step(size int) int { return c.envoy().Step(size) }

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 { return c.envoy().Forecast(nodes) }

// byName returns the order of the nodes by their names, as indices.
func byName(nodes []algorithms.Node) []int {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(nodes[i].Name, nodes[j].Name) })
	return order
}

// picked returns the elements with the indices.
func picked[T any](all []T, indices []int) []T {
	some := make([]T, len(indices))
	for k, i := range indices {
		some[k] = all[i]
	}
	return some
}

// placed returns values of which the k-th stands at indices[k].
func placed[T any](values []T, indices []int) []T {
	all := make([]T, len(indices))
	for k, i := range indices {
		all[i] = values[k]
	}
	return all
}

// PointCounts returns the number of points of each node.
func (c Config) PointCounts(nodes []algorithms.Node) []int {
	order := byName(nodes)
	return placed(c.envoy().PointCounts(picked(nodes, order)), order)
}

// Shares returns the part of the circle that each node owns.
func (c Config) Shares(nodes []algorithms.Node) ([]float64, error) {
	order := byName(nodes)
	shares, err := c.envoy().Shares(picked(nodes, order))
	if err != nil {
		return nil, err
	}
	return placed(shares, order), nil
}

// A Map is the ring of gRPC.
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

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := c.envoy().Check(); err != nil {
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
		order := byName(nodes)
		return envoyring.Scatter(picked(nodes, order), picked(buckets, order), c.envoy()), nil
	})
	if err != nil {
		return nil, err
	}
	return &Map{points.Weighted{Ring: r}}, nil
}

// HashKey returns the xxh64 of the key.
func (m *Map) HashKey(key string) uint64 { return xxhash.Sum64String(key) }

// LookupKey returns the owner of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
