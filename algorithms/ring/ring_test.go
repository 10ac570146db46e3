package ring_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
)

func build(t testing.TB, nodes []algorithms.Node, c ring.Config) *ring.Map {
	t.Helper()
	m, err := ring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

type cell struct {
	End   uint64
	Owner algorithms.Bucket
}

func cellsOf(m *ring.Map) []cell {
	_, cells := m.Cells()
	return collect(cells)
}

func collect(pairs iter.Seq2[uint64, algorithms.Bucket]) []cell {
	var list []cell
	for end, b := range pairs {
		list = append(list, cell{end, b})
	}
	return list
}

// A move is a range of positions, both ends included, and its two owners.
type move struct {
	first, last uint64
	from, to    algorithms.Bucket
}

// moves lists the ranges in which the owners of two rings differ.
func moves(before, after []cell) []move {
	var list []move
	first := uint64(0)
	for len(before) > 0 && len(after) > 0 {
		last := min(before[0].End, after[0].End)
		if from, to := before[0].Owner, after[0].Owner; from != to {
			if n := len(list); n > 0 && list[n-1].last+1 == first && list[n-1].from == from && list[n-1].to == to {
				list[n-1].last = last
			} else {
				list = append(list, move{first, last, from, to})
			}
		}
		first = last + 1
		if before[0].End == last {
			before = before[1:]
		}
		if after[0].End == last {
			after = after[1:]
		}
	}
	return list
}

// share returns the number of positions that b owns, short of all 2^64.
func share(cells []cell, b algorithms.Bucket) uint64 {
	total, first := uint64(0), uint64(0)
	for _, c := range cells {
		if c.Owner == b {
			total += c.End - first + 1
		}
		first = c.End + 1
	}
	return total
}

func TestVectorsOfAnIndependentProgram(t *testing.T) {
	type question struct {
		Key    string
		Hash   string
		Owners []string
	}
	var rows []struct {
		Source         string
		VNodes         int
		Label          string
		Nodes          []algorithms.Node
		Lookups, Edges []question
	}
	readJSON(t, "testdata/md5_ring.json", &rows)
	md5, err := keyhash.ByName("md5")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		m := build(t, row.Nodes, ring.Config{VNodes: row.VNodes, Label: row.Label, PointHash: "md5"})
		for _, q := range slices.Concat(row.Lookups, row.Edges) {
			h, err := strconv.ParseUint(q.Hash, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]algorithms.Bucket, 3)
			var got []string
			for _, b := range dst[:m.LookupN(h, dst)] {
				got = append(got, row.Nodes[b].Name)
			}
			if diff := gocmp.Diff(q.Owners, got); diff != "" {
				t.Errorf("label %q, key %q, hash %d (-want +got):\n%s", row.Label, q.Key, h, diff)
			}
			if b := m.Lookup(h); row.Nodes[b].Name != q.Owners[0] {
				t.Errorf("label %q, key %q: Lookup gives %q, want %q", row.Label, q.Key, row.Nodes[b].Name, q.Owners[0])
			}
		}
		for _, q := range row.Lookups {
			key := q.Key
			if key == "x*10240" {
				key = strings.Repeat("x", 10240)
			}
			if got := strconv.FormatUint(md5.Position(key), 10); got != q.Hash {
				t.Errorf("md5(%q) = %s, want %s", q.Key, got, q.Hash)
			}
		}
	}
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWorkedExamples(t *testing.T) {
	var examples []struct {
		Source         string
		Modulus        uint64
		VNodes         int
		Points         [][2]any
		Weights        map[string]float64
		Lookups, After map[string]string
		Shares         map[string]uint64
		Change         struct {
			Add, Remove, Reweight string
			Weight                float64
		}
		Moved [][2]uint64
	}
	readJSON(t, "testdata/worked_examples.json", &examples)
	for _, e := range examples {
		t.Run(e.Source, func(t *testing.T) {
			c := ring.Default
			c.VNodes, c.Modulus = e.VNodes, e.Modulus
			for _, p := range e.Points {
				c.Points = append(c.Points, ring.Listed{Position: uint64(p[0].(float64)), Node: p[1].(string)})
			}
			var nodes []algorithms.Node
			for _, p := range e.Points {
				name := p[1].(string)
				w, member := e.Weights[name]
				if member && !slices.ContainsFunc(nodes, func(n algorithms.Node) bool { return n.Name == name }) {
					nodes = append(nodes, algorithms.Node{Name: name, Weight: w})
				}
			}
			m := build(t, nodes, c)
			names := map[algorithms.Bucket]string{}
			buckets := map[string]algorithms.Bucket{}
			for b, n := range m.Nodes() {
				names[b], buckets[n.Name] = n.Name, b
			}
			check := func(when string, lookups map[string]string) {
				for h, want := range lookups {
					h, err := strconv.ParseUint(h, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					if got := names[m.Lookup(h)]; got != want {
						t.Errorf("%s: %d belongs to %q, want %q", when, h, got, want)
					}
				}
			}
			check("before", e.Lookups)
			before := cellsOf(m)
			for name, want := range e.Shares {
				if got := share(before, buckets[name]); got != want {
					t.Errorf("%q owns %d positions, want %d", name, got, want)
				}
			}

			var err error
			switch {
			case e.Change.Add != "":
				var b algorithms.Bucket
				b, err = m.Add(algorithms.Node{Name: e.Change.Add, Weight: 1})
				names[b] = e.Change.Add
			case e.Change.Remove != "":
				err = m.Remove(buckets[e.Change.Remove])
			default:
				err = m.SetWeight(buckets[e.Change.Reweight], e.Change.Weight)
			}
			if err != nil {
				t.Fatal(err)
			}
			check("after", e.After)
			var moved [][2]uint64
			for _, mv := range moves(before, cellsOf(m)) {
				moved = append(moved, [2]uint64{mv.first, mv.last})
			}
			if diff := gocmp.Diff(e.Moved, moved); diff != "" {
				t.Errorf("moved ranges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFifthNodeMovesSixOfSevenKeysUnderModuloAndOneOnTheRing(t *testing.T) {
	c := ring.Config{VNodes: 1, Label: "{name}", PointHash: "xxh3", Modulus: 100}
	for i, at := range []uint64{12, 38, 67, 88, 52} {
		c.Points = append(c.Points, ring.Listed{Position: at, Node: string(rune('A' + i))})
	}
	m := build(t, algorithms.Nodes("A", "B", "C", "D"), c)
	keys := []uint64{5, 27, 44, 60, 64, 71, 92}
	before := make([]algorithms.Bucket, len(keys))
	for i, h := range keys {
		before[i] = m.Lookup(h)
	}
	if _, err := m.Add(algorithms.Node{Name: "E", Weight: 1}); err != nil {
		t.Fatal(err)
	}
	modulo, onRing := 0, 0
	for i, h := range keys {
		if h%4 != h%5 {
			modulo++
		}
		if m.Lookup(h) != before[i] {
			onRing++
		}
	}
	if modulo != 6 || onRing != 1 {
		t.Errorf("%d keys move under modulo and %d on the ring, want 6 and 1", modulo, onRing)
	}
}

func TestEightToNineNodesMovesANinthInTheMean(t *testing.T) {
	const placements = 200
	total := 0.0
	for p := range placements {
		names := make([]string, 8)
		for i := range names {
			names[i] = fmt.Sprintf("p%d-node-%d", p, i)
		}
		m := build(t, algorithms.Nodes(names...), ring.Default)
		b, err := m.Add(algorithms.Node{Name: fmt.Sprintf("p%d-node-8", p), Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		total += float64(share(cellsOf(m), b)) / (1 << 64)
	}
	if mean := total / placements; math.Abs(mean-1.0/9) > 0.02/9 {
		t.Errorf("the ninth node takes %.5f in the mean, want 1/9 = %.5f within 2%%", mean, 1.0/9)
	}
}

func TestEightToNineNodesMovesEightNinthsOfTheKeysUnderModulo(t *testing.T) {
	xxh3, err := keyhash.ByName("xxh3")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, algorithms.Nodes(nodeNames(8)...), ring.Default)
	bigger := build(t, algorithms.Nodes(nodeNames(9)...), ring.Default)
	const keys = 100_000
	modulo, onRing := 0, 0
	for i := range keys {
		h := xxh3.Position(fmt.Sprintf("user:%d", i))
		if h%8 != h%9 {
			modulo++
		}
		if m.Lookup(h) != bigger.Lookup(h) {
			onRing++
		}
	}
	if got := float64(modulo) / keys; math.Abs(got-8.0/9) > 0.005 {
		t.Errorf("modulo moves %.4f, want 0.8889", got)
	}
	// One placement: three standard deviations of a share are 22% of it.
	if got := float64(onRing) / keys; math.Abs(got-1.0/9) > 0.22/9 {
		t.Errorf("the ring moves %.4f, want about 0.1111", got)
	}
}

func TestChangesMoveExactlyTheSharesTheyAreAbout(t *testing.T) {
	for _, n := range []int{2, 10, 100} {
		m := build(t, algorithms.Nodes(nodeNames(n)...), ring.Default)
		start := cellsOf(m)
		// Each step returns the bucket it is about.
		add := func() algorithms.Bucket {
			b, err := m.Add(algorithms.Node{Name: "new", Weight: 1})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		reweight := func(w float64) func() algorithms.Bucket {
			return func() algorithms.Bucket {
				if err := m.SetWeight(1, w); err != nil {
					t.Fatal(err)
				}
				return 1
			}
		}
		remove := func() algorithms.Bucket {
			b := algorithms.Bucket(n)
			if err := m.Remove(b); err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i, step := range []func() algorithms.Bucket{add, reweight(0.3), reweight(2.5), reweight(0), reweight(1), remove} {
			before := cellsOf(m)
			b := step()
			after := cellsOf(m)
			gains, loses := uint64(0), uint64(0)
			for _, mv := range moves(before, after) {
				switch b {
				case mv.to:
					gains += mv.last - mv.first + 1
				case mv.from:
					loses += mv.last - mv.first + 1
				default:
					t.Errorf("n=%d, step %d: [%d, %d] moves from %d to %d, which both stay", n, i, mv.first, mv.last, mv.from, mv.to)
				}
			}
			if gains > 0 && loses > 0 {
				t.Errorf("n=%d, step %d: bucket %d both gains and loses", n, i, b)
			}
			if got, want := gains-loses, share(after, b)-share(before, b); got != want {
				t.Errorf("n=%d, step %d: %d positions move, the share changes by %d", n, i, got, want)
			}
		}
		if diff := gocmp.Diff(start, cellsOf(m)); diff != "" {
			t.Errorf("n=%d: the changes undone leave another ring:\n%s", n, diff)
		}
	}
}

// TestShareSpreadFollowsTheory checks the root of the mean of cv^2 against
// sqrt((n-1)/(nv+1)), and for v=160 the 95th percentile of the busiest node
// (nginx/nginx#531).
func TestShareSpreadFollowsTheory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many rings")
	}
	for _, c := range []struct {
		n, v, placements int
		p95              float64
	}{
		{n: 10, v: 10, placements: 4000},
		{n: 10, v: 100, placements: 4000},
		{n: 10, v: 160, placements: 2000, p95: 1.20},
		{n: 100, v: 10, placements: 400},
		{n: 100, v: 100, placements: 200},
		{n: 100, v: 160, placements: 200, p95: 1.28},
		{n: 1000, v: 10, placements: 200},
	} {
		square := 0.0
		peaks := make([]float64, c.placements)
		config := ring.Default
		config.VNodes = c.v
		for p := range c.placements {
			names := make([]string, c.n)
			for i := range names {
				names[i] = fmt.Sprintf("s%d-node-%d", p, i)
			}
			shares := make([]float64, c.n)
			first := uint64(0)
			_, cells := build(t, algorithms.Nodes(names...), config).Cells()
			for end, b := range cells {
				shares[b] += float64(end-first+1) / (1 << 64)
				first = end + 1
			}
			mean := 1 / float64(c.n)
			for _, s := range shares {
				square += (s/mean - 1) * (s/mean - 1) / float64(c.n)
			}
			peaks[p] = slices.Max(shares) / mean
		}
		got := math.Sqrt(square / float64(c.placements))
		want := math.Sqrt(float64(c.n-1) / float64(c.n*c.v+1))
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("n=%d v=%d: cv %.5f, theory %.5f", c.n, c.v, got, want)
		}
		slices.Sort(peaks)
		if p95 := peaks[len(peaks)*95/100]; c.p95 > 0 && math.Abs(p95-c.p95) > 0.01 {
			t.Errorf("n=%d v=%d: p95 of max/mean %.3f, want %.2f +-0.01", c.n, c.v, p95, c.p95)
		}
	}
}

// pointList is a ring of listed points that are searched one after the other.
func pointList(points []ring.Listed) func(h uint64) string {
	sorted := slices.SortedFunc(slices.Values(points), func(a, b ring.Listed) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), strings.Compare(a.Node, b.Node))
	})
	return func(h uint64) string {
		for _, p := range sorted {
			if p.Position >= h {
				return p.Node
			}
		}
		return sorted[0].Node
	}
}

// TestPointsInAHeap crowds points where a good hash never would: on the same
// upper bits, at both ends of the circle, hundreds on one start.
func TestPointsInAHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]uint64{0, math.MaxUint64, 1 << 63, 0x123456789abcdef0})
		spread := rapid.SampledFrom([]uint64{1, 3, 1 << 15, 1<<16 + 1, 1 << 40})
		position := rapid.Custom(func(t *rapid.T) uint64 {
			b, s := base.Draw(t, "base"), spread.Draw(t, "spread")
			offset := rapid.Uint64Range(0, s).Draw(t, "offset")
			if b == math.MaxUint64 {
				return b - offset
			}
			return b + offset
		})
		var points []ring.Listed
		for range rapid.IntRange(1, 300).Draw(t, "points") {
			name := string(rune('a' + rapid.IntRange(0, 3).Draw(t, "node")))
			points = append(points, ring.Listed{Position: position.Draw(t, "position"), Node: name})
		}
		var nodes []algorithms.Node
		for _, name := range []string{"d", "b", "a", "c"} {
			if slices.ContainsFunc(points, func(p ring.Listed) bool { return p.Node == name }) {
				nodes = append(nodes, algorithms.Node{Name: name, Weight: 1})
			}
		}
		c := ring.Default
		c.VNodes, c.Points = len(points), points
		m, err := ring.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		want := pointList(points)
		for range 50 {
			h := position.Draw(t, "h")
			if got := nodes[m.Lookup(h)].Name; got != want(h) {
				t.Fatalf("Lookup(%#x) = %q, want %q", h, got, want(h))
			}
		}
	})
}

// TestMoreBucketsThan16Bits crosses the border between the two widths of an
// owner in a cell, there and back.
func TestMoreBucketsThan16Bits(t *testing.T) {
	const border = 1 << 16
	c := ring.Default
	c.VNodes = 1
	m := build(t, algorithms.Nodes(nodeNames(border)...), c)
	check := func() {
		t.Helper()
		var points []cell
		for at, b := range m.Points() {
			points = append(points, cell{at, b})
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			h := r.Uint64()
			if r.IntN(2) == 0 {
				h = points[r.IntN(len(points))].End + r.Uint64N(3) - 1
			}
			i, _ := slices.BinarySearchFunc(points, h, func(c cell, h uint64) int { return cmp.Compare(c.End, h) })
			if i == len(points) {
				i = 0
			}
			if got := m.Lookup(h); got != points[i].Owner {
				t.Fatalf("%d nodes: Lookup(%#x) = %d, want %d", m.Len(), h, got, points[i].Owner)
			}
		}
	}
	check()
	narrow, footprint := cellsOf(m), m.Footprint()
	b, err := m.Add(algorithms.Node{Name: "one more", Weight: 40})
	if err != nil {
		t.Fatal(err)
	}
	if b != border {
		t.Fatalf("node %d got bucket %d", border+1, b)
	}
	check()
	if m.Footprint() < footprint*12/10 {
		t.Errorf("footprint %d after %d, the wide layout takes 12 bytes a cell for 10", m.Footprint(), footprint)
	}
	for _, mv := range moves(narrow, cellsOf(m)) {
		if mv.to != b {
			t.Fatalf("[%d, %d] moves from %d to %d, not to the new node", mv.first, mv.last, mv.from, mv.to)
		}
	}
	if err := m.Remove(b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(narrow, cellsOf(m)) || m.Footprint() != footprint {
		t.Error("the node added and removed left another ring")
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	m := build(t, algorithms.Nodes(nodeNames(50)...), ring.Default)
	c := ring.Default
	c.Modulus = 36000
	small := build(t, algorithms.Nodes(nodeNames(50)...), c)
	dst := make([]algorithms.Bucket, 5)
	h := uint64(0)
	for name, f := range map[string]func(){
		"Lookup":       func() { sink = m.Lookup(h) },
		"modulus":      func() { sink = small.Lookup(h) },
		"LookupProbes": func() { sink, _ = m.LookupProbes(h) },
		"LookupN":      func() { m.LookupN(h, dst) },
		"Clockwise": func() {
			for b := range m.Clockwise(h) {
				sink += b
			}
		},
	} {
		if allocs := testing.AllocsPerRun(100, func() { h += 0x9e3779b97f4a7c15; f() }); allocs != 0 {
			t.Errorf("%s allocates %v times", name, allocs)
		}
	}
}

func TestLookupReadsFewCells(t *testing.T) {
	m := build(t, algorithms.Nodes(nodeNames(1000)...), ring.Default)
	total, far := 0, 0
	hs := hashes(100_000, 2)
	for _, h := range hs {
		_, probes := m.LookupProbes(h)
		total += probes
		if probes > 5 {
			far++
		}
	}
	if mean := float64(total) / float64(len(hs)); mean > 2.1 {
		t.Errorf("%.2f cells a lookup, want 2", mean)
	}
	if part := float64(far) / float64(len(hs)); part > 0.035 {
		t.Errorf("%.1f%% of the lookups leave the window, want 3%%", 100*part)
	}
}

func TestFootprintAndForecast(t *testing.T) {
	nodes := algorithms.Nodes(nodeNames(1000)...)
	m := build(t, nodes, ring.Default)
	const points = 160_000
	if got := float64(m.Footprint()) / points; got < 15 || got > 15.1 {
		t.Errorf("%.2f bytes a point, want 15", got)
	}
	if got := ring.Default.Forecast(nodes); got < m.Footprint()+36*points || got > 60*points {
		t.Errorf("forecast %d for a footprint of %d and 36 bytes a point beside it", got, m.Footprint())
	}
	heavy := []algorithms.Node{{Name: "a", Weight: 1e6}}
	if got := ring.Default.Forecast(heavy); got < 16e7*51 || got > 16e7*60 {
		t.Errorf("forecast %d for 1.6e8 points", got)
	}
	heavy[0].Weight = 1e300
	if got := ring.Default.Forecast(heavy); got != math.MaxInt64 {
		t.Errorf("forecast %d, want the greatest", got)
	}
	if _, err := ring.New(heavy, ring.Default); err == nil || !strings.Contains(err.Error(), "1.6e+302 points") {
		t.Errorf("New of 1.6e302 points: %v", err)
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"vnodes":0}`, "ring: vnodes 0, a node needs at least 1"},
		{`{"vnodes":-3}`, "ring: vnodes -3"},
		{`{"vnodes":1.5}`, "vnodes"},
		{`{"point_hash":"xxh4"}`, `ring: point_hash: unknown hash "xxh4"`},
		{`{"label":"{name}"}`, "no {index}"},
		{`{"label":"{index}"}`, "no {name}"},
		{`{"label":""}`, "no {name}"},
		{`{"label":"{name}#{index"}`, "unpaired brace"},
		{`{"label":"{name}}{index}"}`, "unpaired brace"},
		{`{"label":"{name}{{index}"}`, "unknown placeholder {{index}"},
		{`{"label":"{name}{i}"}`, "unknown placeholder {i}"},
		{`{"label":"{name}{index-1}"}`, "unknown placeholder {index-1}"},
		{`{"label":"{name}{index+}"}`, "whole number"},
		{`{"label":"{name}{index+-1}"}`, "whole number"},
		{`{"label":"{name}{index+2147483648}"}`, "over the limit of 2147483647"},
		{`{"label":"{name}{index+99999999999999999999}"}`, "over the limit"},
		{`{"modulus":100,"points":[{"position":100,"node":"a"}]}`, "entry 1 of node \"a\" is at 100, the modulus 100 allows 0 to 99"},
		{`{"points":[{"position":1,"node":"a"},{"position":1}]}`, "entry 2 names no node"},
		{`{"points":[{"position":1,"node":"b"}]}`, `node "a" has no points listed`},
		{`{"points":[{"position":-1,"node":"b"}]}`, "position"},
		{`{"vnode":3}`, `unknown parameter "vnode"`},
	} {
		_, _, err := ring.Info.New(algorithms.Nodes("a"), json.RawMessage(c.params))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.params, err, c.want)
		}
	}
}

func TestARefusedChangeChangesNothing(t *testing.T) {
	c := ring.Default
	c.VNodes, c.Modulus = 2, 100
	c.Points = []ring.Listed{{Position: 10, Node: "a"}, {Position: 60, Node: "b"}, {Position: 30, Node: "a"}}
	m := build(t, []algorithms.Node{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c"}}, c)
	before := cellsOf(m)
	if _, err := m.Add(algorithms.Node{Name: "d", Weight: 1}); err == nil {
		t.Error("a node without listed points was added")
	}
	if _, err := m.Add(algorithms.Node{Name: "a", Weight: 1}); err == nil {
		t.Error("a node was added twice")
	}
	if err := m.SetWeight(2, 1); err == nil {
		t.Error("a node without listed points got a weight")
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := m.SetWeight(0, w); err == nil {
			t.Errorf("weight %v was accepted", w)
		}
	}
	for _, b := range []algorithms.Bucket{-1, 3, 1 << 30} {
		if m.Remove(b) == nil || m.SetWeight(b, 1) == nil {
			t.Errorf("bucket %d, which is not bound, was changed", b)
		}
	}
	if n, _ := algorithms.NewMembers(slices.Collect(nodesOf(m))); n.Len() != 3 || !slices.Equal(before, cellsOf(m)) {
		t.Error("a refused change left its traces")
	}
	if n := slices.Collect(nodesOf(m))[2]; n.Weight != 0 {
		t.Errorf("node c weighs %v after the refusal, want 0", n.Weight)
	}
}

func nodesOf(m *ring.Map) iter.Seq[algorithms.Node] {
	return func(yield func(algorithms.Node) bool) {
		for _, n := range m.Nodes() {
			if !yield(n) {
				return
			}
		}
	}
}

func TestWeightZeroOwnsNothing(t *testing.T) {
	weights := func(ws ...float64) []algorithms.Node {
		var nodes []algorithms.Node
		for i, w := range ws {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("n%d", i), Weight: w})
		}
		return nodes
	}
	m := build(t, weights(1, 1, 0), ring.Default)
	if m.Len() != 3 || share(cellsOf(m), 2) != 0 {
		t.Errorf("of %d nodes the weightless one owns %d positions", m.Len(), share(cellsOf(m), 2))
	}
	dst := make([]algorithms.Bucket, 3)
	if n := m.LookupN(7, dst); n != 2 {
		t.Errorf("LookupN found %d nodes, want the 2 that own something", n)
	}
	for _, ws := range [][]float64{{0, 0, 0}, {0}} {
		if _, err := ring.New(weights(ws...), ring.Default); err == nil || !strings.Contains(err.Error(), "all weights are zero") {
			t.Errorf("weights %v: error %v", ws, err)
		}
	}
	if err := errors.Join(m.SetWeight(0, 0), m.SetWeight(1, 0)); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, m)
	if err := m.SetWeight(2, 0.001); err != nil {
		t.Fatal(err)
	}
	if got := m.Lookup(1); got != 2 {
		t.Errorf("the only node with a weight does not own everything: Lookup = %d", got)
	}
}

func TestAnEmptyRingAnswersNone(t *testing.T) {
	m := build(t, algorithms.Nodes("a"), ring.Default)
	for _, h := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		if b, probes := m.LookupProbes(h); m.Lookup(h) != 0 || b != 0 || probes < 1 {
			t.Errorf("a single node does not own %#x", h)
		}
	}
	if err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, m)
	if b, err := m.Add(algorithms.Node{Name: "b", Weight: 1}); err != nil || m.Lookup(5) != b {
		t.Errorf("the ring does not recover: bucket %d, %v", b, err)
	}
}

func checkEmpty(t *testing.T, m *ring.Map) {
	t.Helper()
	for _, h := range []uint64{0, 1 << 63, math.MaxUint64} {
		b, probes := m.LookupProbes(h)
		if m.Lookup(h) != algorithms.None || b != algorithms.None || probes != 0 || m.LookupN(h, make([]algorithms.Bucket, 2)) != 0 {
			t.Errorf("a ring without points answers %d for %#x", m.Lookup(h), h)
		}
		for b := range m.Clockwise(h) {
			t.Errorf("a ring without points yields %d", b)
		}
	}
	if cells := cellsOf(m); len(cells) > 0 || m.PointCollisions() != 0 || m.Footprint() != 0 {
		t.Errorf("a ring without points has cells %v, footprint %d", cells, m.Footprint())
	}
}

func FuzzAnyNameHasADefinedOwner(f *testing.F) {
	for _, s := range []string{"", "a", "\x00", "\xff\xfe", "{name}#{index}", "a#0", strings.Repeat("x", 10240)} {
		f.Add(s, s, uint64(0), uint8(3))
	}
	xxh3, err := keyhash.ByName("xxh3")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, key string, h uint64, vnodes uint8) {
		c := ring.Default
		c.VNodes = int(vnodes)
		nodes := algorithms.Nodes("node", name)
		m, err := ring.New(nodes, c)
		if refuse := name == "" || name == "node" || vnodes == 0; refuse != (err != nil) {
			t.Fatalf("New: %v", err)
		}
		if err != nil {
			return
		}
		var points []ring.Listed
		for _, n := range nodes {
			for i := range c.VNodes {
				points = append(points, ring.Listed{Position: xxh3.Position(n.Name + "#" + strconv.Itoa(i)), Node: n.Name})
			}
		}
		want := pointList(points)
		for _, h := range []uint64{h, xxh3.Position(key), points[0].Position, points[0].Position + 1} {
			if got := nodes[m.Lookup(h)].Name; got != want(h) {
				t.Errorf("Lookup(%#x) = %q, want %q", h, got, want(h))
			}
		}
	})
}
