// Package libmemcached places keys as the weighted ketama distributions of
// libmemcached do, the C client of memcached (awesomized/libmemcached, commit
// 374774d, src/libmemcached/hosts.cc): libmemcached-ketama, which
// MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED turns on, and libmemcached-ketama-spy, its
// MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY, made to agree with the Java client
// spymemcached.
//
//   - Points: md5 of the server's label, "-" and a number from 0, and of each digest
//     all four little-endian words: 160 points a server in the mean. The label is
//     host:port, and the host alone where the port is 11211; that of the spy is
//     /host:port, with the port always. A name without a port stands for port 11211,
//     a name that begins with "/" for a Unix socket, whose port is 0.
//   - Key: the first little-endian word of its md5, or what the setting hash names.
//   - Boundary: the first point at or after the key.
//   - Weights: a server has floor(w/W * 160 / 4 * n + 1e-10) digests, W being the sum
//     of the weights and n the number of servers, each step rounded to 32 bits. A
//     server below 1/40 of the mean weight has none: see Pointless.
//   - A change: the number of points depends on n and W, so that a server that
//     joins or leaves may change the points of the others.
//
// Of two servers' points at one position the server listed first has it.
//
// Departures: a server of weight 0, to which libmemcached gives weight 1, is a
// member without points and does not count in n; weights need not be whole
// numbers. Key prefixes (namespaces) and the ejection of dead hosts are left out.
//
// The structure is that of package points, 16 bytes a point. Every change makes
// all points anew.
package libmemcached

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

const source = "libmemcached, awesomized/libmemcached@374774d"

// Info describes libmemcached's weighted ketama to the harness.
var Info = algorithms.Define("libmemcached-ketama", source, Default, New).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits)

// SpyInfo describes libmemcached's imitation of spymemcached to the harness.
var SpyInfo = algorithms.Define("libmemcached-ketama-spy", source, Default, NewSpy).
	Costing("O(log P) for P points", "16 bytes a point").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits)

// Config has the settings of libmemcached.
type Config struct {
	// Hash places the keys: default, md5, crc, fnv1_64, fnv1a_64, fnv1_32,
	// fnv1a_32, hsieh, murmur, jenkins or murmur3. The points are always of md5.
	Hash string `json:"hash"`
}

// Default places keys by md5, as turning weighted ketama on does.
var Default = Config{Hash: "md5"}

// Forecast returns the bytes that New needs.
func (Config) Forecast(nodes []algorithms.Node) int64 { return points.Bytes * 160 * int64(len(nodes)) }

// A Map is a ring as libmemcached lays it out. See package algorithms for what
// may run at the same time.
type Map struct {
	points.Weighted
	hash func(string) uint32
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

// New builds a ring of the nodes, by weighted ketama.
func New(nodes []algorithms.Node, c Config) (*Map, error) { return build(nodes, c, label) }

// NewSpy builds a ring of the nodes, by the labels of spymemcached.
func NewSpy(nodes []algorithms.Node, c Config) (*Map, error) { return build(nodes, c, spyLabel) }

func build(nodes []algorithms.Node, c Config, label func(string) string) (*Map, error) {
	hash, err := hashkit.Libmemcached.ByName(c.Hash)
	if err != nil {
		return nil, err
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	r, err := points.New(members, points.Circle{Space: points.Space32, Tie: points.FirstListed}, func(m *algorithms.Members) ([]points.Point, error) {
		return layout(m, label)
	})
	if err != nil {
		return nil, err
	}
	return &Map{points.Weighted{Ring: r}, hash}, nil
}

// HashKey returns the key's position on the circle, in both halves.
func (m *Map) HashKey(key string) uint64 { return algorithms.Widen(m.hash(key)) }

// LookupKey returns the server of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

func layout(members *algorithms.Members, label func(string) string) ([]points.Point, error) {
	servers := 0
	for _, n := range members.All() {
		if n.Weight > math.MaxUint32 {
			return nil, fmt.Errorf("node %q has weight %v, libmemcached keeps weights below 2^32", n.Name, n.Weight)
		}
		if n.Weight > 0 {
			servers++
		}
	}
	total := float32(members.TotalWeight())
	all := make([]points.Point, 0, 160*servers)
	for b, n := range members.All() {
		if n.Weight > 0 {
			all = hashkit.AppendPoints(all, b, label(n.Name), digests(n.Weight, total, servers), 4)
		}
	}
	return all, nil
}

// digests returns how many digests a server of weight w has, of so many servers
// of that total weight. The conversions keep a compiler from joining two steps
// without rounding between them.
func digests(w float64, total float32, servers int) int {
	part := float32(w) / total
	share := float32(float32(float32(part*160)/4) * float32(servers))
	return int(math.Floor(float64(float32(share + 1e-10))))
}

// label returns what is hashed for the server: host:port, or the host alone
// where the port is the default.
func label(name string) string {
	host, port := split(name)
	if port == defaultPort {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}

// spyLabel is label as spymemcached has it for an address without a host name.
func spyLabel(name string) string {
	host, port := split(name)
	return "/" + host + ":" + strconv.Itoa(port)
}

const defaultPort = 11211

// split divides a server's name into host and port.
func split(name string) (host string, port int) {
	if strings.HasPrefix(name, "/") {
		return name, 0
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if p, err := strconv.ParseUint(name[i+1:], 10, 16); err == nil && p > 0 {
			return name[:i], int(p)
		}
	}
	return name, defaultPort
}
