package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/results"
)

// The baseline is what every built-in algorithm answers: its exact metrics and
// the digests of who owns which key. It is the memory of the project. Whoever
// moves a key, adds an allocation or grows a structure learns of it here, and
// says in the diff of the baseline that it is meant.

var refresh = flag.Bool("update", false, "write the baseline anew")

// mend is what to do about a change that is meant.
const mend = "when this is meant, run make baseline and look at the diff of harness/testdata/baseline"

func baselinePath(name string) string { return filepath.Join("testdata", "baseline", name) }

// baselineSpec returns the spec of the baseline for one algorithm.
func baselineSpec(t testing.TB, algorithm string) *Spec {
	t.Helper()
	path := baselinePath("spec.toml")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSpec(path, src)
	if err != nil {
		t.Fatal(err)
	}
	own := []Contestant{
		{Name: "default", Algorithm: algorithm, Params: map[string]any{}, Hash: s.Hash},
		{Name: "weighted", Algorithm: algorithm, Params: map[string]any{}, Hash: s.Hash, Weights: "1:2:4"},
	}
	for _, c := range s.Contestants {
		if c.Algorithm == algorithm {
			own = append(own, c)
		}
	}
	s.Contestants = own
	for i := range s.Experiments {
		s.Experiments[i].Contestants = nil
		for _, c := range own {
			s.Experiments[i].Contestants = append(s.Experiments[i].Contestants, c.Name)
		}
	}
	return s
}

// A baselineLine is what the baseline says of one cell: metrics by name, and the
// digest of the owners under "owners".
type baselineLine map[string]string

func (l baselineLine) set(values map[string]float64, check string) {
	for m, v := range values {
		l[m] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	if check != "" {
		l["owners"] = check
	}
}

// A baseline maps the cells of one algorithm to their lines.
type baseline map[string]baselineLine

// computeBaseline computes the baseline of an algorithm. Cells that the algorithm
// cannot answer by its nature are left out.
func computeBaseline(t testing.TB, info algorithms.Info) baseline {
	t.Helper()
	lines := baseline{}
	pl, err := NewPlan(baselineSpec(t, info.Name), Options{Algorithms: []algorithms.Info{info}})
	if err != nil {
		t.Fatal(err)
	}
	sink := newSink()
	if _, err := pl.Run(context.Background(), sink); err != nil {
		t.Fatal(err)
	}
	for _, tr := range sink.trials {
		if tr.Skip == "" {
			lines[tr.Cell] = baselineLine{}
			lines[tr.Cell].set(tr.Values, tr.Check)
		}
	}
	maps.Copy(lines, structureBaseline(t, info))
	return lines
}

// structureBaseline computes what is asked of the structures themselves: size and
// allocations; who owns the positions at the edges of cells, where a rule about
// ties shows; who owns some hashes; and the replicas.
func structureBaseline(t testing.TB, info algorithms.Info) baseline {
	t.Helper()
	lines := baseline{}
	spec := baselineSpec(t, info.Name)
	keys, err := readKeys(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range spec.Nodes {
		for i := range spec.Contestants {
			sub, err := newSubject(&spec.Contestants[i], info, spec.Contestants[i].Params, n)
			if err != nil {
				t.Fatal(err)
			}
			sub.seed = spec.Seed
			p, err := NewPlacement(info, sub.nodes(), sub.params)
			if err != nil {
				continue // no such weights
			}
			line := func(measure string) baselineLine {
				l := baselineLine{}
				lines[results.CellName(measure, info.Name, n, sub.set, "", "", sub.contestant.Weights, "")] = l
				return l
			}
			hs := keys.hashed(sub.hash.For(p.Mapper))[:2048]
			allocs, bytes := allocations(p.Mapper, hs)
			line("allocations").set(map[string]float64{"allocs-per-lookup": allocs, "bytes-per-lookup": bytes}, "")
			line("placement").set(nil, digestOf(owners(p.Mapper, hs)))
			if z, ok := p.Mapper.(algorithms.Sizer); ok {
				line("memory").set(map[string]float64{"footprint-bytes": float64(z.Footprint())}, "")
			}
			if o, ok := p.Mapper.(algorithms.Owned); ok {
				line("edges").set(nil, digestOf(edges(p.Mapper, o)))
			}
			if r, ok := p.Mapper.(algorithms.Replicator); ok {
				line("replicas").set(nil, digestOf(replicas(r, hs)))
			}
		}
	}
	return lines
}

// owners returns the bucket of each hash.
func owners(m algorithms.Mapper, hs []uint64) []algorithms.Bucket {
	all := make([]algorithms.Bucket, len(hs))
	for i, h := range hs {
		all[i] = m.Lookup(h)
	}
	return all
}

// edges returns who owns the last position of each cell and the one after it.
func edges(m algorithms.Mapper, o algorithms.Owned) (owners []algorithms.Bucket) {
	_, cells := o.Cells()
	for last := range cells {
		owners = append(owners, m.Lookup(last), m.Lookup(last+1))
	}
	return owners
}

// replicas returns the first three owners of each hash.
func replicas(r algorithms.Replicator, hs []uint64) []algorithms.Bucket {
	owners := make([]algorithms.Bucket, 3*len(hs))
	for i, h := range hs {
		r.LookupN(h, owners[3*i:3*i+3])
	}
	return owners
}

// String writes the baseline one cell a line, sorted.
func (b baseline) String() string {
	var out strings.Builder
	for _, cell := range slices.Sorted(maps.Keys(b)) {
		out.WriteString(cell)
		for _, m := range slices.Sorted(maps.Keys(b[cell])) {
			fmt.Fprintf(&out, " %s=%s", m, b[cell][m])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func readBaseline(path string) (baseline, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := baseline{}
	for text := range strings.Lines(string(src)) {
		cell, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		lines[cell] = baselineLine{}
		for _, field := range strings.Fields(rest) {
			m, v, _ := strings.Cut(field, "=")
			lines[cell][m] = v
		}
	}
	return lines, nil
}

// changes says what of the baseline is no longer so: a line for each metric, with
// the first of the cells in which it changed.
func (b baseline) changes(algorithm string, now baseline) []string {
	type finding struct{ first, more int }
	var all []string
	found := map[string]*finding{}
	add := func(what, format string, args ...any) {
		if f := found[what]; f != nil {
			f.more++
			return
		}
		found[what] = &finding{first: len(all)}
		all = append(all, fmt.Sprintf("%s: %s: ", algorithm, what)+fmt.Sprintf(format, args...))
	}
	cells := maps.Clone(b)
	maps.Copy(cells, now)
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		was, is := b[cell], now[cell]
		measure, _, _ := strings.Cut(cell, "/")
		switch {
		case was == nil:
			add(measure+" is new", "%s", cell)
			continue
		case is == nil:
			add(measure+" is gone", "%s", cell)
			continue
		}
		metrics := maps.Clone(was)
		maps.Copy(metrics, is)
		for _, m := range slices.Sorted(maps.Keys(metrics)) {
			if was[m] == is[m] {
				continue
			}
			what := m
			if m == "owners" {
				what = "placement changed, key owners move"
			}
			add(what, "%s: %s was %s, is %s", cell, m, or(was[m], "absent"), or(is[m], "absent"))
		}
	}
	for _, f := range found {
		if f.more > 0 {
			all[f.first] += fmt.Sprintf(" (%d cells in all)", f.more+1)
		}
	}
	return all
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func TestEveryAlgorithmAnswersAsTheBaselineSays(t *testing.T) {
	if testing.Short() {
		t.Skip("computes the whole baseline")
	}
	files := map[string]bool{baselinePath("spec.toml"): true}
	for _, info := range builtin.All() {
		path := baselinePath(info.Name + ".txt")
		files[path] = true
		now := computeBaseline(t, info)
		if *refresh {
			if err := os.WriteFile(path, []byte(now.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		was, err := readBaseline(path)
		if err != nil {
			t.Errorf("%s: not in the baseline, run make baseline and commit %s: %v", info.Name, path, err)
			continue
		}
		for _, change := range was.changes(info.Name, now) {
			t.Errorf("%s; %s", change, mend)
		}
	}
	there, err := filepath.Glob(baselinePath("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		switch {
		case files[path]:
		case *refresh:
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: no built-in algorithm has that name, %s", path, mend)
		}
	}
}

// TestTheBaselineSeesMutations breaks each algorithm in ways that a programmer
// may, and looks for the finding by algorithm and metric.
func TestTheBaselineSeesMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("computes the baseline of every mutant")
	}
	moved := "placement changed, key owners move"
	for _, info := range builtin.All() {
		was, err := readBaseline(baselinePath(info.Name + ".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !results.IsControl(info.Name) {
			now := structureBaseline(t, mutated(info, allocating, nil))
			expectFinding(t, was, info.Name, now, "allocs-per-lookup", "allocs-per-lookup was 0, is 1")
			expectFinding(t, was, info.Name, now, "bytes-per-lookup", "bytes-per-lookup was 0, is 16")
		}
		names := algorithms.ParamNames(info.Defaults)
		where := "edges/algorithm=" // the first of the cells that changed
		if _, ok := emptyMapper(t, info).(algorithms.Owned); !ok {
			where = "placement/algorithm="
		}
		if info.Knob == "vnodes" {
			now := structureBaseline(t, mutated(info, nil, oneMoreVNode))
			expectFinding(t, was, info.Name, now, "footprint-bytes", "footprint-bytes was ")
			expectFinding(t, was, info.Name, now, moved, where+info.Name)
		}
		if slices.Contains(names, "label") {
			now := structureBaseline(t, mutated(info, nil, otherLabel))
			expectFinding(t, was, info.Name, now, moved, where+info.Name)
		}
		if _, ok := emptyMapper(t, info).(algorithms.Owned); ok {
			expectFinding(t, was, info.Name, structureBaseline(t, mutated(info, beyondTheEdge, nil)), moved, "edges/algorithm="+info.Name)
		}
	}
}

// TestTheBaselineSeesMutationsOfTheRingEverywhere runs the whole baseline of the
// ring: balance and movement have to tell too.
func TestTheBaselineSeesMutationsOfTheRingEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("computes the baseline of every mutant")
	}
	was, err := readBaseline(baselinePath("ring.txt"))
	if err != nil {
		t.Fatal(err)
	}
	now := computeBaseline(t, mutated(ring.Info, nil, oneMoreVNode))
	for _, metric := range []string{"balance-cv", "share-cv", "load-peak", "moved-fraction", "ranges-moved", "footprint-bytes"} {
		expectFinding(t, was, "ring", now, metric, metric+" was ")
	}
	expectFinding(t, was, "ring", now, "placement changed, key owners move", "balance/")

	// Of two points at one place the first by the node's name owns. The control
	// keeps to that, and no owner moves; the mutant does not.
	for _, c := range []struct {
		name    string
		smaller bool
		moves   bool
	}{{"first by name", true, false}, {"last by name", false, true}} {
		now := computeBaseline(t, ties(c.smaller))
		found := false
		for _, change := range was.changes("ring", now) {
			found = found || strings.Contains(change, "key owners move")
		}
		if found != c.moves {
			t.Errorf("equal points go to the %s: owners move %v, want %v", c.name, found, c.moves)
		}
	}
}

func TestTheBaselineNamesWhatIsNewAndWhatIsGone(t *testing.T) {
	was := baseline{"a/x": {"m": "1"}, "b/x": {"m": "1", "owners": "ff"}, "b/y": {"m": "1"}}
	now := baseline{"b/x": {"m": "2", "owners": "00"}, "b/y": {"m": "3"}, "c/x": {"m": "1"}}
	want := []string{
		"ring: a is gone: a/x",
		"ring: m: b/x: m was 1, is 2 (2 cells in all)",
		"ring: placement changed, key owners move: b/x: owners was ff, is 00",
		"ring: c is new: c/x",
	}
	if got := was.changes("ring", now); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := was.changes("ring", was); len(got) > 0 {
		t.Errorf("no change, but %v", got)
	}
}

// expectFinding wants a finding about the metric that contains the text.
func expectFinding(t *testing.T, was baseline, algorithm string, now baseline, metric, text string) {
	t.Helper()
	all := was.changes(algorithm, now)
	for _, change := range all {
		if strings.HasPrefix(change, algorithm+": "+metric+": ") && strings.Contains(change, text) {
			return
		}
	}
	t.Errorf("%s: no finding about %s that says %q among\n%s", algorithm, metric, text, strings.Join(all, "\n"))
}

func emptyMapper(t *testing.T, info algorithms.Info) algorithms.Mapper {
	t.Helper()
	m, _, err := info.New(algorithms.Nodes("a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// mutated returns the algorithm with its mapper wrapped and its parameters
// changed; nil leaves them.
func mutated(info algorithms.Info, wrap func(algorithms.Mapper) algorithms.Mapper, change func(map[string]any)) algorithms.Info {
	build := info.New
	info.New = func(nodes []algorithms.Node, params json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		if change != nil {
			all := map[string]any{}
			for _, layer := range []json.RawMessage{info.Defaults, params} {
				d := json.NewDecoder(bytes.NewReader(layer))
				d.UseNumber()
				if err := d.Decode(&all); err != nil {
					return nil, nil, err
				}
			}
			change(all)
			var err error
			if params, err = json.Marshal(all); err != nil {
				return nil, nil, err
			}
		}
		m, inForce, err := build(nodes, params)
		if err == nil && wrap != nil {
			m = wrap(m)
		}
		return m, inForce, err
	}
	return info
}

func oneMoreVNode(params map[string]any) {
	v, _ := params["vnodes"].(json.Number).Int64()
	params["vnodes"] = v + 1
}

func otherLabel(params map[string]any) { params["label"] = "{name}-{index}" }

// allocating makes every lookup allocate.
func allocating(m algorithms.Mapper) algorithms.Mapper { return allocator{m} }

type allocator struct{ algorithms.Mapper }

var leak *[2]uint64

func (a allocator) Lookup(h uint64) algorithms.Bucket {
	leak = &[2]uint64{h}
	return a.Mapper.Lookup(h)
}

// beyondTheEdge gives the position of a point to the point after it.
func beyondTheEdge(m algorithms.Mapper) algorithms.Mapper {
	return shifted{m, m.(algorithms.Owned)}
}

type shifted struct {
	algorithms.Mapper
	algorithms.Owned
}

func (s shifted) Lookup(h uint64) algorithms.Bucket { return s.Mapper.Lookup(h + 1) }

// ties is the ring without a structure: a table of the positions of a small
// circle, where of equal points the one of the smaller or the larger name owns.
// It is told the circle by the parameters, and without one is the ring itself.
func ties(smaller bool) algorithms.Info {
	return mutatedNew(ring.Info, func(nodes []algorithms.Node, c ring.Config) algorithms.Mapper {
		table := make([]algorithms.Bucket, c.Modulus)
		for i := range table {
			table[i] = algorithms.None
		}
		for i, n := range nodes {
			for k := range max(1, int(float64(c.VNodes)*n.Weight+0.5)) {
				h := keyhash.All()[0].Position(n.Name + "#" + strconv.Itoa(k))
				at := &table[h%c.Modulus]
				if *at == algorithms.None || (nodes[*at].Name < n.Name) != smaller {
					*at = algorithms.Bucket(i)
				}
			}
		}
		for range 2 { // the first points own what lies behind the last
			for i := len(table) - 1; i >= 0; i-- {
				if table[i] == algorithms.None {
					table[i] = table[(i+1)%len(table)]
				}
			}
		}
		return tableMapper{table, len(nodes)}
	})
}

type tableMapper struct {
	owners []algorithms.Bucket
	nodes  int
}

func (m tableMapper) Lookup(h uint64) algorithms.Bucket { return m.owners[h%uint64(len(m.owners))] }
func (m tableMapper) Len() int                          { return m.nodes }

// mutatedNew builds rings of a small circle by build.
func mutatedNew(info algorithms.Info, build func([]algorithms.Node, ring.Config) algorithms.Mapper) algorithms.Info {
	original := info.New
	info.New = func(nodes []algorithms.Node, params json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		m, inForce, err := original(nodes, params)
		var c ring.Config
		if err == nil {
			err = json.Unmarshal(inForce, &c)
		}
		if err == nil && c.Modulus > 0 {
			m = build(nodes, c)
		}
		return m, inForce, err
	}
	return info
}
