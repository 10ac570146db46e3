package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/plots"
)

func (inv *invocation) report() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write the HTML report of a run anew",
		Long:  "Write the report of a run as one HTML file that needs no other, from its records alone.",
		Args:  arguments(1, 1, "one RUN, a folder that ringbench run wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			set, dir, err := inv.readRun(args[0])
			if err != nil {
				return err
			}
			if output == "" {
				output = filepath.Join(dir, reportFile)
			}
			return inv.write(output, func(w io.Writer) error { return plots.WriteReport(w, set) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of RUN/report.html; - is stdout")
	return cmd
}
