// Package rendezvous is highest random weight hashing (Thaler and Ravishankar,
// "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on
// Networking, 1998): every node gets a score for the key, and the highest wins.
//
// The balance is as even as chance allows. A node that joins takes keys only for
// itself, and the keys of a node that leaves go to their second choice, so every
// change moves the least possible. The price is time: a lookup scores all n
// nodes. The structure takes 12 bytes a node; Add and Remove cost n.
//
// # The score
//
// A node's seed is the xxh3 hash of its name, computed once. The score of a node
// for the hash h is the low word of (h xor seed) * (h rotated by half | 1): one
// multiplication a node, as the multiplier is the same for all of them. It is
// odd, so that different seeds never tie. The low word is the one to take: the
// high word grows with h xor seed, and a seed with leading bits like those of h
// would always lose. The tests hold the first four choices, in their order, to a
// uniform draw by chi-square.
//
// Weights must be equal; package weightedrendezvous knows unequal ones.
package rendezvous

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// Info is the contestant.
var Info = algorithms.Define("rendezvous", "Thaler, Ravishankar 1998, highest random weight", Default, New).
	Costing("O(n), one multiplication a node", "12 bytes a node")

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives a key to the node with the highest score for it.
type Map struct {
	// The nodes in the order of their names, so that the first of equal scores
	// is the one with the least name.
	seeds   []uint64
	buckets []algorithms.Bucket
	members *algorithms.Members
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map over the nodes. Unequal weights are not supported.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{
		seeds:   make([]uint64, len(nodes)),
		buckets: make([]algorithms.Bucket, len(nodes)),
		members: members,
	}
	for i := range nodes {
		m.buckets[i] = algorithms.Bucket(i)
	}
	slices.SortFunc(m.buckets, func(a, b algorithms.Bucket) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) })
	for i, b := range m.buckets {
		m.seeds[i] = xxh3.HashString(nodes[b].Name)
	}
	return m, nil
}

// multiplier returns the odd number that all scores for h are multiplied by.
func multiplier(h uint64) uint64 { return bits.RotateLeft64(h, 32) | 1 }

// few is the number of nodes up to which a branch that is mispredicted costs
// more than the arithmetic that does without.
const few = 16

// Lookup returns the bucket with the highest score for h.
func (m *Map) Lookup(h uint64) algorithms.Bucket {
	switch n := len(m.seeds); {
	case n == 0:
		return algorithms.None
	case n <= few:
		return m.buckets[highestOfFew(m.seeds, h)]
	}
	return m.buckets[highest(m.seeds, h)]
}

// highestOfFew returns the index of the highest score, the first of equal ones.
// It has no branch that depends on a score: the borrow of best - x says whether
// x leads, and as a mask moves the index. That is a chain from node to node.
func highestOfFew(seeds []uint64, h uint64) uint64 {
	mul := multiplier(h)
	best, at := uint64(0), uint64(0)
	for i, seed := range seeds {
		x := (h ^ seed) * mul
		_, leads := bits.Sub64(best, x, 0)
		best = max(best, x)
		at ^= (at ^ uint64(i)) & -leads
	}
	return at
}

// highest returns the index of the highest score, the first of equal ones.
//
// It takes the maximum of eight scores at a time, without a branch, and only
// then asks whether the block holds a new leader, which happens about as often
// as the logarithm of n. Which of the eight it was is asked once, at the end.
func highest(seeds []uint64, h uint64) int {
	mul := multiplier(h)
	best, at := uint64(0), 0
	i := 0
	for ; i+8 <= len(seeds); i += 8 {
		s := seeds[i : i+8 : i+8]
		x := max(
			max(max((h^s[0])*mul, (h^s[1])*mul), max((h^s[2])*mul, (h^s[3])*mul)),
			max(max((h^s[4])*mul, (h^s[5])*mul), max((h^s[6])*mul, (h^s[7])*mul)))
		if x > best {
			best, at = x, i
		}
	}
	for ; i < len(seeds); i++ {
		if x := (h ^ seeds[i]) * mul; x > best {
			best, at = x, i
		}
	}
	for (h^seeds[at])*mul != best {
		at++
	}
	return at
}

// LookupN writes the buckets with the highest scores for h, highest first. It
// costs n, and len(dst) squared for dst that is long. Where there are zones, the
// highest of each come first, and it costs n for every one that it writes.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	top := dst[:min(len(dst), len(m.seeds))] // indices into seeds, until the end
	if len(top) == 0 {
		return 0
	}
	mul := multiplier(h)
	if c := m.members.Choose(dst); c.Zoned() {
		return algorithms.Ranked(c, m.buckets, func(i int) uint64 { return (h ^ m.seeds[i]) * mul })
	}
	found := 0
	least := uint64(0) // score of top[found-1]
	for i, seed := range m.seeds {
		x := (h ^ seed) * mul
		if found == len(top) {
			if x <= least {
				continue
			}
			found--
		}
		j := found
		for ; j > 0 && x > (h^m.seeds[top[j-1]])*mul; j-- {
			top[j] = top[j-1]
		}
		top[j] = algorithms.Bucket(i)
		found++
		least = (h ^ m.seeds[top[found-1]]) * mul
	}
	for j, i := range top {
		top[j] = m.buckets[i]
	}
	return len(top)
}

// Len returns the number of nodes.
func (m *Map) Len() int { return len(m.seeds) }

// Footprint returns the bytes of the seeds and buckets.
func (m *Map) Footprint() int64 { return int64(len(m.seeds)) * (8 + 4) }

// HotBytes returns the bytes of the seeds, all of which a lookup reads in order.
func (m *Map) HotBytes() int64 { return int64(len(m.seeds)) * 8 }

// place returns where in the order of names the name stands or would stand.
func (m *Map) place(name string) int {
	i, _ := slices.BinarySearchFunc(m.buckets, name, func(b algorithms.Bucket, name string) int {
		n, _ := m.members.Node(b)
		return cmp.Compare(n.Name, name)
	})
	return i
}

// Add adds the node.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	i := m.place(n.Name)
	m.seeds = slices.Insert(m.seeds, i, xxh3.HashString(n.Name))
	m.buckets = slices.Insert(m.buckets, i, b)
	return b, nil
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper {
	return &Map{slices.Clone(m.seeds), slices.Clone(m.buckets), m.members.Clone()}
}

// Remove removes the node of the bucket.
func (m *Map) Remove(b algorithms.Bucket) error {
	if _, err := m.members.Remove(b); err != nil {
		return err
	}
	i := slices.Index(m.buckets, b)
	m.seeds = slices.Delete(m.seeds, i, i+1)
	m.buckets = slices.Delete(m.buckets, i, i+1)
	return nil
}
