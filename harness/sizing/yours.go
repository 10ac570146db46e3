package sizing

import (
	"github.com/ringbench/ringbench/harness"
)

// Own is how the asker's very nodes stand at one value of the knob. It is one
// draw: its curve is not smooth, an extra point can help or harm.
type Own struct {
	Peak       float64 `json:"peak"`
	CV         float64 `json:"cv"`
	Percentile float64 `json:"percentile"` // part of the random names that do better by the target's metric, 0 to 1
	Met        bool    `json:"met"`        // within the target
	Busiest    string  `json:"busiest"`    // name of the busiest node
}

// own judges a placement of the asker's nodes among those of random names.
func (s *solver) own(place *harness.Placement, among *population) (*Own, error) {
	load, err := s.ownLoad(place)
	if err != nil {
		return nil, err
	}
	spread := harness.SpreadOf(load, s.weights)
	m := s.q.Target.Metric
	o := &Own{Peak: spread.Peak, CV: spread.CV, Met: m.of(spread) <= s.q.Target.limit()}
	o.Percentile = among.within(m, m.of(spread))
	o.Busiest = s.nodes[busiest(load, s.fair)].Name
	return o, nil
}

// ownLoad returns what each node has: its share of the hash space, or of the
// requests where the asker's keys are known by name.
func (s *solver) ownLoad(place *harness.Placement) ([]float64, error) {
	shares, ok := place.Shares()
	if !ok {
		return nil, errNoShares(s.q.Info.Name)
	}
	if s.q.Keys == nil || s.q.Keys.Each == nil {
		return shares, nil
	}
	load := make([]float64, len(shares))
	hash := s.q.Hash.OfKeys(place.Mapper)
	for key, part := range s.q.Keys.Each {
		if i := place.NodeOf(place.Mapper.Lookup(hash(key))); i >= 0 {
			load[i] += part
		}
	}
	return load, nil
}

func busiest(load, fair []float64) int {
	best := 0
	for i := range load {
		if load[i]/fair[i] > load[best]/fair[best] {
			best = i
		}
	}
	return best
}

// Yours is what there is to say of the asker's very nodes at the value of the
// knob that the answer is about.
type Yours struct {
	VNodes   int      `json:"vnodes"`
	Busiest  string   `json:"busiest"`
	Share    float64  `json:"share"` // of the busiest
	Fair     float64  `json:"fair"`  // what it should have
	Nothing  []string `json:"own_nothing"`
	Deaths   int      `json:"deaths"`   // nodes whose death was played, each by itself
	Survived int      `json:"survived"` // deaths after which no second node dies
	Fatal    []string `json:"fatal"`    // the nodes whose death takes others along
	Healthy  bool     `json:"healthy"`  // no node is above its capacity to begin with
}

// yours looks at the asker's nodes.
func (s *solver) yours(v int) (*Yours, error) {
	place, err := harness.NewPlacement(s.q.Info, s.nodes, s.with(v))
	if err != nil {
		return nil, err
	}
	shares, ok := place.Shares()
	if !ok {
		return nil, errNoShares(s.q.Info.Name)
	}
	load, err := s.ownLoad(place)
	if err != nil {
		return nil, err
	}
	b := busiest(load, s.fair)
	y := &Yours{VNodes: v, Busiest: s.nodes[b].Name, Share: load[b], Fair: s.fair[b], Nothing: []string{}, Fatal: []string{}, Healthy: true}
	for _, n := range s.q.Nodes {
		if n.Weight == 0 {
			y.Nothing = append(y.Nothing, n.Name)
		}
	}
	capacity := make([]float64, len(s.fair))
	for i, fair := range s.fair {
		if shares[i] == 0 {
			y.Nothing = append(y.Nothing, s.nodes[i].Name)
		}
		capacity[i] = (1 + s.q.Headroom) * fair
	}
	y.Healthy = !anyOverloaded(shares, capacity)
	if cells, ok := place.Cells(); ok && s.counts(v) != nil && !s.q.Info.Shared && y.Healthy {
		c := circleOf(cells, len(s.nodes))
		for i := range s.nodes {
			y.Deaths++
			if c.lost(i, capacity) == 1 {
				y.Survived++
			} else {
				y.Fatal = append(y.Fatal, s.nodes[i].Name)
			}
		}
	}
	return y, nil
}

// circleOf reads the points of a ring from its cells; the last cell, which
// belongs to the first point, becomes a point of its own.
func circleOf(cells harness.Cells, nodes int) *circle {
	arc := make([]float64, len(cells.Last))
	prev := ^uint64(0)
	for k, last := range cells.Last {
		arc[k] = float64(last-prev) * 0x1p-64
		prev = last
	}
	return newCircle(cells.Node, arc, nodes)
}
