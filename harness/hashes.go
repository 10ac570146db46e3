package harness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/results"
)

// warn adds a warning about the first placement of a contestant.
func (e *examination) warn(format string, args ...any) {
	if e.first() {
		e.warnings = append(e.warnings, fmt.Sprintf(format, args...))
	}
}

// warnOfPoints tells what is wrong with the points of a ring, whatever it does to
// the shares: labels that several nodes have in common, and a hash so narrow that
// points must be expected to collide.
func (e *examination) warnOfPoints(tr *results.Trial) {
	var c struct {
		Label     string `json:"label"`
		PointHash string `json:"point_hash"`
		Modulus   uint64 `json:"modulus"`
		VNodes    int    `json:"vnodes"`
		Points    []any  `json:"points"`
	}
	ring, ok := e.base.Mapper.(interface {
		Points() iter.Seq2[uint64, algorithms.Bucket]
	})
	if json.Unmarshal(tr.Params, &c) != nil || !ok || c.Points != nil {
		return
	}
	if c.Modulus != 0 {
		if points := tr.Nodes * c.VNodes; float64(points) > float64(c.Modulus)/2 {
			e.warn("%d points are asked of %d positions: many share one, and shares follow chance more than the points; take fewer vnodes or a larger modulus", points, c.Modulus)
		}
		return
	}
	hash, err := keyhash.ByName(c.PointHash)
	if err != nil {
		return
	}
	points, pairs := sharedPoints(ring.Points(), e.base)
	// Of P random points in 2^32 places, P^2 / 2^33 share one by chance. For the
	// wider hashes that is nothing, and what does collide has the same label.
	if chance := float64(points) * float64(points) / (1 << 33); hash.Bits < 64 {
		if chance >= 1 {
			e.warn("point_hash %s has %d bits where the ring has 64: of %d points %.0f are expected to share a place, and %.0f do",
				hash.Name, hash.Bits, points, chance, tr.Values["point-collisions"])
		}
		return
	}
	if len(pairs) > 0 {
		e.warn("label %s: %.0f of %d points stand where another does, under any hash, for their labels are the same: %s; put something between name and index that no name ends with",
			c.Label, tr.Values["point-collisions"], points, describePairs(pairs))
	}
}

// A sharedPair is two nodes with points on the same places.
type sharedPair struct {
	a, b   string
	places int
}

// sharedPoints counts the points and returns the pairs of nodes that share places,
// those with most of them first.
func sharedPoints(inOrder iter.Seq2[uint64, algorithms.Bucket], p *Placement) (points int, pairs []sharedPair) {
	places := map[[2]string]int{}
	var here []string // the nodes on the present place
	at := uint64(0)
	for position, b := range inOrder {
		name := p.Nodes[p.NodeOf(b)].Name
		if points++; position != at {
			here, at = here[:0], position
		}
		for _, other := range here {
			if other != name {
				places[[2]string{other, name}]++
			}
		}
		here = append(here, name)
	}
	for names, n := range places {
		pairs = append(pairs, sharedPair{names[0], names[1], n})
	}
	slices.SortFunc(pairs, func(x, y sharedPair) int {
		return cmp.Or(cmp.Compare(y.places, x.places), strings.Compare(x.a, y.a), strings.Compare(x.b, y.b))
	})
	return points, pairs
}

// describePairs lists pairs of nodes, the first ten of many.
func describePairs(pairs []sharedPair) string {
	const most = 10
	var parts []string
	for _, p := range pairs[:min(len(pairs), most)] {
		parts = append(parts, fmt.Sprintf("%s and %s (%d)", p.a, p.b, p.places))
	}
	if more := len(pairs) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d pairs more", more))
	}
	return strings.Join(parts, ", ")
}

// warnOfKeys tells when the hash leaves more than half of the circle without keys.
func (e *examination) warnOfKeys(tr *results.Trial, keys *keyData) {
	if _, own := e.base.Mapper.(algorithms.KeyMapper); own || !e.first() {
		return
	}
	if what := uncovered(keys.hashed(e.sub.hash.For(nil))); what != "" {
		e.warn("hash %s over the keys %s: %s", e.sub.hash.Name, keys.set.Name(), what)
	}
}

// expectedCV returns the spread that chance explains among nodes of these weights:
// of the shares, when the structure scatters points, and of so many keys on top when
// there are any. It is NaN where theory says nothing.
func (e *examination) expectedCV(keys int) float64 {
	weights, total := e.base.Weights()
	var points []int
	if e.sub.info.PointCounts != nil {
		counts, err := e.sub.info.PointCounts(e.base.Nodes, e.base.Params)
		if err != nil {
			return math.NaN()
		}
		points = counts
	}
	if points == nil && (keys == 0 || slices.Contains(e.sub.info.Declines, algorithms.Balance)) {
		return math.NaN()
	}
	all := 0.0
	for _, n := range points {
		all += float64(n)
	}
	sum, n := 0.0, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		n++
		if points != nil {
			own := float64(points[i]) // the share is one of the Dirichlet distribution
			sum += (all - own) / (own * (all + 1))
		}
		if keys > 0 {
			part := w / total
			sum += (1 - part) / (part * float64(keys))
		}
	}
	return math.Sqrt(sum / float64(n))
}
