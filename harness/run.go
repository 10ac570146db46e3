// Package harness turns a spec into records: it expands the spec into trials,
// builds each contestant, checks it, measures it, and hands every trial on as
// soon as it is done.
//
// It stands between the algorithms and workloads, which it composes, and the
// results, which it fills. METHODOLOGY.md beside this file says how and why
// things are measured as they are; loop.go holds the only clock readings that
// become a metric.
//
//	spec, err := harness.Suite("quick")
//	plan, err := harness.NewPlan(spec, harness.Options{Algorithms: builtin.All()})
//	outcome, err := plan.Run(ctx, sink)
package harness

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ringbench/ringbench/results"
)

// A Sink takes what a run produces. Its methods are called by one goroutine at
// a time.
type Sink interface {
	// Has says whether the trial (its cell, seed and rep) was recorded before, in
	// this run or in an earlier one that is being resumed; it is then not
	// recorded again.
	Has(results.Trial) bool

	// Append records a trial. An error ends the run.
	Append(results.Trial) error

	// Progress tells how far the run is.
	Progress(Progress)
}

// Progress is a moment of a run.
type Progress struct {
	Experiment string  // the one that is running
	Ended      bool    // whether it ends now
	Timed      bool    // whether it is the timed part of the experiment
	Fraction   float64 // of the run's estimated time, 0 to 1
}

// An Outcome is what a run has to say besides its trials.
type Outcome struct {
	Warnings []string // the machine was not quiet, the pool was learned, ...
	Failed   []string // checks that failed: wrong answers, a gate not passed
}

// Run measures the plan: the exact experiments first, in the spec's order, then
// the timed ones. When the context is cancelled it stops at the next trial and
// returns the context's error; what is done has been recorded.
func (pl *Plan) Run(ctx context.Context, sink Sink) (Outcome, error) {
	r := &run{Plan: pl, ctx: ctx, sink: sink, total: float64(pl.Estimate())}
	for _, g := range pl.exact {
		r.begin(g, false)
		if err := r.runExact(g); err != nil {
			return r.outcome, err
		}
		r.end()
	}
	for _, g := range pl.timed {
		r.begin(g, true)
		if err := r.runTimed(g); err != nil {
			return r.outcome, err
		}
		r.end()
	}
	return r.outcome, nil
}

// run is a plan under way.
type run struct {
	*Plan
	ctx     context.Context
	sink    Sink
	outcome Outcome
	total   float64 // estimated time of everything, in ns
	spent   float64 // of that, what is done
	current Progress
}

func (r *run) begin(g *group, timed bool) {
	r.current = Progress{Experiment: g.name, Timed: timed}
	r.step(0)
}

func (r *run) end() {
	r.current.Ended = true
	r.step(0)
}

// step tells the sink that work of the estimated duration is done.
func (r *run) step(d time.Duration) {
	r.spent += float64(d)
	r.current.Fraction = min(1, r.spent/max(r.total, 1))
	r.sink.Progress(r.current)
}

// runExact computes a group's tasks on all cores and records their trials in the
// order of the plan.
func (r *run) runExact(g *group) error {
	var todo []*task
	for _, t := range g.tasks {
		if t.recorded(r.sink) {
			r.step(r.taskCost(t) / time.Duration(runtime.GOMAXPROCS(0)))
			continue
		}
		todo = append(todo, t)
	}
	type answer struct {
		trials []results.Trial
		err    error
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	answers := make([]chan answer, len(todo))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				trials, err := todo[i].run(r.Plan)
				answers[i] <- answer{trials, err}
			}
		})
	}
	wg.Go(func() {
		defer close(next)
		for i := range todo {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for i, t := range todo {
		var a answer
		select {
		case a = <-answers[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if a.err != nil {
			return a.err
		}
		for _, tr := range a.trials {
			if r.sink.Has(tr) {
				continue
			}
			if err := r.sink.Append(tr); err != nil {
				return err
			}
		}
		for _, w := range t.warnings {
			if !slices.Contains(r.outcome.Warnings, w) {
				r.outcome.Warnings = append(r.outcome.Warnings, w)
			}
		}
		r.step(r.taskCost(t) / time.Duration(runtime.GOMAXPROCS(0)))
	}
	return nil
}

// recorded says whether an earlier run has all trials of the task.
func (t *task) recorded(s Sink) bool {
	for _, tr := range t.trials {
		if !s.Has(tr) {
			return false
		}
	}
	return true
}
