package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ringbench/ringbench/results"
)

// summaryFile is where GitHub Actions names the file whose Markdown it shows as the
// summary of a step.
const summaryFile = "GITHUB_STEP_SUMMARY"

// writeGitHub writes a comparison for the job of GitHub Actions that it runs in:
// annotations to w, and the Markdown to the summary of the step, appended as the
// service asks. Elsewhere there is no summary.
func writeGitHub(c *results.Comparison, w io.Writer) (err error) {
	if err := c.WriteGitHub(w); err != nil {
		return err
	}
	path := os.Getenv(summaryFile)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("cannot write the summary that %s names: %w", summaryFile, err)
	}
	return errors.Join(c.WriteMarkdown(f), f.Close())
}
