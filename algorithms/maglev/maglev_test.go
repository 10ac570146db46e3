package maglev

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/dchest/siphash"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

// A vector is a row of testdata/maglev.json.
type vector struct {
	Source, Algorithm string
	M                 int
	Names             []string
	Offset, Skip      []uint64
	Dead              []int
	Table             []algorithms.Bucket `json:"expected_table"`
	WithoutB1         []algorithms.Bucket `json:"expected_table_without_B1"`
	Owners            []string            `json:"expected"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/maglev.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 6 {
		t.Fatalf("%d rows, want 6", len(file.Rows))
	}
	return file.Rows
}

// equals are the turns of nodes of equal weight with the preferences given, without
// the dead ones.
func equals(v vector, dead []int) []turn {
	var all []turn
	for i := range v.Names {
		if !slices.Contains(dead, i) {
			all = append(all, turn{algorithms.Bucket(i), v.Offset[i], v.Skip[i], 1})
		}
	}
	return all
}

func TestTheFillingGivesTheTablesOfTheVectors(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Table == nil {
			continue
		}
		if diff := cmp.Diff(v.Table, fill(v.M, equals(v, v.Dead))); diff != "" {
			t.Errorf("%s, %d slots, dead %v: (-want +got)\n%s", v.Source, v.M, v.Dead, diff)
		}
		if v.WithoutB1 == nil {
			continue
		}
		if diff := cmp.Diff(v.WithoutB1, fill(v.M, equals(v, []int{1}))); diff != "" {
			t.Errorf("%s, %d slots, without B1: (-want +got)\n%s", v.Source, v.M, diff)
		}
	}
}

// TestTheVectorsHashesGiveTheirPreferences holds the offsets and skips that the
// vectors list to the rule that they name.
func TestTheVectorsHashesGiveTheirPreferences(t *testing.T) {
	for _, v := range vectors(t) {
		if !strings.Contains(v.Source, "go-maglev") {
			continue
		}
		members, err := algorithms.NewMembers(algorithms.Nodes(v.Names...))
		if err != nil {
			t.Fatal(err)
		}
		got := turns(members, v.M, func(name string) (offset, skip uint64) {
			h := siphash.Hash(0xdeadbeefcafebabe, 0, []byte(name))
			return h >> 32, h & math.MaxUint32
		})
		for i, turn := range got {
			if turn.offset != v.Offset[i] || turn.skip != v.Skip[i] {
				t.Errorf("%s: %q has offset %d and skip %d, want %d and %d", v.Source, v.Names[i], turn.offset, turn.skip, v.Offset[i], v.Skip[i])
			}
		}
	}
}

func TestLookupGivesTheVectorsOwners(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Owners == nil {
			continue
		}
		m, err := New(algorithms.Nodes(v.Names...), Config{Size: v.M})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range v.Owners {
			key := fmt.Sprintf("key-%d", i)
			if got := v.Names[m.Lookup(xxhash.Sum64String(key))]; got != want {
				t.Errorf("%s: %s goes to %s, want %s", v.Source, key, got, want)
			}
		}
	}
}

// TestTheWorkedExampleOfThePaper is Tables 1 and 2: B1 leaves, and of the three
// slots that change one was not its own.
func TestTheWorkedExampleOfThePaper(t *testing.T) {
	three := []turn{{0, 3, 4, 1}, {1, 0, 2, 1}, {2, 3, 1, 1}}
	before, after := fill(7, three), fill(7, slices.Delete(slices.Clone(three), 1, 2))
	changed, needless := 0, 0
	for i := range before {
		if before[i] != after[i] {
			changed++
			if before[i] != 1 {
				needless++
			}
		}
	}
	if changed != 3 || needless != 1 {
		t.Errorf("%d slots change, %d of them not B1's, want 3 and 1:\n%d\n%d", changed, needless, before, after)
	}
}

// obvious fills a table the slow way: it writes every node's order of preference
// out and lets the nodes choose from what is left.
func obvious(nodes []algorithms.Node, size int) []algorithms.Bucket {
	var order []int
	heaviest, total := 0.0, 0.0
	for i, n := range nodes {
		total += n.Weight
		if n.Weight > 0 {
			order = append(order, i)
		}
	}
	weight := func(i int) float64 { return nodes[i].Weight / total }
	for _, i := range order {
		heaviest = math.Max(heaviest, weight(i))
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(nodes[i].Name, nodes[j].Name) })
	preferences := map[int][]int{}
	for _, i := range order {
		first := xxhash.Sum64String("\xba"+nodes[i].Name) % uint64(size)
		step := xxhash.Sum64String("\xbe"+nodes[i].Name)%uint64(size-1) + 1
		for k := range uint64(size) {
			preferences[i] = append(preferences[i], int((first+k*step)%uint64(size)))
		}
	}
	owners := slices.Repeat([]algorithms.Bucket{algorithms.None}, size)
	target := map[int]float64{}
	for round := 1.0; ; round++ {
		for _, i := range order {
			if round*weight(i) < target[i] {
				continue
			}
			target[i] += heaviest
			free := slices.IndexFunc(preferences[i], func(slot int) bool { return owners[slot] == algorithms.None })
			if free < 0 {
				return owners
			}
			owners[preferences[i][free]] = algorithms.Bucket(i)
		}
	}
}

func TestTheTableIsThatOfTheObviousFilling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{2, 3, 5, 7, 13, 31, 101, 251, 509}).Draw(t, "size")
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 40).Draw(t, "nodes") {
			weight := float64(rapid.IntRange(0, 5).Draw(t, "weight"))
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("backend-%d", (i*7+3)%41), Weight: weight})
		}
		nodes[0].Weight = 1
		m, err := New(nodes, Config{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		want := obvious(nodes, size)
		if diff := cmp.Diff(want, m.Owners()); diff != "" {
			t.Fatalf("owners: (-want +got)\n%s", diff)
		}
		h := rapid.Uint64().Draw(t, "hash")
		if got := m.Lookup(h); got != want[h%uint64(size)] {
			t.Fatalf("hash %d goes to %d, want %d", h, got, want[h%uint64(size)])
		}
	})
}

func cluster(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("backend-%d", i)
	}
	return algorithms.Nodes(names...)
}

// removed returns the part of the slots that change hands when one node leaves,
// in the mean over the removal of each of so many.
func removed(t *testing.T, n, size, times int) float64 {
	t.Helper()
	m, err := New(cluster(n), Config{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	before := m.Owners()
	changed := 0
	for i := range times {
		b := algorithms.Bucket(i * n / times)
		node, _ := m.members.Node(b)
		if err := m.Remove(b); err != nil {
			t.Fatal(err)
		}
		for slot, owner := range m.Owners() {
			if owner != before[slot] {
				changed++
			}
		}
		if again, err := m.Add(node); err != nil || again != b {
			t.Fatal(again, err)
		}
	}
	return float64(changed) / float64(times) / float64(size)
}

// TestRemovingOneNodeMovesALittleMoreThanItsShare is the table of movement that
// goes with the paper, and envoyproxy/envoy#2574 for 200 nodes.
func TestRemovingOneNodeMovesALittleMoreThanItsShare(t *testing.T) {
	if testing.Short() {
		t.Skip("fills many tables")
	}
	for _, c := range []struct {
		n, size         int
		moved, tolerant float64
	}{
		{10, 65537, 0.1023, 0.001}, {100, 65537, 0.0160, 0.001}, {200, 65537, 0.0125, 0.001}, {1000, 65537, 0.0069, 0.0004},
		{10, 655373, 0.1006, 0.001}, {100, 655373, 0.0114, 0.0005}, {1000, 655373, 0.0043, 0.0004},
	} {
		times := 5
		if c.size > 65537 {
			times = 2
		}
		if got := removed(t, c.n, c.size, times); math.Abs(got-c.moved) > c.tolerant {
			t.Errorf("%d nodes, %d slots: %.4f of the keys move, want %.4f +- %.4f", c.n, c.size, got, c.moved, c.tolerant)
		}
	}
}

func TestEqualNodesHaveTheSameNumberOfSlotsButOne(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 100, 1000} {
		m, err := New(cluster(n), Default)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, n)
		for _, b := range m.Owners() {
			counts[b]++
		}
		if least, most := slices.Min(counts), slices.Max(counts); least < 65537/n || most > (65537+n-1)/n {
			t.Errorf("%d nodes own %d to %d slots, want %d or one more", n, least, most, 65537/n)
		}
	}
}

// TestNodesBeyondTheSlotsOwnNothing is envoyproxy/envoy#22460: 251 slots for 300
// nodes leave 49 nodes without one.
func TestNodesBeyondTheSlotsOwnNothing(t *testing.T) {
	m, err := New(cluster(300), Config{Size: 251})
	if err != nil {
		t.Fatal(err)
	}
	owners := m.Owners()
	slices.Sort(owners)
	if without := 300 - len(slices.Compact(owners)); without != 49 || len(m.Slotless()) != 49 {
		t.Errorf("%d nodes have no slot, and %d are named, want 49", without, len(m.Slotless()))
	}
}

func TestASizeThatIsNoPrimeIsRefused(t *testing.T) {
	for size, want := range map[int]string{
		0: "size 0, it must be a prime", -7: "size -7, it must be a prime", 1: "size 1, it must be a prime",
		65536:             "size 65536 is not a prime, so a node could run out of slots to choose from: the next prime is 65537",
		math.MaxInt32 - 1: "the next prime is 2147483647",
	} {
		_, err := New(cluster(3), Config{Size: size})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("size %d: %v, want %q", size, err, want)
		}
	}
	if _, err := New(cluster(3), Config{Size: 2}); err != nil {
		t.Error(err)
	}
}

func FuzzTheTableIsThatOfTheObviousFilling(f *testing.F) {
	f.Add("a\nb\nc", uint8(3), uint64(1))
	f.Add("node-1\nnode-11\n", uint8(20), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, names string, at uint8, h uint64) {
		var nodes []algorithms.Node
		for i, name := range strings.Split(names, "\n") {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(i % 4)})
		}
		size := NextPrime(int(at))
		m, err := New(nodes, Config{Size: size})
		if err != nil {
			return
		}
		if got, want := m.Lookup(h), obvious(nodes, size)[h%uint64(size)]; got != want {
			t.Fatalf("hash %d goes to %d, want %d", h, got, want)
		}
	})
}
