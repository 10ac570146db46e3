// Package tokenring places keys as Apache Cassandra does with its
// Murmur3Partitioner (as of Cassandra 4 and 5, package org.apache.cassandra.dht),
// and as ScyllaDB does after it.
//
//   - Points: the tokens of the nodes, num_tokens for a weight of 1, as numbers of 64
//     bits with a sign. With allocation random they are the tokens of the node's
//     name, "#" and a number from 0, where Cassandra draws them by chance. With
//     allocation even a node that joins takes them where they even out what the
//     nodes own, see below.
//   - Key: its token, the first half of MurmurHash3_x64_128, in the form that
//     Cassandra has of it: in the last block, unless that is full, bytes count as
//     numbers with a sign, so that keys with bytes above 0x7f are hashed to other
//     values than elsewhere. The least of all numbers is no key's token, it becomes
//     the greatest, but for the empty key, which has it.
//   - Boundary: the first token at or after the key's.
//   - Weights: a node has max(1, round(num_tokens * weight)) tokens. Cassandra has a
//     num_tokens for each node instead.
//   - A change: a node that joins takes keys for itself alone, and one that leaves
//     gives its ranges to the tokens behind them. Tokens never move.
//
// # Even allocation
//
// Nodes join one after the other, in the order of the list. The first one spreads
// its tokens evenly. Each of the next ones takes for each of its tokens, from the
// node that owns most for its number of tokens, a part of the widest range: as
// much as the mean range will be, and three quarters of it at most. With 16 tokens
// a node this brings the busiest of 100 nodes to 1.03 of the mean, where random
// tokens leave it near 1.7. Cassandra's own allocators, for
// allocate_tokens_for_local_replication_factor, pursue the same end by optimising
// over replicas too, and their first tokens are drawn by chance: what is shown here
// is the kind, not the very tokens. What ranges a node took depends on who was
// there, and so on the order of joining.
//
// The replicas of a key are the next nodes on the circle, the racks (zones) first
// that have none yet, as NetworkTopologyStrategy has it in one data centre.
//
// The structure is that of package points, 16 bytes a token, and 8 more for each
// that is kept. A change costs O(P log P) for P tokens; even allocation of v
// tokens costs O(v * (n + v)) besides.
package tokenring

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes the token ring to the harness.
var Info = algorithms.Define("token-ring", "Apache Cassandra, Murmur3Partitioner", Default, New).
	Costing("O(log P) for P points", "24 bytes a token").
	Declining(algorithms.Balance).Tuned("num_tokens")

// Config has the settings of a token ring.
type Config struct {
	NumTokens  int    `json:"num_tokens"` // of a node of weight 1
	Allocation string `json:"allocation"` // random or even
}

// Default has the num_tokens of Cassandra since version 4.
var Default = Config{NumTokens: 16, Allocation: random}

const (
	random = "random"
	even   = "even"
)

// tokens returns how many tokens a node has.
func (c Config) tokens(n algorithms.Node) float64 {
	if n.Weight == 0 {
		return 0
	}
	return max(1, math.Round(float64(c.NumTokens)*n.Weight))
}

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	bytes := 0.0
	for _, n := range nodes {
		bytes += (points.Bytes + 8) * c.tokens(n)
	}
	if bytes < math.MaxInt64 {
		return int64(bytes)
	}
	return math.MaxInt64
}

// A Map is a token ring. See package algorithms for what may run at the same
// time.
type Map struct {
	*points.Ring
	config Config
	tokens [][]uint64 // by bucket, in the order in which they were taken
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

// New builds a token ring of the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if c.NumTokens < 1 {
		return nil, fmt.Errorf("num_tokens %d, it must be 1 or more", c.NumTokens)
	}
	if c.Allocation != random && c.Allocation != even {
		return nil, fmt.Errorf("unknown allocation %q, %s", c.Allocation, algorithms.Nearest(c.Allocation, []string{random, even}))
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{config: c}
	r, err := points.New(members, points.Circle{}, m.layout)
	if err != nil {
		return nil, err
	}
	m.Ring = r
	return m, nil
}

// HashKey returns the key's token. On a circle it does not matter that tokens
// have a sign: their order as numbers without one is the same, from another
// beginning.
func (*Map) HashKey(key string) uint64 {
	const least, greatest = 1 << 63, 1<<63 - 1
	if key == "" {
		return least
	}
	// The bytes are read, and not kept.
	if token := hash(unsafe.Slice(unsafe.StringData(key), len(key))); token != least {
		return token
	}
	return greatest
}

// LookupKey returns the node of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// Footprint returns the bytes of the points and of the tokens by bucket.
func (m *Map) Footprint() int64 { return m.Ring.Footprint() + 8*int64(len(m.Points())) }

// layout makes points of the tokens of all members, and takes tokens for those
// that have none.
func (m *Map) layout(members *algorithms.Members) ([]points.Point, error) {
	total := 0.0
	for _, n := range members.All() {
		total += m.config.tokens(n)
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("%.0f tokens, the most are 2^31, take fewer num_tokens or smaller weights", total)
	}
	tokens := make([][]uint64, members.Cap())
	for b := range members.All() {
		if int(b) < len(m.tokens) {
			tokens[b] = m.tokens[b]
		}
	}
	var a *allocator
	if m.config.Allocation == even {
		a = newAllocator(tokens)
	}
	for b, n := range members.All() {
		count := int(m.config.tokens(n))
		switch {
		case tokens[b] != nil || count == 0:
		case m.config.Allocation == even:
			tokens[b] = a.join(b, count)
		default:
			for i := range count {
				tokens[b] = append(tokens[b], m.HashKey(n.Name+"#"+strconv.Itoa(i)))
			}
		}
	}
	all := make([]points.Point, 0, int(total))
	for b, list := range tokens {
		for _, token := range list {
			all = append(all, points.Point{Position: token, Owner: algorithms.Bucket(b)})
		}
	}
	m.tokens = tokens
	return all, nil
}
