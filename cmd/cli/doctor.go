package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/harness/regress"
)

type doctorFlags struct {
	require     bool
	aa          int
	inject      string
	pkg, binary string
	layouts     int
	suite, only string
	rounds      int
	maxMemory   string
	quiet, json bool
}

// defaultInjections is how often each slowdown is put in, unless --aa says.
const defaultInjections = 20

func (inv *invocation) doctor() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine is fit to measure, and what a comparison here can see",
		Long: `Say what on this machine disturbs timings, and how to mend it.

With --aa N, compare a program with itself until N cells were compared: every
change that is seen is false. With --inject 3,5,10, slow one side down by so many
percent and say how often that is found, in --aa comparisons of each cell (20
unless given). The program is the package in the working directory, in several
layouts of its functions, or --binary.`,
		Args: arguments(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			percents, err := f.check(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if f.aa == 0 && percents == nil {
				return inv.examine(&f)
			}
			return inv.selfTest(&f, percents)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.require, "require", false, "end with exit code 1 when something is not fit")
	fl.IntVar(&f.aa, "aa", 0, "compare a program with itself, `N` cells in all")
	fl.StringVar(&f.inject, "inject", "", "slow one side down by `P,...` percent and say how often that is found")
	fl.StringVar(&f.pkg, "package", defaultPackage, "the command's package `P`, as go build takes it")
	fl.StringVar(&f.binary, "binary", "", "`F`: the program, instead of building one")
	fl.IntVar(&f.layouts, "layouts", regress.DefaultLayouts, "`N`: layouts of its functions that the program is linked in")
	fl.StringVar(&f.suite, "suite", "", "run the `SUITE` or SPEC.toml instead of gate, or of the three kernels of --inject")
	fl.StringVar(&f.only, "only", "", "compare only the cells whose name matches `REGEX`")
	fl.IntVar(&f.rounds, "rounds", regress.DefaultRounds, "`N`: rounds of each comparison")
	fl.StringVar(&f.maxMemory, "max-memory", "", "`SIZE` that one structure may take, default half of what is available")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// check refuses flags that make no sense and returns the slowdowns.
func (f *doctorFlags) check(given func(string) bool) ([]float64, error) {
	var percents []float64
	if f.inject != "" {
		for _, text := range strings.Split(f.inject, ",") {
			p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(p > 0) || p > 1000 {
				return nil, fmt.Errorf("--inject cannot be %q, it wants percents above 0, such as 3,5,10", f.inject)
			}
			percents = append(percents, p)
		}
	}
	switch {
	case given("aa") && f.aa < 1:
		return nil, fmt.Errorf("--aa cannot be %d, it wants 1 or more", f.aa)
	case f.rounds < regress.LeastRounds:
		return nil, fmt.Errorf("--rounds cannot be %d, it wants %d or more", f.rounds, regress.LeastRounds)
	case f.layouts < 1:
		return nil, fmt.Errorf("--layouts cannot be %d, it wants 1 or more", f.layouts)
	case f.binary != "" && (given("package") || given("layouts")):
		return nil, errors.New("--binary is built already, leave --package and --layouts out")
	case f.require && (f.aa > 0 || percents != nil):
		return nil, errors.New("--require is about the machine alone, leave --aa and --inject out")
	}
	return percents, nil
}

// examine looks at the machine.
func (inv *invocation) examine(f *doctorFlags) error {
	conditions := regress.Conditions()
	unfit := 0
	for _, c := range conditions {
		if !c.Fit {
			unfit++
		}
	}
	if f.json {
		if err := writeJSON(inv.stdout, conditions); err != nil {
			return err
		}
	} else {
		var rows [][]string
		for _, c := range conditions {
			mark := "ok"
			if !c.Fit {
				mark = "mend"
			}
			rows = append(rows, []string{mark, c.Name, c.State, c.Mend})
		}
		if err := writeTable(inv.stdout, []string{"", "WHAT", "IS", "MEND"}, rows); err != nil {
			return err
		}
		last := "Fit to measure. What a comparison can see here: ringbench doctor --aa 200"
		if unfit > 0 {
			last = fmt.Sprintf("%s may disturb timings; comparisons side by side hold nevertheless, see ringbench doctor --aa 200", plural(unfit, "condition"))
		}
		if _, err := fmt.Fprintln(inv.stdout, last); err != nil {
			return err
		}
	}
	if f.require && unfit > 0 {
		return &exit{exitFailed, fmt.Errorf("the machine is not fit: %s to mend", plural(unfit, "condition"))}
	}
	return nil
}

// selfTest compares a program with itself.
func (inv *invocation) selfTest(f *doctorFlags, percents []float64) (err error) {
	o, err := f.options(percents != nil)
	if err != nil {
		return err
	}
	ctx, stop := untilStopped()
	defer stop()
	meter := newStages(inv.stderr, f.quiet)
	defer meter.clear()
	o.Progress = meter.update

	program := regress.Side{}
	if f.binary != "" {
		if program, err = given("--binary", f.binary); err != nil {
			return err
		}
	} else {
		folder, err := regress.NewFolder()
		if err != nil {
			return err
		}
		defer folder.Remove()
		if program, err = folder.BuildHere(ctx, f.pkg, f.layouts, meter.update); err != nil {
			return comparisonError(err)
		}
	}
	if percents == nil {
		t, err := regress.Against(ctx, program, o, f.aa)
		meter.clear()
		if t.Comparisons > 0 {
			err = errors.Join(err, inv.showSelfTest(f, t))
		}
		return comparisonError(err)
	}
	n := f.aa
	if n == 0 {
		n = defaultInjections
	}
	all, err := regress.Inject(ctx, program, o, percents, n)
	meter.clear()
	if all != nil {
		err = errors.Join(err, inv.showDetections(f, all))
	}
	return comparisonError(err)
}

// options are those of the comparisons.
func (f *doctorFlags) options(injecting bool) (o regress.Options, err error) {
	switch {
	case f.suite != "":
		o.Spec, err = loadSpec(f.suite)
	case injecting:
		o.Spec, err = regress.InjectSpec()
	default:
		o.Spec, err = harness.Suite(gateSuite)
	}
	if err != nil {
		return o, err
	}
	if o.Only, err = pattern("--only", f.only); err != nil {
		return o, err
	}
	o.Rounds, o.Seed = f.rounds, o.Spec.Seed
	o.MaxMemory, err = memoryLimit(f.maxMemory)
	return o, err
}

func (inv *invocation) showSelfTest(f *doctorFlags, t regress.SelfTest) error {
	if f.json {
		return writeJSON(inv.stdout, t)
	}
	w := inv.stdout
	fmt.Fprintf(w, "%s of a program with itself: %d called changed, %d inconclusive\n", plural(t.Comparisons, "comparison"), t.Changed, t.Unsure)
	fmt.Fprintf(w, "false verdicts   %.2f%%, below %.2f%% with 95%% confidence\n", 100*t.Rate, 100*t.RateBound)
	fmt.Fprintf(w, "spread           %.2f%% from comparison to comparison\n", 100*t.Spread)
	fmt.Fprintf(w, "order            the side that does not begin takes %+.2f%% (more than 0.2%% is suspect)\n", 100*t.OrderBias)
	for _, r := range t.False {
		fmt.Fprintf(w, "%-15s  %+.1f%% in %s\n", r.Verdict, 100*(float64(r.Ratio)-1), r.Name)
	}
	_, err := fmt.Fprintf(w, "Here changes from %.1f%% on are worth asking for.\n", 100*t.MinimumEffect)
	return err
}

func (inv *invocation) showDetections(f *doctorFlags, all []regress.Detection) error {
	if f.json {
		return writeJSON(inv.stdout, all)
	}
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{
			fmt.Sprintf("%g%%", d.Percent),
			fmt.Sprintf("%d of %d", d.Detected, d.Comparisons),
			fmt.Sprintf("above %.0f%%", 100*d.RateBound),
			fmt.Sprintf("%+.1f%%", d.Estimate),
			d.Cell,
		})
	}
	return writeTable(inv.stdout, []string{"SLOWER BY", "FOUND", "RATE, 95% SURE", "ESTIMATED", "CELL"}, rows)
}
