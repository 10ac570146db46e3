package harness

import (
	"fmt"
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// weighted records how closely the nodes' parts of the keys follow their weights,
// and what the structure takes for it. A node that has a weight and owns none of
// the keys is named in a warning.
func (e *examination) weighted(tr *results.Trial) {
	weights, total := e.base.Weights()
	held := counts(e.baseOwners(), len(e.base.Nodes))
	keys := float64(len(e.baseOwners()))
	parts, asked := make([]float64, len(held)), make([]float64, len(held))
	worst := 0.0
	for i, w := range weights {
		parts[i], asked[i] = held[i]/keys, w/total
		if w == 0 {
			continue
		}
		worst = max(worst, math.Abs(parts[i]/asked[i]-1))
		if held[i] == 0 {
			e.warnings = append(e.warnings, fmt.Sprintf("%s: node %q of weight %v owns none of %v keys", tr.Cell, e.base.Nodes[i].Name, w, keys))
		}
	}
	tr.Values["weight-error"] = worst
	if z, ok := e.base.Mapper.(algorithms.Sizer); ok {
		tr.Values["footprint-bytes"] = float64(z.Footprint())
	}
	if e.first() && tr.Nodes <= 1000 {
		tr.Series = map[string][]float64{"shares": rounded(parts), "fair_shares": rounded(asked)}
	}
	tr.Check = digestOf(e.baseOwners())
}
