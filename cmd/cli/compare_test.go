package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/results"
)

// programs are sides for comparisons: the command over one algorithm, fake, which
// differs from one program to the next.
func programs() map[string]func() {
	over := func(lookup func(h uint64, n int) algorithms.Bucket) func() {
		return func() { Main(fakeInfo(lookup)) }
	}
	return map[string]func(){
		"same":       over(func(h uint64, n int) algorithms.Bucket { return spin(h, n, 20) }),
		"slower":     over(func(h uint64, n int) algorithms.Bucket { return spin(h, n, 60) }),
		"moved":      over(func(h uint64, n int) algorithms.Bucket { return spin(h+1, n, 20) }),
		"invalid":    over(func(h uint64, n int) algorithms.Bucket { return spin(h, n+1, 20) }),
		"allocating": over(func(h uint64, n int) algorithms.Bucket { garbage = new([64]byte); return spin(h, n, 20) }),
		"fickle":     over(func(h uint64, n int) algorithms.Bucket { return spin(h+uint64(os.Getpid())*alone(), n, 20) }),
		"breaking": over(func(h uint64, n int) algorithms.Bucket {
			if alone() == 1 {
				os.Exit(7)
			}
			return spin(h, n, 20)
		}),
		"old": func() {
			fmt.Fprintln(os.Stderr, `old: unknown command "worker"`)
			os.Exit(2)
		},
	}
}

// garbage keeps what a lookup allocates on the heap.
var garbage *[64]byte

// alone returns 1 in a worker that times slices, which has one processor.
func alone() uint64 {
	if runtime.GOMAXPROCS(0) == 1 {
		return 1
	}
	return 0
}

// spin is modulo after some work.
func spin(h uint64, n, work int) algorithms.Bucket {
	x := h
	for range work {
		x = x*0x9e3779b97f4a7c15 + 1
	}
	if x == 0 {
		return 0 // as good as never, so that the work has to be done
	}
	return algorithms.Bucket(h % uint64(n))
}

type fakeMapper struct {
	n      int
	lookup func(h uint64, n int) algorithms.Bucket
}

func (m *fakeMapper) Lookup(h uint64) algorithms.Bucket { return m.lookup(h, m.n) }
func (m *fakeMapper) Len() int                          { return m.n }

func fakeInfo(lookup func(h uint64, n int) algorithms.Bucket) algorithms.Info {
	return algorithms.Define("fake", "a test", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*fakeMapper, error) {
		return &fakeMapper{len(nodes), lookup}, nil
	}).Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits)
}

func TestCompareScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and compares programs: minutes under the race detector")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skip("no go: ", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/compare",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			e.Setenv("GOTOOLCHAIN", "local")
			e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			e.Setenv("HOME", e.WorkDir)
			for _, file := range []string{"tiny.toml", "side.go"} {
				src, err := os.ReadFile(filepath.Join("testdata", file))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(e.WorkDir, file), src, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused":      refused,
			"await":        await,
			"gone":         gone,
			"terminate":    terminate,
			"othermachine": otherMachine,
			"empty":        empty,
		},
	})
}

// terminate FILE asks the process whose number is in the file to end.
func terminate(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGTERM))
}

// gone FILE waits until the process whose number is in the file has ended.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	for range 500 {
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("process %d goes on", pid)
}

// empty DIR fails when anything of a comparison is left in the folder.
func empty(ts *testscript.TestScript, _ bool, args []string) {
	left, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "ringbench-compare-*"))
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("left behind: %q", left)
	}
}

// othermachine DIR makes the run in DIR one of another machine.
func otherMachine(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join(ts.MkAbs(args[0]), results.RecordsFile)
	first, rest, _ := strings.Cut(ts.ReadFile(path), "\n")
	var run results.Run
	ts.Check(json.Unmarshal([]byte(first), &run))
	run.Environment.CPU = "Another 3000"
	b, err := json.Marshal(run)
	ts.Check(err)
	ts.Check(os.WriteFile(path, append(append(b, '\n'), rest...), 0o666))
}

// An algorithm of the program's own that a suite does not measure is named, with the
// command that does.
func TestARunNamesTheAlgorithmsThatItLeavesOut(t *testing.T) {
	mine := fakeInfo(func(h uint64, n int) algorithms.Bucket { return spin(h, n, 1) })
	var stdout, stderr bytes.Buffer
	if code := Run([]string{"run", "quick", "--dry-run"}, strings.NewReader(""), &stdout, &stderr, append(builtin.All(), mine)...); code != 0 {
		t.Fatalf("it ends with %d: %s", code, &stderr)
	}
	if want := "not in this suite: fake; gate has every algorithm: run gate --only '/algorithm=(fake)/'"; !strings.Contains(stderr.String(), want) {
		t.Errorf("no %q in %q", want, stderr.String())
	}
	stderr.Reset()
	if Run([]string{"run", "gate", "--dry-run"}, strings.NewReader(""), &stdout, &stderr, append(builtin.All(), mine)...); stderr.Len() > 0 {
		t.Errorf("the gate leaves nothing out, yet: %s", &stderr)
	}
}
