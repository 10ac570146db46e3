package memento

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
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
	"github.com/ringbench/ringbench/algorithms/jump"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestPlacementIsTheSameForEver(t *testing.T) {
	if got, want := longrun.Digest(t, Info, nil), "ed84061dffbee00a"; got != want {
		t.Errorf("the owners have the digest %s, want %s", got, want)
	}
}

func TestSharesAreEqual(t *testing.T) { longrun.Shares(t, Info, nil) }

func TestChangesMoveOnlyWhatTheyMust(t *testing.T) { longrun.Changes(t, Info, nil, 150, nil) }

func build(t rapid.TB, n int) *Map {
	t.Helper()
	m, err := New(longrun.Names(n), Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A definition is the algorithm without the trick that saves the memory: it keeps
// for every missing bucket the list of all that worked right after.
type definition struct {
	n       int32
	working []int32
	after   map[int32][]int32
	stack   []int32 // missing buckets
	places  []int   // where they stood in working
}

func (d *definition) remove(b int32) {
	last := len(d.working) - 1
	if len(d.stack) == 0 && b == d.n-1 {
		d.n--
		d.working = d.working[:last]
		return
	}
	place := slices.Index(d.working, b)
	d.working[place] = d.working[last]
	d.working = d.working[:last]
	d.after[b] = slices.Clone(d.working)
	d.stack, d.places = append(d.stack, b), append(d.places, place)
}

func (d *definition) add() int32 {
	last := len(d.stack) - 1
	if last < 0 {
		d.working = append(d.working, d.n)
		d.n++
		return d.n - 1
	}
	b, place := d.stack[last], d.places[last]
	d.stack, d.places = d.stack[:last], d.places[:last]
	delete(d.after, b)
	d.working = append(d.working, b)
	d.working[place], d.working[len(d.working)-1] = d.working[len(d.working)-1], d.working[place]
	return b
}

func (d *definition) lookup(h uint64) int32 {
	if len(d.working) == 0 {
		return int32(algorithms.None)
	}
	b := jump.Hash(h, d.n)
	for {
		left, missing := d.after[b]
		if !missing {
			return b
		}
		b = left[scale(rehash(h, b), int32(len(left)))]
	}
}

func TestLookupIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		m := build(t, n)
		d := &definition{n: int32(n), after: map[int32][]int32{}}
		for b := range int32(n) {
			d.working = append(d.working, b)
		}
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "keys")))
		added := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				added++
				b, err := m.Add(algorithms.Node{Name: fmt.Sprintf("added-%d", added), Weight: 1})
				if want := d.add(); err != nil || int32(b) != want {
					t.Fatalf("Add gives %d, %v, want %d", b, err, want)
				}
			},
			"remove": func(t *rapid.T) {
				if len(d.working) == 0 {
					t.Skip("empty")
				}
				b := rapid.SampledFrom(d.working).Draw(t, "gone")
				d.remove(b)
				if err := m.Remove(algorithms.Bucket(b)); err != nil {
					t.Fatal(err)
				}
			},
			"remove last": func(t *rapid.T) {
				if len(d.working) == 0 {
					t.Skip("empty")
				}
				b := slices.Max(d.working)
				d.remove(b)
				if err := m.Remove(algorithms.Bucket(b)); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				for range 60 {
					h := r.Uint64()
					if got, want := m.Lookup(h), d.lookup(h); int32(got) != want {
						t.Fatalf("hash %#x goes to %d, by the definition to %d", h, got, want)
					}
				}
				// The package comment says what the memory is at most.
				if got, most := m.Footprint(), int64(96*max(1, len(d.stack))); len(d.stack) == 0 && got != 0 || got > most {
					t.Fatalf("%d missing buckets take %d bytes, want at most %d", len(d.stack), got, most)
				}
			},
		})
	})
}

func TestMissingIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m missing
		model := map[int32]row{}
		bucket := rapid.Int32Range(0, 60)
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				if _, there := model[b]; there {
					t.Skip("there already")
				}
				r := row{b + 1, bucket.Draw(t, "left"), bucket.Draw(t, "before")}
				m.insert(b, r.left, r.before)
				model[b] = r
			},
			"delete": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				r, there := model[b]
				if !there {
					t.Skip("not there")
				}
				if got := m.delete(b); got != r.before {
					t.Fatalf("delete(%d) = %d, want %d", b, got, r.before)
				}
				delete(model, b)
			},
			"": func(t *rapid.T) {
				got := map[int32]row{}
				for _, r := range m.rows {
					if r.number != 0 {
						got[r.number-1] = r
					}
				}
				if diff := cmp.Diff(model, got, cmp.AllowUnexported(row{})); diff != "" || m.count != len(model) {
					t.Fatalf("%d rows, %d of them in the model:\n%s", m.count, len(model), diff)
				}
				for b := range int32(61) {
					left, there := m.left(b)
					if r, want := model[b]; there != want || want && left != r.left {
						t.Fatalf("left(%d) = %d, %v, want %d, %v", b, left, there, r.left, want)
					}
				}
			},
		})
	})
}

// While only the last node leaves, it is jump, and remembers nothing.
func TestWithoutGapsItIsJump(t *testing.T) {
	m := build(t, 50)
	r := rand.New(rand.NewPCG(3, 4))
	for n := int32(50); n > 0; n-- {
		for range 200 {
			h := r.Uint64()
			if got, want := m.Lookup(h), jump.Hash(h, n); int32(got) != want {
				t.Fatalf("%d nodes: hash %#x goes to %d, by jump to %d", n, h, got, want)
			}
		}
		if m.Footprint() != 0 {
			t.Fatalf("%d nodes: %d bytes for nothing that is missing", n, m.Footprint())
		}
		if err := m.Remove(algorithms.Bucket(n - 1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSharesStayEqualAfterRemovals(t *testing.T) {
	m := build(t, 100)
	r := rand.New(rand.NewPCG(5, 6))
	for _, b := range r.Perm(100)[:60] {
		if err := m.Remove(algorithms.Bucket(b)); err != nil {
			t.Fatal(err)
		}
	}
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

// The figures are those of 1 + H_n - H_w, worked out apart.
func TestHashesAreWhatTheTheorySays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, tt := range []struct {
		n, w int
		want float64
	}{{1000, 1000, 1}, {1000, 900, 1.1053}, {1000, 500, 1.6926}, {1000, 200, 2.6074}, {1000, 100, 3.2981}, {1000, 10, 5.5565}} {
		m := build(t, tt.n)
		for _, b := range r.Perm(tt.n)[tt.w:] {
			if err := m.Remove(algorithms.Bucket(b)); err != nil {
				t.Fatal(err)
			}
		}
		const keys = 1 << 17
		sum := 0
		for range keys {
			_, hashes := m.LookupProbes(r.Uint64())
			sum += hashes
		}
		if got := float64(sum) / keys; math.Abs(got-tt.want) > 0.01*tt.want {
			t.Errorf("%d of %d buckets take %.4f hashes, want %.4f", tt.w, tt.n, got, tt.want)
		}
	}
}

// The published program hashes by md5. Its placements are those of our state under
// its hashes.
func TestPlacementsOfThePublishedProgram(t *testing.T) {
	data, err := os.ReadFile("testdata/memento.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Source string
		Rows   []struct {
			Nodes    int
			Hash     string
			Ops      string
			Expected []int32
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Rows) == 0 {
		t.Fatal("no vectors")
	}
	for _, row := range vectors.Rows {
		m := build(t, row.Nodes)
		apply(t, m, row.Ops)
		for i, want := range row.Expected {
			if got := md5Lookup(m, fmt.Sprintf("key-%d", i), row.Hash == "md5_32be"); got != want {
				t.Errorf("%d nodes, %s, %s: key-%d is in %d, want %d (%s)", row.Nodes, row.Ops, row.Hash, i, got, want, vectors.Source)
			}
		}
	}
}

// apply makes the changes of a vector, such as "remove(2) add()=2".
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
		b, err := m.Add(algorithms.Node{Name: fmt.Sprintf("added-%d", i), Weight: 1})
		if want := fmt.Sprintf("add()=%d", b); err != nil || op != want {
			t.Fatalf("%s gives %s, %v", op, want, err)
		}
	}
}

// md5Lookup hashes the key for bucket b with the bucket written after it, and for
// bucket 0 and for jump without.
func md5Lookup(m *Map, key string, narrow bool) int32 {
	hash := func(bucket int32) int64 {
		data := []byte(key)
		if bucket != 0 {
			data = binary.BigEndian.AppendUint32(data, uint32(bucket))
		}
		sum := md5.Sum(data)
		if narrow {
			return int64(binary.BigEndian.Uint32(sum[:]))
		}
		return int64(binary.BigEndian.Uint64(sum[:]))
	}
	b := jump.Hash(uint64(hash(0)), m.n)
	for m.missing.count > 0 {
		left, missing := m.missing.left(b)
		if !missing {
			break
		}
		h := hash(b)
		b = m.standIn(int32(max(h, -h)%int64(left)), left)
	}
	return b
}

var sink algorithms.Bucket

// BenchmarkLookup sets a lookup, after no removals and after half of the nodes left
// at random, beside the xxh3 hash of a key of 16 bytes. The keys are 2^20 different
// ones.
func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
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
		for _, percent := range []int{0, 10, 50, 90} {
			m := build(b, n)
			for _, gone := range r.Perm(n)[:n*percent/100] {
				if err := m.Remove(algorithms.Bucket(gone)); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("buckets=%d/missing=%d%%", n, percent), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					sink += m.Lookup(hs[i&(len(hs)-1)])
				}
			})
		}
	}
}
