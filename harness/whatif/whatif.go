// Package whatif answers one question: what happens to *my* cluster when these
// nodes join, leave or change their weight? It builds the algorithm over the nodes
// before and after and compares the two.
//
// It stands beside the runs of the harness and uses their pieces. Where the
// algorithm lists its cells, shares, movement and disagreement are exact. Where it
// does not, they are counted over keys, and the answer says so, with its error.
// What requests, misses and replicas do is worked out over keys for every
// algorithm. The same question has the same answer on every machine.
package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// A Change is a node that joins or leaves, or gets another weight.
type Change struct {
	Op   workloads.Op    // AddNode, RemoveNode or SetWeight
	Node algorithms.Node // of one that leaves the name alone counts
}

// String returns the change as it is asked for, "--add NAME=2".
func (c Change) String() string {
	text := "--" + c.Op.String() + " " + c.Node.Name
	if c.Op == workloads.SetWeight || c.Op == workloads.AddNode && c.Node.Weight != 1 {
		text += "=" + fmt.Sprint(c.Node.Weight)
	}
	return text
}

// A Question is what is asked.
type Question struct {
	Info       algorithms.Info
	Params     json.RawMessage
	Nodes      []algorithms.Node
	Hash       keyhash.Hash // of the keys, where the algorithm has none of its own
	Changes    []Change     // that happen together, in this order; may be none with Worst
	Headroom   float64      // capacity is 1+Headroom times a node's fair share before the change
	Replicas   int          // nodes that hold a key
	Keys       workloads.KeySet
	Popularity *workloads.Popularity // of the keys; nil when it is not asked about
	Rate       float64               // requests a second, for the misses of a cache; 0 for none
	Worst      bool                  // look for the worst failure of a single node, after the changes
}

// An Answer is what there is to say. Its JSON is the output of the command. What
// does not apply is null.
type Answer struct {
	Algorithm string          `json:"algorithm"`
	Params    json.RawMessage `json:"params"`
	Changes   []string        `json:"changes"`
	Exact     bool            `json:"exact"`        // the movement is exact, not counted over keys
	Sampled   int             `json:"sampled_keys"` // that movement, or shares too, are counted over; 0 where all is exact
	Bounded   bool            `json:"bounded"`      // the algorithm bounds the load; this is about first choices

	Before Standing `json:"before"`
	After  Standing `json:"after"`

	Moved        float64  `json:"moved_fraction"`
	MovedError   *float64 `json:"moved_standard_error"` // of a sampled one
	Minimum      float64  `json:"moved_minimum"`
	Disruption   float64  `json:"disruption"`
	Collateral   float64  `json:"collateral_fraction"`
	Failover     *float64 `json:"failover_peak"` // largest part of a leaver's share that one node takes
	Heir         string   `json:"failover_node,omitempty"`
	Ranges       *int     `json:"ranges_moved"`
	Peers        int      `json:"peers"`             // nodes that give or take
	Disagreement float64  `json:"view_disagreement"` // of two clients of which one knows of the change
	Flows        []Flow   `json:"flows"`

	Requests *Requests `json:"requests"`
	Misses   *Misses   `json:"misses"`
	Cascade  Cascade   `json:"cascade"`
	Replicas *Replicas `json:"replicas"`
	Worst    *Worst    `json:"worst_failure"`
	PerNode  []Node    `json:"per_node"`
}

// A Standing is how even the shares are at one moment.
type Standing struct {
	Nodes   int     `json:"nodes"`
	Busiest string  `json:"busiest"`
	Peak    float64 `json:"peak_to_average"`
	CV      float64 `json:"cv"`
}

// A Flow is the share of the keys that goes from one node to another.
type Flow struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Share  float64 `json:"share"`
	Ranges *int    `json:"ranges"`
}

// Requests tells of the requests by the popularity of the keys.
type Requests struct {
	Popularity    string  `json:"popularity"`
	Keys          int     `json:"keys"`
	Moved         float64 `json:"moved_load_fraction"`
	BusiestBefore string  `json:"busiest_before"`
	BusiestAfter  string  `json:"busiest_after"`
	PeakBefore    float64 `json:"load_peak_before"`
	PeakAfter     float64 `json:"load_peak_after"`
}

// Misses tells what a cache of which every node had all its keys sends to the
// origin after the change, when nothing expires.
type Misses struct {
	Rate    float64   `json:"requests_per_second"`
	Peak    float64   `json:"miss_peak"` // a second, right after the change
	Total   float64   `json:"miss_total"`
	Seconds []float64 `json:"seconds"` // after the change
	Each    []float64 `json:"misses_per_second"`
}

// A Cascade plays overload out: a node above its capacity dies, what it had falls
// to the others by the algorithm, and so on until all that live can bear what they
// have.
type Cascade struct {
	Headroom  float64  `json:"headroom"`
	Already   []string `json:"overloaded_before"` // nodes above their capacity before the change
	Overloads []string `json:"overloaded_after"`
	Lost      []string `json:"lost"` // nodes that are dead in the end
	All       bool     `json:"loses_all"`
}

// Replicas tells what the change does to the replicas of the keys.
type Replicas struct {
	Replicas      int      `json:"replicas"`
	Keys          int      `json:"keys"` // that it is counted over
	Moved         float64  `json:"replica_moved_fraction"`
	Exposure      float64  `json:"quorum_exposure"` // part of the keys without a majority while the leavers are gone and nothing is copied yet
	ExposureError float64  `json:"quorum_exposure_standard_error"`
	SetsBefore    *float64 `json:"exposed_sets_before"` // part of the sets of as many nodes as a majority whose loss takes some key its majority
	SetsAfter     *float64 `json:"exposed_sets_after"`
	MajoritySize  int      `json:"majority"`
}

// Worst is the failure of a single node that does most harm: that takes most
// others along or, of those, leaves the busiest survivor.
type Worst struct {
	Node    string  `json:"node"`
	Share   float64 `json:"share"`           // that it had
	Peak    float64 `json:"peak_to_average"` // of the busiest survivor, by the shares due to the survivors
	Busiest string  `json:"busiest"`
	Load    float64 `json:"load"` // of the same survivor, as a multiple of what was its fair share before the failure
	Lost    int     `json:"lost"` // nodes that are dead in the end, itself included
	Fatal   int     `json:"fatal_failures"`
	Nodes   int     `json:"nodes"`        // whose failure was played, each by itself
	Sampled int     `json:"sampled_keys"` // that it is counted over; 0 where it is exact
}

// A Node is one row of the table of nodes: what it has before and after.
type Node struct {
	Node         string  `json:"node"`
	WeightBefore float64 `json:"weight_before"`
	WeightAfter  float64 `json:"weight_after"`
	ShareBefore  float64 `json:"share_before"`
	ShareAfter   float64 `json:"share_after"`
}

// check refuses a question that has no answer.
func (q *Question) check() error {
	if err := algorithms.Validate(q.Nodes); err != nil {
		return err
	}
	if len(q.Changes) == 0 && !q.Worst {
		return errors.New("what is to change? give --add NAME[=WEIGHT], --remove NAME or --reweight NAME=WEIGHT, or --worst for the worst failure")
	}
	if err := harness.CheckShares(q.Nodes); err != nil {
		return err
	}
	weights := map[string]float64{}
	var names []string
	for _, n := range q.Nodes {
		weights[n.Name] = n.Weight
		names = append(names, n.Name)
	}
	named := map[string]bool{}
	for _, c := range q.Changes {
		_, member := weights[c.Node.Name]
		switch {
		case named[c.Node.Name]:
			return fmt.Errorf("%s: node %q is in two changes, keep one", c, c.Node.Name)
		case c.Op == workloads.AddNode && member:
			return fmt.Errorf("%s: it is a member already, --reweight %s=W changes its weight", c, c.Node.Name)
		case c.Op != workloads.AddNode && !member:
			return fmt.Errorf("%s: no node %q, %s", c, c.Node.Name, algorithms.Nearest(c.Node.Name, names))
		}
		named[c.Node.Name] = true
		weights[c.Node.Name] = c.Node.Weight
		if c.Op == workloads.RemoveNode {
			delete(weights, c.Node.Name)
		}
	}
	able := 0
	for _, w := range weights {
		if w > 0 {
			able++
		}
	}
	switch {
	case able == 0:
		return errors.New("no node that takes keys would be left, keep one")
	case q.Worst && able < 2:
		return errors.New("--worst: one node takes all keys, and nothing is left when it fails")
	case q.Replicas < 1:
		return fmt.Errorf("--replicas %d, want 1 or more", q.Replicas)
	case q.Replicas > able:
		return fmt.Errorf("--replicas %d over %d nodes that take keys, name more nodes or ask for fewer replicas", q.Replicas, able)
	case !(q.Headroom >= 0) || math.IsInf(q.Headroom, 0):
		return fmt.Errorf("a headroom of %v, it must be 0 or more, such as 25%%", q.Headroom)
	case !(q.Rate >= 0) || math.IsInf(q.Rate, 0):
		return fmt.Errorf("--rate %v, it must be a number of requests a second", q.Rate)
	}
	after := q.members()
	if err := algorithms.Validate(after); err != nil {
		return fmt.Errorf("after the change: %w", err)
	}
	if err := harness.CheckShares(after); err != nil {
		return fmt.Errorf("after the change: %w", err)
	}
	return nil
}

// members returns the nodes that there are after the changes.
func (q *Question) members() []algorithms.Node {
	nodes := slices.Clone(q.Nodes)
	for _, c := range q.Changes {
		i := slices.IndexFunc(nodes, func(n algorithms.Node) bool { return n.Name == c.Node.Name })
		switch c.Op {
		case workloads.AddNode:
			nodes = append(nodes, c.Node)
		case workloads.RemoveNode:
			nodes = slices.Delete(nodes, i, i+1)
		default:
			nodes[i].Weight = c.Node.Weight
		}
	}
	return nodes
}

// Ask answers the question. An error is the asker's: changes that the nodes or the
// algorithm do not allow. It takes a lookup or two for each key, and with Worst a
// bounded number for each node.
func Ask(q Question) (*Answer, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	s := &solver{q: &q}
	var err error
	if s.before, err = harness.NewPlacement(q.Info, q.Nodes, q.Params); err != nil {
		return nil, err
	}
	if s.after, err = s.changed(); err != nil {
		return nil, err
	}
	a := &Answer{Algorithm: q.Info.Name, Params: s.before.Params, Changes: []string{}, Flows: []Flow{}}
	_, a.Bounded = s.before.Mapper.(algorithms.Assigner)
	for _, c := range q.Changes {
		a.Changes = append(a.Changes, c.String())
	}
	if err := s.movement(a); err != nil {
		return nil, err
	}
	s.requests(a)
	if err := s.replicas(a); err != nil {
		return nil, err
	}
	if err := s.cascade(a); err != nil {
		return nil, err
	}
	if q.Worst {
		if a.Worst, err = s.worst(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// A solver is a question under work.
type solver struct {
	q             *Question
	before, after *harness.Placement
	exact         bool // movement is
	told          bool // shares are exact

	was, is []int32 // owner of each key by node index, once looked up
	hashes  []uint64
	held    [2][]float64 // what the nodes have, before and after, by node index
}

// changed returns the placement with the changes carried out.
func (s *solver) changed() (*harness.Placement, error) {
	p, err := harness.NewPlacement(s.q.Info, s.q.Nodes, s.q.Params)
	if err != nil {
		return nil, err
	}
	for _, c := range s.q.Changes {
		switch c.Op {
		case workloads.AddNode:
			err = p.Apply(workloads.Change{Op: workloads.AddNode, Node: p.Announce(c.Node)})
		case workloads.RemoveNode:
			err = p.Apply(workloads.Change{Op: workloads.RemoveNode, Node: s.index(c.Node.Name)})
		default:
			err = p.SetWeight(s.index(c.Node.Name), c.Node.Weight)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	return p, nil
}

func (s *solver) index(name string) int {
	return slices.IndexFunc(s.q.Nodes, func(n algorithms.Node) bool { return n.Name == name })
}

// owners looks the owner of each of the first keys up, by node index.
func (s *solver) owners(p *harness.Placement, keys int) []int32 {
	owners := make([]int32, keys)
	if m, ok := p.Mapper.(algorithms.KeyMapper); ok {
		for rank := range owners {
			owners[rank] = int32(p.NodeOf(m.LookupKey(s.q.Keys.Key(rank))))
		}
		return owners
	}
	if s.hashes == nil {
		s.hashes = workloads.Hashes(s.q.Keys, s.q.Hash.For(p.Mapper).Sum)
	}
	p.Owners(s.hashes[:keys], owners)
	return owners
}

// look looks the owners of all keys up, before and after.
func (s *solver) look() {
	if s.was == nil {
		s.was, s.is = s.owners(s.before, s.q.Keys.Len()), s.owners(s.after, s.q.Keys.Len())
	}
}

// viewOf returns what movement needs to know of a placement.
func viewOf(p *harness.Placement, owners []int32) harness.View {
	weights, total := p.Weights()
	return harness.View{Owners: owners, Weights: weights, Total: total}
}

// movement compares the two placements.
func (s *solver) movement(a *Answer) error {
	fresh, err := s.after.Clone() // as a client has it that starts after the change
	if err != nil {
		return err
	}
	var flows []harness.Flow
	old, oldOK := s.before.Cells()
	now, nowOK := s.after.Cells()
	if s.exact = oldOK && nowOK && old.Space == now.Space; s.exact {
		flows = harness.Flows(old, now)
		if other, _ := fresh.Cells(); other.Space == old.Space {
			for _, f := range harness.Flows(old, other) {
				a.Disagreement += f.Share
			}
		}
	} else {
		s.look()
		a.Sampled = len(s.was)
		flows = harness.KeyFlows(s.was, s.is)
		for rank, node := range s.owners(fresh, len(s.was)) {
			if node != s.was[rank] {
				a.Disagreement++
			}
		}
		a.Disagreement /= float64(len(s.was))
	}
	if s.held[0], s.told = s.before.Shares(); s.told {
		s.held[1], s.told = s.after.Shares()
	}
	if !s.told {
		s.look()
		a.Sampled = len(s.was)
		s.held[0] = parts(s.was, len(s.after.Nodes))
		s.held[1] = parts(s.is, len(s.after.Nodes))
	}
	s.held[0] = append(s.held[0], make([]float64, len(s.after.Nodes)-len(s.held[0]))...)
	a.Exact = s.exact
	was, is := viewOf(s.before, nil), viewOf(s.after, nil)
	m := harness.MovedCells(flows, was, is)
	a.Moved, a.Minimum, a.Disruption, a.Collateral = m.Moved, m.Minimum, m.Disruption(), m.Collateral
	if !s.exact {
		e := math.Sqrt(m.Moved * (1 - m.Moved) / float64(a.Sampled))
		a.MovedError = &e
	} else {
		ranges := harness.Ranges(flows)
		a.Ranges = &ranges
	}
	s.heir(a, flows, is)
	peers := map[int]bool{}
	slices.SortStableFunc(flows, func(x, y harness.Flow) int {
		switch {
		case x.Share > y.Share:
			return -1
		case x.Share < y.Share:
			return 1
		}
		return 0
	})
	for _, f := range flows {
		peers[f.From], peers[f.To] = true, true
		flow := Flow{From: s.name(f.From), To: s.name(f.To), Share: f.Share}
		if s.exact {
			flow.Ranges = &f.Ranges
		}
		a.Flows = append(a.Flows, flow)
	}
	a.Peers = len(peers)
	a.Before = s.standing(s.held[0], was.Weights)
	a.After = s.standing(s.held[1], is.Weights)
	for i, n := range s.after.Nodes {
		row := Node{Node: n.Name, WeightAfter: is.Weights[i], ShareBefore: s.held[0][i], ShareAfter: s.held[1][i]}
		if i < len(was.Weights) {
			row.WeightBefore = was.Weights[i]
		}
		a.PerNode = append(a.PerNode, row)
	}
	return nil
}

// heir finds the node that takes the largest part of what a node leaves.
func (s *solver) heir(a *Answer, flows []harness.Flow, is harness.View) {
	left := map[int]float64{}
	for _, f := range flows {
		if f.From >= 0 && is.Weights[f.From] == 0 {
			left[f.From] += f.Share
		}
	}
	for _, f := range flows {
		if all := left[f.From]; all > 0 && (a.Failover == nil || f.Share/all > *a.Failover) {
			part := f.Share / all
			a.Failover, a.Heir = &part, s.name(f.To)
		}
	}
}

func (s *solver) name(i int) string {
	if i < 0 {
		return ""
	}
	return s.after.Nodes[i].Name
}

// parts returns the part of the keys that each node owns.
func parts(owners []int32, nodes int) []float64 {
	p := make([]float64, nodes)
	for _, o := range owners {
		if o >= 0 {
			p[o]++
		}
	}
	for i := range p {
		p[i] /= float64(len(owners))
	}
	return p
}

// standing judges what the nodes have.
func (s *solver) standing(amounts, weights []float64) Standing {
	spread := harness.SpreadOf(amounts, weights)
	st := Standing{Peak: spread.Peak, CV: spread.CV, Busiest: s.name(busiest(amounts, weights))}
	for _, w := range weights {
		if w > 0 {
			st.Nodes++
		}
	}
	return st
}

// busiest returns the node that has most by its weight, -1 for none.
func busiest(amounts, weights []float64) int {
	best := -1
	for i, w := range weights {
		if w > 0 && (best < 0 || amounts[i]/w > amounts[best]/weights[best]) {
			best = i
		}
	}
	return best
}

// requests works out the requests and the misses.
func (s *solver) requests(a *Answer) {
	p := s.q.Popularity
	if p == nil {
		return
	}
	s.look()
	was, is := viewOf(s.before, s.was), viewOf(s.after, s.is)
	moved := harness.Moved(was, is, p.P)
	loads := [2][]float64{make([]float64, len(s.after.Nodes)), make([]float64, len(s.after.Nodes))}
	for rank := range s.was {
		for k, owner := range [2]int32{s.was[rank], s.is[rank]} {
			if owner >= 0 {
				loads[k][owner] += p.P(rank)
			}
		}
	}
	then, now := s.standing(loads[0], was.Weights), s.standing(loads[1], is.Weights)
	a.Requests = &Requests{
		Popularity: p.Name(), Keys: len(s.was), Moved: moved.MovedLoad,
		BusiestBefore: then.Busiest, PeakBefore: then.Peak, BusiestAfter: now.Busiest, PeakAfter: now.Peak,
	}
	if s.q.Rate == 0 {
		return
	}
	rates, total := harness.MissRates(p, s.q.Rate, func(rank int) bool { return s.was[rank] != s.is[rank] })
	a.Misses = &Misses{Rate: s.q.Rate, Peak: rates[0], Total: total, Seconds: harness.MissSeconds, Each: rates}
}
