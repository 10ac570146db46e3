package cli

import (
	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/harness/regress"
)

// worker answers a comparison, which starts this program as one of its sides.
func (inv *invocation) worker() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Answer a comparison over stdin and stdout",
		Hidden: true,
		Args:   arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return regress.Work(cmd.Context(), inv.stdin, inv.stdout, inv.infos)
		},
	}
}
