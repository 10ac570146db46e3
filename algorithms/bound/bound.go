// Package bound keeps the books of consistent hashing with bounded loads: how
// many requests each node holds, and how many it may. With m requests placed,
// the one being placed included, a node of weight w has room for
//
//	ceil((1+epsilon) * m * w / W)
//
// requests, W being the sum of the weights. So no node ever takes a request that
// brings it above (1+epsilon) times its share, rounded up, and every node with a
// weight may hold at least one. Where a request goes when its first choice is
// full is the affair of the algorithm that uses the package.
//
// Source: V. Mirrokni, M. Thorup, M. Zadimoghaddam, "Consistent Hashing with
// Bounded Loads", arXiv 1608.01350, section 2. Two departures: weights, and that
// requests placed before stay where they are when the bound changes or a node
// joins; only a release and the removal of their node take them away. A request
// for which m was smaller may therefore leave a node above the bound of a later
// moment.
//
// The bound is exact. Epsilon and the weights are taken as the decimals that
// they are written as, and the comparison is one of integers: 1.1 * 10 has the
// ceiling 11, where binary fractions would make it 12. Only where the integers
// would outgrow 63 bits are the shares rounded down, by about one part in 2^62.
package bound

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// Limits is the part of a Config that sets the bound.
type Limits struct {
	// Epsilon is how far above its share a node may be loaded: 0.25 allows 1.25
	// times the share. It is above 0.
	Epsilon float64 `json:"epsilon"`

	// Expected fixes m in the bound, so that capacities do not grow with the
	// requests; 0 lets m be the requests placed. When more requests come than
	// Expected, they are placed while there is room, and Assign returns None
	// when there is none left.
	Expected int `json:"expected"`
}

// Default is the bound 1.25.
var Default = Limits{Epsilon: 0.25}

// Check refuses limits that no bound can have.
func (l Limits) Check() error {
	if !(l.Epsilon > 0) || math.IsInf(l.Epsilon, 0) {
		return fmt.Errorf("epsilon %v, it must be a finite number above 0", l.Epsilon)
	}
	if l.Expected < 0 {
		return fmt.Errorf("expected %d, it must be a number of requests, or 0 for those placed", l.Expected)
	}
	return nil
}

// BytesPerNode is what Loads takes for a bucket.
const BytesPerNode = 8 + 8 + 4 // load, share and mark

// Loads is the books: who holds how much of what. All of it needs exclusive use.
type Loads struct {
	limits   Limits
	fraction fraction
	load     []int64 // by bucket
	assigned int64   // sum of the loads

	// met marks, by bucket, the nodes that the walk numbered walk has met.
	met  []uint32
	walk uint32
}

// New returns books without load over the members, whose buckets come in
// ascending order. The limits must pass Check.
func New(l Limits, members iter.Seq2[algorithms.Bucket, algorithms.Node]) *Loads {
	books := &Loads{limits: l}
	books.Fit(members)
	return books
}

// Clone returns books of their own that are the same.
func (l *Loads) Clone() *Loads {
	c := *l // a change of the members makes another fraction
	c.load, c.met = slices.Clone(l.load), slices.Clone(l.met)
	return &c
}

// Fit makes the bound that of the members, whose buckets come in ascending
// order. Loads stay. It costs O(n), and the arithmetic of the weights.
func (l *Loads) Fit(members iter.Seq2[algorithms.Bucket, algorithms.Node]) {
	var weights []float64
	for b, n := range members {
		for len(weights) <= int(b) {
			weights = append(weights, 0)
		}
		weights[b] = n.Weight
	}
	l.fraction = newFraction(l.limits.Epsilon, weights)
	if grow := len(weights) - len(l.load); grow > 0 {
		l.load = append(l.load, make([]int64, grow)...)
		l.met = append(l.met, make([]uint32, grow)...)
	}
}

// Requests returns the m of the bound for the request to be placed next.
func (l *Loads) Requests() uint64 {
	if l.limits.Expected > 0 {
		return uint64(l.limits.Expected)
	}
	return uint64(l.assigned) + 1
}

// HasRoom reports whether load + 1 <= ceil(requests * share), which for integers
// is load < requests * share.
func (l *Loads) HasRoom(b algorithms.Bucket, requests uint64) bool {
	return l.fraction.below(uint64(l.load[b]), requests, b)
}

// Take places a request on the bucket.
func (l *Loads) Take(b algorithms.Bucket) {
	l.load[b]++
	l.assigned++
}

// Walk begins a search for a bucket with room, on which none was met yet.
func (l *Loads) Walk() {
	if l.walk++; l.walk == 0 {
		clear(l.met)
		l.walk = 1
	}
}

// Meet reports whether the walk meets the bucket for the first time.
func (l *Loads) Meet(b algorithms.Bucket) bool {
	if l.met[b] == l.walk {
		return false
	}
	l.met[b] = l.walk
	return true
}

// Release ends a request on the bucket. The requests of a removed node went with
// it and must not be released; a bucket without requests is a programmer's error
// and panics.
func (l *Loads) Release(b algorithms.Bucket) {
	if b < 0 || int(b) >= len(l.load) || l.load[b] == 0 {
		panic(fmt.Sprintf("bound: Release of bucket %d, which holds no request", b))
	}
	l.load[b]--
	l.assigned--
}

// Drop ends all requests on the bucket: its node was removed.
func (l *Loads) Drop(b algorithms.Bucket) {
	l.assigned -= l.load[b]
	l.load[b] = 0
}

// Load returns the requests on the bucket and its capacity, the load up to which
// the next request may bring it. A bucket bound to no node has neither.
func (l *Loads) Load(b algorithms.Bucket) (load, capacity int) {
	if b < 0 || int(b) >= len(l.load) {
		return 0, 0
	}
	return int(l.load[b]), l.fraction.capacity(l.Requests(), b)
}

// Footprint returns the bytes of the tables by bucket.
func (l *Loads) Footprint() int64 { return int64(BytesPerNode * len(l.load)) }
