package regress

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes the files of a tree.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A module that is built in another place than its own still finds the modules
// beside its repository, and those within it from its own revision.
func TestReplacementsOutsideOfTheRepositoryAreNamedInFull(t *testing.T) {
	top := t.TempDir()
	mod := "module example.org/x\n\ngo 1.26\n\nreplace example.org/beside => ../beside\n\nreplace example.org/within => ./within\n"
	write(t, top, map[string]string{"repo/go.mod": mod, "repo/go.sum": "sums\n", "beside/go.mod": "module example.org/beside\n"})
	write(t, top, map[string]string{"work/base/go.mod": mod, "work/base/go.sum": "sums\n", "work/base/cmd/x.go": "package x\n"})
	b := &build{folder: filepath.Join(top, "work"), dir: filepath.Join(top, "work/base/cmd"), from: filepath.Join(top, "repo/cmd"), name: "base"}
	args, err := b.modules()
	if err != nil {
		t.Fatal(err)
	}
	if want := "-modfile=" + filepath.Join(top, "work/base.mod"); len(args) != 1 || args[0] != want {
		t.Fatalf("flags %q, want %q", args, want)
	}
	got, err := os.ReadFile(filepath.Join(top, "work/base.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"example.org/beside => " + filepath.ToSlash(filepath.Join(top, "beside")), "example.org/within => ./within"} {
		if !strings.Contains(filepath.ToSlash(string(got)), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if sums, err := os.ReadFile(filepath.Join(top, "work/base.sum")); string(sums) != "sums\n" {
		t.Errorf("sums %q, %v", sums, err)
	}
}

// Vendored modules stand in the checkout, and go refuses a go.mod that differs from
// what they were copied by.
func TestAVendoredModuleNeedsNoFlags(t *testing.T) {
	top := t.TempDir()
	write(t, top, map[string]string{
		"repo/go.mod":                  "module example.org/x\n\ngo 1.26\n\nreplace example.org/beside => ../beside\n",
		"work/base/go.mod":             "module example.org/x\n\ngo 1.26\n\nreplace example.org/beside => ../beside\n",
		"work/base/vendor/modules.txt": "",
		"beside/go.mod":                "module example.org/beside\n",
	})
	b := &build{folder: filepath.Join(top, "work"), dir: filepath.Join(top, "work/base"), from: filepath.Join(top, "repo"), name: "base"}
	if args, err := b.modules(); err != nil || args != nil {
		t.Errorf("flags %q, %v", args, err)
	}
}

func TestAModuleInItsOwnPlaceNeedsNoFlags(t *testing.T) {
	top := t.TempDir()
	write(t, top, map[string]string{"go.mod": "module example.org/x\n\nreplace example.org/beside => ../beside\n"})
	b := &build{folder: t.TempDir(), dir: top, from: top, name: "head"}
	if args, err := b.modules(); err != nil || args != nil {
		t.Errorf("flags %q, %v", args, err)
	}
}

// What a killed comparison left is removed; what a running one works in is not.
func TestOnlyFoldersOfDeadComparisonsAreRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	dead := filepath.Join(temp, folderPrefix+"1")
	write(t, temp, map[string]string{folderPrefix + "1" + lockSuffix: "", folderPrefix + "1/base-1": "a program"})
	running, err := NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder of a dead comparison is still there")
	}
	RemoveLeftovers()
	if _, err := os.Stat(running.dir); err != nil {
		t.Errorf("the folder of a running comparison is gone: %v", err)
	}
	if err := running.Remove(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
