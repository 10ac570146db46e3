package plots

import (
	"bytes"
	"strings"
	"testing"
)

func TestChoiceShowsTargetBandAndOwnNodes(t *testing.T) {
	c := Choice{
		Algorithm: "ring", Knob: "vnodes", Nodes: 12, Target: 1.15, Confidence: 0.95, Chosen: 304,
		Points: []ChoicePoint{{16, 1.4, 1.2, 1.7, 1.5}, {160, 1.13, 1.07, 1.21, 1.1}, {304, 1.09, 1.05, 1.15, 1.12}},
	}
	draw := func() string {
		var b bytes.Buffer
		if err := c.Figure().Draw(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	svg := draw()
	for _, want := range []string{"How many vnodes for 12 nodes", "From 304 on, 95% of the clusters", ">your target<", ">typical<", ">95% of clusters<", ">your nodes<", "+10%"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	c.Chosen, c.Spread, c.Target = 0, true, 0.1
	for i := range c.Points {
		c.Points[i] = ChoicePoint{Knob: c.Points[i].Knob, Typical: 0.2, Low: 0.1, High: 0.3}
	}
	svg = draw()
	if strings.Contains(svg, ">your nodes<") || !strings.Contains(svg, "No value meets the target") || !strings.Contains(svg, "stddev / mean") {
		t.Error("the figure of a spread that no value keeps tells of nodes or of a value")
	}
}
