package bound_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/bound"
	"github.com/ringbench/ringbench/algorithms/boundedrandomjump"
	"github.com/ringbench/ringbench/algorithms/boundedring"
)

// kept lists the algorithms that keep their books by this package.
var kept = []algorithms.Info{boundedring.Info, boundedrandomjump.Info}

// bounded is what all of them can do.
type bounded interface {
	algorithms.Mapper
	algorithms.Adder
	algorithms.Remover
	algorithms.Reweighter
	algorithms.Assigner
	algorithms.Loader
}

func build(t rapid.TB, info algorithms.Info, nodes []algorithms.Node, params string) bounded {
	t.Helper()
	m, _, err := info.New(nodes, json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	return m.(bounded)
}

func equal(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("node-", i)
	}
	return algorithms.Nodes(names...)
}

// exact is ceil((1+epsilon) * m * w / W) in rational numbers.
func exact(t rapid.TB, epsilon string, m int, w string, all map[algorithms.Bucket]string) int {
	t.Helper()
	number := func(s string) *big.Rat {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no number", s)
		}
		return x
	}
	sum := new(big.Rat)
	for _, x := range all {
		sum.Add(sum, number(x))
	}
	if sum.Sign() == 0 {
		return 0
	}
	x := number(epsilon)
	x.Add(x, big.NewRat(1, 1))
	x.Mul(x, new(big.Rat).SetInt64(int64(m)))
	x.Mul(x, number(w)).Quo(x, sum)
	ceiling, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	return int(ceiling.Int64()) + rest.Sign()
}

// TestNoNodeIsGivenMoreThanItsBound assigns, releases, adds, removes and
// reweights at random, and works the bound out anew at every assignment.
func TestNoNodeIsGivenMoreThanItsBound(t *testing.T) {
	for _, info := range kept {
		t.Run(info.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { drive(t, info) })
		})
	}
}

func drive(t *rapid.T, info algorithms.Info) {
	weight := rapid.SampledFrom([]string{"0", "0.5", "1", "1", "2", "3.7"})
	epsilon := rapid.SampledFrom([]string{"0.01", "0.1", "0.25", "1"}).Draw(t, "epsilon")
	expected := rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "expected")
	m := build(t, info, equal(3), fmt.Sprintf(`{"vnodes":2,"epsilon":%s,"expected":%d}`, epsilon, expected))
	weights := map[algorithms.Bucket]string{0: "1", 1: "1", 2: "1"}
	loads := map[algorithms.Bucket]int{}
	total, added := 0, 0
	value := func(w string) float64 {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	bucket := func(t *rapid.T) algorithms.Bucket {
		b := algorithms.Bucket(rapid.IntRange(0, 5).Draw(t, "bucket"))
		if _, bound := weights[b]; !bound {
			t.Skip("not bound")
		}
		return b
	}
	assign := func(t *rapid.T) {
		b, _ := m.Assign(rapid.Uint64Range(0, 20).Draw(t, "key") * 0x9e3779b97f4a7c15)
		requests := total + 1
		if expected > 0 {
			requests = expected
		}
		if b == algorithms.None {
			for other, w := range weights {
				if loads[other] < exact(t, epsilon, requests, w, weights) {
					t.Fatalf("no node for a request, and bucket %d holds %d only", other, loads[other])
				}
			}
			return
		}
		loads[b]++
		total++
		if most := exact(t, epsilon, requests, weights[b], weights); loads[b] > most {
			t.Fatalf("bucket %d of weight %s holds %d of %d requests, its bound is %d", b, weights[b], loads[b], total, most)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"assign": assign, "assign more": assign, "assign still more": assign,
		"release": func(t *rapid.T) {
			if b := bucket(t); loads[b] > 0 {
				m.Release(b)
				loads[b]--
				total--
			}
		},
		"add": func(t *rapid.T) {
			if len(weights) > 5 {
				t.Skip("enough nodes")
			}
			w := weight.Draw(t, "weight")
			added++
			b, err := m.Add(algorithms.Node{Name: fmt.Sprint("added-", added), Weight: value(w)})
			if err != nil {
				t.Fatal(err)
			}
			weights[b], loads[b] = w, 0
		},
		"remove": func(t *rapid.T) {
			b := bucket(t)
			if err := m.Remove(b); err != nil {
				t.Fatal(err)
			}
			total -= loads[b]
			delete(loads, b)
			delete(weights, b)
		},
		"reweight": func(t *rapid.T) {
			b, w := bucket(t), weight.Draw(t, "weight")
			if err := m.SetWeight(b, value(w)); err != nil {
				t.Fatal(err)
			}
			weights[b] = w
		},
		"": func(t *rapid.T) {
			requests := total + 1
			if expected > 0 {
				requests = expected
			}
			for b := range algorithms.Bucket(8) {
				load, capacity := m.Load(b)
				want := 0
				if w, bound := weights[b]; bound {
					want = exact(t, epsilon, requests, w, weights)
				}
				if load != loads[b] || capacity != want {
					t.Fatalf("bucket %d holds %d of %d, want %d of %d", b, load, capacity, loads[b], want)
				}
			}
		},
	})
}

// TestFewRequests is kubeai-project/kubeai#519: the bound counts the request that
// is being placed, and is never below 1.
func TestFewRequests(t *testing.T) {
	for _, info := range kept {
		m := build(t, info, equal(300), `{"epsilon":0.25}`)
		for requests := 1; requests <= 300; requests++ {
			want := 1
			if requests > 240 {
				want = 2
			}
			if _, capacity := m.Load(0); capacity != want {
				t.Fatalf("%s, request %d: capacity %d, want %d", info.Name, requests, capacity, want)
			}
			if b, _ := m.Assign(uint64(requests) * 0x9e3779b97f4a7c15); b == algorithms.None {
				t.Fatalf("%s, request %d found no node", info.Name, requests)
			}
		}
	}
}

// TestCapacitiesFollowTheWeights is PowerDNS/pdns#8909: ceil(c * m * w / W).
func TestCapacitiesFollowTheWeights(t *testing.T) {
	nodes := equal(4)
	for i, w := range []float64{1, 2, 4, 0} {
		nodes[i].Weight = w
	}
	for _, info := range kept {
		m := build(t, info, nodes, `{"epsilon":0.25,"expected":100}`)
		for b, want := range []int{18, 36, 72, 0} { // 125/7 = 17.86, 35.7, 71.4
			if _, capacity := m.Load(algorithms.Bucket(b)); capacity != want {
				t.Errorf("%s: capacity %d of weight %v, want %d", info.Name, capacity, nodes[b].Weight, want)
			}
		}
		for range 1000 {
			if b, _ := m.Assign(42); b == 3 {
				t.Fatalf("%s: a request on the node of weight 0", info.Name)
			}
		}
		for b, want := range []int{18, 36, 72, 0} {
			if load, _ := m.Load(algorithms.Bucket(b)); load != want {
				t.Errorf("%s: one key only, and node %d holds %d, want %d", info.Name, b, load, want)
			}
		}
	}
}

// TestOneKeySpreadsOverTheNodesThatTheBoundNeeds is haproxy/haproxy#2893.
func TestOneKeySpreadsOverTheNodesThatTheBoundNeeds(t *testing.T) {
	for _, info := range kept {
		m := build(t, info, equal(10), `{"epsilon":0.25}`)
		nodes := map[algorithms.Bucket]bool{}
		for range 1000 {
			b, _ := m.Assign(42)
			nodes[b] = true
		}
		if len(nodes) < 8 { // ceil(10/1.25)
			t.Errorf("%s: one key on %d nodes, want at least 8", info.Name, len(nodes))
		}
	}
}

func TestReleaseWithoutARequestPanics(t *testing.T) {
	for _, info := range kept {
		m := build(t, info, equal(2), `{}`)
		for _, b := range []algorithms.Bucket{-1, 0, 1, 2} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: Release(%d) of no request was accepted", info.Name, b)
					}
				}()
				m.Release(b)
			}()
		}
	}
}

func TestLimitsThatNoBoundCanHaveAreRefused(t *testing.T) {
	for _, l := range []bound.Limits{{Epsilon: 0}, {Epsilon: -1}, {Epsilon: 1, Expected: -1}} {
		if l.Check() == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
	if err := bound.Default.Check(); err != nil {
		t.Error(err)
	}
}
