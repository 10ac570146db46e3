package plots

import (
	"bytes"
	"strings"
	"testing"
)

func TestARingNamesItsNodes(t *testing.T) {
	r := Ring{
		Algorithm: "ring", Names: []string{"a", "b"}, Weights: []float64{1, 1}, VNodes: 2,
		Ends: []float64{0.1, 0.5, 0.7, 0.9, 1}, Owners: []int{0, 1, 0, 1, 0},
	}
	text := func() string {
		var b bytes.Buffer
		if err := r.Figure().Draw(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	svg := text()
	for _, want := range []string{"2 vnodes a node", "The busiest, b, owns 1.20 times its fair share", ">a<", ">40%<", ">60%<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	r.VNodes, r.Weights = 0, []float64{2, 1}
	if svg = text(); strings.Contains(svg, "vnodes a node") || !strings.Contains(svg, "owns 1.80 times") {
		t.Error("of unequal nodes it tells one number of vnodes, or judges them as equal")
	}
	for i := range 30 {
		r.Names, r.Weights = append(r.Names, strings.Repeat("x", i+1)), append(r.Weights, 1)
	}
	if svg = text(); !strings.Contains(svg, ">12 more nodes<") || !strings.Contains(svg, "Colours come again") {
		t.Error("of many nodes it does not say that some have no name")
	}
}
