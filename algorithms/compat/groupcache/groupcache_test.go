package groupcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

// decimal is the hash of groupcache's own test: the key is the position.
func decimal(key string) uint64 {
	h, err := strconv.ParseUint(key, 10, 32)
	if err != nil {
		panic(err)
	}
	return h<<32 | h
}

func TestGroupcache(t *testing.T) {
	data, err := os.ReadFile("testdata/groupcache.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Expected, Nodes json.RawMessage
		Replicas        int
		Points          []uint64 `json:"ring_points"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var names []string
		if row.Points != nil { // the library's own test
			var owners map[string]string
			if err := errors.Join(json.Unmarshal(row.Nodes, &names), json.Unmarshal(row.Expected, &owners)); err != nil {
				t.Fatal(err)
			}
			m, err := build(algorithms.Nodes(names...), row.Replicas, decimal)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range m.Points() {
				if p.Position != row.Points[i] {
					t.Errorf("point %d stands at %d, want %d", i, p.Position, row.Points[i])
				}
			}
			for key, want := range owners {
				if got := names[m.LookupKey(key)]; got != want {
					t.Errorf("key %s goes to %s, want %s", key, got, want)
				}
			}
			continue
		}
		var text string
		var owners []string
		if err := errors.Join(json.Unmarshal(row.Nodes, &text), json.Unmarshal(row.Expected, &owners)); err != nil {
			t.Fatal(err)
		}
		var last int
		if _, err := fmt.Sscanf(text, "node-0..node-%d", &last); err != nil {
			t.Fatal(err)
		}
		for i := range last + 1 {
			names = append(names, fmt.Sprint("node-", i))
		}
		m, err := New(algorithms.Nodes(names...), Config{Replicas: row.Replicas, Hash: "crc32"})
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range owners {
			if got := names[m.LookupKey(fmt.Sprint("key-", k))]; got != want {
				t.Errorf("%s, %d replicas, key-%d: %s, want %s", text, row.Replicas, k, got, want)
			}
		}
	}
}

// slow keeps a list of all positions and who was written there last.
func slow(names []string, replicas int, key string) int {
	h := crc32.ChecksumIEEE([]byte(key))
	owner := map[uint32]int{}
	for i, name := range names {
		for k := range replicas {
			owner[crc32.ChecksumIEEE([]byte(fmt.Sprint(k)+name))] = i
		}
	}
	best, way := -1, uint32(0)
	for at, i := range owner {
		if d := at - h; best < 0 || d < way {
			best, way = i, d
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9]{1,2}[a-z]?`), 1, 6, rapid.ID[string]).Draw(t, "names")
		replicas := rapid.IntRange(1, 120).Draw(t, "replicas")
		m, err := New(algorithms.Nodes(names...), Config{replicas, "crc32"})
		if err != nil {
			t.Fatal(err)
		}
		// A key that is a label finds its point, which several nodes may claim.
		for _, key := range []string{rapid.String().Draw(t, "key"), rapid.StringMatching(`[0-9]{2,4}`).Draw(t, "label")} {
			if got, want := int(m.LookupKey(key)), slow(names, replicas, key); got != want {
				t.Fatalf("key %q goes to %d, want %d of %q", key, got, want, names)
			}
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "1.2.3.4", ".2.3.4", uint8(20))
	f.Fuzz(func(t *testing.T, key, x, y string, replicas uint8) {
		if algorithms.Validate(algorithms.Nodes(x, y)) != nil || replicas == 0 {
			return
		}
		m, err := New(algorithms.Nodes(x, y), Config{int(replicas), "crc32"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := int(m.LookupKey(key)), slow([]string{x, y}, int(replicas), key); got != want {
			t.Errorf("key %q goes to %d, want %d of %q and %q", key, got, want, x, y)
		}
	})
}

// TestTheNodeAddedLastHasASharedPoint: the label 11.2.3.4 is the point 1 of one
// node and the point 11 of another.
func TestTheNodeAddedLastHasASharedPoint(t *testing.T) {
	for _, names := range [][]string{{"1.2.3.4", ".2.3.4"}, {".2.3.4", "1.2.3.4"}} {
		m, err := New(algorithms.Nodes(names...), Default)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.LookupKey("11.2.3.4"); got != 1 {
			t.Errorf("of %q the first has the point they share", names)
		}
	}
}

func TestWhatGroupcacheDoesNotTakeIsRefused(t *testing.T) {
	for _, c := range []Config{{0, "crc32"}, {50, "xxh3"}, {50, "crc"}, {1 << 40, "crc32"}} {
		if _, err := New(algorithms.Nodes("a"), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := New(algorithms.Nodes("a"), Config{50, "xxh64"}); err == nil || !strings.Contains(err.Error(), "64 bits") {
		t.Errorf("a hash of 64 bits: error %v", err)
	}
}
