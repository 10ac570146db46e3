package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// A scale lays out one axis: from where to where, and what is written on it.
// Values on it are finite, and above zero when it is logarithmic.
type scale struct {
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// maxDecadeLabels bounds the labels on a logarithmic axis.
const maxDecadeLabels = 9

// slack, in decades, is how far a value may lie beyond the end of an axis before
// it opens another decade, most of which would be empty.
const slack = 0.02

// logScale covers the values above zero in whole decades, at least one, and
// labels the decades; an axis of one decade is labelled at 2 and 5 too. Values
// that are not above zero are passed over.
func logScale(values []float64, name func(float64) string) scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 1) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 1, 10
	}
	from := int(math.Floor(math.Log10(lo) + slack))
	to := int(math.Ceil(math.Log10(hi) - slack))
	from = min(max(from, -300), 299)
	to = max(min(to, 300), from+1)
	s := scale{min: math.Pow10(from), max: math.Pow10(to), log: true}
	step := (to-from)/maxDecadeLabels + 1
	for d := from; d <= to; d++ {
		t := plot.Tick{Value: math.Pow10(d)}
		if (d-from)%step == 0 {
			t.Label = name(t.Value)
		}
		s.ticks = append(s.ticks, t)
		for i := 2; i < 10 && d < to && step == 1; i++ {
			t := plot.Tick{Value: float64(i) * math.Pow10(d)}
			if to == from+1 && (i == 2 || i == 5) {
				t.Label = name(t.Value)
			}
			s.ticks = append(s.ticks, t)
		}
	}
	return s
}

// sizeScale is [logScale] for bytes, which come in powers of two: it covers the values
// in whole powers of 2, 4, 16 or more, as few as have room, and labels each.
func sizeScale(values []float64, name func(float64) string) scale {
	const most = 7
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && v <= 1e300 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 1024, 1024
	}
	from, to := math.Log2(lo)+slack, math.Log2(hi)-slack
	bits := 1.0 // from tick to tick
	for _, b := range []float64{2, 4, 5, 10, 20, 50, 100, 200} {
		if (to-from)/bits > most {
			bits = b
		}
	}
	from = math.Floor(from / bits)
	to = max(math.Ceil(to/bits), from+1)
	s := scale{min: math.Exp2(max(-1000, from*bits)), max: math.Exp2(min(1000, to*bits)), log: true}
	for i := from; i <= to; i++ {
		if v := math.Exp2(i * bits); v >= s.min && v <= s.max {
			s.ticks = append(s.ticks, plot.Tick{Value: v, Label: name(v)})
		}
	}
	return s
}

// linearScale runs from zero to a round number at or above the largest value,
// in steps of 1, 2 or 5 times a power of ten.
func linearScale(values []float64, name func(float64) string) scale {
	top := 0.0
	for _, v := range values {
		if v > top && v < math.MaxFloat64/10 {
			top = v
		}
	}
	if top == 0 {
		top = 1
	}
	step := roundUp(top / 5)
	n := int(math.Ceil(top/step - 1e-9))
	s := scale{max: float64(n) * step}
	for i := range n + 1 {
		v := float64(i) * step
		s.ticks = append(s.ticks, plot.Tick{Value: v, Label: name(v)})
	}
	return s
}

// roundUp returns the least of 1, 2 and 5 times a power of ten that is at least
// v, which is above zero.
func roundUp(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*base*(1+1e-9) {
			return f * base
		}
	}
	return 10 * base
}

// contains reports whether v can be drawn on the scale.
func (s scale) contains(v float64) bool {
	if s.log {
		beyond := math.Pow(10, slack) + 1e-9
		return v >= s.min/beyond && v <= s.max*beyond
	}
	return v >= s.min && v <= s.max
}

// clamp moves a value that the scale cannot show to its nearest end.
func (s scale) clamp(v float64) float64 { return min(max(v, s.min), s.max) }

// apply sets the axis to the scale.
func (s scale) apply(a *plot.Axis) {
	a.Min, a.Max = s.min, s.max
	a.Scale = plot.LinearScale{}
	if s.log {
		a.Scale = plot.LogScale{}
	}
	a.Tick.Marker = plot.ConstantTicks(s.ticks)
}

// The names of values, for ticks and for text. Each keeps to the few digits
// that a reader takes in.

// count writes a whole number with a comma between thousands.
func count(v float64) string {
	if math.Abs(v) >= 1e15 {
		return compact(v)
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 && strings.Trim(s, "0,") != "" {
		s = "-" + s
	}
	return s
}

// compact writes three digits, with an exponent when very large or small.
func compact(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// digits writes v with n significant digits and no exponent.
func digits(v float64, n int) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return compact(v)
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	if math.Abs(v) >= 1e15 || decimals > 12 {
		return compact(v)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// trimmed is digits without zeros at the end of the decimals.
func trimmed(v float64, n int) string {
	s := digits(v, n)
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// plain writes a number that has no unit.
func plain(v float64) string {
	if v >= 1000 {
		return count(v)
	}
	return trimmed(v, 3)
}

// percent writes a fraction of one, the smaller the fewer digits.
func percent(v float64) string {
	switch v *= 100; {
	case math.Abs(v) < 0.01:
		return trimmed(v, 1) + "%"
	case math.Abs(v) < 0.1:
		return trimmed(v, 2) + "%"
	}
	return plain(v) + "%"
}

// excess writes how far something lies above the fair share: 0.12 is +12%.
func excess(v float64) string { return "+" + plain(100*v) + "%" }

// times writes a multiple of the fair share.
func times(v float64) string {
	switch {
	case v >= 1000:
		return count(v)
	case v >= 10:
		return trimmed(v, 3)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// duration writes nanoseconds in the unit that suits them.
func duration(ns float64) string {
	return unit(ns, 1000, "ns", "\u00b5s", "ms", "s")
}

// bytesName writes a number of bytes in binary units.
func bytesName(v float64) string {
	return unit(v, 1024, "B", "KiB", "MiB", "GiB", "TiB")
}

// unit divides v by the step until a unit is found in which it has few digits.
func unit(v, step float64, names ...string) string {
	i := 0
	for ; i < len(names)-1 && math.Abs(v) >= step*(1-1e-9); i++ {
		v /= step
	}
	if math.Abs(v) >= step {
		return count(v) + " " + names[i]
	}
	return trimmed(v, 3) + " " + names[i]
}
