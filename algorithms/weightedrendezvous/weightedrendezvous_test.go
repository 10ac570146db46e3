package weightedrendezvous

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

// obvious ranks the nodes of positive weight for h the slow way: by the score
// -w/ln(u) with the library's logarithm, then by name.
func obvious(nodes map[algorithms.Bucket]algorithms.Node, h uint64) []algorithms.Bucket {
	score := func(b algorithms.Bucket) float64 {
		x := (h ^ xxh3.HashString(nodes[b].Name)) * ((h>>32 | h<<32) | 1)
		x = (x ^ x>>32) * 0xbb67ae8584caa73b
		rest := (float64(x>>12) + 0.5) / (1 << 52)
		return -nodes[b].Weight / math.Log1p(-rest)
	}
	var rank []algorithms.Bucket
	for b, n := range nodes {
		if n.Weight > 0 {
			rank = append(rank, b)
		}
	}
	slices.SortFunc(rank, func(a, b algorithms.Bucket) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(nodes[a].Name, nodes[b].Name))
	})
	return rank
}

// readRows reads the rows of a file of vectors.
func readRows(t *testing.T, name string, rows any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file.Rows, rows); err != nil {
		t.Fatal(err)
	}
}

func TestLookupNGivesTheReferencePlacements(t *testing.T) {
	var rows []struct {
		Nodes   []string
		Weights []float64
		Lookups []struct {
			Hash  uint64 `json:",string"`
			First []algorithms.Bucket
		}
	}
	readRows(t, "placements.json", &rows)
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range rows {
		nodes := algorithms.Nodes(row.Nodes...)
		for i := range nodes {
			nodes[i].Weight = row.Weights[i]
		}
		m := build(t, nodes)
		for _, l := range row.Lookups {
			dst := make([]algorithms.Bucket, 3)
			dst = dst[:m.LookupN(l.Hash, dst)]
			if !slices.Equal(dst, l.First) || m.Lookup(l.Hash) != l.First[0] {
				t.Errorf("%d nodes, hash %d: %d, want %d", len(nodes), l.Hash, dst, l.First)
			}
		}
	}
}

// The formula by itself, apart from our draw: the score of a node for a key,
// with u from md5.
func TestNegLogGivesTheOwnersThatTheFormulaGives(t *testing.T) {
	var rows []struct {
		Weights map[string]float64
		Owners  []string
	}
	readRows(t, "formula.json", &rows)
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range rows {
		for i, want := range row.Owners {
			owner, least := "", math.Inf(1)
			for _, node := range slices.Sorted(maps.Keys(row.Weights)) {
				digest := md5.Sum(fmt.Appendf(nil, "%s:key-%d", node, i))
				u := (float64(binary.BigEndian.Uint64(digest[:])>>11) + 0.5) / (1 << 53)
				if c := negLog(1-u) / row.Weights[node]; c < least {
					owner, least = node, c
				}
			}
			if owner != want {
				t.Errorf("weights %v, key-%d: %s, want %s", row.Weights, i, owner, want)
			}
		}
	}
}

func TestLookupsAgreeWithTheObviousRankingThroughRandomChanges(t *testing.T) {
	weight := rapid.SampledFrom([]float64{0, 0.001, 0.5, 1, 1, 2, 3.7, 100})
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.IntRange(1, 30).Draw(t, "nodes")
		model := map[algorithms.Bucket]algorithms.Node{}
		var nodes []algorithms.Node
		for i := range start {
			n := algorithms.Node{Name: fmt.Sprintf("node-%d", (i+11)%start), Weight: weight.Draw(t, "weight")}
			if i == 0 {
				n.Weight = 1 // not all may be 0
			}
			nodes = append(nodes, n)
			model[algorithms.Bucket(i)] = n
		}
		m, err := New(nodes, Default)
		if err != nil {
			t.Fatal(err)
		}
		bucket := rapid.Map(rapid.IntRange(0, 40), func(i int) algorithms.Bucket { return algorithms.Bucket(i) })
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := algorithms.Node{Name: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "name"), Weight: weight.Draw(t, "weight")}
				if b, err := m.Add(n); err == nil {
					model[b] = n
				}
			},
			"remove": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				if err := m.Remove(b); err == nil {
					delete(model, b)
				}
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket.Draw(t, "bucket"), weight.Draw(t, "weight")
				if err := m.SetWeight(b, w); err == nil {
					model[b] = algorithms.Node{Name: model[b].Name, Weight: w}
				}
			},
			"": func(t *rapid.T) {
				if !slices.IsSortedFunc(m.buckets, func(a, b algorithms.Bucket) int { return cmp.Compare(model[a].Name, model[b].Name) }) {
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

// The worked example gives u outright: 0.9, 0.8 and 0.5 for A, B and C of weight
// 1, 2 and 4 score 9.491221581029905, 8.962840235449102 and 5.7707801635558535.
func TestTheWorkedExample(t *testing.T) {
	for _, tt := range []struct{ w, u, score float64 }{
		{1, 0.9, 9.491221581029905}, {2, 0.8, 8.962840235449102}, {4, 0.5, 5.7707801635558535},
	} {
		if got := tt.w / negLog(1-tt.u); math.Abs(got/tt.score-1) > 1e-14 {
			t.Errorf("weight %v, u %v: score %v, want %v", tt.w, tt.u, got, tt.score)
		}
	}
}

func four(c float64) []algorithms.Node {
	return []algorithms.Node{{Name: "a", Weight: c}, {Name: "b", Weight: 2 * c}, {Name: "c", Weight: 3 * c}, {Name: "d", Weight: 4 * c}}
}

func build(t *testing.T, nodes []algorithms.Node) *Map {
	t.Helper()
	m, err := New(nodes, Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSharesAreTheWeights(t *testing.T) {
	const keys = 2_000_000
	m := build(t, four(1))
	r := rand.New(rand.NewPCG(1, 2))
	var counts [4]float64
	for range keys {
		counts[m.Lookup(r.Uint64())]++
	}
	chi2 := 0.0
	for b, o := range counts {
		expected := float64(b+1) / 10 * keys
		chi2 += (o - expected) * (o - expected) / expected
	}
	if p := (distuv.ChiSquared{K: 3}).Survival(chi2); p < 1e-6 {
		t.Errorf("counts %v of weights 1:2:3:4, p %.2g", counts, p)
	}
}

// The second choice follows the weights of those that are left.
func TestTheSecondChoiceFollowsTheWeightsToo(t *testing.T) {
	const keys = 1_000_000
	m := build(t, four(1))
	r := rand.New(rand.NewPCG(3, 4))
	var counts [4][4]float64
	var dst [2]algorithms.Bucket
	for range keys {
		m.LookupN(r.Uint64(), dst[:])
		counts[dst[0]][dst[1]]++
	}
	chi2 := 0.0
	for i := range 4 {
		for j := range 4 {
			if i == j {
				continue
			}
			first := float64(i+1) / 10
			second := float64(j+1) / (10 - float64(i+1))
			expected := first * second * keys
			chi2 += (counts[i][j] - expected) * (counts[i][j] - expected) / expected
		}
	}
	if p := (distuv.ChiSquared{K: 11}).Survival(chi2); p < 1e-6 {
		t.Errorf("counts of first and second choice %v, p %.2g", counts, p)
	}
}

func TestScalingAllWeightsMovesNothing(t *testing.T) {
	m := build(t, four(1))
	for _, c := range []float64{0.001, 0.3, 3, 1000} {
		scaled := build(t, four(c))
		r := rand.New(rand.NewPCG(5, 6))
		for range 200_000 {
			if h := r.Uint64(); m.Lookup(h) != scaled.Lookup(h) {
				t.Fatalf("weights times %v move the key %d", c, h)
			}
		}
	}
}

func TestRaisingAWeightMovesKeysOnlyToItsNode(t *testing.T) {
	m, raised := build(t, four(1)), build(t, four(1))
	if err := raised.SetWeight(3, 6); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	const keys = 400_000
	moved := 0
	for range keys {
		h := r.Uint64()
		if before, after := m.Lookup(h), raised.Lookup(h); before != after {
			moved++
			if after != 3 {
				t.Fatalf("key %d moved from %d to %d", h, before, after)
			}
		}
	}
	if got := float64(moved) / keys; math.Abs(got-0.1) > 0.003 {
		t.Errorf("1:2:3:4 to 1:2:3:6 moves %.4f, want 0.1", got)
	}
}

// The extremes of the draw, which buildbarn/bb-storage#238 is about: the cost is finite and positive at both ends, so
// that no weight wins or loses by an infinity or a NaN, and weight 0 never wins.
func TestTheEndsOfTheDrawAreOrdinary(t *testing.T) {
	for _, d := range []int64{0, 1, 2, 1 << 51, 1<<52 - 2, 1<<52 - 1} {
		for _, w := range []float64{minWeight, 1, maxWeight} {
			c := cost(d, ulp/w)
			if !(c > 0) || math.IsInf(c, 0) || c < float64(d)*(ulp/w) {
				t.Errorf("the draw %d with weight %v costs %v", d, w, c)
			}
		}
	}
	m := build(t, []algorithms.Node{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c"}})
	for h := range uint64(20_000) {
		if m.Lookup(h*0x9e3779b97f4a7c15) == 2 {
			t.Fatal("weight 0 owns a key")
		}
	}
}

func TestWeightsBeyondFloat64AreUnsupported(t *testing.T) {
	m := build(t, four(1))
	for _, w := range []float64{1e-201, 1e201, math.SmallestNonzeroFloat64, math.MaxFloat64} {
		_, newErr := New([]algorithms.Node{{Name: "a", Weight: w}}, Default)
		_, addErr := m.Add(algorithms.Node{Name: "e", Weight: w})
		for _, err := range []error{newErr, addErr, m.SetWeight(0, w)} {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("weight %v: %v", w, err)
			}
		}
	}
	if m.Len() != 4 {
		t.Errorf("%d nodes after refused changes", m.Len())
	}
}

// rest is 1-u for a draw.
func rest(d int64) float64 { return (float64(d) + 0.5) * ulp }

func TestNegLogIsTheLogarithmAndNeverBelowItsBound(t *testing.T) {
	worst := 0.0
	check := func(x float64) {
		got, want := negLog(x), -math.Log1p(-x)
		worst = max(worst, math.Abs(got/want-1))
		if got < x {
			t.Fatalf("negLog(%v) = %v is below its bound", x, got)
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 200_000 {
		d := r.Int64N(1 << 52)
		check(rest(d))
		check(rest(d >> r.IntN(52)))           // u near 1
		check(rest(1<<52 - 1 - d>>r.IntN(52))) // u near 0
	}
	for i := range 64 {
		check(near + (float64(i)-32)*ulp)
	}
	if worst > 1e-14 {
		t.Errorf("relative error %.2g, want under 1e-14", worst)
	}
}

// The values below were computed on one machine. They fail where a logarithm or
// a fused operation makes another machine place keys otherwise.
func TestNegLogIsTheSameOnEveryMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	digest := uint64(0)
	for range 100_000 {
		d := r.Int64N(1<<52) >> r.IntN(52)
		digest = digest*0x9e3779b97f4a7c15 + math.Float64bits(negLog(rest(d))) + math.Float64bits(negLog(rest(1<<52-1-d)))
	}
	if want := uint64(15432845311464557879); digest != want {
		t.Errorf("digest of the costs is %d, want %d", digest, want)
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
			model := map[algorithms.Bucket]algorithms.Node{}
			var nodes []algorithms.Node
			for i := range n {
				nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("node-%d", i), Weight: float64(1 + i%3)})
				model[algorithms.Bucket(i)] = nodes[i]
			}
			m, err := New(nodes, Default)
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
