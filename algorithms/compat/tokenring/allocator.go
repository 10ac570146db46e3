package tokenring

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// An allocator takes tokens for nodes that join, so that what the nodes own
// comes close to their numbers of tokens.
type allocator struct {
	ranges [][]span // by bucket
	owned  []uint64 // positions by bucket, less 1, so that 2^64 has room
	tokens uint64
}

// A span is the range of a token: the positions after the token before it, up to
// and with its own.
type span struct {
	token uint64
	width uint64 // in positions, less 1
}

// newAllocator returns an allocator over the tokens that there are, by bucket.
func newAllocator(tokens [][]uint64) *allocator {
	a := &allocator{}
	type owned struct {
		token uint64
		owner algorithms.Bucket
	}
	var all []owned
	for b, list := range tokens {
		for _, token := range list {
			all = append(all, owned{token, algorithms.Bucket(b)})
		}
	}
	slices.SortFunc(all, func(x, y owned) int { return cmp.Compare(x.token, y.token) })
	for i, x := range all {
		before := all[(i+len(all)-1)%len(all)].token
		a.add(x.owner, span{x.token, x.token - before - 1})
	}
	return a
}

func (a *allocator) add(b algorithms.Bucket, s span) {
	for int(b) >= len(a.ranges) {
		a.ranges, a.owned = append(a.ranges, nil), append(a.owned, 0)
	}
	if a.ranges[b] != nil {
		a.owned[b]++
	}
	a.owned[b] += s.width
	a.ranges[b] = append(a.ranges[b], s)
	a.tokens++
}

// join takes so many tokens, one or more, for the bucket, which has none.
func (a *allocator) join(b algorithms.Bucket, count int) []uint64 {
	taken := make([]uint64, 0, count)
	if a.tokens == 0 {
		step := uint64(0) // 2^64
		if count > 1 {
			step, _ = bits.Div64(1, 0, uint64(count))
		}
		for i := range count {
			taken = append(taken, uint64(i)*step)
		}
		for i, token := range taken {
			a.add(b, span{token, token - taken[(i+count-1)%count] - 1})
		}
		return taken
	}
	mean, _ := bits.Div64(1, 0, a.tokens+uint64(count))
	var mine []span
	for range count {
		from := a.fullest()
		s := widest(a.ranges[from])
		part := min(mean, s.width-s.width/4)
		if part == 0 { // a range of one position has nothing to give
			break
		}
		mine = append(mine, span{s.token - s.width - 1 + part, part - 1})
		s.width -= part
		a.owned[from] -= part
	}
	for _, s := range mine {
		a.add(b, s)
		taken = append(taken, s.token)
	}
	return taken
}

// fullest returns the bucket that owns most for each of its tokens, of several
// the lowest.
func (a *allocator) fullest() algorithms.Bucket {
	best := -1
	for b, ranges := range a.ranges {
		if len(ranges) == 0 {
			continue
		}
		if best < 0 || moreFor(a.owned[b], len(ranges), a.owned[best], len(a.ranges[best])) {
			best = b
		}
	}
	return algorithms.Bucket(best)
}

// moreFor reports whether x/m > y/n.
func moreFor(x uint64, m int, y uint64, n int) bool {
	hi, lo := bits.Mul64(x, uint64(n))
	otherHi, otherLo := bits.Mul64(y, uint64(m))
	return hi > otherHi || hi == otherHi && lo > otherLo
}

// widest returns the widest of the ranges, of several the one listed first.
func widest(ranges []span) *span {
	best := &ranges[0]
	for i := range ranges {
		if ranges[i].width > best.width {
			best = &ranges[i]
		}
	}
	return best
}
