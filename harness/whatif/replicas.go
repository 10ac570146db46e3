package whatif

import (
	"math"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/workloads"
)

// replicas works out what the change does to the replicas of the keys.
func (s *solver) replicas(a *Answer) error {
	if s.q.Replicas == 1 {
		return nil
	}
	before, err := s.holding(s.before)
	if err != nil {
		return err
	}
	after, err := s.holding(s.after)
	if err != nil {
		return err
	}
	majority := s.q.Replicas/2 + 1
	r := &Replicas{Replicas: s.q.Replicas, Keys: s.q.Keys.Len(), MajoritySize: majority}
	r.Moved = harness.MovedReplicas(before, after).Moved
	exposed := 0
	for rank := range s.q.Keys.Len() {
		live := 0
		for _, node := range before.Nodes[rank*s.q.Replicas:][:s.q.Replicas] {
			if s.after.Member[node] {
				live++
			}
		}
		if live < majority {
			exposed++
		}
	}
	r.Exposure = float64(exposed) / float64(r.Keys)
	r.ExposureError = math.Sqrt(r.Exposure * (1 - r.Exposure) / float64(r.Keys))
	r.SetsBefore, r.SetsAfter = exposedSets(before), exposedSets(after)
	a.Replicas = r
	return nil
}

// exposedSets returns the part of the sets of as many nodes as a majority whose
// loss takes some key its majority, nil when there are too many sets to tell.
func exposedSets(h *harness.Holding) *float64 {
	part := h.Exposure()
	if math.IsNaN(part) {
		return nil
	}
	return &part
}

// holding looks up the replicas of every key.
func (s *solver) holding(p *harness.Placement) (*harness.Holding, error) {
	several, ok := p.Mapper.(algorithms.Replicator)
	if _, bounded := p.Mapper.(algorithms.Assigner); !ok || bounded {
		return nil, algorithms.Unsupported("%s names one node for each key, leave --replicas out", s.q.Info.Name)
	}
	var hash func(rank int) uint64
	switch m := p.Mapper.(type) {
	case algorithms.KeyHasher:
		hash = func(rank int) uint64 { return m.HashKey(s.q.Keys.Key(rank)) }
	case algorithms.KeyMapper:
		return nil, algorithms.Unsupported("%s hashes keys its own way and does not tell how, leave --replicas out", s.q.Info.Name)
	default:
		if s.hashes == nil {
			s.hashes = workloads.Hashes(s.q.Keys, s.q.Hash.For(p.Mapper).Sum)
		}
		hash = func(rank int) uint64 { return s.hashes[rank] }
	}
	r := s.q.Replicas
	h := &harness.Holding{Replicas: r, Nodes: make([]int32, r*s.q.Keys.Len())}
	h.Weights, _ = p.Weights()
	for _, n := range p.Nodes {
		h.Zones = append(h.Zones, n.Zone)
	}
	dst := make([]algorithms.Bucket, r)
	for rank := range s.q.Keys.Len() {
		if n := several.LookupN(hash(rank), dst); n < r {
			return nil, algorithms.Unsupported("%d distinct nodes for %d replicas, name more nodes or ask for fewer replicas", n, r)
		}
		for i, b := range dst {
			h.Nodes[rank*r+i] = int32(p.NodeOf(b))
		}
	}
	return h, nil
}
