package peers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
)

func TestNoPeerHasTheNameOfAnother(t *testing.T) {
	var names []string
	for _, info := range append(builtin.All(), All()...) {
		if slices.Contains(names, info.Name) {
			t.Errorf("two algorithms are called %s", info.Name)
		}
		names = append(names, info.Name)
	}
}

func nodes(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return algorithms.Nodes(names...)
}

// An adapter must turn the answer of its library into the right bucket: the owner
// of a key is the node whose name the library gives.
func TestEveryNodeIsFoundUnderItsBucket(t *testing.T) {
	for _, info := range All() {
		m, _, err := info.New(nodes(10), nil)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		if m.Len() != 10 {
			t.Errorf("%s: Len is %d", info.Name, m.Len())
		}
		owned := make([]int, 10)
		for h := range uint64(10_000) {
			h *= 0x9e3779b97f4a7c15
			b := m.Lookup(h)
			if k, ok := m.(algorithms.KeyMapper); ok {
				b = k.LookupKey(fmt.Sprintf("key-%d", h))
			}
			if b < 0 || b > 9 {
				t.Fatalf("%s: bucket %d", info.Name, b)
			}
			owned[b]++
		}
		if slices.Min(owned) < 200 {
			t.Errorf("%s: the nodes own %d keys of 10000", info.Name, owned)
		}
	}
}

// Where a node is taken in, its keys alone move, and they move to its bucket.
func TestANewNodeIsFoundUnderItsBucket(t *testing.T) {
	for _, info := range All() {
		m, _, err := info.New(nodes(10), nil)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		a, ok := m.(algorithms.Adder)
		if !ok {
			continue
		}
		b, err := a.Add(algorithms.Node{Name: "a newcomer", Weight: 1})
		if err != nil || b != 10 || m.Len() != 11 {
			t.Errorf("%s: Add gives bucket %d and the error %v, and Len is %d", info.Name, b, err, m.Len())
		}
		owned := 0
		for i := range 10_000 {
			if m.(algorithms.KeyMapper).LookupKey(fmt.Sprintf("key-%d", i)) == b {
				owned++
			}
		}
		if owned < 400 || owned > 1700 {
			t.Errorf("%s: the eleventh node owns %d of 10000 keys", info.Name, owned)
		}
	}
}

func TestUnequalWeightsAreUnsupportedWhereALibraryKnowsNone(t *testing.T) {
	weighted := nodes(3)
	weighted[1].Weight = 2
	for _, info := range All() {
		_, _, err := info.New(weighted, nil)
		if takes := info.Name == "serialx-hashring"; takes != (err == nil) {
			t.Errorf("%s: unequal weights give the error %v", info.Name, err)
		}
	}
}
