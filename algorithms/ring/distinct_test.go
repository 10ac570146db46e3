package ring_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// TestDistinctIsTheWalkClockwise takes few buckets, which a set of 64 bits tells
// apart, and many, which it does not.
func TestDistinctIsTheWalkClockwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := ring.Default
		c.VNodes = rapid.IntRange(1, 20).Draw(t, "vnodes")
		c.Modulus = rapid.SampledFrom([]uint64{0, 0, 50, 36000, 1<<63 + 5}).Draw(t, "modulus")
		n := rapid.SampledFrom([]int{1, 2, 8, 63, 64, 65, 66, 130}).Draw(t, "nodes")
		if c.Modulus == 0 && rapid.Bool().Draw(t, "listed") { // the upper bits of a position tell little
			for i, name := range nodeNames(n) {
				c.Points = append(c.Points, ring.Listed{Position: uint64(i%20)<<59 | uint64(i%3), Node: name})
			}
		}
		m, err := ring.New(algorithms.Nodes(nodeNames(n)...), c)
		if err != nil {
			t.Fatal(err)
		}
		hs := []uint64{rapid.Uint64().Draw(t, "h"), 0, 1<<64 - 1}
		for at := range m.Points() {
			hs = append(hs, at-1, at, at+1)
			if len(hs) > 100 {
				break
			}
		}
		for _, h := range hs {
			dst := make([]algorithms.Bucket, rapid.IntRange(0, n+1).Draw(t, "most"))
			want := []algorithms.Bucket{}
			for b := range m.Clockwise(h) {
				if len(want) < len(dst) && !slices.Contains(want, b) {
					want = append(want, b)
				}
			}
			if got := dst[:m.Distinct(h, dst)]; !slices.Equal(got, want) {
				t.Fatalf("Distinct(%#x) = %v, want %v", h, got, want)
			}
		}
	})
}
