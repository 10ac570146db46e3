package twemproxy_test

import (
	"crypto/md5"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/live"
	"github.com/ringbench/ringbench/algorithms/compat/twemproxy"
)

func TestConformance(t *testing.T) { algotest.Test(t, twemproxy.Info) }

func build(t testing.TB, nodes []algorithms.Node, c twemproxy.Config) *twemproxy.Map {
	t.Helper()
	m, err := twemproxy.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPointsOfServer1 takes two points from twitter/twemproxy src/test_all.c
// (facts): the first and the last word of the digest of server1-8.
func TestPointsOfServer1(t *testing.T) {
	m := build(t, algorithms.Nodes("server1"), twemproxy.Default)
	if n := len(m.Points()); n != 160 {
		t.Errorf("%d points, want 160", n)
	}
	for _, at := range []uint64{3853726576, 2667054752} {
		if p := m.Points()[m.Find(at)]; p.Position != at {
			t.Errorf("no point at %d, the next is at %d", at, p.Position)
		}
	}
}

func TestTheDefaultPortIsNoPartOfTheName(t *testing.T) {
	bare := build(t, algorithms.Nodes("10.0.0.1", "10.0.0.2:6379"), twemproxy.Default)
	full := build(t, algorithms.Nodes("10.0.0.1:11211", "10.0.0.2:6379"), twemproxy.Default)
	if !slices.Equal(bare.Points(), full.Points()) {
		t.Error("10.0.0.1 and 10.0.0.1:11211 have other points")
	}
}

func TestOnlyTheTagIsHashed(t *testing.T) {
	m := build(t, algorithms.Nodes("a"), twemproxy.Config{Hash: "md5", HashTag: "{}"})
	plain := build(t, algorithms.Nodes("a"), twemproxy.Config{Hash: "md5"})
	for key, hashed := range map[string]string{
		"user:{42}:name": "42",
		"{42}":           "42",
		"}{a}{b}":        "a",
		"{{a}}":          "{a",
		"user:{}:{42}":   "user:{}:{42}",
		"user:{42":       "user:{42",
		"user}42{":       "user}42{",
		"":               "",
	} {
		if got, want := m.HashKey(key), plain.HashKey(hashed); got != want {
			t.Errorf("%q is hashed to %#x, want %#x, the hash of %q", key, got, want, hashed)
		}
	}
	if h := plain.HashKey(""); h != 0 {
		t.Errorf("the empty key is hashed to %#x, want 0", h)
	}
	for _, tag := range []string{"{", "{}}"} {
		if _, err := twemproxy.New(algorithms.Nodes("a"), twemproxy.Config{Hash: "md5", HashTag: tag}); err == nil || !strings.Contains(err.Error(), "hash_tag") {
			t.Errorf("hash_tag %q: error %v", tag, err)
		}
	}
}

// TestAHashOf15BitsLandsOnOneServer is twitter/twemproxy#175.
func TestAHashOf15BitsLandsOnOneServer(t *testing.T) {
	nodes := algorithms.Nodes("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379", "10.0.0.4:6379")
	for hash, alone := range map[string]bool{"crc32": true, "crc32a": false} {
		m := build(t, nodes, twemproxy.Config{Hash: hash})
		counts := map[algorithms.Bucket]int{}
		for k := range 100_000 {
			counts[m.LookupKey(fmt.Sprint("key:", k))]++
		}
		if (len(counts) == 1) != alone {
			t.Errorf("%s: keys per server %v", hash, counts)
		}
	}
}

func TestAServerWithoutPointsIsNamed(t *testing.T) {
	m := build(t, []algorithms.Node{{Name: "a", Weight: 1024}, {Name: "b", Weight: 1024}, {Name: "c", Weight: 5}}, twemproxy.Default)
	if got := m.Pointless(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("servers without points %q, want c", got)
	}
}

// TestLiveRuns holds owners to runs of twemproxy itself, with other weights and
// settings than the vectors above have; each row names its source.
func TestLiveRuns(t *testing.T) { live.Test(t, twemproxy.Info) }

// slow places a key of ASCII characters as one would explain it.
func slow(nodes []algorithms.Node, key string) int {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	single := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(24).Set(x) }
	wide := func() *big.Float { return new(big.Float).SetPrec(200) }
	total, n := 0.0, 0
	for _, node := range nodes {
		total += node.Weight
		if node.Weight > 0 {
			n++
		}
	}
	h := uint32(0)
	if key != "" {
		sum := fnv.New64a()
		sum.Write([]byte(key))
		h = uint32(sum.Sum64())
	}
	best, way := -1, uint32(0)
	for i, node := range nodes {
		if node.Weight == 0 {
			continue
		}
		x := single(wide().Quo(single(num(node.Weight)), single(num(total))))
		x = single(wide().Mul(x, num(160)))
		x = single(wide().Quo(x, num(4)))
		x = single(wide().Mul(x, num(float64(n))))
		x = single(new(big.Float).SetPrec(53).Add(x, num(1e-10)))
		digests, _ := x.Int64()
		for k := range digests {
			digest := md5.Sum(fmt.Appendf(nil, "%s-%d", strings.TrimSuffix(node.Name, ":11211"), k))
			for w := range 4 {
				at := uint32(digest[4*w]) | uint32(digest[4*w+1])<<8 | uint32(digest[4*w+2])<<16 | uint32(digest[4*w+3])<<24
				if d := at - h; best < 0 || d < way || d == way && node.Name < nodes[best].Name {
					best, way = i, d
				}
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.]{1,8}(:(11211|6379))?`), 1, 6, func(s string) string { return strings.TrimSuffix(s, ":11211") }).Draw(t, "names")
		weight := rapid.OneOf(rapid.Just(1.0), rapid.Just(0.0), rapid.Map(rapid.IntRange(1, 5000), func(w int) float64 { return float64(w) }))
		var nodes []algorithms.Node
		for _, name := range names {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: weight.Draw(t, "weight")})
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		m, err := twemproxy.New(nodes, twemproxy.Default)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			key := rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "key")
			if got, want := int(m.LookupKey(key)), slow(nodes, key); got != want {
				t.Fatalf("key %q goes to %d, want %d of %v", key, got, want, nodes)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", uint16(1), uint16(1))
	f.Add("", uint16(1024), uint16(5))
	f.Fuzz(func(t *testing.T, key string, v, w uint16) {
		nodes := []algorithms.Node{{Name: "10.0.0.1:11211", Weight: float64(v)}, {Name: "10.0.0.2:22122", Weight: float64(w)}}
		if algorithms.Validate(nodes) != nil || strings.ContainsFunc(key, func(r rune) bool { return r > 0x7e }) {
			return
		}
		if got, want := int(build(t, nodes, twemproxy.Default).LookupKey(key)), slow(nodes, key); got != want {
			t.Errorf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}
