package claims

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// The measures of this file are about where points stand, and what a lookup costs.

// shared is how many points of a ring stand where another does.
func shared(alg string, names []string, p params) measure {
	return measure{
		setup: fmt.Sprintf("%s over %s to %s", cell{alg: alg, params: p, nodes: len(names), measure: "shares"}.text(), names[0], names[len(names)-1]),
		exact: true,
		take: func(l *lab) (estimate, error) {
			place, err := l.place(alg, algorithms.Nodes(names...), p)
			if err != nil {
				return estimate{}, err
			}
			m, ok := place.Mapper.(interface{ PointCollisions() int })
			if !ok {
				return estimate{}, fmt.Errorf("%s does not count its points", alg)
			}
			return known(float64(m.PointCollisions())), nil
		},
	}
}

// labelled is how many of the points of a node do not stand where the hash of its
// labels does.
func labelled(node string, points int, label string, text func(i int) string) measure {
	return measure{
		setup: fmt.Sprintf("ring, node %s with %d points labelled %s: points that are not where the hash of %s to %s is", node, points, label, text(0), text(points-1)),
		exact: true,
		take: func(l *lab) (estimate, error) {
			p, err := l.place("ring", algorithms.Nodes(node), params{"vnodes": points, "label": label})
			if err != nil {
				return estimate{}, err
			}
			m, ok := p.Mapper.(interface {
				Points() iter.Seq2[uint64, algorithms.Bucket]
			})
			if !ok {
				return estimate{}, errors.New("ring does not list its points")
			}
			hash, err := keyhash.ByName(keyhash.Default)
			if err != nil {
				return estimate{}, err
			}
			there := map[uint64]bool{}
			for at := range m.Points() {
				there[at] = true
			}
			missing := 0.0
			for i := range points {
				if !there[hash.Position(text(i))] {
					missing++
				}
			}
			return known(missing), nil
		},
	}
}

// probes is the mean number of steps of a lookup, in the unit of the algorithm.
func (c cluster) probes(keys int) measure {
	return measure{
		setup: fmt.Sprintf("%s, %s keys", c.text(), thousands(keys)),
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			m, ok := p.Mapper.(algorithms.Prober)
			if !ok {
				return estimate{}, fmt.Errorf("%s does not count its steps", c.alg)
			}
			steps := make([]float64, l.draws(keys))
			for i, h := range l.hashes(len(steps), "probes", c.text()) {
				_, n := m.LookupProbes(h)
				steps[i] = float64(n)
			}
			return mean(steps), nil
		},
	}
}
