package algorithms_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

// choose picks k replicas from an order of preference by the letter of the rule:
// the first node of each zone, then the first of the rest.
func choose(nodes map[algorithms.Bucket]algorithms.Node, order []algorithms.Bucket, k int) []algorithms.Bucket {
	var first, rest []algorithms.Bucket
	zones := map[string]bool{}
	for _, b := range order {
		switch zone := nodes[b].Zone; {
		case slices.Contains(first, b) || slices.Contains(rest, b):
		case !zones[zone]:
			zones[zone] = true
			first = append(first, b)
		default:
			rest = append(rest, b)
		}
	}
	all := append(first, rest...)
	return all[:min(k, len(all))]
}

// members draws a membership that has seen changes, and returns it with its
// nodes.
func members(t *rapid.T) (*algorithms.Members, map[algorithms.Bucket]algorithms.Node) {
	node := func(i int) algorithms.Node {
		return algorithms.Node{
			Name:   fmt.Sprintf("n%d", i),
			Weight: rapid.SampledFrom([]float64{1, 1, 2, 0}).Draw(t, "weight"),
			Zone:   rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone"),
		}
	}
	m := &algorithms.Members{}
	nodes := map[algorithms.Bucket]algorithms.Node{}
	for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
		n := node(i)
		b, err := m.Add(n)
		if err != nil {
			t.Fatal(err)
		}
		nodes[b] = n
		victim := algorithms.Bucket(rapid.IntRange(-3, 12).Draw(t, "victim"))
		switch n, bound := nodes[victim]; {
		case bound && rapid.Bool().Draw(t, "leaves"):
			if _, err := m.Remove(victim); err != nil {
				t.Fatal(err)
			}
			delete(nodes, victim)
		case bound:
			n.Weight = rapid.SampledFrom([]float64{0, 3}).Draw(t, "new weight")
			if err := m.SetWeight(victim, n.Weight); err != nil {
				t.Fatal(err)
			}
			nodes[victim] = n
		}
	}
	return m, nodes
}

func able(nodes map[algorithms.Bucket]algorithms.Node) []algorithms.Bucket {
	bs := []algorithms.Bucket{}
	for b, n := range nodes {
		if n.Weight > 0 {
			bs = append(bs, b)
		}
	}
	slices.Sort(bs)
	return bs
}

func TestAChoiceTakesEveryZoneOnceBeforeAnyTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, nodes := members(t)
		owners := able(nodes)
		var order []algorithms.Bucket
		if len(owners) > 0 {
			order = rapid.SliceOfN(rapid.SampledFrom(owners), 0, 40).Draw(t, "order")
		}
		for k := range len(nodes) + 2 {
			dst := make([]algorithms.Bucket, k)
			c := m.Choose(dst)
			offers := 0
			for _, b := range order {
				if !c.More() {
					break
				}
				offers++
				if c.Offer(b) != c.More() {
					t.Fatalf("Offer and More disagree")
				}
			}
			want := choose(nodes, order, k)
			if got := dst[:c.Len()]; !slices.Equal(got, want) {
				t.Fatalf("%d of the order %d in %v: %d, want %d", k, order, nodes, got, want)
			}
			if len(want) == min(k, len(owners)) && !slices.Equal(choose(nodes, order[:offers], k), want) {
				t.Fatalf("it stops after %d offers of %d, too early", offers, order)
			}
		}
	})
}

// A choice ends as soon as nothing to come can change it: no circle is walked
// round for the sake of nodes or zones that cannot own a key.
func TestAChoiceEndsWithTheLastNodeItCanHave(t *testing.T) {
	m, err := algorithms.NewMembers([]algorithms.Node{
		{Name: "a", Weight: 1, Zone: "x"}, {Name: "b", Weight: 1, Zone: "y"},
		{Name: "c", Weight: 0, Zone: "z"}, {Name: "d", Weight: 1, Zone: "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := m.Choose(make([]algorithms.Bucket, 4))
	var more []bool
	for _, b := range []algorithms.Bucket{0, 3, 3, 1} {
		more = append(more, c.Offer(b))
	}
	if diff := cmp.Diff([]bool{true, true, true, false}, more); diff != "" {
		t.Errorf("after four offers of all three nodes that own keys (-want +got):\n%s", diff)
	}
	if c := m.Choose(nil); c.More() || c.Len() != 0 {
		t.Error("a choice of no nodes waits for one")
	}
}

func TestRankedChoosesAsIfOfferedInTheOrderOfTheScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, nodes := members(t)
		owners := able(nodes)
		ranks := rapid.SliceOfN(rapid.IntRange(0, 5), len(owners), len(owners)).Draw(t, "ranks")
		index := make([]int, len(owners))
		for i := range index {
			index[i] = i
		}
		slices.SortStableFunc(index, func(i, j int) int { return ranks[i] - ranks[j] })
		var order []algorithms.Bucket
		for _, i := range index {
			order = append(order, owners[i])
		}
		for k := range len(owners) + 2 {
			dst := make([]algorithms.Bucket, k)
			c := m.Choose(dst)
			got := dst[:algorithms.Ranked(c, owners, func(i int) int { return -ranks[i] })]
			if want := choose(nodes, order, k); !slices.Equal(got, want) {
				t.Fatalf("%d of %d with the ranks %d: %d, want %d", k, owners, ranks, got, want)
			}
		}
	})
}

func TestRedrawnChoosesTheOwnersOfTheDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, nodes := members(t)
		owners := able(nodes)
		stuck := rapid.Bool().Draw(t, "stuck")
		lookup := func(h uint64) algorithms.Bucket {
			switch {
			case len(owners) == 0:
				return algorithms.None
			case stuck: // on one node, whatever the draw
				return owners[len(owners)-1]
			}
			return owners[h%uint64(len(owners))]
		}
		h := rapid.Uint64().Draw(t, "h")
		var order []algorithms.Bucket
		for i := range 2000 {
			if len(owners) > 0 {
				order = append(order, lookup(algorithms.Redraw(h, i)))
			}
		}
		order = append(order, owners...)
		for k := range len(owners) + 2 {
			dst := make([]algorithms.Bucket, k)
			c := m.Choose(dst)
			got := dst[:c.Redrawn(h, lookup)]
			if want := choose(nodes, order, k); !slices.Equal(got, want) {
				t.Fatalf("%d of %d: %d, want %d", k, owners, got, want)
			}
		}
	})
}

// The first outputs of splitmix64 seeded with 1234567, as published with its
// implementations.
func TestRedrawIsSplitmix64(t *testing.T) {
	for i, want := range []uint64{1234567, 6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := algorithms.Redraw(1234567, i); got != want {
			t.Errorf("draw %d of 1234567 is %d, want %d", i, got, want)
		}
	}
}

func TestChoicesDoNotAllocate(t *testing.T) {
	nodes := algorithms.Nodes("a", "b", "c", "d", "e")
	for i := range nodes {
		nodes[i].Zone = nodes[i%3].Name
	}
	m, err := algorithms.NewMembers(nodes)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]algorithms.Bucket, 4)
	buckets := []algorithms.Bucket{0, 1, 2, 3, 4}
	scores := []int{3, 1, 2, 5, 4}
	if n := testing.AllocsPerRun(100, func() {
		c := m.Choose(dst)
		for _, b := range buckets {
			c.Offer(b)
		}
		c.Len()
		c = m.Choose(dst)
		algorithms.Ranked(c, buckets, func(i int) int { return scores[i] })
		c = m.Choose(dst)
		c.Redrawn(7, func(h uint64) algorithms.Bucket { return buckets[h%uint64(len(scores))] })
	}); n > 0 {
		t.Errorf("choosing allocates %v times", n)
	}
}
