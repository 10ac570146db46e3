package haproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/live"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestConformanceUnderABound(t *testing.T) {
	c := Default
	c.HashBalanceFactor = 125
	algotest.Test(t, algorithms.Define("haproxy-chash", "", c, New).
		Declining(algorithms.Balance, algorithms.OrderIndependent, algorithms.Inherits))
}

func build(t testing.TB, nodes []algorithms.Node, c Config) *Map {
	t.Helper()
	m, err := New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := m.(*Bounded); ok {
		return b.Map
	}
	return m.(*Map)
}

// A row is one of testdata/haproxy_chash.json: owners of keys, values of the
// avalanche, or hashes of all bytes in order.
type row struct {
	Algorithm, Setup string
	Servers          []algorithms.Bucket `json:"expected_server_id"`
	Avalanche        map[string]uint32   `json:"input_to_expected"`
	Hashes           map[string]int64    `json:"expected"`
}

func rows(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/haproxy_chash.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestHAProxy(t *testing.T) {
	for _, r := range rows(t) {
		if r.Servers == nil {
			continue
		}
		c := Default
		if strings.Contains(r.Setup, "crc32 (no avalanche)") {
			c = Config{HashFunction: "crc32"}
		}
		byPlace := build(t, algorithms.Nodes("a", "b", "c"), c)
		byID := build(t, algorithms.Nodes("x@3", "y@1", "z@2"), c)
		for i, id := range r.Servers {
			key := fmt.Sprint("key-", i)
			if got := byPlace.LookupKey(key) + 1; got != id {
				t.Errorf("%s, key %q: server %d, want %d", r.Setup, key, got, id)
			}
			if got := algorithms.Bucket([]int{3, 1, 2}[byID.LookupKey(key)]); got != id {
				t.Errorf("%s, key %q: server with the id %d, want %d", r.Setup, key, got, id)
			}
		}
	}
}

func TestHAProxysHashes(t *testing.T) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	checked := 0
	for _, r := range rows(t) {
		for text, want := range r.Avalanche {
			var x uint32
			fmt.Sscan(text, &x)
			if got := avalanche(x); got != want {
				t.Errorf("avalanche(%s) = %d, want %d", text, got, want)
			}
			checked++
		}
		for name, want := range r.Hashes {
			function, avalanched := strings.CutSuffix(name, "_avalanche")
			sum, err := Config{HashFunction: function, Avalanche: avalanched}.function()
			if err != nil {
				continue // a converter that is no hash_function
			}
			if got := sum(string(all)); int64(got) != want {
				t.Errorf("%s = %d, want %d", name, got, want)
			}
			checked++
		}
	}
	if checked != 8+7 {
		t.Errorf("%d hashes are checked, want 15", checked)
	}
}

func TestIDsOfAList(t *testing.T) {
	for _, c := range []struct {
		names string
		want  []uint32
	}{
		{"a b c", []uint32{1, 2, 3}},
		{"a@7 b c", []uint32{7, 2, 3}},
		{"a b@1 c", []uint32{2, 1, 4}},
		{"a b c@2 d", []uint32{1, 3, 2, 5}},
		{"a@2 b@3 c d", []uint32{2, 3, 4, 5}},
		{"user@host a@b@9 @ x@", []uint32{1, 9, 3, 4}},
	} {
		if got := build(t, algorithms.Nodes(strings.Fields(c.names)...), Default).ids; !slices.Equal(got, c.want) {
			t.Errorf("%s: ids %d, want %d", c.names, got, c.want)
		}
	}
	for _, names := range []string{"a@3 b@3", "a@0 b", "a@2147483648 b"} {
		if _, err := New(algorithms.Nodes(strings.Fields(names)...), Default); err == nil {
			t.Errorf("%s: accepted", names)
		}
	}
}

// TestAnIDStaysWithItsNode: a node that is added gets the lowest free id, and
// those that were there keep theirs.
func TestAnIDStaysWithItsNode(t *testing.T) {
	m := build(t, algorithms.Nodes("a", "b@5", "c", "d"), Default) // 1, 5, 3, 4
	for _, b := range []algorithms.Bucket{2, 0} {
		if err := m.Remove(b); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"e", "f", "g@9", "h"} {
		if _, err := m.Add(algorithms.Node{Name: name, Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []uint32{1, 5, 2, 4, 9, 3}; !slices.Equal(m.ids, want) {
		t.Errorf("ids %d, want %d", m.ids, want)
	}
	if _, err := m.Add(algorithms.Node{Name: "i@4", Weight: 1}); err == nil || m.Len() != 6 {
		t.Errorf("an id that is taken: error %v, %d nodes", err, m.Len())
	}
}

// TestLiveRuns holds owners to runs of HAProxy itself, with other weights and
// settings than the vectors above have; each row names its source.
func TestLiveRuns(t *testing.T) { live.Test(t, Info) }

// slowHash has the functions as they are described, one step a line.
func slowHash(function, key string) uint32 {
	h := uint32(0)
	switch function {
	case "sdbm":
		for i := range len(key) {
			h = uint32(key[i]) + h<<6 + h<<16 - h
		}
	case "djb2":
		h = 5381
		for i := range len(key) {
			h = h<<5 + h + uint32(key[i])
		}
	case "crc32":
		return crc32.ChecksumIEEE([]byte(key))
	case "wt6":
		h0, h1, s0, s1 := uint32(0xa53c965a), uint32(0x5ca6953a), 6, 18
		for i := range len(key) {
			h0 = ^(h0 ^ uint32(key[i]))
			h1 = ^(h1 + uint32(key[i]))
			h0, h1 = h1<<s0|h1>>(32-s0), h0<<s1|h0>>(32-s1)
			low := uint16(h0>>16) ^ uint16(h1)
			s0, s1 = int(low%32), int(low/2048)
		}
		return h0 ^ h1
	}
	return h
}

func slowAvalanche(a uint32) uint32 {
	a = (a + 0x7ed55d16) + (a << 12)
	a = (a ^ 0xc761c23c) ^ (a >> 19)
	a = (a + 0x165667b1) + (a << 5)
	a = (a + 0xd3a2646c) ^ (a << 9)
	a = (a + 0xfd7046c5) + (a << 3)
	a = (a ^ 0xb55a4f09) ^ (a >> 16)
	return uint32(uint64(a)*(3<<30)%(1<<32)) + a // 3221225473 is 3 * 2^30 + 1
}

// slow looks for the nearest point before the key and at or after it, among all.
func slow(ids []uint32, weights []int, key string, c Config) int {
	h := slowHash(c.HashFunction, key)
	if c.Avalanche {
		h = slowAvalanche(h)
	}
	next, prev := -1, -1
	var ahead, behind uint32
	for i, id := range ids {
		for k := range 16 * weights[i] {
			at := slowAvalanche(id<<12 + uint32(k))
			if d := at - h; next < 0 || d < ahead {
				next, ahead = i, d
			}
			if d := h - 1 - at; prev < 0 || d < behind {
				prev, behind = i, d
			}
		}
	}
	if behind < ahead {
		return prev
	}
	return next
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Uint32Range(1, 1<<20-1), 1, 5, rapid.ID[uint32]).Draw(t, "ids")
		var nodes []algorithms.Node
		var weights []int
		for i, id := range ids {
			w := rapid.SampledFrom([]int{0, 1, 1, 2, 256}).Draw(t, "weight")
			weights = append(weights, w)
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("n%d@%d", i, id), Weight: float64(w)})
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		c := Config{
			HashFunction: rapid.SampledFrom([]string{"sdbm", "djb2", "wt6", "crc32"}).Draw(t, "hash"),
			Avalanche:    rapid.Bool().Draw(t, "avalanche"),
		}
		m, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			key := rapid.String().Draw(t, "key")
			if got, want := int(m.(*Map).LookupKey(key)), slow(ids, weights, key, c); got != want {
				t.Fatalf("key %q goes to %d, want %d of %v under %+v", key, got, want, nodes, c)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key-0", uint8(0), true, uint8(1), uint8(2))
	f.Add("", uint8(2), false, uint8(0), uint8(255))
	f.Fuzz(func(t *testing.T, key string, function uint8, avalanche bool, v, w uint8) {
		nodes := []algorithms.Node{{Name: "a", Weight: float64(v)}, {Name: "b", Weight: float64(w)}}
		if algorithms.Validate(nodes) != nil {
			return
		}
		c := Config{HashFunction: functions[function%4].name, Avalanche: avalanche}
		if got, want := int(build(t, nodes, c).LookupKey(key)), slow([]uint32{1, 2}, []int{int(v), int(w)}, key, c); got != want {
			t.Errorf("key %q goes to %d, want %d under %+v", key, got, want, c)
		}
	})
}

// TestSlotsByHand: three servers of weights 1, 2 and 4 under 150%. With 5 requests
// there, the 6th makes ceil(6 * 1.5) = 9 slots for 7 units of weight: 1, 2 and 4,
// and of the two that remain floor(2/7) = 0 to the first, floor(6/7) = 0 up to the
// second, and both to the third.
func TestSlotsByHand(t *testing.T) {
	nodes := algorithms.Nodes("a", "b", "c")
	for i, w := range []float64{1, 2, 4} {
		nodes[i].Weight = w
	}
	m, err := New(nodes, Config{HashFunction: "sdbm", HashBalanceFactor: 150})
	if err != nil {
		t.Fatal(err)
	}
	b := m.(*Bounded)
	if got, want := []int64{b.slots(0, 6), b.slots(1, 6), b.slots(2, 6)}, []int64{1, 2, 6}; !slices.Equal(got, want) {
		t.Errorf("slots %d, want %d", got, want)
	}
	// One request: 2 slots, the first two of which are nobody's by weight.
	if got, want := []int64{b.slots(0, 1), b.slots(1, 1), b.slots(2, 1)}, []int64{1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("slots %d, want %d", got, want)
	}
}

// TestABoundIsItsModel drives random requests, releases and changes against a
// walk over all points and the slots in fractions.
func TestABoundIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default
		c.HashBalanceFactor = rapid.SampledFrom([]int{101, 125, 150, 300}).Draw(t, "factor")
		var nodes []algorithms.Node
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint(i), Weight: float64(rapid.SampledFrom([]int{1, 1, 2, 5}).Draw(t, "weight"))})
		}
		mapper, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		m := mapper.(*Bounded)
		held := map[algorithms.Bucket]uint64{}
		served, joined := uint64(0), 0
		slots := func(b algorithms.Bucket) uint64 {
			units, before, own := uint64(0), uint64(0), uint64(0)
			for other, n := range m.Nodes() {
				w := 16 * uint64(n.Weight)
				units += w
				if other < b {
					before += w
				}
				if other == b {
					own = w
				}
			}
			all := (served + 1) * uint64(c.HashBalanceFactor)
			all = all/100 + min(all%100, 1)
			dealt := func(to uint64) uint64 { // to the servers of the first units of weight
				hi, lo := bits.Mul64(to, all%units)
				q, _ := bits.Div64(hi, lo, units)
				return to*(all/units) + q
			}
			return max(1, dealt(before+own)-dealt(before))
		}
		t.Repeat(map[string]func(*rapid.T){
			"assign": func(t *rapid.T) {
				h := m.HashKey(fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "key")))
				var want algorithms.Bucket
				passed := map[algorithms.Bucket]bool{}
				all := m.Points()
				for i := m.Find(h); ; i++ {
					want = all[i%len(all)].Owner
					if held[want] < slots(want) {
						break
					}
					passed[want] = true
				}
				b, steps := m.AssignSteps(h)
				if b != want || steps != len(passed) {
					t.Fatalf("a request goes to %d after %d full ones, want %d after %d", b, steps, want, len(passed))
				}
				held[b]++
				served++
				if load, capacity := m.Load(b); load != int(held[b]) || load > capacity {
					t.Fatalf("server %d tells a load of %d with a capacity of %d, it holds %d", b, load, capacity, held[b])
				}
			},
			"release": func(t *rapid.T) {
				for b := range algorithms.Bucket(10) {
					if held[b] > 0 {
						m.Release(b)
						held[b]--
						served--
						return
					}
				}
			},
			"add": func(t *rapid.T) {
				if m.Len() < 8 {
					joined++
					if _, err := m.Add(algorithms.Node{Name: fmt.Sprint("new", joined), Weight: 1}); err != nil {
						t.Fatal(err)
					}
				}
			},
			"remove": func(t *rapid.T) {
				for b := range m.Nodes() {
					if m.Len() > 1 {
						if err := m.Remove(b); err != nil {
							t.Fatal(err)
						}
						served -= held[b]
						held[b] = 0
					}
					return
				}
			},
		})
	})
}

// TestOneKeySpreads is haproxy/haproxy#2893: under a bound, a key that everybody
// asks for is served by ceil(N/c) servers at least.
func TestOneKeySpreads(t *testing.T) {
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprint("s", i+1))
	}
	for factor, least := range map[int]int{125: 8, 150: 7, 200: 5} {
		c := Default
		c.HashBalanceFactor = factor
		m, err := New(algorithms.Nodes(names...), c)
		if err != nil {
			t.Fatal(err)
		}
		b := m.(*Bounded)
		used := map[algorithms.Bucket]int{}
		for range 1000 {
			to, _ := b.Assign(b.HashKey("hot"))
			used[to]++
		}
		if len(used) < least {
			t.Errorf("factor %d: %d servers take the key, want %d or more", factor, len(used), least)
		}
		for to, n := range used {
			if n > 10*factor/10 {
				t.Errorf("factor %d: server %d holds %d of 1000", factor, to, n)
			}
		}
	}
}

func TestSettingsThatHAProxyDoesNotTakeAreRefused(t *testing.T) {
	for _, c := range []Config{{HashFunction: "md5"}, {HashFunction: "sdbm", HashBalanceFactor: 100}, {HashFunction: "sdbm", HashBalanceFactor: -1}} {
		if _, err := New(algorithms.Nodes("a"), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, w := range []float64{0.5, 257} {
		if _, err := New([]algorithms.Node{{Name: "a", Weight: w}}, Default); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("weight %v: error %v", w, err)
		}
	}
}

func TestForecastIsExact(t *testing.T) {
	nodes := algorithms.Nodes("a", "b")
	nodes[1].Weight = 200
	if f, got := Default.Forecast(nodes), build(t, nodes, Default).Footprint(); f != got {
		t.Errorf("forecast of %d bytes, built %d", f, got)
	}
}
