package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
)

// completions write the script for a shell.
var completions = map[string]func(*cobra.Command, io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	"zsh":        (*cobra.Command).GenZshCompletion,
}

func (inv *invocation) completion() *cobra.Command {
	shells := slices.Sorted(maps.Keys(completions))
	return &cobra.Command{
		Use:   "completion {" + strings.Join(shells, "|") + "}",
		Short: "Print the script that completes commands in a shell",
		Long: `Print the script that completes commands and flags in a shell. For bash:

  source <(ringbench completion bash)`,
		Args:      arguments(1, 1, "one shell: "+strings.Join(shells, ", ")),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := completions[args[0]]
			if !ok {
				return fmt.Errorf("no completion for %q, %s", args[0], algorithms.Nearest(args[0], shells))
			}
			return write(cmd.Root(), inv.stdout)
		},
	}
}
