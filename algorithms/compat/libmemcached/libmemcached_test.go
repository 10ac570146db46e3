package libmemcached

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/live"
)

func TestConformance(t *testing.T)    { algotest.Test(t, Info) }
func TestConformanceSpy(t *testing.T) { algotest.Test(t, SpyInfo) }

// servers is the list of the fixture: that of ketama.servers in libketama.
var servers = []algorithms.Node{
	{Name: "10.0.1.1:11211", Weight: 600}, {Name: "10.0.1.2:11211", Weight: 300},
	{Name: "10.0.1.3:11211", Weight: 200}, {Name: "10.0.1.4:11211", Weight: 350},
	{Name: "10.0.1.5:11211", Weight: 1000}, {Name: "10.0.1.6:11211", Weight: 800},
	{Name: "10.0.1.7:11211", Weight: 950}, {Name: "10.0.1.8:11211", Weight: 100},
}

func TestLibmemcachedsFixture(t *testing.T) {
	data, err := os.ReadFile("testdata/libmemcached_ketama.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Algorithm, Key string
		Hash           uint64 `json:"expected_hash"`
		Point          uint64 `json:"expected_point"`
		Server         string `json:"expected_server"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, portless := range []bool{false, true} {
		nodes := slices.Clone(servers)
		for i := range nodes {
			if portless {
				nodes[i].Name = strings.TrimSuffix(nodes[i].Name, ":11211")
			}
		}
		weighted, err := New(nodes, Default)
		if err != nil {
			t.Fatal(err)
		}
		spy, err := NewSpy(nodes, Default)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			m := map[string]*Map{"libmemcached_weighted_ketama": weighted, "libmemcached_ketama_spy": spy}[row.Algorithm]
			h := m.HashKey(row.Key)
			p := m.Points()[m.Find(h)]
			server, _ := split(nodes[m.LookupKey(row.Key)].Name)
			if h != row.Hash<<32|row.Hash || p.Position != row.Point || server != row.Server {
				t.Errorf("%s, key %q: hash %#x, point %d, server %s; want %d, %d, %s", row.Algorithm, row.Key, h, p.Position, server, row.Hash, row.Point, row.Server)
			}
			seen[row.Algorithm]++
		}
	}
	if seen["libmemcached_weighted_ketama"] == 0 || seen["libmemcached_ketama_spy"] == 0 {
		t.Errorf("rows seen: %v", seen)
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct{ name, label, spy string }{
		{"10.0.1.1", "10.0.1.1", "/10.0.1.1:11211"},
		{"10.0.1.1:11211", "10.0.1.1", "/10.0.1.1:11211"},
		{"10.0.1.1:11212", "10.0.1.1:11212", "/10.0.1.1:11212"},
		{"host:memcached", "host:memcached", "/host:memcached:11211"},
		{"host:70000", "host:70000", "/host:70000:11211"},
		{"/var/run/cache:1", "/var/run/cache:1:0", "//var/run/cache:1:0"},
	} {
		if got, spy := label(c.name), spyLabel(c.name); got != c.label || spy != c.spy {
			t.Errorf("%s has the labels %s and %s, want %s and %s", c.name, got, spy, c.label, c.spy)
		}
	}
}

// TestTheHashPlacesOnlyTheKeys: another setting leaves the points where they are.
func TestTheHashPlacesOnlyTheKeys(t *testing.T) {
	by := map[string]*Map{}
	for _, hash := range []string{"md5", "fnv1a_32"} {
		m, err := New(servers, Config{Hash: hash})
		if err != nil {
			t.Fatal(err)
		}
		by[hash] = m
	}
	if !slices.Equal(by["md5"].Points(), by["fnv1a_32"].Points()) {
		t.Error("the points differ")
	}
	if by["md5"].HashKey("apple")>>32 != 3195025439 || by["fnv1a_32"].HashKey("apple")>>32 != 280767167 {
		t.Errorf("apple is hashed to %d and %d", by["md5"].HashKey("apple")>>32, by["fnv1a_32"].HashKey("apple")>>32)
	}
	if _, err := New(servers, Config{Hash: "fnv1a"}); err == nil || !strings.Contains(err.Error(), "fnv1a_32") {
		t.Errorf("hash fnv1a: error %v", err)
	}
}

// TestLiveRuns holds owners to runs of libmemcached itself, with other weights and
// settings than the vectors above have; each row names its source.
func TestLiveRuns(t *testing.T) { live.Test(t, Info, SpyInfo) }

// slow places a key as one would explain it: no point is kept, and the nearest is
// looked for among all. Rounding to 32 bits is done on paper, by big.Float.
func slow(nodes []algorithms.Node, key string, spy bool) int {
	single := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(24).Set(x) }
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	op := func(f func(z, x, y *big.Float) *big.Float, x *big.Float, y float64) *big.Float {
		return single(f(new(big.Float).SetPrec(200), x, num(y)))
	}
	total, n := 0.0, 0
	for _, node := range nodes {
		total += node.Weight
		if node.Weight > 0 {
			n++
		}
	}
	word := func(text string, i int) uint32 {
		d := md5.Sum([]byte(text))
		return uint32(d[4*i]) | uint32(d[4*i+1])<<8 | uint32(d[4*i+2])<<16 | uint32(d[4*i+3])<<24
	}
	h := word(key, 0)
	best, way := -1, uint32(0)
	for i, node := range nodes {
		if node.Weight == 0 {
			continue
		}
		x := op((*big.Float).Quo, single(num(node.Weight)), float64(float32(total)))
		x = op((*big.Float).Mul, x, 160)
		x = op((*big.Float).Quo, x, 4)
		x = op((*big.Float).Mul, x, float64(n))
		x = op((*big.Float).Add, x, float64(float32(1e-10)))
		digests, _ := x.Int64()
		host, port, found := strings.Cut(node.Name, ":")
		if !found {
			port = "11211"
		}
		prefix := host
		if port != "11211" {
			prefix += ":" + port
		}
		if spy {
			prefix = "/" + host + ":" + port
		}
		for k := range digests {
			for w := range 4 {
				if d := word(prefix+"-"+strconv.FormatInt(k, 10), w) - h; best < 0 || d < way {
					best, way = i, d
				}
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.]{1,8}(:(11211|11212|8[0-9]))?`), 1, 6, rapid.ID[string]).Draw(t, "names")
		weight := rapid.OneOf(rapid.Just(1.0), rapid.Just(0.0), rapid.Just(0.5), rapid.Map(rapid.IntRange(1, 5000), func(w int) float64 { return float64(w) }))
		var nodes []algorithms.Node
		for _, name := range names {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: weight.Draw(t, "weight")})
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		spy := rapid.Bool().Draw(t, "spy")
		build := New
		if spy {
			build = NewSpy
		}
		m, err := build(nodes, Default)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			key := rapid.String().Draw(t, "key")
			if got, want := int(m.LookupKey(key)), slow(nodes, key, spy); got != want {
				t.Fatalf("key %q goes to %d, want %d of %v", key, got, want, nodes)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", uint16(11211), uint16(11212), uint16(1), uint16(1), false)
	f.Add("", uint16(11211), uint16(80), uint16(1024), uint16(5), true)
	f.Fuzz(func(t *testing.T, key string, p, q, v, w uint16, spy bool) {
		if p == 0 || q == 0 { // no ports that a name can end in
			return
		}
		nodes := []algorithms.Node{{Name: fmt.Sprint("a:", p), Weight: float64(v)}, {Name: fmt.Sprint("b:", q), Weight: float64(w)}}
		if algorithms.Validate(nodes) != nil {
			return
		}
		build := New
		if spy {
			build = NewSpy
		}
		m, err := build(nodes, Default)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := int(m.LookupKey(key)), slow(nodes, key, spy); got != want {
			t.Errorf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}

func TestAServerWithoutPointsIsNamed(t *testing.T) {
	m, err := New([]algorithms.Node{{Name: "a", Weight: 1024}, {Name: "b", Weight: 1024}, {Name: "c", Weight: 5}}, Default)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Pointless(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("servers without points %q, want c", got)
	}
}
