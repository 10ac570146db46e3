package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness/regress"
	"github.com/ringbench/ringbench/results"
)

// gateSuite is what a comparison of two programs runs.
const gateSuite = "gate"

// defaultPackage is what is built of a repository.
const defaultPackage = "./cmd/ringbench"

// comparisonFormats write a comparison.
var comparisonFormats = map[string]func(*results.Comparison, io.Writer) error{
	"text":     (*results.Comparison).WriteText,
	"markdown": (*results.Comparison).WriteMarkdown,
	"json":     func(c *results.Comparison, w io.Writer) error { return writeJSON(w, c) },
	"junit":    (*results.Comparison).WriteJUnit,
	"github":   writeGitHub,
}

type compareFlags struct {
	source                 regress.Source
	baseBinary, headBinary string
	suite, only            string
	moved, worse           string // patterns of what is accepted
	rounds                 int
	strict, exact, count   bool
	format                 string
	output                 string
	maxMemory              string
	quiet                  bool
}

func (inv *invocation) compare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use: `compare --base GITREF
  ringbench compare --base-binary F --head-binary F
  ringbench compare BASE HEAD`,
		Short: "Say whether one program is slower than another, or places keys otherwise",
		Long: `With --base, build the commit that the base and head have in common and head, which
is the working tree unless given, and run both side by side on this machine: the
exact metrics once, the timed ones in rounds of fresh processes that take turns.
With --base-binary and --head-binary, run two programs that are built already.
The programs' command must be built on cli.Main, as ringbench is.

With BASE and HEAD, compare two runs by their records. Runs of different machines
compare by --exact only, and a difference in time below 10% is no evidence.

A regression, a changed owner of a key, and wrong answers end it with exit code 1;
what is inconclusive does with --strict. What is meant, say with --accept-worse and
--accept-placement.`,
		Args: arguments(0, 2, "--base, two binaries, or two runs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args, cmd.Flags().Changed); err != nil {
				return err
			}
			return inv.compareSides(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.source.Base, "base", "", "build and run the commit that head has in common with `GITREF`")
	fl.StringVar(&f.source.Head, "head", "", "build and run `GITREF` instead of the working tree")
	fl.StringVar(&f.source.Package, "package", defaultPackage, "the command's package `P`, as go build takes it")
	fl.IntVar(&f.source.Layouts, "layouts", regress.DefaultLayouts, "`N`: layouts of its functions that each side is linked in")
	fl.StringVar(&f.baseBinary, "base-binary", "", "`F`: the program of the base")
	fl.StringVar(&f.headBinary, "head-binary", "", "`F`: the program of the head")
	fl.StringVar(&f.suite, "suite", gateSuite, "run the `SUITE` or SPEC.toml")
	fl.StringVar(&f.only, "only", "", "compare only the cells whose name matches `REGEX`")
	fl.IntVar(&f.rounds, "rounds", regress.DefaultRounds, "`N`: rounds of each cell; undecided ones get up to twice as many")
	fl.StringVar(&f.moved, "accept-placement", "", "in cells that match `REGEX` keys may change their owner")
	fl.StringVar(&f.worse, "accept-worse", "", "what matches `REGEX` as \"CELL METRIC\" may get worse")
	fl.BoolVar(&f.exact, "exact", false, "compare the exact metrics alone, which hold on any machine")
	fl.BoolVar(&f.count, "instructions", false, "count instructions, too, which decides nothing; needs valgrind")
	fl.BoolVar(&f.strict, "strict", false, "fail on what is inconclusive, too")
	fl.StringVar(&f.format, "format", "text", "`FORMAT`: text, markdown, json, junit, github")
	fl.StringVarP(&f.output, "output", "o", "-", "write to `FILE`; - is stdout")
	fl.StringVar(&f.maxMemory, "max-memory", "", "`SIZE` that one structure may take, default half of what is available")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// check refuses flags that make no sense, by themselves or together.
func (f *compareFlags) check(args []string, given func(string) bool) error {
	stored := len(args) > 0
	binaries := f.baseBinary != "" || f.headBinary != ""
	if f.format != "" && comparisonFormats[f.format] == nil {
		return fmt.Errorf("unknown format %q, %s", f.format, algorithms.Nearest(f.format, slices.Sorted(maps.Keys(comparisonFormats))))
	}
	switch {
	case len(args) == 1:
		return errors.New("compare needs two runs, BASE and HEAD, or --base GITREF to build and run both sides")
	case !stored && !binaries && f.source.Base == "":
		return errors.New("compare needs --base GITREF, --base-binary and --head-binary, or two runs")
	case stored && (binaries || f.source.Base != "" || f.source.Head != ""):
		return errors.New("two runs are compared by their records, leave the flags about programs out")
	case binaries && (f.source.Base != "" || f.source.Head != "" || given("package") || given("layouts")):
		return errors.New("--base-binary and --head-binary are built already, leave the flags about building out")
	case binaries && (f.baseBinary == "" || f.headBinary == ""):
		return errors.New("--base-binary and --head-binary go together")
	case f.rounds < regress.LeastRounds:
		return fmt.Errorf("--rounds cannot be %d, it wants %d or more", f.rounds, regress.LeastRounds)
	case f.source.Layouts < 1:
		return fmt.Errorf("--layouts cannot be %d, it wants 1 or more", f.source.Layouts)
	}
	if stored {
		for _, flag := range []string{"suite", "only", "rounds", "package", "layouts", "instructions", "max-memory"} {
			if given(flag) {
				return fmt.Errorf("--%s is for programs that are run, two runs hold what they hold", flag)
			}
		}
	}
	return nil
}

// compareSides compares what the arguments name and writes the result.
func (inv *invocation) compareSides(f *compareFlags, args []string) error {
	moved, err := pattern("--accept-placement", f.moved)
	if err != nil {
		return err
	}
	worse, err := pattern("--accept-worse", f.worse)
	if err != nil {
		return err
	}
	var c *results.Comparison
	start := time.Now()
	if len(args) == 2 {
		c, err = inv.compareRuns(args[0], args[1], f.exact, moved)
	} else {
		c, err = inv.comparePrograms(f, moved)
	}
	if err != nil {
		return err
	}
	if worse != nil {
		c.AcceptWorse(worse)
	}
	c.Strict, c.Start = f.strict, start.UTC().Format(time.RFC3339)
	if err := inv.write(f.output, func(w io.Writer) error { return comparisonFormats[f.format](c, w) }); err != nil {
		return err
	}
	if c.Failed() {
		return &exit{exitFailed, errors.New(c.Headline())}
	}
	return nil
}

// pattern compiles the regular expression of a flag; none is nil.
func pattern(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return re, nil
}

// compareRuns compares two runs by their records.
func (inv *invocation) compareRuns(base, head string, exactOnly bool, accept *regexp.Regexp) (*results.Comparison, error) {
	b, _, err := inv.readRun(base)
	if err != nil {
		return nil, err
	}
	h, _, err := inv.readRun(head)
	if err != nil {
		return nil, err
	}
	c, err := results.CompareRuns(b, h, exactOnly, accept)
	if errors.Is(err, results.ErrMachines) {
		return nil, &exit{exitRefused, err}
	}
	if err != nil {
		return nil, err
	}
	c.Base, c.Head = base, head
	return c, nil
}

// comparePrograms builds the programs, or takes those given, and runs them.
func (inv *invocation) comparePrograms(f *compareFlags, accept *regexp.Regexp) (c *results.Comparison, err error) {
	only, err := pattern("--only", f.only)
	if err != nil {
		return nil, err
	}
	spec, err := loadSpec(f.suite)
	if err != nil {
		return nil, err
	}
	o := regress.Options{Spec: spec, Only: only, Accept: accept, Rounds: f.rounds, Exact: f.exact, Count: f.count, Seed: spec.Seed}
	if o.MaxMemory, err = memoryLimit(f.maxMemory); err != nil {
		return nil, err
	}
	ctx, stop := untilStopped()
	defer stop()

	f.source.Symbols = f.count
	if f.exact {
		f.source.Layouts = 1 // where functions lie changes times alone
	}
	meter := newStages(inv.stderr, f.quiet)
	defer meter.clear()
	o.Progress = meter.update
	err = inv.withSides(ctx, f, meter, func(base, head regress.Side) error {
		c, err = regress.Compare(ctx, base, head, o)
		return err
	})
	if err != nil {
		return nil, comparisonError(err)
	}
	c.Repeat, c.Only = f.command(), f.only
	return c, nil
}

// withSides calls use with the two programs, which are there only so long.
func (inv *invocation) withSides(ctx context.Context, f *compareFlags, meter *stages, use func(base, head regress.Side) error) (err error) {
	if f.baseBinary != "" {
		base, err := given("--base-binary", f.baseBinary)
		if err != nil {
			return err
		}
		head, err := given("--head-binary", f.headBinary)
		if err != nil {
			return err
		}
		return use(base, head)
	}
	folder, err := regress.NewFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	base, head, err := folder.Build(ctx, f.source, meter.update)
	if err != nil {
		return err
	}
	return use(base, head)
}

// given is the side of a program that is built already.
func given(flag, path string) (regress.Side, error) {
	program, err := exec.LookPath(path)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return regress.Side{}, fmt.Errorf("%s: %w", flag, err)
	}
	return regress.Side{Name: path, Programs: []string{program}}, nil
}

// comparisonError gives an error of a comparison its exit code.
func comparisonError(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return &exit{exitInterrupted, errors.New("interrupted, nothing is left behind")}
	case errors.Is(err, regress.ErrWorker):
		return &exit{exitIncomplete, err}
	}
	return err
}

// command is the comparison as a command, without --only. A program with a package
// of its own is not called ringbench.
func (f *compareFlags) command() []string {
	words := []string{"ringbench", "compare"}
	if f.source.Package != defaultPackage {
		words = []string{"go", "run", f.source.Package, "compare"}
	}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, value)
		}
	}
	add("--base", f.source.Base)
	add("--head", f.source.Head)
	if f.source.Base != "" && f.source.Package != defaultPackage {
		add("--package", f.source.Package)
	}
	add("--base-binary", f.baseBinary)
	add("--head-binary", f.headBinary)
	if f.suite != gateSuite {
		add("--suite", f.suite)
	}
	if f.rounds != regress.DefaultRounds {
		add("--rounds", fmt.Sprint(f.rounds))
	}
	if f.exact {
		words = append(words, "--exact")
	}
	return words
}

// stages tell how far a comparison is: a bar for each stage on a terminal, a line
// for each elsewhere.
type stages struct {
	w     io.Writer
	quiet bool
	bar   *progressbar.ProgressBar // of the stage that runs; nil elsewhere than on a terminal
	stage string
	begun time.Time // of the stage
	told  time.Time // when the last line was written
}

func newStages(stderr io.Writer, quiet bool) *stages { return &stages{w: stderr, quiet: quiet} }

// betweenLines is how often a stage that takes long says so.
const betweenLines = 30 * time.Second

func (s *stages) update(p regress.Progress) {
	if s.quiet {
		return
	}
	now := time.Now()
	if p.Stage != s.stage {
		s.clear()
		s.stage, s.begun, s.told = p.Stage, now, now
		if f, ok := s.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.bar = progressbar.NewOptions(p.Total,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetWidth(24),
				progressbar.OptionSetDescription(p.Stage),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionClearOnFinish(),
			)
		}
	}
	spent := now.Sub(s.begun)
	switch {
	case s.bar != nil:
		s.bar.Set(p.Done)
	case p.Done == p.Total:
		fmt.Fprintf(s.w, "%s: %d done after %.0f s\n", p.Stage, p.Total, spent.Seconds())
	case p.Done > 0 && now.Sub(s.told) >= betweenLines:
		s.told = now
		left := spent / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
		fmt.Fprintf(s.w, "%s: %d of %d, about %.0f s left\n", p.Stage, p.Done, p.Total, left.Seconds())
	}
}

// clear makes way for what is printed next.
func (s *stages) clear() {
	if s.bar != nil {
		s.bar.Clear()
		s.bar = nil
	}
}
