package algorithms_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/ringbench/ringbench"

// mayImport says, for each top-level folder, which other ones of ours it may
// import. Data flows the same way: from algorithms and workloads through the
// harness into results, and from there to the plots.
var mayImport = map[string][]string{
	"algorithms": {},
	"workloads":  {},
	"results":    {},
	"harness":    {"algorithms", "workloads", "results"},
	"plots":      {"results"},
	"cmd":        {"algorithms", "workloads", "results", "harness", "plots"},
}

// topLevel lists what may stand beside the folders of mayImport. Names that
// begin with a dot may too.
var topLevel = []string{"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "out"}

// layoutFaults reads the tree and returns what breaks the layout. It parses the
// files itself instead of asking the go command, so that a test result is never
// taken from a cache that has not seen a new file.
func layoutFaults(tree fs.FS) ([]string, error) {
	var faults []string
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		_, folder := mayImport[e.Name()]
		if !folder && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) {
			faults = append(faults, fmt.Sprintf("%s: does not belong at the top level", e.Name()))
		}
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "." {
				return nil
			}
			if base := path.Base(name); name == "out" || base == "testdata" || strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir // a module of its own imports as it likes
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		more, err := importFaults(tree, name)
		faults = append(faults, more...)
		return err
	})
	return faults, err
}

func importFaults(tree fs.FS, name string) ([]string, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var faults []string
	from, _, _ := strings.Cut(name, "/")
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		ours, ok := strings.CutPrefix(imported, module+"/")
		if !ok {
			continue
		}
		to, _, _ := strings.Cut(ours, "/")
		switch {
		case from != to && !slices.Contains(mayImport[from], to):
			faults = append(faults, fmt.Sprintf("%s: imports %s; %s may import %q of ours", name, ours, from, mayImport[from]))
		case path.Dir(name) == "algorithms" && ours != "algorithms":
			faults = append(faults, fmt.Sprintf("%s: imports %s; the contract imports none of its children", name, ours))
		}
	}
	return faults, nil
}

func TestTheLayoutAndTheImportsAreOneWay(t *testing.T) {
	faults, err := layoutFaults(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

func TestALayoutFaultIsFound(t *testing.T) {
	file := func(imports ...string) *fstest.MapFile {
		source := "package p\n"
		for _, i := range imports {
			source += "import _ " + strconv.Quote(i) + "\n"
		}
		return &fstest.MapFile{Data: []byte(source)}
	}
	tree := fstest.MapFS{
		"go.mod":                        {},
		".ci/run":                       {},
		"out/latest/x.go":               file(module + "/cmd"),
		"algorithms/algorithms.go":      file("fmt", module+"/algorithms/ring"),
		"algorithms/members_test.go":    file(module + "/algorithms"),
		"algorithms/ring/ring.go":       file(module+"/algorithms", module+"/algorithms/keyhash"),
		"algorithms/ring/ring_test.go":  file(module + "/workloads"),
		"algorithms/ring/testdata/x.go": file(module + "/cmd"),
		"algorithms/peers/go.mod":       {},
		"algorithms/peers/peers.go":     file(module + "/cmd/cli"),
		"harness/run.go":                file(module+"/algorithms/builtin", module+"/workloads", module+"/results"),
		"harness/draw.go":               file(module + "/plots"),
		"plots/plots.go":                file(module + "/results"),
		"plots/run.go":                  file(module + "/harness"),
		"cmd/cli/cli.go":                file(module+"/plots", module+"/harness"),
		"util/util.go":                  file(),
	}
	got, err := layoutFaults(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`util: does not belong at the top level`,
		`algorithms/algorithms.go: imports algorithms/ring; the contract imports none of its children`,
		`algorithms/ring/ring_test.go: imports workloads; algorithms may import [] of ours`,
		`harness/draw.go: imports plots; harness may import ["algorithms" "workloads" "results"] of ours`,
		`plots/run.go: imports harness; plots may import ["results"] of ours`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
