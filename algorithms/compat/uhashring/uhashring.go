// Package uhashring places keys as the Python library uhashring does
// (ultrabug/uhashring, commit 9c0e25c), in either of its two ways. By default:
//
//   - Points: the md5 of the node's name, "-" and a number from 0, as one number of
//     128 bits; vnodes for each unit of weight, 160 unless vnodes says otherwise.
//   - Key: its md5, in the same way.
//
// With hash_fn ketama:
//
//   - Points: of the same digests the first replicas little-endian words. A node
//     has floor(vnodes * n * w / W) digests, W being the sum of the weights and n
//     the number of nodes, those of weight 0 included; vnodes is 40 and replicas 4
//     unless they say otherwise. A node whose weight is too small for a digest has
//     no points: see Pointless.
//   - Key: the first little-endian word of its md5.
//
// And in both:
//
//   - Boundary: the first point after the key, its own position excluded.
//   - Weights: whole numbers. By default they are not divided by their sum.
//   - A change: by default a node that joins takes keys for itself alone, and one
//     that leaves gives back only its own. With ketama the number of points depends
//     on n and W, so that the others' points may change; at equal weights they do
//     not, since the division is exact.
//
// Departures: the numbers of 128 bits are told apart by their first 64; of two
// nodes' points at one position the node has it whose name sorts first, where in
// uhashring the one that joined last does and takes it along when it leaves
// (ultrabug/uhashring issue 6).
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package uhashring

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// Info describes uhashring to the harness.
var Info = algorithms.Define("uhashring", "ultrabug/uhashring@9c0e25c", Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance)

// Config has the arguments of HashRing.
type Config struct {
	HashFn string `json:"hash_fn"` // md5, which is the default of HashRing, or ketama

	// VNodes is the number of digests of a node of weight 1, or nil for what
	// HashRing takes by itself: 160, with ketama 40.
	VNodes *int `json:"vnodes"`

	// Replicas is how many points ketama makes of a digest, 1 to 4.
	Replicas int `json:"replicas"`
}

// Default has the defaults of HashRing.
var Default = Config{HashFn: "md5", Replicas: 4}

const (
	byMD5    = "md5"
	byKetama = "ketama"
)

// vnodes returns the number of digests of a node of weight 1.
func (c Config) vnodes() int {
	switch {
	case c.VNodes != nil:
		return *c.VNodes
	case c.HashFn == byKetama:
		return 40
	}
	return 160
}

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	n := 0.0
	for _, node := range nodes {
		n += node.Weight
	}
	n *= float64(c.vnodes())
	if c.HashFn == byKetama {
		n = float64(c.vnodes()) * float64(len(nodes)) * float64(c.Replicas)
	}
	if n *= points.Bytes; n < math.MaxInt64 {
		return int64(n)
	}
	return math.MaxInt64
}

func (c Config) check() error {
	if c.HashFn != byMD5 && c.HashFn != byKetama {
		return fmt.Errorf("unknown hash_fn %q, %s", c.HashFn, algorithms.Nearest(c.HashFn, []string{byMD5, byKetama}))
	}
	if v := c.vnodes(); v < 1 || v > math.MaxInt32 {
		return fmt.Errorf("vnodes %d, it must be from 1 to 2147483647", v)
	}
	if c.Replicas < 1 || c.Replicas > 4 {
		return fmt.Errorf("replicas %d, it must be from 1 to 4, the words of a digest", c.Replicas)
	}
	return nil
}

// A Map is a ring as uhashring lays it out. See package algorithms for what may
// run at the same time.
type Map struct {
	points.Weighted
	ketama bool
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
	if err := c.check(); err != nil {
		return nil, err
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{ketama: c.HashFn == byKetama}
	circle := points.Circle{Rule: points.After}
	if m.ketama {
		circle.Space = points.Space32
	}
	r, err := points.New(members, circle, c.layout)
	if err != nil {
		return nil, err
	}
	m.Weighted = points.Weighted{Ring: r}
	return m, nil
}

// HashKey returns the key's position on the circle: the first 64 bits of its
// md5, or with ketama its word in both halves.
func (m *Map) HashKey(key string) uint64 {
	if m.ketama {
		return algorithms.Widen(hashkit.MD5(key))
	}
	// The bytes are read, and not kept.
	return position(unsafe.Slice(unsafe.StringData(key), len(key)))
}

func position(text []byte) uint64 {
	digest := md5.Sum(text)
	return binary.BigEndian.Uint64(digest[:8])
}

// LookupKey returns the node of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// maxPoints bounds the points of a ring.
const maxPoints = math.MaxInt32

func (c Config) layout(members *algorithms.Members) ([]points.Point, error) {
	total := uint64(0)
	for _, n := range members.All() {
		if n.Weight != math.Trunc(n.Weight) || n.Weight > math.MaxInt32 {
			return nil, algorithms.Unsupported("node %q has weight %v, uhashring takes whole numbers, here below 2^31", n.Name, n.Weight)
		}
		total += uint64(n.Weight)
	}
	if c.HashFn == byKetama {
		return c.ketamaPoints(members, total)
	}
	if hi, count := bits.Mul64(total, uint64(c.vnodes())); hi > 0 || count > maxPoints {
		return nil, algorithms.Unsupported("a total weight of %d with %d vnodes makes more points than 2^31, take smaller weights", total, c.vnodes())
	}
	all := make([]points.Point, 0, int(total)*c.vnodes())
	for b, n := range members.All() {
		text := append([]byte(n.Name), '-')
		for i := range c.vnodes() * int(n.Weight) {
			text = strconv.AppendInt(text[:len(n.Name)+1], int64(i), 10)
			all = append(all, points.Point{Position: position(text), Owner: b})
		}
	}
	return all, nil
}

func (c Config) ketamaPoints(members *algorithms.Members, total uint64) ([]points.Point, error) {
	digests := uint64(c.vnodes()) * uint64(members.Len()) // both are below 2^31
	if digests > maxPoints/4 {
		return nil, fmt.Errorf("%d nodes of %d vnodes make more points than 2^31, take fewer vnodes", members.Len(), c.vnodes())
	}
	if total == 0 {
		return nil, nil
	}
	all := make([]points.Point, 0, int(digests)*c.Replicas)
	for b, n := range members.All() {
		all = hashkit.AppendPoints(all, b, n.Name, int(digests*uint64(n.Weight)/total), c.Replicas)
	}
	return all, nil
}
