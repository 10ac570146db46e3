package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

func members(t testing.TB, n int) *algorithms.Members {
	nodes := make([]algorithms.Node, n)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: fmt.Sprint(i), Weight: 1}
	}
	m, err := algorithms.NewMembers(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheSlotIsTheRemainder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Uint64Range(1, MaxSize).Draw(t, "size")
		var table Table
		table.size = d
		table.divideBy(d)
		h := rapid.Uint64().Draw(t, "hash")
		multiple := h / d * d
		for _, h := range []uint64{h, multiple, multiple - 1, multiple + d - 1, 0, math.MaxUint64, math.MaxUint64 / d * d} {
			if got := table.Slot(h); got != h%d {
				t.Fatalf("%d mod %d is %d, want %d", h, d, got, h%d)
			}
		}
	})
}

func TestTheSlotIsTheRemainderForEverySmallSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for d := uint64(1); d < 5000; d++ {
		var table Table
		table.size = d
		table.divideBy(d)
		for range 20 {
			h := r.Uint64()
			for _, h := range []uint64{h, h / d * d, h/d*d - 1, math.MaxUint64 - h%3} {
				if got := table.Slot(h); got != h%d {
					t.Fatalf("%d mod %d is %d, want %d", h, d, got, h%d)
				}
			}
		}
	}
}

func TestOwnersBeyondSixteenBitsAreKept(t *testing.T) {
	for _, n := range []int{1 << 16, 1<<16 + 1} {
		m := members(t, n)
		owners := []algorithms.Bucket{algorithms.Bucket(n - 1), 0, 5}
		table := New(slices.Clone(owners), m)
		for slot, want := range owners {
			if got := table.Lookup(uint64(slot)); got != want {
				t.Errorf("%d nodes: slot %d is owned by %d, want %d", n, slot, got, want)
			}
		}
		if !slices.Equal(table.Owners(), owners) {
			t.Errorf("owners %d, want %d", table.Owners(), owners)
		}
	}
}

func TestATableWithoutSlotsHasNoOwner(t *testing.T) {
	var table Table
	if b := table.Lookup(7); b != algorithms.None {
		t.Errorf("owner %d", b)
	}
}

func TestReplicasAreTheOwnersOfTheNextDraws(t *testing.T) {
	m, err := algorithms.NewMembers([]algorithms.Node{
		{Name: "a", Weight: 1, Zone: "x"}, {Name: "b", Weight: 1, Zone: "x"}, {Name: "c", Weight: 1, Zone: "y"}, {Name: "d", Weight: 1, Zone: "y"},
	})
	if err != nil {
		t.Fatal(err)
	}
	table := New([]algorithms.Bucket{0, 1, 2, 3, 1, 0, 3}, m)
	for h := range uint64(300) {
		dst := make([]algorithms.Bucket, 4)
		n := table.LookupN(h, dst)
		first := table.Lookup(h)
		i := 1 // the first draw that meets the other zone
		for table.Lookup(algorithms.Redraw(h, i))/2 == first/2 {
			i++
		}
		if n != 4 || dst[0] != first || dst[1] != table.Lookup(algorithms.Redraw(h, i)) {
			t.Fatalf("hash %d: %d", h, dst[:n])
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	table := New([]algorithms.Bucket{0, 1, 1, 2, 0}, members(t, 4))
	if n := testing.AllocsPerRun(100, func() { table.Lookup(12345678901234567) }); n != 0 {
		t.Errorf("%v allocations a lookup", n)
	}
}
