package dx

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

// The first suite is of few slots, this is of many that are mostly empty.
func TestConformanceWithRoom(t *testing.T) {
	roomy := algorithms.Define(Info.Name, Info.Ref, Config{Capacity: 200}, New)
	algotest.Test(t, roomy.Declining(Info.Declines...))
}

func TestPlacementIsTheSameForEver(t *testing.T) {
	if got, want := longrun.Digest(t, Info, nil), "3ba553a1378a6030"; got != want {
		t.Errorf("the owners have the digest %s, want %s", got, want)
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, Info, nil) }

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) {
	longrun.Changes(t, Info, json.RawMessage(`{"capacity":150}`), 150, nil)
}

func build(t testing.TB, n, capacity int) *Map {
	t.Helper()
	m, err := New(longrun.Names(n), Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// remove removes all nodes but the first w of a random order.
func remove(t testing.TB, m *Map, w int, r *rand.Rand) {
	t.Helper()
	for _, b := range r.Perm(m.Len())[w:] {
		if err := m.Remove(algorithms.Bucket(b)); err != nil {
			t.Fatal(err)
		}
	}
}

// The figures are those of the theory, a/w.
func TestProbesAreWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		a, w, want int
		keys       int
	}{{1000, 1000, 1, 1 << 14}, {1000, 500, 2, 1 << 17}, {1000, 100, 10, 1 << 16}, {1000, 10, 100, 1 << 15}} {
		m := build(t, tt.a, tt.a)
		remove(t, m, tt.w, r)
		sum := 0
		for range tt.keys {
			_, probes := m.LookupProbes(r.Uint64())
			sum += probes
		}
		got, want := float64(sum)/float64(tt.keys), float64(tt.want)
		if math.Abs(got-want) > 0.02*want {
			t.Errorf("%d of %d slots take %.3f probes, want %d", tt.w, tt.a, got, tt.want)
		}
	}
}

func TestWeightsTakeProbesByTheirSum(t *testing.T) {
	nodes := longrun.Names(60)
	for i := range nodes {
		nodes[i].Weight = []float64{1, 2, 4}[i%3]
	}
	m, err := New(nodes, Config{Capacity: 90})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	const keys, want = 1 << 17, 90 * 4 / 140.0 // a*r/W
	sum := 0
	for range keys {
		_, probes := m.LookupProbes(r.Uint64())
		sum += probes
	}
	if got := float64(sum) / keys; math.Abs(got-want) > 0.01*want {
		t.Errorf("weights 1:2:4 take %.4f probes, want %.4f", got, want)
	}
}

func TestSharesStayEqualAfterRemovals(t *testing.T) {
	m := build(t, 100, 150)
	r := rand.New(rand.NewPCG(5, 6))
	remove(t, m, 40, r)
	counts := map[algorithms.Bucket]float64{}
	for range 2_000_000 {
		counts[m.Lookup(r.Uint64())]++
	}
	var owned []float64
	for b, c := range counts {
		if _, bound := m.members.Node(b); !bound {
			t.Fatalf("bucket %d owns keys and has no node", b)
		}
		owned = append(owned, c)
	}
	if p := longrun.Evenness(owned); len(owned) != 40 || p < 1e-6 {
		t.Errorf("after 60 removals of 100, %d nodes have shares of probability %g", len(owned), p)
	}
}

// A weight that differs makes the Map keep limits. That must move nothing by
// itself.
func TestLimitsMoveNoKeyOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := mustBuild(t, 20), mustBuild(t, 20)
		if err := b.SetWeight(3, 0.5); err != nil {
			t.Fatal(err)
		}
		if err := b.SetWeight(3, 1); err != nil {
			t.Fatal(err)
		}
		if a.limits != nil || b.limits == nil {
			t.Fatal("limits are kept for equal weights, or not for unequal ones")
		}
		h := rapid.Uint64().Draw(t, "hash")
		if x, y := a.Lookup(h), b.Lookup(h); x != y {
			t.Fatalf("hash %#x goes to %d, with limits to %d", h, x, y)
		}
	})
}

func mustBuild(t *rapid.T, n int) *Map {
	m, err := New(longrun.Names(n), Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A weight so small that chance hardly ever takes it must not make a lookup
// endless when it is all that is left.
func TestTheLightestNodeOwnsAllWhenItIsAlone(t *testing.T) {
	m, err := New([]algorithms.Node{{Name: "heavy", Weight: 1e12}, {Name: "light", Weight: 1e-12}}, Default)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	for h := range uint64(100) {
		dst := make([]algorithms.Bucket, 2)
		if b, n := m.Lookup(h), m.LookupN(h, dst); b != 1 || n != 1 || dst[0] != 1 {
			t.Fatalf("hash %d goes to %d, replicas %v", h, b, dst[:n])
		}
	}
}

func TestWhatNeedsANewMapIsUnsupported(t *testing.T) {
	m := build(t, 3, 3)
	heavy := algorithms.Node{Name: "heavy", Weight: 2}
	for what, err := range map[string]error{
		"a weight above the largest": m.SetWeight(1, 2),
		"a node without a slot":      second(m.Add(algorithms.Node{Name: "more", Weight: 1})),
		"a node above the largest":   second(build(t, 3, 4).Add(heavy)),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s gives %v", what, err)
		}
	}
	if _, err := New(longrun.Names(3), Config{Capacity: 2}); err == nil {
		t.Error("2 slots for 3 nodes are accepted")
	}
}

func second(_ algorithms.Bucket, err error) error { return err }

func TestForecastIsTheFootprint(t *testing.T) {
	for _, weight := range []float64{0, 1, 2} {
		nodes := append(longrun.Names(100), algorithms.Node{Name: "other", Weight: weight})
		for _, c := range []Config{Default, {Capacity: 130}} {
			m, err := New(nodes, c)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := c.Forecast(nodes), m.Footprint(); got != want {
				t.Errorf("weight %v, capacity %d: forecast %d bytes, footprint %d", weight, c.Capacity, got, want)
			}
		}
	}
}

// The published program draws slots from the generator of java.util.Random. Its
// placements are those of our slots under its sequence. Only who is there counts,
// so nodes that were removed and came back were never away.
func TestPlacementsOfThePublishedProgram(t *testing.T) {
	data, err := os.ReadFile("testdata/dx.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Source string
		Hashes []int64
		Rows   []struct {
			Capacity, Nodes int
			Hash            string
			Gone            []algorithms.Bucket
			Expected        []uint64
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Rows) == 0 {
		t.Fatal("no vectors")
	}
	for _, row := range vectors.Rows {
		m := build(t, row.Nodes, row.Capacity)
		for _, b := range row.Gone {
			if err := m.Remove(b); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range row.Expected {
			h := uint64(vectors.Hashes[i])
			if row.Hash == "md5_32be" {
				h >>= 32
			}
			r := newJavaRandom(h)
			slot := r.next(row.Capacity)
			for !m.takes(slot, 0) {
				slot = r.next(row.Capacity)
			}
			if slot != want {
				t.Errorf("%d slots without %d, %s: key-%d is in %d, want %d (%s)", row.Capacity, row.Gone, row.Hash, i, slot, want, vectors.Source)
			}
		}
	}
}

// A javaRandom is the generator that the documentation of java.util.Random
// specifies.
type javaRandom uint64

func newJavaRandom(seed uint64) javaRandom { return javaRandom((seed ^ 0x5deece66d) & (1<<48 - 1)) }

// next is nextInt(n).
func (r *javaRandom) next(n int) uint64 {
	for {
		*r = (*r*0x5deece66d + 0xb) & (1<<48 - 1)
		x := uint64(*r >> 17) // 31 bits
		if n&(n-1) == 0 {
			return uint64(n) * x >> 31
		}
		if rest := x % uint64(n); x-rest+uint64(n)-1 < 1<<31 {
			return rest
		}
	}
}

var sink algorithms.Bucket

// BenchmarkLookup sets a lookup beside the xxh3 hash of a key of 16 bytes. The
// keys are 2^20 different ones.
func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	hs, keys := make([]uint64, 1<<20), make([]string, 1<<20)
	for i := range hs {
		hs[i] = r.Uint64()
		keys[i] = fmt.Sprintf("%016x", hs[i])
	}
	b.Run("hash", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			sink += algorithms.Bucket(xxh3.HashString(keys[i&(len(keys)-1)]))
		}
	})
	for _, n := range []int{10, 1000, 10000} {
		for _, capacity := range []int{n, 2 * n, 10 * n} {
			var m algorithms.Mapper = build(b, n, capacity)
			b.Run(fmt.Sprintf("nodes=%d/capacity=%d", n, capacity), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					sink += m.Lookup(hs[i&(len(hs)-1)])
				}
			})
		}
	}
}
