package control

import (
	"fmt"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

// OneReadInfo is the contestant that makes one random read.
var OneReadInfo = algorithms.Define("one-read", "one random read of an array; the floor for what reads within as many bytes", OneReadDefault, NewOneRead).
	Costing("one read", "as many bytes as asked for").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.OrderIndependent)

// minBytes is the smallest array: below a page, size no longer matters.
const minBytes = 4096

// slotBytes is the size of a Bucket in the array.
const slotBytes = 4

// OneReadConfig sets the size of the array.
type OneReadConfig struct {
	Bytes int64 `json:"bytes"` // a power of two, at least 4096
}

// OneReadDefault is the smallest array.
var OneReadDefault = OneReadConfig{Bytes: minBytes}

// Forecast returns the size of the array.
func (c OneReadConfig) Forecast([]algorithms.Node) int64 { return c.Bytes }

// A OneRead reads its answer from one slot of an array, chosen by the top bits
// of the hash. The slots hold buckets in a pseudo-random order.
type OneRead struct {
	slots []algorithms.Bucket
	shift int // of the hash, to leave the index of a slot
	nodes int
}

var _ algorithms.Sizer = (*OneRead)(nil)

// NewOneRead returns a OneRead over the nodes. Unequal weights are not
// supported.
func NewOneRead(nodes []algorithms.Node, c OneReadConfig) (*OneRead, error) {
	if _, err := algorithms.NewEqualMembers(nodes); err != nil {
		return nil, err
	}
	if c.Bytes < minBytes || bits.OnesCount64(uint64(c.Bytes)) != 1 {
		return nil, fmt.Errorf("bytes is %d, it must be a power of two of at least %d", c.Bytes, minBytes)
	}
	slots := make([]algorithms.Bucket, c.Bytes/slotBytes)
	for i := range slots {
		slots[i] = algorithms.Bucket(mix(uint64(i)) % uint64(len(nodes)))
	}
	return &OneRead{slots, 64 - bits.TrailingZeros64(uint64(len(slots))), len(nodes)}, nil
}

// mix scatters consecutive numbers. It is the output step of SplitMix64
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Lookup returns the bucket in the slot that the top bits of h name.
func (m *OneRead) Lookup(h uint64) algorithms.Bucket { return m.slots[h>>m.shift] }

// Len returns the number of nodes.
func (m *OneRead) Len() int { return m.nodes }

// Footprint returns the size of the array in bytes.
func (m *OneRead) Footprint() int64 { return int64(len(m.slots)) * slotBytes }
