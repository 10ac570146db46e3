// Package capacity says how many nodes a structure of fixed size leaves room for,
// alike for all algorithms that have the parameter of that name.
package capacity

import (
	"fmt"
	"math"
	"math/bits"
)

// least is the room that is left for even the fewest nodes.
const least = 16

// Of returns the room for the parameter's value and the nodes there are at first.
// The value 0 stands for the least power of 2 that is twice the nodes or more, and
// at least 16. A value that is less than the nodes, or 2^31 or more, is an error.
//
// The places of keys depend on the room. Parties whose lists of nodes differ in
// length, as they may while one is being changed, agree only when the value is set.
func Of(value, nodes int) (int, error) {
	switch {
	case value == 0:
		return max(least, 1<<bits.Len(uint(2*nodes-1))), nil
	case value < nodes:
		return 0, fmt.Errorf("capacity %d for %d nodes, it must be at least %d, or 0 for twice the nodes and more", value, nodes, nodes)
	case value > math.MaxInt32:
		return 0, fmt.Errorf("capacity %d, it must be at most %d", value, math.MaxInt32)
	}
	return value, nil
}
