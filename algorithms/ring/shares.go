package ring

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

var _ algorithms.Scatterer = Config{}

// PointCounts returns the number of points of each node, or nil when they are
// listed or stand on a circle of fewer than 2^64 positions.
func (c Config) PointCounts(nodes []algorithms.Node) []int {
	if c.Points != nil || c.Modulus != 0 {
		return nil
	}
	counts := make([]int, len(nodes))
	for i, n := range nodes {
		counts[i] = int(min(pointsOfWeight(c.VNodes, n.Weight), maxPoints+1))
	}
	return counts
}

// Shares returns the part of the circle that each node owns: what the cells of
// New add up to, without laying them out. It costs about 40 ns a point and takes
// 16 bytes for each, twice that where the hash leaves points very close.
//
// A point is one number, the upper bits of its position over the rank of its
// owner's name, so that sorting the numbers puts points in ring order. Where
// the bits that the rank takes up would have decided between two nodes, all is
// done again with whole positions.
func (c Config) Shares(nodes []algorithms.Node) ([]float64, error) {
	if c.Points != nil || c.Modulus != 0 {
		return nil, algorithms.Unsupported("the points are not hashed ones on a circle of 2^64 positions")
	}
	placement, err := c.Placement()
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(nodes))
	total := 0
	for i, n := range nodes {
		if counts[i], err = placement.Count(n); err != nil {
			return nil, err
		}
		if total += counts[i]; total > maxPoints {
			return nil, tooManyPoints()
		}
	}
	rank := uint64(1)<<bits.Len(uint(len(nodes)-1)) - 1 // the bits that hold it
	numbers := make([]uint64, 0, total)
	var points []Point
	byRank := ranked(nodes)
	for r, i := range byRank {
		points = placement.Append(points[:0], algorithms.Bucket(r), nodes[i].Name, 0, counts[i])
		for _, p := range points {
			numbers = append(numbers, p.Position&^rank|uint64(p.Owner))
		}
	}
	sums := arcs{widths: make([]uint64, len(nodes))}
	if numbers = sortNumbers(numbers); tooClose(numbers, rank) {
		members, err := algorithms.NewMembers(nodes)
		if err != nil {
			return nil, err
		}
		all, err := placement.All(members)
		if err != nil {
			return nil, err
		}
		sums.begin(int(all[0].Owner), all[len(all)-1].Position)
		for _, p := range all {
			sums.add(p.Position, int(p.Owner))
		}
	} else if len(numbers) > 0 {
		sums.begin(byRank[numbers[0]&rank], numbers[len(numbers)-1]&^rank)
		for _, x := range numbers {
			sums.add(x&^rank, byRank[x&rank])
		}
	}
	return sums.parts(), nil
}

// tooClose reports whether two nodes have points, next to each other in the
// sorted numbers, that differ in no more than the lost bits.
func tooClose(sorted []uint64, rank uint64) bool {
	for i := 1; i < len(sorted); i++ {
		if x, y := sorted[i-1], sorted[i]; x != y && x&^rank == y&^rank {
			return true
		}
	}
	return false
}

// arcs adds up, by node, what lies between each point of a circle and the one
// before.
type arcs struct {
	widths []uint64
	prev   uint64
	first  int // owner of the first point
}

// begin says who owns the first point, and where the last one stands, after
// which its arc begins.
func (a *arcs) begin(first int, last uint64) { a.first, a.prev = first, last }

func (a *arcs) add(position uint64, owner int) {
	a.widths[owner] += position - a.prev
	a.prev = position
}

// parts returns the sums as parts of the circle.
func (a *arcs) parts() []float64 {
	parts := make([]float64, len(a.widths))
	owned := uint64(0)
	for i, w := range a.widths {
		parts[i] = float64(w) * 0x1p-64
		owned |= w
	}
	if owned == 0 { // the 2^64 of a single owner have wrapped to 0
		parts[a.first] = 1
	}
	return parts
}

// ranked returns the indices of the nodes in the order of their names, which is
// the order of points that stand on one position.
func ranked(nodes []algorithms.Node) []int {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) })
	return order
}

// sortNumbers returns the numbers in ascending order. It uses the array up.
// Numbers that are spread evenly, as hashes are, cost a constant time each: they
// are dealt to groups that fit the nearest cache, and within a group once more,
// after which no number is far from its place.
func sortNumbers(numbers []uint64) []uint64 {
	const few = 256 // numbers in a group, in the mean
	groupBits := min(bits.Len(uint(len(numbers)/few)), 13)
	if groupBits == 0 {
		slices.Sort(numbers)
		return numbers
	}
	shift := 64 - groupBits
	next := make([]uint32, 1<<groupBits+1) // where the next number of each group goes
	for _, x := range numbers {
		next[x>>shift+1]++
	}
	for g := range len(next) - 1 {
		next[g+1] += next[g]
	}
	grouped := make([]uint64, len(numbers))
	for _, x := range numbers {
		g := x >> shift
		grouped[next[g]] = x
		next[g]++
	}
	begin := uint32(0)
	for _, end := range next[:len(next)-1] { // next now holds the end of each group
		sortGroup(numbers[begin:end], grouped[begin:end], shift)
		begin = end
	}
	return numbers
}

// sortGroup writes the numbers of src to dst in ascending order. They have the
// bits from shift up in common.
func sortGroup(dst, src []uint64, shift int) {
	const (
		placeBits = 8
		most      = 32 // numbers of one place that are still sorted by insertion
	)
	var next [1<<placeBits + 1]uint32
	shift -= placeBits
	place := func(x uint64) uint64 { return x >> shift & (1<<placeBits - 1) }
	for _, x := range src {
		next[place(x)+1]++
	}
	for p := range len(next) - 1 {
		if next[p+1] > most {
			copy(dst, src)
			slices.Sort(dst)
			return
		}
		next[p+1] += next[p]
	}
	for _, x := range src {
		p := place(x)
		dst[next[p]] = x
		next[p]++
	}
	for i := 1; i < len(dst); i++ {
		x, j := dst[i], i
		for ; j > 0 && dst[j-1] > x; j-- {
			dst[j] = dst[j-1]
		}
		dst[j] = x
	}
}
