package algotest

import (
	"errors"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// good is a correct algorithm with every ability but Owned: weighted rendezvous,
// written for clearness. The broken fakes embed it and spoil one thing.
type good struct {
	members *algorithms.Members
	epsilon float64
	loads   map[algorithms.Bucket]int
	placed  int

	// What the broken fakes turn.
	salt   uint64                         // mixed into every hash
	weight func(w float64) float64        // what a weight is taken for
	seed   func(algorithms.Bucket) uint64 // what a node is known by
	space  uint64                         // positions, 0 for 2^64

	slots []slot // by bucket
}

type slot struct {
	seed   uint64
	weight float64 // 0 where no node is bound
}

type config struct {
	Epsilon float64 `json:"epsilon"`
}

func newGood(nodes []algorithms.Node, c config) (*good, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	g := &good{members: members, epsilon: c.Epsilon, loads: map[algorithms.Bucket]int{}}
	g.weight = func(w float64) float64 { return w }
	g.seed = func(b algorithms.Bucket) uint64 {
		n, _ := members.Node(b)
		return xxh3.HashString(n.Name)
	}
	return g, nil
}

// fake makes the Info of good with something spoilt.
func fake[M algorithms.Mapper](spoil func(*good) M) algorithms.Info {
	return algorithms.Define("fake", "", config{Epsilon: 0.25}, func(nodes []algorithms.Node, c config) (M, error) {
		g, err := newGood(nodes, c)
		if err != nil {
			var none M
			return none, err
		}
		m := spoil(g)
		g.refresh()
		return m, nil
	})
}

// refresh fits the slots to the members.
func (g *good) refresh() {
	g.slots = make([]slot, g.members.Cap())
	for b, n := range g.members.All() {
		g.slots[b] = slot{g.seed(b), g.weight(n.Weight)}
	}
}

// anyNode wants every bucket.
func anyNode(algorithms.Bucket) bool { return true }

// best returns the bucket of least cost among those wanted.
func (g *good) best(h uint64, wanted func(algorithms.Bucket) bool) algorithms.Bucket {
	if g.space > 0 {
		h = (h%g.space + 1) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	h ^= g.salt * 0xd6e8feb86659fd93
	best, least := algorithms.None, math.Inf(1)
	for i, s := range g.slots {
		x := (h ^ s.seed) * (bits.RotateLeft64(h, 32) | 1)
		x = (x ^ x>>32) * 0xd6e8feb86659fd93
		rest := (float64(x>>12) + 0.5) / (1 << 52)
		if rest >= least*s.weight { // -log(1-rest) is no less
			continue
		}
		b := algorithms.Bucket(i)
		if c := -math.Log1p(-rest) / s.weight; c < least && s.weight > 0 && wanted(b) {
			best, least = b, c
		}
	}
	return best
}

func (g *good) Lookup(h uint64) algorithms.Bucket { return g.best(h, anyNode) }

func (g *good) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := g.members.Choose(dst)
	for c.More() {
		b := g.best(h, c.Wants)
		if b == algorithms.None {
			break
		}
		c.Offer(b)
	}
	return c.Len()
}

func (g *good) HashKey(key string) uint64 { return xxh3.HashString(key) }

func (g *good) LookupKey(key string) algorithms.Bucket { return g.Lookup(g.HashKey(key)) }

func (g *good) LookupBatch(hs []uint64, dst []algorithms.Bucket) {
	for i, h := range hs {
		dst[i] = g.Lookup(h)
	}
}

func (g *good) Clone() algorithms.Mapper {
	c := *g
	c.members = g.members.Clone()
	c.loads = maps.Clone(g.loads)
	c.seed = func(b algorithms.Bucket) uint64 {
		n, _ := c.members.Node(b)
		return xxh3.HashString(n.Name)
	}
	c.refresh()
	return &c
}

func (g *good) LookupProbes(h uint64) (algorithms.Bucket, int) { return g.Lookup(h), g.Len() }

func (g *good) Len() int { return g.members.Len() }

func (g *good) Footprint() int64 { return int64(g.Len()) }

func (g *good) Add(n algorithms.Node) (algorithms.Bucket, error) {
	defer g.refresh()
	return g.members.Add(n)
}

func (g *good) Remove(b algorithms.Bucket) error {
	defer g.refresh()
	_, err := g.members.Remove(b)
	if err == nil {
		g.placed -= g.loads[b]
		delete(g.loads, b)
	}
	return err
}

func (g *good) RemoveLast() (algorithms.Bucket, error) {
	last := algorithms.Bucket(g.members.Cap() - 1)
	if last < 0 {
		return algorithms.None, errors.New("no nodes")
	}
	return last, g.Remove(last)
}

func (g *good) SetWeight(b algorithms.Bucket, w float64) error {
	defer g.refresh()
	return g.members.SetWeight(b, w)
}

func (g *good) capacity(b algorithms.Bucket, requests int) int {
	n, _ := g.members.Node(b)
	return int(math.Ceil((1+g.epsilon)*float64(requests)*n.Weight/g.members.TotalWeight() - 1e-9))
}

func (g *good) Load(b algorithms.Bucket) (int, int) { return g.loads[b], g.capacity(b, g.placed) }

func (g *good) Assign(h uint64) (algorithms.Bucket, bool) {
	var full []algorithms.Bucket
	for {
		b := g.best(h, func(b algorithms.Bucket) bool { return !slices.Contains(full, b) })
		if b == algorithms.None {
			return b, false
		}
		if g.loads[b] < g.capacity(b, g.placed+1) {
			g.loads[b]++
			g.placed++
			return b, len(full) == 0
		}
		full = append(full, b)
	}
}

func (g *good) Release(b algorithms.Bucket) {
	g.loads[b]--
	g.placed--
}
