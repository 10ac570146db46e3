package tokenring

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/murmur3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestConformanceOfEvenAllocation(t *testing.T) {
	c := Config{NumTokens: 16, Allocation: even}
	algotest.Test(t, algorithms.Define("token-ring", "", c, New).
		Declining(algorithms.Balance, algorithms.OrderIndependent))
}

func build(t testing.TB, nodes []algorithms.Node, c Config) *Map {
	t.Helper()
	m, err := New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCassandrasHash(t *testing.T) {
	data, err := os.ReadFile("testdata/cassandra_murmur3.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Key   string
		Hex   string `json:"key_hex"`
		Token string `json:"expected_token"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		key := row.Key
		if row.Hex != "" {
			raw, err := hex.DecodeString(row.Hex)
			if err != nil {
				t.Fatal(err)
			}
			key = string(raw)
		}
		want, err := strconv.ParseInt(row.Token, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(slowHash(key)); got != want {
			t.Errorf("the slow hash of %q is %d, want %d", key, got, want)
		}
		if got := int64(hash([]byte(key))); got != want {
			t.Errorf("%q is hashed to %d, want %d", key, got, want)
		}
		if got := int64((*Map)(nil).HashKey(key)); key != "" && got != want {
			t.Errorf("%q has the token %d, want %d", key, got, want)
		}
	}
	if got := int64((*Map)(nil).HashKey("")); got != -1<<63 {
		t.Errorf("the empty key has the token %d, want the least of all", got)
	}
}

// slowHash is the published function wherever no sign is in the way, which is to
// say that the last block has no byte above 0x7f.
func slowHash(key string) uint64 {
	tail := key[len(key)/16*16:]
	if strings.ContainsFunc(tail, func(r rune) bool { return r > 0x7f }) {
		return hash([]byte(key))
	}
	h, _ := murmur3.StringSum128(key)
	return h
}

func FuzzHash(f *testing.F) {
	f.Add("hello")
	f.Add("0123456789abcdef\xff")
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8tail")
	f.Fuzz(func(t *testing.T, key string) {
		if got, want := hash([]byte(key)), slowHash(key); got != want {
			t.Errorf("%q is hashed to %#x, want %#x", key, got, want)
		}
	})
}

// slow looks for the first token at or after the key's among all, in numbers
// with a sign, beginning anew with the least.
func slow(nodes []algorithms.Node, tokens [][]uint64, h int64) int {
	best, least := -1, -1
	var at, first int64
	for i := range nodes {
		for _, u := range tokens[i] {
			token := int64(u)
			if token >= h && (best < 0 || token < at || token == at && nodes[i].Name < nodes[best].Name) {
				best, at = i, token
			}
			if least < 0 || token < first || token == first && nodes[i].Name < nodes[least].Name {
				least, first = i, token
			}
		}
	}
	if best < 0 {
		return least
	}
	return best
}

// slowEven takes tokens as the package comment says, with every range found
// anew among all tokens for each.
func slowEven(counts []int) [][]uint64 {
	tokens := make([][]uint64, len(counts))
	circle := new(big.Int).Lsh(big.NewInt(1), 64)
	width := func(all [][]uint64, token uint64) *big.Int {
		best := new(big.Int).Set(circle)
		for _, list := range all {
			for _, other := range list {
				if d := token - other; d != 0 && new(big.Int).SetUint64(d).Cmp(best) < 0 {
					best.SetUint64(d)
				}
			}
		}
		return best
	}
	total := int64(0)
	for i, count := range counts {
		if count == 0 {
			continue
		}
		total += int64(count)
		mean := new(big.Int).Div(circle, big.NewInt(total))
		if total == int64(count) {
			for k := range count {
				tokens[i] = append(tokens[i], new(big.Int).Mul(mean, big.NewInt(int64(k))).Uint64())
			}
			continue
		}
		everything := slices.Clone(tokens)
		for range count {
			from, most := -1, new(big.Rat)
			var widest *big.Int
			var at uint64
			for j, list := range tokens[:i] {
				sum, wide, where := big.NewInt(-1), new(big.Int), uint64(0)
				for _, token := range list {
					w := width(everything, token)
					sum.Add(sum, w)
					if w.Cmp(wide) > 0 {
						wide, where = w, token
					}
				}
				if len(list) == 0 {
					continue
				}
				if load := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(list)))); from < 0 || load.Cmp(most) > 0 {
					from, most, widest, at = j, load, wide, where
				}
			}
			w := widest.Sub(widest, big.NewInt(1)).Uint64()
			part := min(mean.Uint64(), w-w/4)
			everything[i] = append(slices.Clone(everything[i]), at-w-1+part)
		}
		tokens[i] = everything[i]
	}
	return tokens
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			NumTokens:  rapid.IntRange(1, 6).Draw(t, "num_tokens"),
			Allocation: rapid.SampledFrom([]string{random, even}).Draw(t, "allocation"),
		}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		var nodes []algorithms.Node
		var counts []int
		tokens := make([][]uint64, len(names))
		for i, name := range names {
			w := rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(t, "weight")
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(w)})
			counts = append(counts, w*c.NumTokens)
			for k := range counts[i] {
				tokens[i] = append(tokens[i], slowHash(fmt.Sprintf("%s#%d", name, k)))
			}
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		if c.Allocation == even {
			tokens = slowEven(counts)
		}
		m, err := New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			if !slices.Equal(m.tokens[i], tokens[i]) {
				t.Fatalf("node %d of %v has the tokens %x, want %x", i, nodes, m.tokens[i], tokens[i])
			}
		}
		for _, h := range []uint64{rapid.Uint64().Draw(t, "h"), 0, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
			if got, want := int(m.Lookup(h)), slow(nodes, tokens, int64(h)); got != want {
				t.Fatalf("token %d goes to %d, want %d of %v", int64(h), got, want, nodes)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "a", "b", uint8(16))
	f.Fuzz(func(t *testing.T, key, x, y string, count uint8) {
		nodes := algorithms.Nodes(x, y)
		if algorithms.Validate(nodes) != nil || count == 0 {
			return
		}
		m := build(t, nodes, Config{int(count), random})
		if got, want := int(m.LookupKey(key)), slow(nodes, m.tokens, int64(m.HashKey(key))); got != want {
			t.Errorf("key %q goes to %d, want %d of %q and %q", key, got, want, x, y)
		}
	})
}

// peak returns the share of the busiest node, 1 being fair, from the exact cells.
func peak(m *Map) float64 {
	owned := map[algorithms.Bucket]float64{}
	begin := uint64(0)
	_, cells := m.Cells()
	for end, b := range cells {
		owned[b] += float64(end-begin) + 1
		begin = end + 1
	}
	most, weight := 0.0, 0.0
	for _, n := range m.Nodes() {
		weight += n.Weight
	}
	for b, n := range m.Nodes() {
		most = max(most, owned[b]/(1<<64)/(n.Weight/weight))
	}
	return most
}

// TestEvenTokensBalance: what the package comment says of 100 nodes, and that
// nodes which leave and come do not undo it.
func TestEvenTokensBalance(t *testing.T) {
	var nodes []algorithms.Node
	for i := range 100 {
		nodes = append(nodes, algorithms.Node{Name: fmt.Sprint("node-", i), Weight: 1})
	}
	m := build(t, nodes, Config{16, even})
	if got := peak(m); got > 1.035 {
		t.Errorf("even tokens: the busiest node owns %.3f of its share, want 1.03 or less", got)
	}
	if got := peak(build(t, nodes, Config{16, random})); got < 1.4 || got > 2 {
		t.Errorf("random tokens: the busiest node owns %.3f of its share, want about 1.7", got)
	}
	for i := range 20 {
		if err := m.Remove(algorithms.Bucket(i * 3)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Add(algorithms.Node{Name: fmt.Sprint("new-", i), Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if got := peak(m); got > 1.2 {
		t.Errorf("after 20 replacements the busiest node owns %.3f of its share", got)
	}
	for i := range nodes {
		nodes[i].Weight = float64(1 + i%3)
	}
	if got := peak(build(t, nodes, Config{16, even})); got > 1.06 {
		t.Errorf("even tokens by weight: the busiest node owns %.3f of its share", got)
	}
}

// TestTokensNeverMove: whoever joins or leaves, the others keep their tokens.
func TestTokensNeverMove(t *testing.T) {
	for _, allocation := range []string{random, even} {
		m := build(t, algorithms.Nodes("a", "b", "c", "d"), Config{8, allocation})
		before := slices.Clone(m.tokens)
		if err := m.Remove(1); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Add(algorithms.Node{Name: "e", Weight: 2}); err != nil {
			t.Fatal(err)
		}
		for _, b := range []int{0, 2, 3} {
			if !slices.Equal(m.tokens[b], before[b]) {
				t.Errorf("%s: bucket %d has other tokens", allocation, b)
			}
		}
		if len(m.tokens[1]) != 16 || slices.Contains(m.tokens[1], before[1][0]) && allocation == random {
			t.Errorf("%s: the node that joined has the tokens %x", allocation, m.tokens[1])
		}
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	for _, c := range []Config{{0, random}, {16, "evenly"}, {1 << 40, random}} {
		if _, err := New(algorithms.Nodes("a"), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestForecastIsExact(t *testing.T) {
	nodes := algorithms.Nodes("a", "b", "c")
	nodes[1].Weight = 2.3
	if f, got := Default.Forecast(nodes), build(t, nodes, Default).Footprint(); f != got {
		t.Errorf("forecast of %d bytes, built %d", f, got)
	}
}
