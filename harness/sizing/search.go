package sizing

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// recommend finds the smallest value of the knob that meets the target, or the
// reason why none does.
func (s *solver) recommend(a *Answer) error {
	if s.q.Keys != nil {
		if a.Why = s.keysForbid(); a.Why != "" {
			return nil
		}
	}
	if s.counts(1) == nil {
		return s.recommendMeasured(a)
	}
	v, met, err := s.byModel()
	if err != nil {
		return err
	}
	a.Model = &Model{VNodes: v, Met: met}
	if v == 0 {
		return s.beyond()
	}
	n := s.placements(v)
	p, err := s.measured(v, n)
	if err != nil {
		return err
	}
	a.Measured = s.measuredAt(v, n, p)
	a.Measured.Parts = apart(a.Measured.Met, met, n)
	if !a.Measured.Parts {
		a.VNodes = v
		return nil
	}
	s.names = true
	return s.byNames(a, v)
}

// measuredAt says what n placements of the algorithm itself did.
func (s *solver) measuredAt(v, n int, p *population) *Measured {
	m := s.q.Target.Metric
	median := s.scaled(p.quantile(m, 0.5))
	return &Measured{VNodes: v, Placements: n, Met: p.within(m, s.q.Target.limit()), P50: median, Tried: v, TriedP50: median}
}

// apart says whether a part of n placements differs from the chance by more
// than luck would have it once in 1,000 times.
func apart(part, chance float64, n int) bool {
	return math.Abs(part-chance) > 3.29*math.Sqrt(chance*(1-chance)/float64(n))+0.5/float64(n)
}

// beyond says that no value of the knob that fits into memory is enough.
func (s *solver) beyond() error {
	metric := "peak"
	if s.q.Target.Metric == CV {
		metric = "cv"
	}
	if s.most == limitOfKnob {
		return fmt.Errorf("a target %s of %v over %d nodes needs more than %d %s, ask for less", metric, s.q.Target.Value, len(s.nodes), s.most, s.q.Info.Knob)
	}
	return fmt.Errorf("a target %s of %v over %d nodes needs more than the %d %s that fit into the %s of --max-memory, ask for less or allow more",
		metric, s.q.Target.Value, len(s.nodes), s.most, s.q.Info.Knob, Bytes(s.q.MaxMemory))
}

// byModel returns the smallest value of the knob that meets the target under the
// model, with the chance that it does; 0 when none that fits into memory does.
func (s *solver) byModel() (v int, met float64, err error) {
	if s.q.Target.Metric == Peak && s.q.Keys == nil {
		return s.byBeta()
	}
	var at *population
	v, err = s.bySimulation(s.most, 200, func(v int) (*population, error) {
		var err error
		at, err = s.modelled(s.counts(v), s.draws())
		return at, err
	})
	if v == 0 || err != nil {
		return 0, 0, err
	}
	if at, err = s.modelled(s.counts(v), s.draws()); err != nil {
		return 0, 0, err
	}
	return v, at.within(s.q.Target.Metric, s.q.Target.limit()), nil
}

// sureOfBeta is the confidence from which on the product of the nodes' own
// chances needs no correction: its error is below a thousandth there.
const sureOfBeta = 0.9

// byBeta solves for the target by the product of the nodes' own chances. Below
// sureOfBeta it learns from simulation how far the product is off, which hardly
// depends on the knob.
func (s *solver) byBeta() (v int, met float64, err error) {
	off := 0.0
	solve := func() (int, error) {
		return s.settled(func(v int) bool { return s.chance(v) >= s.q.Confidence+off })
	}
	if v, err = solve(); v == 0 || err != nil {
		return 0, 0, err
	}
	if s.q.Confidence < sureOfBeta {
		p, err := s.modelled(s.counts(v), mostDraws)
		if err != nil {
			return 0, 0, err
		}
		off = s.chance(v) - p.within(Peak, s.q.Target.limit())
		if v, err = solve(); v == 0 || err != nil {
			return 0, 0, err
		}
	}
	return v, s.chance(v) - off, nil
}

// settled returns the smallest value of the knob from which on met holds. Where
// the points of a node are rounded, met may hold, fail and hold again; it then
// looks beyond the first value for failures that are still to come.
func (s *solver) settled(met func(v int) bool) (int, error) {
	v, err := smallest(1, s.most, func(v int) (bool, error) { return met(v), nil })
	if v == 0 || err != nil || s.wholeWeights() {
		return v, err
	}
	const ahead = 100
	for look := v + 1; look <= min(v+ahead, s.most); look++ {
		if !met(look) {
			v = look + 1
		}
	}
	for v > 1 && met(v-1) {
		v--
	}
	if v > s.most {
		return 0, nil
	}
	return v, nil
}

// wholeWeights says whether no node's points are rounded.
func (s *solver) wholeWeights() bool {
	for _, w := range s.weights {
		if w != math.Trunc(w) {
			return false
		}
	}
	return true
}

// chance returns the chance that no node is above the target under the model,
// taking the nodes as if each were alone: a node with p of all P points has a
// share of the Beta distribution with the parameters p and P-p. The shares hinder
// each other from being large together, so the true chance is a little smaller:
// by less than a thousandth where it is 0.95.
func (s *solver) chance(v int) float64 {
	counts := s.counts(v)
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	type kind struct {
		count int
		fair  float64
	}
	kinds := map[kind]int{}
	var order []kind
	for i, n := range counts {
		k := kind{n, s.fair[i]}
		if kinds[k] == 0 {
			order = append(order, k)
		}
		kinds[k]++
	}
	log := 0.0
	for _, k := range order {
		limit := s.q.Target.Value * k.fair
		if limit >= 1 {
			continue
		}
		above := mathext.RegIncBeta(total-float64(k.count), float64(k.count), 1-limit)
		log += float64(kinds[k]) * math.Log1p(-min(above, 1))
	}
	return math.Exp(log)
}

// bySimulation returns the smallest value of the knob up to most that meets the
// target in the populations that at draws, to within one part in fine; 0 when most
// does not. The excess falls as a power of the knob, about the square root, so
// that a straight line through the logarithms leads to the answer in a few steps.
func (s *solver) bySimulation(most, fine int, at func(v int) (*population, error)) (int, error) {
	limit := s.q.Target.limit()
	excess := func(v int) (float64, error) {
		p, err := at(v)
		if err != nil {
			return 0, err
		}
		return p.quantile(s.q.Target.Metric, s.q.Confidence) / limit, nil
	}
	n := float64(len(s.nodes))
	v := int(min(max((n-1)/n/square(limit), 1), float64(most)))
	var low, high struct {
		v int
		f float64
	}
	for range 40 {
		f, err := excess(v)
		if err != nil {
			return 0, err
		}
		if f <= 1 {
			high.v, high.f = v, f
		} else {
			low.v, low.f = v, f
			if v == most {
				return 0, nil
			}
		}
		switch {
		case high.v == 0:
			v = int(min(float64(v)*min(max(square(f), 1.3), 16), float64(most)))
			v = max(v, low.v+1)
		case high.v-low.v <= max(1, high.v/fine):
			return high.v, nil
		case low.v == 0:
			v = max(min(int(float64(v)*square(max(f, 0.05))), high.v-1), 1)
		default:
			slope := math.Log(high.f/low.f) / math.Log(float64(high.v)/float64(low.v))
			v = int(float64(low.v) * math.Exp(-math.Log(low.f)/slope))
			// Near an end the line says little: step in by half of the tolerance.
			v = min(max(v, low.v+1+low.v/fine/2), high.v-1-high.v/fine/2)
			v = min(max(v, low.v+1), high.v-1)
		}
	}
	return high.v, nil
}

// byNames finds the value by asking the algorithm itself, from one where it did
// not do what the model says. It gives up at a value so high that what is not
// reached by then is not worth it.
func (s *solver) byNames(a *Answer, from int) error {
	const (
		wide = 16 // times the model's value
		few  = 10 // parts of the usual number of points, for each value that is tried
	)
	most := max(from, min(s.most, wide*from, pointBudget/leastPlacements/len(s.nodes)))
	v, err := s.bySimulation(most, 20, func(v int) (*population, error) {
		p, err := s.measured(v, max(leastPlacements, s.placements(v)/few))
		if err == nil && v >= a.Measured.Tried {
			a.Measured.Tried, a.Measured.TriedP50 = v, s.scaled(p.quantile(s.q.Target.Metric, 0.5))
		}
		return p, err
	})
	if err != nil {
		return err
	}
	if a.VNodes = v; v == 0 {
		a.Why = fmt.Sprintf("with this hash even %d %s do not reach it", a.Measured.Tried, s.q.Info.Knob)
	}
	return nil
}

// recommendMeasured is recommend for an algorithm without a model.
func (s *solver) recommendMeasured(a *Answer) error {
	s.names = true
	most := min(s.most, max(1, int(10*pointBudget/float64(len(s.nodes)*leastPlacements))))
	v, err := 0, error(nil)
	if s.table() {
		v, most, err = s.searchTables()
	} else {
		v, err = s.searchUpTo(most)
	}
	if err != nil {
		return err
	}
	if v == 0 {
		return s.unreached(a, most)
	}
	n := s.placements(v)
	p, err := s.measured(v, n)
	if err != nil {
		return err
	}
	a.VNodes, a.Measured = v, s.measuredAt(v, n, p)
	return nil
}

// searchUpTo asks the algorithm for the smallest value of the knob. It asks as many
// placements as the table tells of, so that the table does not contradict it.
func (s *solver) searchUpTo(most int) (int, error) {
	return s.bySimulation(most, 20, s.population)
}

// searchTables is searchUpTo for the slots of a table. It looks among tables of
// middle size and then among large ones, if at least one placement in the largest
// meets the target. It returns how far it has looked, too.
func (s *solver) searchTables() (v, most int, err error) {
	for _, slots := range []int{pointBudget / leastPlacements, 10 * pointBudget / leastPlacements} {
		most = min(s.most, slots)
		p, err := s.measured(most, 1)
		if err != nil {
			return 0, most, err
		}
		if p.quantile(s.q.Target.Metric, 0) > s.q.Target.limit() {
			continue
		}
		if v, err = s.searchUpTo(most); v == 0 || err != nil {
			return 0, most, err
		}
		v, err = s.steady(v, most)
		return v, most, err
	}
	return 0, most, nil
}

// unreached says that values of the knob up to most were tried in vain.
func (s *solver) unreached(a *Answer, most int) error {
	if most == s.most {
		return s.beyond()
	}
	a.Why = fmt.Sprintf("even %d %s do not reach it", s.step(most), s.q.Info.Knob)
	return nil
}

// steady returns a number of slots from v on that meets the target, and with it
// all those up to twice as many that are looked at. What a table's slots do not
// divide by is shared out unevenly, so that v alone may meet the target by luck,
// which one more node would undo.
func (s *solver) steady(v, most int) (int, error) {
	const looks, few = 16, 5
	for k := 1; k <= looks; k++ {
		ahead := v + v*k/looks
		if ahead > most {
			break
		}
		p, err := s.measured(ahead, few)
		if err != nil {
			return 0, err
		}
		if p.quantile(s.q.Target.Metric, s.q.Confidence) > s.q.Target.limit() {
			v, k = s.step(ahead+1), -1
		}
	}
	return min(v, most), nil
}
