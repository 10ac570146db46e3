package spymemcached_test

import (
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/compat/spymemcached"
)

func TestConformance(t *testing.T) { algotest.Test(t, spymemcached.Info) }

func build(t testing.TB, names ...string) *spymemcached.Map {
	t.Helper()
	m, err := spymemcached.New(algorithms.Nodes(names...), spymemcached.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheClientsOwnTest(t *testing.T) {
	lists := map[string][]string{}
	for i := range 5 {
		lists["127.0.0.1:10000..10004"] = append(lists["127.0.0.1:10000..10004"], fmt.Sprint("127.0.0.1:", 10000+i))
	}
	lists["127.0.0.1:10000..10003"] = lists["127.0.0.1:10000..10004"][:4]
	for i := range 8 {
		lists["10.0.1.1..8:11211 unweighted"] = append(lists["10.0.1.1..8:11211 unweighted"], fmt.Sprintf("10.0.1.%d:11211", i+1))
	}
	data, err := os.ReadFile("testdata/spymemcached_ketama.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Servers, Key string
		Server       string `json:"expected_server"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		names := lists[row.Servers]
		if got := names[build(t, names...).LookupKey(row.Key)]; got != row.Server {
			t.Errorf("%s, key %q: %s, want %s", row.Servers, row.Key, got, row.Server)
		}
	}
}

// slow looks for the nearest of all points; of two at one position the later.
func slow(names []string, key string) int {
	word := func(text string, i int) uint32 {
		d := md5.Sum([]byte(text))
		return uint32(d[4*i]) | uint32(d[4*i+1])<<8 | uint32(d[4*i+2])<<16 | uint32(d[4*i+3])<<24
	}
	h := word(key, 0)
	best, way := -1, uint32(0)
	for i, name := range names {
		for k := range 160 {
			if d := word(fmt.Sprintf("%s-%d", name, k/4), k%4) - h; best < 0 || d <= way {
				best, way = i, d
			}
		}
	}
	return best
}

func TestTheSlowPlacementAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.]{1,8}:[0-9]{1,5}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		m, err := spymemcached.New(algorithms.Nodes(names...), spymemcached.Default)
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.String().Draw(t, "key")
		if got, want := int(m.LookupKey(key)), slow(names, key); got != want {
			t.Fatalf("key %q goes to %d, want %d of %q", key, got, want, names)
		}
	})
}

func FuzzLookupKey(f *testing.F) {
	f.Add("key", "a:1", "b:1")
	f.Fuzz(func(t *testing.T, key, x, y string) {
		if algorithms.Validate(algorithms.Nodes(x, y)) != nil {
			return
		}
		if got, want := int(build(t, x, y).LookupKey(key)), slow([]string{x, y}, key); got != want {
			t.Errorf("key %q goes to %d, want %d of %q and %q", key, got, want, x, y)
		}
	})
}

func TestUnequalWeightsAreRefused(t *testing.T) {
	nodes := algorithms.Nodes("a:1", "b:1")
	nodes[1].Weight = 2
	if _, err := spymemcached.New(nodes, spymemcached.Default); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
