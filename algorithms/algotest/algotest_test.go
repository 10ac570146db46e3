package algotest

import (
	"encoding/json"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

type bucket = algorithms.Bucket

// table is a correct algorithm that can list its cells. Its positions are too
// few for a balance that chi-square passes.
type table struct {
	*good
	cells func(space uint64, yield func(uint64, bucket) bool)
}

func newTable(g *good) table {
	g.space = 1 << 14
	t := table{good: g}
	t.cells = func(space uint64, yield func(uint64, bucket) bool) {
		for p := range space {
			if b := g.Lookup(p); b != algorithms.None && !yield(p, b) {
				return
			}
		}
	}
	return t
}

func (t table) Clone() algorithms.Mapper { return newTable(t.good.Clone().(*good)) }

func (t table) Cells() (uint64, iter.Seq2[uint64, bucket]) {
	return t.space, func(yield func(uint64, bucket) bool) { t.cells(t.space, yield) }
}

func TestACorrectAlgorithmPassesEveryCheck(t *testing.T) {
	pointless := []string{"odd-parameters-are-refused-or-work", "points-are-scattered"} // see the circle
	info := fake(func(g *good) *good { return g })
	for _, r := range Run(info) {
		if r.Err != nil || (r.Skip != "") != (r.Name == "cells-agree-with-lookup" || slices.Contains(pointless, r.Name)) {
			t.Errorf("good: %s: error %v, skip %q", r.Name, r.Err, r.Skip)
		}
	}
	withCells := fake(newTable).Declining(algorithms.Balance)
	for _, r := range Run(withCells) {
		declined := strings.HasPrefix(r.Skip, "declines balance: ")
		if r.Err != nil || (r.Skip != "" && !declined && !slices.Contains(pointless, r.Name)) {
			t.Errorf("table: %s: error %v, skip %q", r.Name, r.Err, r.Skip)
		}
	}
}

// Every check must catch a fake with the fault that it is there for; most of the
// faults were found in published libraries.
func TestEachCheckCatchesItsFault(t *testing.T) {
	faults := []struct {
		check, fault string
		info         algorithms.Info
	}{
		{"parameters-round-trip", "an unknown parameter is passed over", ignoringParameters()},
		{"parameters-round-trip", "other parameters are reported than those in force", misreporting()},
		{"odd-parameters-are-refused-or-work", "a table whose size is no prime is filled for ever", tables()},
		{"odd-parameters-are-refused-or-work", "fewer slots than nodes are indexed beyond", smallTables()},
		{"bad-nodes-are-refused", "repeated names are passed over", forgiving()},
		{"same-input-same-owners", "each build draws a salt", salting()},
		{"same-input-same-owners", "points on one position are sorted as they come out of a map", drawn(unordered)},
		{"points-are-scattered", "similar labels have similar checksums", drawn(linear)},
		{"all-of-a-hash-counts", "the halves of the hash are combined", fake(func(g *good) combined { return combined{g} })},
		{"all-of-a-hash-counts", "the halves of the hash are added", fake(func(g *good) added { return added{g} })},
		{"hashes-of-32-bits-spread-alike", "it divides and takes a widened hash", fake(func(g *good) divides { return divides{g} })},
		{"hashes-of-32-bits-spread-alike", "it takes a number and uses its upper bits", fake(func(g *good) topBits { return topBits{g} })},
		{"owners-are-members", "the last hash is given an index beyond the nodes", fake(func(g *good) overIndex { return overIndex{g} })},
		{"every-node-is-reachable", "the last node is never chosen", fake(func(g *good) neverLast { return neverLast{g} })},
		{"shares-follow-the-weights", "one key in ten goes to the first node", fake(func(g *good) partial { return partial{g} })},
		{"shares-follow-the-weights", "weights are passed over", fake(func(g *good) *good {
			g.weight = func(float64) float64 { return 1 }
			return g
		})},
		{"second-choices-are-balanced", "the second choice is the next bucket", fake(func(g *good) nextBucket { return nextBucket{g} })},
		{"weight-zero-owns-nothing", "a node has at least a small weight", fake(func(g *good) *good {
			g.weight = func(w float64) float64 { return max(w, 0.01) }
			return g
		})},
		{"order-of-nodes-does-not-matter", "the place in the list is what a node is known by", fake(func(g *good) *good {
			g.seed = func(b bucket) uint64 { return uint64(b+1) * 0x9e3779b97f4a7c15 }
			return g
		})},
		{"order-of-nodes-does-not-matter", "the last point on a position owns it", drawn(crowded)},
		{"order-of-nodes-does-not-matter", "the index runs into the name", drawn(indexed)},
		{"history-does-not-matter", "a removal leaves a trace", fake(func(g *good) traces { return traces{g} })},
		{"add-moves-only-to-the-new-node", "owners depend on the number of nodes", fake(func(g *good) countSalted { return countSalted{g} })},
		{"add-moves-only-to-the-new-node", "Add moves what a new build would not", fake(func(g *good) addSalted { return addSalted{g} })},
		{"add-moves-only-to-the-new-node", "a node's points are a part of all", drawn(relative)},
		{"add-moves-only-to-the-new-node", "points are counted in single precision", drawn(single)},
		{"remove-moves-only-from-the-old-node", "Remove always panics", fake(func(g *good) removePanics { return removePanics{g} })},
		{"remove-moves-only-from-the-old-node", "points of another go with the node's", drawn(indexed)},
		{"remove-moves-only-from-the-old-node", "owners depend on the number of nodes", fake(func(g *good) countSalted { return countSalted{g} })},
		{"reweight-moves-only-to-or-from-its-node", "weights are rounded to parts of their sum", fake(func(g *good) *good {
			g.weight = func(w float64) float64 { return float64(int(20 * w / g.members.TotalWeight())) }
			return g
		})},
		{"add-then-remove-changes-nothing", "points that were covered are lost", drawn(crowded)},
		{"add-then-remove-changes-nothing", "a removal leaves a trace", fake(func(g *good) traces { return traces{g} })},
		{"buckets-stay-bound", "a removed bucket is still named", fake(func(g *good) *haunted { return &haunted{good: g, gone: algorithms.None} })},
		{"buckets-stay-bound", "Add gives a bucket that is taken", fake(func(g *good) taken { return taken{g} })},
		{"wrong-adds-are-refused", "a member is added twice", fake(func(g *good) addsTwice { return addsTwice{g} })},
		{"wrong-adds-are-refused", "a member that is added twice counts double", fake(func(g *good) doubles { return doubles{g} })},
		{"wrong-adds-are-refused", "a member that is added twice is counted twice", fake(func(g *good) *miscounts { return &miscounts{good: g} })},
		{"wrong-adds-are-refused", "a refused Add changes the placement", fake(func(g *good) addSalted { return addSalted{g} })},
		{"wrong-removals-are-refused", "removing what is absent succeeds", fake(func(g *good) removesAbsent { return removesAbsent{g} })},
		{"wrong-removals-are-refused", "removing what is absent removes another", fake(func(g *good) removesAnother { return removesAnother{g} })},
		{"wrong-removals-are-refused", "removing what is absent moves keys", fake(func(g *good) absentMoves { return absentMoves{g} })},
		{"wrong-weights-are-refused", "a weight that is no number is taken", fake(func(g *good) anyWeight { return anyWeight{g} })},
		{"empty-answers-none", "an empty cluster is indexed", fake(func(g *good) emptyPanics { return emptyPanics{g} })},
		{"empty-answers-none", "an empty cluster is searched for ever", fake(func(g *good) endless { return endless{g} })},
		{"weight-zero-owns-nothing", "a cluster without weight is searched for ever", fake(func(g *good) endless { return endless{g} })},
		{"empty-answers-none", "an empty cluster answers bucket 0", fake(func(g *good) emptyZero { return emptyZero{g} })},
		{"replicas-are-distinct-and-owner-first", "replicas repeat", fake(func(g *good) repeats { return repeats{g} })},
		{"replicas-are-distinct-and-owner-first", "the owner is not first", fake(func(g *good) ownerLast { return ownerLast{g} })},
		{"replicas-are-distinct-and-owner-first", "fewer are returned than there are", fake(func(g *good) atMostTwo { return atMostTwo{g} })},
		{"replicas-take-every-zone-first", "zones are passed over", fake(func(g *good) zoneBlind { return zoneBlind{g} })},
		{"replicas-take-every-zone-first", "the third replica is near the second", fake(func(g *good) zonePairs { return zonePairs{g} })},
		{"replicas-take-every-zone-first", "nodes without a zone are left out", fake(func(g *good) zonedOnly { return zonedOnly{g} })},
		{"replicas-change-only-with-the-node", "the third replica depends on the number of nodes", fake(func(g *good) countedThird { return countedThird{g} })},
		{"second-replica-inherits", "the replicas are of another hash", fake(func(g *good) otherHeirs { return otherHeirs{g} })},
		{"lookups-do-not-allocate", "a lookup makes a buffer", fake(func(g *good) allocates { return allocates{g} })},
		{"lookups-do-not-allocate", "a lookup copies the key", fake(func(g *good) copies { return copies{g} })},
		{"readers-do-not-race", "readers share the hash object", fake(func(g *good) *shares { return &shares{good: g} })},
		{"any-key-has-an-owner", "the empty key has no owner", fake(func(g *good) noEmptyKey { return noEmptyKey{g} })},
		{"key-hash-agrees-with-lookup", "the hash told is not the one used", fake(func(g *good) otherHash { return otherHash{g} })},
		{"key-hash-agrees-with-lookup", "the hash of a key that has replicas is not told", fake(func(g *good) secretHash { return secretHash{g, g, g} })},
		{"batch-agrees-with-lookup", "the rest of a batch is forgotten", fake(func(g *good) fours { return fours{g} })},
		{"a-clone-is-of-its-own", "the clone keeps the members of the original", fake(func(g *good) shallow { return shallow{g} })},
		{"a-clone-is-of-its-own", "the clone is of the type that the original is made of", fake(func(g *good) allocates { return allocates{g} })},
		{"a-clone-is-of-its-own", "the clone forgets a node", fake(func(g *good) forgetful { return forgetful{g} })},
		{"probes-agree-with-lookup", "the counted lookup ends one step early", fake(func(g *good) lostProbe { return lostProbe{g} })},
		{"cells-agree-with-lookup", "cells end one position late", cells(func(t table, space uint64, yield func(uint64, bucket) bool) {
			for p := range space {
				if !yield(p, t.Lookup(max(p, 1)-1)) {
					return
				}
			}
		})},
		{"cells-agree-with-lookup", "the last cell is missing", cells(func(t table, space uint64, yield func(uint64, bucket) bool) {
			for p := range space - 1 {
				if !yield(p, t.Lookup(p)) {
					return
				}
			}
		})},
		{"cells-agree-with-lookup", "cells come twice", cells(func(t table, space uint64, yield func(uint64, bucket) bool) {
			for p := range 2 * space {
				if !yield(p/2, t.Lookup(p/2)) {
					return
				}
			}
		})},
		{"bound-is-never-exceeded", "a request is placed without looking", fake(func(g *good) unbounded { return unbounded{g} })},
		{"bound-is-never-exceeded", "the bound of ten nodes panics", fake(func(g *good) brittle { return brittle{g} })},
		{"bound-is-never-exceeded", "every answer is said to be the first choice", fake(func(g *good) alwaysFirst { return alwaysFirst{g} })},
		{"bound-is-never-exceeded", "a full cluster refuses", fake(func(g *good) *good { g.epsilon = -0.5; return g })},
	}
	proven := map[string]bool{}
	checks := map[string]Check{}
	for _, c := range Checks() {
		checks[c.Name] = c
	}
	for _, f := range faults {
		c, ok := checks[f.check]
		if !ok {
			t.Fatalf("there is no check %q", f.check)
		}
		proven[f.check] = true
		patience := patience
		if strings.HasSuffix(f.fault, "for ever") {
			patience = 300 * time.Millisecond
		}
		switch err := guard(c, f.info, patience); {
		case err == nil:
			t.Errorf("%s does not catch that %s", f.check, f.fault)
		case errors.Is(err, errors.ErrUnsupported):
			t.Errorf("%s does not apply to the fake where %s: %v", f.check, f.fault, err)
		}
	}
	for _, c := range Checks() {
		if !proven[c.Name] {
			t.Errorf("nothing proves that %s can fail", c.Name)
		}
	}
}

// judged runs the checks that can be declined.
func judged(info algorithms.Info) (map[string]Result, error) {
	j := judge{info: info}
	results := map[string]Result{}
	for _, c := range Checks() {
		if c.Property != "" {
			results[c.Name] = j.apply(c)
		}
	}
	return results, j.declines().Err
}

func TestADeclinedPropertyIsSkippedWithWhatWasFound(t *testing.T) {
	partly := fake(func(g *good) partial { return partial{g} })
	const name = "shares-follow-the-weights"
	results, err := judged(partly)
	if results[name].Err == nil || err != nil {
		t.Errorf("promised: %+v, %v, want a failure of the check alone", results[name], err)
	}
	results, err = judged(partly.Declining(algorithms.Balance))
	if r := results[name]; r.Err != nil || !strings.HasPrefix(r.Skip, "declines balance: 40000 keys on 2 nodes: chi-square") || err != nil {
		t.Errorf("declined: %+v, %v, want a skip with the reason", r, err)
	}
}

func TestADeclinedPropertyThatHoldsIsAFailure(t *testing.T) {
	_, err := judged(fake(func(g *good) *good { return g }).Declining(algorithms.Inherits, algorithms.Reachable))
	if err == nil || err.Error() != "declines inherits but keeps it, take it off the list\ndeclines reachable but keeps it, take it off the list" {
		t.Errorf("error %v", err)
	}
}

// lookupOnly hides every ability.
type lookupOnly struct{ g *good }

func (l lookupOnly) Lookup(h uint64) bucket { return l.g.Lookup(h) }
func (l lookupOnly) Len() int               { return l.g.Len() }

func TestADeclineThatCannotBeDecidedStands(t *testing.T) {
	info := fake(func(g *good) lookupOnly { return lookupOnly{g} }).Declining(algorithms.Inherits)
	skipped := 0
	for _, r := range Run(info) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
		if strings.HasPrefix(r.Skip, "does not apply: ") {
			skipped++
		}
	}
	if skipped < 14 {
		t.Errorf("only %d checks do not apply to a bare Mapper", skipped)
	}
}

// An ErrUnsupported for equal weights does not excuse an algorithm from all
// checks.
func TestRefusingEverythingIsNoWayThrough(t *testing.T) {
	info := fake(func(g *good) *good { return g })
	info.New = func([]algorithms.Node, json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		return nil, nil, algorithms.Unsupported("nothing works")
	}
	for _, r := range Run(info) {
		if r.Err == nil && !slices.Contains([]string{"bad-nodes-are-refused", "odd-parameters-are-refused-or-work", "points-are-scattered", "weight-zero-owns-nothing", "reweight-moves-only-to-or-from-its-node", declinesName}, r.Name) {
			t.Errorf("%s passes or does not apply: %q", r.Name, r.Skip)
		}
	}
}

func TestAPanicAndAnEndlessLoopAreFailures(t *testing.T) {
	panics := Check{Run: func(algorithms.Info) error { panic("index out of range") }}
	if err := guard(panics, algorithms.Info{}, patience); err == nil || err.Error() != "it panics: index out of range" {
		t.Errorf("panic: %v", err)
	}
	stop := make(chan error)
	defer close(stop)
	loops := Check{Run: func(algorithms.Info) error { return <-stop }}
	if err := guard(loops, algorithms.Info{}, time.Millisecond); err == nil || err.Error() != "it does not end within 1ms" {
		t.Errorf("endless loop: %v", err)
	}
}

func ignoringParameters() algorithms.Info {
	info := fake(func(g *good) *good { return g })
	build := info.New
	info.New = func(nodes []algorithms.Node, _ json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		return build(nodes, nil)
	}
	return info
}

func misreporting() algorithms.Info {
	info := fake(func(g *good) *good { return g })
	build := info.New
	info.New = func(nodes []algorithms.Node, params json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		m, _, err := build(nodes, params)
		return m, json.RawMessage(`{"epsilon":1}`), err
	}
	return info
}

// A tabled fake fills a table as Maglev does: a node steps through the slots by a
// skip of its own, which comes to all of them when their number is a prime.
type tabled struct {
	slots []bucket
	n     int
}

func (t tabled) Lookup(h uint64) bucket { return t.slots[h%uint64(len(t.slots))] }
func (t tabled) Len() int               { return t.n }

type tableConfig struct {
	Size int `json:"size"`
}

func tables() algorithms.Info {
	return algorithms.Define("table", "", tableConfig{251}, func(nodes []algorithms.Node, c tableConfig) (tabled, error) {
		if c.Size < len(nodes) {
			return tabled{}, errors.New("too small")
		}
		t := tabled{slices.Repeat([]bucket{algorithms.None}, c.Size), len(nodes)}
		next := make([]uint64, len(nodes))
		for taken := 0; ; {
			for i, n := range nodes {
				h := xxh3.HashString(n.Name)
				for steps := 0; t.slots[next[i]] != algorithms.None; steps++ {
					next[i] = (next[i] + h%uint64(c.Size-1) + 1) % uint64(c.Size)
					if steps > c.Size {
						time.Sleep(time.Millisecond) // for ever, without taking time from others
					}
				}
				t.slots[next[i]] = bucket(i)
				if taken++; taken == c.Size {
					return t, nil
				}
			}
		}
	})
}

func smallTables() algorithms.Info {
	return algorithms.Define("table", "", tableConfig{251}, func(nodes []algorithms.Node, c tableConfig) (tabled, error) {
		t := tabled{make([]bucket, c.Size), len(nodes)}
		for i := range nodes {
			t.slots[i] = bucket(i)
		}
		return t, nil
	})
}

func forgiving() algorithms.Info {
	info := fake(func(g *good) *good { return g })
	build := info.New
	info.New = func(nodes []algorithms.Node, params json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		unique := slices.CompactFunc(slices.SortedFunc(slices.Values(nodes), func(a, b algorithms.Node) int {
			return strings.Compare(a.Name, b.Name)
		}), func(a, b algorithms.Node) bool { return a.Name == b.Name })
		return build(unique, params)
	}
	return info
}

func salting() algorithms.Info {
	builds := uint64(0)
	return fake(func(g *good) *good {
		builds++
		g.salt = builds
		return g
	})
}

func cells(list func(t table, space uint64, yield func(uint64, bucket) bool)) algorithms.Info {
	return fake(func(g *good) table {
		t := newTable(g)
		t.cells = func(space uint64, yield func(uint64, bucket) bool) { list(t, space, yield) }
		return t
	})
}

type overIndex struct{ *good }

func (f overIndex) Lookup(h uint64) bucket {
	if h == 1<<64-1 {
		return bucket(f.members.Cap())
	}
	return f.good.Lookup(h)
}

type neverLast struct{ *good }

func (f neverLast) Lookup(h uint64) bucket {
	if b := f.good.Lookup(h); int(b) < f.members.Cap()-1 {
		return b
	}
	return 0
}

type partial struct{ *good }

func (f partial) Lookup(h uint64) bucket {
	if h%10 == 0 && f.Len() > 0 {
		for b, n := range f.members.All() {
			if n.Weight > 0 {
				return b
			}
		}
	}
	return f.good.Lookup(h)
}

type nextBucket struct{ *good }

func (f nextBucket) LookupN(h uint64, dst []bucket) int {
	n := f.good.LookupN(h, dst)
	if n == 2 {
		dst[1] = (dst[0] + 1) % bucket(f.Len())
	}
	return n
}

type traces struct{ *good }

func (f traces) Remove(b bucket) error {
	err := f.good.Remove(b)
	if err == nil {
		f.salt++
	}
	return err
}

type countSalted struct{ *good }

func (f countSalted) Lookup(h uint64) bucket {
	return f.good.Lookup(h ^ uint64(f.Len())*0x9e3779b97f4a7c15)
}

type addSalted struct{ *good }

func (f addSalted) Add(n algorithms.Node) (bucket, error) {
	f.salt++
	return f.good.Add(n)
}

type haunted struct {
	*good
	gone bucket
}

func (f *haunted) Remove(b bucket) error {
	f.gone = b
	return f.good.Remove(b)
}

func (f *haunted) Lookup(h uint64) bucket {
	if h%50 == 0 && f.gone != algorithms.None {
		return f.gone
	}
	return f.good.Lookup(h)
}

type taken struct{ *good }

func (f taken) Add(n algorithms.Node) (bucket, error) {
	_, err := f.good.Add(n)
	return 0, err
}

type addsTwice struct{ *good }

func (f addsTwice) Add(n algorithms.Node) (bucket, error) {
	for b, other := range f.members.All() {
		if other.Name == n.Name {
			return b, nil
		}
	}
	return f.good.Add(n)
}

// doubles takes a member that is added again for one more of its kind.
type doubles struct{ *good }

func (f doubles) Add(n algorithms.Node) (bucket, error) {
	b, err := f.good.Add(n)
	if err != nil {
		n.Name += " again"
		return f.good.Add(n)
	}
	return b, nil
}

type miscounts struct {
	*good
	refused int
}

func (f *miscounts) Add(n algorithms.Node) (bucket, error) {
	b, err := f.good.Add(n)
	if err != nil {
		f.refused++
	}
	return b, err
}

func (f *miscounts) Len() int { return f.good.Len() + f.refused }

type absentMoves struct{ *good }

func (f absentMoves) Remove(b bucket) error {
	err := f.good.Remove(b)
	if err != nil {
		f.salt++
	}
	return err
}

type removePanics struct{ *good }

func (f removePanics) Remove(b bucket) error { return []error{}[b] }

type removesAbsent struct{ *good }

func (f removesAbsent) Remove(b bucket) error {
	if _, ok := f.members.Node(b); !ok {
		return nil
	}
	return f.good.Remove(b)
}

type removesAnother struct{ *good }

func (f removesAnother) Remove(b bucket) error {
	err := f.good.Remove(b)
	if err != nil {
		f.good.Remove(bucket(f.members.Cap() - 1))
	}
	return err
}

type anyWeight struct{ *good }

func (f anyWeight) SetWeight(b bucket, w float64) error {
	if f.good.SetWeight(b, w) != nil {
		return f.good.SetWeight(b, 1)
	}
	return nil
}

type emptyPanics struct{ *good }

func (f emptyPanics) Lookup(h uint64) bucket {
	b := f.good.Lookup(h)
	return []bucket{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}[b]
}

// endless searches on until it finds an owner, or the test has what it wants.
type endless struct{ *good }

func (f endless) Lookup(h uint64) bucket {
	for {
		if b := f.good.Lookup(h); b != algorithms.None {
			return b
		}
		time.Sleep(time.Millisecond)
	}
}

type combined struct{ *good }

func (f combined) Lookup(h uint64) bucket { return f.good.Lookup((h>>32 ^ h) << 32) }

type added struct{ *good }

func (f added) Lookup(h uint64) bucket { return f.good.Lookup((h>>32 + h) << 32) }

type divides struct{ *good }

func (f divides) Lookup(h uint64) bucket { return bucket(h % uint64(f.Len())) }

type topBits struct{ *good }

func (f topBits) Lookup(h uint64) bucket  { return bucket(h >> 32 % uint64(f.Len())) }
func (f topBits) Divisor() (uint64, bool) { return 0, true }

type emptyZero struct{ *good }

func (f emptyZero) Lookup(h uint64) bucket { return max(0, f.good.Lookup(h)) }

type repeats struct{ *good }

func (f repeats) LookupN(h uint64, dst []bucket) int {
	n := f.good.LookupN(h, dst)
	if n > 2 {
		dst[2] = dst[1]
	}
	return n
}

type ownerLast struct{ *good }

func (f ownerLast) LookupN(h uint64, dst []bucket) int {
	n := f.good.LookupN(h, dst)
	slices.Reverse(dst[:n])
	return n
}

type atMostTwo struct{ *good }

func (f atMostTwo) LookupN(h uint64, dst []bucket) int {
	return f.good.LookupN(h, dst[:min(2, len(dst))])
}

// zoneBlind has replicas that are right but for the zones.
type zoneBlind struct{ *good }

func (f zoneBlind) LookupN(h uint64, dst []bucket) int {
	for i := range dst {
		b := f.best(h, func(b bucket) bool { return !slices.Contains(dst[:i], b) })
		if b == algorithms.None {
			return i
		}
		dst[i] = b
	}
	return len(dst)
}

// zonePairs keeps the first two in different zones, and no more.
type zonePairs struct{ *good }

func (f zonePairs) LookupN(h uint64, dst []bucket) int {
	n := f.good.LookupN(h, dst[:min(2, len(dst))])
	for ; n < len(dst); n++ {
		b := f.best(h, func(b bucket) bool { return !slices.Contains(dst[:n], b) })
		if b == algorithms.None {
			break
		}
		dst[n] = b
	}
	return n
}

// zonedOnly takes nodes that name no zone for no replicas where others do.
type zonedOnly struct{ *good }

func (f zonedOnly) LookupN(h uint64, dst []bucket) int {
	c := f.members.Choose(dst)
	n := f.good.LookupN(h, dst)
	for i, b := range dst[:n] {
		if node, _ := f.members.Node(b); i > 0 && node.Zone == "" && c.Zoned() {
			copy(dst[i:n], dst[i+1:n])
			return n - 1
		}
	}
	return n
}

type otherHash struct{ *good }

func (f otherHash) HashKey(key string) uint64 { return f.good.HashKey(key) + 1 }

// secretHash hides HashKey and nothing else that the check asks for.
type secretHash struct {
	algorithms.Mapper
	algorithms.KeyMapper
	algorithms.Replicator
}

// countedThird has a right owner and a right heir, and a third replica drawn anew
// for every number of nodes.
type countedThird struct{ *good }

func (f countedThird) LookupN(h uint64, dst []bucket) int {
	n := f.good.LookupN(h, dst[:min(2, len(dst))])
	if n == 2 && len(dst) > 2 {
		dst[2] = f.best(h+uint64(f.Len()), func(b bucket) bool { return !slices.Contains(dst[:2], b) })
		n++
	}
	return n
}

type otherHeirs struct{ *good }

func (f otherHeirs) LookupN(h uint64, dst []bucket) int {
	if len(dst) == 0 {
		return 0
	}
	owner := f.good.Lookup(h)
	n := f.good.LookupN(h*0x9e3779b97f4a7c15, dst)
	if i := slices.Index(dst[:n], owner); i >= 0 {
		dst[i] = dst[0]
	}
	if n > 0 {
		dst[0] = owner
	}
	return n
}

type allocates struct{ *good }

var sink []byte

func (f allocates) Lookup(h uint64) bucket {
	sink = make([]byte, 16)
	return f.good.Lookup(h)
}

type copies struct{ *good }

func (f copies) LookupKey(key string) bucket {
	sink = []byte(key)
	return f.good.LookupKey(key)
}

// shares keeps the hash of the lookup in hand where other readers overwrite it.
// It does so by atomic operations, so that the answers are wrong but the race
// detector stays quiet about this test.
type shares struct {
	*good
	hash atomic.Uint64
}

func (f *shares) Lookup(h uint64) bucket {
	f.hash.Store(h)
	runtime.Gosched()
	return f.good.Lookup(f.hash.Load())
}

type noEmptyKey struct{ *good }

func (f noEmptyKey) LookupKey(key string) bucket {
	if key == "" {
		return algorithms.None
	}
	return f.good.LookupKey(key)
}

type shallow struct{ *good }

func (s shallow) Clone() algorithms.Mapper { return s }

type forgetful struct{ *good }

func (f forgetful) Clone() algorithms.Mapper {
	c := f.good.Clone().(*good)
	c.Remove(0)
	return forgetful{c}
}

type fours struct{ *good }

func (f fours) LookupBatch(hs []uint64, dst []bucket) { f.good.LookupBatch(hs[:len(hs)/4*4], dst) }

type lostProbe struct{ *good }

func (f lostProbe) LookupProbes(h uint64) (bucket, int) {
	if h%100 == 0 {
		return 0, 1
	}
	return f.good.LookupProbes(h)
}

type unbounded struct{ *good }

func (f unbounded) Assign(h uint64) (bucket, bool) {
	b := f.good.Lookup(h)
	f.loads[b]++
	f.placed++
	return b, true
}

type brittle struct{ *good }

func (f brittle) Assign(h uint64) (bucket, bool) {
	if f.Len() == 10 {
		panic("not enough room")
	}
	return f.good.Assign(h)
}

type alwaysFirst struct{ *good }

func (f alwaysFirst) Assign(h uint64) (bucket, bool) {
	b, _ := f.good.Assign(h)
	return b, true
}
