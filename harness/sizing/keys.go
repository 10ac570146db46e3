package sizing

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/harness"
)

// Keys tells how many keys there are and how unequally they are asked for, which
// is all of them that matters to random names.
type Keys struct {
	Distinct int
	Unit     string  // what is counted: "keys" when all are asked for alike, else "requests"
	Squares  float64 // sum of the squares of the keys' parts of the requests
	Hottest  float64 // largest part
	HotKey   string  // the key that has it; "" where the keys have no names

	// Each yields the keys with their parts of the requests, for the asker's own
	// nodes; nil where the keys have no names.
	Each iter.Seq2[string, float64]

	heavy []float64 // parts of the most asked for, each placed by itself
	rest  float64   // part of all others
	alike int       // as many equal keys stand for those
}

// mostHeavy is how many keys are placed one by one. The others are so small that
// as many equal ones with the same sum of squares stand for them.
const mostHeavy = 512

// EvenKeys returns k keys that are asked for alike.
func EvenKeys(k int) *Keys {
	return &Keys{Distinct: k, Unit: "keys", Squares: 1 / float64(k), Hottest: 1 / float64(k), rest: 1, alike: k}
}

// CountedKeys returns keys with the counts of their requests, at least one of
// which is above 0. A key that is never asked for does not count.
func CountedKeys(counts []float64, name func(i int) string) *Keys {
	total, top := 0.0, 0
	var parts []float64
	for i, c := range counts {
		total += c
		if c > 0 {
			parts = append(parts, c)
		}
		if c > counts[top] {
			top = i
		}
	}
	k := &Keys{Distinct: len(parts), Unit: "requests", HotKey: name(top)}
	k.Each = func(yield func(string, float64) bool) {
		for i, c := range counts {
			if c > 0 && !yield(name(i), c/total) {
				return
			}
		}
	}
	slices.SortFunc(parts, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	if parts[0] == parts[len(parts)-1] {
		alike := EvenKeys(len(parts))
		alike.HotKey, alike.Each = k.HotKey, k.Each
		return alike
	}
	restSquares := 0.0
	for i, p := range parts {
		p /= total
		k.Squares += p * p
		if i < mostHeavy {
			k.heavy = append(k.heavy, p)
		} else {
			k.rest += p
			restSquares += p * p
		}
	}
	k.Hottest = k.heavy[0]
	if restSquares > 0 {
		k.alike = int(math.Round(k.rest * k.rest / restSquares))
	}
	return k
}

// place draws where the keys fall when each node owns its share of the hash
// space, and returns the requests of each node as parts of all.
func (k *Keys) place(shares []float64, r *rand.Rand) []float64 {
	load := make([]float64, len(shares))
	if len(k.heavy) > 0 {
		ends := make([]float64, len(shares))
		sum := 0.0
		for i, x := range shares {
			sum += x
			ends[i] = sum
		}
		for _, p := range k.heavy {
			i := sort.SearchFloat64s(ends, r.Float64()*sum)
			load[min(i, len(load)-1)] += p
		}
	}
	left, space := k.alike, 1.0
	for i, x := range shares {
		if left == 0 {
			break
		}
		n := left
		if p := x / space; i < len(shares)-1 && p < 1 {
			n = int(distuv.Binomial{N: float64(left), P: max(p, 0), Src: r}.Rand())
		}
		load[i] += k.rest * float64(n) / float64(k.alike)
		left -= n
		space -= x
	}
	return load
}

// KeyParts tells how much of the spread is not the ring's. The squares of the
// three parts add up to the square of the whole.
type KeyParts struct {
	Distinct  int     `json:"distinct"`
	VNodes    int     `json:"vnodes"`
	Placement float64 `json:"placement_cv"`   // from the places of the points
	Sampling  float64 `json:"sampling_cv"`    // from there being so few keys
	Weights   float64 `json:"key_weights_cv"` // from some being asked for more than others
	Total     float64 `json:"total_cv"`
	FloorPeak float64 `json:"floor_peak"` // busiest node at the confidence if the placement were perfect
	FloorCV   float64 `json:"floor_cv"`   // spread at the confidence if the placement were perfect
	Hottest   float64 `json:"hottest"`    // part of the requests for the hottest key
	HotKey    string  `json:"hottest_key"`
	HotPeak   float64 `json:"hottest_peak"`   // what that key alone makes of a node, 1 = fair
	Empty     float64 `json:"empty_chance"`   // chance that some node gets no key under a perfect placement
	Tolerance float64 `json:"test_tolerance"` // deviation of a node's count that a test must allow
	Strict    float64 `json:"strict_limit"`   // 20%, a limit that people test for
	FailsBy   float64 `json:"strict_fails"`   // chance that a test with that limit fails
}

// keyParts works the parts out at a value of the knob.
func (s *solver) keyParts(v int) *KeyParts {
	k, n := s.q.Keys, len(s.nodes)
	placement := 0.0
	if counts := s.counts(v); counts != nil {
		placement = s.relativeVariance(counts)
	} else if p, err := s.measuredShares(v); err == nil {
		placement = p
	}
	crowd := s.crowding()
	even := crowd / float64(k.Distinct)
	parts := &KeyParts{
		Distinct:  k.Distinct,
		VNodes:    v,
		Placement: math.Sqrt(placement * (1 - k.Squares)),
		Sampling:  math.Sqrt(even),
		Weights:   math.Sqrt(max(0, crowd*k.Squares-even)),
		Hottest:   k.Hottest,
		HotKey:    k.HotKey,
		HotPeak:   s.hotPeak(),
		Empty:     emptyChance(k.Distinct, s.fair),
		Strict:    0.2,
	}
	parts.Total = math.Sqrt(square(parts.Placement) + square(parts.Sampling) + square(parts.Weights))
	floor := s.perfect()
	parts.FloorPeak = 1 + floor.quantile(Peak, s.q.Confidence)
	parts.FloorCV = floor.quantile(CV, s.q.Confidence)
	normal := distuv.UnitNormal
	const rare = 0.001 // how often a test may fail by chance
	parts.Tolerance = normal.Quantile(1-rare/2/float64(n)) * parts.Total
	parts.FailsBy = 1 - math.Pow(1-2*normal.Survival(parts.Strict/parts.Total), float64(n))
	return parts
}

// measuredShares returns the mean of the squared cv of the shares.
func (s *solver) measuredShares(v int) (float64, error) {
	keys := s.q.Keys
	s.q.Keys = nil
	defer func() { s.q.Keys = keys }()
	p, err := s.measured(v, leastPlacements)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, cv := range p.cv {
		sum += cv * cv
	}
	return sum / float64(len(p.cv)), nil
}

// hotPeak is what the hottest key makes of the node that can bear it best.
func (s *solver) hotPeak() float64 { return s.q.Keys.Hottest / slices.Max(s.fair) }

// perfect draws where the keys fall when each node owns exactly its fair part.
func (s *solver) perfect() *population {
	p, err := draw(s.draws(), func(i int) (harness.Spread, error) {
		return s.spread(s.fair, s.rand("perfect", i)), nil
	})
	if err != nil {
		panic("sizing: " + err.Error()) // nothing in it fails
	}
	return p
}

// keysForbid says why no number of vnodes can meet the target, since the keys
// alone exceed it; "" when they do not.
func (s *solver) keysForbid() string {
	k := s.q.Keys
	if hot := s.hotPeak(); s.q.Target.Metric == Peak && hot > s.q.Target.Value {
		name := "the hottest key"
		if k.HotKey != "" {
			name = fmt.Sprintf("the key %q", k.HotKey)
		}
		return fmt.Sprintf("%s alone takes %.1f%% of the requests, %.2f times the fair share of a node, wherever it goes", name, 100*k.Hottest, hot)
	}
	floor := s.perfect()
	if floor.within(s.q.Target.Metric, s.q.Target.limit()) >= s.q.Confidence {
		return ""
	}
	even := s.crowding() / float64(k.Distinct)
	if s.crowding()*k.Squares > 2*even {
		return fmt.Sprintf("the %d keys are asked for so unequally that even a perfect placement exceeds it", k.Distinct)
	}
	return fmt.Sprintf("%d distinct keys are so few that even a perfect placement exceeds it", k.Distinct)
}

// emptyChance returns the chance that some node gets none of k keys that fall on
// the nodes by their fair parts. For equal nodes it follows the number of nodes
// that have a key, key by key; unequal ones are taken as if each were alone,
// which is close where the chance is small and never below 0.
func emptyChance(k int, fair []float64) float64 {
	n := len(fair)
	equal := slices.Min(fair) == slices.Max(fair)
	if equal && float64(k)*float64(n) <= 1e7 {
		reached := make([]float64, n+1) // chance that so many nodes have a key
		reached[0] = 1
		for range k {
			for m := n; m >= 1; m-- {
				reached[m] = reached[m]*float64(m)/float64(n) + reached[m-1]*float64(n-m+1)/float64(n)
			}
			reached[0] = 0
		}
		return 1 - reached[n]
	}
	log := 0.0
	for _, f := range fair {
		log += math.Log1p(-math.Pow(1-f, float64(k)))
	}
	return -math.Expm1(log)
}
