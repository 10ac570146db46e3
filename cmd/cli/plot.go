package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/plots"
)

func (inv *invocation) plot() *cobra.Command {
	var output string
	var formats []string
	cmd := &cobra.Command{
		Use:   "plot RUN",
		Short: "Draw the figures of a run anew",
		Long:  "Draw the figures of a run from its records alone and print the files' names.",
		Args:  arguments(1, 1, "one RUN, a folder that ringbench run wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, f := range formats {
				if err := plots.CheckFormat(f); err != nil {
					return err
				}
			}
			set, dir, err := inv.readRun(args[0])
			if err != nil {
				return err
			}
			if output == "" {
				output = filepath.Join(dir, plotsDir)
			}
			paths, err := plots.WriteAll(output, set, formats)
			if err != nil {
				return err
			}
			for _, p := range paths {
				fmt.Fprintln(inv.stdout, p)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to the folder `DIR` instead of RUN/plots")
	cmd.Flags().StringSliceVar(&formats, "format", runFormats, "`FORMATS` to draw: svg, png, pdf")
	return cmd
}
