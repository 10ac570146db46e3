package harness

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/workloads"
)

// keySets returns the key sets that the experiment is about: its own, or those of
// the spec. Keys from a file are the user's, and take the place of both.
func (pl *Plan) keySets(e *Experiment) ([]*keyData, error) {
	if len(e.Keys) == 0 || pl.Spec.KeysFile != "" {
		return []*keyData{pl.keys}, nil
	}
	var all []*keyData
	for _, spec := range e.Keys {
		set, err := workloads.ParseKeys(spec)
		if err != nil {
			return nil, err
		}
		if pl.sets[set.Name()] == nil {
			pl.sets[set.Name()] = &keyData{set: set, hashes: map[string][]uint64{}, popularities: map[string]*workloads.Popularity{}}
		}
		all = append(all, pl.sets[set.Name()])
	}
	return all, nil
}

// keysOf returns the keys of a workload.
func (pl *Plan) keysOf(workload string) *keyData {
	name, _, _ := strings.Cut(workload, "+uniform")
	if k := pl.sets[name]; k != nil {
		return k
	}
	return pl.keys
}

// uncovered describes the emptiest stretch of the circle when that is more than
// half of it, although the hashes are many: then the range of the hash does not
// cover the ring. It returns "" otherwise.
func uncovered(hashes []uint64) string {
	const many = 64
	if len(hashes) < many {
		return ""
	}
	sorted := slices.Clone(hashes)
	slices.Sort(sorted)
	widest := sorted[0] - sorted[len(sorted)-1] // across the end of the circle
	for i, h := range sorted[1:] {
		widest = max(widest, h-sorted[i])
	}
	if sorted = slices.Compact(sorted); len(sorted) > 1 && widest <= math.MaxUint64/2 {
		return ""
	}
	part := 100 * (1 - float64(widest)/math.MaxUint64)
	if len(sorted) == 1 {
		part = 0
	}
	return fmt.Sprintf("%d keys have %d different hashes, and all lie in %.3g%% of the circle: the hash range does not cover the ring", len(hashes), len(sorted), part)
}
