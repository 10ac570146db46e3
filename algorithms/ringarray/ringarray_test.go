package ringarray_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/ringarray"
)

func build(t *testing.T, slots int, points ...uint64) *ringarray.Map {
	t.Helper()
	c := ringarray.Default
	c.Slots, c.Modulus = slots, 16
	for i, at := range points {
		c.Points = append(c.Points, ring.Listed{Position: at, Node: string(rune('a' + i))})
	}
	names := make([]string, len(points))
	for i := range names {
		names[i] = c.Points[i].Node
	}
	m, err := ringarray.New(algorithms.Nodes(names...), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The agreement with the other rings is tested in package ringbinarysearch.

func TestProbesCountTheStepsOverTheSlots(t *testing.T) {
	// Eight slots of two positions; a stands in slot 2, b and c in slot 5.
	m := build(t, 8, 5, 10, 11)
	for _, c := range []struct {
		h      uint64
		owner  algorithms.Bucket
		probes int
	}{
		{0, 0, 4},  // slots 0, 1 and 2, point a
		{5, 0, 2},  // slot 2, point a
		{6, 1, 4},  // slots 3, 4 and 5, point b
		{11, 2, 3}, // slot 5, points b and c
		{12, 0, 3}, // slots 6 and 7 to the end of the circle, and past it
	} {
		if b, probes := m.LookupProbes(c.h); b != c.owner || probes != c.probes {
			t.Errorf("LookupProbes(%d) = %d, %d, want %d, %d", c.h, b, probes, c.owner, c.probes)
		}
	}
}

func TestTheSlotsFitThePoints(t *testing.T) {
	m, err := ringarray.New(algorithms.Nodes("a", "b", "c"), ringarray.Default)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Footprint(), int64(480*12+2048*4); got != want {
		t.Errorf("footprint %d, want %d: 480 points and 2048 slots", got, want)
	}
	if _, err := m.Add(algorithms.Node{Name: "d", Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Footprint(), int64(640*12+4096*4); got != want {
		t.Errorf("footprint %d, want %d: 640 points and 4096 slots", got, want)
	}
	if fixed := build(t, 100, 1, 2, 3); fixed.Footprint() != 3*12+400 {
		t.Errorf("footprint %d with 100 slots", fixed.Footprint())
	}
	nodes := algorithms.Nodes("a", "b", "c")
	if got := ringarray.Default.Forecast(nodes); got < m.Footprint()/4*3 {
		t.Errorf("forecast %d", got)
	}
	nodes[0].Weight = 1e300
	if got := ringarray.Default.Forecast(nodes); got != math.MaxInt64 {
		t.Errorf("forecast %d, want the greatest", got)
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"slots":-1}`:         "ring-array: slots -1, want",
		`{"slots":2147483648}`: "slots 2147483648, want",
		`{"vnodes":0}`:         "ring-array: vnodes 0",
		`{"slot":1}`:           `unknown parameter "slot"`,
	} {
		_, _, err := ringarray.Info.New(algorithms.Nodes("a"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", params, err, want)
		}
	}
	if got := string(ringarray.Info.Defaults); got != `{"vnodes":160,"label":"{name}#{index}","point_hash":"xxh3","slots":0}` {
		t.Errorf("defaults %s", got)
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	m := build(t, 8, 5, 10, 11)
	h := uint64(0)
	if allocs := testing.AllocsPerRun(100, func() { h++; m.Lookup(h) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
