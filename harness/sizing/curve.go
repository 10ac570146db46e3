package sizing

import (
	"slices"

	"github.com/ringbench/ringbench/harness"
)

// A CurvePoint is the target's metric at one value of the knob.
type CurvePoint struct {
	VNodes             int
	Typical, Low, High float64 // median, 5%, and the confidence asked for
	Yours              float64 // of the asker's own nodes; 0 where there are none
}

// Curve returns the metric over a range of the knob around the answer, for a
// figure.
func Curve(q Question, a *Answer) ([]CurvePoint, error) {
	if a.Trivial {
		return nil, nil
	}
	s, err := newSolver(&q)
	if err != nil {
		return nil, err
	}
	s.names = a.Measured != nil && a.Measured.Parts
	at := a.VNodes
	if at == 0 {
		at = s.anchor(a)
	}
	vs := []int{at}
	for _, v := range steps {
		if v*100 >= at && v <= 4*at && v <= s.most {
			vs = append(vs, v)
		}
	}
	slices.Sort(vs)
	m := q.Target.Metric
	var curve []CurvePoint
	for _, v := range slices.Compact(vs) {
		p, err := s.population(v)
		if err != nil {
			return nil, err
		}
		point := CurvePoint{VNodes: v, Typical: s.scaled(p.quantile(m, 0.5)), Low: s.scaled(p.quantile(m, 0.05)), High: s.scaled(p.quantile(m, q.Confidence))}
		if q.Yours {
			place, err := harness.NewPlacement(q.Info, s.nodes, s.with(v))
			if err != nil {
				return nil, err
			}
			own, err := s.own(place, p)
			if err != nil {
				return nil, err
			}
			point.Yours = own.Peak
			if m == CV {
				point.Yours = own.CV
			}
		}
		curve = append(curve, point)
	}
	return curve, nil
}
