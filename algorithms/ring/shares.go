package ring

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

var (
	_ algorithms.Scatterer  = Config{}
	_ algorithms.RandomRing = Config{}
)

// RandomPoints returns VNodes, or 0 when the points are listed.
func (c Config) RandomPoints() int {
	if c.Points != nil {
		return 0
	}
	return c.VNodes
}

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
// New add up to, without laying them out. It costs about 30 ns a point and takes
// 12 bytes for each, 50 more where the hash leaves points in heaps.
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
	if parts := placement.quickShares(nodes, counts, total); parts != nil {
		return parts, nil
	}
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	points, err := placement.All(members)
	if err != nil {
		return nil, err
	}
	sums := arcs{widths: make([]uint64, len(nodes))}
	if len(points) > 0 {
		sums.begin(int(points[0].Owner), points[len(points)-1].Position)
	}
	for _, p := range points {
		sums.add(p.Position, int(p.Owner))
	}
	return sums.parts(), nil
}

// quickShares returns the shares of the nodes, or nil where their points are not
// as even and far apart as it needs: it deals their numbers to groups of as much
// room as random ones fill, and sorts each group in the nearest cache.
func (p *Placement) quickShares(nodes []algorithms.Node, counts []int, total int) []float64 {
	const (
		few  = 1 << placeBits // numbers in a group, at least half of it in the mean
		room = few + 9*64     // of a group: nine standard deviations above the mean
	)
	if total == 0 {
		return nil
	}
	groupBits := max(bits.Len(uint(total/few)), 1)
	shift := 64 - groupBits
	rank := uint64(1)<<bits.Len(uint(len(nodes)-1)) - 1 // the bits that hold it
	numbers := make([]uint64, room<<groupBits)
	filled := make([]uint32, 1<<groupBits)
	byRank := ranked(nodes)
	var points []Point
	for r, i := range byRank {
		points = p.Append(points[:0], algorithms.Bucket(r), nodes[i].Name, 0, counts[i])
		for _, p := range points {
			g := p.Position >> shift
			n := filled[g]
			if n == room {
				return nil
			}
			filled[g] = n + 1
			numbers[g*room+uint64(n)] = p.Position&^rank | uint64(p.Owner)
		}
	}
	sums := arcs{widths: make([]uint64, len(nodes))} // by rank
	sorted := make([]uint64, room)
	sums.prev = last(numbers, filled, room) &^ rank
	before, begun := uint64(0), false
	for g, n := range filled {
		group := sorted[:n]
		if !sortGroup(group, numbers[g*room:][:n], shift) {
			return nil
		}
		for _, x := range group {
			if begun && x&^rank == before&^rank && x != before {
				return nil
			}
			if !begun {
				sums.first, begun = int(x&rank), true
			}
			sums.add(x&^rank, int(x&rank))
			before = x
		}
	}
	parts := make([]float64, len(nodes))
	for r, part := range sums.parts() {
		parts[byRank[r]] = part
	}
	return parts
}

// last returns the highest of the numbers in groups of so much room each.
func last(numbers []uint64, filled []uint32, room int) uint64 {
	for g, n := range slices.Backward(filled) {
		if n > 0 {
			return slices.Max(numbers[g*room:][:n])
		}
	}
	return 0
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

// placeBits is how many bits a group is dealt by when it is sorted.
const placeBits = 12

// sortGroup writes the numbers of src to dst in ascending order. They have the
// bits from shift up in common, and are taken to be even in those below: dealt by
// the next ones, none is far from its place. It reports whether that is so.
func sortGroup(dst, src []uint64, shift int) bool {
	const most = 32 // numbers of one place that are still sorted by insertion
	var next [1<<placeBits + 1]uint16
	shift -= placeBits
	place := func(x uint64) uint64 { return x >> shift & (1<<placeBits - 1) }
	for _, x := range src {
		next[place(x)+1]++
	}
	for p := range len(next) - 1 {
		if next[p+1] > most {
			return false
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
	return true
}
