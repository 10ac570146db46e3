package plots

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestFlowsNameWhatMovesAndWhere(t *testing.T) {
	fs := Flows{
		Algorithm: "ring", Changes: "--remove b", Moved: 0.1, Minimum: 0.1,
		Flows: []Flow{{"b", "a", 0.07}, {"b", "c", 0.03}},
		Rate:  5000, Seconds: []float64{0, 1, 60}, Misses: []float64{500, 400, 20},
	}
	text := func() string {
		var b bytes.Buffer
		if err := fs.Figure().Draw(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	svg := text()
	for _, want := range []string{"What moves: --remove b", "10% of the keys move, 10% have to", ">b  10%<", ">a  7%<", ">c  3%<", ">misses a second<", "exact shares"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	if text() != svg {
		t.Error("the figure differs from one drawing to the next")
	}
	fs.Rate, fs.Sampled = 0, 1000
	if svg = text(); strings.Contains(svg, "misses") || !strings.Contains(svg, "counted over 1,000 keys") {
		t.Error("without a rate it tells of misses, or does not say that it is counted")
	}
	fs.Flows = nil
	if svg = text(); !strings.Contains(svg, "nothing moves") {
		t.Error("it does not say that nothing moves")
	}
	for i := range 60 {
		fs.Flows = append(fs.Flows, Flow{fmt.Sprint("from-", i), fmt.Sprint("to-", i%20), 0.01})
	}
	if svg = text(); !strings.Contains(svg, ">others  47%<") || !strings.Contains(svg, ">others  21%<") {
		t.Error("of many nodes the rest is not one bar")
	}
}
