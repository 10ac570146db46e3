package harness

import (
	"math"
	"slices"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// replicasField names the number of replicas in a cell's name.
const replicasField = "replicas"

// maxReplicas is the most that a spec may ask for.
const maxReplicas = 64

// replicasOf returns the number of replicas in a cell's name.
func replicasOf(cell string) int {
	_, fields := results.ParseCell(cell)
	for _, f := range fields {
		if n, err := strconv.Atoi(f.Value); f.Name == replicasField && err == nil {
			return n
		}
	}
	panic("harness: no replicas in " + cell) // the plan has put them there
}

// A Holding is who holds the replicas of each key, and of whom it might be asked.
type Holding struct {
	Replicas int
	Nodes    []int32   // of the key of rank k, those from Replicas*k on, the owner first
	Weights  []float64 // by node, 0 for those that are not members
	Zones    []string  // by node
}

// of returns the nodes that hold the key.
func (h *Holding) of(rank int) []int32 {
	return h.Nodes[rank*h.Replicas:][:h.Replicas:h.Replicas]
}

// keys returns the number of keys.
func (h *Holding) keys() int { return len(h.Nodes) / h.Replicas }

// baseHolding is holding of the base placement.
func (e *examination) baseHolding(replicas int) (*Holding, error) {
	if e.held == nil || e.held.Replicas != replicas {
		h, err := e.holding(e.base, replicas)
		if err != nil {
			return nil, err
		}
		e.held = h
	}
	return e.held, nil
}

// holding looks up the replicas of every key.
func (e *examination) holding(p *Placement, replicas int) (*Holding, error) {
	several, ok := p.Mapper.(algorithms.Replicator)
	if !ok {
		return nil, algorithms.Unsupported("%s names one node a key", e.sub.info.Name)
	}
	keys := e.pl.keys
	var hash func(rank int) uint64
	switch m := p.Mapper.(type) {
	case algorithms.KeyHasher:
		hash = func(rank int) uint64 { return m.HashKey(keys.set.Key(rank)) }
	case algorithms.KeyMapper:
		return nil, algorithms.Unsupported("%s hashes keys its own way and does not tell how", e.sub.info.Name)
	default:
		hs := keys.hashed(e.sub.hash.For(p.Mapper))
		hash = func(rank int) uint64 { return hs[rank] }
	}
	h := &Holding{Replicas: replicas, Nodes: make([]int32, replicas*keys.set.Len())}
	h.Weights, _ = p.Weights()
	for i := range p.Nodes {
		h.Zones = append(h.Zones, e.sub.zone(i))
	}
	dst := make([]algorithms.Bucket, replicas)
	for rank := range keys.set.Len() {
		if n := several.LookupN(hash(rank), dst); n < replicas {
			return nil, algorithms.Unsupported("%d replicas over %d nodes that take keys", replicas, n)
		}
		for i, b := range dst {
			h.Nodes[rank*replicas+i] = int32(p.NodeOf(b))
		}
	}
	return h, nil
}

// replicas records how evenly the replicas of all keys lie over the nodes, whether
// they keep to the zones, and the loss of how many sets of nodes costs some key
// its majority.
func (e *examination) replicas(tr *results.Trial) error {
	h, err := e.baseHolding(replicasOf(tr.Cell))
	if err != nil {
		return err
	}
	s := SpreadOf(counts(h.Nodes, len(h.Weights)), h.fair())
	tr.Values["replica-balance-cv"] = s.CV
	tr.Values["replica-balance-peak"] = s.Peak
	if h.zoneCount() > 1 {
		tr.Values["replica-zone-violations"] = float64(h.zoneViolations())
	}
	tr.Values["quorum-exposure"] = h.Exposure()
	tr.Check = digestOf(h.Nodes)
	return nil
}

// replicaMovement records what the steps of a schedule do to the replicas, as
// movement does for the owners.
func (e *examination) replicaMovement(tr *results.Trial) error {
	replicas := replicasOf(tr.Cell)
	look := func(p *Placement) (*Holding, error) {
		if p == e.base {
			return e.baseHolding(replicas)
		}
		return e.holding(p, replicas)
	}
	sum := ReplicaMovement{Heir: math.NaN(), OwnerHeir: math.NaN()}
	steps, err := eachStep(e, tr, false, look, func(before, after *Holding) {
		sum.add(MovedReplicas(before, after))
		tr.Check = digestOf(after.Nodes)
	})
	if err != nil {
		return err
	}
	n := float64(steps)
	tr.Values["replica-moved-fraction"] = sum.Moved / n
	tr.Values["replica-moved-minimum"] = sum.Minimum / n
	tr.Values["replica-collateral-fraction"] = sum.Collateral / n
	tr.Values["replica-failover-peak"] = sum.Heir
	tr.Values["failover-peak"] = sum.OwnerHeir
	return nil
}

// zoneCount returns the number of zones that have a node of positive weight.
func (h *Holding) zoneCount() int {
	zones := map[string]bool{}
	for i, w := range h.Weights {
		if w > 0 {
			zones[h.Zones[i]] = true
		}
	}
	return len(zones)
}

// zoneViolations counts the keys that have two replicas in one zone while a zone
// is without any.
func (h *Holding) zoneViolations() int {
	want := min(h.Replicas, h.zoneCount())
	n := 0
	for rank := range h.keys() {
		nodes := h.of(rank)
		zones := 0 // that are met
		for i, b := range nodes {
			if !slices.ContainsFunc(nodes[:i], func(other int32) bool { return h.Zones[other] == h.Zones[b] }) {
				zones++
			}
		}
		if zones < want {
			n++
		}
	}
	return n
}

// Exposure returns the part of the sets of nodes, as large as a majority of the
// replicas, whose loss takes some key its majority; NaN when there are too many
// sets.
func (h *Holding) Exposure() float64 {
	able := make([]int32, len(h.Weights)) // index among the nodes that can hold keys
	n := int32(0)
	for i, w := range h.Weights {
		able[i] = n
		if w > 0 {
			n++
		}
	}
	if _, ok := QuorumSetsOf(int(n), h.Replicas); !ok {
		return math.NaN()
	}
	sets := NewQuorumSets(int(n), h.Replicas)
	holders := make([]int32, h.Replicas)
	for rank := range h.keys() {
		for i, b := range h.of(rank) {
			holders[i] = able[b]
		}
		sets.Add(holders)
	}
	return sets.Part()
}

// fair returns, by node, how much of a key's replicas falls to the node when the
// replicas lie as closely by the weights as their rules allow: a node holds at
// most one replica of a key, and a zone at least one or, of fewer replicas than
// zones, at most one.
func (h *Holding) fair() []float64 {
	var zones []string
	of := map[string][]int{} // nodes by zone
	for i, w := range h.Weights {
		if w == 0 {
			continue
		}
		if of[h.Zones[i]] == nil {
			zones = append(zones, h.Zones[i])
		}
		of[h.Zones[i]] = append(of[h.Zones[i]], i)
	}
	weights, low, high := make([]float64, len(zones)), make([]float64, len(zones)), make([]float64, len(zones))
	for z, name := range zones {
		for _, i := range of[name] {
			weights[z] += h.Weights[i]
		}
		high[z] = 1
		if h.Replicas > len(zones) {
			low[z], high[z] = 1, float64(len(of[name]))
		}
	}
	parts := dealt(float64(h.Replicas), weights, low, high)
	fair := make([]float64, len(h.Weights))
	for z, name := range zones {
		nodes := of[name]
		own, none, one := make([]float64, len(nodes)), make([]float64, len(nodes)), make([]float64, len(nodes))
		for k, i := range nodes {
			own[k], one[k] = h.Weights[i], 1
		}
		for k, part := range dealt(parts[z], own, none, one) {
			fair[nodes[k]] = part
		}
	}
	return fair
}

// dealt deals an amount in proportion to the weights, which are above zero, and
// gives none less than its low or more than its high. The amount must lie between
// the sums of the two.
func dealt(amount float64, weights, low, high []float64) []float64 {
	parts := make([]float64, len(weights))
	deal := func(rate float64) (total float64) {
		for i, w := range weights {
			parts[i] = min(max(float64(rate*w), low[i]), high[i])
			total += parts[i]
		}
		return total
	}
	below, above := 0.0, 0.0
	for i, w := range weights {
		above = max(above, high[i]/w)
	}
	for range 200 {
		middle := below + (above-below)/2
		if middle == below || middle == above {
			break
		}
		if deal(middle) < amount {
			below = middle
		} else {
			above = middle
		}
	}
	deal(above)
	return parts
}

// A ReplicaMovement tells what a change of the membership did to the replicas of
// keys.
type ReplicaMovement struct {
	Moved      float64 // part of all replicas that a node did not hold before
	Minimum    float64 // what no algorithm avoids that deals replicas out by the weights
	Collateral float64 // part of the keys of which a replica moved although none was or is on a node that the change is about
	Heir       float64 // largest part of the replicas of a removed node that one survivor takes; NaN when none was removed
	OwnerHeir  float64 // the same of the keys that the node owned, by who owns them then
}

func (m *ReplicaMovement) add(o ReplicaMovement) {
	m.Moved += o.Moved
	m.Minimum += o.Minimum
	m.Collateral += o.Collateral
	m.Heir = larger(m.Heir, o.Heir)
	m.OwnerHeir = larger(m.OwnerHeir, o.OwnerHeir)
}

// MovedReplicas compares who holds the replicas of the same keys before and after
// a change. It passes over which of a key's nodes comes first.
func MovedReplicas(before, after *Holding) ReplicaMovement {
	about := changed(before.Weights, after.Weights)
	concerned := func(nodes []int32) bool {
		return slices.ContainsFunc(nodes, func(b int32) bool { return about[b] })
	}
	copies, owned := newHeirs(), newHeirs()
	gone := func(b int32) bool { return after.Weights[b] == 0 }
	moved, collateral := 0, 0
	for rank := range before.keys() {
		old, now := before.of(rank), after.of(rank)
		if gone(old[0]) {
			owned.take(old[0], now[0])
		}
		gains := 0
		for _, b := range now {
			if slices.Contains(old, b) {
				continue
			}
			gains++
			for _, lost := range old {
				if gone(lost) {
					copies.take(lost, b)
				}
			}
		}
		moved += gains
		if gains > 0 && !concerned(old) && !concerned(now) {
			collateral++
		}
	}
	m := ReplicaMovement{
		Moved:      float64(moved) / float64(len(before.Nodes)),
		Collateral: float64(collateral) / float64(before.keys()),
		Heir:       copies.largest(),
		OwnerHeir:  owned.largest(),
	}
	was, is := before.fair(), after.fair()
	for i, part := range is {
		if i < len(was) {
			part -= was[i]
		}
		if part > 1e-12 { // and not what rounding leaves
			m.Minimum += part / float64(after.Replicas)
		}
	}
	return m
}

// heirs counts what each node took over from each that left.
type heirs struct {
	taken map[[2]int32]int
	all   map[int32]int
}

func newHeirs() heirs { return heirs{map[[2]int32]int{}, map[int32]int{}} }

func (h heirs) take(from, by int32) {
	h.taken[[2]int32{from, by}]++
	h.all[from]++
}

// largest returns the largest part of what one node left that one other took; NaN
// when nothing was left.
func (h heirs) largest() float64 {
	most := math.NaN()
	for edge, n := range h.taken {
		if part := float64(n) / float64(h.all[edge[0]]); !(most >= part) {
			most = part
		}
	}
	return most
}
