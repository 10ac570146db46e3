package harness

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/workloads"
)

// A pool drawn from Zipf's law has each rank as often as its probability k^-s / H says,
// and is otherwise what a pool is: hashes of its keys, in their order.
func TestADrawnPoolFollowsThePopularity(t *testing.T) {
	const n, s, size = 5000, 1.1, 1 << 18
	harmonic := 0.0
	for k := 1; k <= n; k++ {
		harmonic += math.Pow(float64(k), -s)
	}
	p := drawnPool(size, workloads.Zipf(s, n), "zipf:1.1", 3)
	if p.len() != size || p.uniform() || p.workload() != "random:5000+zipf:1.1" {
		t.Fatalf("%d lookups, uniform %v, %q", p.len(), p.uniform(), p.workload())
	}
	number := map[string]float64{}
	for _, key := range p.strings() {
		number[key]++
	}
	for _, k := range []int{1, 2, 3, 10, 100} {
		want := size * math.Pow(float64(k), -s) / harmonic
		if got := number[p.set.Key(k-1)]; math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("rank %d is looked up %v times, want %.0f", k, got, want)
		}
	}
	hash, err := keyhash.ByName(defaultHash)
	if err != nil {
		t.Fatal(err)
	}
	hs, keys := p.hashed(hash.For(nil)), p.strings()
	for _, i := range []int{0, 1, size / 2, size - 1} {
		if hs[i] != hash.Position(keys[i]) {
			t.Errorf("hash %d is not that of its key", i)
		}
	}
	if slices.Equal(keys, drawnPool(size, workloads.Zipf(s, n), "zipf:1.1", 4).strings()) {
		t.Error("two seeds draw alike")
	}
	if !slices.Equal(keys, drawnPool(size, workloads.Zipf(s, n), "zipf:1.1", 3).strings()) {
		t.Error("one seed draws twice otherwise")
	}
}

const zipfSpec = `
nodes = [10]
keys = "seq:k:0:3000"
pool = 65536
popularity = ["zipf:1.1"]
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "times"
measures = ["allocations", "lookup", "latency", "key-lookup", "parallel-lookup", "batch-lookup", "assign", "build"]
reps = 1
`

// A spec that asks for Zipf's law gets lookups under it, and beside them those with all
// keys asked alike, each with floors over the same keys.
func TestLookupsAreTimedUnderThePopularityThatIsAskedFor(t *testing.T) {
	s, o := mustRun(t, mustPlan(t, zipfSpec))
	if len(o.Failed) > 0 {
		t.Fatal(o.Failed)
	}
	workloads := map[string][]string{}
	for _, tr := range s.trials {
		if tr.Skip == "" {
			workloads[tr.Algorithm+" "+tr.Measure] = append(workloads[tr.Algorithm+" "+tr.Measure], tr.Workload)
		}
		if tr.Timing != nil && strings.Contains(tr.Workload, "zipf") && (tr.Keys != 3000 || tr.Timing.Pool != 65536) {
			t.Errorf("%s: %d keys, after %d of which the lookups repeat", tr.Cell, tr.Keys, tr.Timing.Pool)
		}
	}
	both := []string{"random:3000+zipf:1.1", "random:65536+uniform"}
	for _, want := range []string{
		"ring lookup", "ring latency", "ring key-lookup", "ring parallel-lookup", "ring batch-lookup", "modulo lookup", "modulo latency",
		"control lookup", "control latency", "control key-lookup", "one-read lookup", "one-read latency",
	} {
		got := slices.Compact(slices.Sorted(slices.Values(workloads[want])))
		if !slices.Equal(got, both) {
			t.Errorf("%s over %q, want %q", want, got, both)
		}
	}
	for _, want := range []string{"ring allocations"} {
		if got := workloads[want]; !slices.Equal(got, both[1:]) {
			t.Errorf("%s over %q, want the uniform keys alone", want, got)
		}
	}
}

func TestTheFloorIsNoLargerThanWhatLookupsRead(t *testing.T) {
	for _, tt := range []struct{ hot, want int64 }{
		{0, 0}, {16, 0}, {4095, 0}, {4096, 4096}, {8191, 4096}, {8192, 8192}, {1920000, 1 << 20}, {1 << 30, 1 << 30}, {math.MaxInt64, 1 << 40},
	} {
		if got := FloorBytes(tt.hot); got != tt.want {
			t.Errorf("%d bytes: %d, want %d", tt.hot, got, tt.want)
		}
	}
	s, _ := mustRun(t, mustPlan(t, zipfSpec))
	sizes := map[int64]bool{}
	for _, tr := range s.trials {
		if tr.Measure != "lookup" || tr.Timing == nil {
			continue
		}
		switch tr.Algorithm {
		case "ring": // 10 nodes of 160 points, a cell and a half of 8 bytes each
			if tr.Timing.FloorBytes != 16384 {
				t.Errorf("%s: an array of %d bytes for 19,200", tr.Cell, tr.Timing.FloorBytes)
			}
			sizes[tr.Timing.FloorBytes] = true
		case "modulo", "control":
			if tr.Timing.FloorBytes != 0 {
				t.Errorf("%s: an array of %d bytes for none", tr.Cell, tr.Timing.FloorBytes)
			}
		}
	}
	for _, tr := range s.trials {
		if tr.Algorithm == "one-read" && !sizes[tr.Timing.FloorBytes] {
			t.Errorf("%s is nobody's floor", tr.Cell)
		}
	}
}
