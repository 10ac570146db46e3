package anchor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/algotest/longrun"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

// The first suite is of small anchors, this is of one that is mostly empty.
func TestConformanceWithRoom(t *testing.T) {
	roomy := algorithms.Define(Info.Name, Info.Ref, Config{Capacity: 200}, New)
	algotest.Test(t, roomy.Declining(Info.Declines...))
}

func TestPlacementIsTheSameForEver(t *testing.T) {
	if got, want := longrun.Digest(t, Info, nil), "0e4ebcd2c99e5d87"; got != want {
		t.Errorf("the owners have the digest %s, want %s", got, want)
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, Info, nil) }

func build(t testing.TB, n, capacity int) *Map {
	t.Helper()
	m, err := New(longrun.Names(n), Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A definition is the paper's first form of the algorithm, which keeps for every
// removed bucket the list of all that worked right after.
type definition struct {
	size    int32
	working []int32
	after   map[int32][]int32 // by removed bucket
}

func define(size, n int) *definition {
	d := &definition{size: int32(size), after: map[int32][]int32{}}
	for b := range int32(size) {
		d.working = append(d.working, b)
	}
	for b := size - 1; b >= n; b-- {
		d.remove(int32(b))
	}
	return d
}

func (d *definition) remove(b int32) {
	last := len(d.working) - 1
	d.working[slices.Index(d.working, b)] = d.working[last]
	d.working = d.working[:last]
	d.after[b] = slices.Clone(d.working)
}

// restore takes back the last removal, that of b.
func (d *definition) restore(b int32, place int) {
	delete(d.after, b)
	d.working = append(d.working, b)
	last := len(d.working) - 1
	d.working[place], d.working[last] = d.working[last], d.working[place]
}

func (d *definition) lookup(h uint64) int32 {
	b := scale(h, d.size)
	for {
		left, removed := d.after[b]
		if !removed {
			return b
		}
		b = left[scale(rehash(h, b), int32(len(left)))]
	}
}

func TestLookupIsThePapersDefinition(t *testing.T) {
	const capacity = 40
	var d *definition
	var places []int // of the removed buckets in the list of working ones
	var stack []int32
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, capacity).Draw(t, "nodes")
		m, err := New(longrun.Names(n), Config{Capacity: capacity})
		if err != nil {
			t.Fatal(err)
		}
		d, places, stack = define(capacity, n), nil, nil
		for b := capacity - 1; b >= n; b-- {
			stack, places = append(stack, int32(b)), append(places, b)
		}
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "keys")))
		added := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				added++
				b, err := m.Add(algorithms.Node{Name: fmt.Sprintf("added-%d", added), Weight: 1})
				if len(stack) == 0 {
					if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "capacity") {
						t.Fatalf("Add to a full anchor gives %v", err)
					}
					return
				}
				last := len(stack) - 1
				if err != nil || int32(b) != stack[last] {
					t.Fatalf("Add gives %d, %v, want %d", b, err, stack[last])
				}
				d.restore(stack[last], places[last])
				stack, places = stack[:last], places[:last]
			},
			"remove": func(t *rapid.T) {
				if len(d.working) == 0 {
					t.Skip("empty")
				}
				b := rapid.SampledFrom(d.working).Draw(t, "gone")
				stack, places = append(stack, b), append(places, slices.Index(d.working, b))
				d.remove(b)
				if err := m.Remove(algorithms.Bucket(b)); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(d.working, m.working[:m.n]); len(d.working) > 0 && diff != "" {
					t.Fatalf("the working buckets differ from the definition's:\n%s", diff)
				}
				for range 100 {
					h := r.Uint64()
					want := algorithms.None
					if len(d.working) > 0 {
						want = algorithms.Bucket(d.lookup(h))
					}
					if got := m.Lookup(h); got != want {
						t.Fatalf("hash %#x goes to %d, by the definition to %d", h, got, want)
					}
				}
			},
		})
	})
}

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) {
	longrun.Changes(t, Info, json.RawMessage(`{"capacity":150}`), 150, nil)
}

func TestSharesStayEqualAfterRemovals(t *testing.T) {
	m := build(t, 100, 150)
	r := rand.New(rand.NewPCG(3, 4))
	gone := r.Perm(100)[:60]
	for _, b := range gone {
		if err := m.Remove(algorithms.Bucket(b)); err != nil {
			t.Fatal(err)
		}
	}
	counts := make([]float64, 100)
	for range 2_000_000 {
		counts[m.Lookup(r.Uint64())]++
	}
	slices.Sort(gone)
	for i, b := range gone {
		counts = slices.Delete(counts, b-i, b-i+1)
	}
	if p := longrun.Evenness(counts); p < 1e-6 {
		t.Errorf("after 60 removals of 100 the shares have probability %g", p)
	}
}

// The figures are those of 1 + H_a - H_w, worked out apart.
func TestHashesAreWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		a, w int
		want float64
	}{{1000, 1000, 1}, {1000, 900, 1.1053}, {1000, 500, 1.6926}, {1000, 200, 2.6074}, {1000, 100, 3.2981}, {1000, 10, 5.5565}} {
		ordered := build(t, tt.w, tt.a)
		random := build(t, tt.a, tt.a)
		for _, b := range r.Perm(tt.a)[tt.w:] {
			if err := random.Remove(algorithms.Bucket(b)); err != nil {
				t.Fatal(err)
			}
		}
		for what, m := range map[string]*Map{"never used": ordered, "removed at random": random} {
			const keys = 1 << 18
			sum := 0
			for range keys {
				_, hashes := m.LookupProbes(r.Uint64())
				sum += hashes
			}
			if got := float64(sum) / keys; math.Abs(got-tt.want) > 0.01*tt.want {
				t.Errorf("%d of %d buckets, the others %s, take %.4f hashes, want %.4f", tt.w, tt.a, what, got, tt.want)
			}
		}
	}
}

// apply makes the changes of a vector, such as "init remove(2) add()=2".
func apply(t *testing.T, m *Map, ops string) {
	t.Helper()
	for i, op := range strings.Fields(ops) {
		if arg, ok := strings.CutPrefix(op, "remove("); ok {
			b, err := strconv.Atoi(strings.TrimSuffix(arg, ")"))
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Remove(algorithms.Bucket(b)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, ok := strings.CutPrefix(op, "add()=")
		if !ok {
			t.Fatalf("unknown change %q", op)
		}
		b, err := m.Add(algorithms.Node{Name: fmt.Sprintf("added-%d", i), Weight: 1})
		if err != nil || strconv.Itoa(int(b)) != want {
			t.Fatalf("%s gives %d, %v", op, b, err)
		}
	}
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Of K only the entries of buckets that were removed, or never were, matter.
func TestStatesOfThePaper(t *testing.T) {
	var vectors struct {
		Source string
		Rows   []struct {
			Size, Nodes int
			Ops         string
			A, K, L, W  []int32
		}
	}
	read(t, "testdata/state.json", &vectors)
	if len(vectors.Rows) == 0 {
		t.Fatal("no vectors")
	}
	for _, row := range vectors.Rows {
		m := build(t, row.Nodes, row.Size)
		apply(t, m, row.Ops)
		var a, k []int32
		for _, b := range m.anchor {
			a, k = append(a, b.left), append(k, b.heir)
		}
		for _, array := range []struct {
			name      string
			got, want []int32
		}{{"A", a, row.A}, {"K", k, row.K}, {"L", m.place, row.L}, {"W", m.working, row.W}} {
			if array.want == nil {
				continue
			}
			if diff := cmp.Diff(array.want[:row.Nodes], array.got[:row.Nodes]); diff != "" {
				t.Errorf("%d of %d buckets, %s: %s differs (%s):\n%s", row.Nodes, row.Size, row.Ops, array.name, vectors.Source, diff)
			}
		}
	}
}

// The authors' program hashes by CRC-32C. Its placements are those of our state
// under its hash.
func TestPlacementsOfTheAuthorsProgram(t *testing.T) {
	var vectors struct {
		Source string
		Rows   []struct {
			Size, Nodes int
			Ops         string
			Expected    []int32
		}
	}
	read(t, "testdata/placements.json", &vectors)
	if len(vectors.Rows) == 0 {
		t.Fatal("no vectors")
	}
	for _, row := range vectors.Rows {
		m := build(t, row.Nodes, row.Size)
		apply(t, m, row.Ops)
		for key, want := range row.Expected {
			if got := crcLookup(m, uint64(key), uint64(1000+key)); got != want {
				t.Errorf("%d of %d buckets, %s: key %d is in %d, want %d (%s)", row.Nodes, row.Size, row.Ops, key, got, want, vectors.Source)
			}
		}
	}
}

func crcLookup(m *Map, key1, key2 uint64) int32 {
	hash := crc(key1, key2)
	b := int32(hash % uint64(len(m.anchor)))
	for m.anchor[b].left > 0 {
		hash = crc(key1-hash, key2+hash)
		b = m.standIn(int32(hash%uint64(m.anchor[b].left)), m.anchor[b].left)
	}
	return b
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc is the processor's instruction on the register key2 and the word key1: there
// is no inversion at the start or at the end.
func crc(key1, key2 uint64) uint64 {
	data := binary.LittleEndian.AppendUint64(nil, key1)
	return uint64(^crc32.Update(^uint32(key2), castagnoli, data))
}

func TestWrongCapacitiesAreRefused(t *testing.T) {
	for _, capacity := range []int{-1, 2, 1 << 31} {
		if _, err := New(longrun.Names(3), Config{Capacity: capacity}); err == nil || !strings.Contains(err.Error(), "capacity") {
			t.Errorf("capacity %d for 3 nodes gives %v", capacity, err)
		}
	}
	for _, tt := range []struct {
		capacity int
		want     int64
	}{{0, 16 * 16}, {3, 3 * 16}, {100, 100 * 16}} {
		m := build(t, 3, tt.capacity)
		if got := m.Footprint(); got != tt.want {
			t.Errorf("capacity %d takes %d bytes, want %d", tt.capacity, got, tt.want)
		}
		if got := (Config{Capacity: tt.capacity}).Forecast(longrun.Names(3)); got != tt.want {
			t.Errorf("capacity %d is forecast to take %d bytes, want %d", tt.capacity, got, tt.want)
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
	for _, n := range []int{10, 100, 1000, 10000} {
		for _, capacity := range []int{n, 2 * n} {
			var m algorithms.Mapper = build(b, n, capacity)
			b.Run(fmt.Sprintf("nodes=%d/capacity=%d", n, capacity), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					sink += m.Lookup(hs[i&(len(hs)-1)])
				}
			})
		}
	}
}
