package regress

import (
	"testing"

	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/harness"
)

// A slowdown is put into three kinds of lookup, each of its own algorithm.
func TestInjectionsCoverThreeKernels(t *testing.T) {
	spec, err := InjectSpec()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := harness.NewPlan(spec, harness.Options{Algorithms: builtin.All()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range plan.Benches().List() {
		names = append(names, b.Name())
	}
	if len(names) != len(spec.Contestants) {
		t.Errorf("%d contestants, timed are %q", len(spec.Contestants), names)
	}
}
