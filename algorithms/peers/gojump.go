package peers

import (
	"github.com/dgryski/go-jump"

	"github.com/ringbench/ringbench/algorithms"
)

// goJump is a function of a hash and a number of nodes. It keeps no members: who
// has another number of nodes passes another number, so it is built anew.
var goJump = algorithms.Define("dgryski-go-jump", "github.com/dgryski/go-jump v0.0.0-20170409065014-e1f439676b57", struct{}{}, newJump).
	Declining(algorithms.OrderIndependent)

type jumpSlots int

func newJump(nodes []algorithms.Node, _ struct{}) (jumpSlots, error) {
	if !algorithms.EqualWeights(nodes) {
		return 0, errWeights()
	}
	return jumpSlots(len(nodes)), nil
}

func (n jumpSlots) Lookup(h uint64) algorithms.Bucket {
	return algorithms.Bucket(jump.Hash(h, int(n)))
}

func (n jumpSlots) Len() int { return int(n) }
