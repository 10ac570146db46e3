package whatif

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/rendezvous"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/weightedrendezvous"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/harness/audit"
	"github.com/ringbench/ringbench/workloads"
)

func question(info algorithms.Info, n, keys int, changes ...Change) Question {
	hash, _ := keyhash.ByName(keyhash.Default)
	q := Question{Info: info, Hash: hash, Changes: changes, Headroom: 0.25, Replicas: 1, Keys: workloads.Sequential(workloads.Prefix, 0, keys)}
	for i := range n {
		q.Nodes = append(q.Nodes, algorithms.Node{Name: fmt.Sprintf("node-%d", i), Weight: 1})
	}
	return q
}

func add(name string, weight float64) Change {
	return Change{workloads.AddNode, algorithms.Node{Name: name, Weight: weight}}
}

func remove(name string) Change {
	return Change{Op: workloads.RemoveNode, Node: algorithms.Node{Name: name}}
}

func reweight(name string, weight float64) Change {
	return Change{workloads.SetWeight, algorithms.Node{Name: name, Weight: weight}}
}

func ask(t testing.TB, q Question) *Answer {
	t.Helper()
	a, err := Ask(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// assigned writes what place would, for the audit.
func assigned(t *testing.T, p *harness.Placement, q Question) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assigned.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	defer w.Flush()
	fmt.Fprintln(w, "key,node")
	for rank := range q.Keys.Len() {
		key := q.Keys.Key(rank)
		fmt.Fprintf(w, "%s,%s\n", key, p.Nodes[p.NodeOf(p.Mapper.Lookup(q.Hash.OfKeys(p.Mapper)(key)))].Name)
	}
	return path
}

// What is said beforehand is what an audit of the two assignments finds, within
// what so many keys can tell. More keys
// say the same, closer.
func TestAnAuditFindsWhatWasSaidBeforehand(t *testing.T) {
	const keys = 30_000
	for sequence := range 10 {
		r := rand.New(rand.NewPCG(uint64(sequence), 7))
		q := question(ring.Info, 4+r.IntN(12), keys)
		for i := range q.Nodes {
			q.Nodes[i].Weight = float64(1 + r.IntN(3))
		}
		for i := range 1 + r.IntN(3) {
			switch r.IntN(3) {
			case 0:
				q.Changes = append(q.Changes, add(fmt.Sprintf("new-%d", i), float64(1+r.IntN(3))))
			case 1:
				q.Changes = append(q.Changes, remove(fmt.Sprintf("node-%d", i)))
			default:
				q.Changes = append(q.Changes, reweight(fmt.Sprintf("node-%d", i), float64(1+r.IntN(4))))
			}
		}
		a := ask(t, q)
		if !a.Exact || a.Sampled != 0 {
			t.Fatal("the shares of a ring are not exact")
		}
		s := &solver{q: &q}
		before, err := harness.NewPlacement(q.Info, q.Nodes, q.Params)
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.changed()
		if err != nil {
			t.Fatal(err)
		}
		report := func(old, now *harness.Placement) *audit.Report {
			r, err := audit.Ask(context.Background(), audit.Question{Before: assigned(t, old, q), File: assigned(t, now, q)})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		found := report(before, after)
		within := func(what string, said, found float64) {
			t.Helper()
			if tolerance := 5 * math.Sqrt(max(said*(1-said), 1e-4)/keys); math.Abs(said-found) > tolerance {
				t.Errorf("%v: %s is %v, and an audit finds %v", a.Changes, what, said, found)
			}
		}
		within("the moved part", a.Moved, *found.Moved)
		within("the disagreement", a.Disagreement, *found.Moved)
		share := map[string]float64{}
		for _, n := range found.PerNode {
			share[n.Node] = n.Share
		}
		for _, n := range a.PerNode {
			within("the share of "+n.Node, n.ShareAfter, share[n.Node])
		}
		flows := map[string]float64{}
		for _, f := range found.Flows {
			flows[f.From+" to "+f.To] = f.Share
		}
		for _, f := range a.Flows {
			within("what goes from "+f.From+" to "+f.To, f.Share, flows[f.From+" to "+f.To])
		}
		if a.Collateral != 0 {
			t.Errorf("%v: collateral %v on a ring", a.Changes, a.Collateral)
		}
	}
}

func TestNothingMovesNeedlesslyWhereTheAlgorithmPromisesIt(t *testing.T) {
	for _, info := range []algorithms.Info{ring.Info, rendezvous.Info, weightedrendezvous.Info} {
		a := ask(t, question(info, 10, 20_000, remove("node-3"), add("new", 1)))
		if a.Collateral != 0 {
			t.Errorf("%s: collateral %v", info.Name, a.Collateral)
		}
		if a.Failover == nil || *a.Failover <= 0 || *a.Failover >= 1 || a.Heir == "" {
			t.Errorf("%s: nobody takes what is left", info.Name)
		}
		if math.Abs(a.Minimum-0.1) > 1e-12 {
			t.Errorf("%s: minimum %v", info.Name, a.Minimum)
		}
	}
	a := ask(t, question(modulo.Info, 10, 20_000, add("new", 1)))
	if math.Abs(a.Moved-10./11) > 4**a.MovedError || a.Collateral < 0.7 {
		t.Errorf("modulo moves %v, %v of it needlessly", a.Moved, a.Collateral)
	}
}

// A sampled answer says so, and its error is the right one.
func TestSampledAnswersCarryTheirError(t *testing.T) {
	a := ask(t, question(jump.Info, 9, 40_000, add("new", 1)))
	if a.Exact || a.Sampled != 40_000 || a.MovedError == nil || a.Ranges != nil {
		t.Fatalf("exact %v, sampled %d, error %v", a.Exact, a.Sampled, a.MovedError)
	}
	if want := math.Sqrt(0.1 * 0.9 / 40_000); math.Abs(*a.MovedError-want) > want/10 || math.Abs(a.Moved-0.1) > 4*want {
		t.Errorf("moved %v +- %v, want 0.1 +- %v", a.Moved, *a.MovedError, want)
	}
}

// On a ring the death of a node is played on the points. The algorithm itself,
// asked death after death, says the same.
func TestTheWorstFailureIsThatOfTheAlgorithmItself(t *testing.T) {
	for _, headroom := range []float64{0.1, 0.25, 0.3, 0.6} {
		q := question(ring.Info, 8, 1000, remove("node-2"))
		q.Worst, q.Headroom = true, headroom
		q.Params = json.RawMessage(`{"vnodes": 40}`)
		fast := ask(t, q).Worst
		q.Info.PointCounts = nil // as if it were no ring
		if diff := cmp.Diff(ask(t, q).Worst, fast, cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })); diff != "" {
			t.Errorf("headroom %v (-algorithm +points):\n%s", headroom, diff)
		}
	}
}

func TestOverloadSpreads(t *testing.T) {
	q := question(rendezvous.Info, 4, 40_000, remove("node-0"))
	a := ask(t, q)
	if c := a.Cascade; len(c.Already) != 0 || len(c.Overloads) != 3 || len(c.Lost) != 3 || !c.All {
		t.Errorf("a quarter more cannot bear a third more: %+v", c)
	}
	q.Headroom = 0.4
	if c := ask(t, q).Cascade; len(c.Overloads) != 0 || len(c.Lost) != 0 || c.All {
		t.Errorf("0.4 more can: %+v", c)
	}
	// One node of three is above its capacity, and takes the others along.
	q = question(ring.Info, 3, 1000, reweight("node-0", 1))
	q.Params = json.RawMessage(`{"vnodes": 1}`)
	q.Headroom = 0
	c := ask(t, q).Cascade
	if len(c.Already) == 0 || !slices.Equal(c.Already, c.Overloads) || !c.All || len(c.Lost) != 3 {
		t.Errorf("without headroom: %+v", c)
	}
}

func TestRequestsAndMisses(t *testing.T) {
	q := question(ring.Info, 8, 50_000, add("new", 1))
	p, err := workloads.ParsePopularity("zipf:0.99", 50_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Popularity, q.Rate = p, 5000
	a := ask(t, q)
	s := &solver{q: &q}
	s.before, _ = harness.NewPlacement(q.Info, q.Nodes, q.Params)
	s.after, _ = s.changed()
	s.look()
	keys, load := 0.0, 0.0
	for rank, node := range s.was {
		if node != s.is[rank] {
			keys++
			load += p.P(rank)
		}
	}
	if a.Misses.Total != keys || math.Abs(a.Requests.Moved-load) > 1e-12 || math.Abs(a.Misses.Peak-load*5000) > 1e-6 {
		t.Errorf("misses %v of which %v in the first second, moved %v; want %v, %v, %v", a.Misses.Total, a.Misses.Peak, a.Requests.Moved, keys, load*5000, load)
	}
	if a.Requests.PeakBefore < p.P(0)*8 {
		t.Errorf("the busiest node has %v, less than the hottest key", a.Requests.PeakBefore)
	}
}

func TestReplicas(t *testing.T) {
	q := question(rendezvous.Info, 5, 5000, remove("node-0"), remove("node-1"))
	q.Replicas = 3
	r := ask(t, q).Replicas
	// Both leavers are among the three of a key with probability C(3,1)/C(5,3).
	if math.Abs(r.Exposure-0.3) > 5*r.ExposureError || *r.SetsBefore != 1 || r.MajoritySize != 2 {
		t.Errorf("%+v", r)
	}
	q.Changes = q.Changes[:1]
	if r := ask(t, q).Replicas; r.Exposure != 0 || math.Abs(r.Moved-0.2) > 0.03 {
		t.Errorf("one of five leaves: %+v", r)
	}
	q.Info = boundedring.Info
	if _, err := Ask(q); err == nil || !strings.Contains(err.Error(), "leave --replicas out") {
		t.Errorf("a bounded ring names several nodes: %v", err)
	}
}

func TestAsksThatDoNotFitAreRefused(t *testing.T) {
	for want, q := range map[string]Question{
		`--add node-1: it is a member already, --reweight node-1=W changes its weight`: question(ring.Info, 3, 10, add("node-1", 1)),
		`--remove node-7: no node "node-7", did you mean "node-0"?`:                    question(ring.Info, 3, 10, remove("node-7")),
		`--reweight x=2: no node "x", there are node-0, node-1`:                        question(ring.Info, 2, 10, reweight("x", 2)),
		`--add node-1: node "node-1" is in two changes, keep one`:                      question(ring.Info, 3, 10, remove("node-1"), add("node-1", 1)),
		`after the change: node "node-0" has weight 1 of 1e+300, too little to judge`:  question(ring.Info, 3, 10, add("new", 1e300)),
		`after the change: the weights add up to more than a number can hold`:          question(ring.Info, 3, 10, reweight("node-0", 1e308), add("new", 1e308)),
		`no node that takes keys would be left, keep one`:                              question(ring.Info, 1, 10, remove("node-0")),
		`what is to change? give --add`:                                                question(ring.Info, 3, 10),
		`--add new=2: jump: unsupported operation: node "new" has weight 2`:            question(jump.Info, 3, 10, add("new", 2)),
	} {
		_, err := Ask(q)
		if err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), strings.TrimPrefix(want, "--add new=2: jump: ")) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Every algorithm answers, whatever it can do, or says in one line why not.
func TestEveryAlgorithmAnswers(t *testing.T) {
	for _, info := range builtin.All() {
		q := question(info, 5, 2000, add("new", 1))
		if strings.HasPrefix(info.Name, "control") || info.Name == "one-read" {
			continue // they measure the harness
		}
		q.Worst = true
		a, err := Ask(q)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", info.Name, err)
			}
			t.Logf("%s: %v", info.Name, err)
			continue
		}
		sum := 0.0
		for _, f := range a.Flows {
			sum += f.Share
		}
		if math.Abs(sum-a.Moved) > 1e-9 || a.Before.Nodes != 5 || a.After.Nodes != 6 || a.Worst.Nodes != 6 {
			t.Errorf("%s: flows of %v for %v moved, %+v, %+v", info.Name, sum, a.Moved, a.Before, a.Worst)
		}
	}
	if !ask(t, question(boundedring.Info, 3, 100, add("x", 1))).Bounded {
		t.Error("bounded-ring does not say that this is about first choices")
	}
}
