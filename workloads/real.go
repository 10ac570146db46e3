package workloads

import "math"

// The functions here give the same bits on every machine. Those of package math
// do not: some machines have their own instructions or assembly for them, and
// compilers may fuse a multiplication and an addition where the code does not
// forbid it. A conversion such as float64(x*y) forbids it.

// ln2High has 20 zero bits at its end, so that its product with an exponent is
// exact; ln2Low is the rest of the logarithm of 2.
const (
	ln2High = 0x1.62e42fee00000p-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

// ln returns the natural logarithm of x, a finite number above 0, to within two
// units in the last place.
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	// The series 2 (f + f^3/3 + f^5/5 + ...) with |f| < 0.172; what follows the
	// last term is below 1e-18 of the sum.
	f := (m - 1) / (m + 1)
	z := float64(f * f)
	sum := 0.0
	for _, c := range [...]float64{1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3} {
		sum = float64((sum + c) * z)
	}
	tail := float64(2*f*sum) + float64(float64(e)*ln2Low)
	return float64(float64(e)*ln2High) + (2*f + tail)
}

// exp returns e to the power of x, for x <= 0, to within two units in the last
// place.
func exp(x float64) float64 {
	if x < -800 {
		return 0
	}
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	// The series of e^r with |r| < 0.347; what follows the last term is below
	// 1e-18 of the sum.
	sum := 0.0
	for _, c := range [...]float64{
		1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800,
		1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1,
	} {
		sum = float64((sum + c) * r)
	}
	return math.Ldexp(1+sum, int(k))
}

// total returns the sum of the numbers, as if added with twice the precision
// (Neumaier's variant of Kahan summation).
func total(xs []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, x := range xs {
		t := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += (sum - t) + x
		} else {
			lost += (x - t) + sum
		}
		sum = t
	}
	return sum + lost
}
