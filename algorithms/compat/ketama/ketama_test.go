package ketama_test

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/ketama"
)

func TestConformance(t *testing.T) { algotest.Test(t, ketama.Info) }

func build(t testing.TB, nodes []algorithms.Node) *ketama.Map {
	t.Helper()
	m, err := ketama.New(nodes, ketama.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// equal returns n nodes with names by the pattern, counted from 1.
func equal(n int, pattern string) []algorithms.Node {
	nodes := make([]algorithms.Node, n)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: fmt.Sprintf(pattern, i+1), Weight: 1}
	}
	return nodes
}

// pointCounts returns the number of points of each node.
func pointCounts(m *ketama.Map) map[string]int {
	counts := map[string]int{}
	for b, n := range m.Nodes() {
		counts[n.Name] = 0
		for _, p := range m.Points() {
			if p.Owner == b {
				counts[n.Name]++
			}
		}
	}
	return counts
}

func read(t *testing.T, file string, rows any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, rows); err != nil {
		t.Fatal(err)
	}
}

// TestLibketama holds servers, points, single keys and the whole output of the
// library's test program over a million keys to a run of the library.
func TestLibketama(t *testing.T) {
	var rows []struct {
		Servers   [][2]any
		List      string         `json:"server_list"`
		Total     int            `json:"expected_total_points"`
		Points    map[string]int `json:"expected_points_per_server"`
		Counts    map[string]int `json:"expected_counts_keys_0_999999"`
		OutputMD5 string         `json:"md5_of_reference_test_output"`
		Key       string
		Hash      uint64 `json:"expected_hash"`
		Point     uint64 `json:"expected_point"`
		Server    string `json:"expected_server"`
	}
	read(t, "testdata/libketama.json", &rows)
	lists := map[string][]algorithms.Node{}
	for _, row := range rows {
		for _, s := range row.Servers {
			lists[row.List] = append(lists[row.List], algorithms.Node{Name: s[0].(string), Weight: s[1].(float64)})
		}
		nodes := lists[row.List]
		m := build(t, nodes)
		if row.Servers == nil {
			h := m.HashKey(row.Key)
			p := m.Points()[m.Find(h)]
			if h != row.Hash<<32|row.Hash || p.Position != row.Point || nodes[m.LookupKey(row.Key)].Name != row.Server {
				t.Errorf("%s, key %q: hash %#x, point %d, server %s; want %d, %d, %s", row.List, row.Key, h, p.Position, nodes[p.Owner].Name, row.Hash, row.Point, row.Server)
			}
			continue
		}
		if diff := cmp.Diff(row.Points, pointCounts(m)); diff != "" || len(m.Points()) != row.Total {
			t.Errorf("%s: %d points, want %d (-want +got):\n%s", row.List, len(m.Points()), row.Total, diff)
		}
		counts, output := map[string]int{}, md5.New()
		output.Write([]byte("\n")) // the program begins with what the library says is wrong: nothing
		var line []byte
		for k := range 1_000_000 {
			key := strconv.Itoa(k)
			h := m.HashKey(key)
			p := m.Points()[m.Find(h)]
			name := nodes[p.Owner].Name
			counts[name]++
			line = strconv.AppendUint(line[:0], h>>32, 10)
			line = strconv.AppendUint(append(line, ' '), p.Position, 10)
			line = append(append(append(line, ' '), name...), '\n')
			output.Write(line)
		}
		if diff := cmp.Diff(row.Counts, counts); diff != "" {
			t.Errorf("%s: keys per server (-want +got):\n%s", row.List, diff)
		}
		if got := fmt.Sprintf("%x", output.Sum(nil)); got != row.OutputMD5 {
			t.Errorf("%s: the output has the md5 %s, want %s", row.List, got, row.OutputMD5)
		}
	}
}

func TestTenEqualServers(t *testing.T) {
	var rows []struct {
		Counts map[string]int `json:"expected_counts"`
	}
	read(t, "testdata/ketama_distribution.json", &rows)
	nodes := equal(10, "server%d")
	m := build(t, nodes)
	counts := map[string]int{}
	for k := range 100_000 {
		counts[nodes[m.LookupKey(fmt.Sprint("foo", k))].Name]++
	}
	if diff := cmp.Diff(rows[0].Counts, counts); diff != "" {
		t.Errorf("keys per server (-want +got):\n%s", diff)
	}
}

// TestTheSixtyFirstServerMovesKeysOfTheOthers shows what the rounding to 32 bits
// costs: no server needs to give points away to a 61st of equal weight. At 25 it
// is the rounding of the product that saves a digest, at 61 it does not.
func TestTheSixtyFirstServerMovesKeysOfTheOthers(t *testing.T) {
	for _, c := range []struct{ servers, before, after int }{{24, 160, 160}, {59, 160, 160}, {60, 160, 156}, {61, 156, 160}} {
		nodes := equal(c.servers+1, "10.0.0.%d:11211")
		before, after := build(t, nodes[:c.servers]), build(t, nodes)
		for _, n := range nodes[:c.servers] {
			if x, y := pointCounts(before)[n.Name], pointCounts(after)[n.Name]; x != c.before || y != c.after {
				t.Fatalf("%d servers: %d points each, and %d with one more, want %d and %d", c.servers, x, y, c.before, c.after)
			}
		}
		const keys = 100_000
		needless := 0
		for k := range keys {
			key := fmt.Sprint("key:", k)
			x, y := before.LookupKey(key), after.LookupKey(key)
			if x != y && y != algorithms.Bucket(c.servers) {
				needless++
			}
		}
		if part := float64(needless) / keys; c.before == c.after && part != 0 || c.before != c.after && (part < 0.01 || part > 0.05) {
			t.Errorf("%d servers and one more: %.4f of the keys move between others", c.servers, part)
		}
	}
}

// TestAServerWithoutPointsIsNamed is coreos/torus#246.
func TestAServerWithoutPointsIsNamed(t *testing.T) {
	nodes := []algorithms.Node{{Name: "10.0.0.1:11211", Weight: 1024}, {Name: "10.0.0.2:11211", Weight: 1024}, {Name: "10.0.0.3:11211", Weight: 5}}
	m := build(t, nodes)
	if got := m.Pointless(); !slices.Equal(got, []string{"10.0.0.3:11211"}) {
		t.Errorf("servers without points %q, want 10.0.0.3:11211 alone", got)
	}
	if diff := cmp.Diff(map[string]int{"10.0.0.1:11211": 236, "10.0.0.2:11211": 236, "10.0.0.3:11211": 0}, pointCounts(m)); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	for k := range 1000 {
		if b := m.LookupKey(fmt.Sprint(k)); b != 0 && b != 1 {
			t.Fatalf("key %d goes to bucket %d", k, b)
		}
	}
	dst := make([]algorithms.Bucket, 3)
	if n := m.LookupN(7, dst); n != 2 {
		t.Errorf("%d replicas, want the 2 that have points", n)
	}
}

// TestASharedPointBelongsToOneWhoeverJoinedFirst is ultrabug/uhashring#6.
func TestASharedPointBelongsToOneWhoeverJoinedFirst(t *testing.T) {
	const shared = 1009926488
	names := []string{"172.31.1.125", "172.31.1.202"}
	for _, order := range [][]string{{names[0], names[1]}, {names[1], names[0]}} {
		m := build(t, algorithms.Nodes(order...))
		if m.PointCollisions() != 1 {
			t.Fatalf("%d points collide, want 1", m.PointCollisions())
		}
		if got := order[m.Lookup(shared<<32|shared)]; got != names[0] {
			t.Errorf("joined as %q, %s owns the shared point", order, got)
		}
		for gone := range algorithms.Bucket(2) {
			m, alone := build(t, algorithms.Nodes(order...)), build(t, algorithms.Nodes(order[1-gone]))
			if err := m.Remove(gone); err != nil {
				t.Fatal(err)
			}
			var got, want []uint64
			for _, p := range m.Points() {
				got = append(got, p.Position)
			}
			for _, p := range alone.Points() {
				want = append(want, p.Position)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s removed leaves other points than %s has alone", order[gone], order[1-gone])
			}
		}
	}
}

// slow places a key as one would explain it: no point is kept, and the nearest is
// looked for among all. Rounding to 32 bits is done on paper, by big.Float.
func slow(nodes []algorithms.Node, key string) int {
	single := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(24).Set(x) }
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	total, servers := num(0), 0
	for _, n := range nodes {
		total.Add(total, num(n.Weight))
		if n.Weight > 0 {
			servers++
		}
	}
	word := func(text string, i int) uint32 {
		d := md5.Sum([]byte(text))
		return uint32(d[4*i]) | uint32(d[4*i+1])<<8 | uint32(d[4*i+2])<<16 | uint32(d[4*i+3])<<24
	}
	h := word(key, 0)
	best, way := -1, uint32(0)
	for i, n := range nodes {
		if n.Weight == 0 {
			continue
		}
		part := single(new(big.Float).SetPrec(200).Quo(single(num(n.Weight)), single(total)))
		double := new(big.Float).SetPrec(53).Mul(part, num(40))
		double = new(big.Float).SetPrec(53).Mul(double, num(float64(servers)))
		digests, _ := single(double).Int64()
		for k := range digests {
			for w := range 4 {
				d := word(fmt.Sprintf("%s-%d", n.Name, k), w) - h
				if best < 0 || d < way || d == way && n.Name < nodes[best].Name {
					best, way = i, d
				}
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.:]{1,8}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		weight := rapid.OneOf(rapid.Just(1.0), rapid.Just(0.0), rapid.Just(0.5), rapid.Map(rapid.IntRange(1, 5000), func(w int) float64 { return float64(w) }))
		var nodes []algorithms.Node
		for _, name := range names {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: weight.Draw(t, "weight")})
		}
		m, err := ketama.New(nodes, ketama.Default)
		if err != nil {
			if algorithms.Validate(nodes) == nil {
				t.Fatal(err)
			}
			return
		}
		for range 3 {
			key := rapid.String().Draw(t, "key")
			if got, want := int(m.LookupKey(key)), slow(nodes, key); got != want {
				t.Fatalf("key %q goes to %d, want %d of %v", key, got, want, nodes)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "a", "b", uint16(1), uint16(1))
	f.Add("", "10.0.0.1:11211", "10.0.0.2:11211", uint16(1024), uint16(5))
	f.Fuzz(func(t *testing.T, key, x, y string, v, w uint16) {
		nodes := []algorithms.Node{{Name: x, Weight: float64(v)}, {Name: y, Weight: float64(w)}}
		if algorithms.Validate(nodes) != nil {
			return
		}
		if got, want := int(build(t, nodes).LookupKey(key)), slow(nodes, key); got != want {
			t.Errorf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}

func TestForecastIsEnough(t *testing.T) {
	nodes := equal(50, "server%d")
	nodes[7].Weight = 12
	if f, got := ketama.Default.Forecast(nodes), build(t, nodes).Footprint(); f < got || f > got+got/20 {
		t.Errorf("forecast of %d bytes, built %d", f, got)
	}
}
