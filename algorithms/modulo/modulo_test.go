package modulo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/modulo"
)

func nodes(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	return algorithms.Nodes(names...)
}

func build(t *testing.T, n int) *modulo.Map {
	t.Helper()
	m, err := modulo.New(nodes(n), modulo.Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// moved counts the hashes whose node differs between n and m nodes.
func moved(t *testing.T, hashes []uint64, n, m int) int {
	t.Helper()
	before, after := build(t, n), build(t, m)
	count := 0
	for _, h := range hashes {
		if before.Lookup(h) != after.Lookup(h) {
			count++
		}
	}
	return count
}

func TestResizingMovesOneMinusMinOverLcm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	hashes := make([]uint64, 1<<20)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	for _, c := range [][2]int{{8, 9}, {10, 11}, {10, 12}, {10, 20}, {100, 101}, {10, 9}, {3, 4}, {4, 5}} {
		n, m := c[0], c[1]
		want := 1 - float64(min(n, m))/float64(n*m/gcd(n, m))
		if got := float64(moved(t, hashes, n, m)) / float64(len(hashes)); math.Abs(got-want) > 0.002 {
			t.Errorf("%d -> %d moves %.4f, want %.4f", n, m, got, want)
		}
	}
}

// The claims that people repeat about the modulo are exact when every remainder
// comes equally often.
func TestTheClaimsPeopleRepeat(t *testing.T) {
	roll := make([]uint64, 1000)
	for i := range roll {
		roll[i] = uint64(i)
	}
	if got := moved(t, roll, 4, 5); got != 800 {
		t.Errorf("4 wards to 5 move %d of 1,000 students, want 800", got)
	}
	if got := moved(t, roll[:960], 3, 4); got != 720 {
		t.Errorf("3 nodes to 4 move %d of 960 keys, want three quarters", got)
	}
	if got := moved(t, []uint64{3, 4, 5, 6, 7, 8, 9}, 4, 5); got != 6 {
		t.Errorf("a fifth node moves %d of seven keys, want 6", got)
	}
	users := make([]uint64, 100_000)
	for i := range users {
		users[i] = xxh3.HashString(fmt.Sprintf("user:%d", i))
	}
	if got := float64(moved(t, users, 8, 9)) / 1e5; math.Abs(got-8.0/9) > 0.005 {
		t.Errorf("8 nodes to 9 move %.3f, want 8/9", got)
	}
}

func TestOnlyTheLastNodeLeaves(t *testing.T) {
	m := build(t, 2)
	for want := algorithms.Bucket(1); want >= 0; want-- {
		if b, err := m.RemoveLast(); err != nil || b != want {
			t.Fatalf("RemoveLast: %d, %v, want %d", b, err, want)
		}
	}
	if _, err := m.RemoveLast(); err == nil || !strings.Contains(err.Error(), "no node to remove") {
		t.Errorf("RemoveLast of nothing: %v", err)
	}
	if b := m.Lookup(7); b != algorithms.None {
		t.Errorf("an empty map answers %d", b)
	}
}
