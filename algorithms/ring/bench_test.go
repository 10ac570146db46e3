package ring_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return names
}

func hashes(n int, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 0))
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	return hs
}

var sink algorithms.Bucket

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			m, err := ring.New(algorithms.Nodes(nodeNames(n)...), ring.Default)
			if err != nil {
				b.Fatal(err)
			}
			hs := hashes(1<<20, 1)
			for i := 0; b.Loop(); i++ {
				sink = m.Lookup(hs[i&(1<<20-1)])
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	nodes := algorithms.Nodes(nodeNames(1000)...)
	for b.Loop() {
		if _, err := ring.New(nodes, ring.Default); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddRemove(b *testing.B) {
	m, err := ring.New(algorithms.Nodes(nodeNames(1000)...), ring.Default)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		bucket, err := m.Add(algorithms.Node{Name: "new", Weight: 1})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Remove(bucket); err != nil {
			b.Fatal(err)
		}
	}
}
