package harness

import (
	"math"
	"runtime"
	"time"

	"github.com/ringbench/ringbench/algorithms"
)

// This file holds every clock reading that becomes a metric. A reading of the wall
// clock costs tens of nanoseconds, one of the thread's CPU time hundreds: more than
// most lookups, so blocks of operations are timed and never one of them.

// chunk is the smallest number of lookups that is timed; the pool of hashes and
// every block are multiples of it.
const chunk = 1024

// blockTarget is how long a timed block lasts at least.
const blockTarget = 8 * time.Millisecond

// margin is how much longer than that a block is made, since one that turns out
// shorter is timed again.
const margin = 1.15

// leastReadings is the number of readings of its clock that a timed stretch lasts
// at least: one reading is then a thousandth of it.
const leastReadings = 1000

// A stopwatch reads the clocks. Tests bring their own.
type stopwatch struct {
	wall func() time.Duration // since a fixed moment
	cpu  func() time.Duration // of the calling thread; -1 where the system does not tell
}

// clocks are those of the system.
var clocks = stopwatch{wall: func() time.Duration { return time.Since(epoch) }, cpu: threadCPU}

var epoch = time.Now()

// sample is one timed stretch.
type sample struct {
	wall time.Duration
	cpu  time.Duration // of the thread; -1 where the system does not tell
	sum  uint64        // what the operations answered, to be checked
}

// took returns the time that figures are made of: that of the thread, which does
// not count while others have the core, or the wall clock's where the system does
// not tell.
func (s sample) took() time.Duration {
	if s.cpu >= 0 {
		return s.cpu
	}
	return s.wall
}

// time runs ops operations between two readings of the clocks. The caller holds
// the thread locked.
func (w stopwatch) time(run func(ops int) uint64, ops int) sample {
	cpu := w.cpu()
	start := w.wall()
	sum := counted(run, ops)
	s := sample{wall: w.wall() - start, sum: sum, cpu: -1}
	if cpu >= 0 {
		s.cpu = w.cpu() - cpu
	}
	return s
}

// cost returns the cost of a reading in nanoseconds: the least mean of several
// runs, so that an interruption does not count.
func (w stopwatch) cost(read func() time.Duration) float64 {
	const readings, runs = 1 << 10, 8
	best := time.Duration(1<<63 - 1)
	for range runs {
		start := w.wall()
		for range readings {
			read()
		}
		best = min(best, w.wall()-start)
	}
	return max(1, float64(best.Nanoseconds())/readings)
}

// fine returns the stopwatch without its CPU clock if that moves in steps longer
// than a reading, as clocks do that count the ticks of a scheduler.
func (w stopwatch) fine() stopwatch {
	const readings = 32
	moved := 0
	last := w.cpu()
	for range readings {
		if at := w.cpu(); at > last {
			moved++
			last = at
		}
	}
	if moved < readings/2 {
		w.cpu = noCPU
	}
	return w
}

// noCPU is the CPU clock of a system that does not tell.
func noCPU() time.Duration { return -1 }

// Counted is the symbol of the function that runs what is timed and nothing else,
// for tools that count instructions between its beginning and its end.
const Counted = "github.com/ringbench/ringbench/harness.counted"

//go:noinline
func counted(run func(ops int) uint64, ops int) uint64 { return run(ops) }

// ClockCost returns the cost of one reading of the wall clock in nanoseconds.
func ClockCost() float64 { return clocks.cost(clocks.wall) }

// lookups is the loop that times every algorithm alike: through the interface,
// never inlined into a caller that knows the type.
//
//go:noinline
func lookups(m algorithms.Mapper, hs []uint64) (sum uint64) {
	for _, h := range hs {
		sum += uint64(m.Lookup(h))
	}
	return sum
}

// chained is lookups with each hash depending on the answer before it, so that
// they cannot overlap. The mask is 0 at run time, which the compiler does not
// know: the hashes, and so the answers, are those of lookups.
//
//go:noinline
func chained(m algorithms.Mapper, hs []uint64, mask uint64) (sum uint64) {
	var b algorithms.Bucket
	for _, h := range hs {
		b = m.Lookup(h ^ uint64(b)&mask)
		sum += uint64(b)
	}
	return sum
}

// batchLookups looks the hashes up in one call; dst is as long or longer.
//
//go:noinline
func batchLookups(m algorithms.BatchMapper, hs []uint64, dst []algorithms.Bucket) (sum uint64) {
	m.LookupBatch(hs, dst)
	for _, b := range dst[:len(hs)] {
		sum += uint64(b)
	}
	return sum
}

// keyLookups goes from the key to the bucket, hashing included.
//
//go:noinline
func keyLookups(m algorithms.Mapper, keys []string, hash func(string) uint64) (sum uint64) {
	for _, key := range keys {
		sum += uint64(m.Lookup(hash(key)))
	}
	return sum
}

// ownKeyLookups is keyLookups for an algorithm with a key hash of its own.
//
//go:noinline
func ownKeyLookups(m algorithms.KeyMapper, keys []string) (sum uint64) {
	for _, key := range keys {
		sum += uint64(m.LookupKey(key))
	}
	return sum
}

// assigns places a request and releases the one that was placed len(held)
// requests ago. It returns the sum of the buckets and the next place in held.
//
//go:noinline
func assigns(m algorithms.Assigner, hs []uint64, held []algorithms.Bucket, at int) (sum uint64, next int) {
	for _, h := range hs {
		m.Release(held[at])
		b, _ := m.Assign(h)
		held[at] = b
		if at++; at == len(held) {
			at = 0
		}
		sum += uint64(b)
	}
	return sum, at
}

// allocations returns the heap allocations and bytes of one lookup, to a
// hundredth. The least of several runs is taken, since the rest of the program
// allocates too; what is left of that is far below a hundredth.
func allocations(m algorithms.Mapper, hs []uint64) (allocs, bytes float64) {
	n := float64(len(hs))
	allocs, bytes = math.Inf(1), math.Inf(1)
	var before, after runtime.MemStats
	for range 5 {
		runtime.ReadMemStats(&before)
		lookups(m, hs)
		runtime.ReadMemStats(&after)
		allocs = min(allocs, float64(after.Mallocs-before.Mallocs)/n)
		bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
	}
	allocs = math.Round(allocs*100) / 100
	if allocs == 0 {
		return 0, 0
	}
	return allocs, math.Round(bytes*100) / 100
}

// heapBytes returns the live heap, after collecting what is not.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
