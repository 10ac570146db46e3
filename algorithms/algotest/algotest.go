// Package algotest is the contract of package algorithms in executable form: a
// suite of checks that any algorithm can be put through, ours or anybody's.
//
//	func TestConformance(t *testing.T) { algotest.Test(t, mine.Info) }
//
// A check asks one question, such as whether a node that joins takes keys only
// for itself. It finds by type assertion which abilities an algorithm has; where
// an ability is missing the check does not apply and is skipped with that reason.
// A property of algorithms.Properties may be declined in Info.Declines: a check
// of it that fails is then skipped, with what it found as the reason. Declining
// is not free, though. A property that is declined, was put to the test and held
// in every check of it is a failure too, for then the list of what an algorithm
// promises says less than the truth. Where no check of the property applies, the
// question cannot be decided and the decline stands.
//
// Everything is drawn from fixed seeds, so that a verdict does not change from
// run to run. Statistical checks fail below a probability of 10^-6. A whole suite
// takes about a second. A check that panics has failed, and so has one that does
// not end within two minutes: a lookup that searches for ever is one of the
// faults found in published libraries.
//
// Outside of tests, Run gives the same verdicts as values.
package algotest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
)

// A Check is one question to an algorithm.
type Check struct {
	Name     string // as a subtest's name: "add-moves-only-to-the-new-node"
	Property string // one of algorithms.Properties when it may be declined, else ""

	// Run returns nil when the claim holds. An error that wraps
	// errors.ErrUnsupported says why the question cannot be put to this
	// algorithm; any other says what is wrong. It may panic when the algorithm
	// does, and may not return when the algorithm does not.
	Run func(info algorithms.Info) error
}

// Checks returns all checks, in the order in which they are run.
func Checks() []Check {
	return []Check{
		{"parameters-round-trip", "", checkParameters},
		{"odd-parameters-are-refused-or-work", "", checkOddParameters},
		{"bad-nodes-are-refused", "", checkBadNodes},
		{"same-input-same-owners", "", checkDeterminism},
		{"owners-are-members", "", checkOwners},
		{"every-node-is-reachable", algorithms.Reachable, checkReachable},
		{"shares-follow-the-weights", algorithms.Balance, checkBalance},
		{"points-are-scattered", "", checkScatter},
		{"all-of-a-hash-counts", "", checkFolding},
		{"hashes-of-32-bits-spread-alike", "", checkNarrow},
		{"second-choices-are-balanced", algorithms.Balance, checkSecondBalance},
		{"weight-zero-owns-nothing", "", checkZeroWeight},
		{"order-of-nodes-does-not-matter", algorithms.OrderIndependent, checkOrder},
		{"history-does-not-matter", algorithms.OrderIndependent, checkHistory},
		{"add-moves-only-to-the-new-node", algorithms.MinimalMovement, checkAddMovement},
		{"remove-moves-only-from-the-old-node", algorithms.MinimalMovement, checkRemoveMovement},
		{"reweight-moves-only-to-or-from-its-node", algorithms.MinimalMovement, checkReweightMovement},
		{"add-then-remove-changes-nothing", "", checkAddThenRemove},
		{"buckets-stay-bound", "", checkBuckets},
		{"wrong-adds-are-refused", "", checkWrongAdds},
		{"wrong-removals-are-refused", "", checkWrongRemovals},
		{"wrong-weights-are-refused", "", checkWrongWeights},
		{"empty-answers-none", "", checkEmpty},
		{"replicas-are-distinct-and-owner-first", "", checkReplicas},
		{"replicas-take-every-zone-first", "", checkZones},
		{"replicas-change-only-with-the-node", algorithms.MinimalMovement, checkReplicaMovement},
		{"second-replica-inherits", algorithms.Inherits, checkInherits},
		{"lookups-do-not-allocate", "", checkAllocations},
		{"readers-do-not-race", "", checkReaders},
		{"any-key-has-an-owner", "", checkKeys},
		{"key-hash-agrees-with-lookup", "", checkKeyHash},
		{"batch-agrees-with-lookup", "", checkBatch},
		{"a-clone-is-of-its-own", "", checkClone},
		{"probes-agree-with-lookup", "", checkProbes},
		{"cells-agree-with-lookup", "", checkCells},
		{"bound-is-never-exceeded", "", checkBound},
	}
}

// A Result is the verdict of one check. The zero Skip and Err mean that the
// claim holds.
type Result struct {
	Name string // of the check, or "declines-are-needed"
	Skip string // why the check did not apply, or what was declined
	Err  error  // what is wrong
}

// Run puts the algorithm through all checks.
func Run(info algorithms.Info) []Result {
	var results []Result
	j := judge{info: info}
	for _, c := range Checks() {
		results = append(results, j.apply(c))
	}
	return append(results, j.declines())
}

// inShort are the checks that Test runs in short mode too, in which the race
// detector slows everything down: those that a race would show in.
var inShort = []string{"readers-do-not-race", "a-clone-is-of-its-own", "batch-agrees-with-lookup", "any-key-has-an-owner", "empty-answers-none"}

// Test runs the checks as subtests of t; in short mode only a few of them.
func Test(t *testing.T, info algorithms.Info) {
	t.Helper()
	j := judge{info: info}
	report := func(t *testing.T, r Result) {
		if r.Err != nil {
			t.Error(r.Err)
		}
		if r.Skip != "" {
			t.Skip(r.Skip)
		}
	}
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && !slices.Contains(inShort, c.Name) {
				t.Skip("runs without -short")
			}
			report(t, j.apply(c))
		})
	}
	if testing.Short() {
		return
	}
	t.Run(declinesName, func(t *testing.T) { report(t, j.declines()) })
}

const declinesName = "declines-are-needed"

// A judge weighs what the checks find against what the algorithm declines.
type judge struct {
	info         algorithms.Info
	held, broken []string // properties, by the checks that applied
}

func (j *judge) apply(c Check) Result {
	err := guard(c, j.info, patience)
	switch {
	case err == nil:
		j.held = append(j.held, c.Property)
		return Result{Name: c.Name}
	case errors.Is(err, errors.ErrUnsupported):
		return Result{Name: c.Name, Skip: "does not apply: " + err.Error()}
	}
	j.broken = append(j.broken, c.Property)
	if c.Property != "" && slices.Contains(j.info.Declines, c.Property) {
		return Result{Name: c.Name, Skip: fmt.Sprintf("declines %s: %v", c.Property, err)}
	}
	if c.Property != "" {
		err = fmt.Errorf("%w (an algorithm that does not promise this says so in its Info: Declining(%q))", err, c.Property)
	}
	return Result{Name: c.Name, Err: err}
}

// declines fails when a property is declined that holds wherever it was checked.
func (j *judge) declines() Result {
	r := Result{Name: declinesName}
	for _, p := range j.info.Declines {
		if slices.Contains(j.held, p) && !slices.Contains(j.broken, p) {
			r.Err = errors.Join(r.Err, fmt.Errorf("declines %s but keeps it, take it off the list", p))
		}
	}
	return r
}

// patience is how long a check may take. It is a guard against endless loops,
// far above what the slowest algorithm needs.
const patience = 2 * time.Minute

// guard runs the check and turns a panic or an endless loop into an error. A
// loop goes on in its goroutine.
func guard(c Check, info algorithms.Info, patience time.Duration) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("it panics: %v", p)
			}
		}()
		done <- c.Run(info)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return fmt.Errorf("it does not end within %v", patience)
	}
}
