package harness

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/results"
)

const abreastSpec = `
nodes = [10]
pool = 65536
[[contestant]]
algorithm = "ring"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "times"
measures = ["batch-lookup", "parallel-lookup", "parallel-lookup-writer"]
reps = 2
`

// The answers of lookups in batches, from all cores, and under a writer are those
// of lookups one by one; what an algorithm cannot do is a skip with its reason.
func TestLookupsAbreastAnswerAlike(t *testing.T) {
	sink, o := mustRun(t, mustPlan(t, abreastSpec))
	if len(o.Failed) > 0 {
		t.Fatalf("wrong answers: %q", o.Failed)
	}
	for _, tr := range sink.trials {
		if results.IsControl(tr.Algorithm) {
			continue
		}
		can := tr.Algorithm == "ring" || tr.Measure == "parallel-lookup"
		if measured := tr.Values[metricOf[tr.Measure]] > 0; measured != can || can == (tr.Skip != "") {
			t.Errorf("%s: values %v, skip %q", tr.Cell, tr.Values, tr.Skip)
		}
	}
}

// A snapshot that goes wrong under the writer is noticed.
func TestAWriterThatBreaksTheAnswersIsNoticed(t *testing.T) {
	broken := algorithms.Define("losing", "", ring.Default, func(nodes []algorithms.Node, c ring.Config) (losing, error) {
		m, err := ring.New(nodes, c)
		return losing{m, 0}, err
	}).Declining(algorithms.Balance)
	_, o := mustRun(t, mustPlan(t, strings.ReplaceAll(abreastSpec, `"ring"`, `"losing"`), broken))
	if !slices.ContainsFunc(o.Failed, func(s string) bool { return strings.Contains(s, "parallel-lookup-writer") }) {
		t.Errorf("copies that answer otherwise were not noticed: %q", o.Failed)
	}
}

// losing looks up beside the hash in its copies.
type losing struct {
	*ring.Map
	beside uint64
}

func (l losing) Lookup(h uint64) algorithms.Bucket { return l.Map.Lookup(h ^ l.beside) }

func (l losing) Clone() algorithms.Mapper { return losing{l.Map.Clone().(*ring.Map), 1 << 60} }
