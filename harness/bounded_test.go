package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedrandomjump"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

const boundedSpec = `
nodes = [10]
keys = "seq:key-:0:5000"
[[contestant]]
algorithm = "bounded-ring"
params = { expected = 2000 }
[[contestant]]
algorithm = "bounded-random-jump"
params = { expected = 2000 }
[[experiment]]
name = "static"
measures = ["bounded", "bounded-movement"]
popularity = ["zipf:1.2"]
schedules = ["add-one", "remove-one"]
requests = 2000
sweep = { epsilon = [0.1, 5.0] }
[[experiment]]
name = "dynamic"
measures = ["bounded"]
popularity = ["zipf:1.2"]
requests = 2000
outstanding = 500
sweep = { epsilon = [0.1] }
`

func TestBoundedStreamsAreKeptApartAndTold(t *testing.T) {
	sink, _ := mustRun(t, mustPlan(t, boundedSpec, boundedring.Info, boundedrandomjump.Info))
	at := map[[4]string]map[string]float64{}
	for _, tr := range sink.trials {
		if tr.Skip != "" {
			t.Errorf("%s: %s", tr.Cell, tr.Skip)
		}
		at[[4]string{tr.Experiment, tr.Algorithm, tr.Schedule, results.Param(tr.Params, "epsilon")}] = tr.Values
	}
	if len(at) != 14 {
		t.Fatalf("%d cells, want 14", len(at))
	}
	for _, algorithm := range []string{"bounded-ring", "bounded-random-jump"} {
		tight, loose := at[[4]string{"static", algorithm, "", "0.1"}], at[[4]string{"static", algorithm, "", "5"}]
		// A stream with one key in five requests, under a bound of 1.1 times the mean.
		if tight["load-peak"] > 1.1+1e-9 || tight["full-fraction"] == 0 || tight["hot-key-nodes"] < 2 || tight["spill-fraction"] < 0.1 {
			t.Errorf("%s, epsilon 0.1: %v", algorithm, tight)
		}
		if tight["stickiness-lost"] == 0 || loose["stickiness-lost"] != 0 || loose["spill-fraction"] != 0 || loose["hot-key-nodes"] != 1 {
			t.Errorf("%s: epsilon 0.1 %v, epsilon 5 %v", algorithm, tight, loose)
		}
		if dynamic := at[[4]string{"dynamic", algorithm, "", "0.1"}]; dynamic["load-peak"] == tight["load-peak"] {
			t.Errorf("%s: requests that end change nothing: %v", algorithm, dynamic)
		}
		for _, c := range []struct {
			schedule, epsilon string
			before, after     float64
			least             float64
		}{
			{"add-one", "0.1", 220, 200, 1. / 11}, // 2200/10, 2200/11
			{"remove-one", "0.1", 220, 245, 1. / 10},
			{"add-one", "5", 1200, 1091, 1. / 11},
			{"remove-one", "5", 1200, 1334, 1. / 10},
		} {
			v := at[[4]string{"static", algorithm, c.schedule, c.epsilon}]
			if v["capacity-before"] != c.before || v["capacity-after"] != c.after {
				t.Errorf("%s, %s, epsilon %s: capacity %v and then %v, want %v and %v",
					algorithm, c.schedule, c.epsilon, v["capacity-before"], v["capacity-after"], c.before, c.after)
			}
			if math.Abs(v["moved-minimum"]-c.least) > 1e-9 || v["moved-fraction"] <= 0 {
				t.Errorf("%s, %s, epsilon %s: %v", algorithm, c.schedule, c.epsilon, v)
			}
			// Far below the bound a change is what it is without one.
			if (v["collateral-fraction"] == 0) != (c.epsilon == "5") {
				t.Errorf("%s, %s, epsilon %s: collateral %v", algorithm, c.schedule, c.epsilon, v["collateral-fraction"])
			}
		}
	}
}

// A ledger is a bounded algorithm without a hash: the first choice of h is the node
// h mod n, or the next one that may own keys, and a request goes on to the next node
// that has room. It keeps a log of what it was asked. All arithmetic is of whole
// numbers, so that a test can do it again.
type ledger struct {
	ledgerConfig
	nodes  []algorithms.Node // by bucket; one without a name is unbound
	load   []int
	total  int
	asked  int
	log    []entry
	joined []algorithms.Node // those that New was given
}

type ledgerConfig struct {
	Tenths int    `json:"tenths"` // a node may hold so many tenths of its fair part
	Fault  string `json:"fault"`
}

// An entry of the log: '+' a request placed, '-' one released, 'J' a node joins, 'L'
// a node leaves.
type entry struct {
	kind   byte
	h      uint64
	node   string // "" for nowhere
	passed int    // full nodes, and those only
}

func (l *ledger) Len() int {
	return len(slices.DeleteFunc(slices.Clone(l.nodes), func(n algorithms.Node) bool { return n.Name == "" }))
}

func (l *ledger) weight() (sum int) {
	for _, n := range l.nodes {
		sum += int(n.Weight)
	}
	return sum
}

func (l *ledger) room(b int) int {
	whole := 10 * l.weight()
	return (l.Tenths*(l.total+1)*int(l.nodes[b].Weight) + whole - 1) / whole
}

func (l *ledger) Lookup(h uint64) algorithms.Bucket {
	for i := range l.nodes {
		if b := (int(h%uint64(len(l.nodes))) + i) % len(l.nodes); l.nodes[b].Weight > 0 {
			return algorithms.Bucket(b)
		}
	}
	return algorithms.None
}

func (l *ledger) assign(h uint64) (b algorithms.Bucket, passed int) {
	b = algorithms.None
	l.asked++
	for i := range l.nodes {
		at := (int(h%uint64(len(l.nodes))) + i) % len(l.nodes)
		if l.nodes[at].Weight == 0 {
			continue
		}
		if l.load[at] < l.room(at) || l.Fault == "overfills" && l.asked%7 == 0 {
			b = algorithms.Bucket(at)
			break
		}
		passed++
	}
	e := entry{kind: '+', h: h, passed: passed}
	if b >= 0 {
		e.node = l.nodes[b].Name
		l.load[b]++
		l.total++
	}
	l.log = append(l.log, e)
	return b, passed
}

func (l *ledger) Assign(h uint64) (algorithms.Bucket, bool) {
	b, passed := l.assign(h)
	return b, passed == 0 || b < 0 && l.Fault == "shrugs"
}

func (l *ledger) Release(b algorithms.Bucket) {
	l.load[b]--
	l.total--
	l.log = append(l.log, entry{kind: '-', node: l.nodes[b].Name})
}

func (l *ledger) Add(n algorithms.Node) (algorithms.Bucket, error) {
	l.log = append(l.log, entry{kind: 'J', node: n.Name})
	b := slices.IndexFunc(l.nodes, func(n algorithms.Node) bool { return n.Name == "" })
	if b < 0 {
		b = len(l.nodes)
		l.nodes, l.load = append(l.nodes, n), append(l.load, 0)
	}
	l.nodes[b] = n
	l.joined = append(l.joined, n)
	return algorithms.Bucket(b), nil
}

func (l *ledger) Remove(b algorithms.Bucket) error {
	l.log = append(l.log, entry{kind: 'L', node: l.nodes[b].Name})
	l.nodes[b] = algorithms.Node{}
	return nil
}

// A tellingLedger tells its loads as well, and a steppingLedger its steps.
type tellingLedger struct{ *ledger }

func (l tellingLedger) Load(b algorithms.Bucket) (int, int) {
	load := l.load[b]
	if l.Fault == "miscounts" && load%5 == 3 {
		load--
	}
	return load, l.room(int(b))
}

type steppingLedger struct{ tellingLedger }

func (l steppingLedger) AssignSteps(h uint64) (algorithms.Bucket, int) { return l.assign(h) }

// ledgers defines the three and collects those that were made.
func ledgers() (infos []algorithms.Info, made func() []*ledger) {
	var mu sync.Mutex
	var all []*ledger
	build := func(nodes []algorithms.Node, c ledgerConfig) *ledger {
		l := &ledger{ledgerConfig: c, nodes: slices.Clone(nodes), load: make([]int, len(nodes)), joined: slices.Clone(nodes)}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, l)
		return l
	}
	infos = []algorithms.Info{
		algorithms.Define("ledger", "a fake", ledgerConfig{11, ""}, func(n []algorithms.Node, c ledgerConfig) (*ledger, error) {
			return build(n, c), nil
		}),
		algorithms.Define("telling", "a fake", ledgerConfig{11, ""}, func(n []algorithms.Node, c ledgerConfig) (tellingLedger, error) {
			return tellingLedger{build(n, c)}, nil
		}),
		algorithms.Define("stepping", "a fake", ledgerConfig{11, ""}, func(n []algorithms.Node, c ledgerConfig) (steppingLedger, error) {
			return steppingLedger{tellingLedger{build(n, c)}}, nil
		}),
	}
	return infos, func() []*ledger {
		return slices.DeleteFunc(slices.Clone(all), func(l *ledger) bool { return l.asked == 0 })
	}
}

// An asked is an event of the stream as FORMAT and the package workloads describe it: a key is
// asked for, or an earlier request, by its number, ends.
type asked struct {
	ends    bool
	rank    int
	request int
}

// streamByHand makes the stream anew: the generator is PCG with the first 16 bytes
// of the SHA-256 of the seed and of the parts after their lengths; each request
// draws a key and, where requests end, the time for which it holds.
func streamByHand(seed uint64, workload string, p *workloads.Popularity, count, outstanding int) (events []asked) {
	text := binary.LittleEndian.AppendUint64(nil, seed)
	for _, part := range []string{workload, "requests"} {
		text = append(binary.LittleEndian.AppendUint64(text, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(text)
	r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
	ends := map[int][]int{} // by time
	for now := range count {
		for _, request := range ends[now] {
			events = append(events, asked{ends: true, request: request})
		}
		events = append(events, asked{rank: p.Sample(r), request: now})
		if outstanding > 0 {
			u := (float64(r.Uint64()>>11) + 1) / (1 << 53)
			end := now + 1
			if outstanding > 1 {
				end += int(math.Log(u) / math.Log(1-1/float64(outstanding)))
			}
			ends[end] = append(ends[end], now)
		}
	}
	return events
}

// replay checks that the ledger was asked for the events and, after those, to
// release all that was left, and returns where each request went.
func replay(t *testing.T, log []entry, events []asked, hashes []uint64) (where []entry) {
	t.Helper()
	held := map[string]int{}
	for _, ev := range events {
		if ev.ends {
			node := where[ev.request].node
			if node == "" {
				continue
			}
			if len(log) == 0 || log[0].kind != '-' || log[0].node != node {
				t.Fatalf("request %d does not end on %s: %v", ev.request, node, log[:min(1, len(log))])
			}
			held[node]--
		} else {
			if len(log) == 0 || log[0].kind != '+' || log[0].h != hashes[ev.rank] {
				t.Fatalf("request %d is not for the key of rank %d: %v", ev.request, ev.rank, log[:min(1, len(log))])
			}
			if where = append(where, log[0]); log[0].node != "" {
				held[log[0].node]++
			}
		}
		log = log[1:]
	}
	for _, e := range log {
		if held[e.node]--; e.kind != '-' || held[e.node] < 0 {
			t.Fatalf("after the last request: %c %s", e.kind, e.node)
		}
	}
	for node, n := range held {
		if n != 0 {
			t.Fatalf("%d requests stay on %s for ever", n, node)
		}
	}
	return where
}

// spreadByHand returns the standard deviation and the largest of the loads over
// their fair parts.
func spreadByHand(held map[string]int, members []algorithms.Node) (cv, peak float64) {
	total, weights, n := 0, 0.0, 0.0
	for _, m := range members {
		total, weights = total+held[m.Name], weights+m.Weight
		if m.Weight > 0 {
			n++
		}
	}
	for _, m := range members {
		if m.Weight > 0 {
			x := float64(held[m.Name]) * weights / m.Weight / float64(total)
			cv, peak = cv+(x-1)*(x-1)/n, max(peak, x)
		}
	}
	return math.Sqrt(cv), peak
}

const ledgerSpec = `
seed = %d
nodes = [6]
keys = "seq:key-:0:300"
[[contestant]]
algorithm = "%s"
weights = "%s"
params = { tenths = %d, fault = "%s" }
[[experiment]]
name = "x"
measures = ["%s"]
popularity = ["%s"]
requests = %d
outstanding = %d
%s
`

func ledgerHashes() (hashes []uint64) {
	h, err := keyhash.ByName("xxh3")
	if err != nil {
		panic(err)
	}
	for i := range 300 {
		hashes = append(hashes, h.Position(fmt.Sprint("key-", i)))
	}
	return hashes
}

// The whole measure done again from the log of what was asked and answered.
func TestBoundedIsTheSumOfItsRequests(t *testing.T) {
	for i, c := range []struct {
		algorithm, weights    string
		tenths                int
		fault, popularity     string
		requests, outstanding int
	}{
		{"ledger", "1", 11, "", "uniform", 900, 0},
		{"telling", "1", 13, "", "zipf:1.1", 900, 0},
		{"stepping", "3:1:0:2", 11, "", "zipf:1.1", 900, 40},
		{"stepping", "1", 11, "", "latest", 0, 0}, // as many requests as keys; the hottest is the last
		{"telling", "3:1:0:2", 12, "overfills", "uniform", 700, 60},
		{"telling", "1", 12, "miscounts", "uniform", 700, 60},
		{"telling", "1", 5, "", "uniform", 400, 20}, // no room for all
		{"ledger", "1", 5, "shrugs", "uniform", 400, 20},
		{"ledger", "1", 11, "", "uniform", 200, 1},
		{"telling", "1", 11, "", "uniform", 2, 0}, // most nodes never get a request
	} {
		for _, seed := range []uint64{1, 2, 77} {
			name := fmt.Sprintf("case %d, seed %d", i, seed)
			infos, made := ledgers()
			sink, _ := mustRun(t, mustPlan(t, fmt.Sprintf(ledgerSpec, seed, c.algorithm, c.weights, c.tenths, c.fault, "bounded", c.popularity, c.requests, c.outstanding, ""), infos...))
			if len(sink.trials) != 1 || len(made()) != 1 {
				t.Fatalf("%s: %d trials, %d ledgers", name, len(sink.trials), len(made()))
			}
			tr, l := sink.trials[0], made()[0]
			p, err := workloads.ParsePopularity(c.popularity, 300, nil)
			if err != nil {
				t.Fatal(err)
			}
			events := streamByHand(seed, "seq:key-:0:300+"+c.popularity, p, cmp.Or(c.requests, 300), c.outstanding)
			where := replay(t, l.log, events, ledgerHashes())

			hottest := map[string]int{"uniform": 0, "zipf:1.1": 0, "latest": 299}[c.popularity]
			held, last, hot := map[string]int{}, map[int]string{}, map[string]bool{}
			want := map[string]float64{"spill-fraction": 0, "stickiness-lost": 0}
			arrived := float64(len(where))
			total := 0
			room := func(n algorithms.Node, requests int) int {
				return int(math.Ceil(float64(c.tenths*requests*int(n.Weight))/float64(10*l.weight()) - 1e-9))
			}
			tells, violations, steps := c.algorithm != "ledger", 0.0, 0.0
			for _, ev := range events {
				at := where[ev.request]
				if ev.ends {
					if at.node != "" {
						held[at.node]--
						total--
					}
					continue
				}
				if steps += float64(at.passed); at.passed > 0 || at.node == "" {
					want["spill-fraction"] += 1 / arrived
				}
				if before, asked := last[ev.rank]; asked && before != at.node {
					want["stickiness-lost"] += 1 / arrived
				}
				if last[ev.rank] = at.node; at.node == "" {
					continue
				}
				held[at.node]++
				total++
				if ev.rank == hottest {
					hot[at.node] = true
				}
				node := l.nodes[slices.IndexFunc(l.nodes, func(n algorithms.Node) bool { return n.Name == at.node })]
				if held[at.node] > room(node, total+1) || c.fault == "miscounts" && held[at.node]%5 == 3 {
					violations++
				}
			}
			want["hot-key-nodes"] = float64(len(hot))
			want["load-cv"], want["load-peak"] = spreadByHand(held, l.nodes)
			if tells {
				full, able := 0.0, 0.0
				for _, n := range l.nodes {
					if n.Weight > 0 {
						able++
						if held[n.Name] >= room(n, total) {
							full++
						}
					}
				}
				want["full-fraction"], want["bound-violations"] = full/able, violations
			}
			if c.algorithm == "stepping" {
				want["extra-steps"] = steps / arrived
			}
			if len(tr.Values) != len(want) {
				t.Errorf("%s: values %v, want %v", name, tr.Values, want)
			}
			for metric, w := range want {
				if got, ok := tr.Values[metric]; !ok || math.Abs(got-w) > 1e-9 {
					t.Errorf("%s: %s %v, want %v", name, metric, got, w)
				}
			}
			if (violations > 0) != (c.fault == "overfills" || c.fault == "miscounts") {
				t.Errorf("%s: %v violations with the fault %q", name, violations, c.fault)
			}
			for b, n := range l.nodes {
				if loads := tr.Series["loads"]; len(loads) != 6 || loads[b] != float64(held[n.Name]) {
					t.Fatalf("%s: loads %v, want those of %v", name, loads, held)
				}
			}
			for _, field := range []string{fmt.Sprint("/requests=", c.requests), fmt.Sprint("/outstanding=", c.outstanding)} {
				if strings.Contains(tr.Cell, field) == strings.HasSuffix(field, "=0") {
					t.Errorf("%s: cell %s", name, tr.Cell)
				}
			}
		}
	}
}

// Seeds differ in their requests and not only in the names of the nodes; all
// contestants face the same ones. The vectors for figures are those of the first.
func TestEachSeedHasRequestsOfItsOwnTheSameForAll(t *testing.T) {
	infos, made := ledgers()
	spec := fmt.Sprintf(ledgerSpec, 5, "ledger", "1", 11, "", "bounded", "uniform", 200, 0, "seeds = 3") +
		"[[contestant]]\nalgorithm = \"stepping\"\n[[contestant]]\nalgorithm = \"telling\"\nparams = { tenths = 20 }\n"
	sink, _ := mustRun(t, mustPlan(t, spec, infos...))
	streams := map[string]int{}
	for _, l := range made() {
		var s strings.Builder
		for _, e := range l.log[:200] {
			fmt.Fprintf(&s, "%x ", e.h)
		}
		streams[s.String()]++
	}
	if len(sink.trials) != 9 || len(streams) != 3 {
		t.Errorf("%d trials and %d different streams, want 9 and one a seed", len(sink.trials), len(streams))
	}
	for _, n := range streams {
		if n != 3 {
			t.Errorf("%d contestants face a stream, want all three", n)
		}
	}
	digests := map[string]bool{}
	for _, tr := range sink.trials {
		digests[tr.Check] = true
		if (tr.Series != nil) != (tr.Seed == 5) {
			t.Errorf("%s, seed %d: series %v", tr.Cell, tr.Seed, tr.Series)
		}
	}
	if len(digests) != 6 { // of two contestants with one rule and one with more room
		t.Errorf("%d different digests, want 6", len(digests))
	}
}

// Owners that differ in the last request alone have another digest.
func TestTheDigestOfBoundedIsOfAllRequests(t *testing.T) {
	digest := func(requests int) string {
		infos, _ := ledgers()
		sink, _ := mustRun(t, mustPlan(t, fmt.Sprintf(ledgerSpec, 5, "ledger", "1", 11, "", "bounded", "uniform", requests, 0, ""), infos...))
		return sink.trials[0].Check
	}
	if digest(200) == digest(201) {
		t.Error("one more request leaves the digest as it was")
	}
}

func TestTheHottestKeyIsTheFirstOfThoseAskedForMost(t *testing.T) {
	for _, tt := range []struct {
		counts []float64
		want   int
	}{{[]float64{1, 3, 2, 3}, 1}, {[]float64{0, 0, 7}, 2}, {[]float64{4, 1}, 0}, {[]float64{2}, 0}} {
		if got := hottest(workloads.Counts(tt.counts)); got != tt.want {
			t.Errorf("of %v the hottest is %d, want %d", tt.counts, got, tt.want)
		}
	}
}

// The movement of requests done again from the log: the same requests before each
// step and after it, all placed anew, by the names of the nodes.
func TestBoundedMovementComparesWhereTheSameRequestsWent(t *testing.T) {
	const requests = 300
	for i, c := range []struct {
		algorithm, weights string
		tenths             int
		schedule           string
		steps              int
	}{
		{"telling", "1", 11, "add-one", 1},
		{"telling", "3:1:0:2", 11, "remove-one", 1},
		{"stepping", "3:1:0:2", 11, "rolling", 6},
		{"telling", "2:1", 11, "remove-each", 6},
		{"telling", "1", 5, "grow:2", 1},
		{"ledger", "1", 11, "remove:2", 1}, // tells no capacity
	} {
		for _, seed := range []uint64{1, 9} {
			name := fmt.Sprintf("case %d, seed %d", i, seed)
			infos, made := ledgers()
			sink, _ := mustRun(t, mustPlan(t, fmt.Sprintf(ledgerSpec, seed, c.algorithm, c.weights, c.tenths, "", "bounded-movement", "zipf:1.1", requests, 0, fmt.Sprintf("schedules = [%q]", c.schedule)), infos...))
			p, err := workloads.ParsePopularity("zipf:1.1", 300, nil)
			if err != nil {
				t.Fatal(err)
			}
			events := streamByHand(seed, "seq:key-:0:300+zipf:1.1", p, requests, 0)
			want := map[string]float64{}
			steps := 0.0
			failover, removed := 0.0, false
			// Where each step starts from the beginning there is a ledger for each.
			if independent := c.schedule == "remove-each"; independent && len(made()) != c.steps || !independent && len(made()) != 1 {
				t.Fatalf("%s: %d ledgers for %d steps", name, len(made()), c.steps)
			}
			for _, l := range made() {
				weight, members := map[string]float64{}, map[string]float64{}
				for _, n := range l.joined {
					weight[n.Name] = n.Weight
				}
				for _, n := range l.nodes[:6] {
					members[n.Name] = n.Weight
				}
				// Back to the members of the beginning.
				for _, e := range slices.Backward(l.log) {
					switch e.kind {
					case 'J':
						delete(members, e.node)
					case 'L':
						members[e.node] = weight[e.node]
					}
				}
				delete(members, "")
				var before []entry
				var were map[string]float64
				for log := l.log; len(log) > 0; {
					n := slices.IndexFunc(log, func(e entry) bool { return e.kind == 'J' || e.kind == 'L' })
					if n < 0 {
						n = len(log)
					}
					after := replay(t, log[:n], events, ledgerHashes())
					capacity := 0
					if c.algorithm != "ledger" {
						whole, placed := 0.0, 0
						for _, w := range members {
							whole += w
						}
						for _, e := range after {
							if e.node != "" {
								placed++
							}
						}
						for _, w := range members {
							capacity = max(capacity, int(math.Ceil(float64(c.tenths*placed)*w/(10*whole)-1e-9)))
						}
					}
					if before != nil {
						steps++
						want["capacity-after"] += float64(capacity)
						compareByHand(before, after, were, members, want)
						for node := range were {
							if _, stays := members[node]; !stays {
								if part := heaviest(before, after, node); part > 0 {
									failover, removed = max(failover, part), true
								}
							}
						}
					}
					if n < len(log) {
						want["capacity-before"] += float64(capacity)
					}
					before, were = after, map[string]float64{}
					for node, w := range members {
						were[node] = w
					}
					for log = log[n:]; len(log) > 0 && (log[0].kind == 'J' || log[0].kind == 'L'); log = log[1:] {
						if log[0].kind == 'J' {
							members[log[0].node] = weight[log[0].node]
						} else {
							delete(members, log[0].node)
						}
					}
				}
			}
			if int(steps) != c.steps {
				t.Fatalf("%s: %v steps, want %d", name, steps, c.steps)
			}
			for metric := range want {
				want[metric] /= steps
			}
			want["disruption"] = want["moved-fraction"] - want["moved-minimum"]
			if removed {
				want["failover-peak"] = failover
			}
			got := sink.trials[0].Values
			if len(got) != len(want) {
				t.Errorf("%s: values %v, want %v", name, got, want)
			}
			for metric, w := range want {
				if v, ok := got[metric]; !ok || math.Abs(v-w) > 1e-9 {
					t.Errorf("%s: %s %v, want %v", name, metric, v, w)
				}
			}
		}
	}
}

// compareByHand adds what moved between two placements of the same requests.
func compareByHand(before, after []entry, were, are, sum map[string]float64) {
	of := func(members map[string]float64, node string) float64 {
		total := 0.0
		for _, w := range members {
			total += w
		}
		return members[node] / total
	}
	for _, metric := range []string{"moved-fraction", "collateral-fraction", "moved-minimum"} {
		sum[metric] += 0 // there, even when nothing moves
	}
	for i := range before {
		if from, to := before[i].node, after[i].node; from != to {
			sum["moved-fraction"] += 1 / float64(len(before))
			if from != "" && to != "" && were[from] == are[from] && were[to] == are[to] {
				sum["collateral-fraction"] += 1 / float64(len(before))
			}
		}
	}
	for node := range are {
		sum["moved-minimum"] += max(0, of(are, node)-of(were, node))
	}
}

// heaviest returns the largest part of a node's requests that one other takes.
func heaviest(before, after []entry, node string) float64 {
	taken, all := map[string]float64{}, 0.0
	for i := range before {
		if before[i].node == node {
			taken[after[i].node]++
			all++
		}
	}
	most := 0.0
	for _, n := range taken {
		most = max(most, n/all)
	}
	return most
}

func TestWhatHasNoBoundIsSkippedWithItsReason(t *testing.T) {
	sink, _ := mustRun(t, mustPlan(t, `
nodes = [4]
keys = "seq:10"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "x"
measures = ["bounded", "bounded-movement"]
schedules = ["add-one"]
`))
	for _, tr := range sink.trials {
		if !strings.Contains(tr.Skip, "modulo does not place requests under a bound") || len(tr.Values) > 0 {
			t.Errorf("%s: skip %q, values %v", tr.Cell, tr.Skip, tr.Values)
		}
	}
	if len(sink.trials) != 2 {
		t.Errorf("%d trials, want 2", len(sink.trials))
	}
}
