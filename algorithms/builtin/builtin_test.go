package builtin_test

import (
	"slices"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/builtin"
)

func TestConformance(t *testing.T) {
	for _, info := range builtin.All() {
		t.Run(info.Name, func(t *testing.T) { algotest.Test(t, info) })
	}
}

func TestNamesAreUniqueAndInTheOrderShown(t *testing.T) {
	var names []string
	for _, info := range builtin.All() {
		names = append(names, info.Name)
		if info.Ref == "" {
			t.Errorf("%s does not say where it comes from", info.Name)
		}
	}
	want := []string{
		"ring", "ring-binary-search", "ring-array", "bounded-ring", "bounded-random-jump",
		"jump", "jump-reference", "jump-shift", "power", "jumpback", "flip", "binomial",
		"multiprobe", "lrh", "anchor", "dx", "memento",
		"rendezvous", "skeleton-rendezvous", "weighted-rendezvous", "maglev",
		"ketama", "libmemcached-ketama", "libmemcached-ketama-spy", "spymemcached-ketama", "twemproxy-ketama",
		"envoy-ring", "grpc-ring", "envoy-maglev", "guava-jump", "slots", "partitions",
		"nginx-chash", "haproxy-chash", "groupcache", "uhashring", "token-ring",
		"modulo", "control", "one-read",
	}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// What a run records of an algorithm must build it again, and a forecast must
// not fail on it.
func TestTheDefaultsRoundTrip(t *testing.T) {
	nodes := algorithms.Nodes("a", "b", "c")
	for _, info := range builtin.All() {
		_, params, err := info.New(nodes, info.Defaults)
		if err != nil || string(params) != string(info.Defaults) {
			t.Errorf("%s: the defaults %s come back as %s, %v", info.Name, info.Defaults, params, err)
		}
		if n, err := info.Forecast(nodes, info.Defaults); err != nil || n < 0 {
			t.Errorf("%s: forecast %d, %v", info.Name, n, err)
		}
	}
}
