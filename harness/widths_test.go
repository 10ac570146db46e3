package harness

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/workloads"
)

// A run gives keys to the nodes that crc32(key) % n names, with the checksum of the
// standard library: 641 nodes and a table of 641 slots, by which a widened hash
// leaves no remainder.
func TestARunDividesThe32BitHashItself(t *testing.T) {
	const n, keys = 641, 5000
	spec, err := ParseSpec("test.toml", []byte(`
nodes = [641]
keys = "seq:key-:0:5000"
hash = "crc32"
[[contestant]]
algorithm = "modulo"
[[contestant]]
algorithm = "maglev"
params = { size = 641 }
[[experiment]]
name = "keys"
measures = ["balance", "allocations"]
`))
	if err != nil {
		t.Fatal(err)
	}
	pl, err := NewPlan(spec, Options{Algorithms: []algorithms.Info{modulo.Info, maglev.Info}})
	if err != nil {
		t.Fatal(err)
	}
	sink, outcome := mustRun(t, pl)
	if len(outcome.Failed) > 0 {
		t.Errorf("failed: %q", outcome.Failed)
	}
	table, err := maglev.New((&subject{contestant: &Contestant{}, weights: []float64{1}, n: n, seed: 1}).nodes(), maglev.Config{Size: n})
	if err != nil {
		t.Fatal(err)
	}
	slots := table.Owners()
	divided, placed := make([]int32, keys), make([]int32, keys)
	for i := range keys {
		remainder := crc32.ChecksumIEEE(fmt.Appendf(nil, "key-%d", i)) % n
		divided[i], placed[i] = int32(remainder), int32(slots[remainder])
	}
	want := map[string]string{"modulo": digestOf(divided), "maglev": digestOf(placed)}
	balances := 0
	for _, tr := range sink.trials {
		if tr.Measure != "balance" {
			continue
		}
		balances++
		if tr.Check != want[tr.Algorithm] || !strings.HasSuffix(tr.Cell, "/hash=crc32") {
			t.Errorf("%s: owners %s, want %s", tr.Cell, tr.Check, want[tr.Algorithm])
		}
	}
	if balances != 2 {
		t.Errorf("%d balances, want 2", balances)
	}
}

// Both forms of a hash can be asked of one pool or key set, in any order.
func TestKeysAreHashedInTheFormOfTheAlgorithm(t *testing.T) {
	hash, err := keyhash.ByName("crc32")
	if err != nil {
		t.Fatal(err)
	}
	number, err := modulo.New(algorithms.Nodes("a", "b"), modulo.Default)
	if err != nil {
		t.Fatal(err)
	}
	set, err := workloads.ParseKeys("seq:key-:0:50")
	if err != nil {
		t.Fatal(err)
	}
	uniform, drawn := newPool(50, 1), drawnPool(50, workloads.Zipf(1, 20), "zipf:1", 1)
	keys := &keyData{set: set, hashes: map[string][]uint64{}}
	for _, c := range []struct {
		what   string
		hashed func(keyhash.Function) []uint64
		key    func(i int) string
	}{
		{"a pool", uniform.hashed, uniform.set.Key},
		{"a drawn pool", drawn.hashed, func(i int) string { return drawn.strings()[i] }},
		{"keys", keys.hashed, set.Key},
	} {
		positions, numbers := c.hashed(hash.For(nil)), c.hashed(hash.For(number))
		for i := range positions {
			h := uint64(crc32.ChecksumIEEE([]byte(c.key(i))))
			if positions[i] != h<<32+h || numbers[i] != h {
				t.Errorf("%s: key %d has the position %#x and the number %#x, its checksum is %#x", c.what, i, positions[i], numbers[i], h)
			}
		}
	}
}
