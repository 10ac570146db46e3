package builtin_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
)

// TestANewNodeChangesOnlyReplicaSetsThatItIsPartOf is thanos-io/thanos#5427: after
// a node is added, only the replica sets that it is part of change. It holds of
// every algorithm with minimal movement. Where a key has an order of all nodes, it
// holds in zones too, and the new node takes one place of a set: fairly treated,
// in 3 of 11 sets, and in 1 of 4 where each of three zones holds a replica and it
// is the fourth in its own.
func TestANewNodeChangesOnlyReplicaSetsThatItIsPartOf(t *testing.T) {
	ordered := []string{"ring", "ring-binary-search", "ring-array", "bounded-ring", "bounded-random-jump", "rendezvous", "weighted-rendezvous"}
	tried := 0
	for _, info := range builtin.All() {
		for _, zones := range []int{1, 3} {
			inOrder := slices.Contains(ordered, info.Name)
			if zones > 1 && !inOrder || slices.Contains(info.Declines, algorithms.MinimalMovement) {
				continue
			}
			before, after := receivers(t, info, 10, zones), receivers(t, info, 11, zones)
			if before == nil {
				continue
			}
			tried++
			t.Run(fmt.Sprint(info.Name, zones), func(t *testing.T) {
				changed := setsThatChange(t, before, after, inOrder)
				if !inOrder {
					return
				}
				want, tolerance := 3./11, 0.006 // 4 times the standard deviation of counting
				if zones > 1 {
					want = 1. / 4 // receivers 1, 4, 7 and the new one, which is number 10
				}
				if slices.Contains(info.Declines, algorithms.Balance) {
					tolerance = 0.08
				}
				if math.Abs(changed-want) > tolerance {
					t.Errorf("%.4f of the replica sets change, want %.4f", changed, want)
				}
			})
		}
	}
	if tried < 2*len(ordered) {
		t.Errorf("%d algorithms were put to it, want %d or more", tried, 2*len(ordered))
	}
}

// receivers builds a cluster with its nodes in turn in so many zones, nil when the
// algorithm names one node a key.
func receivers(t *testing.T, info algorithms.Info, n, zones int) algorithms.Replicator {
	nodes := make([]algorithms.Node, n)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: fmt.Sprintf("receive-%d:10901", i), Weight: 1, Zone: string(rune('a' + i%zones))}
	}
	m, _, err := info.New(nodes[:10], nil)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := m.(algorithms.Replicator)
	if !ok {
		return nil
	}
	for _, n := range nodes[10:] {
		a, ok := m.(algorithms.Adder)
		if !ok {
			return nil
		}
		if b, err := a.Add(n); err != nil || b != 10 {
			t.Fatalf("%s: Add gives %d, %v", info.Name, b, err)
		}
	}
	return r
}

// setsThatChange returns the part of the replica sets of 100,000 series that are
// not what they were, and reports one that changes without the node in bucket 10,
// or otherwise than by giving it one place.
func setsThatChange(t *testing.T, before, after algorithms.Replicator, onePlace bool) float64 {
	const keys = 100_000
	changed := 0
	for i := range keys {
		h := xxh3.HashString(fmt.Sprintf("up{instance=\"%d\"}", i))
		var old, now [3]algorithms.Bucket
		if before.LookupN(h, old[:]) != 3 || after.LookupN(h, now[:]) != 3 {
			t.Fatalf("series %d has fewer than 3 replicas", i)
		}
		if old == now {
			continue
		}
		changed++
		kept := 0
		for _, b := range now {
			if slices.Contains(old[:], b) {
				kept++
			}
		}
		if onePlace && kept != 2 || !slices.Contains(now[:], 10) {
			t.Fatalf("series %d had the replicas %d and has %d", i, old, now)
		}
	}
	return float64(changed) / keys
}
