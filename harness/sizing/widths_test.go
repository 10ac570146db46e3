package sizing

import (
	"fmt"
	"hash/crc32"
	"math"
	"testing"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/harness"
)

// The asker's keys go to the slots crc32(key) % 641, with the checksum of the
// standard library.
func TestYourKeysGoToTheSlotsOfTheirValues(t *testing.T) {
	const keys = 300
	q := ask(3, Peak, 1.5)
	q.Info = maglev.Info
	q.Hash, _ = keyhash.ByName("crc32")
	counts := make([]float64, keys)
	for i := range counts {
		counts[i] = 1
	}
	q.Keys = CountedKeys(counts, func(i int) string { return fmt.Sprint("key-", i) })
	s := mustSolver(t, q)
	place, err := harness.NewPlacement(q.Info, q.Nodes, []byte(`{"size":641}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.ownLoad(place)
	if err != nil {
		t.Fatal(err)
	}
	slots := place.Mapper.(*maglev.Map).Owners()
	want := make([]float64, len(q.Nodes))
	for i := range keys {
		want[slots[crc32.ChecksumIEEE(fmt.Appendf(nil, "key-%d", i))%641]] += 1.0 / keys
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("node %d has %v of the requests, want %v", i, got[i], want[i])
		}
	}
}
