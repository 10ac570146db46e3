package rendezvous

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

// obvious ranks the nodes for h the slow way: by the score that the package
// comment states, then by name.
func obvious(nodes map[algorithms.Bucket]string, h uint64) []algorithms.Bucket {
	score := func(b algorithms.Bucket) uint64 {
		half := h>>32 | h<<32
		_, low := bits.Mul64(h^xxh3.HashString(nodes[b]), half|1)
		return low
	}
	var rank []algorithms.Bucket
	for b := range nodes {
		rank = append(rank, b)
	}
	slices.SortFunc(rank, func(a, b algorithms.Bucket) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(nodes[a], nodes[b]))
	})
	return rank
}

func TestLookupNGivesTheReferencePlacements(t *testing.T) {
	data, err := os.ReadFile("testdata/placements.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Nodes   []string
			Lookups []struct {
				Hash  uint64 `json:",string"`
				First []algorithms.Bucket
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range file.Rows {
		m, err := New(algorithms.Nodes(row.Nodes...), Default)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range row.Lookups {
			dst := make([]algorithms.Bucket, 3)
			dst = dst[:m.LookupN(l.Hash, dst)]
			if !slices.Equal(dst, l.First) || m.Lookup(l.Hash) != l.First[0] {
				t.Errorf("%d nodes, hash %d: %d, want %d", len(row.Nodes), l.Hash, dst, l.First)
			}
		}
	}
}

func TestLookupsAgreeWithTheObviousRankingThroughRandomChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.IntRange(1, 30).Draw(t, "nodes")
		model := map[algorithms.Bucket]string{}
		var names []string
		for i := range start {
			names = append(names, fmt.Sprintf("node-%d", (i+11)%start)) // not in the order of names
			model[algorithms.Bucket(i)] = names[i]
		}
		m, err := New(algorithms.Nodes(names...), Default)
		if err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				name := rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "name")
				b, err := m.Add(algorithms.Node{Name: name, Weight: 1})
				if err == nil {
					model[b] = name
				}
			},
			"remove": func(t *rapid.T) {
				b := algorithms.Bucket(rapid.IntRange(0, 40).Draw(t, "bucket"))
				if err := m.Remove(b); err == nil {
					delete(model, b)
				}
			},
			"": func(t *rapid.T) {
				if !slices.IsSortedFunc(m.buckets, func(a, b algorithms.Bucket) int { return cmp.Compare(model[a], model[b]) }) {
					t.Fatal("the nodes are not in the order of their names, which breaks ties")
				}
				h := rapid.Uint64().Draw(t, "hash")
				want := obvious(model, h)
				first := algorithms.None
				if len(want) > 0 {
					first = want[0]
				}
				if got := m.Lookup(h); got != first {
					t.Fatalf("Lookup(%d) = %d, want %d", h, got, first)
				}
				dst := make([]algorithms.Bucket, rapid.IntRange(0, 35).Draw(t, "replicas"))
				n := m.LookupN(h, dst)
				if k := min(len(dst), len(want)); n != k || !slices.Equal(dst[:n], want[:k]) {
					t.Fatalf("LookupN(%d) = %d, want %d", h, dst[:n], want[:k])
				}
			},
		})
	})
}

// The worked example gives scores outright. For the hash 0 the score of a node
// is its seed, so they can be put in.
func TestTheHighestScoreWinsAndTheLeastNameBreaksATie(t *testing.T) {
	for _, tt := range []struct {
		scores        []uint64 // of A, B, C
		first, second algorithms.Bucket
	}{
		{[]uint64{17, 93, 40}, 1, 2},
		{[]uint64{88, 12, 87}, 0, 2},
		{[]uint64{5, 6, 7}, 2, 1},
		{[]uint64{50, 50, 49}, 0, 1},
		{[]uint64{0, 0, 0}, 0, 1},
	} {
		members, err := algorithms.NewEqualMembers(algorithms.Nodes("A", "B", "C"))
		if err != nil {
			t.Fatal(err)
		}
		m := &Map{seeds: tt.scores, buckets: []algorithms.Bucket{0, 1, 2}, members: members}
		if got := m.Lookup(0); got != tt.first {
			t.Errorf("scores %d: Lookup gives %d, want %d", tt.scores, got, tt.first)
		}
		if got := highest(tt.scores, 0); got != int(tt.first) {
			t.Errorf("scores %d: the highest is %d, want %d", tt.scores, got, tt.first)
		}
		dst := make([]algorithms.Bucket, 2)
		if m.LookupN(0, dst); dst[0] != tt.first || dst[1] != tt.second {
			t.Errorf("scores %d: LookupN gives %d, want %d %d", tt.scores, dst, tt.first, tt.second)
		}
	}
}

func TestBothWaysToTheHighestScoreAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few different seeds, so that scores tie.
		seeds := rapid.SliceOfN(rapid.Uint64Range(0, 40), 1, 60).Draw(t, "seeds")
		h := rapid.Uint64().Draw(t, "hash")
		if a, b := highest(seeds, h), highestOfFew(seeds, h); a != int(b) {
			t.Fatalf("by blocks %d, one by one %d", a, b)
		}
	})
}

// All orders of the first four choices come equally often, for names of several
// shapes, for random hashes and for 32-bit hashes written twice.
func TestTheFirstFourChoicesAreUniform(t *testing.T) {
	const keys, n, choices = 200_000, 6, 4
	const cells = n * (n - 1) * (n - 2) * (n - 3)
	r := rand.New(rand.NewPCG(1, 2))
	sources := map[string]func(i int) uint64{
		"random": func(int) uint64 { return r.Uint64() },
		"crc32": func(i int) uint64 {
			x := uint64(crc32.ChecksumIEEE(fmt.Appendf(nil, "user:%d", i)))
			return x<<32 | x
		},
	}
	for source, hash := range sources {
		for _, pattern := range []string{"node-%d", "10.0.0.%d:8080", "%d", "server%03d.example.com"} {
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf(pattern, i+1))
			}
			m, err := New(algorithms.Nodes(names...), Default)
			if err != nil {
				t.Fatal(err)
			}
			counts := map[[choices]algorithms.Bucket]float64{}
			for i := range keys {
				var c [choices]algorithms.Bucket
				m.LookupN(hash(i), c[:])
				counts[c]++
			}
			const expected = float64(keys) / cells
			chi2 := float64(cells-len(counts)) * expected // the orders that never came
			for _, o := range counts {
				chi2 += (o - expected) * (o - expected) / expected
			}
			if p := (distuv.ChiSquared{K: cells - 1}).Survival(chi2); p < 1e-6 {
				t.Errorf("%s hashes, names like %s: chi-square %.0f over %d orders, p %.2g", source, names[0], chi2, cells, p)
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	hs := make([]uint64, 1<<20)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			var names []string
			model := map[algorithms.Bucket]string{}
			for i := range n {
				names = append(names, fmt.Sprintf("node-%d", i))
				model[algorithms.Bucket(i)] = names[i]
			}
			m, err := New(algorithms.Nodes(names...), Default)
			if err != nil {
				b.Fatal(err)
			}
			for _, h := range hs[:100] {
				if m.Lookup(h) != obvious(model, h)[0] {
					b.Fatal("wrong answer")
				}
			}
			for i := 0; b.Loop(); i++ {
				sink += m.Lookup(hs[i&(len(hs)-1)])
			}
		})
	}
}

var sink algorithms.Bucket
