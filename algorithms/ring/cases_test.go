package ring_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// countKeys counts the keys sku-1..sku-100000 on ten local ports, with one hash
// for keys and points (zalando/skipper#1796).
func countKeys(t *testing.T, hash string, vnodes int, label string) []int {
	t.Helper()
	names := make([]string, 10)
	for i := range names {
		names[i] = fmt.Sprintf("http://127.0.0.1:%d", 9001+i)
	}
	m := build(t, algorithms.Nodes(names...), ring.Config{VNodes: vnodes, Label: label, PointHash: hash})
	h, err := keyhash.ByName(hash)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(names))
	for k := 1; k <= 100_000; k++ {
		counts[m.Lookup(h.Position(fmt.Sprintf("sku-%d", k)))]++
	}
	return counts
}

func TestOnePointByBareNameUnderFNV(t *testing.T) {
	want := []int{1948, 384, 755, 397, 391, 377, 387, 435, 94087, 839}
	if got := countKeys(t, "fnv1a-32", 1, "{name}"); !slices.Equal(got, want) {
		t.Errorf("keys per node %v, want %v", got, want)
	}
}

func TestThePointHashDecidesTheBalance(t *testing.T) {
	for _, c := range []struct {
		hash string
		peak float64
	}{{"fnv1a-32", 1.885}, {"fnv1a-64", 3.53}, {"fnv1-64", 9.80}, {"xxh64", 1.136}} {
		got := float64(slices.Max(countKeys(t, c.hash, 100, "{name}{index}"))) / 10_000
		if math.Abs(got-c.peak) > 0.005 {
			t.Errorf("%s: max/mean %.3f, want %.3f", c.hash, got, c.peak)
		}
	}
}

// TestOneVnodeIsLuck is serialx/hashring#27: 96 to 4 percent with one point a
// node, 49 to 51 with 160.
func TestOneVnodeIsLuck(t *testing.T) {
	for _, c := range []struct {
		vnodes int
		larger float64
	}{{1, 0.96}, {160, 0.51}} {
		m := build(t, algorithms.Nodes("1.1.1.1", "2.2.2.2"), ring.Config{VNodes: c.vnodes, Label: "{name}-{index}", PointHash: "md5"})
		s := float64(share(cellsOf(m), 0)) / (1 << 64)
		if got := max(s, 1-s); math.Abs(got-c.larger) > 0.005 {
			t.Errorf("%d vnodes: the larger node owns %.3f, want %.2f", c.vnodes, got, c.larger)
		}
	}
}

// TestOwnersDoNotDependOnWhoJoinedFirst is stathat/consistent#5: the point 11 of
// 1.2.3.4 and the point 1 of 11.2.3.4 have one label. Where points overwrite
// each other, 1.85% of the space depends on the order.
func TestOwnersDoNotDependOnWhoJoinedFirst(t *testing.T) {
	c := ring.Config{VNodes: 20, Label: "{index}{name}", PointHash: "crc32"}
	names := []string{"1.2.3.4", "11.2.3.4"}
	together := build(t, algorithms.Nodes(names...), c)
	for _, first := range []int{0, 1} {
		m := build(t, algorithms.Nodes(names[first]), c)
		alone := cellsOf(m)
		b, err := m.Add(algorithms.Node{Name: names[1-first], Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		cells := cellsOf(m)
		for i := range cells {
			if first == 1 {
				cells[i].Owner = 1 - cells[i].Owner
			}
		}
		if !slices.Equal(cells, cellsOf(together)) {
			t.Errorf("%s before %s: another ring", names[first], names[1-first])
		}
		// Removing one gives back exactly what was the other's.
		if err := m.Remove(b); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cellsOf(m), alone) {
			t.Errorf("%s: added and removed, it leaves another ring", names[1-first])
		}
	}
	if got := together.PointCollisions(); got != 1 {
		t.Fatalf("%d points collide, want 1", got)
	}
	disputed, last, first := uint64(0), uint64(0), uint64(0)
	for at := range together.Points() {
		if at == last {
			disputed += at - first
		}
		first, last = last, at
	}
	// first trails last by a point, so at - first was the width before the pair.
	if got := float64(disputed) / (1 << 64); math.Abs(got-0.0185) > 0.0005 {
		t.Errorf("%.4f of the space hangs on the tie, want 0.0185", got)
	}
}

// TestLabelsWithoutSeparatorCollide is apache/pulsar#22050 and
// uber-node/ringpop-node#241.
func TestLabelsWithoutSeparatorCollide(t *testing.T) {
	var pulsar []string
	for i := range 20 {
		pulsar = append(pulsar, fmt.Sprintf("node-%d", i+1))
	}
	ringpop := []string{"s1:1", "s1:11", "s2:2", "s2:5"}
	for _, c := range []struct {
		names  []string
		vnodes int
		label  string
		want   int
	}{
		{pulsar, 100, "{name}{index}", 90},
		{pulsar, 160, "{name}{index}", 140},
		{pulsar, 100, "{name}#{index}", 0},
		{ringpop, 100, "{name}{index}", 10},
		{ringpop, 100, "{name}#{index}", 0},
	} {
		for _, hash := range []string{"xxh3", "md5"} {
			m := build(t, algorithms.Nodes(c.names...), ring.Config{VNodes: c.vnodes, Label: c.label, PointHash: hash})
			if got := m.PointCollisions(); got != c.want {
				t.Errorf("%d nodes, %d vnodes, %s, %s: %d points collide, want %d", len(c.names), c.vnodes, c.label, hash, got, c.want)
			}
		}
	}
}

func TestLabelsCountFromWhereTheTemplateSays(t *testing.T) {
	xxh3, err := keyhash.ByName("xxh3")
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string][]string{
		"{name}-{index+1}":        {"NodeA-1", "NodeA-2"},
		"{name}#{index}":          {"NodeA#0", "NodeA#1"},
		"{index+150}{name}":       {"150NodeA", "151NodeA"},
		"<{name}|{index}|{name}>": {"<NodeA|0|NodeA>", "<NodeA|1|NodeA>"},
		"{index}{index+1}{name}":  {"01NodeA", "12NodeA"},
	} {
		var positions []uint64
		for _, text := range want {
			positions = append(positions, xxh3.Position(text))
		}
		slices.Sort(positions)
		var got []uint64
		for at := range build(t, algorithms.Nodes("NodeA"), ring.Config{VNodes: 2, Label: label, PointHash: "xxh3"}).Points() {
			got = append(got, at)
		}
		if !slices.Equal(got, positions) {
			t.Errorf("label %q: points at %v, want those of %q, %v", label, got, want, positions)
		}
	}
}
