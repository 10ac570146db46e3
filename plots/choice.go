package plots

import (
	"fmt"
	"math"
)

// A Choice is the figure behind a recommended number of vnodes, or the value of
// another knob. It is the one figure that is drawn from an answer instead of
// records.
type Choice struct {
	Algorithm  string
	Knob       string // name of the parameter on the horizontal axis
	Nodes      int
	Spread     bool    // the metric is stddev/mean, not the busiest node
	Target     float64 // in the metric
	Confidence float64 // of the upper line
	Chosen     float64 // the recommended value; 0 for none
	Points     []ChoicePoint
}

// A ChoicePoint is the metric over many clusters at one value of the knob.
type ChoicePoint struct {
	Knob               float64
	Typical, Low, High float64 // High is met with the confidence
	Own                float64 // of the asker's own nodes, 0 for none
}

// Figure makes the figure.
func (ch Choice) Figure() Figure {
	height := func(v float64) float64 { return v - 1 }
	unit, name := "busiest node, above its fair share", excess
	if ch.Spread {
		height = func(v float64) float64 { return v }
		unit, name = "stddev / mean of the nodes' shares", percent
	}
	typical := line{name: "typical", look: lookOf(ch.Algorithm, 0)}
	high := line{name: trimmed(100*ch.Confidence, 4) + "% of clusters", look: look{color: typical.look.color, dash: dashed}, thin: true}
	own := line{name: "your nodes", look: look{color: red, dash: solid, marker: diamond}}
	from, to := math.Inf(1), 0.0
	for _, p := range ch.Points {
		y, lo, hi := height(p.Typical), height(p.Low), height(p.High)
		typical.points = append(typical.points, point{p.Knob, y, lo, hi})
		high.points = append(high.points, point{p.Knob, hi, hi, hi})
		if p.Own > 0 {
			y := height(p.Own)
			own.points = append(own.points, point{p.Knob, y, y, y})
		}
		from, to = min(from, p.Knob), max(to, p.Knob)
	}
	limit := height(ch.Target)
	target := line{name: "your target", look: look{color: ink, dash: dotted}, thin: true, inside: true,
		points: []point{{from, limit, limit, limit}, {to, limit, limit, limit}}}
	lines := []line{typical, high, target}
	if len(own.points) > 0 {
		lines = append(lines, own)
	}
	axes := chart{xName: clean(ch.Knob) + " per node", unit: unit, columns: 1, lines: lines,
		x: logScale(abscissas(lines), count), y: logScale(values(lines), name)}
	f := panelFigure([]*panel{axes.panel()}, 1, nil)
	f.Name = "choice"
	f.Title = fmt.Sprintf("How many %s for %s", clean(ch.Knob), plural(ch.Nodes, "node"))
	f.Caption = "No value meets the target."
	if ch.Chosen > 0 {
		f.Caption = fmt.Sprintf("From %s on, %s%% of the clusters keep the target.", count(ch.Chosen), trimmed(100*ch.Confidence, 4))
	}
	f.footer = "exact shares over random names"
	return f
}
