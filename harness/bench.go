package harness

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// Benches are the timed cells of a plan, for a caller that times them slice by
// slice in an order of its own, as a comparison of two programs does. They share
// structures and keys, and belong to one goroutine, which should hold its thread.
type Benches struct {
	st    *stage
	list  []*Bench
	extra []uint64 // hashes of keys that are in no slice
}

// A Bench is one timed cell.
type Bench struct {
	all *Benches
	c   *cell
	k   *kernel
	ops int // of a slice
}

// A Slice is what the clock and the system told about one slice.
type Slice struct {
	Wall     time.Duration
	CPU      time.Duration // of the thread; -1 where the system does not tell
	Switches int64         // of the thread to others; -1 where the system does not tell
	Sum      uint64        // of the answers
}

// Benches returns the timed cells of the plan, each once and without the
// floors that were added to them. Nothing is built yet.
func (pl *Plan) Benches() *Benches {
	all := &Benches{st: &stage{run: &run{Plan: pl}, watch: pl.watch.fine(), built: map[string]*structure{}}}
	seen := map[string]bool{}
	for _, g := range pl.timed {
		for _, c := range g.cells {
			if metricOf[c.trial.Measure] == "" || c.subject.floor || seen[c.trial.Cell] {
				continue
			}
			seen[c.trial.Cell] = true
			all.list = append(all.list, &Bench{all: all, c: c})
		}
	}
	return all
}

// List returns the benches in the order of the plan.
func (all *Benches) List() []*Bench { return all.list }

// Name returns the name of the cell.
func (b *Bench) Name() string { return b.c.trial.Cell }

// Measure returns the cell's measure, and the metric that it gives.
func (b *Bench) Measure() (measure, metric string) {
	return b.c.trial.Measure, metricOf[b.c.trial.Measure]
}

// Open builds what slices of that many operations need; where an operation
// changes a structure, there is a copy for each. What the algorithm cannot do
// wraps [errors.ErrUnsupported].
func (b *Bench) Open(ops int) error {
	s, err := b.all.st.build(b.c)
	if err != nil {
		return err
	}
	if s.skip != "" {
		return algorithms.Unsupported("%s", s.skip)
	}
	b.k, err = b.all.st.kernel(b.c, s, ops, 1)
	if err != nil {
		return err
	}
	b.ops = max(b.k.unit, min(ops, b.k.most)/b.k.unit*b.k.unit)
	return nil
}

// Close lets go of what Open built for this bench alone.
func (b *Bench) Close() { b.k = nil }

// mostSliceCopies is how many structures a slice makes, or changes, at most.
const mostSliceCopies = 1 << 12

// Calibrate opens the bench with so many operations that a slice takes about the
// target, and returns their number.
func (b *Bench) Calibrate(target time.Duration) (ops int, err error) {
	if err := b.Open(1); err != nil {
		return 0, err
	}
	most := b.k.most
	if mostCopies[b.c.trial.Measure] > 0 {
		most = copiesOf(b.all.st.built[b.c.subject.id()], mostSliceCopies, sliceBudget)
	}
	for {
		took := time.Duration(math.MaxInt64)
		for i := range 3 {
			s, err := b.Slice(i, 0)
			if err != nil {
				return 0, err
			}
			took = min(took, sample{wall: s.Wall, cpu: s.CPU}.took())
		}
		if took >= target/2 || b.ops >= most {
			ops = int(float64(b.ops) * float64(target) / float64(max(took, 1)))
			err := b.Open(max(1, min(ops, most)))
			return b.ops, err
		}
		if err := b.Open(min(most, 4*b.ops)); err != nil {
			return 0, err
		}
	}
}

// Operations returns the number of operations in a slice.
func (b *Bench) Operations() int { return b.ops }

// warmPart is the part of a slice, one in so many, that is done untimed before it.
const warmPart = 8

// rerunnable says whether operations leave everything as it was.
func (b *Bench) rerunnable() bool {
	switch b.c.trial.Measure {
	case "lookup", "latency", "key-lookup":
		return true
	}
	return false
}

// Slice times the i-th slice, whose keys follow those of the slice before. Beside
// its own operations it does extra lookups of other keys, to act a program that
// is slower by so much; they are for cells that look hashes up.
func (b *Bench) Slice(i, extra int) (Slice, error) {
	if b.k.before != nil {
		if err := b.k.before(); err != nil {
			return Slice{}, fmt.Errorf("%s: %w", b.Name(), err)
		}
	}
	offset := 0
	if b.c.pool != nil {
		offset = i * b.ops % b.c.pool.len()
	}
	run := func(ops int) uint64 { return b.k.run(offset, ops) }
	if extra > 0 {
		hs, structure := b.all.others(b), b.all.st.built[b.c.subject.id()]
		run = func(ops int) uint64 {
			m := structure.place.Mapper
			// The mask is 0: the extra answers have to be computed, and change nothing.
			spare := round(len(hs), i*extra%len(hs), extra, func(from, to int) uint64 { return lookups(m, hs[from:to]) })
			return b.k.run(offset, ops) + spare&mask
		}
	}
	if b.rerunnable() {
		if i%slicesInPlace == 0 {
			if err := b.move(); err != nil {
				return Slice{}, err
			}
		}
		// What another process left in the caches is not this slice's to pay: it
		// would be so for a slice that comes second in its pair more often.
		n := b.c.pool.len()
		b.k.run((offset+n/2)%n, max(b.k.unit, b.ops/warmPart/b.k.unit*b.k.unit))
	}
	switches := threadSwitches()
	s := b.all.st.watch.time(run, b.ops)
	if switches >= 0 {
		switches = threadSwitches() - switches
	}
	return Slice{Wall: s.wall, CPU: s.cpu, Switches: switches, Sum: s.sum}, nil
}

// A structure that is built within quick is built anew after so many slices.
const (
	slicesInPlace = 4
	quick         = 2 * time.Millisecond
)

// move builds the structure anew, so that it comes to lie elsewhere, if that is quick.
// Which of its pages meet in a cache is settled by chance where it lies, and would
// make one process slower than another by percents.
func (b *Bench) move() error {
	s := b.all.st.built[b.c.subject.id()]
	if s.took > quick {
		return nil
	}
	place, err := s.subject.place()
	if err != nil {
		return fmt.Errorf("%s: %w", b.Name(), err)
	}
	s.place = place
	return nil
}

// others returns hashes that are not in the pool, as many as are in it. Any random
// numbers do: they stand for the hashes of other keys.
func (all *Benches) others(b *Bench) []uint64 {
	if all.extra == nil {
		r := workloads.Rand(all.st.Spec.Seed, "others")
		all.extra = make([]uint64, b.c.pool.len())
		for i := range all.extra {
			all.extra[i] = r.Uint64()
		}
	}
	return all.extra
}

// Litters says whether slices leave garbage of the order of the structure.
func (b *Bench) Litters() bool { return mostCopies[b.c.trial.Measure] > 0 }

// proofKeys is how many hashes a bench's structure is checked over, and how many
// its allocations are counted over.
const (
	proofKeys = 1 << 16
	allocKeys = 1 << 14
)

// Exact computes everything of the plan that needs no clock: the exact
// experiments, and the allocations and footprints, whose Check here is the digest
// of their answers over the first 65,536 hashes. Each structure that is timed
// goes through the gate over as many; failed says what it found, by cell.
func (pl *Plan) Exact(ctx context.Context) (trials []results.Trial, failed map[string]string, err error) {
	sink := &exactSink{}
	r := &run{Plan: pl, ctx: ctx, sink: sink, total: 1}
	for _, g := range pl.exact {
		if err := r.runExact(g); err != nil {
			return nil, nil, err
		}
	}
	st := &stage{run: r, built: map[string]*structure{}}
	failed = map[string]string{}
	gated := map[string]string{} // subject -> what the gate found
	for _, g := range pl.timed {
		for _, c := range g.cells {
			if c.pool == nil || results.IsControl(c.subject.info.Name) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			s, err := st.build(c)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", c.trial.Cell, err)
			}
			t := c.trial
			t.Values = map[string]float64{}
			if s.skip != "" {
				if t.Measure == "allocations" {
					t.Skip = s.skip
					sink.trials = append(sink.trials, t)
				}
				continue
			}
			hs := pl.pool.hashed(c.subject.hash.For(s.place.Mapper))
			why, done := gated[c.subject.id()]
			if !done {
				proof := hs[:min(len(hs), proofKeys)]
				a, buckets := answersOf(s.place.Mapper, proof)
				s.answers[pl.pool] = a
				if why, err = gate(s.place, &c.subject, proof, buckets); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", c.trial.Cell, err)
				}
				gated[c.subject.id()] = why
			}
			if why != "" {
				failed[t.Cell] = why
			}
			if t.Measure != "allocations" {
				continue
			}
			s.place.describe(&t)
			t.Check = s.answers[pl.pool].digest
			runtime.GC()
			allocs, bytes := allocations(s.place.Mapper, hs[:min(len(hs), allocKeys)])
			t.Values["allocs-per-lookup"], t.Values["bytes-per-lookup"] = allocs, bytes
			if !math.IsNaN(s.footprint) {
				t.Values["footprint-bytes"] = s.footprint
			}
			sink.trials = append(sink.trials, t)
		}
	}
	return sink.trials, failed, nil
}

// exactSink keeps trials.
type exactSink struct{ trials []results.Trial }

func (*exactSink) Has(results.Trial) bool { return false }
func (*exactSink) Progress(Progress)      {}

func (s *exactSink) Append(t results.Trial) error {
	s.trials = append(s.trials, t)
	return nil
}
