package uhashring_test

import (
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/live"
	"github.com/ringbench/ringbench/algorithms/compat/uhashring"
)

func TestConformance(t *testing.T) { algotest.Test(t, uhashring.Info) }

// ketama is the settings of HashRing(hash_fn="ketama").
var ketama = uhashring.Config{HashFn: "ketama", Replicas: 4}

func TestConformanceOfKetama(t *testing.T) {
	algotest.Test(t, algorithms.Define("uhashring", "", ketama, uhashring.New).
		Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits))
}

func build(t testing.TB, nodes []algorithms.Node, c uhashring.Config) *uhashring.Map {
	t.Helper()
	m, err := uhashring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// setups are the set-ups that the rows of the vectors name.
var setups = map[string]struct {
	nodes  []algorithms.Node
	config uhashring.Config
}{
	"ketama, nodes node1..3 weight 1, vnodes 40, replicas 4": {algorithms.Nodes("node1", "node2", "node3"), ketama},
	"ketama 127.0.0.1:11211=600, :11212=400": {
		[]algorithms.Node{{Name: "127.0.0.1:11211", Weight: 600}, {Name: "127.0.0.1:11212", Weight: 400}}, ketama,
	},
	"default (meta: full md5 as 128-bit int, 160 vnodes), nodes node1..3": {algorithms.Nodes("node1", "node2", "node3"), uhashring.Default},
	"ketama, nodes 1,2,3,4, replicas=3":                                   {algorithms.Nodes("1", "2", "3", "4"), uhashring.Config{HashFn: "ketama", Replicas: 3}},
}

func TestUhashring(t *testing.T) {
	data, err := os.ReadFile("testdata/uhashring.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Algorithm, Setup, Key string
		Keys                  json.RawMessage
		Expected              []string
		Size                  int
		Distribution          map[string]int
		First                 [][2]string `json:"first_points"`
		Ketama                uint32      `json:"expected_ketama_hashi"`
		Meta                  string      `json:"expected_meta_hashi"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Algorithm == "uhashring_hash" {
			meta, _ := new(big.Int).SetString(row.Meta, 10)
			if got := build(t, algorithms.Nodes("a"), uhashring.Default).HashKey(row.Key); got != meta.Rsh(meta, 64).Uint64() {
				t.Errorf("%q stands at %#x, want %#x", row.Key, got, meta)
			}
			if got := build(t, algorithms.Nodes("a"), ketama).HashKey(row.Key); uint32(got) != row.Ketama {
				t.Errorf("%q stands at %d, want %d", row.Key, uint32(got), row.Ketama)
			}
			continue
		}
		setup, known := setups[row.Setup]
		if !known {
			t.Fatalf("unknown set-up %q", row.Setup)
		}
		m := build(t, setup.nodes, setup.config)
		var keys []string
		if json.Unmarshal(row.Keys, &keys) != nil {
			for i := range row.Expected {
				keys = append(keys, fmt.Sprint("key-", i))
			}
		}
		for i, want := range row.Expected {
			if got := setup.nodes[m.LookupKey(keys[i])].Name; got != want {
				t.Errorf("%s, key %q: %s, want %s", row.Setup, keys[i], got, want)
			}
		}
		if row.Size == 0 {
			continue
		}
		if got := len(m.Points()); got != row.Size {
			t.Errorf("%s: %d points, want %d", row.Setup, got, row.Size)
		}
		counts := map[string]int{}
		for _, p := range m.Points() {
			counts[setup.nodes[p.Owner].Name]++
		}
		if fmt.Sprint(counts) != fmt.Sprint(row.Distribution) {
			t.Errorf("%s: points %v, want %v", row.Setup, counts, row.Distribution)
		}
		for i, first := range row.First {
			at, _ := new(big.Int).SetString(first[0], 10)
			if setup.config.HashFn == "md5" {
				at.Rsh(at, 64)
			}
			if p := m.Points()[i]; p.Position != at.Uint64() || setup.nodes[p.Owner].Name != first[1] {
				t.Errorf("%s: point %d is %v, want %s of %s", row.Setup, i, p, at, first[1])
			}
		}
	}
}

// TestLiveRuns holds owners to runs of uhashring itself, with other weights and
// settings than the vectors above have; each row names its source.
func TestLiveRuns(t *testing.T) { live.Test(t, uhashring.Info) }

// slow looks for the nearest of all points, with whole digests for positions.
func slow(nodes []algorithms.Node, key string, c uhashring.Config, vnodes int) int {
	number := func(text string) *big.Int {
		d := md5.Sum([]byte(text))
		return new(big.Int).SetBytes(d[:])
	}
	word := func(text string, i int) *big.Int {
		d := md5.Sum([]byte(text))
		part := d[4*i : 4*i+4]
		slices.Reverse(part)
		return new(big.Int).SetBytes(part)
	}
	total := 0
	for _, n := range nodes {
		total += int(n.Weight)
	}
	h, circle := number(key), new(big.Int).Lsh(big.NewInt(1), 128)
	if c.HashFn == "ketama" {
		h, circle = word(key, 0), big.NewInt(1<<32)
	}
	best, way := -1, new(big.Int)
	see := func(i int, at *big.Int) {
		d := at.Sub(at, h)
		d.Sub(d, big.NewInt(1)).Mod(d, circle) // its own position is the farthest
		if cmp := d.Cmp(way); best < 0 || cmp < 0 || cmp == 0 && nodes[i].Name < nodes[best].Name {
			best, way = i, d
		}
	}
	for i, n := range nodes {
		if c.HashFn == "md5" {
			for k := range vnodes * int(n.Weight) {
				see(i, number(fmt.Sprintf("%s-%d", n.Name, k)))
			}
			continue
		}
		for k := range vnodes * len(nodes) * int(n.Weight) / total {
			for w := range c.Replicas {
				see(i, word(fmt.Sprintf("%s-%d", n.Name, k), w))
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]{1,4}`), 1, 5, rapid.ID[string]).Draw(t, "names")
		var nodes []algorithms.Node
		for _, name := range names {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(rapid.SampledFrom([]int{0, 1, 1, 2, 7}).Draw(t, "weight"))})
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		c := uhashring.Config{HashFn: rapid.SampledFrom([]string{"md5", "ketama"}).Draw(t, "hash_fn"), Replicas: rapid.IntRange(1, 4).Draw(t, "replicas")}
		vnodes := 160
		if c.HashFn == "ketama" {
			vnodes = 40
		}
		if rapid.Bool().Draw(t, "set vnodes") {
			vnodes = rapid.IntRange(1, 20).Draw(t, "vnodes")
			c.VNodes = &vnodes
		}
		m, err := uhashring.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		// A key that is a label stands on a point, which does not own it.
		for _, key := range []string{rapid.String().Draw(t, "key"), names[0] + "-0"} {
			want := slow(nodes, key, c, vnodes)
			if len(m.Points()) == 0 {
				want = int(algorithms.None)
			}
			if got := int(m.LookupKey(key)); got != want {
				t.Fatalf("key %q goes to %d, want %d of %v under %+v", key, got, want, nodes, c)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "a", "b", uint8(1), uint8(2), true)
	f.Add("a-1", "a", "b", uint8(0), uint8(1), false)
	f.Fuzz(func(t *testing.T, key, x, y string, v, w uint8, likeKetama bool) {
		nodes := []algorithms.Node{{Name: x, Weight: float64(v % 8)}, {Name: y, Weight: float64(w % 8)}}
		if algorithms.Validate(nodes) != nil {
			return
		}
		c, vnodes := uhashring.Default, 160
		if likeKetama {
			c, vnodes = ketama, 40
		}
		if got, want := int(build(t, nodes, c).LookupKey(key)), slow(nodes, key, c, vnodes); got != want {
			t.Errorf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}

// TestASharedPointBelongsToOneWhoeverJoinedFirst is ultrabug/uhashring#6.
func TestASharedPointBelongsToOneWhoeverJoinedFirst(t *testing.T) {
	const shared = 1009926488
	names := []string{"172.31.1.125", "172.31.1.202"}
	for _, order := range [][]string{{names[0], names[1]}, {names[1], names[0]}} {
		m := build(t, algorithms.Nodes(order...), ketama)
		if i := m.Find(shared - 1); m.Points()[i].Position != shared || m.Points()[i+1].Position != shared {
			t.Fatalf("no shared point after %d", shared-1)
		}
		if got := order[m.Lookup(shared-1)]; got != names[0] {
			t.Errorf("joined as %q, %s owns the shared point", order, got)
		}
		if err := m.Remove(0); err != nil {
			t.Fatal(err)
		}
		if got := m.Points()[m.Find(shared-1)]; got.Position != shared || got.Owner != 1 {
			t.Errorf("%s left, and with it the point of %s", order[0], order[1])
		}
	}
}

func TestANodeWithoutPointsIsNamed(t *testing.T) {
	nodes := []algorithms.Node{{Name: "a", Weight: 1024}, {Name: "b", Weight: 1024}, {Name: "c", Weight: 5}}
	if got := build(t, nodes, ketama).Pointless(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("nodes without points %q, want c", got)
	}
}

func TestWhatUhashringDoesNotTakeIsRefused(t *testing.T) {
	none, many := 0, 1<<30
	for _, c := range []uhashring.Config{
		{HashFn: "sha1", Replicas: 4}, {HashFn: "md5", Replicas: 5}, {HashFn: "ketama", Replicas: 0},
		{HashFn: "md5", Replicas: 4, VNodes: &none}, {HashFn: "md5", Replicas: 4, VNodes: &many}, {HashFn: "ketama", Replicas: 4, VNodes: &many},
	} {
		nodes := algorithms.Nodes("a", "b")
		if _, err := uhashring.New(nodes, c); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	if _, err := uhashring.New([]algorithms.Node{{Name: "a", Weight: 0.5}}, uhashring.Default); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("weight 0.5: error %v", err)
	}
}

func TestForecastIsEnough(t *testing.T) {
	nodes := []algorithms.Node{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}, {Name: "c", Weight: 3}}
	for _, c := range []uhashring.Config{uhashring.Default, ketama} {
		if f, got := c.Forecast(nodes), build(t, nodes, c).Footprint(); f < got || f > got+got/20 {
			t.Errorf("%s: forecast of %d bytes, built %d", c.HashFn, f, got)
		}
	}
}
