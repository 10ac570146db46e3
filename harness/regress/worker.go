package regress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// protocol is the version of what parent and worker say to each other. The two
// may be built from different revisions: a field is only ever added, and a worker
// passes over what it does not know.
const protocol = 1

// A request is what the parent asks, one line of JSON.
type request struct {
	// Do is what to do:
	//
	//	describe   tell the cells of the spec, and compute what is exact
	//	calibrate  tell how many operations of each cell last so long
	//	open       get ready for slices of the cells
	//	slice      time one slice
	Do string `json:"do"`

	Spec      json.RawMessage `json:"spec,omitempty"` // describe and open: as in run.json
	Only      string          `json:"only,omitempty"`
	MaxMemory int64           `json:"max_memory,omitempty"`
	Cells     []opening       `json:"cells,omitempty"`     // calibrate and open
	Core      *int            `json:"core,omitempty"`      // open: the core to stay on, where the system lets it
	TargetNs  int64           `json:"target_ns,omitempty"` // calibrate: of a slice
	Cell      string          `json:"cell,omitempty"`      // slice
	Slice     int             `json:"slice,omitempty"`     // slice: which one, its keys follow from it
	Extra     int             `json:"extra,omitempty"`     // slice: lookups of other keys beside its own
}

// An opening names a cell, and the operations of its slices.
type opening struct {
	Name       string `json:"name"`
	Operations int    `json:"operations,omitempty"`
}

// A response is what the worker answers, one line of JSON.
type response struct {
	Error    string `json:"error,omitempty"`
	Protocol int    `json:"protocol,omitempty"` // describe

	Cells  []cellInfo        `json:"cells,omitempty"`  // describe: those that are timed
	Exact  []results.Trial   `json:"exact,omitempty"`  // describe
	Failed map[string]string `json:"failed,omitempty"` // describe: by cell, what the gate found

	Operations []int `json:"operations,omitempty"` // calibrate: by cell; 0 for one that cannot be run

	WallNs   int64  `json:"wall_ns,omitempty"` // slice
	CPUNs    int64  `json:"cpu_ns,omitempty"`  // slice: of the thread; -1 where the system does not tell
	Switches int64  `json:"switches,omitempty"`
	Sum      uint64 `json:"sum,omitempty,string"` // slice: of the answers
}

// A cellInfo is a timed cell.
type cellInfo struct {
	Name   string `json:"name"`
	Metric string `json:"metric"`
}

// Work answers the requests of a parent until they end. It takes the process for
// itself: one thread, and no garbage collection while slices are timed.
func Work(ctx context.Context, in io.Reader, out io.Writer, infos []algorithms.Info) error {
	s := &server{infos: infos}
	lines := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriter(out)
	encoder := json.NewEncoder(w)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var told response
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			told.Error = "not a request: " + err.Error()
		} else if told, err = s.answer(ctx, r); err != nil {
			told = response{Error: err.Error()}
		}
		if err := encoder.Encode(told); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// A server is a worker with what it has opened.
type server struct {
	infos   []algorithms.Info
	benches *harness.Benches
	opened  map[string]*harness.Bench
	live    uint64 // bytes of the heap after the last collection
}

func (s *server) answer(ctx context.Context, r request) (response, error) {
	if r.Do == "slice" {
		return s.slice(r)
	}
	ctx, stop := orphaned(ctx)
	defer stop()
	switch r.Do {
	case "describe":
		return s.describe(ctx, r)
	case "calibrate":
		return s.calibrate(ctx, r)
	case "open":
		return response{}, s.open(ctx, r)
	}
	return response{}, fmt.Errorf("unknown request %q, the two programs are too far apart", r.Do)
}

// orphaned returns a context that ends when the parent has gone, so that long
// work does not outlive it. Some systems do not tell; there the worker ends with
// its next answer.
func orphaned(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// plan works out the request's spec, as far as this program knows what it speaks
// of. It returns nil when nothing is left of it.
func (s *server) plan(r request, checked bool) (*harness.Plan, error) {
	known, err := understood(r.Spec, s.infos)
	if err != nil || known == nil {
		return nil, err
	}
	spec, err := harness.SpecFromJSON("spec", known)
	if err != nil {
		return nil, err
	}
	o := harness.Options{Algorithms: s.infos, MaxMemory: r.MaxMemory, Checked: checked}
	if r.Only != "" {
		if o.Only, err = regexp.Compile(r.Only); err != nil {
			return nil, err
		}
	}
	plan, err := harness.NewPlan(spec, o)
	if errors.Is(err, harness.ErrNoCell) {
		return nil, nil
	}
	return plan, err
}

// understood returns the spec without what this program does not know, which may
// be older than the one that wrote it: fields, measures, algorithms, and
// contestants with parameters that their algorithm does not take. It returns nil
// when nothing is left.
func understood(src []byte, infos []algorithms.Info) ([]byte, error) {
	var spec harness.Spec
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&spec); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	unknown := map[string]bool{}
	spec.Contestants = slices.DeleteFunc(spec.Contestants, func(c harness.Contestant) bool {
		unknown[c.Name] = !takes(infos, c)
		return unknown[c.Name]
	})
	spec.Experiments = slices.DeleteFunc(spec.Experiments, func(e harness.Experiment) bool {
		return !slices.ContainsFunc(e.Measures, knownMeasure) ||
			!slices.ContainsFunc(e.Contestants, func(name string) bool { return !unknown[name] })
	})
	for i := range spec.Experiments {
		e := &spec.Experiments[i]
		e.Measures = slices.DeleteFunc(e.Measures, func(m string) bool { return !knownMeasure(m) })
		e.Contestants = slices.DeleteFunc(e.Contestants, func(name string) bool { return unknown[name] })
	}
	if len(spec.Experiments) == 0 {
		return nil, nil
	}
	return json.Marshal(spec)
}

func knownMeasure(m string) bool { return slices.Contains(harness.Measures(), m) }

// takes says whether there is the contestant's algorithm and it takes the
// parameters.
func takes(infos []algorithms.Info, c harness.Contestant) bool {
	if c.Algorithm == "*" {
		return true
	}
	i := slices.IndexFunc(infos, func(info algorithms.Info) bool { return info.Name == c.Algorithm })
	if i < 0 {
		return false
	}
	params, err := json.Marshal(c.Params)
	if err != nil {
		return false
	}
	_, err = infos[i].Forecast(algorithms.Nodes("a", "b"), params)
	return err == nil
}

func (s *server) describe(ctx context.Context, r request) (response, error) {
	told := response{Protocol: protocol}
	plan, err := s.plan(r, false)
	if err != nil || plan == nil {
		return told, err
	}
	s.benches = plan.Benches()
	for _, b := range s.benches.List() {
		_, metric := b.Measure()
		told.Cells = append(told.Cells, cellInfo{b.Name(), metric})
	}
	told.Exact, told.Failed, err = plan.Exact(ctx)
	return told, err
}

// calibrate finds the operations of a slice, by cell.
func (s *server) calibrate(ctx context.Context, r request) (response, error) {
	s.alone()
	var told response
	for _, c := range r.Cells {
		if err := ctx.Err(); err != nil {
			return told, err
		}
		b, err := s.bench(c.Name)
		if err != nil {
			return told, err
		}
		ops, err := b.Calibrate(time.Duration(r.TargetNs))
		b.Close()
		if errors.Is(err, errors.ErrUnsupported) {
			ops, err = 0, nil
		}
		if err != nil {
			return told, err
		}
		told.Operations = append(told.Operations, ops)
		s.sweep(b)
	}
	return told, nil
}

func (s *server) bench(name string) (*harness.Bench, error) {
	if s.benches != nil {
		for _, b := range s.benches.List() {
			if b.Name() == name {
				return b, nil
			}
		}
	}
	return nil, fmt.Errorf("no cell %q was described", name)
}

// open builds what the slices of the cells need.
func (s *server) open(ctx context.Context, r request) error {
	plan, err := s.plan(r, true)
	if err != nil {
		return err
	}
	if plan != nil {
		s.benches = plan.Benches()
	}
	s.opened = map[string]*harness.Bench{}
	for _, c := range r.Cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := s.bench(c.Name)
		if err != nil {
			return err
		}
		if err := b.Open(c.Operations); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if b.Operations() != c.Operations {
			return fmt.Errorf("%s: a slice has %d operations here, not %d", c.Name, b.Operations(), c.Operations)
		}
		s.opened[c.Name] = b
	}
	s.alone()
	gather()
	if r.Core != nil {
		stayOn(*r.Core)
	}
	return nil
}

// alone readies the process for timing.
func (s *server) alone() {
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	s.collect()
}

func (s *server) collect() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.live = m.HeapAlloc
}

// litterLimit is how much garbage may lie about before it is collected, in bytes.
const litterLimit = 256 << 20

// sweep collects garbage when there is much of it.
func (s *server) sweep(b *harness.Bench) {
	if !b.Litters() {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > s.live+litterLimit {
		s.collect()
	}
}

func (s *server) slice(r request) (response, error) {
	b := s.opened[r.Cell]
	if b == nil {
		return response{}, fmt.Errorf("cell %q was not opened", r.Cell)
	}
	s.sweep(b)
	told, err := b.Slice(r.Slice, r.Extra)
	return response{WallNs: int64(told.Wall), CPUNs: int64(told.CPU), Switches: told.Switches, Sum: told.Sum}, err
}
