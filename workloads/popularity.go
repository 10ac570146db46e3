package workloads

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Popularity says how large a part of the requests each rank of a key set gets.
// For [Uniform] and [Zipf] rank 0 is the most popular; for [Counts] the ranks are
// those of the counts.
type Popularity struct {
	name string
	n    int
	p    []float64 // nil when uniform
	// columns is the alias table of Walker (1977): a draw picks one of n equally
	// likely columns and then one of the two ranks in it.
	columns []column
}

// A column stands for its own rank with probability own/2^32, and otherwise for
// the rank other.
type column struct{ own, other uint32 }

// Uniform returns the popularity under which all n ranks are asked for equally
// often. It panics unless 1 <= n <= MaxKeys, as do the others.
func Uniform(n int) *Popularity {
	checkRanks(n)
	return &Popularity{name: "uniform", n: n}
}

// Zipf returns the popularity under which rank r, counted from 0, gets the part
// (r+1)^-s / H of the requests, where H is the sum of k^-s for k from 1 to n. Any
// finite s >= 0 will do, 1 included; 0 is uniform. Others panic. This is the true
// distribution, unlike YCSB's scrambled one. Time and memory are linear in n.
func Zipf(s float64, n int) *Popularity {
	if err := checkExponent(s); err != nil {
		panic("workloads: " + err.Error())
	}
	checkRanks(n)
	weights := make([]float64, n)
	for r := range weights {
		weights[r] = exp(-float64(s * ln(float64(r+1))))
	}
	return fromWeights("zipf:"+strconv.FormatFloat(math.Abs(s), 'g', -1, 64), weights)
}

// Counts returns the popularity under which each rank is asked for in proportion
// to its count, such as those of [KeyFile.Counts]. It panics when a count is
// negative, NaN or infinite, or when all are 0.
func Counts(counts []float64) *Popularity {
	checkRanks(len(counts))
	if err := checkCounts(counts); err != nil {
		panic("workloads: " + err.Error())
	}
	return fromWeights("counts", slices.Clone(counts))
}

// fromWeights makes a popularity from the relative frequencies of its ranks, which
// must be finite, not negative, and add up to a finite number above 0. It keeps
// the slice.
func fromWeights(name string, weights []float64) *Popularity {
	sum := total(weights)
	for rank, w := range weights {
		weights[rank] = w / sum
	}
	return &Popularity{name: name, n: len(weights), p: weights, columns: aliasTable(weights)}
}

// ParsePopularity makes the popularity of n ranks that the spec names: "uniform",
// "zipf:S" with a finite S >= 0, or "counts", the counts themselves; nil counts
// mean that there are none.
func ParsePopularity(spec string, n int, counts []float64) (*Popularity, error) {
	if n < 1 || n > MaxKeys {
		return nil, fmt.Errorf("popularity %q: %d keys, want 1 to %d", spec, n, MaxKeys)
	}
	if exponent, ok := strings.CutPrefix(spec, "zipf:"); ok {
		s, err := strconv.ParseFloat(exponent, 64)
		if err != nil {
			return nil, fmt.Errorf("popularity %q: exponent %q is not a number, write zipf:0.99", spec, exponent)
		}
		if err := checkExponent(s); err != nil {
			return nil, fmt.Errorf("popularity %q: %w", spec, err)
		}
		return Zipf(s, n), nil
	}
	switch spec {
	case "uniform":
		return Uniform(n), nil
	case "counts":
		if len(counts) != n {
			return nil, fmt.Errorf("popularity %q: %d counts for %d keys, it needs a file of keys", spec, len(counts), n)
		}
		if err := checkCounts(counts); err != nil {
			return nil, fmt.Errorf("popularity %q: %w", spec, err)
		}
		return Counts(counts), nil
	}
	return nil, fmt.Errorf("popularity %q is unknown, want uniform, zipf:S or counts", spec)
}

func checkExponent(s float64) error {
	if !(s >= 0) || math.IsInf(s, 1) {
		return fmt.Errorf("exponent %v, it must be a finite number of 0 or more", s)
	}
	return nil
}

func checkCounts(counts []float64) error {
	for rank, c := range counts {
		if !(c >= 0) || math.IsInf(c, 1) {
			return fmt.Errorf("count %v at rank %d, it must be a finite number of 0 or more", c, rank)
		}
	}
	switch sum := total(counts); {
	case sum == 0:
		return errors.New("all counts are 0, some key must be asked for")
	case !(sum <= math.MaxFloat64):
		return fmt.Errorf("the counts add up to more than %g, scale them down", math.MaxFloat64)
	}
	return nil
}

func checkRanks(n int) {
	if n < 1 || n > MaxKeys {
		panic(fmt.Sprintf("workloads: popularity of %d ranks", n))
	}
}

// Name returns "uniform", "zipf:S" or "counts".
func (p *Popularity) Name() string { return p.name }

// Len returns the number of ranks.
func (p *Popularity) Len() int { return p.n }

// P returns the part of the requests that ask for the rank. The parts of all
// ranks add up to 1 within 1e-12.
func (p *Popularity) P(rank int) float64 {
	checkRank(rank, p.n)
	if p.p == nil {
		return 1 / float64(p.n)
	}
	return p.p[rank]
}

// Sample draws a rank in constant time, from one number of the generator. It draws
// a rank with the probability P to within 2^-32 and, for all but the most popular
// ranks, to within 2^-31/n. A rank with P of 0 is never drawn.
func (p *Popularity) Sample(r *rand.Rand) int {
	x := r.Uint64()
	high, low := bits.Mul64(x, uint64(p.n))
	if p.p == nil {
		return int(high)
	}
	c := p.columns[high]
	if uint32(low>>32) < c.own {
		return int(high)
	}
	return int(c.other)
}

// aliasTable spreads the probabilities over len(p) columns of 2^32 units each. It
// counts in whole units, so that nothing is lost on the way and every machine
// makes the same table: a rank has its probability in units, rounded, and what
// rounding leaves over goes to the most popular rank.
func aliasTable(p []float64) []column {
	const full = 1 << 32
	left := make([]uint64, len(p)) // units of the rank that have no column yet
	top, sum := 0, uint64(0)
	for rank, part := range p {
		left[rank] = uint64(float64(part*float64(len(p))*full) + 0.5)
		sum += left[rank]
		if p[rank] > p[top] {
			top = rank
		}
	}
	left[top] += uint64(len(p))*full - sum

	var less, more []uint32 // ranks with less than a full column, and the others
	for rank := range left {
		if left[rank] < full {
			less = append(less, uint32(rank))
		} else {
			more = append(more, uint32(rank))
		}
	}
	columns := make([]column, len(p))
	for len(less) > 0 {
		rank := less[len(less)-1]
		less = less[:len(less)-1]
		donor := more[len(more)-1]
		columns[rank] = column{own: uint32(left[rank]), other: donor}
		left[donor] -= full - left[rank]
		if left[donor] < full {
			more = more[:len(more)-1]
			less = append(less, donor)
		}
	}
	for _, rank := range more {
		columns[rank] = column{other: rank}
	}
	return columns
}
