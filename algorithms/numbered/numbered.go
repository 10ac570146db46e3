// Package numbered is the list of nodes behind an algorithm that knows a node by
// nothing but its number, so that only the last one can leave. What such an
// algorithm adds is the way from a hash to a number.
package numbered

import (
	"errors"
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

// A List numbers its nodes from 0, which are their buckets. An algorithm embeds
// it, reads N and Mask in its lookups, and leaves changing them to the List. What
// may run at the same time is as package algorithms says.
type List struct {
	N    uint64 // nodes
	Mask uint64 // all bits of the numbers 0 to N-1

	members *algorithms.Members
}

// New returns a List of the nodes. Unequal weights are not supported.
func New(nodes []algorithms.Node) (List, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return List{}, err
	}
	l := List{members: members}
	l.count()
	return l, nil
}

// count follows the number of members.
func (l *List) count() {
	l.N = uint64(l.members.Len())
	l.Mask = Mask(l.N)
}

// Mask returns all bits of the numbers 0 to n-1; 0 for n below 2.
func Mask(n uint64) uint64 { return 1<<bits.Len64(max(n, 1)-1) - 1 }

// Len returns the number of nodes.
func (l *List) Len() int { return int(l.N) }

// Copy returns a List of its own, in O(n).
func (l *List) Copy() List { return List{l.N, l.Mask, l.members.Clone()} }

// Replicas writes the nodes that h and its redraws give, for a LookupN.
func (l *List) Replicas(h uint64, dst []algorithms.Bucket, lookup func(uint64) algorithms.Bucket) int {
	c := l.members.Choose(dst)
	return c.Redrawn(h, lookup)
}

// Add appends the node to the list.
func (l *List) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := l.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	l.count()
	return b, nil
}

// RemoveLast removes the last node of the list.
func (l *List) RemoveLast() (algorithms.Bucket, error) {
	if l.N == 0 {
		return algorithms.None, errors.New("there is no node to remove")
	}
	last := algorithms.Bucket(l.N - 1)
	if _, err := l.members.Remove(last); err != nil {
		return algorithms.None, err
	}
	l.count()
	return last, nil
}
