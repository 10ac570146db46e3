package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/plots"
	"github.com/ringbench/ringbench/results"
)

func (inv *invocation) plot() *cobra.Command {
	var output string
	var formats []string
	cmd := &cobra.Command{
		Use:   "plot RUN|HISTORY",
		Short: "Draw the figures of a run anew, or a history",
		Long: `Draw the figures of a run from its records alone and print the files' names.

Of a history, a file that ringbench export --format history appends to, draw the
timings over its runs.`,
		Args: arguments(1, 1, "one RUN, a folder that ringbench run wrote, or one HISTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, f := range formats {
				if err := plots.CheckFormat(f); err != nil {
					return err
				}
			}
			draw := inv.drawRun
			if results.IsHistory(args[0]) {
				draw = inv.drawHistory
			}
			paths, err := draw(args[0], output, formats)
			if err != nil {
				return err
			}
			for _, p := range paths {
				if _, err := fmt.Fprintln(inv.stdout, p); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to the folder `DIR` instead of RUN/plots, or of the history's own")
	cmd.Flags().StringSliceVar(&formats, "format", runFormats, "`FORMATS` to draw: svg, png, pdf")
	return cmd
}

// drawRun draws a run into the folder, into that of its plots when it is "".
func (inv *invocation) drawRun(path, folder string, formats []string) ([]string, error) {
	set, dir, err := inv.readRun(path)
	if err != nil {
		return nil, err
	}
	if folder == "" {
		folder = filepath.Join(dir, plotsDir)
	}
	return plots.WriteAll(folder, set, formats)
}

// drawHistory draws a history into the folder, beside its file when it is "".
func (inv *invocation) drawHistory(path, folder string, formats []string) ([]string, error) {
	lines, warnings, err := results.ReadHistory(path)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		inv.say("%s", w)
	}
	if folder == "" {
		folder = filepath.Dir(path)
	}
	return plots.WriteHistory(folder, lines, formats)
}
