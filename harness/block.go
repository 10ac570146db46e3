package harness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// This file times kernels: how many operations a block has, how long it lasted, and
// whether that is enough.

// tries is how often what must not be interrupted is timed.
const tries = 3

// calibrate chooses the number of operations in a block, so that it lasts somewhat
// longer than it has to, by the least of a few tries each, which no interruption has
// made longer.
func (st *stage) calibrate(k *kernel) error {
	target := margin * float64(k.least())
	for ops := k.unit; ; ops = min(k.most, 2*ops) {
		took := time.Duration(math.MaxInt64)
		for range tries {
			if err := st.ready(k); err != nil {
				return err
			}
			took = min(took, st.timeOnce(k, 0, ops).took())
		}
		if ops < k.most && float64(took) < target/4 {
			continue
		}
		k.ops = k.most
		if ideal := float64(ops) * target / float64(max(took, 1)); ideal < float64(k.most) {
			k.ops = max(k.unit, int(ideal)/k.unit*k.unit)
		}
		k.brisk = k.repeats && k.ops == k.most && float64(took) < leastReadings*max(st.cpuCost, st.wallCost)
		return nil
	}
}

// least is how long a block lasts at least, unless it holds no more operations.
func (k *kernel) least() time.Duration { return max(blockTarget, k.target) }

// timeOnce times so many operations.
func (st *stage) timeOnce(k *kernel, offset, ops int) sample {
	s := st.watch.time(func(ops int) uint64 { return k.run(offset, ops) }, ops)
	switch {
	case k.brisk:
		s.wall, s.cpu = max(0, s.wall-time.Duration(st.wallCost)), -1
	case k.shared: // the time of one thread of several means nothing
		s.cpu = -1
	}
	return s
}

// A reading is what a block came to.
type reading struct {
	sample               // of the pass that took the median of times
	ops    int           // in a pass
	passes int           // 1, but for blocks that repeat
	lasted time.Duration // all passes together, each as long as the quickest
	wrong  bool          // a pass gave other answers than it had to
}

// ns returns the time of one operation in nanoseconds.
func (r reading) ns() float64 { return float64(r.took()) / float64(r.ops) }

// mostSpent is how long the passes of a block may take with what lies between them,
// before which the last one begins.
const mostSpent = 100 * time.Millisecond

// leastPasses is the number of brisk passes of which an interruption may hit one or two
// without touching the median.
const leastPasses = 5

// timeBlock times one block, over keys that follow those of the block before.
//
// Where structures are built or changed there is memory for few operations at a time.
// A block is then as many passes over the same structures as it takes to last long
// enough, and its figure is that of their median. Passes in which the reading of the
// CPU clock would show are brisk: they are timed by the wall clock, less what a
// reading of that takes, for an interruption of a few does not touch the median.
func (st *stage) timeBlock(k *kernel) (reading, error) {
	r := reading{ops: k.ops}
	var passes []sample
	quickest := time.Duration(math.MaxInt64)
	for start := st.watch.wall(); ; {
		if err := st.ready(k); err != nil {
			return r, err
		}
		offset := k.next
		if k.cycle > 0 {
			warm := max(k.unit, k.ops/8/k.unit*k.unit) // over keys that neither this block nor the next looks up
			k.run((offset+k.ops)%k.cycle, warm)
			k.next = (offset + k.ops + warm) % k.cycle
		}
		s := st.timeOnce(k, offset, k.ops)
		r.wrong = r.wrong || k.expect != nil && k.expect(offset, k.ops) != s.sum
		passes = append(passes, s)
		quickest = min(quickest, s.took()) // an interruption makes no block long
		r.lasted = time.Duration(len(passes)) * quickest
		if !k.repeats || r.wrong || k.ops < k.most { // which are to have more operations instead
			break
		}
		enough := r.lasted >= k.least() || st.watch.wall()-start > mostSpent
		if odd := len(passes)%2 == 1; odd && enough && (!k.brisk || len(passes) >= leastPasses) {
			break
		}
	}
	slices.SortFunc(passes, func(a, b sample) int { return cmp.Compare(a.took(), b.took()) })
	r.sample, r.passes = passes[len(passes)/2], len(passes)
	return r, nil
}

// lengthenings is how often a block that ended too soon is timed again.
const lengthenings = 4

// longBlock times a block that lasts as long as it has to: one that ended too soon
// gets more operations, for the repetitions to come as well, and is timed again. It
// says why, if the last one is too short for a figure.
func (st *stage) longBlock(k *kernel) (r reading, short string, err error) {
	for range lengthenings {
		if r, err = st.timeBlock(k); err != nil {
			return r, "", err
		}
		if r.wrong || r.lasted >= k.least() || k.ops == k.most {
			break
		}
		more := float64(k.ops) * margin * float64(k.least()) / float64(max(r.lasted, 1))
		k.ops = k.most
		if more < float64(k.most) {
			k.ops = max(r.ops+k.unit, int(more)/k.unit*k.unit)
		}
	}
	cost := st.cpuCost
	if r.cpu < 0 {
		cost = st.wallCost
	}
	need := k.least()
	if r.ops == k.most { // there are no more operations
		need = time.Duration(leastReadings * cost)
	}
	switch {
	case r.lasted < need:
		return r, fmt.Sprintf("%d operations last %v, of the %v that a figure takes", r.ops*r.passes, r.lasted, need), nil
	case k.brisk && float64(r.wall) < briskReadings*st.wallCost:
		return r, fmt.Sprintf("a pass of %d operations lasts %v, and a reading of the clock %.0f ns", r.ops, r.wall, st.wallCost), nil
	}
	return r, "", nil
}

// briskReadings is the number of readings of the wall clock that a brisk pass lasts at
// least.
const briskReadings = 10
