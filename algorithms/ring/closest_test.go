package ring_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// closest is Closest as one would explain it, in numbers without bounds: every point
// is looked at, and its way clockwise counted round the circle.
func closest(m *ring.Map, modulus, first, factor, step uint64, positions int) algorithms.Bucket {
	circle := new(big.Int).Lsh(big.NewInt(1), 64)
	if modulus != 0 {
		circle.SetUint64(modulus)
	}
	owner, best := algorithms.None, new(big.Int)
	for range positions {
		position := first
		if modulus != 0 {
			position %= modulus
		}
		for at, b := range m.Points() {
			way := new(big.Int).SetUint64(at)
			way.Sub(way, new(big.Int).SetUint64(position)).Mod(way, circle)
			if owner == algorithms.None || way.Cmp(best) < 0 {
				owner, best = b, way
			}
		}
		first = first*factor + step
	}
	return owner
}

// TestClosestIsItsDefinition takes points all over the circle, points close together,
// and points that differ in their lower bits only; and positions on and around them,
// two of which may be equally far from their points but for some lower bits.
func TestClosestIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		modulus := rapid.SampledFrom([]uint64{0, 0, 0, 0, 1, 100, 36000, 1<<63 + 5}).Draw(t, "modulus")
		near := rapid.SampledFrom([]uint64{0, 0, 1 << 45, 1 << 30, 1 << 20, 1 << 17, 1 << 15, 1 << 8}).Draw(t, "near")
		centre := rapid.SampledFrom([]uint64{0, 1 << 16, 1 << 63, 1<<64 - 1, 1<<64 - 1<<16}).Draw(t, "centre")
		position := rapid.Custom(func(t *rapid.T) uint64 {
			at := rapid.Uint64().Draw(t, "at") * 0xd6e8feb86659fd93 // rapid prefers small numbers
			if near != 0 {
				at = centre + at>>3%near - near/2
			}
			if modulus != 0 {
				at %= modulus
			}
			return at
		})
		names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(1, 5).Draw(t, "nodes")]
		c := ring.Default
		c.VNodes, c.Modulus, c.Roomy = 20, modulus, rapid.Bool().Draw(t, "roomy")
		for _, name := range names {
			for range rapid.IntRange(1, 6).Draw(t, "points") {
				c.Points = append(c.Points, ring.Listed{Position: position.Draw(t, "position"), Node: name})
			}
		}
		m, err := ring.New(algorithms.Nodes(names...), c)
		if err != nil {
			t.Fatal(err)
		}
		a, b := c.Points[0].Position, c.Points[len(c.Points)-1].Position
		little := rapid.Uint64Range(0, 1<<18)
		before := rapid.SampledFrom([]uint64{1 << 8, 1 << 20, 1 << 50}).Draw(t, "before")
		for _, p := range []struct {
			first, factor, step uint64
			positions           int
		}{
			{a, 1, b - a + 1<<17 - little.Draw(t, "off"), 2},
			{a - before, 1, b - a + 1<<17 - little.Draw(t, "off"), 2},
			{a + little.Draw(t, "after"), 1, 0, 1},
			{a - before, 1, 0, 1},
			{position.Draw(t, "first"), 1, position.Draw(t, "step"), rapid.IntRange(1, 30).Draw(t, "positions")},
			{position.Draw(t, "first"), 0xd1342543de82ef95, 1 << 40, rapid.IntRange(1, 5).Draw(t, "positions")},
		} {
			got := m.Closest(p.first, p.factor, p.step, p.positions)
			if want := closest(m, modulus, p.first, p.factor, p.step, p.positions); got != want {
				t.Fatalf("Closest(%#x, %#x, %#x, %d) = %d, want %d", p.first, p.factor, p.step, p.positions, got, want)
			}
		}
	})
}

// Hashed points lie where the fast path is at home.
func TestClosestIsItsDefinitionOnHashedPoints(t *testing.T) {
	c := ring.Default
	c.VNodes = 1
	for _, n := range []int{1, 2, 3, 10, 300, 66_000} {
		m, err := ring.New(algorithms.Nodes(nodeNames(n)...), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hashes(max(20_000/n, 2), 5) {
			if got, want := m.Closest(h, 0xd1342543de82ef95, 1<<40, 7), closest(m, 0, h, 0xd1342543de82ef95, 1<<40, 7); got != want {
				t.Fatalf("%d nodes: Closest(%#x) = %d, want %d", n, h, got, want)
			}
		}
	}
	m := build(t, algorithms.Nodes("a"), c)
	if err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	if got := m.Closest(1, 1, 1, 3); got != algorithms.None {
		t.Errorf("an empty ring answers %d", got)
	}
}

// A point whose upper bits are those of the last position of all is not the first
// point, which the cells behind the last one repeat there.
func TestTheLastPointIsNotTakenForTheFirst(t *testing.T) {
	c := ring.Default
	c.Points = []ring.Listed{{Position: 0x3fb2, Node: "a"}, {Position: 0xffffffffffff0000, Node: "b"}, {Position: 0x3000, Node: "c"}}
	for _, names := range [][]string{{"a", "b"}, {"a", "b", "c"}} {
		m, err := ring.New(algorithms.Nodes("a", "b"), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names[2:] {
			if _, err := m.Add(algorithms.Node{Name: name, Weight: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if got := m.Closest(0xfffffffffff03fb2, 1, 0, 1); got != 1 {
			t.Errorf("nodes %q: the closest is %d, want b", names, got)
		}
	}
}
