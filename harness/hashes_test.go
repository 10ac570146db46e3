package harness

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/workloads"
)

func TestNamePatternsCountOnFromPlacementToPlacement(t *testing.T) {
	for _, c := range []struct {
		pattern string
		i, n    int
		seed    uint64
		want    string
	}{
		{"node-{i}", 0, 10, 1, "node-0"},
		{"node-{i+1}", 0, 10, 1, "node-1"},
		{"10.0.0.{i}:8080", 9, 10, 1, "10.0.0.9:8080"},
		{"10.0.0.{i}:8080", 10, 10, 1, "10.0.0.10:8080"}, // a newcomer
		{"10.0.0.{i+5}:8080", 3, 10, 3, "10.0.0.28:8080"},
	} {
		p, err := parseNames(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.name(c.i, c.n, c.seed); got != c.want {
			t.Errorf("%s: node %d of %d in placement %d is %q, want %q", c.pattern, c.i, c.n, c.seed, got, c.want)
		}
	}
	for _, bad := range []string{"node", "node-{j}", "node-{i", "{i}{i}", "node-{i-1}", "node-{i+}", "node-{i+x}", "{{i}}", "node-{i1}"} {
		if _, err := parseNames(bad); err == nil || !strings.Contains(err.Error(), "such as node-{i+1}") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

const hashSpec = `
nodes = [5]
keys = "seq:key-:0:2000"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "points"
measures = ["shares"]
sweep = { names = ["node-{i+1}", "10.0.0.{i}:80"], point_hash = ["xxh3", "crc32"] }
[[experiment]]
name = "keys"
measures = ["balance"]
keys = ["seq:user::0:3000", "uuid:1000:1"]
sweep = { hash = ["xxh3", "djb2"] }
`

func TestASweepGoesOverNamesAndHashes(t *testing.T) {
	sink, _ := mustRun(t, mustPlan(t, hashSpec))
	var cells []string
	owners := map[string]string{}
	for _, tr := range sink.trials {
		cells = append(cells, tr.Cell)
		owners[tr.Cell] = tr.Check
		if want := map[bool]int{true: 3000, false: 1000}[strings.HasPrefix(tr.Workload, "seq")]; tr.Measure == "balance" && tr.Keys != want {
			t.Errorf("%s: %d keys", tr.Cell, tr.Keys)
		}
	}
	slices.Sort(cells)
	want := []string{
		"balance/algorithm=ring/nodes=5/workload=seq:3000+uniform",
		"balance/algorithm=ring/nodes=5/workload=seq:3000+uniform/hash=djb2",
		"balance/algorithm=ring/nodes=5/workload=uuid:1000+uniform",
		"balance/algorithm=ring/nodes=5/workload=uuid:1000+uniform/hash=djb2",
		"shares/algorithm=ring/nodes=5/point_hash=crc32/names=10.0.0._7bi_7d:80",
		"shares/algorithm=ring/nodes=5/point_hash=crc32/names=node-_7bi+1_7d",
		"shares/algorithm=ring/nodes=5/point_hash=xxh3/names=10.0.0._7bi_7d:80",
		"shares/algorithm=ring/nodes=5/point_hash=xxh3/names=node-_7bi+1_7d",
	}
	if !slices.Equal(cells, want) {
		t.Errorf("cells\n%s", strings.Join(cells, "\n"))
	}
	if len(owners) != 8 || owners[want[0]] == owners[want[1]] {
		t.Error("a swept hash changes nothing")
	}
}

func TestNodesAndKeysOfTheUsersOwnComeBeforePatterns(t *testing.T) {
	dir := t.TempDir()
	nodes, keys := filepath.Join(dir, "nodes"), filepath.Join(dir, "keys")
	for path, text := range map[string]string{nodes: "a\nb\nc\n", keys: "x\ny\nz\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := mustSpec(t, hashSpec)
	s.Nodes, s.NodesFile, s.Keys, s.KeysFile = nil, nodes, "", keys
	pl, err := NewPlan(s, Options{Algorithms: known})
	if err != nil {
		t.Fatal(err)
	}
	sink, _ := mustRun(t, pl)
	for _, tr := range sink.trials {
		want := math.Sqrt(2. / (3*160 + 1))
		if tr.Measure == "balance" {
			want = math.Sqrt(2./(3*160+1) + 2./3)
		}
		if got := tr.Values["expected-cv"]; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: a spread of %v is expected, want %v", tr.Cell, got, want)
		}
	}
	trials := pl.Trials()
	if len(trials) != 4 { // 2 point hashes, 2 hashes
		t.Errorf("%d trials", len(trials))
	}
	for _, tr := range trials {
		if tr.Nodes != 3 || strings.Contains(tr.Cell, "names=") || tr.Measure == "balance" && tr.Keys != 3 {
			t.Errorf("%s with %d nodes and %d keys", tr.Cell, tr.Nodes, tr.Keys)
		}
	}
}

func TestBadPatternsAreRefusedWithTheirPlace(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"node-{i+1}"`, `"node"`}:                                    `names "node": want a text with one {i}`,
		{`"uuid:1000:1"`, `"uid:1000"`}:                               `test.toml:13:1: keys "uid:1000": unknown kind`,
		{`"djb2"`, `"djb"`}:                                           `unknown hash "djb"`,
		{`algorithm = "ring"`, "algorithm = \"ring\"\nnames = \"x\""}: `names "x"`,
	} {
		s := mustSpec(t, strings.Replace(hashSpec, change[0], change[1], 1))
		if _, err := NewPlan(s, Options{Algorithms: known}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", change[1], err, want)
		}
	}
}

// TestLabelsThatCollideAreNamedWithTheirNodes is apache/pulsar#22050.
func TestLabelsThatCollideAreNamedWithTheirNodes(t *testing.T) {
	_, outcome := mustRun(t, mustPlan(t, `
nodes = [20]
keys = "seq:key-:0:1000"
[[contestant]]
algorithm = "ring"
names = "node-{i+1}"
params = { vnodes = 100 }
[[experiment]]
name = "points"
measures = ["shares"]
sweep = { label = ["{name}{index}", "{name}#{index}"], point_hash = ["xxh3", "md5"] }
seeds = 2
`))
	if len(outcome.Warnings) != 1 {
		t.Fatalf("warnings %q", outcome.Warnings)
	}
	for _, want := range []string{"label {name}{index}: 90 of 2000 points", "node-1 and node-11 (10), node-1 and node-12 (10)", "node-1 and node-19 (10);"} {
		if !strings.Contains(outcome.Warnings[0], want) {
			t.Errorf("warning %q lacks %q", outcome.Warnings[0], want)
		}
	}
}

// Said of the case of open-telemetry/opentelemetry-collector-contrib#41200.
func TestPointsAskedOfFewPositionsAreReported(t *testing.T) {
	_, outcome := mustRun(t, mustPlan(t, `
nodes = [300]
keys = "seq:key-:0:1000"
[[contestant]]
algorithm = "ring"
params = { vnodes = 100 }
[[experiment]]
name = "points"
measures = ["shares"]
sweep = { modulus = [36000, 72000, 0] }
seeds = 3
`))
	if len(outcome.Warnings) != 1 || !strings.HasPrefix(outcome.Warnings[0], "30000 points are asked of 36000 positions: ") {
		t.Errorf("warnings %q, want one of 30000 points", outcome.Warnings)
	}
}

func TestAHashNarrowerThanTheRingIsReported(t *testing.T) {
	_, outcome := mustRun(t, mustPlan(t, `
nodes = [1000]
keys = "seq:key-:0:1000"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "points"
measures = ["shares"]
sweep = { point_hash = ["xxh3", "crc32"] }
`))
	want := "point_hash crc32 has 32 bits where the ring has 64: of 160000 points 3 are expected"
	if len(outcome.Warnings) != 1 || !strings.HasPrefix(outcome.Warnings[0], want) {
		t.Errorf("warnings %q, want %q", outcome.Warnings, want)
	}
}

// TestAHashThatDoesNotCoverTheRingIsReported is what twitter/twemproxy#175 needed:
// a hash of 15 bits on a wider ring.
func TestAHashThatDoesNotCoverTheRingIsReported(t *testing.T) {
	set, err := workloads.ParseKeys("seq:key:0:5000")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range keyhash.All() {
		if h.Bits < 64 {
			continue
		}
		if what := uncovered(workloads.Hashes(set, h.Position)); strings.HasPrefix(h.Name, "fnv1-") != (what != "") {
			t.Errorf("%s: %s", h.Name, what)
		}
		narrow := workloads.Hashes(set, func(key string) uint64 { return h.Position(key) & 0x7fff << 32 })
		if what := uncovered(narrow); !strings.Contains(what, "the hash range does not cover the ring") {
			t.Errorf("15 bits of %s: %q", h.Name, what)
		}
	}
	if what := uncovered(make([]uint64, 100)); !strings.Contains(what, "1 different hash") {
		t.Errorf("one hash for all: %q", what)
	}
	if what := uncovered([]uint64{1, 2, 3}); what != "" {
		t.Errorf("a few keys say nothing: %q", what)
	}
}
