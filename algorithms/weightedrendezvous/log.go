package weightedrendezvous

import "math"

// ln2 is the natural logarithm of 2.
const ln2 = 0.693147180559945309417232121458176568

// near is the t up to which negLog sums the series of -ln(1-t) itself. Beyond,
// the result is far enough from 0 that the parts it is put together from do not
// cancel.
const near = 1.0 / 32

// logSteps is the number of steps in which the table divides [1,2).
const logSteps = 128

// A logStep holds, for the middle c of a step, 1/c and ln(c).
type logStep struct{ inverse, log float64 }

var logTable = makeLogTable()

// makeLogTable computes the table with the series
// ln(c) = 2*(s + s^3/3 + s^5/5 + ...), s = (c-1)/(c+1), rounding after every
// operation so that all machines compute the same.
func makeLogTable() *[logSteps]logStep {
	var table [logSteps]logStep
	for i := range table {
		c := 1 + (float64(i)+0.5)/logSteps
		s := (c - 1) / (c + 1)
		z := float64(s * s)
		sum := 0.0
		for k := 35; k >= 1; k -= 2 { // s <= 1/3, so the next term is under 3^-37
			sum = float64(sum*z) + 1/float64(k)
		}
		table[i] = logStep{1 / c, 2 * float64(s*sum)}
	}
	return &table
}

// negLog returns -ln(1-t) for 0 < t < 1, where t is a multiple of 2^-53, with a
// relative error under 10^-14. It is the same on every machine, and never less
// than t, which lets a caller bound it by t without computing it: the series only
// adds to t, and beyond near the true value is above t by more than t^2/2.
//
// Every product stands in a conversion, which forbids the compiler to fuse it
// with the sum around it.
func negLog(t float64) float64 {
	if t < near {
		// t + t^2/2 + t^3/3 + ... + t^10/10; the next term is under t * 32^-10.
		p := 1.0 / 10
		p = float64(p*t) + 1.0/9
		p = float64(p*t) + 1.0/8
		p = float64(p*t) + 1.0/7
		p = float64(p*t) + 1.0/6
		p = float64(p*t) + 1.0/5
		p = float64(p*t) + 1.0/4
		p = float64(p*t) + 1.0/3
		p = float64(p*t) + 1.0/2
		return t + float64(float64(p*t)*t)
	}
	// 1-t = 2^e * m with 1 <= m < 2, and m = c * (1+r) with abs(r) <= 2^-8.
	b := math.Float64bits(1 - t)
	e := float64(int64(b>>52) - 1023)
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	step := &logTable[b>>(52-7)&(logSteps-1)]
	r := float64(m*step.inverse) - 1
	// ln(1+r) = r - r^2/2 + r^3/3 - ...; the next term is under 2^-56.
	p := 1.0/5 - float64(r*(1.0/6))
	p = 1.0/4 - float64(r*p)
	p = 1.0/3 - float64(r*p)
	p = 1.0/2 - float64(r*p)
	p = r - float64(float64(r*r)*p)
	return -(float64(e*ln2) + (step.log + p))
}
