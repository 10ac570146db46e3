package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// A pick is the rows of a metric under one workload, the only one that a figure
// draws: values under two workloads answer two questions.
type pick struct {
	workload string
	rows     []results.Row // under the workload
	of       int           // workloads that there were to pick from
	left     []string      // contestants that have rows, but none under the workload
	alike    bool          // whether of those it is the only one in which all keys are asked alike
}

// commonest picks the workload that most contestants have; of equals one in which
// every key is asked alike, and then the one of most keys. A contestant under several
// hashes of the keys counts once. No rows give an empty pick.
func commonest(rows []results.Row) pick {
	under, keys := map[string]map[string]bool{}, map[string]int{}
	var workloads []string
	for _, row := range rows {
		name := contestantOf(row)
		if under[row.Workload] == nil {
			under[row.Workload] = map[string]bool{}
			workloads = append(workloads, row.Workload)
		}
		under[row.Workload][name] = true
		keys[row.Workload] = max(keys[row.Workload], row.Keys)
	}
	if len(workloads) == 0 {
		return pick{}
	}
	best := slices.MinFunc(workloads, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(under[b]), len(under[a])), cmp.Compare(skew(a), skew(b)), cmp.Compare(keys[b], keys[a]), cmp.Compare(a, b))
	})
	p := pick{workload: best, of: len(workloads), rows: where(rows, ofWorkload(best))}
	p.left = missing(rows, p.rows)
	return p
}

// timed is [commonest] of timings: of keys that are all asked alike, where there are
// any. Hot keys stay in the cache, so that their timings are another question.
func timed(rows []results.Row) pick {
	p := commonest(rows)
	if alike := where(rows, func(row results.Row) bool { return skew(row.Workload) == 0 }); len(alike) > 0 {
		of := p.of
		p = commonest(alike)
		p.alike = p.of == 1
		p.of, p.left = of, missing(rows, p.rows)
	}
	return p
}

// missing returns the contestants of the rows that are not among those shown.
func missing(rows, shown []results.Row) []string {
	var names []string
	seen := map[string]bool{}
	for _, row := range shown {
		seen[contestantOf(row)] = true
	}
	for _, row := range rows {
		if name := contestantOf(row); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// contestantOf is the label of a row without the hash that its cell sets.
func contestantOf(row results.Row) string {
	if hash := fieldOf(row, "hash"); hash != "" {
		return strings.TrimSuffix(row.Label, " "+clean(hash))
	}
	return row.Label
}

// under names the workload within a sentence, where there was a choice.
func (p pick) under() string {
	if p.of < 2 {
		return ""
	}
	if p.alike {
		return " under uniform requests"
	}
	return " under " + clean(p.workload)
}

// note names who is left out; "" for nobody.
func (p pick) note() string {
	if len(p.left) == 0 {
		return ""
	}
	return " Not measured" + p.under() + ", and so not shown: " + some(p.left) + "."
}

// maxListed bounds the names of a list in a caption.
const maxListed = 20

// some is [enumerate] for a list that may be long: it names the first and counts the
// others.
func some(names []string) string {
	if len(names) <= maxListed {
		return enumerate(names)
	}
	return enumerate(append(slices.Clone(names[:maxListed]), fmt.Sprintf("%d more", len(names)-maxListed)))
}
