package plots

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func TestAlgorithmsCanBeToldApart(t *testing.T) {
	var all []look
	for name := range looks {
		if name == "control" || name == "one-read" {
			continue
		}
		l := lookOf(name, 0)
		for _, other := range all {
			if l.color == other.color && slices.Equal(l.dash, other.dash) {
				t.Errorf("%s looks like another", name)
			}
		}
		all = append(all, l)
		if v := lookOf(name, 1); v.color != l.color || slices.Equal(v.dash, l.dash) || !v.hollow {
			t.Errorf("a variant of %s is not told from it, or has lost its colour", name)
		}
	}
}

func TestAnUnknownAlgorithmKeepsItsLook(t *testing.T) {
	a, b := lookOf("somebody-elses", 0), lookOf("somebody-elses", 0)
	if a.color != b.color || a.marker != b.marker || !slices.Equal(a.dash, b.dash) {
		t.Error("the look changed")
	}
	seen := map[any]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		l := lookOf(name, 0)
		seen[[3]any{l.color, len(l.dash), l.marker}] = true
	}
	if len(seen) < 6 {
		t.Errorf("8 unknown algorithms have %d looks", len(seen))
	}
}

func TestNamesAreReadableOnPaper(t *testing.T) {
	for _, c := range append(slices.Clone(palette), ink, soft) {
		if r := contrast(readable(c), paper); r < 4.5 {
			t.Errorf("text in %v stands out at %.1f to 1, want 4.5", c, r)
		}
	}
}

// Figures from the definition: black on white is 21 to 1, and a mid grey of
// 0x77 is the darkest that just misses 4.5.
func TestContrastFollowsTheGuidelines(t *testing.T) {
	for _, c := range []struct {
		hex  uint32
		want float64
	}{{0x000000, 21}, {0xffffff, 1}, {0x777777, 4.48}, {0xff0000, 4.00}} {
		if got := contrast(rgb(c.hex), rgb(0xffffff)); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%06x on white: %.3f, want %.2f", c.hex, got, c.want)
		}
	}
}

func TestSpreadKeepsOrderAndDistance(t *testing.T) {
	const gap, lo, hi = 10, 0, 400
	rapid.Check(t, func(t *rapid.T) {
		var at []vg.Length
		for _, v := range rapid.SliceOfN(rapid.Float64Range(-50, 450), 1, 30).Draw(t, "at") {
			at = append(at, vg.Length(v))
		}
		placed := spread(at, gap, lo, hi)
		order := make([]int, len(at))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
		for k, i := range order {
			if placed[i] < lo-1e-6 || placed[i] > hi+1e-6 {
				t.Fatalf("%v is out of bounds", placed[i])
			}
			if k > 0 && placed[i]-placed[order[k-1]] < gap-1e-6 {
				t.Fatalf("%v and %v are too near", placed[order[k-1]], placed[i])
			}
			alone := at[i] >= lo && at[i] <= hi
			for j := range at {
				alone = alone && (j == i || math.Abs(float64(at[j]-at[i])) > gap*float64(len(at)+1))
			}
			if alone && math.Abs(float64(placed[i]-at[i])) > 1e-6 && !crowdedEdge(at, lo, hi, gap) {
				t.Fatalf("%v moved to %v for no reason", at[i], placed[i])
			}
		}
	})
}

// crowdedEdge reports whether places near or beyond a bound may push others.
func crowdedEdge(at []vg.Length, lo, hi, gap vg.Length) bool {
	return slices.ContainsFunc(at, func(v vg.Length) bool {
		reach := gap * vg.Length(len(at))
		return v < lo+reach || v > hi-reach
	})
}

func onAxis(s scale, v float64) bool { return s.at(v) >= -1e-9 && s.at(v) <= 1+1e-9 }

func TestScalesOfBytesRunOverWholePowersOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 60), 1, 10).Draw(t, "exponents")
		for i, e := range values {
			values[i] = math.Exp2(e)
		}
		s := sizeScale(values, bytesName)
		for _, tick := range s.ticks {
			if l := math.Log2(tick.Value); l != math.Round(l) || tick.Label != bytesName(tick.Value) {
				t.Fatalf("tick %q at %v is no power of two", tick.Label, tick.Value)
			}
		}
		for _, v := range values {
			if !onAxis(s, v) {
				t.Fatalf("%v is not on the scale from %v to %v", v, s.min, s.max)
			}
		}
		if n := len(s.ticks); n < 2 || n > 10 {
			t.Fatalf("%d labels", n)
		}
	})
}

func TestLogScalesRunOverWholeDecades(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-10, 11), 1, 10).Draw(t, "exponents")
		for i, e := range values {
			values[i] = math.Pow(10, e)
		}
		s := logScale(values, plain)
		for _, end := range []float64{s.min, s.max} {
			if l := math.Log10(end); s.log && math.Abs(l-math.Round(l)) > slack+1e-9 {
				t.Fatalf("%v is no power of ten, nor next to one", end)
			}
		}
		for _, v := range values {
			if !onAxis(s, v) {
				t.Fatalf("%v is not on the axis from %v to %v", v, s.min, s.max)
			}
		}
		checkTicks(t, s)
	})
}

func TestLinearScalesBeginAtZeroInRoundSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 0, 10).Draw(t, "values")
		s := linearScale(values, plain)
		if s.min != 0 {
			t.Fatalf("begins at %v", s.min)
		}
		for _, v := range values {
			if !onAxis(s, v) {
				t.Fatalf("%v is not on the axis to %v", v, s.max)
			}
		}
		checkTicks(t, s)
	})
}

// checkTicks wants a few labels that differ, on the axis and ascending.
func checkTicks(t *rapid.T, s scale) {
	var labels []string
	last := math.Inf(-1)
	for _, tick := range s.ticks {
		if !onAxis(s, tick.Value) || tick.Value <= last {
			t.Fatalf("tick at %v on an axis from %v to %v, after %v", tick.Value, s.min, s.max, last)
		}
		last = tick.Value
		if !tick.IsMinor() {
			labels = append(labels, tick.Label)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(labels)))); n != len(labels) || n < 2 || n > 11 {
		t.Fatalf("labels %q", labels)
	}
}

func TestValuesAreWrittenForPeople(t *testing.T) {
	for _, c := range []struct {
		name func(float64) string
		v    float64
		want string
	}{
		{count, 1000, "1,000"}, {count, 1234567, "1,234,567"}, {count, 999, "999"}, {count, -1000, "-1,000"},
		{percent, 0.0909, "9.09%"}, {percent, 1, "100%"}, {percent, 0.000999, "0.1%"}, {percent, 3e-7, "0.00003%"}, {percent, 0, "0%"}, {percent, 32.48, "3,248%"},
		{times, 1.12, "1.12"}, {times, 65.04, "65"}, {times, 1, "1.00"}, {times, 1234, "1,234"},
		{duration, 3.14159, "3.14 ns"}, {duration, 1000, "1 \u00b5s"}, {duration, 999.9999999999, "1 \u00b5s"}, {duration, 4.5e6, "4.5 ms"}, {duration, 2e9, "2 s"},
		{bytesName, 48, "48 B"}, {bytesName, 4.43e6, "4.22 MiB"}, {bytesName, 4096, "4 KiB"}, {bytesName, 1 << 21, "2 MiB"}, {bytesName, 1023, "1023 B"},
		{excess, 0.12, "+12%"}, {excess, 10, "+1,000%"},
		{magnitude, 1e6, "1M"}, {magnitude, 10000, "10k"}, {magnitude, 7, "7"},
		{bytesName, 1023 << 20, "1023 MiB"}, {bytesName, 1 << 30, "1 GiB"},
	} {
		if got := c.name(c.v); got != c.want {
			t.Errorf("%v is written %q, want %q", c.v, got, c.want)
		}
	}
}

func TestTextIsCutToItsWidth(t *testing.T) {
	p := pen{size: labelSize}
	rapid.Check(t, func(t *rapid.T) {
		s := clean(rapid.String().Draw(t, "text"))
		width := vg.Length(rapid.Float64Range(20, 300).Draw(t, "width"))
		if w := p.width(p.fit(s, width)); w > width && w > p.width("...") {
			t.Fatalf("%q is %v wide, %v allowed", p.fit(s, width), w, width)
		}
		for _, line := range p.wrap(s, width) {
			if w := p.width(line); w > width && w > p.width("...") {
				t.Fatalf("line %q is %v wide, %v allowed", line, w, width)
			}
		}
	})
}
