package multiprobe_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/dchest/siphash"
	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
	"github.com/ringbench/ringbench/algorithms/multiprobe"
	"github.com/ringbench/ringbench/algorithms/ring"
)

func TestConformance(t *testing.T) { algotest.Test(t, multiprobe.Info) }

// The rule of the vectors is Closest of package ring, on points of their hash and
// with their probes.
func TestClosestGivesThePublishedOwners(t *testing.T) {
	data, err := os.ReadFile("testdata/multiprobe.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Placements []struct {
			Source       string
			Probes       int
			Prefix       string
			From, Nodes  int
			Keys, Owners []string
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Placements) == 0 {
		t.Fatal("no vectors")
	}
	for _, p := range v.Placements {
		var names []string
		c := ring.Default
		c.VNodes = 1
		for i := range p.Nodes {
			name := fmt.Sprintf("%s%d", p.Prefix, p.From+i)
			names = append(names, name)
			c.Points = append(c.Points, ring.Listed{Position: sum(0, name), Node: name})
		}
		m, err := ring.New(algorithms.Nodes(names...), c)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, key := range p.Keys {
			got = append(got, names[m.Closest(sum(1, key), 1, sum(2, key), p.Probes)])
		}
		if diff := cmp.Diff(p.Owners, got); diff != "" {
			t.Errorf("%d nodes, %d probes (-want +got, %s):\n%s", p.Nodes, p.Probes, p.Source, diff)
		}
	}
}

func sum(k uint64, text string) uint64 { return siphash.Hash(k, 0, []byte(text)) }

func build(t testing.TB, n, probes int) *multiprobe.Map {
	t.Helper()
	c := multiprobe.Default
	c.Probes = probes
	m, err := multiprobe.New(longrun.Names(n), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The hash of the labels and the generator of the probes are our own choice, so that
// no vector holds them: a change of theirs moves every key of everybody.
func TestPlacementStaysWhatItWas(t *testing.T) {
	for n, want := range map[int][]algorithms.Bucket{
		10:   {1, 9, 1, 0, 3, 8, 3, 2},
		1000: {969, 632, 725, 385, 650, 621, 798, 357},
	} {
		m := build(t, n, 21)
		var got []algorithms.Bucket
		for h := range uint64(8) {
			got = append(got, m.Lookup(h*0x0123456789abcdef))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d nodes (-want +got):\n%s", n, diff)
		}
	}
}

// Shares takes the probes as independent; the keys say whether they are.
func TestSharesAreWhatTheKeysShow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 10, 33, 100, 1000} {
		for _, probes := range []int{1, 2, 3, 8, 21} {
			m := build(t, n, probes)
			const keys = 300_000
			counts := make([]float64, n)
			for range keys {
				counts[m.Lookup(r.Uint64())]++
			}
			chi2, total := 0.0, 0.0
			for b, share := range m.Shares() {
				chi2 += (counts[b] - share*keys) * (counts[b] - share*keys) / (share * keys)
				total += share
			}
			if math.Abs(total-1) > 1e-12 {
				t.Errorf("%d nodes, %d probes: the shares add up to %v", n, probes, total)
			}
			if p := (distuv.ChiSquared{K: float64(max(n-1, 1))}).Survival(chi2); p < 1e-6 {
				t.Errorf("%d nodes, %d probes: counts as far from the shares as these have probability %g", n, probes, p)
			}
		}
	}
}

// With one probe the shares are the arcs of the ring.
func TestSharesOfOneProbeAreThoseOfTheRing(t *testing.T) {
	nodes := longrun.Names(20)
	for i := range nodes {
		nodes[i].Weight = float64(1 + i%3)
	}
	m, err := multiprobe.New(nodes, multiprobe.Config{Probes: 1, VNodes: 4, Label: ring.Default.Label, PointHash: ring.Default.PointHash})
	if err != nil {
		t.Fatal(err)
	}
	c := ring.Default
	c.VNodes = 4
	want, err := c.Shares(nodes)
	if err != nil {
		t.Fatal(err)
	}
	for b, share := range m.Shares() {
		if math.Abs(share-want[b]) > 1e-12 {
			t.Errorf("node %d has %v of the keys, on a ring %v", b, share, want[b])
		}
	}
}

// Over many nodes the busiest owns k/(k-1) of its fair share, and the relative
// standard deviation is 1/sqrt(2k-1).
func TestSharesAreThoseOfThePaper(t *testing.T) {
	for _, probes := range []int{2, 3, 5, 8, 21} {
		const n, rings = 20_000, 4
		peak, square := 0.0, 0.0
		for i := range rings {
			names := make([]string, n)
			for j := range names {
				names[j] = fmt.Sprintf("ring-%d-node-%d", i, j)
			}
			c := multiprobe.Default
			c.Probes = probes
			m, err := multiprobe.New(algorithms.Nodes(names...), c)
			if err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for _, share := range m.Shares() {
				most = max(most, share*n)
				square += (share*n - 1) * (share*n - 1) / n / rings
			}
			peak += most / rings
		}
		k := float64(probes)
		if want := k / (k - 1); math.Abs(peak-want) > 0.005*want {
			t.Errorf("%d probes: the busiest node has %.4f of its fair share, want %.4f", probes, peak, want)
		}
		if got, want := math.Sqrt(square), 1/math.Sqrt(2*k-1); math.Abs(got-want) > 0.02*want {
			t.Errorf("%d probes: relative standard deviation %.4f, want %.4f", probes, got, want)
		}
	}
}

func TestWeightsSetTheShares(t *testing.T) {
	nodes := longrun.Names(3000)
	for i := range nodes {
		nodes[i].Weight = []float64{1, 2, 4}[i%3]
	}
	m, err := multiprobe.New(nodes, multiprobe.Default)
	if err != nil {
		t.Fatal(err)
	}
	var sums [3]float64
	for b, share := range m.Shares() {
		sums[b%3] += share
	}
	for i, want := range []float64{1. / 7, 2. / 7, 4. / 7} {
		if math.Abs(sums[i]-want) > 0.02*want {
			t.Errorf("the nodes of weight %v have %.4f of the keys, want %.4f", nodes[i].Weight, sums[i], want)
		}
	}
}

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) {
	longrun.Changes(t, multiprobe.Info, nil, 30, func(t *rapid.T, m algorithms.Mapper, hs []uint64) {
		want := 21
		if m.Len() == 0 {
			want = 0
		}
		for _, h := range hs[:3] {
			if _, probes := m.(algorithms.Prober).LookupProbes(h); probes != want {
				t.Fatalf("of %d nodes, %#x takes %d probes, want %d", m.Len(), h, probes, want)
			}
		}
	})
}

func TestBadConfigIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"probes":0}`:         "multiprobe: probes 0, a key has 1 to 1048576",
		`{"probes":1048577}`:   "probes 1048577",
		`{"probes":-1}`:        "probes -1",
		`{"vnodes":0}`:         "vnodes 0",
		`{"point_hash":"md6"}`: "md6",
		`{"label":"{index}"}`:  "no {name}",
	} {
		_, _, err := multiprobe.Info.New(algorithms.Nodes("a"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", params, err, want)
		}
	}
}

func TestFootprintAndForecastDoNotDependOnTheProbes(t *testing.T) {
	few, many := build(t, 1000, 2), build(t, 1000, 64)
	if few.Footprint() != many.Footprint() || float64(few.Footprint())/1000 > 30.2 {
		t.Errorf("1000 nodes take %d and %d bytes, want about 30 a node", few.Footprint(), many.Footprint())
	}
	if got := multiprobe.Default.Forecast(longrun.Names(1000)); got < few.Footprint() || got > 80_000 {
		t.Errorf("forecast %d for a footprint of %d", got, few.Footprint())
	}
}

// A searched is multi-probe by binary search, as it is usually written.
type searched struct {
	positions []uint64
	owners    []algorithms.Bucket
}

func (s *searched) lookup(h uint64, probes int) algorithms.Bucket {
	best, at := uint64(math.MaxUint64), 0
	for range probes {
		i := sort.Search(len(s.positions), func(i int) bool { return s.positions[i] >= h })
		if i == len(s.positions) {
			i = 0
		}
		if d := s.positions[i] - h; d < best {
			best, at = d, i
		}
		h = h*0xd1342543de82ef95 + 0x9e3779b97f4a7c15
	}
	return s.owners[at]
}

// BenchmarkLookup sets 21 probes beside 21 binary searches, and checks that they
// answer alike.
func BenchmarkLookup(b *testing.B) {
	hs := make([]uint64, 1<<20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range hs {
		hs[i] = r.Uint64()
	}
	for _, n := range []int{10, 100, 1000} {
		m := build(b, n, 21)
		c := ring.Default
		c.VNodes = 1
		points, err := ring.New(longrun.Names(n), c)
		if err != nil {
			b.Fatal(err)
		}
		var s searched
		for at, owner := range points.Points() {
			s.positions = append(s.positions, at)
			s.owners = append(s.owners, owner)
		}
		for _, h := range hs[:1<<16] {
			if got, want := m.Lookup(h), s.lookup(h, 21); got != want {
				b.Fatalf("of %d nodes %#x goes to %d, by binary search to %d", n, h, got, want)
			}
		}
		b.Run(fmt.Sprintf("probes/nodes=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				sink += m.Lookup(hs[i&(len(hs)-1)])
			}
		})
		b.Run(fmt.Sprintf("searches/nodes=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				sink += s.lookup(hs[i&(len(hs)-1)], 21)
			}
		})
	}
}

var sink algorithms.Bucket
