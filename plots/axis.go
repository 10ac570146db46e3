package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A scale lays out one axis: from where to where, and what is written on it. All
// values that it was made for have a place on it.
//
// The zero on a logarithmic axis has one rule. Zero is a value, so that no figure
// leaves it out, and none draws it at the least decade. It stands in a lane of its
// own at the beginning of the axis, with "0" written there, and a break that is
// drawn parts the lane from the decades. Where nothing is above zero, or something
// is below it, the axis is linear. Only the functions of this file make an axis
// logarithmic, and they all keep to that.
type scale struct {
	min, max float64 // of what stands outside of the lane
	log      bool
	names    bool    // what is written on it are names, which all stay
	lane     bool    // a lane is set apart for what lies below least, zero included
	least    float64 // of the values with a place among the decades
	inset    float64 // part of the axis left free at each end
	ticks    []plot.Tick
}

// laneShare is the part of a logarithmic axis that its lane takes.
const laneShare = 0.11

// maxDecadeLabels bounds the labels on a logarithmic axis.
const maxDecadeLabels = 9

// slack, in decades, is how far an axis reaches beyond its last decade rather than
// to open another one, most of which would be empty.
const slack = 0.02

// logScale covers the values in whole decades, at least one, and what lies within
// the slack beyond them. It labels the decades; an axis of one decade is labelled
// at 2 and 5 too.
func logScale(values []float64, name func(float64) string) scale {
	return logScaleFrom(0, values, name)
}

// logScaleFrom is logScale for values of which those below least, above zero, are
// as good as none: they stand in the lane together with zero, which then says so.
func logScaleFrom(least float64, values []float64, name func(float64) string) scale {
	return logarithmic(least, values, name, func(lo, hi float64) (from, to float64, ticks []plot.Tick) {
		first := int(math.Floor(math.Log10(lo) + slack))
		last := max(int(math.Ceil(math.Log10(hi)-slack)), first+1)
		step := (last-first)/maxDecadeLabels + 1
		for d := first; d <= last; d++ {
			t := plot.Tick{Value: math.Pow10(d)}
			if (d-first)%step == 0 {
				t.Label = name(t.Value)
			}
			ticks = append(ticks, t)
			for i := 2; i < 10 && d < last && step == 1; i++ {
				t := plot.Tick{Value: float64(i) * math.Pow10(d)}
				if last == first+1 && (i == 2 || i == 5) {
					t.Label = name(t.Value)
				}
				ticks = append(ticks, t)
			}
		}
		return math.Pow10(first), math.Pow10(last), ticks
	})
}

// sizeScale is [logScale] for bytes, which come in powers of two: it covers the values
// in whole powers of 2, 4, 16 or more, as few as have room, and labels each.
func sizeScale(values []float64, name func(float64) string) scale {
	return logarithmic(0, values, name, func(lo, hi float64) (from, to float64, ticks []plot.Tick) {
		const most = 7
		first, last := math.Log2(lo)+slack, math.Log2(hi)-slack
		bits := 1.0 // from tick to tick
		for _, b := range []float64{2, 4, 5, 10, 20, 50, 100, 200} {
			if (last-first)/bits > most {
				bits = b
			}
		}
		first = math.Floor(first / bits)
		last = max(math.Ceil(last/bits), first+1)
		for i := first; i <= last; i++ {
			ticks = append(ticks, plot.Tick{Value: math.Exp2(i * bits), Label: name(math.Exp2(i * bits))})
		}
		return math.Exp2(first * bits), math.Exp2(last * bits), ticks
	})
}

// timeScale is [logScale] for times in seconds, with the units that people count in.
func timeScale(seconds []float64) scale {
	return logarithmic(0, seconds, plain, func(lo, hi float64) (from, to float64, ticks []plot.Tick) {
		for _, t := range []struct {
			at   float64
			name string
		}{{1, "1 s"}, {10, "10 s"}, {60, "1 min"}, {600, "10 min"}, {3600, "1 h"}, {36000, "10 h"}} {
			if t.at >= lo && t.at <= max(hi, 10*lo) {
				ticks = append(ticks, plot.Tick{Value: t.at, Label: t.name})
			}
		}
		return lo, max(hi, 10*lo), ticks
	})
}

// logarithmic makes an axis by the rule above: layOut tells where the decades, or
// other steps, of the least and the largest value begin and end.
func logarithmic(least float64, values []float64, name func(float64) string, layOut func(lo, hi float64) (from, to float64, ticks []plot.Tick)) scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	s := scale{log: true, least: least}
	for _, v := range values {
		switch {
		case v < 0:
			return linearScale(values, name)
		case s.inLane(v):
			s.lane = true
		default:
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	switch {
	case lo <= hi:
	case s.lane && least > 0:
		lo, hi = least, least
	default:
		return linearScale(values, name)
	}
	s.min, s.max, s.ticks = layOut(lo, hi)
	s.min, s.max = min(s.min, lo), max(s.max, hi)
	if s.lane {
		label := name(0)
		if least > 0 {
			label = "< " + name(least)
		}
		s.ticks = append([]plot.Tick{{Value: 0, Label: label}}, s.ticks...)
	}
	return s
}

// inLane reports whether a value stands in the lane of a logarithmic axis.
func (s scale) inLane(v float64) bool { return s.log && (v <= 0 || v < s.least) }

// linearScale runs from zero, or a round number at or below the least value, to a
// round number at or above the largest, in steps of 1, 2 or 5 times a power of ten.
func linearScale(values []float64, name func(float64) string) scale {
	low, top := 0.0, 0.0
	for _, v := range values {
		low, top = min(low, v), max(top, v)
	}
	if low == top {
		top = 1
	}
	step := roundUp((top - low) / 5)
	first, last := math.Floor(low/step+1e-9), math.Ceil(top/step-1e-9)
	s := scale{min: min(low, first*step), max: max(top, last*step)}
	for i := first; i <= last; i++ {
		s.ticks = append(s.ticks, plot.Tick{Value: i * step, Label: name(i * step)})
	}
	return s
}

// partScale is the axis of parts, from none to all; of values that are no parts it
// is a linear one.
func partScale(values []float64) scale {
	for _, v := range values {
		if v < 0 || v > 1 {
			return linearScale(values, percent)
		}
	}
	return scale{max: 1, ticks: []plot.Tick{{Value: 0, Label: "0%"}, {Value: 0.5, Label: "50%"}, {Value: 1, Label: "100%"}}}
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

// Normalize returns the place of a value, 0 at the beginning of the axis and 1 at
// its end. It makes a scale a [plot.Normalizer]; min and max are the scale's own.
func (s scale) Normalize(min, max, v float64) float64 {
	at := (v/2 - min/2) / (max/2 - min/2) // of which the difference is finite
	if s.log {
		if at = 0; !s.inLane(v) {
			at = (math.Log(v) - math.Log(min)) / (math.Log(max) - math.Log(min))
			if s.lane {
				at = laneShare + (1-laneShare)*at
			}
		}
	}
	return s.inset + (1-2*s.inset)*at
}

// at is Normalize without the ends of the scale.
func (s scale) at(v float64) float64 { return s.Normalize(s.min, s.max, v) }

// withRoom leaves so much of the ends of the axis free that a mark which reaches
// the part reach of its length to both sides of a value is within it.
func (s scale) withRoom(v, reach float64) scale {
	at := (s.at(v) - s.inset) / (1 - 2*s.inset)
	at = min(at, 1-at) // from the nearer end
	if need := (reach - at) / (1 - 2*at); at < 0.5 && reach < 0.5 {
		s.inset = max(s.inset, need)
	}
	return s
}

// apply sets the axis to the scale.
func (s scale) apply(a *plot.Axis) {
	a.Min, a.Max = s.min, s.max
	a.Scale = s
	a.Tick.Marker = plot.ConstantTicks(s.ticks)
}

// A axisBreak draws the break between the lanes of two axes and their decades.
type axisBreak struct{ x, y scale }

func (b axisBreak) Plot(c draw.Canvas, _ *plot.Plot) {
	style := draw.LineStyle{Color: soft, Width: 0.9}
	const half, gap = vg.Length(3), vg.Length(1.3)
	slashes := func(x, y, alongX, alongY vg.Length) {
		for _, side := range []vg.Length{-gap, gap} {
			x, y := x+side*alongX, y+side*alongY
			c.StrokeLine2(style, x-half*0.7, y-half, x+half*0.7, y+half)
		}
	}
	if b.x.lane {
		slashes(c.X(b.x.inset+laneShare/2), c.Min.Y, 1, 0)
	}
	if b.y.lane {
		slashes(c.Min.X, c.Y(b.y.inset+laneShare/2), 0, 1)
	}
}

// The names of values, for ticks and for text. Each keeps to the few digits
// that a reader takes in.

// count writes a whole number with a comma between thousands, as long as that is
// shorter than a reader's patience.
func count(v float64) string {
	if math.Abs(v) >= 1e10 {
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

// compact writes at most three digits, with an exponent when very large or small.
func compact(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// digits writes v with n significant digits and no exponent.
func digits(v float64, n int) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return compact(v)
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	if math.Abs(v) >= 1e10 || decimals > 6 {
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
	if math.Abs(v) >= 1000 {
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

// excess writes how far something lies above the fair share: 0.12 is +12%. Zero is +0%.
func excess(v float64) string {
	if v < 0 {
		return plain(100*v) + "%"
	}
	return "+" + plain(100*v) + "%"
}

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
