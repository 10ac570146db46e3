package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// defaultSuite is what run without a suite runs.
const defaultSuite = "quick"

type runFlags struct {
	output, resume                   string
	only                             string
	seed                             uint64
	seeds, reps                      int
	nodesFile                        string
	keysFile, keyColumn, countColumn string
	sizeColumn, keysFormat           string
	maxMemory                        string
	dryRun, quiet, json              bool
}

func (inv *invocation) run() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [SUITE|SPEC.toml]",
		Short: "Measure a suite or a spec of your own",
		Long: `Measure a built-in suite (quick unless named, see ringbench list suites) or a spec
of your own. The run goes to a new folder under out, and out/latest points to it.

Ctrl-C keeps what is done; --resume goes on with it. A second Ctrl-C kills.`,
		Args: arguments(0, 1, "one SUITE or SPEC.toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return inv.runSuite(&f, strings.Join(args, ""))
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "write into the folder `DIR` instead of a new one under out")
	fl.StringVar(&f.resume, "resume", "", "go on with the run in `DIR`; suite and flags may be repeated but not changed")
	fl.StringVar(&f.only, "only", "", "measure only the cells whose name matches `REGEX`, see --dry-run")
	fl.Uint64Var(&f.seed, "seed", 0, "`N`: seed of the first placement")
	fl.IntVar(&f.seeds, "seeds", 0, "`N`: placements of each exact experiment")
	fl.IntVar(&f.reps, "reps", 0, "`N`: repetitions of each timing")
	fl.StringVar(&f.nodesFile, "nodes-file", "", "`F`: your nodes, one a line, name[,weight[,zone]]")
	fl.StringVar(&f.keysFile, "keys-file", "", "`F`: your keys, one a line, or a table with --key-column; .gz, .zst, .xz")
	fl.StringVar(&f.keyColumn, "key-column", "", "`NAME` of the column that holds the keys")
	fl.StringVar(&f.countColumn, "count-column", "", "`NAME` of the column that counts the requests for a key")
	fl.StringVar(&f.sizeColumn, "size-column", "", "`NAME` of the column that tells the bytes of a request, then load is measured in bytes too")
	fl.StringVar(&f.keysFormat, "keys-format", "", "`FORMAT` of a trace: libcachesim-csv or oracle-general")
	fl.StringVar(&f.maxMemory, "max-memory", "", "`SIZE` that one structure may take, default half of what is available")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the cells and how long they take, and measure nothing")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fl.BoolVar(&f.json, "json", false, "print the summary as JSON instead of the tables")
	return cmd
}

// check refuses flags that make no sense, by themselves or together.
func (f *runFlags) check(given func(string) bool) error {
	for _, n := range []struct {
		flag  string
		value int64
	}{{"seed", int64(min(f.seed, 1))}, {"seeds", int64(f.seeds)}, {"reps", int64(f.reps)}} {
		if given(n.flag) && n.value < 1 {
			return fmt.Errorf("--%s cannot be %d, it wants 1 or more", n.flag, n.value)
		}
	}
	switch {
	case f.resume != "" && f.output != "":
		return errors.New("--resume writes into the folder that it resumes, leave -o out")
	case f.resume != "" && f.dryRun:
		return errors.New("--dry-run is for a run that has not begun, leave --resume out")
	case f.keysFile == "" && (f.keyColumn != "" || f.countColumn != "" || f.sizeColumn != "" || f.keysFormat != ""):
		return errors.New("--key-column, --count-column, --size-column and --keys-format need --keys-file")
	case f.keysFile == "-":
		return errors.New("--keys-file of a run cannot be stdin, since a resumed run reads it again: name a file")
	}
	return nil
}

// runSuite measures the suite or spec.
func (inv *invocation) runSuite(f *runFlags, arg string) error {
	if f.resume != "" {
		return inv.resumeRun(f, arg)
	}
	if arg == "" {
		arg = defaultSuite
	}
	spec, err := loadSpec(arg)
	if err != nil {
		return err
	}
	f.override(spec)
	plan, err := inv.plan(f, spec, f.only)
	if err != nil {
		return err
	}
	if names := inv.leftOut(plan); names != nil && !f.quiet {
		inv.say("not in this suite: %s; gate has every algorithm: run gate --only '/algorithm=(%s)/'", strings.Join(names, ", "), strings.Join(names, "|"))
	}
	if f.dryRun {
		return inv.dryRun(f, plan)
	}
	inputs, err := inputsOf(plan.Spec)
	if err != nil {
		return err
	}
	run := results.Run{
		Suite:       suiteName(arg),
		Seed:        plan.Spec.Seed,
		Spec:        json.RawMessage(encode(plan.Spec)),
		Only:        f.only,
		Command:     append([]string{"ringbench"}, inv.args...),
		Inputs:      inputs,
		Start:       time.Now().UTC().Format(time.RFC3339),
		Version:     versionText(),
		Environment: results.Probe(harness.ClockCost()),
	}
	dir := f.output
	if dir == "" {
		if dir, err = newFolder(run.Suite); err != nil {
			return err
		}
	}
	w, err := results.Create(dir, run)
	if err != nil {
		return err
	}
	shown := dir
	if f.output == "" && pointLatest(dir) {
		shown = latest
	}
	return inv.measure(f, plan, &recorder{w: w, set: &results.Set{Run: run}}, dir, shown)
}

// leftOut returns the algorithms that the program has beside those of ringbench and
// the plan does not measure.
func (inv *invocation) leftOut(plan *harness.Plan) (names []string) {
	known := map[string]bool{}
	for _, info := range builtin.All() {
		known[info.Name] = true
	}
	for _, t := range plan.Trials() {
		known[t.Algorithm] = true
	}
	for _, info := range inv.infos {
		if !known[info.Name] {
			names = append(names, info.Name)
		}
	}
	return names
}

// resumeRun goes on with the run in a folder.
func (inv *invocation) resumeRun(f *runFlags, arg string) error {
	begun, err := readRunFile(f.resume)
	if err != nil {
		return err
	}
	spec, err := harness.SpecFromJSON(f.resume, begun.Spec)
	if err != nil {
		return err
	}
	if err := f.agrees(arg, begun, spec); err != nil {
		return err
	}
	if err := sameInputs(begun, spec); err != nil {
		return err
	}
	plan, err := inv.plan(&runFlags{maxMemory: f.maxMemory}, spec, begun.Only)
	if err != nil {
		return err
	}
	w, set, err := results.Resume(f.resume)
	if err != nil {
		return err
	}
	moved := otherHands(begun.Environment, results.Probe(harness.ClockCost()))
	for _, warning := range slices.Concat(set.Warnings, moved) {
		inv.say("%s", warning)
	}
	return inv.measure(f, plan, &recorder{w: w, set: set, warnings: moved}, f.resume, f.resume)
}

// otherHands warns when a run is resumed elsewhere than it was begun, or by
// another program: its records name one of each.
func otherHands(begun, now results.Environment) (warnings []string) {
	if a, b := begun.Machine(), now.Machine(); a != b {
		warnings = append(warnings, fmt.Sprintf("begun on another machine (%s) than it was gone on with (%s): its timings do not compare with each other", a, b))
	}
	program := func(e results.Environment) string {
		text := strings.TrimSpace(e.Revision + " " + e.GoVersion)
		if e.Dirty {
			text += " with changes"
		}
		return text
	}
	if a, b := program(begun), program(now); a != b {
		warnings = append(warnings, fmt.Sprintf("begun by another program (%s) than it was gone on with (%s)", a, b))
	}
	return warnings
}

// readRunFile reads run.json.
func readRunFile(dir string) (results.Run, error) {
	var run results.Run
	path := filepath.Join(dir, results.RunFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return run, fmt.Errorf("%s holds no run to resume, begin one with -o %s", dir, typed(dir))
	}
	if err != nil {
		return run, err
	}
	if err := json.Unmarshal(b, &run); err != nil {
		return run, fmt.Errorf("%s: %w", path, err)
	}
	if run.Schema != results.Schema {
		return run, fmt.Errorf("%s has schema %d, this program resumes schema %d: use the ringbench that wrote it", path, run.Schema, results.Schema)
	}
	return run, nil
}

// plan works the spec out.
func (inv *invocation) plan(f *runFlags, spec *harness.Spec, only string) (*harness.Plan, error) {
	o := harness.Options{Algorithms: inv.infos}
	var err error
	if only != "" {
		if o.Only, err = regexp.Compile(only); err != nil {
			return nil, fmt.Errorf("--only: %w", err)
		}
	}
	if o.MaxMemory, err = memoryLimit(f.maxMemory); err != nil {
		return nil, err
	}
	for _, file := range []struct{ flag, path string }{{"--nodes-file", f.nodesFile}, {"--keys-file", f.keysFile}} {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.path); err != nil {
			return nil, fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return harness.NewPlan(spec, o)
}

// dryRun prints the cells and the estimate.
func (inv *invocation) dryRun(f *runFlags, plan *harness.Plan) error {
	type cell struct {
		Cell   string `json:"cell"`
		Trials int    `json:"trials"`
	}
	var cells []cell
	at := map[string]int{}
	trials := plan.Trials()
	for _, t := range trials {
		i, known := at[t.Cell]
		if !known {
			i = len(cells)
			at[t.Cell] = i
			cells = append(cells, cell{Cell: t.Cell})
		}
		cells[i].Trials++
	}
	if f.json {
		return writeJSON(inv.stdout, struct {
			Cells   []cell  `json:"cells"`
			Trials  int     `json:"trials"`
			Seconds float64 `json:"seconds"`
		}{cells, len(trials), plan.Estimate().Seconds()})
	}
	var rows [][]string
	for _, c := range cells {
		rows = append(rows, []string{fmt.Sprint(c.Trials), c.Cell})
	}
	if err := writeTable(inv.stdout, []string{"TRIALS", "CELL"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(inv.stdout, "%s in %s, %s\n", plural(len(trials), "trial"), plural(len(cells), "cell"), about(plan.Estimate()))
	return err
}

// measure runs the plan into the recorder's folder and writes everything that is
// made from its records. The folder is shown to the reader under another name
// when a shorter one points to it.
func (inv *invocation) measure(f *runFlags, plan *harness.Plan, r *recorder, dir, shown string) error {
	ctx, stop := untilStopped()
	defer stop()
	defer surviveNoReader()()

	r.begin(inv, f, plan)
	outcome, err := plan.Run(ctx, r)
	r.meter.clear()
	end := r.end(outcome, err)
	err = errors.Join(err, r.w.Close(end))

	set, rerr := results.Read(dir)
	if rerr == nil {
		rerr = inv.publish(f, r, set, dir, shown)
	}
	failed := failures(outcome, r.set)
	for _, f := range failed {
		inv.say("check failed: %s", f)
	}
	resume := fmt.Sprintf("go on with: ringbench run --resume %s", typed(dir))
	var worded *exit
	switch {
	case errors.Is(err, context.Canceled):
		return &exit{exitInterrupted, fmt.Errorf("interrupted, what is done is kept; %s", resume)}
	case err != nil:
		return &exit{exitIncomplete, fmt.Errorf("incomplete: %w; %s", err, resume)}
	case errors.As(rerr, &worded):
		return rerr
	case rerr != nil:
		return &exit{exitIncomplete, fmt.Errorf("%w; the records are whole, %s", rerr, resume)}
	case len(failed) > 0:
		return &exit{exitFailed, fmt.Errorf("%s failed, the timings they concern are void", plural(len(failed), "check"))}
	}
	return nil
}

// failures lists the checks that failed: those of this process, or else those
// that the run it resumed has recorded.
func failures(outcome harness.Outcome, set *results.Set) []string {
	failed := outcome.Failed
	if len(failed) > 0 {
		return failed
	}
	for i := range set.Trials {
		t := &set.Trials[i]
		if text := t.Cell + ": " + t.Skip; t.Failed() && !slices.Contains(failed, text) {
			failed = append(failed, text)
		}
	}
	return failed
}

// A recorder takes what a run produces: to the file, and to the screen.
type recorder struct {
	w     *results.Writer
	set   *results.Set // what the file holds
	has   map[results.Key]bool
	begun time.Time
	meter meter

	warnings     []string // of the resuming itself
	exactSeconds float64
	headlines    []string                 // exact experiments that the first screen still waits for
	showExact    func(*results.Set) error // nil once it has been called
	broken       error                    // the first error of showExact
}

var _ harness.Sink = (*recorder)(nil)

func (r *recorder) begin(inv *invocation, f *runFlags, plan *harness.Plan) {
	r.begun = time.Now()
	r.meter = newMeter(inv.stderr, f.quiet, r.begun)
	r.has = make(map[results.Key]bool, len(r.set.Trials))
	for _, t := range r.set.Trials {
		r.has[t.Key()] = true
	}
	r.headlines = plan.Headlines()
	if !f.json {
		fmt.Fprintln(inv.stdout, headerLine(plan, inv.infos))
		r.showExact = func(s *results.Set) error { return part(inv.stdout, s, results.WriteExact) }
	}
}

// Has says whether the trial is in the file.
func (r *recorder) Has(t results.Trial) bool { return r.has[t.Key()] }

// Append writes the trial.
func (r *recorder) Append(t results.Trial) error {
	if err := r.w.Append(t); err != nil {
		return err
	}
	r.has[t.Key()] = true
	r.set.Trials = append(r.set.Trials, t)
	return nil
}

// Progress draws, and shows the exact part of the screen as soon as it is there.
func (r *recorder) Progress(p harness.Progress) {
	if p.Ended && !p.Timed {
		r.exactSeconds = time.Since(r.begun).Seconds()
		r.headlines = slices.DeleteFunc(r.headlines, func(name string) bool { return name == p.Experiment })
	}
	r.meter.update(p)
	if len(r.headlines) == 0 && r.showExact != nil {
		r.meter.clear()
		r.exact(&results.Set{Run: r.set.Run, Trials: r.set.Trials, End: &results.End{ExactSeconds: r.exactSeconds}})
	}
}

// exact shows the exact part once.
func (r *recorder) exact(s *results.Set) {
	if r.showExact != nil {
		r.broken = r.showExact(s)
		r.showExact = nil
	}
}

// end makes the end line of the run.
func (r *recorder) end(outcome harness.Outcome, err error) results.End {
	end := results.End{
		Complete:     err == nil,
		Trials:       len(r.set.Trials),
		Seconds:      time.Since(r.begun).Seconds(),
		ExactSeconds: r.exactSeconds,
		Warnings:     slices.Concat(r.warnings, outcome.Warnings),
	}
	for _, t := range r.set.Trials {
		if t.Skip != "" {
			end.Skips++
		}
	}
	if r.set.End != nil { // of the run that was resumed
		for _, w := range r.set.End.Warnings {
			if !slices.Contains(end.Warnings, w) {
				end.Warnings = append(end.Warnings, w)
			}
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		end.Reason = "interrupted"
	case err != nil:
		end.Reason = err.Error()
	}
	return end
}
