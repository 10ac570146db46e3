package sizing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
)

// Under renamings that are real-looking themselves, the place of one cluster
// among all is anywhere alike.
func TestPercentileIsUniformOverRenamings(t *testing.T) {
	takesManyRings(t)
	const renamings = 1500
	lists := map[string]func(r *rand.Rand) []algorithms.Node{
		"addresses": func(r *rand.Rand) (nodes []algorithms.Node) {
			subnet, port := r.IntN(1<<16), 1024+r.IntN(60000)
			for i := range 12 {
				nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("10.%d.%d.%d:%d", subnet>>8, subnet&255, i+1, port), Weight: 1})
			}
			return nodes
		},
		"pods of a set": func(r *rand.Rand) (nodes []algorithms.Node) {
			set := fmt.Sprintf("memcached-%x", r.Uint32())
			for i := range 6 {
				nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("%s-%d", set, i), Weight: 1})
			}
			return nodes
		},
		"zones of unequal weight": func(r *rand.Rand) (nodes []algorithms.Node) {
			cluster := r.IntN(1 << 20)
			for i := range 9 {
				zone := "abc"[i%3]
				nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("eu-west-1%c-%05x-cache%02d", zone, cluster, i), Weight: []float64{1, 2, 3.5}[i%3]})
			}
			return nodes
		},
	}
	for name, list := range lists {
		q := ask(1, Peak, 1.2)
		q.Yours, q.Nodes = true, list(rand.New(rand.NewPCG(1, 1)))
		s := mustSolver(t, q)
		const v = 50
		among, err := s.population(v)
		if err != nil {
			t.Fatal(err)
		}
		var places []float64
		for i := range renamings {
			nodes := list(rand.New(rand.NewPCG(2, uint64(i))))
			place, err := harness.NewPlacement(q.Info, nodes, s.with(v))
			if err != nil {
				t.Fatal(err)
			}
			own, err := s.own(place, among)
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, own.Percentile)
		}
		slices.Sort(places)
		worst := 0.0 // the statistic of Kolmogorov and Smirnov
		for i, p := range places {
			worst = max(worst, math.Abs(p-float64(i)/renamings), math.Abs(p-float64(i+1)/renamings))
		}
		t.Logf("%s: the percentiles stray from uniform by %.3f", name, worst)
		if limit := 1.63 / math.Sqrt(renamings); worst > limit { // once in 100 by chance
			t.Errorf("%s: the percentiles stray from uniform by %.3f, more than %.3f", name, worst, limit)
		}
	}
}

func TestYoursNamesTheBusiestAndTheIdle(t *testing.T) {
	takesManyRings(t)
	q := ask(0, Peak, 1.3)
	q.Yours = true
	q.Nodes = []algorithms.Node{{Name: "a", Weight: 1}, {Name: "idle", Weight: 0}, {Name: "b", Weight: 1}, {Name: "c", Weight: 2}}
	a := mustSolve(t, q)
	place, err := harness.NewPlacement(q.Info, q.Nodes, []byte(fmt.Sprintf(`{"vnodes":%d}`, a.VNodes)))
	if err != nil {
		t.Fatal(err)
	}
	shares, _ := place.Shares()
	best := 0
	for i, n := range q.Nodes {
		if n.Weight > 0 && shares[i]/n.Weight > shares[best]/q.Nodes[best].Weight {
			best = i
		}
	}
	if a.Yours.Busiest != q.Nodes[best].Name || math.Abs(a.Yours.Share-shares[best]) > 1e-12 {
		t.Errorf("busiest %s with %v, want %s with %v", a.Yours.Busiest, a.Yours.Share, q.Nodes[best].Name, shares[best])
	}
	if !slices.Equal(a.Yours.Nothing, []string{"idle"}) {
		t.Errorf("own nothing: %q, want the node of weight 0", a.Yours.Nothing)
	}
}

// With the asker's keys the busiest node is that of the requests.
func TestYourKeysOnYourNodes(t *testing.T) {
	takesManyRings(t)
	q := ask(4, Peak, 3.5)
	q.Yours = true
	keys := []string{"hot", "x", "y", "z", "u", "v", "w"}
	counts := []float64{60, 1, 1, 1, 1, 1, 1}
	q.Keys = CountedKeys(counts, func(i int) string { return keys[i] })
	a := mustSolve(t, q)
	place, err := harness.NewPlacement(q.Info, q.Nodes, []byte(fmt.Sprintf(`{"vnodes":%d}`, a.Yours.VNodes)))
	if err != nil {
		t.Fatal(err)
	}
	load := make([]float64, 4)
	for i, key := range keys {
		load[place.NodeOf(place.Mapper.Lookup(q.Hash.OfKeys(place.Mapper)(key)))] += counts[i] / 66
	}
	if want := slices.Max(load); math.Abs(a.Yours.Share-want) > 1e-12 {
		t.Errorf("the busiest of your nodes has %v of the requests, want %v", a.Yours.Share, want)
	}
}
