package grpcring

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/grpc_ring_hash.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Name     string
			Hosts    []string
			Weights  []float64
			Min      int            `json:"min_ring_size"`
			Max      int            `json:"max_ring_size"`
			Ring     [][2]string    `json:"expected_ring"`
			Counts   map[string]int `json:"expected_points_per_host"`
			Expected []string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 5 {
		t.Fatalf("%d rows, want 5", len(file.Rows))
	}
	for _, v := range file.Rows {
		t.Run(v.Name, func(t *testing.T) {
			nodes := algorithms.Nodes(v.Hosts...)
			for i, w := range v.Weights {
				nodes[i].Weight = w
			}
			slices.Reverse(nodes) // the order must not matter
			c := Config{v.Min, v.Max}
			m, err := New(nodes, c)
			if err != nil {
				t.Fatal(err)
			}
			var ring [][2]string
			for _, p := range m.Points() {
				ring = append(ring, [2]string{fmt.Sprint(p.Position), nodes[p.Owner].Name})
			}
			if diff := cmp.Diff(v.Ring, ring); diff != "" {
				t.Errorf("ring: (-want +got)\n%s", diff)
			}
			for i, count := range c.PointCounts(nodes) {
				if want := v.Counts[nodes[i].Name]; count != want {
					t.Errorf("%s has %d points, want %d", nodes[i].Name, count, want)
				}
			}
			for i, want := range v.Expected {
				if got := nodes[m.LookupKey(fmt.Sprintf("key-%d", i))].Name; got != want {
					t.Errorf("key-%d goes to %s, want %s", i, got, want)
				}
			}
		})
	}
}

// obvious looks a hash up the slow way, point by point from the first.
func obvious(nodes []algorithms.Node, c Config, h uint64) string {
	nodes = slices.Clone(nodes)
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Name < nodes[j].Name })
	sum, least := 0.0, 1.0
	for _, n := range nodes {
		sum += n.Weight
	}
	for _, n := range nodes {
		if n.Weight > 0 {
			least = math.Min(least, n.Weight/sum)
		}
	}
	scale := math.Min(math.Ceil(least*float64(c.MinimumRingSize))/least, float64(c.MaximumRingSize))
	owners := map[uint64]string{}
	made, claim := 0, 0.0
	for _, n := range nodes {
		product := scale * (n.Weight / sum)
		claim += product
		for k := 0; float64(made) < claim; k++ {
			if at := xxhash.Sum64String(fmt.Sprint(n.Name, "_", k)); owners[at] == "" {
				owners[at] = n.Name
			}
			made++
		}
	}
	best, found := uint64(0), false
	for at := range owners { // the distance clockwise wraps as the circle does
		if !found || at-h < best-h {
			best, found = at, true
		}
	}
	return owners[best]
}

func TestLookupsAreThoseOfTheObviousRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 30).Draw(t, "nodes") {
			weight := float64(rapid.IntRange(0, 100).Draw(t, "weight"))
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("10.0.0.%d:8080", i*7%30), Weight: weight})
		}
		nodes[0].Weight = 3
		low := rapid.IntRange(1, 300).Draw(t, "minimum")
		c := Config{low, low + rapid.IntRange(0, 300).Draw(t, "more")}
		m, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.String().Draw(t, "key")
		for _, h := range []uint64{rapid.Uint64().Draw(t, "hash"), m.HashKey(key), 0, math.MaxUint64} {
			if got, want := nodes[m.Lookup(h)].Name, obvious(nodes, c, h); got != want {
				t.Fatalf("hash %d goes to %s, want %s", h, got, want)
			}
		}
		shares, err := c.Shares(nodes)
		if err != nil {
			t.Fatal(err)
		}
		_, cells := m.Cells()
		prev, own := uint64(math.MaxUint64), make([]float64, len(nodes))
		for last, b := range cells {
			own[b] += float64(last-prev) * 0x1p-64
			prev = last
		}
		for i := range own {
			if len(nodes) > 1 && math.Abs(own[i]-shares[i]) > 1e-12 && own[i] != 0 {
				t.Fatalf("%s owns %v, by Shares %v", nodes[i].Name, own[i], shares[i])
			}
		}
	})
}

func FuzzLookupsAreThoseOfTheObviousRing(f *testing.F) {
	f.Add("a\nb\nc", uint16(10), uint16(20), uint64(1))
	f.Add("127.0.0.1:90\n127.0.0.1:91", uint16(1024), uint16(4096), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, names string, low, high uint16, h uint64) {
		var nodes []algorithms.Node
		for i, name := range strings.Split(names, "\n") {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(i % 5)})
		}
		c := Config{int(low), int(high)}
		m, err := New(nodes, c)
		if err != nil {
			return
		}
		if got, want := nodes[m.Lookup(h)].Name, obvious(nodes, c, h); got != want {
			t.Fatalf("hash %d goes to %s, want %s", h, got, want)
		}
	})
}

// TestALightNodeBesideHeavyOnesHasLessThanItsShare is grpc/grpc-java#8079:
// weights 1, 10 and 100.
func TestALightNodeBesideHeavyOnesHasLessThanItsShare(t *testing.T) {
	nodes := algorithms.Nodes("10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080")
	for i := range nodes {
		nodes[i].Weight = math.Pow10(i)
	}
	for size, want := range map[int][]float64{1024: {0.0037, 0.0892, 0.9071}, 100_000: {0.0088, 0.0910, 0.9003}} {
		got, err := Config{size, max(size, 4096)}.Shares(nodes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 0.00005 {
				t.Errorf("%d points: shares %.4f, want %.4f", size, got, want)
				break
			}
		}
	}
}

func TestSizesThatMakeNoRingAreRefused(t *testing.T) {
	for _, c := range []Config{{0, 1024}, {0, 0}, {5000, 4096}, {1, 9 << 20}} {
		if _, err := New(algorithms.Nodes("a", "b"), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
