package ring_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// cellShares adds up the cells of a built ring.
func cellShares(t interface{ Fatal(...any) }, nodes []algorithms.Node, c ring.Config) []float64 {
	m, err := ring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	shares := make([]float64, len(nodes))
	_, cells := m.Cells()
	prev := ^uint64(0)
	for last, b := range cells {
		if last == prev {
			shares[b]++ // one cell over all
		}
		shares[b] += float64(last-prev) * 0x1p-64
		prev = last
	}
	return shares
}

func TestSharesAreThoseOfTheBuiltRing(t *testing.T) {
	hashes := []string{"xxh3", "xxh64", "md5", "crc32", "fnv1a-32", "fnv1-64"}
	labels := []string{"{name}#{index}", "{name}{index}", "{index+1}-{name}"}
	rapid.Check(t, func(t *rapid.T) {
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 40).Draw(t, "nodes") {
			w := rapid.SampledFrom([]float64{0, 0.001, 0.5, 1, 1, 2.5}).Draw(t, "weight")
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("node-%d", i*7%41), Weight: w})
		}
		nodes[0].Weight = 1
		c := ring.Config{
			VNodes:    rapid.IntRange(1, 300).Draw(t, "vnodes"),
			Label:     rapid.SampledFrom(labels).Draw(t, "label"),
			PointHash: rapid.SampledFrom(hashes).Draw(t, "hash"),
		}
		got, err := c.Shares(nodes)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range cellShares(t, nodes, c) {
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("node %d of %d: share %v, the built ring has %v", i, len(nodes), got[i], want)
			}
		}
	})
}

func TestSharesOfALargeRing(t *testing.T) {
	var nodes []algorithms.Node
	for i := range 500 {
		nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("10.0.%d.%d:11211", i/250, i%250), Weight: 1})
	}
	c := ring.Default
	c.VNodes = 1200
	got, err := c.Shares(nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range cellShares(t, nodes, c) {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("node %d: share %v, the built ring has %v", i, got[i], want)
		}
	}
}

func TestSharesKnowOnlyHashedPoints(t *testing.T) {
	nodes := algorithms.Nodes("a", "b")
	c := ring.Config{VNodes: 1, Label: "{name}", PointHash: "xxh3", Modulus: 1000}
	if _, err := c.Shares(nodes); !errors.Is(err, errors.ErrUnsupported) || c.PointCounts(nodes) != nil {
		t.Errorf("a circle of 1,000 positions: error %v, points %v", err, c.PointCounts(nodes))
	}
	c = ring.Default
	nodes[1].Weight = 0.001
	if got := c.PointCounts(nodes); !slices.Equal(got, []int{160, 1}) {
		t.Errorf("points of weights 1 and 0.001: %v, want 160 and 1", got)
	}
}

func BenchmarkShares(b *testing.B) {
	var nodes []algorithms.Node
	for i := range 1000 {
		nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("10.0.%d.%d:11211", i/250, i%250), Weight: 1})
	}
	c := ring.Default
	c.VNodes = 1700
	for b.Loop() {
		if _, err := c.Shares(nodes); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1.7e6, "ns/point")
}
