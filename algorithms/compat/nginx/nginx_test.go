package nginx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/live"
	"github.com/ringbench/ringbench/algorithms/compat/nginx"
)

func TestConformance(t *testing.T) { algotest.Test(t, nginx.Info) }

func build(t testing.TB, nodes []algorithms.Node) *nginx.Map {
	t.Helper()
	m, err := nginx.New(nodes, nginx.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNginx(t *testing.T) {
	data, err := os.ReadFile("testdata/nginx_chash.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Keys  string
		Ports []int `json:"expected_port"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	nodes := algorithms.Nodes("127.0.0.1:28081", "127.0.0.1:28082", "127.0.0.1:28083")
	m := build(t, nodes)
	for _, row := range rows {
		for i, port := range row.Ports {
			key := fmt.Sprint("key-", i)
			if row.Keys == "1..100" {
				key = fmt.Sprint(i + 1)
			}
			if got, want := nodes[m.LookupKey(key)].Name, fmt.Sprint("127.0.0.1:", port); got != want {
				t.Errorf("key %q goes to %s, want %s", key, got, want)
			}
		}
	}
}

func TestServersWithoutPortAndSockets(t *testing.T) {
	points := func(name string) []uint64 {
		var at []uint64
		for _, p := range build(t, algorithms.Nodes(name)).Points() {
			at = append(at, p.Position)
		}
		return at
	}
	for _, c := range []struct{ name, host, port string }{
		{"127.0.0.1:8080", "127.0.0.1", "8080"},
		{"backend", "backend", ""},
		{"backend:", "backend", ""},
		{"backend:http", "backend:http", ""},
		{"unix:/run/app.sock:80", "/run/app.sock:80", ""},
		{"UNIX:/run/app.sock", "/run/app.sock", ""},
		{"[::1]:80", "[::1]", "80"},
		{"8080", "8080", ""},
	} {
		if got, want := points(c.name), slowPoints(c.host, c.port, 1); !slices.Equal(got, want) {
			t.Errorf("%s has not the points of host %q and port %q", c.name, c.host, c.port)
		}
	}
}

// TestLiveRuns holds owners to runs of nginx itself, with other weights and
// settings than the vectors above have; each row names its source.
func TestLiveRuns(t *testing.T) { live.Test(t, nginx.Info) }

// slowCRC is crc32 bit by bit.
func slowCRC(text string) uint32 {
	crc := uint32(math.MaxUint32)
	for i := range len(text) {
		crc ^= uint32(text[i])
		for range 8 {
			if crc&1 == 1 {
				crc = crc>>1 ^ 0xedb88320
			} else {
				crc >>= 1
			}
		}
	}
	return ^crc
}

// slowPoints returns the points of a server in ascending order.
func slowPoints(host, port string, weight int) []uint64 {
	var at []uint64
	before := uint32(0)
	for range 160 * weight {
		before = slowCRC(host + "\x00" + port + string([]byte{byte(before), byte(before >> 8), byte(before >> 16), byte(before >> 24)}))
		at = append(at, uint64(before))
	}
	slices.Sort(at)
	return at
}

// slow looks for the nearest of all points.
func slow(nodes []algorithms.Node, key string) int {
	h := slowCRC(key)
	best, way := -1, uint32(0)
	for i, n := range nodes {
		host, port := n.Name, ""
		if j := strings.LastIndexByte(n.Name, ':'); j >= 0 && !strings.ContainsFunc(n.Name[j+1:], func(r rune) bool { return r < '0' || r > '9' }) {
			host, port = n.Name[:j], n.Name[j+1:]
		}
		if strings.HasPrefix(strings.ToLower(n.Name), "unix:") {
			host, port = n.Name[5:], ""
		}
		for _, at := range slowPoints(host, port, int(n.Weight)) {
			if d := uint32(at) - h; best < 0 || d < way || d == way && n.Name < nodes[best].Name {
				best, way = i, d
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`(unix:)?[a-z0-9.]{1,8}(:[0-9]{0,4})?`), 1, 5, rapid.ID[string]).Draw(t, "names")
		var nodes []algorithms.Node
		for _, name := range names {
			nodes = append(nodes, algorithms.Node{Name: name, Weight: float64(rapid.IntRange(0, 3).Draw(t, "weight"))})
		}
		if algorithms.Validate(nodes) != nil {
			return
		}
		m, err := nginx.New(nodes, nginx.Default)
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.String().Draw(t, "key")
		if got, want := int(m.LookupKey(key)), slow(nodes, key); got != want {
			t.Fatalf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "127.0.0.1:80", "unix:/a", uint8(1), uint8(2))
	f.Add("", "a", "b:", uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, key, x, y string, v, w uint8) {
		nodes := []algorithms.Node{{Name: x, Weight: float64(v % 4)}, {Name: y, Weight: float64(w % 4)}}
		if algorithms.Validate(nodes) != nil {
			return
		}
		if got, want := int(build(t, nodes).LookupKey(key)), slow(nodes, key); got != want {
			t.Errorf("key %q goes to %d, want %d of %v", key, got, want, nodes)
		}
	})
}

// TestTheWeightOfAMillion is nginx/nginx#191: 1.6e8 points, 2.6 GB.
func TestTheWeightOfAMillion(t *testing.T) {
	nodes := []algorithms.Node{{Name: "a", Weight: 1_000_000}}
	if got := nginx.Default.Forecast(nodes); got != 2_560_000_000 {
		t.Errorf("forecast of %d bytes, want 2.56e9", got)
	}
	nodes[0].Weight = 3
	if f, got := nginx.Default.Forecast(nodes), build(t, nodes).Footprint(); f != got {
		t.Errorf("forecast of %d bytes, built %d", f, got)
	}
	nodes[0].Weight = 1e300
	if got := nginx.Default.Forecast(nodes); got != math.MaxInt64 {
		t.Errorf("forecast of %d bytes for a weight of 1e300", got)
	}
}

func TestWeightsThatNginxDoesNotTakeAreRefused(t *testing.T) {
	for _, w := range []float64{0.5, 1e300} {
		if _, err := nginx.New([]algorithms.Node{{Name: "a", Weight: w}}, nginx.Default); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("weight %v: error %v", w, err)
		}
	}
}
