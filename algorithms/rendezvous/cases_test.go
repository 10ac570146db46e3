package rendezvous_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/rendezvous"
)

// TestAScoreNeedsMixing is tailscale/tailscale#20828: scores that are the FNV hash of
// the two names as they are follow the names, and the keys crowd. Ours mixes key and
// node, so that even keys hashed by FNV spread.
func TestAScoreNeedsMixing(t *testing.T) {
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("node-%d", i+1))
	}
	sum := func(hash string) func(string) uint64 {
		h, err := keyhash.ByName(hash)
		if err != nil {
			t.Fatal(err)
		}
		return h.Position
	}
	fnv, xxh64 := sum("fnv1a-64"), sum("xxh64")
	highest := func(score func(key, node string) uint64) func(string) int {
		return func(key string) int {
			best := 0
			for i := range names {
				if score(key, names[i]) > score(key, names[best]) {
					best = i
				}
			}
			return best
		}
	}
	m, err := rendezvous.New(algorithms.Nodes(names...), rendezvous.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		owner func(key string) int
		peak  float64
	}{
		{"FNV of key and node", highest(func(key, node string) uint64 { return fnv(key + node) }), 5.04},
		{"FNV of node and key", highest(func(key, node string) uint64 { return fnv(node + key) }), 1.31},
		{"xxh64 of key and node", highest(func(key, node string) uint64 { return xxh64(key + node) }), 1.006},
		{"this package, keys by FNV", func(key string) int { return int(m.Lookup(fnv(key))) }, 1.02},
	} {
		counts := make([]int, len(names))
		for k := 1; k <= 100_000; k++ {
			counts[c.owner(fmt.Sprintf("client-%d", k))]++
		}
		if got := float64(slices.Max(counts)) / 10_000; math.Abs(got-c.peak) > 0.015 {
			t.Errorf("%s: max/mean %.3f, want %.3f", c.name, got, c.peak)
		}
	}
}
