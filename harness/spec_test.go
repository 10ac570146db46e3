package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each fault is refused before anything is measured, in one line that says
// where and names the mend.
func TestFaultsInASpecAreRefusedWithTheirPlace(t *testing.T) {
	const good = `nodes = [10]
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "a"
measures = ["shares"]
`
	if _, err := NewPlan(mustSpec(t, good), Options{Algorithms: known}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown field at the top", "nodes = [10]", "node = [10]", `test.toml:1:1: unknown field "node"`},
		{"unknown field in a table", `name = "a"`, "name = \"a\"\nsede = 3", `test.toml:6:1: unknown field "experiment.sede"`},
		{"broken TOML", `name = "a"`, `name = "a`, `test.toml:5:`},
		{"ill type", "nodes = [10]", `nodes = ["ten"]`, `test.toml:1:`},
		{"unknown algorithm", `algorithm = "ring"`, `algorithm = "rnig"`, `test.toml:3:1: unknown algorithm "rnig", did you mean "ring"?`},
		{"no algorithm", `algorithm = "ring"`, `weights = "1"`, `test.toml:2:3: no algorithm`},
		{"unknown measure", `["shares"]`, `["share"]`, `test.toml:6:1: unknown measure "share", did you mean "shares"?`},
		{"no measures", `measures = ["shares"]`, ``, `test.toml:4:3: no measures`},
		{"unknown contestant", `name = "a"`, "name = \"a\"\ncontestants = [\"jump\"]", `test.toml:6:1: unknown contestant "jump"`},
		{"unknown parameter", `algorithm = "ring"`, "algorithm = \"ring\"\nparams = { vnode = 3 }", `unknown parameter "vnode", did you mean "vnodes"?`},
		{"parameter out of range", `algorithm = "ring"`, "algorithm = \"ring\"\nparams = { vnodes = 0 }", `test.toml:2:3: ring: `},
		{"parameter of another type", `algorithm = "ring"`, "algorithm = \"ring\"\nparams = { vnodes = \"many\" }", `parameter "vnodes" cannot be a string`},
		{"unknown hash", `algorithm = "ring"`, "algorithm = \"ring\"\nhash = \"xxh4\"", `did you mean "xxh`},
		{"ill weights", `algorithm = "ring"`, "algorithm = \"ring\"\nweights = \"1:x\"", `"x" is not a number`},
		{"negative weight", `algorithm = "ring"`, "algorithm = \"ring\"\nweights = \"1:-2\"", `weight -2`},
		{"all weights zero", `algorithm = "ring"`, "algorithm = \"ring\"\nweights = \"0:0\"", `all weights are zero`},
		{"no nodes", "nodes = [10]", "nodes = []", `no nodes`},
		{"zero nodes", "nodes = [10]", "nodes = [0]", `0 nodes, want 1 to`},
		{"negative seeds", `name = "a"`, "name = \"a\"\nseeds = -1", `test.toml:6:1: seeds = -1`},
		{"ill keys", "nodes = [10]", "nodes = [10]\nkeys = \"seq:k:5:1\"", `test.toml:2:1: `},
		{"ill popularity", "nodes = [10]", "nodes = [10]\npopularity = [\"zipf:-1\"]", `zipf:-1`},
		{"counts without a file", "nodes = [10]", "nodes = [10]\npopularity = [\"counts\"]", `it needs a file of keys`},
		{"ill schedule", `["shares"]`, "[\"shares\"]\nschedules = [\"add-two\"]", `test.toml:7:1: schedule "add-two"`},
		{"movement without schedule", `["shares"]`, `["movement"]`, `movement needs schedules`},
		{"empty sweep", `name = "a"`, "name = \"a\"\nsweep = { vnodes = [] }", `sweep of "vnodes" has no values`},
		{"sweep of what is not there", `name = "a"`, "name = \"a\"\nsweep = { vnods = [1] }", `unknown parameter "vnods"`},
		{"nodes file that is not there", "nodes = [10]", `nodes_file = "absent.txt"`, `absent.txt`},
		{"keys file that is not there", "nodes = [10]", "nodes = [10]\nkeys_file = \"absent.txt\"", `absent.txt`},
		{"two contestants of one name", "[[experiment]]", "[[contestant]]\nalgorithm = \"ring\"\n[[experiment]]", `test.toml:4:3: a second contestant "ring"`},
		{"nothing to measure", "[[experiment]]\nname = \"a\"\nmeasures = [\"shares\"]", ``, `no [[experiment]]`},
	} {
		src := strings.Replace(good, tt.old, tt.new, 1)
		if src == good {
			t.Fatalf("%s: nothing replaced", tt.name)
		}
		spec, err := ParseSpec("test.toml", []byte(src))
		if err == nil {
			_, err = NewPlan(spec, Options{Algorithms: known})
		}
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, tt.want) || strings.Contains(msg, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, msg, tt.want)
		}
	}
}

// specOf is a small spec with lines of its own at the top, in the contestant and
// in the experiment.
func specOf(top, contestant, experiment string) string {
	return top + `
nodes = [3]
keys = "seq:10"
[[contestant]]
algorithm = "ring"
` + contestant + `
[[experiment]]
name = "a"
measures = ["balance", "lookup"]
` + experiment + "\n"
}

// A typing error must not take all memory, or a day, before it is refused.
func TestCountsBeyondReasonAreRefusedAtOnce(t *testing.T) {
	for _, tt := range []struct{ top, experiment, want string }{
		{"pool = 9223372036854774784", "", "pool = 9223372036854774784, want a multiple of 1024 up to "},
		{"pool = 137438953472", "", "want a multiple of 1024 up to "},
		{"", "seeds = 9223372036854775807", "test.toml:10:1: seeds = 9223372036854775807, want 1 to "},
		{"", "reps = 2147483647", "reps = 2147483647, want 1 to "},
		{"", "requests = 9223372036854775807", "requests = 9223372036854775807, want "},
		{"", "reps = 100000\nsweep = { vnodes = [1, 2, 3, 4, 5, 6] }", "test.toml:7:3: more than 500000 trials"},
		{"", "sweep = { a = [1,2,3,4,5,6,7,8,9,10], b = [1,2,3,4,5,6,7,8,9,10], c = [1,2,3,4,5,6,7,8,9,10], d = [1,2,3,4,5,6,7,8,9,10], e = [1,2,3,4,5,6,7,8,9,10], f = [1,2,3,4,5,6,7,8,9,10] }",
			"test.toml:10:1: sweep of more than 100000 combinations"},
	} {
		spec, err := ParseSpec("test.toml", []byte(specOf(tt.top, "", tt.experiment)))
		if err == nil {
			_, err = NewPlan(spec, Options{Algorithms: known})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s:\n got %v\nwant %s", tt.top, tt.experiment, err, tt.want)
		}
	}
	for _, o := range []Options{{Seeds: 1 << 40}, {Reps: 1 << 40}} {
		o.Algorithms = known
		if _, err := NewPlan(mustSpec(t, specOf("", "", "")), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestASpecMayBeginWithAByteOrderMarkAndEndItsLinesAsWindowsDoes(t *testing.T) {
	src := "\ufeff" + strings.ReplaceAll(specOf("", "", ""), "\n", "\r\n")
	if _, err := ParseSpec("test.toml", []byte(src)); err != nil {
		t.Error(err)
	}
}

func TestNamesHoldTextOnly(t *testing.T) {
	for want, src := range map[string]string{
		"test.toml:1:1: title \"a\\nb\" holds a control character": specOf(`title = "a\nb"`, "", ""),
		"name \"\\x1b[31m\" holds a control character":             specOf("", `name = "\u001b[31m"`, ""),
		"name \"a\\x7f\" holds a control character":                strings.Replace(specOf("", "", ""), `"a"`, `"a\u007f"`, 1),
	} {
		if _, err := ParseSpec("test.toml", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAValueOfAnotherKindIsRefusedInWordsOfTheSpec(t *testing.T) {
	for src, want := range map[string]string{
		"nodes = 3":                        "test.toml:1:9: nodes cannot be an integer, it wants a list of whole numbers",
		"nodes = [1e3]":                    "nodes cannot be a float, it wants a whole number",
		"nodes = [true]":                   "nodes cannot be a boolean, it wants a whole number",
		"title = 3":                        "title cannot be an integer, it wants text",
		"popularity = 'zipf'":              "popularity cannot be a string, it wants a list of text",
		"contestant = 3":                   "contestant cannot be an integer, it wants [[contestant]]",
		"[[contestant]]\nparams = 3":       "params cannot be an integer, it wants a table",
		"[[experiment]]\nheadline = 'yes'": "headline cannot be a string, it wants true or false",
	} {
		if _, err := ParseSpec("test.toml", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v\nwant %s", src, err, want)
		}
	}
}

func TestAStructureBeyondMaxMemoryIsRefusedWithItsSize(t *testing.T) {
	spec := mustSpec(t, `nodes = [10]
[[contestant]]
algorithm = "ring"
weights = "1000000"
[[experiment]]
name = "a"
measures = ["lookup"]
`)
	_, err := NewPlan(spec, Options{Algorithms: known, MaxMemory: 1 << 30})
	if err == nil || !strings.Contains(err.Error(), "GiB") || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("error %v, want one with both figures", err)
	}
}

func TestNodesAndKeysFilesReplaceGeneratedOnes(t *testing.T) {
	dir := t.TempDir()
	nodes, keys := filepath.Join(dir, "nodes.txt"), filepath.Join(dir, "keys.txt")
	write(t, nodes, "a,1\nb,2\n# c\nadded-node-3,3,zone\n")
	write(t, keys, "x\ny\nx\nz\nx\n")
	s, _ := mustRun(t, mustPlan(t, `
nodes_file = "`+filepath.ToSlash(nodes)+`"
keys_file = "`+filepath.ToSlash(keys)+`"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "a"
measures = ["balance", "load", "movement"]
schedules = ["add-one"]
`))
	if len(s.trials) != 3 {
		t.Fatalf("%d trials, want 3", len(s.trials))
	}
	for _, tr := range s.trials {
		if tr.Nodes != 3 || tr.Keys != 3 || tr.Weights != "nodes.txt" || tr.Skip != "" {
			t.Errorf("%s: %d nodes, %d keys, weights %q, skip %q", tr.Cell, tr.Nodes, tr.Keys, tr.Weights, tr.Skip)
		}
	}
}

func TestEverySuiteIsAPlan(t *testing.T) {
	for _, name := range Suites() {
		spec, err := Suite(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if spec.Title == "" || len(spec.Experiments) == 0 {
			t.Errorf("%s has no title or no experiments", name)
		}
	}
	if _, err := Suite("quack"); err == nil || !strings.Contains(err.Error(), `did you mean "quick"?`) {
		t.Errorf("error %v, want the nearest suite", err)
	}
}

func TestFullHoldsTheExperimentsOfTheSuites(t *testing.T) {
	all, err := Suite("full")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range Suites() {
		if s, _ := Suite(name); name != "full" && name != "gate" && name != "speed" {
			count += len(s.Experiments)
		}
	}
	if len(all.Experiments) != count {
		t.Errorf("%d experiments, the suites have %d", len(all.Experiments), count)
	}
	if all.Pool != PoolSize || all.Keys == "" || all.Hash == "" || all.Seed == 0 {
		t.Errorf("pool %d, keys %q, hash %q, seed %d: what the suites share is lost", all.Pool, all.Keys, all.Hash, all.Seed)
	}
}

func TestCellsAreNamedAlikeWhetherASpecIsReadFromTOMLOrJSON(t *testing.T) {
	toml := mustSpec(t, `nodes = [10]
[[contestant]]
algorithm = "ring"
params = { vnodes = 1e2 }
[[experiment]]
name = "a"
measures = ["shares"]
`)
	raw, err := json.Marshal(toml)
	if err != nil {
		t.Fatal(err)
	}
	again, err := SpecFromJSON("run.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, spec := range []*Spec{toml, again} {
		pl, err := NewPlan(spec, Options{Algorithms: known})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, pl.Trials()[0].Cell)
	}
	if names[0] != "shares/algorithm=ring/nodes=10/vnodes=100" || names[1] != names[0] {
		t.Errorf("cells %q", names)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
