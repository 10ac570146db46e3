package lrh_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/lrh"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/weightedrendezvous"
)

func TestConformance(t *testing.T) { algotest.Test(t, lrh.Info) }

func config(vnodes, candidates int) lrh.Config {
	c := lrh.Default
	c.VNodes, c.Candidates = vnodes, candidates
	return c
}

func build(t testing.TB, nodes []algorithms.Node, c lrh.Config) *lrh.Map {
	t.Helper()
	m, err := lrh.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A model is local rendezvous hashing as one would explain it: a ring to walk on, and
// a score for each candidate.
type model struct {
	ring       *ring.Map
	candidates int
	nodes      map[algorithms.Bucket]algorithms.Node
}

func (m *model) owner(h uint64) algorithms.Bucket {
	var window []algorithms.Bucket
	next := algorithms.None // with a weight
	for b := range m.ring.Clockwise(h) {
		if len(window) < m.candidates && !slices.Contains(window, b) {
			window = append(window, b)
		}
		if next == algorithms.None && m.nodes[b].Weight > 0 {
			next = b
		}
	}
	owner, most := algorithms.None, 0.0
	for _, b := range window {
		n := m.nodes[b]
		if n.Weight == 0 {
			continue
		}
		u := 1 - (float64(weightedrendezvous.Draw(h, xxh3.HashString(n.Name)))+0.5)*0x1p-52
		if score := -n.Weight / math.Log(u); score > most {
			owner, most = b, score
		}
	}
	if owner == algorithms.None {
		return next
	}
	return owner
}

func TestOwnersAreThoseOfTheModelThroughRandomChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.SampledFrom([]float64{0, 1, 1, 1, 2, 0.3})
		if rapid.Bool().Draw(t, "equal") {
			weight = rapid.Just(1.0)
		}
		c := config(rapid.IntRange(1, 12).Draw(t, "vnodes"), rapid.SampledFrom([]int{1, 2, 3, 8, 32}).Draw(t, "candidates"))
		model := &model{candidates: c.Candidates, nodes: map[algorithms.Bucket]algorithms.Node{}}
		nodes := longrun.Names(rapid.IntRange(1, 20).Draw(t, "nodes"))
		points := slices.Clone(nodes)
		for i := range nodes {
			if i > 0 {
				nodes[i].Weight = weight.Draw(t, "weight")
			}
			model.nodes[algorithms.Bucket(i)] = nodes[i]
		}
		m, err := lrh.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		r := ring.Default
		r.VNodes = c.VNodes
		if model.ring, err = ring.New(points, r); err != nil {
			t.Fatal(err)
		}
		bucket := rapid.Custom(func(t *rapid.T) algorithms.Bucket { return algorithms.Bucket(rapid.IntRange(-1, 25).Draw(t, "bucket")) })
		name := rapid.StringMatching(`added-[0-9]`)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := algorithms.Node{Name: name.Draw(t, "name"), Weight: weight.Draw(t, "weight")}
				b, err := m.Add(n)
				want, refused := model.ring.Add(algorithms.Node{Name: n.Name, Weight: 1})
				if b != want || (err == nil) != (refused == nil) {
					t.Fatalf("Add(%v) = %d, %v, want %d, %v", n, b, err, want, refused)
				}
				if err == nil {
					model.nodes[b] = n
				}
			},
			"remove": func(t *rapid.T) {
				b := bucket.Draw(t, "gone")
				if err, refused := m.Remove(b), model.ring.Remove(b); (err == nil) != (refused == nil) {
					t.Fatalf("Remove(%d) = %v, want %v", b, err, refused)
				}
				delete(model.nodes, b)
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket.Draw(t, "changed"), weight.Draw(t, "weight")
				n, bound := model.nodes[b]
				if err := m.SetWeight(b, w); bound != (err == nil) {
					t.Fatalf("SetWeight(%d, %v) = %v", b, w, err)
				}
				if bound {
					n.Weight = w
					model.nodes[b] = n
				}
			},
			"": func(t *rapid.T) {
				if m.Len() != len(model.nodes) {
					t.Fatalf("Len is %d, want %d", m.Len(), len(model.nodes))
				}
				for range 30 {
					h := rapid.Uint64().Draw(t, "h")
					if got, want := m.Lookup(h), model.owner(h); got != want {
						t.Fatalf("Lookup(%#x) = %d, want %d", h, got, want)
					}
				}
			},
		})
	})
}

// One candidate makes it a ring, and as many as there are nodes rendezvous hashing.
func TestOneCandidateIsTheRingAndAllAreRendezvous(t *testing.T) {
	nodes := longrun.Names(20)
	r, err := ring.New(nodes, ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	weighted := slices.Clone(nodes)
	for i := range weighted {
		weighted[i].Weight = float64(1 + i%4)
	}
	w, err := weightedrendezvous.New(weighted, weightedrendezvous.Default)
	if err != nil {
		t.Fatal(err)
	}
	one, all := build(t, nodes, config(ring.Default.VNodes, 1)), build(t, weighted, config(3, 20))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		h := rnd.Uint64()
		if got, want := one.Lookup(h), r.Lookup(h); got != want {
			t.Fatalf("with one candidate %#x goes to %d, on the ring to %d", h, got, want)
		}
		if got, want := all.Lookup(h), w.Lookup(h); got != want {
			t.Fatalf("with all for candidates %#x goes to %d, by rendezvous to %d", h, got, want)
		}
	}
}

func TestSharesAreWhatTheKeysShow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, weights := range [][]float64{{1}, {1, 2, 4}, {0, 3, 0, 0}} {
		for _, n := range []int{2, 5, 30, 200} {
			nodes := longrun.Names(n)
			for i := range nodes {
				nodes[i].Weight = weights[i%len(weights)]
			}
			m := build(t, nodes, config(4, 3))
			const keys = 200_000
			counts := make([]float64, n)
			for range keys {
				counts[m.Lookup(rnd.Uint64())]++
			}
			chi2, total, owning := 0.0, 0.0, -1.0
			for b, share := range m.Shares() {
				total += share
				if share == 0 {
					if counts[b] > 0 {
						t.Errorf("%d nodes of weights %v: node %d owns %v keys and no share", n, weights, b, counts[b])
					}
					continue
				}
				owning++
				chi2 += (counts[b] - share*keys) * (counts[b] - share*keys) / (share * keys)
			}
			if math.Abs(total-1) > 1e-9 {
				t.Errorf("%d nodes of weights %v: the shares add up to %v", n, weights, total)
			}
			if owning == 0 {
				continue
			}
			if p := (distuv.ChiSquared{K: owning}).Survival(chi2); p < 1e-6 {
				t.Errorf("%d nodes of weights %v: counts as far from the shares as these have probability %g", n, weights, p)
			}
		}
	}
}

// The paper's benchmark has 5000 nodes of 256 points: the busiest has 1.2785 times its
// fair share on the ring, and 1.0947 times with 8 candidates, of 50 million keys. From
// one ring to another the first of these spreads by 0.02 itself.
func TestSharesAreThoseOfThePaper(t *testing.T) {
	const n = 5000
	for candidates, want := range map[int]float64{1: 1.2785, 8: 1.0947} {
		tolerance := 0.03
		if candidates == 1 {
			tolerance = 0.06
		}
		peak, square := 0.0, 0.0
		for _, share := range build(t, longrun.Names(n), config(256, candidates)).Shares() {
			peak = max(peak, share*n)
			square += (share*n - 1) * (share*n - 1) / n
		}
		if math.Abs(peak-want) > tolerance {
			t.Errorf("%d candidates: the busiest node has %.4f times its fair share, want %.4f", candidates, peak, want)
		}
		if got, want := math.Sqrt(square), 1/math.Sqrt(256*float64(candidates)); math.Abs(got-want) > 0.05*want {
			t.Errorf("%d candidates: relative standard deviation %.4f, want %.4f", candidates, got, want)
		}
	}
}

// moved tells which parts of the keys go to or from the node in the bucket and between
// two others.
func moved(m *lrh.Map, subject algorithms.Bucket, change func()) (own, collateral float64) {
	const keys = 400_000
	rnd := rand.New(rand.NewPCG(5, 6))
	hs, before := make([]uint64, keys), make([]algorithms.Bucket, keys)
	for i := range hs {
		hs[i] = rnd.Uint64()
		before[i] = m.Lookup(hs[i])
	}
	change()
	for i, h := range hs {
		switch after := m.Lookup(h); {
		case after == before[i]:
		case after == subject || before[i] == subject:
			own += 1. / keys
		default:
			collateral += 1. / keys
		}
	}
	return own, collateral
}

func TestAJoinMovesKeysBetweenOthersToo(t *testing.T) {
	for _, candidates := range []int{1, 2, 8} {
		const n = 49
		m := build(t, longrun.Names(n), config(256, candidates))
		own, collateral := moved(m, n, func() {
			if b, err := m.Add(algorithms.Node{Name: "new", Weight: 1}); err != nil || b != n {
				t.Fatal(b, err)
			}
		})
		if want := 1. / (n + 1); math.Abs(own-want) > 0.1*want {
			t.Errorf("%d candidates: %.4f of the keys go to the new node, want %.4f", candidates, own, want)
		}
		want := float64(candidates-1) / float64(candidates+1) / (n + 1)
		if math.Abs(collateral-want) > 0.1*want {
			t.Errorf("%d candidates: %.4f of the keys move between others, want %.4f", candidates, collateral, want)
		}
	}
}

func TestANodeThatIsDownMovesOnlyItsOwnKeys(t *testing.T) {
	m := build(t, longrun.Names(50), lrh.Default)
	own, collateral := moved(m, 7, func() {
		if err := m.SetWeight(7, 0); err != nil {
			t.Fatal(err)
		}
	})
	if collateral != 0 || math.Abs(own-0.02) > 0.002 {
		t.Errorf("its own %.4f and %.4f others move, want 0.02 and none", own, collateral)
	}
}

// The score and the labels are our own choice, so that no vector holds them: a change
// of theirs moves keys of everybody.
func TestPlacementStaysWhatItWas(t *testing.T) {
	for n, want := range map[int][]algorithms.Bucket{
		10:   {4, 2, 8, 8, 6, 3, 2, 0},
		1000: {74, 542, 628, 615, 275, 795, 695, 757},
	} {
		m := build(t, longrun.Names(n), lrh.Default)
		var got []algorithms.Bucket
		for h := range uint64(8) {
			got = append(got, m.Lookup(h*0x0123456789abcdef))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d nodes (-want +got):\n%s", n, diff)
		}
	}
}

func TestProbesAreTheCandidates(t *testing.T) {
	for n, want := range map[int]int{1: 1, 7: 7, 8: 8, 100: 8} {
		if _, probes := build(t, longrun.Names(n), lrh.Default).LookupProbes(1); probes != want {
			t.Errorf("%d nodes: %d candidates, want %d", n, probes, want)
		}
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"candidates":0}`:     "lrh: candidates 0, want 1 to 32",
		`{"candidates":33}`:    "candidates 33",
		`{"vnodes":0}`:         "vnodes 0",
		`{"point_hash":"md6"}`: "md6",
	} {
		_, _, err := lrh.Info.New(algorithms.Nodes("a"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", params, err, want)
		}
	}
	if _, err := lrh.New([]algorithms.Node{{Name: "a", Weight: 1e250}}, lrh.Default); err == nil {
		t.Error("a weight that no cost can be computed for is accepted")
	}
}

func TestFootprintIsThatOfTheRingAndTwoNumbersANode(t *testing.T) {
	nodes := longrun.Names(100)
	m := build(t, nodes, lrh.Default)
	c := ring.Default
	c.VNodes = lrh.Default.VNodes
	r, err := ring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Footprint(), r.Footprint()+1600; got != want {
		t.Errorf("footprint %d, want %d", got, want)
	}
	for i := range nodes {
		nodes[i].Weight = 0.001
	}
	if got, want := lrh.Default.Forecast(nodes), c.Forecast(longrun.Names(100)); got != want {
		t.Errorf("forecast %d, want %d whatever the weights", got, want)
	}
}

func BenchmarkLookup(b *testing.B) {
	hs := make([]uint64, 1<<20)
	rnd := rand.New(rand.NewPCG(7, 8))
	for i := range hs {
		hs[i] = rnd.Uint64()
	}
	m := build(b, longrun.Names(100), lrh.Default)
	for i := 0; b.Loop(); i++ {
		sink += m.Lookup(hs[i&(len(hs)-1)])
	}
}

var sink algorithms.Bucket
