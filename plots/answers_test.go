package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

// anyName draws the name of a node or of an algorithm, which may be long or of
// letters that no font here has.
var anyName = rapid.OneOf(
	rapid.StringMatching(`[a-z]{1,8}(-[0-9]{1,3})?`),
	rapid.SampledFrom([]string{strings.Repeat("cache-", 15), strings.Repeat("\u8282\u70b9", 12), strings.Repeat("\U0001f980", 9), strings.Repeat("\u05e6\u05d5\u05de\u05ea ", 9)}),
)

// Figures that are drawn from an answer keep to the same rules.
func TestFiguresOfAnyAnswerAreSound(t *testing.T) {
	part := rapid.OneOf(rapid.Float64Range(1e-9, 1), rapid.SampledFrom([]float64{0, 1, 1e-12}))
	ratio := rapid.OneOf(rapid.Float64Range(1, 30), rapid.SampledFrom([]float64{1, 1e6}))
	rapid.Check(t, func(t *rapid.T) {
		var f Figure
		switch rapid.SampledFrom([]string{"choice", "ring", "flows", "history"}).Draw(t, "figure") {
		case "choice":
			c := Choice{Algorithm: anyName.Draw(t, "algorithm"), Knob: rapid.SampledFrom([]string{"vnodes", "probes"}).Draw(t, "knob"),
				Nodes: rapid.IntRange(1, 1e6).Draw(t, "nodes"), Spread: rapid.Bool().Draw(t, "spread"), Confidence: 0.95,
				Target: ratio.Draw(t, "target"), Chosen: rapid.SampledFrom([]float64{0, 160}).Draw(t, "chosen")}
			knob := 0.0
			for range rapid.IntRange(1, 12).Draw(t, "points") {
				knob += float64(rapid.IntRange(1, 1000).Draw(t, "step"))
				three := []float64{ratio.Draw(t, "a"), ratio.Draw(t, "b"), ratio.Draw(t, "c")}
				slices.Sort(three)
				own := 0.0
				if rapid.Bool().Draw(t, "has own") {
					own = ratio.Draw(t, "own")
				}
				c.Points = append(c.Points, ChoicePoint{Knob: knob, Low: three[0], Typical: three[1], High: three[2], Own: own})
			}
			f = c.Figure()
		case "ring":
			r := Ring{Algorithm: anyName.Draw(t, "algorithm"), VNodes: rapid.SampledFrom([]float64{0, 1, 160}).Draw(t, "vnodes")}
			for range rapid.IntRange(1, 40).Draw(t, "nodes") {
				r.Names = append(r.Names, anyName.Draw(t, "name"))
				r.Weights = append(r.Weights, rapid.SampledFrom([]float64{1, 2, 0, 1e6}).Draw(t, "weight"))
			}
			r.Weights[0] = 1
			r.Ends = append(rapid.SliceOfN(part, 0, 60).Draw(t, "ends"), 1)
			slices.Sort(r.Ends)
			for range r.Ends {
				r.Owners = append(r.Owners, rapid.IntRange(0, len(r.Names)-1).Draw(t, "owner"))
			}
			f = r.Figure()
		case "flows":
			fs := Flows{Algorithm: anyName.Draw(t, "algorithm"), Changes: "--remove " + anyName.Draw(t, "change"), Moved: part.Draw(t, "moved"), Minimum: part.Draw(t, "minimum")}
			for range rapid.IntRange(1, 60).Draw(t, "flows") {
				fs.Flows = append(fs.Flows, Flow{anyName.Draw(t, "from"), anyName.Draw(t, "to"), max(1e-9, part.Draw(t, "share")) / 60})
			}
			if rapid.Bool().Draw(t, "misses") {
				fs.Rate = 1e5
				for second := range rapid.IntRange(1, 9).Draw(t, "seconds") {
					fs.Seconds = append(fs.Seconds, float64(second*second))
					fs.Misses = append(fs.Misses, part.Draw(t, "misses")*1e5)
				}
			}
			f = fs.Figure()
		case "history":
			var lines []results.Medians
			for run := range rapid.IntRange(1, 12).Draw(t, "runs") {
				m := results.Medians{Suite: "quick", Start: "2026-01-02T03:04:05Z", Revision: fmt.Sprintf("%040d", run), Machine: "one", Medians: map[string]map[string]float64{}}
				for a := range rapid.IntRange(1, 11).Draw(t, "contestants") {
					for _, measure := range []string{"lookup", "latency"} {
						ns := rapid.OneOf(rapid.Float64Range(0.5, 500), rapid.SampledFrom([]float64{0, 1e12, 1e-12})).Draw(t, "ns")
						cell := results.CellName(measure, fmt.Sprintf("algorithm-%d", a%3), 10+a, nil, "", "", "", "")
						m.Medians[cell] = map[string]float64{measure + "-ns": ns}
					}
				}
				lines = append(lines, m)
			}
			var ok bool
			if f, ok = History(lines); !ok {
				return
			}
		}
		checkSound(t, f)
	})
}
