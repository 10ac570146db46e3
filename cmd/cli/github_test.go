package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

func TestAJobOfGitHubGetsAnnotationsAndASummary(t *testing.T) {
	c := &results.Comparison{Base: "main", Head: "topic", Rows: []results.Change{
		{Name: "balance/algorithm=ring/nodes=10", Metric: "balance-cv", Base: 0.1, Head: 0.2, Verdict: results.Regressed},
	}}
	summary := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(summary, []byte("what a step before wrote\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", summary} {
		t.Setenv(summaryFile, path)
		var out bytes.Buffer
		if err := writeGitHub(c, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "::error ") || strings.Contains(out.String(), "###") {
			t.Errorf("stdout %q, want annotations alone", out.String())
		}
	}
	b, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.HasPrefix(text, "what a step before wrote\n") || strings.Count(text, "### ringbench: 1 regression") != 1 {
		t.Errorf("summary %q", text)
	}
	t.Setenv(summaryFile, filepath.Join(t.TempDir(), "absent", "summary.md"))
	if err := writeGitHub(c, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), summaryFile) {
		t.Errorf("an unwritable summary: %v", err)
	}
}
