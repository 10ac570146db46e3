package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// call runs the command in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(args, strings.NewReader(""), &out, &errs, builtin.All()...)
	return code, out.String(), errs.String()
}

func TestEveryCommandOfTheManualParses(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../ringbench/main.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for line := range strings.Lines(file.Doc.Text()) {
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "ringbench" || !strings.HasPrefix(line, "\t") {
			continue
		}
		cmd, rest, err := (&invocation{}).root().Find(args[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%s does not parse: %v", strings.TrimSpace(line), err)
		}
		shown[cmd.Name()] = true
	}
	for _, cmd := range (&invocation{}).root().Commands() {
		if cmd.Name() != "help" && !cmd.Hidden && !shown[cmd.Name()] {
			t.Errorf("the manual does not show %s", cmd.Name())
		}
	}
}

func TestListedWorkloadsParse(t *testing.T) {
	parse := map[string]func(string) error{
		"keys": func(spec string) error { _, err := workloads.ParseKeys(spec); return err },
		"popularity": func(spec string) error {
			_, err := workloads.ParsePopularity(spec, 2, []float64{1, 2})
			return err
		},
		"schedule": func(spec string) error {
			_, err := workloads.ParseSchedule(spec, 3, workloads.Rand(1))
			return err
		},
	}
	for _, e := range workloadEntries {
		if err := parse[e.Part](e.Example); err != nil {
			t.Errorf("%s %s: %v", e.Part, e.Example, err)
		}
	}
}

// A screen is a buffer that may be looked at while it is written to.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Ctrl-C comes as a signal to the process, here the test's own. It comes while
// the timings are under way: by then the exact part is on the screen.
func TestInterruptKeepsWhatIsDone(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil || self.Signal(syscall.Signal(0)) != nil {
		t.Skip("this system sends no signals")
	}
	dir := t.TempDir()
	spec := filepath.Join(dir, "long.toml")
	text := `
nodes = [4]
keys = "seq:500"
[[contestant]]
algorithm = "ring"
[[experiment]]
name = "spread"
measures = ["balance"]
[[experiment]]
name = "timings"
measures = ["lookup"]
reps = 100000
`
	if err := os.WriteFile(spec, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	var out, errs screen
	var early string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3000 {
			b, _ := os.ReadFile(filepath.Join(run, results.RecordsFile))
			if bytes.Contains(b, []byte(`"lookup-ns"`)) {
				early = out.String()
				self.Signal(syscall.SIGINT)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	code := Run([]string{"run", spec, "-o", run, "-q"}, nil, &out, &errs, builtin.All()...)
	<-done
	stdout, stderr := out.String(), errs.String()
	if !strings.Contains(early, "EXACT") {
		t.Errorf("the exact part is not shown before the timings:\n%s", early)
	}
	if code != exitInterrupted || !strings.Contains(stderr, "--resume "+run) {
		t.Errorf("exit %d, want 130 and how to go on: %s", code, stderr)
	}
	for _, want := range []string{"EXACT", "MEASURED HERE", "Report  ", "Next    ringbench run --resume " + run} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the screen lacks %q:\n%s", want, stdout)
		}
	}
	set, err := results.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	if set.End == nil || set.End.Complete || set.End.Reason != "interrupted" || set.End.Trials != len(set.Trials) {
		t.Errorf("the run ends with %+v", set.End)
	}
	for _, name := range []string{summaryCSV, summaryText, reportFile, plotsDir + "/lookup.svg"} {
		if _, err := os.Stat(filepath.Join(run, name)); err != nil {
			t.Error(err)
		}
	}
}

// A broken algorithm does not pass the gate: its timings are void and the run
// fails, though it is complete.
func TestAFailedCheckEndsInOne(t *testing.T) {
	broken := algorithms.Define("broken", "a test", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (lopsided, error) {
		return lopsided(len(nodes)), nil
	})
	dir := t.TempDir()
	spec := filepath.Join(dir, "broken.toml")
	text := `
nodes = [4]
keys = "seq:500"
[[contestant]]
algorithm = "broken"
[[experiment]]
name = "timings"
measures = ["lookup"]
reps = 1
`
	if err := os.WriteFile(spec, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := Run([]string{"run", spec, "-o", filepath.Join(dir, "run"), "-q"}, nil, &stdout, &stderr, append(builtin.All(), broken)...)
	if code != exitFailed || !strings.Contains(stderr.String(), "check failed: broken over 4 nodes") {
		t.Errorf("exit %d, want 1 and which check failed: %s", code, &stderr)
	}
	stderr.Reset()
	code = Run([]string{"run", "--resume", filepath.Join(dir, "run"), "-q"}, nil, &stdout, &stderr, append(builtin.All(), broken)...)
	if code != exitFailed || !strings.Contains(stderr.String(), "check failed: lookup/algorithm=broken") {
		t.Errorf("resumed: exit %d, want 1 and which check failed: %s", code, &stderr)
	}
}

// lopsided names its first node only.
type lopsided int

func (lopsided) Lookup(uint64) algorithms.Bucket { return 0 }
func (l lopsided) Len() int                      { return int(l) }

func TestPlaceSaysWhatLookupSays(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[ -~é]{1,8}`), 1, 5, rapid.ID).Draw(t, "names")
		keys := rapid.SliceOfN(rapid.StringMatching(`[ -~é]{0,8}`), 1, 20).Draw(t, "keys")
		replicas := rapid.IntRange(1, len(names)).Draw(t, "replicas")
		file := filepath.Join(dir, "keys")
		if err := os.WriteFile(file, []byte(strings.Join(keys, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		args := []string{"place", "--algorithm", "ring", "--keys-file", file, "--replicas", fmt.Sprint(replicas)}
		for _, n := range names {
			args = append(args, "--node", n+"=1")
		}
		code, stdout, stderr := call(args...)
		if code != exitDone {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		m, err := ring.New(algorithms.Nodes(names...), ring.Default)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]string
		for _, k := range keys {
			owners := make([]algorithms.Bucket, replicas)
			m.LookupN(xxh3.HashString(k), owners)
			if owners[0] != m.Lookup(xxh3.HashString(k)) {
				t.Fatalf("the first replica of %q is not its owner", k)
			}
			row := []string{k}
			for _, b := range owners {
				row = append(row, names[b])
			}
			want = append(want, row)
		}
		got, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got[1:]); diff != "" {
			t.Errorf("(-lookup +place):\n%s", diff)
		}
	})
}

// A keyed algorithm hashes keys its own way. It has points for none but the
// nodes that it reaches.
type keyed struct {
	*ring.Map
	hash  func(string) uint64
	reach int
}

func (k keyed) LookupKey(key string) algorithms.Bucket { return k.Lookup(k.hash(key)) }

func (k keyed) LookupN(h uint64, dst []algorithms.Bucket) int {
	return k.Map.LookupN(h, dst[:min(len(dst), k.reach)])
}

// A hasher tells the hash that keyed uses.
type hasher struct{ keyed }

func (k hasher) HashKey(key string) uint64 { return k.hash(key) }

func TestPlaceFindsReplicasAtTheHashOfTheAlgorithmItself(t *testing.T) {
	other := func(key string) uint64 { return xxh3.HashString("other " + key) }
	build := func(nodes []algorithms.Node, reach int) (keyed, error) {
		m, err := ring.New(nodes, ring.Default)
		return keyed{m, other, reach}, err
	}
	define := func(name string, reach int) algorithms.Info {
		return algorithms.Define(name, "a test", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (hasher, error) {
			k, err := build(nodes, reach)
			return hasher{k}, err
		})
	}
	secret := algorithms.Define("secret", "a test", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (keyed, error) {
		return build(nodes, len(nodes))
	})
	place := func(algorithm string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		args := []string{"place", "--algorithm", algorithm, "--node", "a", "--node", "b", "--node", "c", "--keys", "seq:k:0:20", "--replicas", "3"}
		code := Run(args, nil, &stdout, &stderr, define("tells", 3), define("short", 2), secret)
		return code, stdout.String(), stderr.String()
	}
	m, err := ring.New(algorithms.Nodes("a", "b", "c"), ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	want := "key,node,node2,node3\n"
	for i := range 20 {
		key := fmt.Sprint("k", i)
		var dst [3]algorithms.Bucket
		m.LookupN(other(key), dst[:])
		want += fmt.Sprintf("%s,%c,%c,%c\n", key, 'a'+dst[0], 'a'+dst[1], 'a'+dst[2])
	}
	code, stdout, stderr := place("tells")
	if diff := cmp.Diff(want, stdout); code != exitDone || diff != "" {
		t.Errorf("exit %d, %s (-want +got):\n%s", code, stderr, diff)
	}
	for algorithm, mend := range map[string]string{
		"secret": "secret hashes keys its own way and does not tell how",
		"short":  "--replicas 3 over 2 nodes that take keys",
	} {
		if code, stdout, stderr := place(algorithm); code != exitInput || stdout != "" || !strings.Contains(stderr, mend) {
			t.Errorf("%s: exit %d, %q, %s", algorithm, code, stdout, stderr)
		}
	}
}

func TestSizesOnTheCommandLine(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "512B": 512, "1KiB": 1024, "2K": 2048, "1.5 GiB": 3 << 29, "500MB": 500e6, "1T": 1 << 40,
	} {
		if got, err := memoryLimit(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "GiB", "1XB", "NaN", "Inf", "1e30", "1 2"} {
		if got, err := memoryLimit(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
	for n, want := range map[int64]string{1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 3 << 29: "1.5 GiB", math.MaxInt64: "8388608.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d bytes are written %q, want %q", n, got, want)
		}
	}
}

func TestDurationsAreRough(t *testing.T) {
	for seconds, want := range map[float64]string{0.01: "about 1 s", 4: "about 4 s", 88: "about 90 s", 200: "about 3 min", 9000: "about 2.5 h"} {
		if got := about(time.Duration(seconds * float64(time.Second))); got != want {
			t.Errorf("%v s are %q, want %q", seconds, got, want)
		}
	}
}

// The lines of a run without a terminal: one for each experiment that has ended.
func TestProgressWithoutATerminal(t *testing.T) {
	var b bytes.Buffer
	m := newMeter(&b, false, time.Now())
	m.update(harness.Progress{Experiment: "spread", Fraction: 0.1})
	m.update(harness.Progress{Experiment: "spread", Fraction: 0.25, Ended: true})
	m.update(harness.Progress{Experiment: "timings", Fraction: 1, Ended: true, Timed: true})
	want := " 25%  spread (exact) done after 0 s\n100%  timings (measured) done after 0 s\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	newMeter(&b, true, time.Now()).update(harness.Progress{Experiment: "spread", Ended: true})
	if b.Len() > 0 {
		t.Errorf("-q is not silent: %q", &b)
	}
}

// With the weights of a file, "ring" and "ring 1:2" are one contestant.
func TestANodesFileTakesThePlaceOfWeightPatterns(t *testing.T) {
	s, err := loadSpec("testdata/tiny.toml")
	if err != nil {
		t.Fatal(err)
	}
	(&runFlags{nodesFile: "nodes.csv"}).override(s)
	want := []string{"modulo", "ring", "bounded-ring"}
	var got []string
	for _, c := range s.Contestants {
		got = append(got, c.Name)
		if c.Weights != "" {
			t.Errorf("%s keeps the weights %s", c.Name, c.Weights)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contestants (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, s.Experiments[0].Contestants); diff != "" {
		t.Errorf("contestants of %s (-want +got):\n%s", s.Experiments[0].Name, diff)
	}
}

func TestAnErrorIsOneLineOfText(t *testing.T) {
	if got, want := oneLine("no \x1b[31mred\a\tfile\r\nnor\x00 \u009b31m"), "no \ufffd[31mred\ufffd\ufffdfile; nor\ufffd \ufffd31m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhatIsToBeTypedNextIsOneWordToAShell(t *testing.T) {
	for word, want := range map[string]string{
		"out/latest":  "out/latest",
		`out\latest`:  `out\latest`,
		"my run":      "'my run'",
		"it's $(one)": `'it'\''s $(one)'`,
		"":            "''",
	} {
		if got := typed(word); got != want {
			t.Errorf("%q is typed %s, want %s", word, got, want)
		}
	}
}

func TestARunThatIsResumedElsewhereSaysSo(t *testing.T) {
	dir := t.TempDir()
	spec, run := filepath.Join(dir, "tiny.toml"), filepath.Join(dir, "run")
	text := `
nodes = [4]
keys = "seq:500"
[[contestant]]
algorithm = "modulo"
[[experiment]]
name = "spread"
measures = ["balance"]
`
	if err := os.WriteFile(spec, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("run", spec, "-o", run, "-q"); code != 0 {
		t.Fatal(stderr)
	}
	if _, _, stderr := call("run", "--resume", run, "-q"); stderr != "" {
		t.Errorf("resumed where it was begun, it says %q", stderr)
	}
	file := filepath.Join(run, results.RunFile)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"arch": "`), []byte(`"arch": "other-`), 1)
	b = bytes.Replace(b, []byte(`"go_version": "`), []byte(`"go_version": "other-`), 1)
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, stderr := call("run", "--resume", run, "-q")
	set, err := results.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"begun on another machine", "begun by another program"} {
		if !strings.Contains(stderr, want) || !strings.Contains(strings.Join(set.End.Warnings, "\n"), want) {
			t.Errorf("neither said nor recorded: %s\nsaid %q, recorded %q", want, stderr, set.End.Warnings)
		}
	}
}

// A fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestHelpThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, args := range [][]string{{}, {"help", "place"}, {"place", "--help"}} {
		var stderr strings.Builder
		if code := Run(args, strings.NewReader(""), fullDisk{}, &stderr); code != exitInput || stderr.String() != "ringbench: no space left\n" {
			t.Errorf("%q: exit %d, %q", args, code, stderr.String())
		}
	}
}
