package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// exports are the formats for other programs.
var exports = map[string]func(io.Writer, *results.Set) error{
	"csv":                  results.WriteCSV,
	"benchfmt":             results.WriteBenchfmt,
	"github-action":        results.WriteGitHubAction,
	"github-action-bigger": results.WriteGitHubActionBigger,
	"bencher":              results.WriteBencher,
	"junit":                results.WriteJUnit,
	history:                results.WriteHistory,
}

// history is the one format whose file grows.
const history = "history"

func (inv *invocation) export() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "export RUN --format FORMAT",
		Short: "Write the records of a run for another program",
		Long: `Write the records of a run for another program:

  csv                   one line for each value of each trial
  benchfmt              what benchstat and the tools of golang.org/x/perf read
  github-action         github-action-benchmark, its customSmallerIsBetter
  github-action-bigger  the same for customBiggerIsBetter
  bencher               the metric format of Bencher
  junit                 a test report, one test a cell
  history               the medians of the timings on one line, which is appended
                        to the file of -o; ringbench plot draws such a file`,
		Args: arguments(1, 1, "one RUN, a folder that ringbench run wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			known := slices.Sorted(maps.Keys(exports))
			write, ok := exports[format]
			switch {
			case format == "":
				return fmt.Errorf("export needs --format, %s", algorithms.Nearest("", known))
			case !ok:
				return fmt.Errorf("unknown format %q, %s", format, algorithms.Nearest(format, known))
			}
			set, _, err := inv.readRun(args[0])
			if err != nil {
				return err
			}
			if format == history && output != "-" {
				return results.AppendHistory(output, set)
			}
			return inv.write(output, func(w io.Writer) error { return write(w, set) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT`, one of those above")
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE`; - is stdout")
	return cmd
}
