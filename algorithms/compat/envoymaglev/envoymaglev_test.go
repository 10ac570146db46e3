package envoymaglev

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
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

// A vector is a row of testdata/envoy_maglev.json.
type vector struct {
	Test         string
	M            int
	Hosts        any
	Weights      []float64
	Table        []algorithms.Bucket `json:"expected_table"`
	LeastSlots   int                 `json:"expected_min_entries"`
	MostSlots    int                 `json:"expected_max_entries"`
	ByAttempt    map[string]string   `json:"expected_by_attempt"`
	Hash         uint64
	Error        string `json:"expected_error"`
	DefaultSize  int    `json:"expected_default_table_size"`
	LargestTable int    `json:"expected_max_table_size"`
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/envoy_maglev.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 8 {
		t.Fatalf("%d rows, want 8", len(file.Rows))
	}
	for _, v := range file.Rows {
		t.Run(v.Test, func(t *testing.T) {
			switch {
			case v.Error != "":
				if _, err := New(algorithms.Nodes("a"), Config{v.M}); err == nil || !strings.Contains(err.Error(), "not a prime") {
					t.Errorf("%d slots: %v", v.M, err)
				}
				return
			case v.DefaultSize != 0:
				if Default.TableSize != v.DefaultSize || MostSlots != v.LargestTable {
					t.Errorf("%d slots, at most %d, want %d and %d", Default.TableSize, MostSlots, v.DefaultSize, v.LargestTable)
				}
				return
			}
			listed, ok := v.Hosts.([]any)
			if !ok {
				lopsided(t, v.M)
				return
			}
			var names []string
			for _, name := range listed {
				names = append(names, name.(string))
			}
			nodes := algorithms.Nodes(names...)
			for i, w := range v.Weights {
				nodes[i].Weight = w
			}
			m, err := New(nodes, Config{v.M})
			if err != nil {
				t.Fatal(err)
			}
			if v.Table != nil {
				if diff := cmp.Diff(v.Table, m.Owners()); diff != "" {
					t.Errorf("table: (-want +got)\n%s", diff)
				}
			}
			if v.MostSlots != 0 {
				counts := make([]int, len(nodes))
				for _, b := range m.Owners() {
					counts[b]++
				}
				if slices.Min(counts) != v.LeastSlots || slices.Max(counts) != v.MostSlots {
					t.Errorf("%d slots, want from %d to %d", counts, v.LeastSlots, v.MostSlots)
				}
			}
			for a, want := range v.ByAttempt {
				var n int
				fmt.Sscan(a, &n)
				if got := names[m.Lookup(attempt(v.Hash, n))]; got != want {
					t.Errorf("attempt %d goes to %s, want %s", n, got, want)
				}
			}
		})
	}
}

// lopsided is the row whose 1,024 hosts are told of in words: the first weighs
// 127/128, and the others share the rest.
func lopsided(t *testing.T, size int) {
	nodes := make([]algorithms.Node, 1024)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: fmt.Sprintf("127.0.0.1:%d", i), Weight: 1. / 128 / 1023}
	}
	nodes[0].Weight = 127. / 128
	m, err := New(nodes, Config{size})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(nodes))
	for _, b := range m.Owners() {
		counts[b]++
	}
	want := slices.Repeat([]int{1}, len(nodes))
	want[0] = 64514
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("slots: (-want +got)\n%s", diff)
	}
}

// obvious fills a table the slow way: every node has the list of what it wants,
// and crosses off what is taken.
func obvious(nodes []algorithms.Node, size int) []algorithms.Bucket {
	type candidate struct {
		node   int
		wishes []uint64
		turns  float64
	}
	sum := 0.0
	for _, n := range nodes {
		sum += n.Weight
	}
	heaviest := 0.0
	var all []*candidate
	for i, n := range nodes {
		if n.Weight == 0 {
			continue
		}
		heaviest = math.Max(heaviest, n.Weight/sum)
		d := xxhash.NewWithSeed(1)
		d.Write([]byte(n.Name))
		c := &candidate{node: i}
		at, step := xxhash.Sum64([]byte(n.Name))%uint64(size), d.Sum64()%uint64(size-1)+1
		for range size {
			c.wishes = append(c.wishes, at)
			at = (at + step) % uint64(size)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y *candidate) int { return strings.Compare(nodes[x.node].Name, nodes[y.node].Name) })
	taken := map[uint64]algorithms.Bucket{}
	for round := 1; len(taken) < size; round++ {
		for _, c := range all {
			if float64(round)*(nodes[c.node].Weight/sum) < c.turns || len(taken) == size {
				continue
			}
			c.turns += heaviest
			for {
				wish := c.wishes[0]
				c.wishes = c.wishes[1:]
				if _, gone := taken[wish]; !gone {
					taken[wish] = algorithms.Bucket(c.node)
					break
				}
			}
		}
	}
	owners := make([]algorithms.Bucket, size)
	for slot, b := range taken {
		owners[slot] = b
	}
	return owners
}

func TestTheTableIsThatOfTheObviousFilling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{2, 3, 7, 13, 101, 251, 509}).Draw(t, "size")
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 30).Draw(t, "nodes") {
			weight := float64(rapid.IntRange(0, 9).Draw(t, "weight"))
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("127.0.0.1:%d", 90+i*7%30), Weight: weight})
		}
		nodes[0].Weight = 4
		m, err := New(nodes, Config{size})
		if err != nil {
			t.Fatal(err)
		}
		want := obvious(nodes, size)
		if diff := cmp.Diff(want, m.Owners()); diff != "" {
			t.Fatalf("owners: (-want +got)\n%s", diff)
		}
		key := rapid.String().Draw(t, "key")
		if got := m.LookupKey(key); got != want[xxhash.Sum64String(key)%uint64(size)] {
			t.Fatalf("key %q goes to %d", key, got)
		}
	})
}

func FuzzTheTableIsThatOfTheObviousFilling(f *testing.F) {
	f.Add("a\nb\nc", uint16(3), uint64(1))
	f.Add("127.0.0.1:90\n127.0.0.1:91", uint16(17), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, names string, at uint16, h uint64) {
		var nodes []algorithms.Node
		for i, name := range strings.Split(names, "\n") {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(i * i % 7)})
		}
		size := Default.Step(int(at) % 1000)
		m, err := New(nodes, Config{size})
		if err != nil {
			return
		}
		if got, want := m.Lookup(h), obvious(nodes, size)[h%uint64(size)]; got != want {
			t.Fatalf("hash %d goes to %d, want %d", h, got, want)
		}
	})
}

func hosts(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("10.0.%d.%d:8080", i/256, i%256)
	}
	return algorithms.Nodes(names...)
}

// TestRemovingOneNodeMovesALittleMoreThanItsShare is envoyproxy/envoy#2574.
func TestRemovingOneNodeMovesALittleMoreThanItsShare(t *testing.T) {
	for _, c := range []struct {
		n     int
		moved float64
	}{{10, 0.1024}, {100, 0.0156}, {200, 0.0125}} {
		m, err := New(hosts(c.n), Default)
		if err != nil {
			t.Fatal(err)
		}
		before := m.Owners()
		if err := m.Remove(algorithms.Bucket(c.n / 2)); err != nil {
			t.Fatal(err)
		}
		changed := 0
		for slot, b := range m.Owners() {
			if b != before[slot] {
				changed++
			}
		}
		if got := float64(changed) / 65537; math.Abs(got-c.moved) > 0.001 {
			t.Errorf("%d nodes: %.4f of the keys move, want %.4f", c.n, got, c.moved)
		}
	}
}

// TestNodesBeyondTheSlotsOwnNothing is envoyproxy/envoy#22460.
func TestNodesBeyondTheSlotsOwnNothing(t *testing.T) {
	m, err := New(hosts(300), Config{251})
	if err != nil {
		t.Fatal(err)
	}
	owners := m.Owners()
	slices.Sort(owners)
	if without := 300 - len(slices.Compact(owners)); without != 49 {
		t.Errorf("%d nodes have no slot, want 49", without)
	}
}

func TestSizesThatEnvoyRefusesAreRefused(t *testing.T) {
	for _, size := range []int{0, -1, 1, 4, 65536, 5_000_021} {
		if _, err := New(hosts(2), Config{size}); err == nil || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%d slots: %v", size, err)
		}
	}
	for from, want := range map[int]int{-5: 2, 0: 2, 65536: 65537, 65537: 65537, 1 << 30: MostSlots} {
		if got := Default.Step(from); got != want {
			t.Errorf("the least size from %d is %d, want %d", from, got, want)
		}
	}
}
