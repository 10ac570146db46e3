package claims

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// thin is what the draws are divided by where a test checks many claims.
const thin = 10

// slow are the claims that take seconds whatever the draws.
var slow = regexp.MustCompile(`/large$|^maglev/(moves|ring|rendezvous)|misses|same-second|^jump-paper/v=1000/|^bounded/ring/(full|steps)/(0.3|1)$|^bounded/jumps/(full|steps)/0.3$|^binomial/tries|^lrh/busiest`)

func TestClaimsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	name := regexp.MustCompile(`^[a-z0-9][A-Za-z0-9./=-]*$`)
	for _, c := range All() {
		switch {
		case !name.MatchString(c.ID) || seen[c.ID]:
			t.Errorf("%q is no name, or that of two claims", c.ID)
		case c.Source == "" || c.Says == "" || c.Measure.setup == "":
			t.Errorf("%s: no source, no words or no set-up", c.ID)
		case (c.Expected != "" && c.Expected != Reproduced) != (c.Finds != ""):
			t.Errorf("%s: what is true instead belongs to claims that do not hold, and to all of them", c.ID)
		case c.Published.single && c.Published.peak:
			t.Errorf("%s: its source drew once in two ways", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) < 60 {
		t.Errorf("%d claims", len(seen))
	}
}

// rare are the claims about rare events, and about figures that the source drew once:
// what is further off is needed to tell them apart from few draws.
var rare = regexp.MustCompile(`^ring/(half|pairs)|^uniform/chi-square|^said/fixed-total`)

// Each verdict is the expected one, and each turns when the claim says something
// else: half as much again, or for a claim that is refuted what is true.
func TestVerdictsAreExpectedAndTurnWithTheClaim(t *testing.T) {
	if testing.Short() {
		t.Skip("measures a hundred claims: minutes under the race detector")
	}
	l := newLab(context.Background(), Options{Algorithms: builtin.All(), Seed: 1, thin: thin})
	for _, c := range All() {
		if slow.MatchString(c.ID) {
			continue
		}
		e, err := c.Measure.take(l)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if r := c.judge(e); !r.Pass {
			t.Errorf("%s is %s: measured %v, published %v, tolerance %v", c.ID, r.Verdict, r.Measured, r.Published, r.Tolerance)
		}
		off, times := c, 1.5
		if rare.MatchString(c.ID) {
			times = 3
		}
		switch f := &off.Published; {
		case off.Expected == Refuted:
			f.value = e.value
		case f.bound > 0:
			f.value = times*f.value + 1
		case f.bound < 0:
			f.value /= times
		case f.value == 0:
			f.value = 1
		default:
			f.value *= times
		}
		if r := off.judge(e); r.Pass {
			t.Errorf("%s passes also as %v: measured %v, tolerance %v", c.ID, r.Published, r.Measured, r.Tolerance)
		}
	}
}

// mutate replaces an algorithm in the list of all, under its name.
func mutate(name string, with algorithms.Info) []algorithms.Info {
	all := builtin.All()
	i := slices.IndexFunc(all, func(i algorithms.Info) bool { return i.Name == name })
	with.Name, with.Defaults = name, all[i].Defaults
	all[i] = with
	return all
}

// reset is an algorithm whose parameters are changed behind its back.
func reset(name string, change func(nodes int, p map[string]any)) []algorithms.Info {
	all := builtin.All()
	i := slices.IndexFunc(all, func(i algorithms.Info) bool { return i.Name == name })
	build := all[i].New
	all[i].New = func(nodes []algorithms.Node, text json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		p := map[string]any{}
		for _, layer := range []json.RawMessage{all[i].Defaults, text} {
			if len(layer) > 0 {
				if err := json.Unmarshal(layer, &p); err != nil {
					return nil, nil, err
				}
			}
		}
		change(len(nodes), p)
		text, err := json.Marshal(p)
		if err != nil {
			return nil, nil, err
		}
		return build(nodes, text)
	}
	return all
}

// wrap is an algorithm whose mapper is hidden behind another.
func wrap[M algorithms.Mapper](name string, hide func(M) algorithms.Mapper) []algorithms.Info {
	return hidden(builtin.All(), name, hide)
}

func hidden[M algorithms.Mapper](all []algorithms.Info, name string, hide func(M) algorithms.Mapper) []algorithms.Info {
	i := slices.IndexFunc(all, func(i algorithms.Info) bool { return i.Name == name })
	build := all[i].New
	all[i].New = func(nodes []algorithms.Node, text json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		m, p, err := build(nodes, text)
		if err != nil {
			return nil, nil, err
		}
		return hide(m.(M)), p, nil
	}
	return all
}

// fixed is a ring that nobody can join: it is built anew.
type fixed struct {
	algorithms.Mapper
	algorithms.Owned
}

// asTable is a ring under the name of a table, whatever its parameters.
func asTable() algorithms.Info {
	info := ring.Info
	info.New = func(nodes []algorithms.Node, text json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		m, _, err := ring.Info.New(nodes, nil)
		return m, text, err
	}
	return info
}

// late owns what stands after its points instead of before.
type late struct{ *ring.Map }

func (m late) Lookup(h uint64) algorithms.Bucket { return m.Map.Lookup(h + 1) }

// tight says that half as much fits into a node as does.
type tight struct{ *boundedring.Map }

func (m tight) Load(b algorithms.Bucket) (load, capacity int) {
	load, capacity = m.Map.Load(b)
	return load, capacity / 2
}

// slowJump takes a step more than it needs.
type slowJump struct{ *jump.Map }

func (m slowJump) LookupProbes(h uint64) (algorithms.Bucket, int) {
	b, n := m.Map.LookupProbes(h)
	return b, n + 1
}

// dense has a point that it shares.
type dense struct{ *ring.Map }

func (m dense) PointCollisions() int { return m.Map.PointCollisions() + 1 }

// ranged deals out ranges of the hash, and to the first node twice as much.
func ranged() algorithms.Info {
	return algorithms.Define("ranged", "a fake", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (ranges, error) {
		return ranges(len(nodes)), nil
	})
}

type ranges int

func (r ranges) Lookup(h uint64) algorithms.Bucket {
	return algorithms.Bucket(max(0, int(h>>32*uint64(r+1)>>32)-1))
}
func (r ranges) Len() int { return int(r) }

// A claim of every kind of measure fails when the algorithm is not what it says.
func TestAMutatedAlgorithmFailsItsClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("measures dozens of claims: minutes under the race detector")
	}
	fewer := func(part float64) func(int, map[string]any) {
		return func(_ int, p map[string]any) { p["vnodes"] = max(1, int(p["vnodes"].(float64)*part)) }
	}
	for _, m := range []struct {
		what  string
		infos []algorithms.Info
		fail  []string
	}{
		{"half the points", reset("ring", fewer(0.5)), []string{
			"ring/spread/n=10/v=100", "ring/busiest/n=10/v=100", "ring/unlucky/n=3/v=160", "ring/counts/n=10/v=100",
			"jump-paper/v=100/spread", "jump-paper/v=10/low", "jump-paper/v=10/high", "said/100-points",
		}},
		{"one point a node", reset("ring", fewer(0)), []string{"zipf/total"}},
		{"two points instead of one", reset("ring", func(_ int, p map[string]any) { p["vnodes"] = p["vnodes"].(float64) + 1 }), []string{
			"ring/half/n=10/v=1", "ring/pairs/n=2/v=1", "ring/idlest/n=10/v=1",
		}},
		{"100 points at most", reset("ring", func(_ int, p map[string]any) { p["vnodes"] = min(p["vnodes"].(float64), 100) }), []string{"said/root-of-v", "said/extra-point"}},
		{"one number of points in all", hidden(reset("ring", func(n int, p map[string]any) { p["vnodes"] = 1600 / n }), "ring", func(m *ring.Map) algorithms.Mapper { return fixed{m, m} }), []string{"moves/ring/collateral"}},
		{"owners behind their points", wrap("ring", func(m *ring.Map) algorithms.Mapper { return late{m} }), []string{"said/on-a-point", "lesson/tokens", "lesson/wraps", "lesson/leaves"}},
		{"points that collide", wrap("ring", func(m *ring.Map) algorithms.Mapper { return dense{m} }), []string{"labels/separator", "labels/no-separator"}},
		{"ranges for a remainder", mutate("modulo", ranged()), []string{"uniform/modulo/n=100", "moves/modulo/10-to-11", "said/wards", "said/8-to-9/modulo", "hash/djb2", "moves/modulo/10-to-12"}},
		{"ranges for rendezvous", mutate("rendezvous", ranged()), []string{"uniform/rendezvous/n=10", "uniform/chi-square/n=10", "zipf/spread/n=10", "moves/rendezvous/10-to-11"}},
		{"a step more", wrap("jump", func(m *jump.Map) algorithms.Mapper { return slowJump{m} }), []string{"cost/jump/n=1000"}},
		{"a ring for a table", mutate("maglev", asTable()), []string{"maglev/rule/n=10"}},
		{"a wider bound", reset("bounded-ring", func(_ int, p map[string]any) { p["epsilon"] = 2 * p["epsilon"].(float64) }), []string{"bounded/ring/full/0.1", "bounded/capacity/before"}},
		{"no bound", reset("bounded-ring", func(_ int, p map[string]any) { p["epsilon"] = 1e6 }), []string{"bounded/collateral"}},
		{"a bound that is not kept", wrap("bounded-ring", func(m *boundedring.Map) algorithms.Mapper { return tight{m} }), []string{"bounded/cap/ring"}},
		{"a factor of 200", reset("haproxy-chash", func(_ int, p map[string]any) { p["hash_balance_factor"] = 200 }), []string{"bounded/cap/haproxy"}},
		{"w*u for the logarithm", mutate("weighted-rendezvous", naiveInfo), []string{"weights/light", "weights/heavy", "moves/weights"}},
		{"half the probes", reset("multiprobe", func(_ int, p map[string]any) { p["probes"] = int(p["probes"].(float64)) / 2 }), []string{"multiprobe/busiest/k=21", "multiprobe/spread/k=21"}},
		{"one candidate", reset("lrh", func(_ int, p map[string]any) { p["candidates"] = 1 }), []string{"lrh/joins", "lrh/joins/excess"}},
		{"an uneven anchor", mutate("anchor", ranged()), []string{"even/anchor", "least/anchor"}},
		{"ranges for memento", mutate("memento", ranged()), []string{"least/memento"}},
		{"points where the hash is good", reset("ring", func(_ int, p map[string]any) { p["point_hash"] = "xxh3" }), []string{"hash/crc32", "hash/fnv", "hash/fnv/prefix"}},
		{"points where it is not", reset("ring", func(_ int, p map[string]any) { p["point_hash"] = "crc32" }), []string{"hash/xxh64", "hash/md5"}},
		{"Envoy's ring with twice the entries", reset("envoy-ring", func(_ int, p map[string]any) { p["minimum_ring_size"] = 2048 }), []string{"said/envoy-1024"}},
	} {
		for _, id := range m.fail {
			o := Options{Algorithms: m.infos, Seed: 1, Only: regexp.MustCompile("^" + regexp.QuoteMeta(id) + "$"), thin: thin}
			found, err := Check(context.Background(), o)
			if err != nil {
				t.Errorf("%s, %s: %v", m.what, id, err)
				continue
			}
			if r := found[0]; r.Pass {
				t.Errorf("%s: %s is %s all the same: measured %v, published %v, tolerance %v", m.what, id, r.Verdict, r.Measured, r.Published, r.Tolerance)
			}
		}
	}
}

// What asks no algorithm of the list fails when its set-up is another.
func TestAnotherSetUpFailsTheClaim(t *testing.T) {
	for id, with := range map[string]measure{
		"maglev/example":          turns(7, []uint64{3, 0, 3}, []uint64{4, 2, 2}, []algorithms.Bucket{1, 0, 1, 0, 2, 2, 0}, nil),
		"zipf/top/100k":           popular("zipf:1.01", 100_000),
		"zipf/ycsb":               popular("zipf:0.99", 100_000),
		"weights/naive":           cluster{alg: "weighted-rendezvous", nodes: 2, weights: []float64{1, 2}}.part(0, 40_000),
		"weights/naive/quarter":   cluster{alg: "weighted-rendezvous", nodes: 2, weights: []float64{1, 2}}.part(0, 40_000),
		"weights/scaled":          cluster{alg: "naive-weighted-rendezvous", nodes: 2, weights: []float64{1, 2}}.moved("one gets twice its weight", 1000, grown(1)...),
		"moves/identity/position": positions(10, 8, 20),
		"moves/jump/middle-shift": cluster{alg: "jump", nodes: 10}.moved("", 20_000, left(4)),
		"moves/jump/middle-swap":  cluster{alg: "jump-shift", nodes: 10}.moved("", 20_000, left(4)),
		"lrh/busiest":             rings(5000, 256).counted(50_000_000, 2),
		"said/labels/from-1":      labelled("B", 150, "{name}#{index}", func(i int) string { return "B#" + strconv.Itoa(i+1) }),
		"said/misses/modulo/all":  afterOne("ring", 1).missing(-1),
		"said/same-second":        cell{alg: "modulo", nodes: 8, measure: "misses", keys: "seq:100000", requests: "hotset:10:1", schedule: "add-one"}.firstSecond(),
	} {
		i := slices.IndexFunc(All(), func(c Claim) bool { return c.ID == id })
		c := All()[i]
		e, err := with.take(newLab(context.Background(), Options{Algorithms: builtin.All(), Seed: 1}))
		if err != nil {
			t.Errorf("%s: %v", id, err)
		} else if r := c.judge(e); r.Pass {
			t.Errorf("%s is %s all the same: measured %v, published %v, tolerance %v", id, r.Verdict, r.Measured, r.Published, r.Tolerance)
		}
	}
}

func TestResultsDependOnTheSeedAlone(t *testing.T) {
	few := Options{Algorithms: builtin.All(), Seed: 7, thin: 50, Only: regexp.MustCompile(`^ring/busiest/n=10/v=100|^moves/(ring|jump)|^jump-paper/v=10/|^cost/|^bounded/capacity|^hash/md5`)}
	if testing.Short() {
		few.Only = regexp.MustCompile(`^moves/jump/10|^cost/jump/`)
	}
	check := func(o Options) []Result {
		t.Helper()
		found, err := Check(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	once := check(few)
	before := runtime.GOMAXPROCS(1)
	again := check(few)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("one core finds something else:\n%s", diff)
	}
	few.Seed = 8
	if other := check(few); cmp.Equal(once, other) {
		t.Error("another seed finds the same")
	}
}

func TestCheckRefuses(t *testing.T) {
	if _, err := Check(context.Background(), Options{Algorithms: builtin.All(), Only: regexp.MustCompile("nothing")}); !errors.Is(err, ErrNoClaim) {
		t.Errorf("a pattern that matches nothing: %v", err)
	}
	for _, id := range []string{"moves/jump/10-to-12", "uniform/jump/n=100"} {
		_, err := Check(context.Background(), Options{Algorithms: []algorithms.Info{ring.Info}, Seed: 1, Only: regexp.MustCompile(id)})
		if err == nil || !strings.HasPrefix(err.Error(), "claim "+id+": ") || !strings.Contains(err.Error(), `"jump"`) {
			t.Errorf("%s without jump: %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, id := range []string{"jump-paper/v=10/spread", "ring/spread/n=10/v=1$"} {
		if _, err := Check(ctx, Options{Algorithms: builtin.All(), Seed: 1, Only: regexp.MustCompile(id)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s when the context has ended: %v", id, err)
		}
	}
}

func TestTolerancesAreMadeOfWhatTheySay(t *testing.T) {
	e := estimate{value: 1.04, err: 0.01, one: 0.02, least: 0.9, most: 1.3}
	for _, c := range []struct {
		f         figure
		tolerance float64
		verdict   Verdict
	}{
		{formula("x", 1), 0.04, Reproduced},
		{formula("x", 0.99), 0.04, NotReproduced},
		{printed("1.0"), 0.09, Reproduced},
		{printed("1.00").within(0, ""), 0.04, Reproduced},
		{formula("x", 1.11).fromOne(), 0.08, Reproduced},
		{formula("x", 1.13).fromOne(), 0.08, NotReproduced},
		{formula("x", 1.29).peakOfOne(), 0.26, Reproduced},
		{formula("x", 0.89).peakOfOne(), 0.14, NotReproduced},
		{formula("x", 1.5).atMost(), 0.04, Reproduced},
		{formula("x", 0.9).atMost(), 0.04, NotReproduced},
		{formula("x", 1.5).atLeast(), 0.04, NotReproduced},
		{formula("x", 0.9).atLeast(), 0.04, Reproduced},
	} {
		claim := Claim{Published: c.f}
		r := claim.judge(e)
		if r.Verdict != c.verdict || !cmp.Equal(r.Tolerance, c.tolerance) {
			t.Errorf("%+v: %s, tolerance %v; want %s, %v", c.f, r.Verdict, r.Tolerance, c.verdict, c.tolerance)
		}
	}
	for text, want := range map[string]figure{
		"44,000": {value: 44000, half: 500}, "1.160": {value: 1.16, half: 0.0005}, "9%": {value: 0.09, half: 0.005},
		"7.83%": {value: 0.0783, half: 0.00005}, "10.23%": {value: 0.1023, half: 0.00005}, "889,000": {value: 889000, half: 500},
	} {
		got := printed(text)
		if d := got.half/want.half - 1; got.value != want.value || d > 1e-9 || d < -1e-9 {
			t.Errorf("%s is %v, half a unit %v; want %v, %v", text, got.value, got.half, want.value, want.half)
		}
	}
}

var update = flag.Bool("update", false, "write CLAIMS.md anew; takes a minute or two")

const page = "../CLAIMS.md"

// CLAIMS.md says what the table says, and where the claims are quickly checked also
// what is measured. `ringbench verify --markdown` writes it.
func TestThePageIsWhatVerifyWrites(t *testing.T) {
	if *update {
		found, err := Check(context.Background(), Options{Algorithms: builtin.All(), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(Page(found)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	again := regexp.MustCompile(`^(lesson|weights|labels|cost|least)/|^moves/(jump|modulo)|^zipf/peak|^hash/|^said/(wards|three|on-a|8-to-9/modulo)|^maglev/example|^jump-paper/v=10/|^lrh/down`)
	if testing.Short() {
		again = regexp.MustCompile(`^lesson/|^cost/jumpback/power|^lrh/down`)
	}
	measured, err := Check(context.Background(), Options{Algorithms: builtin.All(), Seed: 1, Only: again})
	if err != nil {
		t.Fatal(err)
	}
	var found []Result
	for _, c := range All() {
		r := c.blank()
		r.Verdict, r.Pass = r.Expected, true
		if r.Reason != "exact" {
			r.Tolerance = 1 // or it would read as none
		}
		if i := slices.IndexFunc(measured, func(m Result) bool { return m.ID == c.ID }); i >= 0 {
			r = measured[i]
		}
		found = append(found, r)
	}
	want, got := strings.Split(Page(found), "\n"), strings.Split(string(text), "\n")
	fresh := map[string]bool{}
	for _, r := range measured {
		fresh[row(r)] = true
		fresh[cells("`"+r.ID+"`", r.Source, r.Setup, toleranceText(r))] = true
	}
	for i, line := range want {
		if !fresh[line+"\n"] {
			want[i] = unmeasured(line)
			if i < len(got) {
				got[i] = unmeasured(got[i])
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("harness/CLAIMS.md is stale, run make claims (-want +got):\n%s", diff)
	}
}

var tolerance = regexp.MustCompile(`^(none|[0-9.e+,-]+): `)

// unmeasured takes out of a row of the page what was measured.
func unmeasured(line string) string {
	columns := strings.Split(line, " | ")
	if len(columns) != 4 {
		return line
	}
	if strings.HasPrefix(line, "| `") {
		columns[3] = tolerance.ReplaceAllString(columns[3], "")
	} else {
		columns[2] = ""
	}
	return strings.Join(columns, " | ")
}
