package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/results"
)

func TestMain(m *testing.M) {
	commands := programs()
	commands["ringbench"] = func() { Main(builtin.All()...) }
	testscript.Main(m, commands)
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole commands: minutes under the race detector")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			spec, err := os.ReadFile("testdata/tiny.toml")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "tiny.toml"), spec, 0o666)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused":   refused,
			"tear":      tear,
			"await":     await,
			"sameexact": sameExact,
		},
	})
}

// refused CODE ARG... runs ringbench, which must end with the code, say why in
// one line of stderr and nothing on stdout, and leave the files as they were.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	before := filesBelow(ts, ts.MkAbs("."))
	err = ts.Exec("ringbench", args[1:]...)
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != code {
		ts.Fatalf("ended with %v, want exit status %d", err, code)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("it wrote to stdout: %s", out)
	}
	text := ts.ReadFile("stderr")
	if !strings.HasPrefix(text, "ringbench: ") || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line of error: %q", text)
	}
	if diff := cmp.Diff(before, filesBelow(ts, ts.MkAbs("."))); diff != "" {
		ts.Fatalf("the files changed (-before +after):\n%s", diff)
	}
}

// filesBelow returns the names and sizes of what is in the folder.
func filesBelow(ts *testscript.TestScript, dir string) map[string]int64 {
	sizes := map[string]int64{}
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			sizes[path] = info.Size()
		}
		return err
	}))
	return sizes
}

// tear DIR cuts the records of a run off in the middle of a line, half way
// through the file, as kill -9 and a lost disk cache do.
func tear(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join(ts.MkAbs(args[0]), results.RecordsFile)
	text := ts.ReadFile(path)
	cut := len(text)/2 + strings.IndexByte(text[len(text)/2:], '\n') - 20
	ts.Check(os.Truncate(path, int64(cut)))
}

// await FILE PATTERN waits until the file holds what matches.
func await(ts *testscript.TestScript, _ bool, args []string) {
	path, pattern := ts.MkAbs(args[0]), regexp.MustCompile(args[1])
	for range 3000 {
		if b, err := os.ReadFile(path); err == nil && pattern.Match(b) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never held %s", args[0], args[1])
}

// sameexact RUN RUN compares all that is exact in two runs.
func sameExact(ts *testscript.TestScript, _ bool, args []string) {
	a, b := exactOf(ts, args[0]), exactOf(ts, args[1])
	if len(a) == 0 {
		ts.Fatalf("%s holds nothing exact", args[0])
	}
	if diff := cmp.Diff(a, b); diff != "" {
		ts.Fatalf("%s and %s differ (-first +second):\n%s", args[0], args[1], diff)
	}
}

// exactOf returns the trials of a run without what a clock or the heap told.
func exactOf(ts *testscript.TestScript, dir string) []results.Trial {
	set, err := results.Read(ts.MkAbs(dir))
	ts.Check(err)
	var exact []results.Trial
	for _, t := range set.Trials {
		if t.Rep > 0 {
			continue // how often a timing is repeated is no part of the answer
		}
		t.Timing = nil
		maps.DeleteFunc(t.Values, func(name string, _ float64) bool {
			m, _ := results.MetricByName(name)
			return m.Kind != results.Computed
		})
		exact = append(exact, t)
	}
	slices.SortFunc(exact, func(a, b results.Trial) int {
		return strings.Compare(fmt.Sprint(a.Key()), fmt.Sprint(b.Key()))
	})
	return exact
}
