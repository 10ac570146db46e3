// Package longrun puts an algorithm to trials that are too long for the
// conformance suite, which anyone's algorithm goes through: millions of keys, and
// random changes of the membership against a model.
package longrun

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

// significance is the probability below which a count is not put down to chance.
const significance = 1e-6

// Keys is how many keys Shares draws in all.
const Keys = 10_000_000

// Sizes are the numbers of nodes that Shares tries: 1 to 70, where an algorithm
// shows what it does at every remainder, and the powers of 2 with their neighbours.
func Sizes() []int {
	var ns []int
	for n := 1; n <= 70; n++ {
		ns = append(ns, n)
	}
	for k := 128; k <= 4096; k *= 2 {
		ns = append(ns, k-1, k, k+1)
	}
	return ns
}

// Shares holds the keys that each of n nodes owns to equal shares, by chi-square,
// for all Sizes.
func Shares(t *testing.T, info algorithms.Info, params json.RawMessage) {
	t.Helper()
	ns := Sizes()
	r := rand.New(rand.NewPCG(71, 73))
	for _, n := range ns {
		m := build(t, info, n, params)
		counts := make([]float64, n)
		for range Keys / len(ns) {
			counts[m.Lookup(r.Uint64())]++
		}
		if p := Evenness(counts); p < significance {
			t.Errorf("%d nodes: shares as uneven as these have probability %g, the chi-square test wants %g", n, p, significance)
		}
	}
}

// Digest returns a number that stands for the owners of some keys among 1 to 1000
// nodes, all there and, where any node can leave, with a third of them gone. A test
// that compares it with the one written down goes red when a constant of the
// placement changes, and on a machine that computes otherwise.
func Digest(t *testing.T, info algorithms.Info, params json.RawMessage) string {
	t.Helper()
	var owners []byte
	r := rand.New(rand.NewPCG(83, 89))
	for _, n := range []int{1, 2, 3, 10, 64, 65, 1000} {
		m := build(t, info, n, params)
		look := func() {
			for range 1000 {
				owners = binary.LittleEndian.AppendUint32(owners, uint32(m.Lookup(r.Uint64())))
			}
		}
		look()
		if m, ok := m.(algorithms.Remover); ok {
			for _, b := range r.Perm(n)[:n/3] {
				if err := m.Remove(algorithms.Bucket(b)); err != nil {
					t.Fatal(err)
				}
			}
			look()
		}
	}
	return fmt.Sprintf("%016x", xxh3.Hash(owners))
}

// Evenness returns the probability that counts which all have the same
// expectation come out as unevenly as these, or more so.
func Evenness(counts []float64) float64 {
	if len(counts) < 2 {
		return 1
	}
	total, chi2 := 0.0, 0.0
	for _, c := range counts {
		total += c
	}
	mean := total / float64(len(counts))
	for _, c := range counts {
		chi2 += (c - mean) * (c - mean) / mean
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(chi2)
}

// Names returns n nodes of weight 1.
func Names(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return algorithms.Nodes(names...)
}

func build(t rapid.TB, info algorithms.Info, n int, params json.RawMessage) algorithms.Mapper {
	t.Helper()
	m, _, err := info.New(Names(n), params)
	if err != nil {
		t.Fatalf("building %d nodes: %v", n, err)
	}
	return m
}

// Changes lets nodes come and go at random, where they can, and holds each change
// to what it may move: keys go only to the node that comes, and only away from the
// one that goes. It keeps between 0 and most nodes. After each change it calls
// also, unless that is nil, with the hashes whose owners it watches.
func Changes(t *testing.T, info algorithms.Info, params json.RawMessage, most int, also func(t *rapid.T, m algorithms.Mapper, hs []uint64)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, most).Draw(t, "nodes")
		c := &changes{
			Mapper: build(t, info, n, params),
			bound:  map[algorithms.Bucket]bool{},
			hs:     make([]uint64, 128),
			owners: make([]algorithms.Bucket, 128),
		}
		for b := range algorithms.Bucket(n) {
			c.bound[b] = true
		}
		r := rand.New(rand.NewPCG(79, rapid.Uint64().Draw(t, "keys")))
		for i := range c.hs {
			c.hs[i] = r.Uint64()
			c.owners[i] = c.Lookup(c.hs[i])
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				if len(c.bound) == most {
					t.Skip("full")
				}
				c.add(t)
			},
			"remove": c.remove,
			"": func(t *rapid.T) {
				if c.Len() != len(c.bound) {
					t.Fatalf("Len is %d, want %d", c.Len(), len(c.bound))
				}
				for _, b := range c.owners {
					if b == algorithms.None && len(c.bound) == 0 {
						continue
					}
					if !c.bound[b] {
						t.Fatalf("bucket %d owns a key and has no node", b)
					}
				}
				if also != nil {
					also(t, c.Mapper, c.hs)
				}
			},
		})
	})
}

// changes is a Mapper with the model of its membership.
type changes struct {
	algorithms.Mapper
	bound  map[algorithms.Bucket]bool
	added  int
	hs     []uint64
	owners []algorithms.Bucket
}

func (c *changes) add(t *rapid.T) {
	c.added++
	b, err := c.Mapper.(algorithms.Adder).Add(algorithms.Node{Name: fmt.Sprintf("added-%d", c.added), Weight: 1})
	if err != nil || b < 0 || c.bound[b] {
		t.Fatalf("Add gives bucket %d, bound already %v, %v", b, c.bound[b], err)
	}
	c.bound[b] = true
	c.follow(t, func(_, to algorithms.Bucket) bool { return to == b })
}

func (c *changes) remove(t *rapid.T) {
	var bs []algorithms.Bucket
	for b := range c.bound {
		bs = append(bs, b)
	}
	slices.Sort(bs)
	if len(bs) == 0 {
		t.Skip("empty")
	}
	var gone algorithms.Bucket
	var err error
	switch m := c.Mapper.(type) {
	case algorithms.Remover:
		gone = rapid.SampledFrom(bs).Draw(t, "gone")
		err = m.Remove(gone)
	case algorithms.LastRemover:
		gone, err = m.RemoveLast()
		if last := bs[len(bs)-1]; gone != last {
			t.Fatalf("RemoveLast removes bucket %d, want %d", gone, last)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(c.bound, gone)
	c.follow(t, func(from, _ algorithms.Bucket) bool { return from == gone })
}

// follow takes the new owners of the hashes, each of which may have moved only
// as the function says.
func (c *changes) follow(t *rapid.T, may func(from, to algorithms.Bucket) bool) {
	for i, h := range c.hs {
		b := c.Lookup(h)
		if b != c.owners[i] && !may(c.owners[i], b) {
			t.Fatalf("hash %#x moved from bucket %d to %d", h, c.owners[i], b)
		}
		c.owners[i] = b
	}
}
