package peers

import (
	"github.com/buraksezer/consistent"
	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
)

// partitions hashes with what it is given; its documents take xxhash. It takes keys
// as bytes, and a change that makes no sense leaves everything as it was.
var partitions = algorithms.Define("buraksezer-consistent", "github.com/buraksezer/consistent v1.1.0", PartitionsConfig{271, 20, 1.25}, newPartitions).
	Declining(algorithms.Balance, algorithms.MinimalMovement).TunedTogether("partitions")

// PartitionsConfig has the settings of the library.
type PartitionsConfig struct {
	Partitions        int     `json:"partitions"`         // at least as many as nodes, or some own nothing
	ReplicationFactor int     `json:"replication_factor"` // points of a node
	Load              float64 `json:"load"`               // 1 or more
}

type xxh64 struct{}

func (xxh64) Sum64(key []byte) uint64 { return xxhash.Sum64(key) }

type partitionMember struct {
	name   string
	bucket algorithms.Bucket
}

func (m *partitionMember) String() string { return m.name }

type partitionNodes struct {
	roster
	peer *consistent.Consistent
}

func newPartitions(nodes []algorithms.Node, c PartitionsConfig) (*partitionNodes, error) {
	r, err := equal(nodes)
	if err != nil {
		return nil, err
	}
	members := make([]consistent.Member, len(nodes))
	for i, name := range r.names {
		members[i] = &partitionMember{name, algorithms.Bucket(i)}
	}
	return &partitionNodes{r, consistent.New(members, consistent.Config{
		Hasher:            xxh64{},
		PartitionCount:    c.Partitions,
		ReplicationFactor: c.ReplicationFactor,
		Load:              c.Load,
	})}, nil
}

func (m *partitionNodes) LookupKey(key string) algorithms.Bucket {
	owner, _ := m.peer.LocateKey([]byte(key)).(*partitionMember)
	if owner == nil {
		return algorithms.None
	}
	return owner.bucket
}

func (m *partitionNodes) Lookup(h uint64) algorithms.Bucket { return lookup(m, h) }

func (m *partitionNodes) Len() int { return len(m.peer.GetMembers()) }

func (m *partitionNodes) Add(n algorithms.Node) (algorithms.Bucket, error) {
	if n.Weight != m.weight {
		return algorithms.None, errWeights()
	}
	b, name := m.next(n)
	before := m.Len()
	m.peer.Add(&partitionMember{name, b})
	if m.Len() == before {
		return algorithms.None, errIgnored
	}
	m.bind(b, name)
	return b, nil
}

func (m *partitionNodes) Remove(b algorithms.Bucket) error {
	before := m.Len()
	m.peer.Remove(m.leaving(b))
	if m.Len() == before {
		return errIgnored
	}
	m.unbind(b)
	return nil
}
