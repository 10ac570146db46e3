package bound

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
)

// A fraction holds (1+epsilon) * w / W for every bucket as a fraction: share over
// whole, both integers of at most 63 bits.
type fraction struct {
	share []uint64 // by bucket; 0 for weight 0
	whole uint64
}

const shareBits = 63

// newFraction makes the fraction for weights by bucket, 0 where none is bound.
func newFraction(epsilon float64, weights []float64) fraction {
	b := fraction{share: make([]uint64, len(weights)), whole: 1}
	factor := new(big.Rat).Add(big.NewRat(1, 1), decimal(epsilon))
	shares, whole := integers(weights)
	for i := range shares {
		shares[i].Mul(shares[i], factor.Num())
	}
	whole.Mul(whole, factor.Denom())
	if whole.Sign() == 0 {
		return b
	}

	divisor := new(big.Int).Set(whole)
	longest := 0
	for _, s := range shares {
		if divisor.IsUint64() && divisor.Uint64() == 1 {
			break
		}
		divisor.GCD(nil, nil, divisor, s)
	}
	for _, s := range append(shares, whole) {
		s.Quo(s, divisor)
		longest = max(longest, s.BitLen())
	}
	// What does not fit is rounded so that no bound comes out above the exact
	// one; a node of any weight keeps a share all the same.
	drop := uint(max(0, longest-shareBits))
	b.whole = new(big.Int).Rsh(whole, drop).Uint64()
	if drop > 0 {
		b.whole++
	}
	for i, s := range shares {
		if s.Sign() > 0 {
			b.share[i] = max(1, s.Rsh(s, drop).Uint64())
		}
	}
	return b
}

// integers returns integers in the proportion of the weights, and their sum.
func integers(weights []float64) (parts []*big.Int, sum *big.Int) {
	parts = make([]*big.Int, len(weights))
	sum = new(big.Int)
	rats := make(map[float64]*big.Rat) // clusters have few different weights
	common := big.NewInt(1)
	for _, w := range weights {
		if rats[w] != nil {
			continue
		}
		r := decimal(w)
		rats[w] = r
		// The least common multiple of the denominators.
		gcd := new(big.Int).GCD(nil, nil, common, r.Denom())
		common.Mul(common, new(big.Int).Quo(r.Denom(), gcd))
	}
	for i, w := range weights {
		r := rats[w]
		scale := new(big.Int).Quo(common, r.Denom())
		parts[i] = scale.Mul(scale, r.Num())
		sum.Add(sum, parts[i])
	}
	return parts, sum
}

// decimal returns the shortest decimal that names the float, which is the one
// that was written: 1/10 for 0.1, and not the binary fraction beside it.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic("bound: weight or epsilon is not a finite number")
	}
	return r
}

// below reports whether load < requests * share / whole.
func (b *fraction) below(load, requests uint64, bucket algorithms.Bucket) bool {
	hi, lo := bits.Mul64(load, b.whole)
	limitHi, limitLo := bits.Mul64(requests, b.share[bucket])
	return hi < limitHi || hi == limitHi && lo < limitLo
}

// capacity returns ceil(requests * share / whole), or the greatest int.
func (b *fraction) capacity(requests uint64, bucket algorithms.Bucket) int {
	if int(bucket) >= len(b.share) {
		return 0
	}
	hi, lo := bits.Mul64(requests, b.share[bucket])
	lo, carry := bits.Add64(lo, b.whole-1, 0)
	hi += carry
	if hi >= b.whole {
		return math.MaxInt
	}
	q, _ := bits.Div64(hi, lo, b.whole)
	return int(min(q, math.MaxInt))
}
