package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
)

// nodeName returns the name of node i of a generated cluster in the placement
// seed. Different seeds share no name, so each is a fresh draw for every
// algorithm that hashes names.
func nodeName(i int, seed uint64) string {
	return "s" + strconv.FormatUint(seed, 10) + "-node-" + strconv.Itoa(i)
}

// parseWeights reads a pattern such as "1:2:4"; "" is all ones.
func parseWeights(pattern string) ([]float64, error) {
	if pattern == "" {
		return []float64{1}, nil
	}
	var ws []float64
	total := 0.0
	for _, f := range strings.Split(pattern, ":") {
		w, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, fmt.Errorf("weights %q: %q is not a number, want a pattern such as 1:2:4", pattern, f)
		}
		if err := algorithms.ValidateWeight(w); err != nil {
			return nil, fmt.Errorf("weights %q: %w", pattern, err)
		}
		ws = append(ws, w)
		total += w
	}
	if total == 0 {
		return nil, fmt.Errorf("weights %q: all weights are zero, at least one node must own something", pattern)
	}
	return ws, nil
}
