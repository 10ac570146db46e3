package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A call costs more than what these functions do, and every lookup goes through
// them several times.
var inlined = map[string][]string{
	"jump":       {"next", "published"},
	"table":      {"(*Table).Slot"},
	"rendezvous": {"multiplier"},
	"ring":       {"(*Map).start", "(*Map).owner"},
	"anchor":     {"scale", "rehash"},
	"memento":    {"scale", "rehash"},
}

func TestWhatEveryLookupCallsIsInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks the compiler")
	}
	for name, functions := range inlined {
		folder := filepath.Join("..", name)
		// Reading the sources tells the cache of test results what this depends on.
		sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("no sources in %s: %v", folder, err)
		}
		for _, source := range sources {
			if _, err := os.ReadFile(source); err != nil {
				t.Fatal(err)
			}
		}
		says, err := exec.Command("go", "build", "-gcflags=-m", "./"+folder).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, says)
		}
		for _, f := range functions {
			if !strings.Contains(string(says), "can inline "+f+"\n") {
				t.Errorf("%s: %s is too large to be inlined", name, f)
			}
		}
	}
}
