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
	"csv":      results.WriteCSV,
	"benchfmt": results.WriteBenchfmt,
}

func (inv *invocation) export() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "export RUN --format FORMAT",
		Short: "Write the records of a run for another program",
		Long: `Write the records of a run for another program:

  csv       one line for each value of each trial
  benchfmt  what benchstat and the tools of golang.org/x/perf read`,
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
			return inv.write(output, func(w io.Writer) error { return write(w, set) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT`: csv, benchfmt")
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE`; - is stdout")
	return cmd
}
