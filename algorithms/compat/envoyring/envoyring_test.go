package envoyring

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

// A vector is a row of testdata/envoy_ring_hash.json.
type vector struct {
	Test         string
	Hosts        []string
	Weights      []float64
	Min          int               `json:"min_ring_size"`
	Max          int               `json:"max_ring_size"`
	Ring         [][2]string       `json:"expected_ring"`
	Size         int               `json:"expected_size"`
	LeastPoints  int               `json:"expected_min_hashes_per_host"`
	MostPoints   int               `json:"expected_max_hashes_per_host"`
	Lookups      any               `json:"lookups"`
	Counts       []int             `json:"expected_counts"`
	Expected     []string          `json:"expected"`
	ByAttempt    map[string]string `json:"expected_by_attempt"`
	Error        string            `json:"expected_error"`
	HashFunction string            `json:"hash_function"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/envoy_ring_hash.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 9 {
		t.Fatalf("%d rows, want 9", len(file.Rows))
	}
	return file.Rows
}

func (v vector) nodes() []algorithms.Node {
	nodes := algorithms.Nodes(v.Hosts...)
	for i, w := range v.Weights {
		nodes[i].Weight = w
	}
	return nodes
}

func (v vector) config() Config {
	c := Default
	c.MinimumRingSize = v.Min
	if v.Max != 0 {
		c.MaximumRingSize = v.Max
	}
	if v.HashFunction != "" {
		c.HashFunction = v.HashFunction
	}
	return c
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Test, func(t *testing.T) {
			if v.Error != "" {
				err := v.config().Check()
				if want := strings.TrimPrefix(v.Error, "ring hash: "); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("error %v, want %s", err, want)
				}
				return
			}
			m, err := New(v.nodes(), v.config())
			if err != nil {
				t.Fatal(err)
			}
			if v.Ring != nil {
				var ring [][2]string
				for _, p := range m.Points() {
					ring = append(ring, [2]string{fmt.Sprint(p.Position), v.Hosts[p.Owner]})
				}
				if diff := cmp.Diff(v.Ring, ring); diff != "" {
					t.Errorf("ring: (-want +got)\n%s", diff)
				}
			}
			if v.Size > 0 && len(m.Points()) != v.Size {
				t.Errorf("%d points, want %d", len(m.Points()), v.Size)
			}
			counts := v.config().PointCounts(v.nodes())
			if v.MostPoints > 0 && (slices.Min(counts) != v.LeastPoints || slices.Max(counts) != v.MostPoints) {
				t.Errorf("points a host %d, want from %d to %d", counts, v.LeastPoints, v.MostPoints)
			}
			if lookups, ok := v.Lookups.(map[string]any); ok {
				for h, want := range lookups {
					var hash uint64
					fmt.Sscan(h, &hash)
					if got := v.Hosts[m.Lookup(hash)]; got != want {
						t.Errorf("hash %s goes to %s, want %s", h, got, want)
					}
				}
			}
			if v.Counts != nil {
				got := make([]int, len(v.Hosts))
				for i := range uint64(6000) {
					got[m.Lookup(i*(math.MaxUint64/6000))]++
				}
				if diff := cmp.Diff(v.Counts, got); diff != "" {
					t.Errorf("hashes a host: (-want +got)\n%s", diff)
				}
			}
			for i, want := range v.Expected {
				if got := v.Hosts[m.LookupKey(fmt.Sprintf("key-%d", i))]; got != want {
					t.Errorf("key-%d goes to %s, want %s", i, got, want)
				}
			}
			for attempt, want := range v.ByAttempt {
				var a int
				fmt.Sscan(attempt, &a)
				if got := v.Hosts[m.Points()[(m.Find(0)+a)%len(m.Points())].Owner]; got != want {
					t.Errorf("%d points after hash 0 stands %s, want %s", a, got, want)
				}
			}
		})
	}
}

// obvious looks a hash up the slow way: it makes the points in the loop that the
// package comment tells of, sorts them, and goes through them from the first.
func obvious(nodes []algorithms.Node, c Config, h uint64) algorithms.Bucket {
	type point struct {
		position uint64
		name     string
		owner    algorithms.Bucket
	}
	sum, least := 0.0, 1.0
	for _, n := range nodes {
		sum += n.Weight
	}
	for _, n := range nodes {
		if w := n.Weight / sum; w > 0 && w < least {
			least = w
		}
	}
	scale := math.Ceil(least*float64(c.MinimumRingSize)) / least
	if scale > float64(c.MaximumRingSize) {
		scale = float64(c.MaximumRingSize)
	}
	var ring []point
	made, claim := 0.0, 0.0
	for i, n := range nodes {
		product := scale * (n.Weight / sum)
		claim += product
		for k := 0; made < claim; k++ {
			ring = append(ring, point{xxhash.Sum64String(fmt.Sprintf("%s_%d", n.Name, k)), n.Name, algorithms.Bucket(i)})
			made++
		}
	}
	sort.Slice(ring, func(i, j int) bool {
		if ring[i].position != ring[j].position {
			return ring[i].position < ring[j].position
		}
		return ring[i].name < ring[j].name
	})
	for _, p := range ring {
		if p.position >= h {
			return p.owner
		}
	}
	return ring[0].owner
}

func TestLookupsAreThoseOfTheObviousRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 30).Draw(t, "nodes") {
			weight := float64(rapid.IntRange(0, 100).Draw(t, "weight"))
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("10.0.0.%d:8080", i), Weight: weight})
		}
		nodes[0].Weight = 3
		low := rapid.IntRange(1, 300).Draw(t, "minimum")
		c := Config{low, low + rapid.IntRange(0, 300).Draw(t, "more"), "XX_HASH"}
		m, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			h := rapid.Uint64().Draw(t, "hash")
			if got, want := m.Lookup(h), obvious(nodes, c, h); got != want {
				t.Fatalf("hash %d goes to %d, want %d", h, got, want)
			}
		}
		key := rapid.String().Draw(t, "key")
		if got, want := m.LookupKey(key), obvious(nodes, c, xxhash.Sum64String(key)); got != want {
			t.Fatalf("key %q goes to %d, want %d", key, got, want)
		}
		shares, err := c.Shares(nodes)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, s := range shares {
			sum += s
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the shares add up to %v", sum)
		}
	})
}

func FuzzLookupsAreThoseOfTheObviousRing(f *testing.F) {
	f.Add("a\nb\nc", uint16(10), uint16(20), uint64(1))
	f.Add("127.0.0.1:90\n127.0.0.1:91", uint16(1024), uint16(1024), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, names string, low, high uint16, h uint64) {
		var nodes []algorithms.Node
		for i, name := range strings.Split(names, "\n") {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(i % 5)})
		}
		c := Config{int(low), int(high), "XX_HASH"}
		m, err := New(nodes, c)
		if err != nil {
			return
		}
		if got, want := m.Lookup(h), obvious(nodes, c, h); got != want {
			t.Fatalf("hash %d goes to %d, want %d", h, got, want)
		}
	})
}

func hosts(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("10.0.0.%d:8080", i+1)
	}
	return algorithms.Nodes(names...)
}

// TestALightNodeBesideHeavyOnesHasLessThanItsShare is grpc/grpc-java#8079:
// weights 1, 10 and 100.
func TestALightNodeBesideHeavyOnesHasLessThanItsShare(t *testing.T) {
	nodes := algorithms.Nodes("10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080")
	for i := range nodes {
		nodes[i].Weight = math.Pow10(i)
	}
	for size, want := range map[int][]float64{1024: {0.0037, 0.0892, 0.9071}, 100_000: {0.0088, 0.0910, 0.9003}} {
		got, err := Config{size, MostPoints, "XX_HASH"}.Shares(nodes)
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

// TestOneMoreNodeMovesKeysBetweenThoseThatStay is istio/istio#41814: the total
// rests, so that the ten nodes give points away.
func TestOneMoreNodeMovesKeysBetweenThoseThatStay(t *testing.T) {
	m, err := New(hosts(10), Default)
	if err != nil {
		t.Fatal(err)
	}
	more, err := New(hosts(11), Default)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 200_000
	moved, collateral := 0, 0
	for i := range uint64(keys) {
		h := i * (math.MaxUint64 / keys)
		if x, y := m.Lookup(h), more.Lookup(h); x != y {
			moved++
			if y != 10 {
				collateral++
			}
		}
	}
	if got := float64(moved) / keys; math.Abs(got-0.154) > 0.002 {
		t.Errorf("%.4f of the keys move, want 0.154", got)
	}
	if got := float64(collateral) / keys; math.Abs(got-0.063) > 0.001 {
		t.Errorf("%.4f move between nodes that stay, want 0.063", got)
	}
	added, err := m.Add(hosts(11)[10])
	if err != nil || added != 10 {
		t.Fatal(added, err)
	}
	for i := range uint64(1000) {
		if h := i * (math.MaxUint64 / 1000); m.Lookup(h) != more.Lookup(h) {
			t.Fatalf("hash %d: added, the node leads to %d, built in to %d", h, m.Lookup(h), more.Lookup(h))
		}
	}
}

func TestTheDefaultRingGivesFewPointsToEachOfManyNodes(t *testing.T) {
	counts := Default.PointCounts(hosts(200))
	if least, most := slices.Min(counts), slices.Max(counts); least < 5 || most > 7 {
		t.Errorf("%d to %d points a node, want about 1024/200", least, most)
	}
}

// TestARingOfNoPointsIsRefused is envoyproxy/envoy#31724.
func TestARingOfNoPointsIsRefused(t *testing.T) {
	for _, c := range []Config{{0, 1024, "XX_HASH"}, {0, 0, "XX_HASH"}, {-1, 4, "XX_HASH"}, {1, MostPoints + 1, "XX_HASH"}, {1024, 0, "XX_HASH"}, {1024, 2048, "XXHASH"}} {
		if _, err := New(hosts(3), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := New(hosts(3), Config{1, 1, "XX_HASH"}); err != nil {
		t.Error(err)
	}
}

// The share of the light node is too small for a number, and its count of points for
// the largest ring.
func TestAWeightBelowAnyShareLeavesTheRingToTheOthers(t *testing.T) {
	c := Config{1, 64, "XX_HASH"}
	if diff := cmp.Diff([]int{0, 64}, c.PointCounts([]algorithms.Node{{Name: "light", Weight: 1e-300}, {Name: "heavy", Weight: 1e300}})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}
