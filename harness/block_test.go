package harness

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// A world is a machine with clocks of its own: what computes takes time on both, what
// waits on the wall clock alone. So a test knows what everything costs.
type world struct {
	wall, cpu atomic.Int64 // in ns
	blind     bool         // there is no CPU clock
	steal     func() int64 // wall time that others take at each reading of the wall clock; may be nil
}

const (
	wallReading = 50
	cpuReading  = 600
)

func (w *world) compute(ns int64) {
	w.wall.Add(ns)
	w.cpu.Add(ns)
}

func (w *world) clocks() stopwatch {
	return stopwatch{
		wall: func() time.Duration {
			w.compute(wallReading)
			if w.steal != nil {
				w.wall.Add(w.steal())
			}
			return time.Duration(w.wall.Load())
		},
		cpu: func() time.Duration {
			if w.blind {
				return -1
			}
			w.compute(cpuReading)
			return time.Duration(w.cpu.Load())
		},
	}
}

// A worker is an algorithm in a world: its operations take known times.
type worker struct {
	w                   *world
	n                   int
	lookup, join, leave int64         // ns
	seen                func(*worker) // called at each lookup; may be nil
	changed             func()        // called at each change; may be nil
}

func (m *worker) Lookup(h uint64) algorithms.Bucket {
	m.w.compute(m.lookup)
	if m.seen != nil {
		m.seen(m)
	}
	return fair(h, m.n)
}
func (m *worker) Len() int { return m.n }
func (m *worker) Add(algorithms.Node) (algorithms.Bucket, error) {
	m.w.compute(m.join)
	m.stall()
	m.n++
	return algorithms.Bucket(m.n - 1), nil
}
func (m *worker) Remove(algorithms.Bucket) error {
	m.w.compute(m.leave)
	m.stall()
	m.n--
	return nil
}

func (m *worker) stall() {
	if m.changed != nil {
		m.changed()
	}
}

// in puts the plan into the world, with a worker made by tune.
func in(t *testing.T, w *world, toml string, tune func(*worker)) *Plan {
	t.Helper()
	info := algorithms.Define("worker", "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*worker, error) {
		m := &worker{w: w, n: len(nodes), lookup: 100, join: 100, leave: 100}
		tune(m)
		return m, nil
	}).Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Reachable)
	spec := mustSpec(t, "nodes = [10]\npool = 65536\n[[contestant]]\nalgorithm = \"worker\"\n[[experiment]]\nname = \"a\"\n"+toml)
	pl, err := NewPlan(spec, Options{Algorithms: []algorithms.Info{info}}) // without the controls, which take no time in the world
	if err != nil {
		t.Fatal(err)
	}
	pl.watch = w.clocks()
	return pl
}

// ofWorker returns the trials of the worker, each with its timing.
func ofWorker(t *testing.T, s *memorySink) []results.Trial {
	t.Helper()
	var trials []results.Trial
	for _, tr := range s.trials {
		if tr.Algorithm == "worker" {
			trials = append(trials, tr)
		}
	}
	if len(trials) == 0 {
		t.Fatal("no trial of the worker")
	}
	return trials
}

// near says whether a figure is that of the operation, to what clocks cost.
func near(got, want float64) bool { return math.Abs(got-want) <= 0.002*want }

func TestAFigureIsTheTimeOfOneOperation(t *testing.T) {
	for measure, cost := range map[string]worker{
		"lookup":     {lookup: 100_000}, // so slow that a block is a few units
		"latency":    {lookup: 20_000},
		"key-lookup": {lookup: 7000},
		"add":        {join: 30_000},
		"remove":     {leave: 40_000},
	} {
		for _, blind := range []bool{false, true} {
			w := &world{blind: blind}
			pl := in(t, w, "measures = [\""+measure+"\"]\nreps = 3\n", func(m *worker) { m.lookup, m.join, m.leave = cost.lookup, cost.join, cost.leave })
			s, o := mustRun(t, pl)
			if len(o.Failed) > 0 {
				t.Fatal(o.Failed)
			}
			want := float64(max(cost.lookup, cost.join, cost.leave))
			for _, tr := range ofWorker(t, s) {
				if got := tr.Values[metricOf[measure]]; !near(got, want) {
					t.Errorf("%s, rep %d, blind %v: %v ns an operation, it takes %v", measure, tr.Rep, blind, got, want)
				}
				readings := tr.Timing.CPUNs
				if blind {
					if readings != -1 {
						t.Errorf("%s: CPU time %d without a clock of it", measure, readings)
					}
					readings = tr.Timing.WallNs
				}
				if got := float64(readings) / float64(tr.Timing.Operations); tr.Values[metricOf[measure]] != got {
					t.Errorf("%s: value %v, the readings say %v", measure, tr.Values[metricOf[measure]], got)
				}
			}
		}
	}
}

// The fault that this is about: a preemption during calibration made blocks of 1,024
// lookups, 2 microseconds long, for all repetitions.
func TestAPreemptionDoesNotMakeBlocksShort(t *testing.T) {
	for _, blind := range []bool{false, true} {
		for every := range 9 { // from each reading of the clock on, in turn
			w := &world{blind: blind}
			readings := 0
			w.steal = func() int64 {
				if readings++; readings%9 == every {
					return int64(50 * time.Millisecond)
				}
				return 0
			}
			s, _ := mustRun(t, in(t, w, "measures = [\"lookup\"]\nreps = 4\n", func(m *worker) { m.lookup = 50 }))
			for _, tr := range ofWorker(t, s) {
				if computed := 50 * tr.Timing.Operations; computed < int(blockTarget) && (!blind || tr.Timing.WallNs < int64(blockTarget)) {
					t.Errorf("blind %v, preempted at %d, rep %d: a block computes for %v", blind, every, tr.Rep, time.Duration(computed))
				}
				if !blind && !near(tr.Values["lookup-ns"], 50) {
					t.Errorf("preempted at %d: %v ns, of 50", every, tr.Values["lookup-ns"])
				}
			}
		}
	}
}

// What becomes fast after calibration is given longer blocks.
func TestABlockThatEndsTooSoonIsTimedAgain(t *testing.T) {
	w := &world{}
	var calls atomic.Int64
	s, o := mustRun(t, in(t, w, "measures = [\"lookup\"]\nreps = 5\n", func(m *worker) {
		m.lookup = 0
		m.seen = func(m *worker) {
			if calls.Add(1) > 200_000 { // behind the gate and the calibration
				w.compute(20)
			} else {
				w.compute(400)
			}
		}
	}))
	for _, tr := range ofWorker(t, s) {
		if tr.Timing.BlockNs < int64(blockTarget) || tr.Timing.BlockNs != tr.Timing.CPUNs {
			t.Errorf("rep %d: a block of %d ns, CPU %d ns", tr.Rep, tr.Timing.BlockNs, tr.Timing.CPUNs)
		}
	}
	last := s.trials[len(s.trials)-1]
	if last.Algorithm == "worker" && !near(last.Values["lookup-ns"], 20) {
		t.Errorf("%v ns, of 20", last.Values["lookup-ns"])
	}
	if len(o.Failed) > 0 {
		t.Error(o.Failed)
	}
}

// Changes of which memory holds few at a time are timed in passes, whose median no
// interruption touches.
func TestShortChangesAreTimedInPasses(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		w := &world{}
		n := 0
		pl := in(t, w, "measures = [\"add\", \"remove\"]\nreps = 3\n", func(m *worker) {
			m.join, m.leave = 7, 7
			m.changed = func() {
				if n++; stalled && n%3333 == 0 { // of some passes, now and then the first
					w.wall.Add(int64(10 * time.Millisecond))
				}
			}
		})
		s, o := mustRun(t, pl)
		for _, tr := range ofWorker(t, s) {
			got := tr.Values[metricOf[tr.Measure]]
			if !near(got, 7) {
				t.Errorf("%s, stalled %v: %v ns of 7, %q", tr.Cell, stalled, got, tr.Skip)
			}
			if k := tr.Timing; k.Passes < leastPasses || k.CPUNs != -1 || !near(float64(k.BlockNs), 7*float64(k.Passes*k.Operations)) {
				t.Errorf("%s, stalled %v: %+v", tr.Cell, stalled, *k)
			}
			if !stalled && tr.Timing.BlockNs < int64(blockTarget) {
				t.Errorf("%s: %+v", tr.Cell, *tr.Timing)
			}
		}
		if len(o.Failed) > 0 {
			t.Error(o.Failed)
		}
	}
}

// What stays too short for the clock is no figure.
func TestWhatIsTooShortToTimeIsVoid(t *testing.T) {
	w := &world{}
	pl := in(t, w, "measures = [\"remove\"]\nreps = 2\n", func(m *worker) { m.join, m.leave = 100_000, 0 })
	s, o := mustRun(t, pl)
	for _, tr := range ofWorker(t, s) {
		if !strings.HasPrefix(tr.Skip, "too short to time: ") || len(tr.Values) > 0 || tr.Failed() {
			t.Errorf("%s: skip %q, values %v", tr.Cell, tr.Skip, tr.Values)
		}
	}
	if !slices.ContainsFunc(o.Warnings, func(s string) bool { return strings.Contains(s, "too short to time") }) {
		t.Errorf("warnings %q", o.Warnings)
	}
}

// A clock that counts the ticks of a scheduler is no clock of CPU time.
func TestACoarseCPUClockIsNotUsed(t *testing.T) {
	at := time.Duration(0)
	coarse := stopwatch{wall: clocks.wall, cpu: func() time.Duration {
		at += time.Microsecond
		return at.Truncate(10 * time.Millisecond)
	}}
	if got := coarse.fine().cpu(); got != -1 {
		t.Errorf("a clock in steps of 10 ms tells %v", got)
	}
	w := &world{}
	if got := w.clocks().fine().cpu(); got <= 0 {
		t.Errorf("a fine clock tells %v", got)
	}
}

func TestTheCostOfAReadingIsThatOfTheReading(t *testing.T) {
	w := &world{}
	n := 0
	w.steal = func() int64 {
		if n++; n%1500 == 0 {
			return int64(time.Millisecond)
		}
		return 0
	}
	watch := w.clocks()
	if got := watch.cost(watch.cpu); !near(got, cpuReading) && math.Abs(got-cpuReading) > 0.1 {
		t.Errorf("%v ns a reading of the CPU clock, of %d", got, cpuReading)
	}
	if got := watch.cost(watch.wall); math.Abs(got-wallReading) > 0.1 {
		t.Errorf("%v ns a reading of the wall clock, of %d", got, wallReading)
	}
}

// Structures are built anew between repetitions, and it is the new ones that are timed.
func TestEveryRepetitionTimesAnotherStructure(t *testing.T) {
	w := &world{}
	timed := map[*worker]int{}
	var current atomic.Pointer[worker] // the pool is asked on all cores
	pl := in(t, w, "measures = [\"lookup\"]\nreps = 5\n", func(m *worker) {
		m.lookup = 1000
		m.seen = func(m *worker) { current.Store(m) }
	})
	s := &tapSink{memorySink: newSink(), tap: func(tr results.Trial) {
		if tr.Algorithm == "worker" {
			timed[current.Load()]++
		}
	}}
	if _, err := pl.Run(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	if len(timed) != 5 {
		t.Errorf("5 repetitions timed %d structures", len(timed))
	}
}

// tapSink tells of each trial when it is recorded.
type tapSink struct {
	*memorySink
	tap func(results.Trial)
}

func (s *tapSink) Append(t results.Trial) error {
	s.tap(t)
	return s.memorySink.Append(t)
}

// fold is a mapper whose answers tell what it was asked.
type folding struct{}

func (folding) Lookup(h uint64) algorithms.Bucket {
	return algorithms.Bucket(h * 0x9e3779b97f4a7c15 >> 40)
}
func (folding) Len() int { return 1 << 24 }

// Under a mask that lets the answers through, each hash of the chain is that of the
// one before: what waits for nothing answers otherwise.
func TestEachLookupOfTheChainWaitsForTheOneBefore(t *testing.T) {
	hs := []uint64{3, 1 << 40, 77, 3, 9, 1<<63 + 5}
	for _, mask := range []uint64{0, ^uint64(0), 0xff} {
		want, last := uint64(0), uint64(0)
		for _, h := range hs {
			last = ((h ^ (last & mask)) * 0x9e3779b97f4a7c15) >> 40
			want += last
		}
		if got := chained(folding{}, hs, mask); got != want {
			t.Errorf("mask %x: %d, want %d", mask, got, want)
		}
	}
	if plain := lookups(folding{}, hs); chained(folding{}, hs, ^uint64(0)) == plain || chained(folding{}, hs, 0) != plain {
		t.Error("the chain does not depend on its answers, or does under the mask of 0")
	}
}

// The latency kernel runs the chain.
func TestLatencyIsMeasuredInAChain(t *testing.T) {
	defer func(was uint64) { mask = was }(mask)
	pl := mustPlan(t, strings.ReplaceAll(timedSpec, `"allocations", "memory", "lookup", "latency", "key-lookup", "build", "add", "remove"`, `"latency"`))
	mask = 1 << 63 // answers are below it: the same hashes, unless it is the answers that are let through
	if _, o := mustRun(t, pl); len(o.Failed) > 0 {
		t.Fatalf("a mask that answers do not reach changes them: %q", o.Failed)
	}
	mask = 1
	pl = mustPlan(t, strings.ReplaceAll(timedSpec, `"allocations", "memory", "lookup", "latency", "key-lookup", "build", "add", "remove"`, `"latency"`))
	if _, o := mustRun(t, pl); len(o.Failed) == 0 {
		t.Error("hashes that depend on the answers before give the answers of those that do not: nothing waits")
	}
}

// alone returns a stage in the world that belongs to no run.
func alone(w *world) *stage {
	st := &stage{watch: w.clocks().fine()}
	st.wallCost, st.cpuCost = st.watch.cost(st.watch.wall), st.watch.cost(st.watch.cpu)
	return st
}

// An interruption makes no try quicker, so that the least of three tells how many
// operations fill a block.
func TestCalibrationGoesByTheLeastOfItsTries(t *testing.T) {
	for every := range 6 {
		w := &world{blind: true}
		n := 0
		w.steal = func() int64 {
			if n++; n%6 == every { // one of three tries, each of two readings
				return int64(3 * time.Millisecond)
			}
			return 0
		}
		k := &kernel{run: func(_, ops int) uint64 { w.compute(10 * int64(ops)); return 0 }, unit: chunk, most: maxOps}
		if err := alone(w).calibrate(k); err != nil {
			t.Fatal(err)
		}
		if block := 10 * time.Duration(k.ops); block < blockTarget || block > 2*blockTarget {
			t.Errorf("interrupted at %d: a block of %d operations lasts %v", every, k.ops, block)
		}
	}
}

// Blocks follow each other through the keys, and what warms a block up are keys that
// it does not look up.
func TestABlockLooksUpKeysThatDidNotWarmItUp(t *testing.T) {
	type stretch struct{ from, ops int }
	w := &world{}
	var runs []stretch
	k := &kernel{run: func(offset, ops int) uint64 {
		w.compute(1000 * int64(ops))
		runs = append(runs, stretch{offset, ops})
		return 0
	}, unit: chunk, most: maxOps, cycle: 40 * chunk, ops: 9 * chunk}
	st := alone(w)
	for range 7 {
		if _, err := st.timeBlock(k); err != nil {
			t.Fatal(err)
		}
	}
	at := 0
	for i := 0; i < len(runs); i += 2 {
		warm, timed := runs[i], runs[i+1]
		if timed.ops != 9*chunk || timed.from != at%k.cycle {
			t.Errorf("block %d looks up %d from %d on, want %d from %d", i/2, timed.ops, timed.from, 9*chunk, at%k.cycle)
		}
		for key := range warm.ops {
			if since := (warm.from + key - timed.from + k.cycle) % k.cycle; since < timed.ops {
				t.Fatalf("block %d is warmed up with key %d of its own", i/2, since)
			}
		}
		if warm.ops < timed.ops/16 || warm.ops > timed.ops/4 {
			t.Errorf("block %d of %d lookups is warmed up with %d", i/2, timed.ops, warm.ops)
		}
		if i > 0 { // nor with those of the one before, which may be the same block, timed again
			before := runs[i-2]
			for key := range before.ops {
				if since := (before.from + key - timed.from + k.cycle) % k.cycle; since < timed.ops {
					t.Fatalf("block %d looks up key %d, with which the one before was warmed up", i/2, since)
				}
			}
		}
		at += timed.ops + warm.ops
	}
}

// The figure of several passes is that of their median, not of the quickest.
func TestTheFigureOfPassesIsTheirMedian(t *testing.T) {
	w := &world{}
	costs := []int64{900_000, 1_000_000, 2_000_000}
	n := 0
	k := &kernel{run: func(_, ops int) uint64 { w.compute(costs[n%3]); n++; return 0 }, unit: 1, most: 10, ops: 10, repeats: true}
	r, err := alone(w).timeBlock(k)
	if err != nil {
		t.Fatal(err)
	}
	if r.passes%2 == 0 || !near(r.ns(), 100_000) || r.passes < 9 || !near(float64(r.lasted), 900_000*float64(r.passes)) {
		t.Errorf("%v ns in %d passes that last %v", r.ns(), r.passes, r.lasted)
	}
}

// Of two passes neither is the middle: there is a third.
func TestTheNumberOfPassesIsOdd(t *testing.T) {
	w := &world{}
	costs := []int64{7_000_000, 5_000_000, 5_100_000}
	n := 0
	k := &kernel{run: func(_, ops int) uint64 { w.compute(costs[n%3]); n++; return 0 }, unit: 1, most: 10, ops: 10, repeats: true}
	r, err := alone(w).timeBlock(k)
	if err != nil {
		t.Fatal(err)
	}
	if r.passes != 3 || !near(r.ns(), 510_000) {
		t.Errorf("%v ns in %d passes", r.ns(), r.passes)
	}
	// What may have more operations is to have them, and no second pass.
	k.most, n = 100, 0
	if r, err = alone(w).timeBlock(k); err != nil || r.passes != 1 {
		t.Errorf("%d passes of %d operations, %v", r.passes, r.ops, err)
	}
}

// What holds no more operations needs a thousand readings of its clock, by whichever it
// is timed, and a short pass ten of the wall clock.
func TestABlockThatHoldsNoMoreIsVoidBelowAThousandReadings(t *testing.T) {
	for _, tt := range []struct {
		name           string
		blind, repeats bool
		ns             int64 // of the block, or of a pass
		void           bool
	}{
		{"CPU clock, long enough", false, false, 1100 * cpuReading, false},
		{"CPU clock, too short", false, false, 900 * cpuReading, true},
		{"wall clock, long enough", true, false, 1100 * wallReading, false},
		{"wall clock, too short", true, false, 900 * wallReading, true},
		{"passes of 20 readings", false, true, 20 * wallReading, false},
		{"passes of 9 readings", false, true, 9 * wallReading, true},
	} {
		w := &world{blind: tt.blind}
		k := &kernel{run: func(_, ops int) uint64 { w.compute(tt.ns); return 0 }, unit: 1, most: 10, repeats: tt.repeats}
		st := alone(w)
		if err := st.calibrate(k); err != nil {
			t.Fatal(err)
		}
		r, short, err := st.longBlock(k)
		if err != nil {
			t.Fatal(err)
		}
		if void := short != ""; void != tt.void {
			t.Errorf("%s: %q, lasted %v", tt.name, short, r.lasted)
		}
	}
}

// A request that comes lets go of the one that came len(held) before it.
func TestAssignsReleaseInTheOrderOfArrival(t *testing.T) {
	m := &queue{}
	held := []algorithms.Bucket{100, 101, 102}
	sum, next := assigns(m, []uint64{1, 2, 3, 4, 5}, held, 1)
	if want := []algorithms.Bucket{101, 102, 100, 1, 2}; !slices.Equal(m.released, want) {
		t.Errorf("released %v, want %v", m.released, want)
	}
	if sum != 15 || next != 0 || !slices.Equal(held, []algorithms.Bucket{3, 4, 5}) {
		t.Errorf("sum %d, next %d, held %v", sum, next, held)
	}
}

// queue gives each request the bucket of its hash, and notes what is released.
type queue struct{ released []algorithms.Bucket }

func (*queue) Lookup(h uint64) algorithms.Bucket         { return algorithms.Bucket(h) }
func (*queue) Len() int                                  { return 1 << 20 }
func (*queue) Assign(h uint64) (algorithms.Bucket, bool) { return algorithms.Bucket(h), true }
func (q *queue) Release(b algorithms.Bucket)             { q.released = append(q.released, b) }
