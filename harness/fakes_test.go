package harness

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/control"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/results"
)

// known is a small list of algorithms for tests of the harness itself.
var known = []algorithms.Info{ring.Info, modulo.Info, control.Info, control.OneReadInfo}

// memorySink keeps what a run produces.
type memorySink struct {
	trials   []results.Trial
	has      map[results.Key]bool
	progress []Progress
	full     int // Append fails once this many are there; 0 for never
}

func newSink(earlier ...results.Trial) *memorySink {
	s := &memorySink{has: map[results.Key]bool{}}
	for _, t := range earlier {
		s.has[t.Key()] = true
	}
	return s
}

func (s *memorySink) Has(t results.Trial) bool { return s.has[t.Key()] }

func (s *memorySink) Append(t results.Trial) error {
	if s.full > 0 && len(s.trials) == s.full {
		return errFull
	}
	s.trials = append(s.trials, t)
	s.has[t.Key()] = true
	return nil
}

func (s *memorySink) Progress(p Progress) { s.progress = append(s.progress, p) }

type fullError struct{}

func (fullError) Error() string { return "disk full" }

var errFull = fullError{}

func mustSpec(t testing.TB, toml string) *Spec {
	t.Helper()
	s, err := ParseSpec("test.toml", []byte(toml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPlan(t testing.TB, toml string, infos ...algorithms.Info) *Plan {
	t.Helper()
	pl, err := NewPlan(mustSpec(t, toml), Options{Algorithms: append(infos, known...)})
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func mustRun(t testing.TB, pl *Plan) (*memorySink, Outcome) {
	t.Helper()
	s := newSink()
	o, err := pl.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// fake is an algorithm whose Lookup a test writes.
type fake struct {
	n      int
	lookup func(h uint64, n int) algorithms.Bucket
}

func (f *fake) Lookup(h uint64) algorithms.Bucket { return f.lookup(h, f.n) }
func (f *fake) Len() int                          { return f.n }

func fakeInfo(name string, lookup func(h uint64, n int) algorithms.Bucket) algorithms.Info {
	return algorithms.Define(name, "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*fake, error) {
		if !algorithms.EqualWeights(nodes) {
			return nil, algorithms.Unsupported("weights must be equal")
		}
		return &fake{len(nodes), lookup}, nil
	})
}

// fair is modulo by another name, which promises what it can keep.
func fair(h uint64, n int) algorithms.Bucket { return algorithms.Bucket(h % uint64(n)) }

// fickle answers rightly for a while and then otherwise.
func fickle(after int64) func(uint64, int) algorithms.Bucket {
	var calls atomic.Int64
	return func(h uint64, n int) algorithms.Bucket {
		if calls.Add(1) > after && h%1000 == 0 {
			return algorithms.Bucket((h + 1) % uint64(n))
		}
		return fair(h, n)
	}
}
