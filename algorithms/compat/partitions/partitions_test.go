package partitions

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func members(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node%d.olric", i)
	}
	return algorithms.Nodes(names...)
}

func build(t testing.TB, nodes []algorithms.Node, c Config) *Map {
	t.Helper()
	m, err := New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// obvious places the partitions the slow way: it takes the points in the order of
// their distance clockwise from the partition.
func obvious(nodes []algorithms.Node, c Config) []algorithms.Bucket {
	room := math.Ceil(float64(c.Partitions) / float64(len(nodes)) * c.Load)
	held := make([]float64, len(nodes))
	var owners []algorithms.Bucket
	for p := range c.Partitions {
		h := xxhash.Sum64(binary.LittleEndian.AppendUint64(nil, uint64(p)))
		best, distance := algorithms.None, uint64(0)
		for i, n := range nodes {
			if held[i]+1 > room {
				continue
			}
			for k := range c.ReplicationFactor {
				at := xxhash.Sum64String(fmt.Sprintf("%d:%s", k, n.Name))
				if best == algorithms.None || at-h < distance {
					best, distance = algorithms.Bucket(i), at-h
				}
			}
		}
		held[best]++
		owners = append(owners, best)
	}
	return owners
}

func TestThePartitionsArePlacedAsTheObviousWayDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := members(rapid.IntRange(1, 12).Draw(t, "nodes"))
		c := Default
		c.Partitions = rapid.IntRange(1, 300).Draw(t, "partitions")
		c.ReplicationFactor = rapid.IntRange(1, 8).Draw(t, "points")
		c.Load = rapid.SampledFrom([]float64{1, 1.05, 1.25, 2, 100}).Draw(t, "load")
		m, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		want := obvious(nodes, c)
		if diff := cmp.Diff(want, m.Owners()); diff != "" {
			t.Fatalf("owners: (-want +got)\n%s", diff)
		}
		key := rapid.String().Draw(t, "key")
		if got := m.LookupKey(key); got != want[xxhash.Sum64String(key)%uint64(c.Partitions)] {
			t.Fatalf("key %q goes to %d", key, got)
		}
	})
}

func FuzzThePartitionsArePlacedAsTheObviousWayDoes(f *testing.F) {
	f.Add("a\nb\nc", uint8(23), uint8(20), uint8(25))
	f.Add("one", uint8(1), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, names string, partitions, points, more uint8) {
		nodes := algorithms.Nodes(strings.Split(names, "\n")...)
		c := Default
		c.Partitions, c.ReplicationFactor, c.Load = int(partitions), int(points), 1+float64(more)/100
		m, err := New(nodes, c)
		if err != nil {
			return
		}
		if diff := cmp.Diff(obvious(nodes, c), m.Owners()); diff != "" {
			t.Fatalf("owners: (-want +got)\n%s", diff)
		}
	})
}

func TestNoMemberHasMoreThanTheBound(t *testing.T) {
	for _, c := range []struct {
		partitions, members int
		load                float64
		most                int
	}{{3, 8, 1.25, 1}, {5, 10, 1.25, 1}, {9, 10, 1.25, 2}, {23, 8, 1.25, 4}, {271, 8, 1.25, 43}, {10, 2, 1.1, 6}, {100, 1, 1.25, 100}} {
		config := Default
		config.Partitions, config.Load = c.partitions, c.load
		counts := make([]int, c.members)
		for _, b := range build(t, members(c.members), config).Owners() {
			counts[b]++
		}
		if got := slices.Max(counts); got > c.most {
			t.Errorf("%d partitions over %d members: one has %d, the bound is %d", c.partitions, c.members, got, c.most)
		}
	}
}

// TestTightBoundsThatCanBeMetAreMet is buraksezer/consistent#28 and #13.
func TestTightBoundsThatCanBeMetAreMet(t *testing.T) {
	for _, c := range []struct {
		partitions, members, points int
		load                        float64
	}{{5, 2, 20, 1.5}, {1, 1, 20, 1}, {1, 1, 1, 1}, {100, 1, 1, 1.25}, {10, 2, 1, 1.1}, {7, 7, 1, 1}} {
		m := build(t, members(c.members), Config{c.partitions, c.points, c.load, "xxh64", Default.Label})
		if got := m.Owners(); len(got) != c.partitions || slices.Contains(got, algorithms.None) {
			t.Errorf("%+v: owners %d", c, got)
		}
	}
}

func TestBoundsThatCannotBeMetAreRefused(t *testing.T) {
	for _, c := range []Config{
		{271, 20, 0.99, "xxh64", Default.Label}, {271, 20, -1, "xxh64", Default.Label}, {271, 20, math.NaN(), "xxh64", Default.Label},
		{271, 20, math.Inf(1), "xxh64", Default.Label}, {0, 20, 1.25, "xxh64", Default.Label}, {271, 0, 1.25, "xxh64", Default.Label},
		{271, 20, 1.25, "xxh", Default.Label}, {271, 20, 1.25, "xxh64", "{name}"},
	} {
		if _, err := New(members(3), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestALoadBeyondAllPartitionsBoundsNothing(t *testing.T) {
	loose, endless := Default, Default
	loose.Load, endless.Load = 100, math.MaxFloat64
	a, b := build(t, members(3), loose), build(t, members(3), endless)
	for h := range uint64(271) {
		if a.Lookup(h) != b.Lookup(h) {
			t.Fatalf("partition %d is with %d under a load of 100, and with %d under the largest", h, a.Lookup(h), b.Lookup(h))
		}
	}
}

// TestFewPartitionsAreUneven is trinodb/trino#30434: 2,048 buckets over 8, 32 and
// 128 nodes are less even the more nodes there are. Here the bound is out of the
// way and the points are many, so that the partitions alone make the difference.
func TestFewPartitionsAreUneven(t *testing.T) {
	peak := func(partitions, n int) float64 {
		sum := 0.0
		for draw := range 10 {
			nodes := members(n)
			for i := range nodes {
				nodes[i].Name = fmt.Sprintf("%d-%s", draw, nodes[i].Name)
			}
			c := Config{partitions, 2000, 100, "xxh64", Default.Label}
			counts := make([]int, n)
			for _, b := range build(t, nodes, c).Owners() {
				counts[b]++
			}
			sum += float64(slices.Max(counts)) / float64(partitions) * float64(n)
		}
		return sum / 10
	}
	few := []float64{peak(2048, 8), peak(2048, 32), peak(2048, 128)}
	for i, want := range []float64{1.09, 1.25, 1.68} {
		if math.Abs(few[i]-want) > 0.1 {
			t.Errorf("2,048 partitions: peaks %.2f, want about 1.09, 1.25, 1.68", few)
			break
		}
	}
	if many := peak(1<<17, 32); many > few[1]-0.1 {
		t.Errorf("131,072 partitions over 32 members have a peak of %.2f, 2,048 of %.2f", many, few[1])
	}
}

// TestReplicasAreTheMembersAfterTheOwner: in the order of the hashes of their
// names, the wrap included.
func TestReplicasAreTheMembersAfterTheOwner(t *testing.T) {
	nodes := members(8)
	m := build(t, nodes, Default)
	order := []algorithms.Bucket{0, 1, 2, 3, 4, 5, 6, 7}
	slices.SortFunc(order, func(a, b algorithms.Bucket) int {
		if xxhash.Sum64String(nodes[a].Name) < xxhash.Sum64String(nodes[b].Name) {
			return -1
		}
		return 1
	})
	for h := range uint64(271) {
		dst := make([]algorithms.Bucket, 9)
		dst = dst[:m.LookupN(h, dst)]
		at := slices.Index(order, m.Lookup(h))
		if want := append(slices.Clone(order[at:]), order[:at]...); !slices.Equal(dst, want) {
			t.Fatalf("partition %d: %d, want %d", h, dst, want)
		}
	}
}

// TestTheOldLabelRunsIntoOtherNames: before v1.0 the points of member with index
// 10 and of member1 with index 0 were one.
func TestTheOldLabelRunsIntoOtherNames(t *testing.T) {
	c := Default
	c.ReplicationFactor = 11
	for label, want := range map[string]int{"{name}{index}": 21, Default.Label: 22} {
		c.Label = label
		m := build(t, algorithms.Nodes("member", "member1"), c)
		distinct := map[uint64]bool{}
		for _, p := range m.points() {
			distinct[p.Position] = true
		}
		if len(distinct) != want {
			t.Errorf("label %s: %d positions, want %d", label, len(distinct), want)
		}
	}
}
