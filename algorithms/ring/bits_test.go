package ring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// TestANarrowHashOnAWideRingLandsOnOneNode is twitter/twemproxy#175: 4 nodes of
// 160 points on a circle of 2^32, and a hash of the keys of 15 bits. All keys lie
// before the first point but for a few.
func TestANarrowHashOnAWideRingLandsOnOneNode(t *testing.T) {
	c := ring.Default
	c.Modulus = 1 << 32
	m, err := ring.New(algorithms.Nodes("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379", "10.0.0.4:6379"), c)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := keyhash.ByName("crc32")
	if err != nil {
		t.Fatal(err)
	}
	for bits, alone := range map[int]bool{15: true, 32: false} {
		counts := map[algorithms.Bucket]int{}
		for i := range 100_000 {
			h := hash.Number(fmt.Sprint("key:", i)) & (1<<bits - 1)
			counts[m.Lookup(h)]++
		}
		if (len(counts) == 1) != alone {
			t.Errorf("a hash of %d bits: keys per node %v", bits, counts)
		}
	}
}

// TestTheBitsThatPlaceAKeyMustNotBeUsedAgain is scylladb/scylladb#1277: the top 4
// bits of a hash name the shard within a node, and the same hash has placed the
// key on a ring of 16 nodes of 16 points. Within a node one shard had 3.35 times
// the mean, and others had nothing. Below the top 12 bits all is well: 1.01.
func TestTheBitsThatPlaceAKeyMustNotBeUsedAgain(t *testing.T) {
	const nodes, shards, keys, rings = 16, 16, 1 << 22, 5
	r := rand.New(rand.NewPCG(7, 0))
	peak, empty := map[int]float64{}, map[int]int{}
	below, above := 0, 0 // nodes whose busiest shard is on either side of the report
	for run := range rings {
		c := ring.Default
		c.VNodes = 16
		names := make([]string, nodes)
		for i := range names {
			names[i] = fmt.Sprintf("ring%d-node%d", run, i)
		}
		m, err := ring.New(algorithms.Nodes(names...), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, skipped := range []int{0, 12} {
			var held [nodes][shards]float64
			for range keys {
				h := r.Uint64()
				held[m.Lookup(h)][h<<skipped>>60]++
			}
			for _, node := range held {
				most, sum := 0.0, 0.0
				for _, n := range node {
					most, sum = max(most, n), sum+n
					if n == 0 {
						empty[skipped]++
					}
				}
				x := most / (sum / shards)
				peak[skipped] += x / nodes / rings
				if skipped == 0 && x < 3.35 {
					below++
				} else if skipped == 0 {
					above++
				}
			}
		}
	}
	t.Logf("busiest shard of a node: %.2f times the mean, %d of %d nodes below 3.35; %.3f with 12 bits skipped", peak[0], below, nodes*rings, peak[12])
	// The report is of one ring; of the nodes here a good part are better, and more
	// are worse.
	if few := nodes * rings / 8; below < few || above < few || empty[0] == 0 {
		t.Errorf("busiest shard: %d nodes below 3.35 times the mean and %d above, %d shards empty", below, above, empty[0])
	}
	// In the mean over such rings it is 4.19, by arcs, and 0.28 more or less in one.
	if math.Abs(peak[0]-4.19) > 3*0.28/math.Sqrt(rings) {
		t.Errorf("busiest shard of a node: %.2f times the mean over %d rings, want 4.19", peak[0], rings)
	}
	if math.Abs(peak[12]-1.01) > 0.01 || empty[12] > 0 {
		t.Errorf("with 12 bits skipped: busiest shard %.3f times the mean, %d shards empty", peak[12], empty[12])
	}
}
