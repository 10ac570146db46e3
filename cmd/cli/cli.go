// Package cli is the ringbench command, as a library: whoever has an algorithm of
// their own measures it beside the built-in ones from a main of one line:
//
//	func main() { cli.Main(append(builtin.All(), mine)...) }
//
// It is the last package of the flow and composes all others; a file holds one
// subcommand. The manual is the comment of the package ringbench.
//
// # Rules of the output
//
//   - What was asked for goes to stdout; messages and progress go to stderr.
//   - An error is one line: what, where, and the mend. It leaves nothing on stdout
//     but what had been streamed there, and no file under its final name.
//   - Bad input is refused before anything is measured.
//   - The exit code is 0 when all is done, 1 when a check failed, 2 for an error
//     of usage or input, 3 when the answer would mislead, 4 when a run is
//     incomplete, and 130 when it was interrupted.
package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // a check failed
	exitInput       = 2 // usage or input error
	exitRefused     = 3 // timed metrics of two machines
	exitIncomplete  = 4
	exitInterrupted = 130
)

// An exit is an error that ends the command with a code other than exitInput.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// Main is the ringbench command over the algorithms. It takes its arguments from
// the process and ends the process.
func Main(infos ...algorithms.Info) {
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, infos...))
}

// Run is the command. The arguments are those after the command's name; the
// result is the exit code. While a run is measured it takes SIGINT, SIGTERM and SIGHUP.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, infos ...algorithms.Info) int {
	inv := &invocation{args: args, stdin: stdin, stdout: stdout, stderr: stderr, infos: infos}
	root := inv.root()
	root.SetArgs(append([]string{}, args...))
	help := &checked{w: stdout}
	root.SetOut(help)
	err := root.Execute()
	if err == nil {
		err = help.err
	}
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "ringbench: %s\n", oneLine(err.Error()))
	var e *exit
	if errors.As(err, &e) {
		return e.code
	}
	return exitInput
}

// A checked writer keeps the first error, which cobra drops when it writes help.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// oneLine keeps an error to one line, whatever a library made of it, and from
// telling the terminal anything but text: file names are not quoted.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// An invocation is one call of the command.
type invocation struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	infos          []algorithms.Info
}

// root returns the command with its subcommands.
func (inv *invocation) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "ringbench",
		Short:         "Measure how algorithms spread keys over nodes",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return noEmptyFlag(cmd) },
	}
	root.SetIn(inv.stdin)
	root.SetErr(inv.stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(inv.run(), inv.list(), inv.report(), inv.plot(), inv.export(), inv.place(), inv.audit(), inv.whatif(), inv.vnodes(), inv.verify(), inv.compare(), inv.doctor(), inv.worker(), inv.version(), inv.completion())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(help())
	return root
}

// help returns the command that shows the help of another.
func help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does and takes",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchCommand(cmd.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noSuchCommand is what arguments of the root command are.
func noSuchCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q, %s", args[0], algorithms.Nearest(args[0], names))
}

// flagError words an error of the flags.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return fmt.Errorf("unknown flag %s, %s", name, algorithms.Nearest(name, names))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s cannot be %q, it wants %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag().Value.Type()))
	}
	return fmt.Errorf("%w, see ringbench %s --help", err, cmd.Name())
}

// noEmptyFlag refuses a flag with nothing as its value, which is most often a
// variable of a script that was never set: to take it for a flag left out would
// answer another question than the one that was asked.
func noEmptyFlag(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			name, _ := pflag.UnquoteUsage(f)
			err = fmt.Errorf("--%s is empty, give it a %s or leave it out", f.Name, name)
		}
	})
	return err
}

// wanted words the type of a flag.
func wanted(flagType string) string {
	switch flagType {
	case "int", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "a " + flagType
}

// arguments refuses more than most arguments, or fewer than least.
func arguments(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", cmd.Name(), want)
		case len(args) > most:
			return fmt.Errorf("%s does not know what to do with %q, it takes %s", cmd.Name(), args[most], want)
		}
		return nil
	}
}

// write hands what write makes to the path, under its final name only when all
// of it is there; the path "-" is stdout.
func (inv *invocation) write(path string, write func(io.Writer) error) error {
	if path != "-" {
		ctx, stop := untilStopped()
		defer stop()
		return results.WriteFile(path, func(w io.Writer) error { return write(stoppable{ctx, w}) })
	}
	out := bufio.NewWriterSize(inv.stdout, 1<<16)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// say writes a message for the reader to stderr.
func (inv *invocation) say(format string, args ...any) {
	fmt.Fprintf(inv.stderr, "ringbench: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// readRun reads a run, given its folder or its records, says what was passed over
// and returns the folder.
func (inv *invocation) readRun(path string) (*results.Set, string, error) {
	set, err := results.Read(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s holds no run, give the folder that ringbench run wrote", path)
		}
		return nil, "", err
	}
	for _, w := range set.Warnings {
		inv.say("%s", w)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return set, path, nil
	}
	return set, filepath.Dir(path), nil
}
