package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A remedy is what is done about the keys that are asked most, beside the
// placement. None has no cost; each is recorded with its own.
type remedy struct {
	keys   int // the most asked, which it is about
	ways   int // names under which each of them is stored; 1 when it is not split
	cached bool
}

// remedies lists the forms of a remedy, as errors show them.
const remedies = "none, split:KEYS:WAYS or cache:KEYS"

// parseRemedy reads
//
//	none              nothing is done
//	split:KEYS:WAYS   each of the KEYS most asked keys is stored under WAYS names,
//	                  and a request takes any of them with equal chance
//	cache:KEYS        the clients answer requests for the KEYS most asked keys
//	                  themselves
func parseRemedy(spec string) (remedy, error) {
	fail := func() (remedy, error) {
		return remedy{}, fmt.Errorf("remedy %q is unknown, want %s, such as split:10:4", spec, remedies)
	}
	parts := strings.Split(spec, ":")
	var ns []int
	for _, text := range parts[1:] {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > workloads.MaxKeys {
			return fail()
		}
		ns = append(ns, n)
	}
	switch {
	case parts[0] == "none" && len(ns) == 0:
		return remedy{ways: 1}, nil
	case parts[0] == "split" && len(ns) == 2 && ns[1] > 1:
		return remedy{keys: ns[0], ways: ns[1]}, nil
	case parts[0] == "cache" && len(ns) == 1:
		return remedy{keys: ns[0], ways: 1, cached: true}, nil
	}
	return fail()
}

// remedyOf returns the remedy in a cell's name.
func remedyOf(cell string) remedy {
	_, fields := results.ParseCell(cell)
	for _, f := range fields {
		if f.Name == "remedy" {
			if r, err := parseRemedy(f.Value); err == nil {
				return r
			}
		}
	}
	panic("harness: no remedy in " + cell) // the plan has put it there
}

// remedy records the load under a remedy, and what that costs. The busiest node is
// compared with the fair share of all requests, those included that the clients
// answer.
func (e *examination) remedy(tr *results.Trial) {
	r := remedyOf(tr.Cell)
	p := e.pl.keys.ofWorkload(tr.Workload)
	held := loads(e.baseOwners(), p.P, len(e.base.Nodes))
	top := mostAsked(p, r.keys)
	nodes := map[int32]bool{e.baseOwners()[hottest(p)]: true} // that serve the hottest key
	reached := 1.0
	for i, rank := range top {
		part := p.P(rank)
		held[e.baseOwners()[rank]] -= part
		if r.cached {
			reached -= part
			continue
		}
		if i == 0 {
			clear(nodes)
		}
		for way := range r.ways {
			owner := e.ownerOfName(e.pl.keys.set.Key(rank) + "#" + strconv.Itoa(way))
			held[owner] += part / float64(r.ways)
			if i == 0 {
				nodes[owner] = true
			}
		}
	}
	if r.cached {
		clear(nodes)
	}
	weights, _ := e.base.Weights()
	if s := SpreadOf(held, weights); reached > 1e-9 { // else nothing but rounding is left
		tr.Values["load-cv"] = s.CV
		tr.Values["load-peak"] = s.Peak * reached
	}
	tr.Values["hot-key-nodes"] = float64(len(nodes))
	tr.Values["extra-copies"] = float64(len(top) * (r.ways - 1))
	tr.Values["cached-fraction"] = 1 - reached
	tr.Check = digestOf(e.baseOwners())
}

// ownerOfName returns the node that owns a key that is not in the key set.
func (e *examination) ownerOfName(key string) int32 {
	if k, ok := e.base.Mapper.(algorithms.KeyMapper); ok {
		return int32(e.base.NodeOf(k.LookupKey(key)))
	}
	return int32(e.base.NodeOf(e.base.Mapper.Lookup(e.sub.hash.For(e.base.Mapper).Sum(key))))
}

// mostAsked returns the n ranks that are asked for most, the hottest first.
func mostAsked(p *workloads.Popularity, n int) []int {
	ranks := make([]int, p.Len())
	for rank := range ranks {
		ranks[rank] = rank
	}
	slices.SortFunc(ranks, func(a, b int) int { return cmp.Or(cmp.Compare(p.P(b), p.P(a)), cmp.Compare(a, b)) })
	return ranks[:min(n, len(ranks))]
}
