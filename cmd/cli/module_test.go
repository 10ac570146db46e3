package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/ringbench/ringbench/results"
)

// The four steps of "Add an algorithm" in the README, in a module outside this
// repository: testdata/mine is what its author writes.
func TestAnAlgorithmOfAnotherModuleIsListedProvenAndMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and its test")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The files end in .txt so that they are no packages of this module.
	for from, to := range map[string]string{"mine.go.txt": "mine.go", "mine_test.go.txt": "mine_test.go", "main.go.txt": "cmd/bench/main.go", "tiny.toml.txt": "tiny.toml"} {
		write(t, filepath.Join(dir, to), read(t, filepath.Join("testdata/mine", from)))
	}
	write(t, filepath.Join(dir, "go.mod"), outsideMod(t, root))
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))

	bench := filepath.Join(dir, "bench")
	if runtime.GOOS == "windows" {
		bench += ".exe"
	}
	runIn(t, dir, "go", "build", "-o", bench, "./cmd/bench")
	var listed []algorithmEntry
	if err := json.Unmarshal(runIn(t, dir, bench, "list", "--json"), &listed); err != nil {
		t.Fatal(err)
	}
	last := listed[len(listed)-1]
	if last.Name != "mine" || last.Remove != "last" || last.Weights {
		t.Errorf("the last one listed is %+v", last)
	}
	runIn(t, dir, "go", "test", "-vet=off", ".")
	runIn(t, dir, bench, "run", "tiny.toml", "-q", "-o", "out")
	set, err := results.Read(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, tr := range set.Trials {
		if tr.Algorithm == "mine" && tr.Skip == "" {
			measured[tr.Measure] = true
		}
	}
	for _, m := range []string{"balance", "movement", "lookup", "memory"} {
		if !measured[m] {
			t.Errorf("%s of the algorithm was not measured", m)
		}
	}
}

// outsideMod returns the go.mod of a module that uses the one at root. It requires
// what that one requires, as go mod tidy would have it write down, so that go has
// nothing to look up: all it needs is what this module's own go.sum names.
func outsideMod(t *testing.T, root string) []byte {
	t.Helper()
	mod, err := modfile.Parse("go.mod", read(t, filepath.Join(root, "go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	ours := mod.Module.Mod.Path
	for _, tool := range mod.Tool {
		err = errors.Join(err, mod.DropTool(tool.Path))
	}
	err = errors.Join(err, mod.AddModuleStmt("example.org/mine"), mod.AddRequire(ours, "v0.0.0"), mod.AddReplace(ours, "", filepath.ToSlash(root), ""))
	text, ferr := mod.Format()
	if err = errors.Join(err, ferr); err != nil {
		t.Fatal(err)
	}
	return text
}

// runIn runs a command in the folder and returns what it prints. Go may fetch what
// go.mod and go.sum name, and may not look for more.
func runIn(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.Bytes()
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
