package workloads

import (
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
// those of the counts. [ParsePopularity] makes all there are.
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
	return fromWeights("zipf:"+shortest(math.Abs(s)), zipfWeights(s, n))
}

func zipfWeights(s float64, n int) []float64 {
	weights := make([]float64, n)
	for r := range weights {
		weights[r] = exp(-float64(s * ln(float64(r+1))))
	}
	return weights
}

// latest is Zipf(0.99) with the last rank as the most popular: keys are asked for
// the more, the newer they are, as in YCSB's workload D.
func latest(n int) *Popularity {
	weights := zipfWeights(0.99, n)
	slices.Reverse(weights)
	return fromWeights("latest", weights)
}

// hotSet lets the first hot of n ranks have the share of the requests, alike, and
// the others the rest, alike.
func hotSet(name string, hot int, share float64, n int) *Popularity {
	weights := make([]float64, n)
	for rank := range weights {
		if rank < hot {
			weights[rank] = share / float64(hot)
		} else {
			weights[rank] = (1 - share) / float64(n-hot)
		}
	}
	return fromWeights(name, weights)
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Counts returns the popularity under which each rank is asked for in proportion
// to its count, such as those of [KeyFile.Counts]. It panics when a count is
// negative, NaN or infinite, or when all are 0.
func Counts(counts []float64) *Popularity {
	checkRanks(len(counts))
	if err := checkCounts("counts", counts); err != nil {
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

// popularities lists what ParsePopularity takes, as its error shows it.
const popularities = "uniform, zipf:S, hotset:KEYS:SHARE, latest, ycsb-scrambled, counts or bytes"

// ParsePopularity makes the popularity of n ranks that the spec names:
//
//	uniform              all ranks alike
//	zipf:S               see [Zipf], with a finite S >= 0
//	hotset:KEYS:SHARE    the first KEYS ranks, or that part of them when KEYS is
//	                     below 1, have SHARE of the requests, above 0 and at most 1;
//	                     within both sets all ranks are alike
//	latest               Zipf with 0.99, the last rank being the most popular
//	ycsb-scrambled       what YCSB's scrambled Zipfian generator draws, which is not
//	                     Zipf over n ranks: it draws from 10^10 ranks and hashes
//	                     them onto n, so that the top rank has 3.78% whatever n is
//	counts               in proportion to the counts, as of [KeyFile.Counts]
//	bytes                the same with the bytes asked for, as of [KeyFile.Bytes]:
//	                     what is called requests elsewhere is bytes then
//
// The caller hands in the counts or the bytes; nil means that there are none.
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
	if parameters, ok := strings.CutPrefix(spec, "hotset:"); ok {
		return parseHotSet(spec, parameters, n)
	}
	switch spec {
	case "uniform":
		return Uniform(n), nil
	case "latest":
		return latest(n), nil
	case "ycsb-scrambled":
		return fromWeights(spec, ycsbWeights(n)), nil
	case "counts", "bytes":
		if len(counts) != n {
			return nil, fmt.Errorf("popularity %q: %d %s for %d keys, it needs a file of keys that tells them", spec, len(counts), spec, n)
		}
		if err := checkCounts(spec, counts); err != nil {
			return nil, fmt.Errorf("popularity %q: %w", spec, err)
		}
		return fromWeights(spec, slices.Clone(counts)), nil
	}
	return nil, fmt.Errorf("popularity %q is unknown, want %s", spec, popularities)
}

func parseHotSet(spec, parameters string, n int) (*Popularity, error) {
	keys, part, found := strings.Cut(parameters, ":")
	if !found {
		return nil, fmt.Errorf("popularity %q: want hotset:KEYS:SHARE, such as hotset:0.1:0.9", spec)
	}
	share, err := strconv.ParseFloat(part, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("popularity %q: SHARE %q is not a number above 0 and up to 1", spec, part)
	}
	size, err := strconv.ParseFloat(keys, 64)
	if err != nil || !(size > 0) || size >= 1 && size != math.Floor(size) {
		return nil, fmt.Errorf("popularity %q: KEYS %q is neither a whole number of keys nor a part of them between 0 and 1", spec, keys)
	}
	hot := math.Floor(float64(size*float64(n)) + 0.5)
	if size >= 1 {
		hot = size
	} else {
		hot = min(max(hot, 1), float64(n-1))
	}
	if n < 2 || hot >= float64(n) {
		return nil, fmt.Errorf("popularity %q: %v hot keys of %d, ask for fewer hot keys or more keys", spec, size, n)
	}
	return hotSet("hotset:"+shortest(size)+":"+shortest(share), int(hot), share, n), nil
}

func checkExponent(s float64) error {
	if !(s >= 0) || math.IsInf(s, 1) {
		return fmt.Errorf("exponent %v, it must be a finite number of 0 or more", s)
	}
	return nil
}

// checkCounts says what is wrong with the numbers, which are called what.
func checkCounts(what string, counts []float64) error {
	for rank, c := range counts {
		if !(c >= 0) || math.IsInf(c, 1) {
			return fmt.Errorf("%s of rank %d are %v, want a finite number of 0 or more", what, rank, c)
		}
	}
	switch sum := total(counts); {
	case sum == 0:
		return fmt.Errorf("all %s are 0, some key must be asked for", what)
	case !(sum <= math.MaxFloat64):
		return fmt.Errorf("the %s add up to more than %g, scale them down", what, math.MaxFloat64)
	}
	return nil
}

func checkRanks(n int) {
	if n < 1 || n > MaxKeys {
		panic(fmt.Sprintf("workloads: popularity of %d ranks", n))
	}
}

// Name returns the spec in its shortest form: [ParsePopularity] of it makes the same
// popularity again.
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
