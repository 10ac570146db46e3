package ring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
)

// Whichever way a batch is looked up, its answers are those of Lookup, in rings that
// are empty, crowded, on few positions, or larger than the caches.
func TestABatchAnswersAsLookupDoesEitherWay(t *testing.T) {
	crowd := Default
	for i := range uint64(40) {
		crowd.Points = append(crowd.Points, Listed{1<<40 + i*0x3fff, "node-0"}, Listed{math.MaxUint64 - i, "node-1"})
	}
	few := Default
	few.Modulus = 100
	for name, c := range map[string]struct {
		nodes, vnodes int
		Config
	}{
		"empty": {1, 1, Default}, "one point": {1, 1, Default}, "three": {3, 1, Default}, "usual": {10, 160, Default},
		"many nodes": {1 << 16, 2, Default}, "wide owners": {1<<16 + 1, 2, Default}, "crowded": {2, 40, crowd}, "few positions": {5, 9, few},
		"larger than the caches": {10, nearby / 15, Default},
	} {
		var nodes []algorithms.Node
		for i := range c.nodes {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint("node-", i), Weight: 1})
		}
		c.VNodes = c.vnodes
		m, err := New(nodes, c.Config)
		if err != nil {
			t.Fatal(err)
		}
		if name == "empty" {
			if err := m.Remove(0); err != nil {
				t.Fatal(err)
			}
		}
		if large := name == "larger than the caches"; large != (len(m.cells) > nearby) {
			t.Fatalf("%s: %d cells, nearby are %d", name, len(m.cells), nearby)
		}
		r := rand.New(rand.NewPCG(1, 0))
		hs := []uint64{0, 1, math.MaxUint64}
		for len(hs) < 2000 {
			hs = append(hs, r.Uint64())
		}
		for at := range m.Points() { // on points, and beside them
			if hs = append(hs, at-1, at, at+1); len(hs) > 5000 {
				break
			}
		}
		ways := map[string]func([]uint64, []algorithms.Bucket){"as it chooses": m.LookupBatch}
		if m.modulus == 0 && m.points > 0 {
			ways["in turn"], ways["together"] = m.lookupInTurn, m.lookupTogether
		}
		for way, batch := range ways {
			for _, length := range []int{0, 1, together - 1, together, together + 1, len(hs)} {
				dst := make([]algorithms.Bucket, len(hs)+1)
				for i := range dst {
					dst[i] = -7
				}
				batch(hs[:length], dst)
				for i, b := range dst {
					want := algorithms.Bucket(-7) // beyond the batch nothing is written
					if i < length {
						want = m.Lookup(hs[i])
					}
					if b != want {
						t.Fatalf("%s, %s, %d hashes: hash %d has %d, want %d", name, way, length, i, b, want)
					}
				}
			}
		}
	}
}
