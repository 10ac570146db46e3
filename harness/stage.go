package harness

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A structure is a subject built for timing.
type structure struct {
	subject   *subject
	place     *Placement
	footprint float64 // bytes; NaN when the algorithm does not tell
	size      float64 // bytes that New allocated: names and all, where footprint is the table alone
	took      time.Duration
	skip      string // why it cannot be timed
	answers   map[*pool]answers
	gated     bool // whether it has been at the gate
}

// A kernel is what one timed cell repeats.
type kernel struct {
	run     func(offset, ops int) uint64
	expect  func(offset, ops int) uint64 // what run must return; nil when not known beforehand
	before  func() error                 // prepares a block, outside the clock; may be nil
	again   func() error                 // goes back to the state that expect speaks of; may be nil
	learn   func()                       // works out what expect returns; may be nil
	debris  float64                      // bytes of garbage that a block leaves at the most, roughly
	litter  bool                         // a block leaves so much garbage that it may have to be collected before the next
	repeats bool                         // a block may be several passes
	brisk   bool                         // passes are too short for the CPU clock, once calibrated
	next    int                          // offset of the next block
	unit    int                          // a block is a multiple of this many operations
	most    int                          // and no more than this many
	cycle   int                          // offsets run from 0 to this; 0 for none
	ops     int                          // in one block, or one pass of it, once calibrated
	target  time.Duration                // how long a block lasts at least; 0 for blockTarget
	shared  bool                         // several threads run a block, so that the time of one means nothing
}

// stage is a timed group under way.
type stage struct {
	*run
	group    *group
	watch    stopwatch
	wallCost float64 // of one reading of the wall clock, in ns
	cpuCost  float64 // of one reading of the thread's CPU clock, in ns
	built    map[string]*structure
	timings  map[*cell][]float64 // ns per operation, by repetition
	control  *cell
	live     uint64  // bytes of the heap after the last collection
	dropped  float64 // bytes of garbage since the heap was looked at, at the most
	voided   map[string]*void
}

// runTimed measures one timed group.
func (r *run) runTimed(g *group) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	st := &stage{run: r, group: g, watch: r.watch.fine(), built: map[string]*structure{}, timings: map[*cell][]float64{}}
	st.wallCost, st.cpuCost = st.watch.cost(st.watch.wall), st.watch.cost(st.watch.cpu)
	kernels := map[*cell]*kernel{}
	lacking := false // whether any cell lacks a repetition, beside which the floors run again
	for _, c := range g.cells {
		if c.trial.Measure == "lookup" && c.trial.Algorithm == "control" && c.pool == st.pool {
			st.control = c
		}
		lacking = lacking || !st.complete(c)
	}
	for _, c := range g.cells {
		if !st.complete(c) || c.subject.floor && lacking {
			k, err := st.prepare(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.trial.Cell, err)
			}
			if k != nil {
				kernels[c] = k
			}
		}
		r.step(r.prepareCost(c))
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	for rep := range g.reps {
		if err := st.repetition(rep, kernels); err != nil {
			return err
		}
	}
	for _, cell := range slices.Sorted(maps.Keys(st.voided)) {
		v := st.voided[cell]
		r.outcome.Warnings = append(r.outcome.Warnings, fmt.Sprintf("%s: %d of %d repetitions: %s", cell, v.repetitions, g.reps, v.why))
	}
	st.judgeControl()
	st.judgePool()
	st.judgeFloors()
	return nil
}

// complete says whether an earlier run has all repetitions of the cell.
func (st *stage) complete(c *cell) bool {
	for rep := range c.reps {
		t := c.trial
		t.Rep = rep
		if !st.sink.Has(t) {
			return false
		}
	}
	return true
}

// build returns the subject's structure, built and checked once a group.
func (st *stage) build(c *cell) (*structure, error) {
	id := c.subject.id()
	if s := st.built[id]; s != nil {
		return s, nil
	}
	s := &structure{subject: &c.subject, answers: map[*pool]answers{}, footprint: math.NaN()}
	st.built[id] = s
	var err error
	before, start := allocated(), time.Now()
	s.place, err = c.subject.place()
	s.took = time.Since(start)
	s.size = float64(allocated() - before)
	if errors.Is(err, errors.ErrUnsupported) {
		s.skip = err.Error()
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if z, ok := s.place.Mapper.(algorithms.Sizer); ok {
		s.footprint = float64(z.Footprint())
	}
	return s, nil
}

// allocated returns the bytes that the program has allocated so far, freed ones
// included.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// answersFor asks the structure for the owners of the cell's pool, once, and lets
// the structure through the gate or not. The gate judges how keys spread, so that it
// looks at a pool in which each comes once.
func (st *stage) answersFor(c *cell, s *structure) error {
	if err := st.pass(c, s); err != nil || s.skip != "" {
		return err
	}
	if _, done := s.answers[c.pool]; !done {
		s.answers[c.pool], _ = answersOf(s.place.Mapper, c.pool.hashed(c.subject.hash.For(s.place.Mapper)))
	}
	return nil
}

// pass takes the structure through the gate, once.
func (st *stage) pass(c *cell, s *structure) error {
	if s.gated || s.skip != "" {
		return nil
	}
	s.gated = true
	hs := st.pool.hashed(c.subject.hash.For(s.place.Mapper))
	a, buckets := answersOf(s.place.Mapper, hs)
	s.answers[st.pool] = a
	if results.IsControl(c.subject.info.Name) {
		return nil
	}
	why, err := gate(s.place, &c.subject, hs, buckets)
	if err != nil {
		return err
	}
	if why != "" {
		s.skip = "failed the gate: " + why
		st.outcome.Failed = append(st.outcome.Failed, c.subject.contestant.Name+" over "+strconv.Itoa(c.subject.n)+" nodes: "+why)
	}
	return nil
}

// prepare builds what the cell needs and calibrates its block. It records cells
// that read no clock, and skips, and returns nil for them.
func (st *stage) prepare(c *cell) (*kernel, error) {
	s, err := st.build(c)
	if err != nil {
		return nil, err
	}
	if c.pool != nil {
		if err := st.answersFor(c, s); err != nil {
			return nil, err
		}
	}
	if s.skip != "" {
		return nil, st.skip(c, s.skip)
	}
	s.place.describe(&c.trial)
	switch c.trial.Measure {
	case "allocations":
		hs := c.pool.hashed(c.subject.hash.For(s.place.Mapper))
		allocs, bytes := allocations(s.place.Mapper, hs[:min(len(hs), 1<<14)])
		return nil, st.record(c, s, map[string]float64{"allocs-per-lookup": allocs, "bytes-per-lookup": bytes})
	case "memory":
		bytes, err := st.heapOf(c, s)
		if err != nil {
			return nil, err
		}
		return nil, st.record(c, s, map[string]float64{"memory-bytes": bytes})
	}
	copies, row, err := st.enough(c, copiesOf(s, mostCopies[c.trial.Measure], blockBudget))
	var k *kernel
	if err == nil {
		k, err = st.kernel(c, s, copies, row)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, st.skip(c, err.Error())
	}
	if err != nil {
		return nil, err
	}
	if k.learn != nil {
		k.learn()
	}
	if k.litter {
		if k.debris = litterLimit; mostCopies[c.trial.Measure] > 0 {
			k.debris = float64(copies*row) * s.size
		}
	}
	return k, st.calibrate(k)
}

// mostCopies is how many structures a block makes, or changes, at most.
var mostCopies = map[string]int{"build": 1 << 14, "add": 1 << 10, "remove": 1 << 10}

// enough returns how many of the copies that fit a block needs, and how many changes
// in a row each takes: as one change of some structures takes milliseconds, all of the
// copies would take seconds; as one of others takes nanoseconds, one in each would be
// over before a clock can tell.
func (st *stage) enough(c *cell, copies int) (enough, row int, err error) {
	measure := c.trial.Measure
	if measure != "add" && measure != "remove" {
		return copies, 1, nil
	}
	k, err := membershipKernel(c, 1, 1, measure == "add")
	if err != nil {
		return 0, 0, err
	}
	one := blockTarget
	for range tries {
		if err := st.ready(k); err != nil {
			return 0, 0, err
		}
		one = min(one, max(1, st.timeOnce(k, 0, 1).took()))
	}
	wanted := int(margin*float64(blockTarget)/float64(one)) + 1
	if copies = min(copies, wanted); copies == wanted {
		return copies, 1, nil
	}
	row = max(1, min(wanted/copies, int(mostInRow*float64(c.subject.n))))
	if row > 1 && !removable(st.built[c.subject.id()].place.Mapper) {
		row = 1
	}
	row, err = inRow(c, measure == "add", row)
	return copies, row, err
}

// kernel returns what the cell repeats. Where an operation makes or changes a
// structure, a block has at most so many operations as there are copies, times the
// changes in a row.
func (st *stage) kernel(c *cell, s *structure, copies, row int) (*kernel, error) {
	switch c.trial.Measure {
	case "lookup", "pool-probe":
		return st.lookupKernel(c, s), nil
	case "latency":
		return st.latencyKernel(c, s), nil
	case "key-lookup":
		return st.keyKernel(c, s), nil
	case "batch-lookup":
		return st.batchKernel(c, s)
	case "parallel-lookup":
		return st.parallelKernel(c, s, false)
	case "parallel-lookup-writer":
		return st.parallelKernel(c, s, true)
	case "assign":
		return st.assignKernel(c)
	case "build":
		return buildKernel(c, copies), nil
	case "add":
		return membershipKernel(c, copies, row, true)
	case "remove":
		return membershipKernel(c, copies, row, false)
	}
	return nil, fmt.Errorf("harness: %s reads no clock", c.trial.Measure)
}

// ready prepares a block of the kernel whose answers are to be checked.
func (st *stage) ready(k *kernel) error {
	if k.again != nil {
		if err := k.again(); err != nil {
			return err
		}
	}
	if k.before != nil {
		if err := k.before(); err != nil {
			return err
		}
	}
	// To ask for the heap stops the world: not before so many blocks may have filled it.
	if st.dropped += k.debris; st.dropped > litterLimit/4 && k.litter {
		st.dropped = 0
		if heapInUse() > st.live+litterLimit {
			runtime.GC()
			st.live = heapInUse()
		}
	}
	return nil
}

// litterLimit is how much garbage may lie about before it is collected, in bytes. To
// collect it takes longer than most blocks.
const litterLimit = 128 << 20

// heapInUse returns the bytes of the heap, what is to be collected included.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// repetition times every cell once: the control first, then all in an order
// drawn from the seed.
func (st *stage) repetition(rep int, kernels map[*cell]*kernel) error {
	cells := slices.Clone(st.group.cells)
	r := workloads.Rand(st.Spec.Seed, st.group.name, strconv.Itoa(rep))
	r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	if i := slices.Index(cells, st.control); i > 0 {
		cells[0], cells[i] = cells[i], cells[0]
	}
	if rep > 0 {
		if err := st.relocate(); err != nil {
			return err
		}
	}
	runtime.GC()
	st.live = heapInUse()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	controlNs := 0.0
	for _, c := range cells {
		if rep >= c.reps {
			continue
		}
		t := c.trial
		t.Rep = rep
		k := kernels[c]
		if k == nil || st.sink.Has(t) && !c.subject.floor {
			st.step(blockCost)
			continue
		}
		ns, err := st.block(c, k, t, controlNs)
		if err != nil {
			return err
		}
		if c == st.control {
			controlNs = ns
		}
		st.step(blockCost)
		if err := st.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// relocate builds every structure in which keys are looked up anew while the old
// one still stands, so that it comes to lie elsewhere. Where the pages of some
// megabytes lie moves a lookup in them by a multiple, and one place would pass for a
// property of the algorithm.
func (st *stage) relocate() error {
	for _, id := range slices.Sorted(maps.Keys(st.built)) {
		s := st.built[id]
		looked := func(c *cell) bool { return c.pool != nil && c.reps > 1 && c.subject.id() == id }
		if s.skip != "" || !slices.ContainsFunc(st.group.cells, looked) {
			continue
		}
		place, err := s.subject.place()
		if err != nil {
			return err
		}
		s.place = place
	}
	return nil
}

// block times one block of a cell, checks its answers and records it.
func (st *stage) block(c *cell, k *kernel, t results.Trial, controlNs float64) (ns float64, err error) {
	r, short, err := st.longBlock(k)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.Cell, err)
	}
	ns = r.ns()
	structure := st.built[c.subject.id()]
	t.Values = map[string]float64{}
	if c.pool != nil {
		t.Check = structure.answers[c.pool].digest
	}
	switch {
	case r.wrong:
		t.Skip = fmt.Sprintf("wrong answers: a block of %d operations differs from the checked ones", r.ops)
		st.outcome.Failed = append(st.outcome.Failed, t.Cell+": "+t.Skip)
	case short != "":
		t.Skip = "too short to time: " + short
		st.void(t.Cell, t.Skip)
	default:
		t.Values[metricOf[t.Measure]] = ns
		if !math.IsNaN(structure.footprint) {
			t.Values["footprint-bytes"] = structure.footprint
		}
		st.timings[c] = append(st.timings[c], ns)
	}
	t.Timing = &results.Timing{
		Operations: r.ops, Passes: r.passes, WallNs: int64(r.wall), CPUNs: int64(r.cpu), BlockNs: int64(r.lasted),
		FloorBytes: c.floor, ControlNs: controlNs,
	}
	if c.pool != nil {
		t.Timing.Pool = c.pool.len()
	}
	if c == st.control {
		t.Timing.ControlNs = ns
	}
	if st.sink.Has(t) {
		return ns, nil // a floor that was run again beside what was missing
	}
	return ns, st.sink.Append(t)
}

// A void is a cell of which repetitions were too short for a figure.
type void struct {
	repetitions int
	why         string // of the last
}

func (st *stage) void(cell, why string) {
	if st.voided == nil {
		st.voided = map[string]*void{}
	}
	if st.voided[cell] == nil {
		st.voided[cell] = &void{}
	}
	st.voided[cell].repetitions++
	st.voided[cell].why = why
}

// record writes the one trial of a cell that reads no clock.
func (st *stage) record(c *cell, s *structure, values map[string]float64) error {
	t := c.trial
	t.Values = values
	if !math.IsNaN(s.footprint) {
		t.Values["footprint-bytes"] = s.footprint
	}
	if c.pool != nil {
		t.Check = s.answers[c.pool].digest
	}
	if st.sink.Has(t) {
		return nil
	}
	return st.sink.Append(t)
}

// skip records all repetitions of the cell as skipped.
func (st *stage) skip(c *cell, why string) error {
	for rep := range c.reps {
		t := c.trial
		t.Rep, t.Skip, t.Values = rep, why, map[string]float64{}
		if st.sink.Has(t) {
			continue
		}
		if err := st.sink.Append(t); err != nil {
			return err
		}
	}
	return nil
}

// round splits ops operations from the offset on into runs that do not cross the
// end of a cycle of n.
func round(n, offset, ops int, f func(from, to int) uint64) (sum uint64) {
	for ops > 0 {
		to := min(n, offset+ops)
		sum += f(offset, to)
		ops -= to - offset
		offset = to % n
	}
	return sum
}

// maxOps bounds a block of lookups, so that even a control that costs nothing
// ends.
const maxOps = 1 << 24

func (st *stage) lookupKernel(c *cell, s *structure) *kernel {
	hs := c.pool.hashed(c.subject.hash.For(s.place.Mapper))
	return &kernel{
		run: func(offset, ops int) uint64 {
			m := s.place.Mapper
			return round(len(hs), offset, ops, func(from, to int) uint64 { return lookups(m, hs[from:to]) })
		},
		expect: s.answers[c.pool].expect,
		unit:   chunk, most: maxOps, cycle: len(hs),
	}
}

// mask is 0. It is a variable so that the compiler cannot know.
var mask uint64

func (st *stage) latencyKernel(c *cell, s *structure) *kernel {
	k := st.lookupKernel(c, s)
	hs := c.pool.hashed(c.subject.hash.For(s.place.Mapper))
	k.run = func(offset, ops int) uint64 {
		m := s.place.Mapper
		return round(len(hs), offset, ops, func(from, to int) uint64 { return chained(m, hs[from:to], mask) })
	}
	return k
}

func (st *stage) keyKernel(c *cell, s *structure) *kernel {
	k := st.lookupKernel(c, s)
	keys := c.pool.strings()
	if _, ok := s.place.Mapper.(algorithms.KeyMapper); ok {
		k.learn = func() {
			own := s.place.Mapper.(algorithms.KeyMapper)
			buckets := make([]algorithms.Bucket, len(keys))
			inParallel(len(keys), func(from, to int) {
				for i := from; i < to; i++ {
					buckets[i] = own.LookupKey(keys[i])
				}
			})
			k.expect = summarise(buckets).expect
		}
		k.run = func(offset, ops int) uint64 {
			own := s.place.Mapper.(algorithms.KeyMapper)
			return round(len(keys), offset, ops, func(from, to int) uint64 { return ownKeyLookups(own, keys[from:to]) })
		}
		return k
	}
	hash := c.subject.hash.For(s.place.Mapper).Sum
	k.run = func(offset, ops int) uint64 {
		m := s.place.Mapper
		return round(len(keys), offset, ops, func(from, to int) uint64 { return keyLookups(m, keys[from:to], hash) })
	}
	return k
}

// outstandingPerNode is how many requests the assign measure keeps on a node, on
// average.
const outstandingPerNode = 100

// assignKernel places requests on a full cluster. A block whose answers are to be
// checked starts from the same state as all others.
func (st *stage) assignKernel(c *cell) (*kernel, error) {
	var hs []uint64
	var m algorithms.Assigner
	var held []algorithms.Bucket
	at := 0
	fresh := func() error {
		p, err := c.subject.place()
		if err != nil {
			return err
		}
		var ok bool
		if m, ok = p.Mapper.(algorithms.Assigner); !ok {
			return algorithms.Unsupported("%s does not place requests under a bound", c.subject.info.Name)
		}
		hs = c.pool.hashed(c.subject.hash.For(p.Mapper))
		held, at = make([]algorithms.Bucket, min(len(hs)/2, outstandingPerNode*c.subject.n)), 0
		for i := range held {
			held[i], _ = m.Assign(hs[len(hs)-1-i])
		}
		return nil
	}
	sums := map[int]uint64{}
	return &kernel{
		again: fresh,
		run: func(offset, ops int) uint64 {
			sum := round(len(hs), offset, ops, func(from, to int) uint64 {
				var part uint64
				part, at = assigns(m, hs[from:to], held, at)
				return part
			})
			if _, seen := sums[ops]; !seen {
				sums[ops] = sum
			}
			return sum
		},
		expect: func(_, ops int) uint64 { return sums[ops] },
		unit:   chunk, most: maxOps,
	}, fresh()
}

// The structures that a cell keeps or drops within one block or slice, in bytes, while
// the collector is off. Some hundred cells of a group keep theirs at the same time;
// the cells of a comparison are few, and their slices have to be long enough.
const (
	blockBudget = 4 << 20
	sliceBudget = 16 << 20
)

// agedCopies bounds the copies of a structure whose past takes longer than building.
const agedCopies = 64

// copiesOf returns how many structures of the cell's size fit the budget.
func copiesOf(s *structure, most int, budget float64) int {
	if s.subject.after != "" {
		most = min(most, agedCopies)
	}
	return max(1, min(most, int(budget/max(s.size, 256))))
}

// heapOf returns the live heap of one structure: of several small ones, their
// mean, since what else lives on the heap moves by some hundred bytes.
func (st *stage) heapOf(c *cell, s *structure) (float64, error) {
	copies := make([]algorithms.Mapper, copiesOf(s, 64, blockBudget))
	before := heapBytes()
	for i := range copies {
		p, err := c.subject.place()
		if err != nil {
			return 0, err
		}
		copies[i] = p.Mapper
	}
	bytes := float64(heapBytes()-before) / float64(len(copies))
	runtime.KeepAlive(copies)
	return math.Round(max(0, bytes)), nil
}

func buildKernel(c *cell, copies int) *kernel {
	nodes := c.subject.nodes()
	return &kernel{
		litter: true, repeats: true,
		run: func(_, ops int) (sum uint64) {
			for range ops {
				m, _, err := c.subject.info.New(nodes, c.subject.params)
				if err != nil {
					panic("harness: " + err.Error()) // it was built before
				}
				sum += uint64(m.Len())
			}
			return sum
		},
		expect: func(_, ops int) uint64 { return uint64(ops) * uint64(len(nodes)) },
		unit:   1, most: copies,
	}
}

// mostInRow is the part of the nodes that join or leave one after the other in a copy,
// within a block: it moves the size by no more than that.
const mostInRow = 0.01

// inRow returns how many changes one after the other a copy takes, at most so many.
func inRow(c *cell, add bool, most int) (int, error) {
	place, err := c.subject.place()
	if err != nil {
		return 0, err
	}
	m := newMembership(c, place, add, most)
	for i := range most {
		if err := m.change(add); err != nil {
			if i == 0 {
				return 0, err
			}
			return i, nil
		}
	}
	return most, nil
}

// A membership is a copy of a structure with the nodes that leave or join it.
type membership struct {
	m      algorithms.Mapper
	within []member          // the last is the next to leave
	out    []algorithms.Node // the last is the next to join
	anew   func() (*Placement, error)
}

type member struct {
	b    algorithms.Bucket
	node algorithms.Node
}

// newMembership makes a placement ready for so many changes.
func newMembership(c *cell, place *Placement, add bool, changes int) *membership {
	m := &membership{m: place.Mapper, within: make([]member, 0, changes), out: make([]algorithms.Node, 0, changes), anew: c.subject.place}
	if add {
		for i := range changes {
			m.out = append(m.out, c.subject.newcomer(len(place.Nodes)+i))
		}
		return m
	}
	bound := place.bound()
	from := len(bound) / 2
	if _, ok := m.m.(algorithms.Remover); !ok {
		from = len(bound) - changes
	}
	for _, b := range bound[max(0, from):min(len(bound), max(0, from)+changes)] {
		m.within = append(m.within, member{b, place.Nodes[place.NodeOf(b)]})
	}
	return m
}

// change lets a node join, or leave.
func (m *membership) change(add bool) error {
	if add {
		return m.join()
	}
	return m.leave()
}

func (m *membership) join() error {
	node := m.out[len(m.out)-1]
	b, err := m.m.(algorithms.Adder).Add(node)
	if err != nil {
		return err
	}
	m.out = m.out[:len(m.out)-1]
	m.within = append(m.within, member{b, node})
	return nil
}

// leave lets the node go, or builds the structure anew where that cannot.
func (m *membership) leave() error {
	last := m.within[len(m.within)-1]
	switch own := m.m.(type) {
	case algorithms.Remover:
		if err := own.Remove(last.b); err != nil {
			return err
		}
	case algorithms.LastRemover:
		if _, err := own.RemoveLast(); err != nil {
			return err
		}
	default:
		place, err := m.anew()
		if err != nil {
			return err
		}
		m.m = place.Mapper
	}
	m.within = m.within[:len(m.within)-1]
	m.out = append(m.out, last.node)
	return nil
}

// membershipKernel adds nodes to, or removes them from, each of many copies, so that a
// block is long enough and the size stays what it says: one, or as many in a row as
// [mostInRow] allows. What cannot let go of a node is built anew before each block,
// outside the clock.
func membershipKernel(c *cell, n, row int, add bool) (*kernel, error) {
	copies := make([]*membership, n)
	members := 0
	for i := range copies {
		place, err := c.subject.place()
		if err != nil {
			return nil, err
		}
		members = len(place.bound())
		copies[i] = newMembership(c, place, add, row)
	}
	first := copies[0].m
	_, canAdd := first.(algorithms.Adder)
	if !canAdd {
		return nil, algorithms.Unsupported("%s cannot take in a node: its users build it anew, see build", c.subject.info.Name)
	}
	if !add && !removable(first) {
		return nil, algorithms.Unsupported("%s cannot let go of a node: its users build it anew, see build", c.subject.info.Name)
	}
	changes := func(add bool, ops int) {
		for i := range ops {
			if err := copies[i%n].change(add); err != nil {
				panic("harness: " + err.Error()) // the name is new, the bucket is bound, and a copy took as many before
			}
		}
	}
	after := members + row
	if !add {
		after = members - row
	}
	done := false
	return &kernel{
		run: func(_, ops int) uint64 {
			changes(add, ops)
			return uint64(copies[0].m.Len())
		},
		expect: func(int, int) uint64 { return uint64(after) },
		unit:   n * row, most: n * row,
		before: func() error { // takes back what the block before did
			if done {
				changes(!add, n*row)
			}
			done = true
			return nil
		},
		litter: true, repeats: true,
	}, nil
}

// removable says whether a structure can let go of any node.
func removable(m algorithms.Mapper) bool {
	_, any := m.(algorithms.Remover)
	_, last := m.(algorithms.LastRemover)
	return any || last
}
