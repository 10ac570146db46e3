package algorithms

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest words the end of an error about an unknown name: the known name that
// is most like it, or all of them when none is.
func Nearest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(name, k); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "there are " + strings.Join(known, ", ")
}
