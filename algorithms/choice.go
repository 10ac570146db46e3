package algorithms

import (
	"cmp"
	"slices"
)

// A Choice picks the replicas of one key out of the order in which the key
// prefers the nodes: the first node of every zone, and after those the rest, each
// node once. Where no zones are told apart it takes the nodes as they come. The
// first offered is the first chosen, and a longer choice begins with the shorter
// one.
//
// All nodes that name no zone are taken to be in one: nothing says that they
// would not fail together. Nodes of weight 0 count neither as nodes nor as zones
// that a choice waits for.
//
// A LookupN is a loop around it, which does not allocate:
//
//	c := m.members.Choose(dst)
//	for b := range m.clockwise(h) {
//		if !c.Offer(b) {
//			break
//		}
//	}
//	return c.Len()
//
// Beside the order itself, an offer costs a comparison with each node chosen.
type Choice struct {
	members *Members
	dst     []Bucket
	chosen  int // at the front of dst
	putOff  int // at the back of dst, the first of them last: their zones are taken
	zones   int // that are still to come; 0 when any node will do
}

// Choose begins a choice of len(dst) nodes, which it writes to dst.
func (m *Members) Choose(dst []Bucket) Choice {
	c := Choice{members: m, dst: dst[:min(len(dst), m.able)]}
	if m.zones > 1 {
		c.zones = m.zones
	}
	return c
}

// Zoned reports whether zones are told apart. Where they are not, the choice is
// no more than the first nodes of the order.
func (c *Choice) Zoned() bool { return c.zones > 0 }

// More reports whether the choice waits for another offer. It is false when
// there are as many as asked for, or as many as there are nodes.
func (c *Choice) More() bool { return c.chosen < len(c.dst) }

// Offer puts forward the node that the key prefers next, which must be bound and
// may have come before. It returns More.
func (c *Choice) Offer(b Bucket) bool {
	if !c.More() || slices.Contains(c.dst[:c.chosen], b) {
		return c.More()
	}
	last := len(c.dst) - c.putOff // the one put off last
	switch {
	case c.zones > 0 && c.zoneTaken(b):
		if c.chosen < last && !slices.Contains(c.dst[last:], b) {
			c.dst[last-1] = b
			c.putOff++
		}
		return true
	case c.chosen == last:
		c.putOff-- // the one put off last has to give way
	}
	c.dst[c.chosen] = b
	c.chosen++
	if c.zones > 0 {
		if c.zones--; c.zones == 0 {
			c.resume()
		}
	}
	return c.More()
}

// Wants reports whether an offer of the node would be chosen at once: it is not
// chosen yet, and its zone is new or no zone is to come. It is for a caller that
// looks for the best node anew each time.
func (c *Choice) Wants(b Bucket) bool {
	return c.More() && !slices.Contains(c.dst[:c.chosen], b) && (c.zones == 0 || !c.zoneTaken(b))
}

func (c *Choice) zoneTaken(b Bucket) bool {
	zone := c.members.bound[b].zone
	for _, other := range c.dst[:c.chosen] {
		if c.members.bound[other].zone == zone {
			return true
		}
	}
	return false
}

// resume chooses those that were put off, in the order in which they came.
func (c *Choice) resume() {
	first := len(c.dst) - c.putOff
	slices.Reverse(c.dst[first:])
	c.chosen += copy(c.dst[c.chosen:], c.dst[first:])
	c.putOff, c.zones = 0, 0
}

// Len ends the choice and returns how many nodes were written: as many as asked
// for, or as were offered.
func (c *Choice) Len() int {
	c.resume()
	return c.chosen
}

// Ranked chooses among buckets in the order of their scores, the highest first, and
// returns how many were written. The function score tells that of buckets[i]; of
// equal ones the first ranks higher, and one that is NaN is never chosen. It costs
// a score of every bucket for each that is written.
func Ranked[S cmp.Ordered](c Choice, buckets []Bucket, score func(i int) S) int {
	for c.More() {
		var highest S
		best := -1
		for i, b := range buckets {
			if x := score(i); (best < 0 || x > highest) && x == x && c.Wants(b) {
				highest, best = x, i
			}
		}
		if best < 0 {
			break
		}
		c.Offer(buckets[best])
	}
	return c.Len()
}

// redraws is the number of draws after which Redrawn gives up on chance, for
// each node. The chance that one particular node of many is not drawn in them is
// e^-32.
const redraws = 32

// Redrawn chooses the owners of Redraw(h, 0), Redraw(h, 1) and so on. It is the
// rule for an algorithm that names one node for a hash and has no order of its
// own: a change of the membership that leaves the owners of most hashes alone
// leaves most choices alone. All n nodes take about n * ln n lookups; those that
// chance has not met after many more come in the order of the buckets.
func (c *Choice) Redrawn(h uint64, lookup func(h uint64) Bucket) int {
	for i := 0; c.More() && i < redraws*c.members.able; i++ {
		b := lookup(Redraw(h, i))
		if b == None {
			break
		}
		c.Offer(b)
	}
	if c.More() {
		for b, n := range c.members.All() {
			if n.Weight > 0 && !c.Offer(b) {
				break
			}
		}
	}
	return c.Len()
}

// Redraw returns the hash that stands for the i-th draw of a key whose hash is h:
// h itself, then the outputs 1, 2, ... of the generator splitmix64 of S. Vigna
// (public domain) seeded with h.
func Redraw(h uint64, i int) uint64 {
	if i == 0 {
		return h
	}
	x := h + uint64(i)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
