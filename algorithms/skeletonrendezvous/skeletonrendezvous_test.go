package skeletonrendezvous

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/rendezvous"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestPlacementIsTheSameForEver(t *testing.T) {
	if got, want := longrun.Digest(t, Info, nil), "54d01cc0be9b9977"; got != want {
		t.Errorf("the owners have the digest %s, want %s", got, want)
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, Info, nil) }

func build(t rapid.TB, nodes []algorithms.Node) *Map {
	t.Helper()
	m, err := New(nodes, Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A leaf is a node in the definition of the skeleton.
type leaf struct {
	hash   uint64
	weight float64
	bucket algorithms.Bucket
}

// lead goes down from the place in the trie where all leaves agree in the bits above
// the given one, and returns the leaf at the end and the weight of all.
func lead(h uint64, leaves []leaf, bit int) (end algorithms.Bucket, weight float64) {
	if len(leaves) == 1 {
		return leaves[0].bucket, leaves[0].weight
	}
	var sides [2][]leaf
	for _, l := range leaves {
		side := l.hash >> bit & 1
		sides[side] = append(sides[side], l)
	}
	for side := range sides {
		if len(sides[side]) == 0 {
			return lead(h, sides[1-side], bit-1)
		}
	}
	zero, w0 := lead(h, sides[0], bit-1)
	one, w1 := lead(h, sides[1], bit-1)
	prefix := (leaves[0].hash>>bit | 1) << bit
	d := drawing{seed: mix(prefix), children: [2]child{0, 1}, first: uint64(w0 / (w0 + w1) * (1 << 63))}
	if w0+w1 == 0 || d.lead(h) == 0 {
		return zero, w0 + w1
	}
	return one, w0 + w1
}

// The Map that lived through changes answers as the skeleton that is defined by the
// names and weights alone.
func TestLookupIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		m := build(t, longrun.Names(n))
		model := map[algorithms.Bucket]algorithms.Node{}
		for b, node := range longrun.Names(n) {
			model[algorithms.Bucket(b)] = node
		}
		weight := rapid.SampledFrom([]float64{0, 0.1, 1, 3, 1e300, math.MaxFloat64})
		bucket := func(t *rapid.T) algorithms.Bucket {
			var bs []algorithms.Bucket
			for b := range algorithms.Bucket(100) {
				if _, bound := model[b]; bound {
					bs = append(bs, b)
				}
			}
			if len(bs) == 0 {
				t.Skip("empty")
			}
			return rapid.SampledFrom(bs).Draw(t, "bucket")
		}
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "keys")))
		added := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				added++
				node := algorithms.Node{Name: fmt.Sprintf("added-%d", added), Weight: weight.Draw(t, "weight")}
				b, err := m.Add(node)
				if err != nil {
					t.Fatal(err)
				}
				model[b] = node
			},
			"remove": func(t *rapid.T) {
				b := bucket(t)
				if err := m.Remove(b); err != nil {
					t.Fatal(err)
				}
				delete(model, b)
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket(t), weight.Draw(t, "weight")
				if err := m.SetWeight(b, w); err != nil {
					t.Fatal(err)
				}
				node := model[b]
				node.Weight = w
				model[b] = node
			},
			"": func(t *rapid.T) {
				var leaves []leaf
				total := 0.0
				for b, node := range model {
					leaves = append(leaves, leaf{xxh3.HashString(node.Name), light(node.Weight), b})
					total += light(node.Weight)
				}
				if got := len(m.draws) - len(m.free); got != max(0, len(model)-1) {
					t.Fatalf("%d nodes have %d virtual nodes above", len(model), got)
				}
				for range 10 {
					h, want := r.Uint64(), algorithms.None
					if total > 0 {
						want, _ = lead(h, leaves, 63)
					}
					if got := m.Lookup(h); got != want {
						t.Fatalf("hash %#x goes to %d, by the definition to %d", h, got, want)
					}
				}
			},
		})
	})
}

// It declines that changes move only what they must. What they move more is known.
func TestANewNodeMovesWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{16, 100, 1000} {
		const keys, rounds = 20_000, 40
		moved := 0
		for round := range rounds {
			m := build(t, names(n, round))
			hs, before := make([]uint64, keys), make([]algorithms.Bucket, keys)
			for i := range hs {
				hs[i] = r.Uint64()
				before[i] = m.Lookup(hs[i])
			}
			if _, err := m.Add(algorithms.Node{Name: "new", Weight: 1}); err != nil {
				t.Fatal(err)
			}
			for i, h := range hs {
				if m.Lookup(h) != before[i] {
					moved++
				}
			}
		}
		least := float64(keys*rounds) / float64(n+1)
		got, want := float64(moved)/least, math.Log2(float64(n))/2
		if math.Abs(got-want) > 0.1*want {
			t.Errorf("a node more than %d moves %.2f times the least, want %.2f", n, got, want)
		}
	}
}

// names returns n nodes, named differently in each round.
func names(n, round int) []algorithms.Node {
	nodes := longrun.Names(n)
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("%d-%d", round, i)
	}
	return nodes
}

func TestDrawsAreWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{100, 1000, 10000} {
		const keys, rounds = 1 << 12, 20
		sum := 0
		for round := range rounds {
			m := build(t, names(n, round))
			for range keys {
				_, draws := m.LookupProbes(r.Uint64())
				sum += draws
			}
		}
		want := math.Log2(float64(n)) + 0.5772156649/math.Ln2 - 0.5
		if got := float64(sum) / (keys * rounds); math.Abs(got-want) > 0.01*want {
			t.Errorf("%d nodes take %.3f draws, want %.3f", n, got, want)
		}
	}
}

// Two names of one hash do not occur by chance; here one is made up.
func TestNamesOfOneHashAreKeptApart(t *testing.T) {
	m := build(t, algorithms.Nodes("a"))
	m.hashes[0] = xxh3.HashString("b")
	b, err := m.Add(algorithms.Node{Name: "b", Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.hashes[b] != xxh3.HashStringSeed("b", 1) {
		t.Errorf("the hash of the newcomer is %#x", m.hashes[b])
	}
	counts := make([]float64, 2)
	r := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		counts[m.Lookup(r.Uint64())]++
	}
	if p := longrun.Evenness(counts); p < 1e-6 {
		t.Errorf("shares %v", counts)
	}
	if err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	if got := m.Lookup(1); got != b {
		t.Errorf("what is left owns nothing: %d", got)
	}
}

func TestTheLargestWeightsDoNotOverflow(t *testing.T) {
	nodes := longrun.Names(5)
	for i := range nodes {
		nodes[i].Weight = math.MaxFloat64 / 8
	}
	m, equal := build(t, nodes), build(t, longrun.Names(5))
	for h := range uint64(1000) {
		if a, b := m.Lookup(h), equal.Lookup(h); a != b {
			t.Fatalf("hash %d goes to %d, with weights of 1 to %d", h, a, b)
		}
	}
}

func TestFootprintIsWhatTheCommentSays(t *testing.T) {
	for _, n := range []int{1, 2, 1000} {
		if got, want := build(t, longrun.Names(n)).Footprint(), int64(56*n-48); got != want {
			t.Errorf("%d nodes take %d bytes, want %d", n, got, want)
		}
	}
	if bits.Len64((&shape{prefix: 0b1011000}).bit()) != 4 {
		t.Error("the bit of a prefix is not its last one")
	}
}

var sink algorithms.Bucket

// BenchmarkLookup sets a lookup beside that of rendezvous over the same nodes. The
// keys are 2^20 different ones.
func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	hs := make([]uint64, 1<<20)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	for _, n := range []int{10, 100, 1000, 10000} {
		flat, err := rendezvous.New(longrun.Names(n), rendezvous.Default)
		if err != nil {
			b.Fatal(err)
		}
		for name, m := range map[string]algorithms.Mapper{"skeleton": build(b, longrun.Names(n)), "flat": flat} {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					sink += m.Lookup(hs[i&(len(hs)-1)])
				}
			})
		}
	}
}
