package workloads

import "math"

// ycsbWeights returns the part of the requests that YCSB's scrambled Zipfian
// generator gives to each of n keys.
//
// That generator draws an item from 10^10 by the approximation of Gray et al.,
// Quickly Generating Billion-Record Synthetic Databases (SIGMOD 1994, section 3),
// with the exponent 0.99, and hashes the item's number onto the keys by FNV-1a. So
// the key of item 0 has 1/26.469 of the requests, 3.78%, however many keys there
// are. The approximation has a distribution function that can be written down, and
// the parts are taken from that. Item by item that is done for the first 2^20; the
// others, none of which has more than 5e-8, are spread over the keys evenly.
//
// The time is that of 2^20 items and of n keys.
func ycsbWeights(n int) []float64 {
	const (
		items    = 1e10
		single   = 1 << 20
		exponent = 0.99
		zeta     = 26.46902820178302 // the sum of k^-0.99 over the items, as YCSB has it
	)
	power := func(x float64) float64 { return exp(float64((1 - exponent) * ln(x))) } // 0 < x <= 1
	second := exp(-float64(exponent * ln(2)))
	eta := (1 - power(2/items)) / (1 - (1+second)/zeta)
	// before is the part of the requests for items below k, for k from 2 to items.
	before := func(k float64) float64 { return 1 - (1-power(k/items))/eta }

	weights := make([]float64, n)
	rest := (1 - before(single)) / float64(n)
	for key := range weights {
		weights[key] = rest
	}
	weights[ycsbKey(0, n)] += 1 / zeta
	weights[ycsbKey(1, n)] += second / zeta
	from := before(2)
	for item := 2; item < single; item++ {
		to := before(float64(item + 1))
		weights[ycsbKey(item, n)] += to - from
		from = to
	}
	return weights
}

// ycsbKey returns the key of an item: the FNV-1a hash of the 8 bytes of its
// number, low ones first, taken as a signed number without its sign, modulo n.
func ycsbKey(item, n int) int {
	h := uint64(14695981039346656037)
	for shift := 0; shift < 64; shift += 8 {
		h = (h ^ uint64(item)>>shift&0xff) * 1099511628211
	}
	if h > math.MaxInt64 {
		h = -h
	}
	return int(h % uint64(n))
}
