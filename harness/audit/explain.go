package audit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// What counts as chance, and how its shape is judged.
const (
	rare       = 0.001
	shapeDraws = 2000
	shapeWork  = 4_000_000 // shares drawn for a shape
)

// explain parts the spread by its causes.
func (r *Report) explain(weights []float64, c *census) {
	y := &r.Why
	parts := fair(weights)
	crowd := harness.Crowding(weights)
	for _, h := range slices.Backward(sorted(c.hottest)) {
		hot := HotKey{Key: h.key, Node: c.names[h.node], Requests: h.requests, Part: h.requests / c.requests}
		if hot.Fair = hot.Part / parts[h.node]; c.requests > 0 && !math.IsInf(hot.Fair, 0) {
			r.HotKeys = append(r.HotKeys, hot)
		}
	}
	if r.Chi2P == nil {
		y.Cause = SingleNode
		return
	}
	sampling := crowd / c.keys
	placement := max(0, *r.CV**r.CV-sampling)
	switch p := *r.Chi2P; {
	case p > 1-rare:
		y.Cause = TooEven
	case p >= rare:
		y.Cause = Chance
	default:
		r.likeRing(weights, placement, c)
	}
	if c.requests == 0 {
		return
	}
	squares := c.squares / c.requests / c.requests
	skew := max(0, crowd*squares-sampling)
	y.Placement = known(math.Sqrt(placement * (1 - squares)))
	y.Sampling = known(math.Sqrt(sampling))
	y.Weights = known(math.Sqrt(skew))
	y.Expected = known(math.Sqrt(placement*(1-squares) + sampling + skew))
	y.HotKeys = skew > sampling && skew > placement*(1-squares)
	if len(r.HotKeys) > 0 {
		y.HotFloor = known(r.HotKeys[0].Part / slices.Max(parts))
	}
}

// likeRing says which ring has a spread like this, whose square is placement, or
// that none has. On a ring of V points by random hashes the share of a node with
// the fair part f has the relative variance (1/f - 1)/(V+1).
func (r *Report) likeRing(weights []float64, placement float64, c *census) {
	y := &r.Why
	crowd := harness.Crowding(weights)
	total, nodes := 0.0, 0
	for i, w := range weights {
		total += w
		if w > 0 {
			nodes++
		} else if c.held[i].keys > 0 {
			y.Cause, y.Outlier = WeakHash, c.names[i]
			return
		}
	}
	v := (crowd/placement - 1) / total
	chi := distuv.ChiSquared{K: float64(nodes - 1)}
	low, high := v*chi.Quantile(0.05)/chi.K, v*chi.Quantile(0.95)/chi.K
	least := math.Inf(1) // a node has one point at least
	for _, w := range weights {
		if w > 0 {
			least = min(least, 1/w)
		}
	}
	y.Cause = FewVNodes
	if high < least {
		y.Cause = WeakHash
	} else if i := r.outlier(weights, max(v, least), c); i >= 0 {
		y.Cause, y.Outlier = WeakHash, c.names[i]
	}
	if y.Cause == FewVNodes {
		y.VNodes, y.VNodesLow, y.VNodesHigh = known(v), known(low), known(high)
	}
}

// outlier returns a node that has more or less than any node has on random rings
// of v vnodes for each unit of weight, -1 when there is none.
func (r *Report) outlier(weights []float64, v float64, c *census) int {
	parts := fair(weights)
	busiest, idlest := -1, -1
	of := func(i int) float64 { return c.held[i].keys / c.keys / parts[i] }
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if busiest < 0 || of(i) > of(busiest) {
			busiest = i
		}
		if idlest < 0 || of(i) < of(idlest) {
			idlest = i
		}
	}
	draws := min(shapeDraws, max(shapeWork/len(weights), 200))
	rnd := workloads.Rand(1, "audit", "shape")
	shares := make([]float64, len(weights))
	above, below := 0, 0
	for range draws {
		sum := 0.0
		for i, w := range weights {
			if shares[i] = 0; w > 0 {
				shares[i] = distuv.Gamma{Alpha: v * w, Beta: 1, Src: rnd}.Rand()
			}
			sum += shares[i]
		}
		peak, least := 0.0, math.Inf(1)
		for i, w := range weights {
			if w == 0 {
				continue
			}
			x := shares[i] / sum
			if n := x * c.keys; n > 0 { // that many keys, give or take
				x = max(0, n+math.Sqrt(n*(1-x))*rnd.NormFloat64()) / c.keys
			}
			peak, least = max(peak, x/parts[i]), min(least, x/parts[i])
		}
		if peak >= of(busiest) {
			above++
		}
		if least <= of(idlest) {
			below++
		}
	}
	switch {
	case float64(above) < rare*float64(draws):
		return busiest
	case float64(below) < rare*float64(draws):
		return idlest
	}
	return -1
}

func sorted(h hottest) hottest {
	h = slices.Clone(h)
	slices.SortFunc(h, hot.compare)
	return h
}
