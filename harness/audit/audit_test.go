package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/workloads"
)

// A line is a row of an assignment.
type line struct {
	key, node    string
	count, bytes float64
}

func write(t testing.TB, name string, lines []line) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("key,node,count,bytes\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "%s,%s,%v,%v\n", l.key, l.node, l.count, l.bytes)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func ask(t testing.TB, q Question) *Report {
	t.Helper()
	r, err := Ask(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// naive is the same figures the plain way: maps, and the formulas written out.
type naive struct {
	owner          map[string]string
	asked          map[string]float64
	keys           map[string]float64
	requests, size map[string]float64
	total          float64
}

func recompute(lines []line) naive {
	n := naive{map[string]string{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, 0}
	for _, l := range lines {
		if _, seen := n.owner[l.key]; !seen {
			n.owner[l.key] = l.node
			n.keys[l.node]++
		}
		n.asked[l.key] += l.count
		n.requests[l.node] += l.count
		n.size[l.node] += l.bytes
		n.total += l.count
	}
	return n
}

// spread returns stddev/mean, the peak and the least of what nodes of equal weight
// have.
func spread(of map[string]float64, nodes []string) (cv, peak, least float64) {
	mean := 0.0
	for _, name := range nodes {
		mean += of[name] / float64(len(nodes))
	}
	least = math.Inf(1)
	sum := 0.0
	for _, name := range nodes {
		x := of[name]
		sum += (x - mean) * (x - mean) / float64(len(nodes))
		peak, least = max(peak, x/mean), min(least, x/mean)
	}
	return math.Sqrt(sum) / mean, peak, least
}

func near(t rapid.TB, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case math.IsNaN(want) && got == nil:
	case got == nil || math.Abs(*got-want) > 1e-12*max(1, math.Abs(want)):
		t.Errorf("%s is %v, want %v", what, show(got), want)
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// Every figure equals an independent recomputation, whether the keys fit into
// memory or not.
func TestFiguresAreThoseOfANaiveRecomputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []line {
			n := rapid.SampledFrom([]int{1, 7, 60, 400, 1500}).Draw(t, name)
			names := rapid.IntRange(1, 8).Draw(t, name+" nodes")
			space := rapid.SampledFrom([]int{1, 5, 150, 900}).Draw(t, name+" keys")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 0))
			var lines []line
			for range n {
				key := fmt.Sprintf("key-%d", r.IntN(space))
				node := fmt.Sprintf("n%d", len(key)%names)
				if r.IntN(100) == 0 {
					node = fmt.Sprintf("n%d", r.IntN(names))
				}
				lines = append(lines, line{key, node, float64(r.IntN(2000)) / 8, float64(r.IntN(1 << 20))})
			}
			return lines
		}
		before, after := draw("before"), draw("after")
		dir := os.TempDir()
		file := func(name string, lines []line) string {
			f, err := os.CreateTemp(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(f, "key,node,count,bytes")
			for _, l := range lines {
				fmt.Fprintf(f, "%s,%s,%v,%v\n", l.key, l.node, l.count, l.bytes)
			}
			f.Close()
			return f.Name()
		}
		q := Question{Before: file("before", before), File: file("after", after), budget: rapid.SampledFrom([]int{12_000, 25_000, 1 << 20}).Draw(t, "budget")}
		defer os.Remove(q.Before)
		defer os.Remove(q.File)
		r, err := Ask(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		x, y := recompute(before), recompute(after)

		var nodes []string
		for name := range y.requests {
			nodes = append(nodes, name)
		}
		slices.Sort(nodes)
		var shown []string
		for _, n := range r.PerNode {
			shown = append(shown, n.Node)
			near(t, "keys of "+n.Node, ptr(float64(n.Keys)), y.keys[n.Node])
			near(t, "requests of "+n.Node, &n.Requests, y.requests[n.Node])
			near(t, "bytes of "+n.Node, n.Bytes, y.size[n.Node])
			near(t, "share of "+n.Node, &n.Share, y.keys[n.Node]/float64(len(y.owner)))
		}
		if diff := cmp.Diff(nodes, shown); diff != "" {
			t.Errorf("nodes (-want +got):\n%s", diff)
		}
		if r.Keys != len(y.owner) || r.Nodes != len(nodes) || r.Requests != y.total {
			t.Errorf("%d keys, %d nodes and %v requests, want %d, %d and %v", r.Keys, r.Nodes, r.Requests, len(y.owner), len(nodes), y.total)
		}
		keys, n := float64(len(y.owner)), float64(len(nodes))
		cv, peak, least := spread(y.keys, nodes)
		near(t, "cv", r.CV, cv)
		near(t, "peak", r.Peak, peak)
		near(t, "min", r.Min, least)
		near(t, "floor", r.CVFloor, math.Sqrt((n-1)/keys))
		if n > 1 {
			chi := 0.0
			for _, name := range nodes {
				chi += (y.keys[name] - keys/n) * (y.keys[name] - keys/n) / (keys / n)
			}
			near(t, "p", r.Chi2P, distuv.ChiSquared{K: n - 1}.Survival(chi))
		}
		if y.total > 0 {
			cv, peak, _ = spread(y.requests, nodes)
			near(t, "load cv", r.LoadCV, cv)
			near(t, "load peak", r.LoadPeak, peak)
			top := 0.0
			for _, a := range y.asked {
				top = max(top, a)
			}
			if len(r.HotKeys) == 0 || r.HotKeys[0].Requests != top || y.asked[r.HotKeys[0].Key] != top {
				t.Errorf("hottest key %v, want one of %v requests", r.HotKeys, top)
			}
		}
		split := map[string]bool{}
		for _, l := range after {
			if y.owner[l.key] != l.node {
				split[l.key] = true
			}
		}
		if got := r.Split; (got == nil) != (len(split) == 0) || got != nil && got.Keys != len(split) {
			t.Errorf("split keys %v, want %d", got, len(split))
		}
		if r.Split != nil {
			first := slices.IndexFunc(after, func(l line) bool { return y.owner[l.key] != l.node })
			want := &Split{len(split), int64(first + 2), after[first].key, after[first].node, y.owner[after[first].key]}
			if diff := cmp.Diff(want, r.Split); diff != "" {
				t.Errorf("split (-want +got):\n%s", diff)
			}
		}

		common, moved, collateral, movedLoad, load := 0.0, 0.0, 0.0, 0.0, 0.0
		for key, from := range x.owner {
			to, there := y.owner[key]
			if !there {
				continue
			}
			common++
			load += x.asked[key]
			if from != to {
				moved++
				movedLoad += x.asked[key]
				_, stays := y.requests[from]
				_, was := x.requests[to]
				if stays && was {
					collateral++
				}
			}
		}
		if r.Common != int(common) || r.Gone != len(x.owner)-int(common) || r.New != len(y.owner)-int(common) {
			t.Errorf("%d keys in both, %d gone, %d new", r.Common, r.Gone, r.New)
		}
		if common > 0 {
			near(t, "moved", r.Moved, moved/common)
			near(t, "collateral", r.Collateral, collateral/common)
			near(t, "moved load", r.MovedLoad, movedLoad/load)
			least := 0.0
			for name := range y.requests {
				was := 0.0
				if _, there := x.requests[name]; there {
					was = 1 / float64(len(x.requests))
				}
				least += max(0, 1/n-was)
			}
			near(t, "minimum", r.Minimum, least)
		}
	})
}

func ptr(v float64) *float64 { return &v }

// placed returns the rows of keys on a ring of nodes.
func placed(t testing.TB, vnodes, keys int, nodes []algorithms.Node) []line {
	t.Helper()
	c := ring.Default
	c.VNodes = vnodes
	m, err := ring.New(nodes, c)
	if err != nil {
		t.Fatal(err)
	}
	hash, _ := keyhash.ByName(keyhash.Default)
	var lines []line
	for i := range keys {
		key := fmt.Sprintf("user:%d", i)
		lines = append(lines, line{key, nodes[m.Lookup(hash.OfKeys(m)(key))].Name, 1, 0})
	}
	return lines
}

func cluster(n int) []algorithms.Node {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("node-%d", i))
	}
	return algorithms.Nodes(names...)
}

func TestSpreadsAreToldApart(t *testing.T) {
	nodes := cluster(40)
	const keys = 60_000
	uniform := func() (lines []line) {
		r := workloads.Rand(7, "audit")
		for i := range keys {
			lines = append(lines, line{fmt.Sprint(i), nodes[r.IntN(len(nodes))].Name, 1, 0})
		}
		return lines
	}
	if r := ask(t, Question{File: write(t, "even.csv", uniform())}); r.Why.Cause != Chance {
		t.Errorf("keys at random are laid to %s, p = %v", r.Why.Cause, *r.Chi2P)
	}
	for _, v := range []int{10, 100} {
		r := ask(t, Question{File: write(t, "ring.csv", placed(t, v, keys, nodes))})
		y := r.Why
		if y.Cause != FewVNodes || y.VNodes == nil || !(*y.VNodesLow < float64(v) && float64(v) < *y.VNodesHigh) {
			t.Errorf("a ring of %d vnodes is laid to %s, %v (%v to %v)", v, y.Cause, show(y.VNodes), show(y.VNodesLow), show(y.VNodesHigh))
		}
	}
	heavy := uniform()
	for i := range heavy {
		if i%25 == 0 {
			heavy[i].node = "node-3"
		}
	}
	if r := ask(t, Question{File: write(t, "heavy.csv", heavy)}); r.Why.Cause != WeakHash || r.Why.Outlier != "node-3" {
		t.Errorf("a node with twice its share among even ones is laid to %s, %q", r.Why.Cause, r.Why.Outlier)
	}
	dealt := uniform()
	for i := range dealt {
		dealt[i].node = nodes[i%len(nodes)].Name
	}
	if r := ask(t, Question{File: write(t, "dealt.csv", dealt)}); r.Why.Cause != TooEven {
		t.Errorf("keys dealt out in turn are laid to %s", r.Why.Cause)
	}
	if r := ask(t, Question{File: write(t, "one.csv", []line{{"a", "x", 1, 0}, {"b", "x", 1, 0}})}); r.Why.Cause != SingleNode || *r.CV != 0 {
		t.Errorf("a single node is laid to %s", r.Why.Cause)
	}
	// Case 1 of what users report: the bare names as points, hashed by fnv1a-32.
	skewed := []float64{1948, 384, 755, 397, 391, 377, 387, 435, 94087, 839}
	var lines []line
	for i, n := range skewed {
		for k := range int(n) {
			lines = append(lines, line{fmt.Sprintf("sku-%d-%d", i, k), nodes[i].Name, 1, 0})
		}
	}
	if r := ask(t, Question{File: write(t, "skewed.csv", lines)}); r.Why.Cause != WeakHash {
		t.Errorf("94%% of the keys on one of ten nodes are laid to %s", r.Why.Cause)
	}
}

func TestWeightsEnterAndIdleNodesAreNamed(t *testing.T) {
	nodes := []algorithms.Node{{Name: "big", Weight: 2}, {Name: "small", Weight: 1}, {Name: "idle", Weight: 1}, {Name: "off", Weight: 0}}
	var lines []line
	for i := range 90 {
		lines = append(lines, line{fmt.Sprint(i), []string{"big", "small", "big"}[i%3], 1, 0})
	}
	q := Question{File: write(t, "a.csv", lines), Nodes: nodes}
	r := ask(t, q)
	if diff := cmp.Diff([]string{"idle"}, r.Nothing); diff != "" {
		t.Errorf("own nothing (-want +got):\n%s", diff)
	}
	near(t, "peak", r.Peak, 60.0/90/(2.0/4))
	near(t, "min", r.Min, 0)
	near(t, "floor", r.CVFloor, math.Sqrt((1+3+3)/3.0/90))
	want := []Node{
		{Node: "big", Keys: 60, Requests: 60, Bytes: ptr(0), Share: 60.0 / 90, Weight: 2},
		{Node: "small", Keys: 30, Requests: 30, Bytes: ptr(0), Share: 30.0 / 90, Weight: 1},
		{Node: "idle", Bytes: ptr(0), Weight: 1},
		{Node: "off", Bytes: ptr(0)},
	}
	if diff := cmp.Diff(want, r.PerNode); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	q.Nodes = nodes[1:]
	if _, err := Ask(context.Background(), q); err == nil || !strings.Contains(err.Error(), `a.csv:2: node "big" is not in the list of nodes`) {
		t.Errorf("a node that is not in the list gives %v", err)
	}
}

func TestAChangeOfTheMembershipIsTold(t *testing.T) {
	nodes := cluster(10)
	before := placed(t, 100, 20_000, nodes)
	after := placed(t, 100, 20_000, append(slices.Clone(nodes[1:]), algorithms.Node{Name: "new", Weight: 1}))
	r := ask(t, Question{Before: write(t, "before.csv", before), File: write(t, "after.csv", after)})
	if diff := cmp.Diff([][]string{{"new"}, {"node-0"}}, [][]string{r.Joined, r.Left}); diff != "" {
		t.Errorf("joined and left (-want +got):\n%s", diff)
	}
	if *r.Collateral != 0 {
		t.Errorf("on a ring %v moved between nodes that stay", *r.Collateral)
	}
	near(t, "minimum", r.Minimum, 0.1)
	keys := 0
	for _, f := range r.Flows {
		keys += f.Keys
		if f.From != "node-0" && f.To != "new" {
			t.Errorf("%d keys went from %s to %s", f.Keys, f.From, f.To)
		}
	}
	near(t, "moved", r.Moved, float64(keys)/20_000)
	if r.Before == nil || r.Before.Nodes != 10 || r.Before.Keys != 20_000 || r.Nodes != 10 {
		t.Errorf("before: %+v", r.Before)
	}
}

func TestHotKeysAreNamedWithTheirFloor(t *testing.T) {
	lines := placed(t, 200, 5000, cluster(10))
	lines[7].count = 4000
	lines[11].count = 900
	r := ask(t, Question{File: write(t, "hot.csv", lines)})
	if !r.Why.HotKeys || r.HotKeys[0].Key != "user:7" || r.HotKeys[1].Key != "user:11" || len(r.HotKeys) != mostHot {
		t.Fatalf("hot keys: %+v %+v", r.Why, r.HotKeys)
	}
	near(t, "floor", r.Why.HotFloor, 10*4000/(4998+4900.0))
	if *r.LoadPeak < *r.Why.HotFloor {
		t.Errorf("the busiest node has %v, below the floor %v", *r.LoadPeak, *r.Why.HotFloor)
	}
	want := math.Sqrt(math.Pow(*r.Why.Placement, 2) + math.Pow(*r.Why.Sampling, 2) + math.Pow(*r.Why.Weights, 2))
	near(t, "expected spread", r.Why.Expected, want)
}

// However an audit ends, it leaves no file behind.
func TestNoTemporaryFileStays(t *testing.T) {
	if testing.Short() {
		t.Skip("writes temporary files of many keys")
	}
	dir := t.TempDir()
	var lines []line
	for i := range 3000 {
		lines = append(lines, line{fmt.Sprintf("key-%d", i), fmt.Sprint("n", i%7), 1, 1})
	}
	good := write(t, "good.csv", lines)
	bad := write(t, "bad.csv", append(lines, line{"torn\"", "x", 1, 1}))
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		q    Question
		want error
	}{
		{context.Background(), Question{Before: good, File: good, budget: 1000}, nil},
		{context.Background(), Question{Before: good, File: bad, budget: 1000}, cmpopts.AnyError},
		{ended, Question{File: good, budget: 1000}, context.Canceled},
	} {
		if _, err := Ask(c.ctx, c.q); !cmp.Equal(c.want, err, cmpopts.EquateErrors()) {
			t.Errorf("it ends with %v, want %v", err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "absent"))
	t.Setenv("TMP", filepath.Join(dir, "absent"))
	if _, err := Ask(context.Background(), Question{File: good, budget: 1000}); err == nil || !strings.Contains(err.Error(), "let TMPDIR name a folder with room") {
		t.Errorf("without a folder for temporary files it ends with %v", err)
	}
}

// What cannot be squared is refused, and what just can is judged without a gap.
func TestAmountsAndWeightsBeyondJudgementAreRefused(t *testing.T) {
	two := []line{{"k", "a", 1, 1}, {"l", "b", 2, 2}}
	weighed := func(light float64) []algorithms.Node {
		return []algorithms.Node{{Name: "a", Weight: light}, {Name: "b", Weight: 1}}
	}
	for _, tt := range []struct {
		lines []line
		nodes []algorithms.Node
		want  string
	}{
		{[]line{{"k", "a", 1e150, 1}, {"l", "b", 1e149, 1}}, nil, ":3: the column count adds up to more than 1e+150 here"},
		{[]line{{"k", "a", 1, 1e308}, {"l", "b", 1, 1e308}}, nil, ":2: the column bytes adds up to"},
		{[]line{{"k", "a", 9e149, 9e149}, {"l", "b", 1e-300, 1}}, nil, ""},
		{two, weighed(1e-320), `node "a" has weight 1e-320 of 1, too little`},
		{two, weighed(1e-99), ""},
	} {
		r, err := Ask(context.Background(), Question{File: write(t, "a.csv", tt.lines), Nodes: tt.nodes})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%v over %v: error %v, want %q", tt.lines, tt.nodes, err, tt.want)
		}
		if err == nil && (r.CV == nil || r.LoadCV == nil || math.IsInf(*r.LoadCV, 0)) {
			t.Errorf("%v over %v: no spread", tt.lines, tt.nodes)
		}
	}
}

func TestBothFromStdinIsRefused(t *testing.T) {
	_, err := Ask(context.Background(), Question{Before: "-", File: "-"})
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"node-10", "b", "node-2", "", "node-02", "node-1a", "node-1", "a"}
	slices.SortFunc(names, natural)
	want := []string{"", "a", "b", "node-1", "node-1a", "node-02", "node-2", "node-10"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
