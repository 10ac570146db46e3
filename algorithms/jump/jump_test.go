package jump_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	reference "github.com/dgryski/go-jump"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/jump"
)

// trials is how many random (key, n) the comparison with the reference takes:
//
//	go test ./algorithms/jump -run BitForBit -trials 100000000
var trials = flag.Int("trials", 300_000, "random (key, n) to compare with the reference")

type vectors struct {
	Placements []struct {
		Source string
		Key    uint64 `json:",string"`
		N      []int32
		Slot   []int32
	}
	Changes []struct {
		Source string
		Key    uint64 `json:",string"`
		Slots  []int32
		UpTo   int32 `json:"up_to"`
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/jump.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Placements) == 0 || len(v.Changes) == 0 {
		t.Fatal("no vectors")
	}
	return v
}

func TestHashGivesThePublishedSlots(t *testing.T) {
	v := readVectors(t)
	for _, r := range v.Placements {
		for i, n := range r.N {
			if got := jump.Hash(r.Key, n); got != r.Slot[i] {
				t.Errorf("key %d of %d slots is in %d, want %d (%s)", r.Key, n, got, r.Slot[i], r.Source)
			}
		}
	}
	for _, r := range v.Changes {
		var got []int32
		at := int32(0)
		for n := int32(1); n <= r.UpTo; n++ {
			if slot := jump.Hash(r.Key, n); slot != at {
				got, at = append(got, slot), slot
			}
		}
		if !slices.Equal(got, r.Slots) {
			t.Errorf("key %d visits %d, want %d (%s)", r.Key, got, r.Slots, r.Source)
		}
	}
}

func TestHashOfNoSlotsIsMinusOneLikeTheReference(t *testing.T) {
	for _, n := range []int32{0, -1, math.MinInt32} {
		if got, want := jump.Hash(1, n), reference.Hash(1, int(n)); got != want {
			t.Errorf("Hash(1, %d) = %d, want %d", n, got, want)
		}
	}
}

// The sizes are spread evenly over the scale of their logarithm, so that
// small and huge clusters are both met; the ends of the range come always.
func TestHashIsTheReferenceBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range *trials {
		key, n := r.Uint64(), max(1, int32(r.Uint32()>>(1+r.IntN(31))))
		if got, want := jump.Hash(key, n), reference.Hash(key, int(n)); got != want {
			t.Fatalf("Hash(%d, %d) = %d, want %d", key, n, got, want)
		}
	}
	for _, n := range []int32{1, 2, 1<<21 - 1, 1 << 21, 1<<21 + 1, math.MaxInt32 - 1, math.MaxInt32} {
		for _, key := range []uint64{0, 1, 1 << 33, 1 << 63, math.MaxUint64} {
			if got, want := jump.Hash(key, n), reference.Hash(key, int(n)); got != want {
				t.Fatalf("Hash(%d, %d) = %d, want %d", key, n, got, want)
			}
		}
	}
}

func FuzzHashIsTheReference(f *testing.F) {
	f.Add(uint64(1), int32(100))
	f.Add(uint64(math.MaxUint64), int32(math.MaxInt32))
	f.Fuzz(func(t *testing.T, key uint64, n int32) {
		if got, want := jump.Hash(key, n), reference.Hash(key, int(n)); got != want {
			t.Errorf("Hash(%d, %d) = %d, want %d", key, n, got, want)
		}
	})
}

// A contestant that any node can leave.
type leaver interface {
	algorithms.Mapper
	algorithms.Adder
	algorithms.Remover
}

func nodes(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return algorithms.Nodes(names...)
}

func build(t testing.TB, info algorithms.Info, n int) leaver {
	t.Helper()
	m, _, err := info.New(nodes(n), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.(leaver)
}

func hashes(n int) []uint64 {
	r := rand.New(rand.NewPCG(7, 11))
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = r.Uint64()
	}
	return hs
}

// movement returns which fraction of the hashes changes its bucket when the
// change to the subject is made, and which fraction does so between two other
// buckets.
func movement(t *testing.T, m leaver, hs []uint64, subject algorithms.Bucket, change func() error) (moved, collateral float64) {
	t.Helper()
	before := make([]algorithms.Bucket, len(hs))
	for i, h := range hs {
		before[i] = m.Lookup(h)
	}
	if err := change(); err != nil {
		t.Fatal(err)
	}
	for i, h := range hs {
		if after := m.Lookup(h); after != before[i] {
			moved++
			if before[i] != subject && after != subject {
				collateral++
			}
		}
	}
	return moved / float64(len(hs)), collateral / float64(len(hs))
}

func TestRemoveFromTheMiddleMovesWhatTheTheorySays(t *testing.T) {
	const tolerance = 0.002
	hs := hashes(1 << 19)
	for _, tt := range []struct{ n, i int }{{5, 0}, {10, 4}, {10, 5}, {10, 9}, {50, 25}} {
		n, i := float64(tt.n), float64(tt.i)
		swap, shift := (2*n-3)/(n*(n-1)), 1-i/n-1/(n*(n-1))
		if tt.i == tt.n-1 { // the last leaves as the paper has it
			swap, shift = 1/n, 1/n
		}
		for _, c := range []struct {
			info algorithms.Info
			want float64
		}{{jump.Info, swap}, {jump.ReferenceInfo, swap}, {jump.ShiftInfo, shift}} {
			m, gone := build(t, c.info, tt.n), algorithms.Bucket(tt.i)
			moved, collateral := movement(t, m, hs, gone, func() error { return m.Remove(gone) })
			if math.Abs(moved-c.want) > tolerance {
				t.Errorf("%s: removing %d of %d moves %.4f, want %.4f", c.info.Name, tt.i, tt.n, moved, c.want)
			}
			if want := c.want - 1/n; math.Abs(collateral-want) > tolerance {
				t.Errorf("%s: removing %d of %d moves %.4f between nodes that stay, want %.4f", c.info.Name, tt.i, tt.n, collateral, want)
			}
		}
	}
}

func TestAddMovesTheLeastAndOnlyToTheNewNode(t *testing.T) {
	hs := hashes(1 << 18)
	for _, n := range []int{1, 8, 10, 129} {
		for _, info := range []algorithms.Info{jump.Info, jump.ReferenceInfo, jump.ShiftInfo} {
			m, added := build(t, info, n), algorithms.Bucket(n)
			moved, collateral := movement(t, m, hs, added, func() error {
				b, err := m.Add(algorithms.Node{Name: "new", Weight: 1})
				if b != added {
					t.Errorf("%s: the new node has bucket %d, want %d", info.Name, b, added)
				}
				return err
			})
			if want := 1 / float64(n+1); math.Abs(moved-want) > 0.004 {
				t.Errorf("%s: adding to %d moves %.4f, want %.4f", info.Name, n, moved, want)
			}
			if collateral != 0 {
				t.Errorf("%s: adding to %d moves %.4f between old nodes", info.Name, n, collateral)
			}
		}
	}
}

func TestMapAndReferenceMapAgreeThroughRandomChanges(t *testing.T) {
	hs := hashes(200)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		ours, err := jump.New(nodes(n), jump.Default)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := jump.NewReference(nodes(n), jump.Default)
		if err != nil {
			t.Fatal(err)
		}
		added := 0
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			if rapid.Bool().Draw(t, "add") {
				added++
				node := algorithms.Node{Name: fmt.Sprintf("added-%d", added), Weight: 1}
				b1, err1 := ours.Add(node)
				b2, err2 := theirs.Add(node)
				if b1 != b2 || err1 != nil || err2 != nil {
					t.Fatalf("Add gives %d, %v and %d, %v", b1, err1, b2, err2)
				}
			} else {
				b := algorithms.Bucket(rapid.IntRange(0, 45).Draw(t, "bucket"))
				if err1, err2 := ours.Remove(b), theirs.Remove(b); (err1 == nil) != (err2 == nil) {
					t.Fatalf("Remove(%d) gives %v and %v", b, err1, err2)
				}
			}
			for _, h := range hs {
				if a, b := ours.Lookup(h), theirs.Lookup(h); a != b {
					t.Fatalf("hash %d is in %d and %d", h, a, b)
				}
			}
		}
	})
}

func TestDrawsAreTheHarmonicNumber(t *testing.T) {
	hs := hashes(1 << 16)
	for n, want := range map[int]float64{1: 1, 2: 1.5, 10: 2.9289682539682538, 100: 5.187377517639621, 1000: 7.485470860550343} {
		m := build(t, jump.Info, n).(algorithms.Prober)
		sum := 0
		for _, h := range hs {
			_, draws := m.LookupProbes(h)
			sum += draws
		}
		if got := float64(sum) / float64(len(hs)); math.Abs(got-want) > 0.01*want {
			t.Errorf("%d nodes take %.4f draws, want H_n = %.4f", n, got, want)
		}
	}
}

// BenchmarkLookup sets the two forms side by side on 2^20 keys, and checks that
// they answer alike.
func BenchmarkLookup(b *testing.B) {
	hs := hashes(1 << 20)
	for _, n := range []int{10, 100, 1000, 10000} {
		ours, theirs := build(b, jump.Info, n), build(b, jump.ReferenceInfo, n)
		for _, h := range hs {
			if ours.Lookup(h) != theirs.Lookup(h) {
				b.Fatalf("the forms disagree about %d of %d", h, n)
			}
		}
		for name, m := range map[string]algorithms.Mapper{"jump": ours, "jump-reference": theirs} {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					sink += m.Lookup(hs[i&(len(hs)-1)])
				}
			})
		}
	}
}

var sink algorithms.Bucket
