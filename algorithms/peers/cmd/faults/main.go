// Faults puts every peer through the conformance suite and prints which kinds of
// faults it has.
//
//	faults [-deadline 20s] [-peer NAME]
//
// Each check runs in a process of its own with a deadline, since some libraries
// hang, and an end of their own making would be the end of this program. What it
// finds is no failure: the exit code is 1 only when a check could not be run.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/peers"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// The exit codes of a child tell what the check found; its words are on stdout.
const (
	childHolds = 0
	childBreak = 10
	childSkips = 11
)

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(stderr)
	peer := flags.String("peer", "", "only this one")
	check := flags.String("check", "", "run this check in this process")
	deadline := flags.Duration("deadline", 20*time.Second, "of one check")
	if flags.Parse(args) != nil {
		return 2
	}
	var them []algorithms.Info
	for _, info := range peers.All() {
		if *peer == "" || info.Name == *peer {
			them = append(them, info)
		}
	}
	if len(them) == 0 {
		fmt.Fprintf(stderr, "faults: no peer %q\n", *peer)
		return 2
	}
	if *check != "" {
		return child(them[0], *check, stdout)
	}
	broken := false
	for _, info := range them {
		found, err := judge(info, *deadline)
		if err != nil {
			fmt.Fprintf(stderr, "faults: %s: %v\n", info.Name, err)
			broken = true
			continue
		}
		found.write(stdout, info)
	}
	if broken {
		return 1
	}
	return 0
}

// child runs one check.
func child(info algorithms.Info, name string, stdout io.Writer) int {
	i := slices.IndexFunc(algotest.Checks(), func(c algotest.Check) bool { return c.Name == name })
	if i < 0 {
		fmt.Fprintf(stdout, "no check %q", name)
		return 2
	}
	c := algotest.Checks()[i]
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("it panics: %v", p)
			}
		}()
		return c.Run(info)
	}()
	switch {
	case err == nil:
		return childHolds
	case errors.Is(err, errors.ErrUnsupported):
		return childSkips
	}
	fmt.Fprint(stdout, err)
	return childBreak
}

// findings are what the checks found of one peer.
type findings struct {
	held   int
	broken []finding
}

type finding struct {
	check    algotest.Check
	err      string
	declined bool // by its nature, and by ours of its kind
}

// judge runs all checks, as many at a time as there are cores.
func judge(info algorithms.Info, deadline time.Duration) (findings, error) {
	checks := algotest.Checks()
	verdicts := make([]string, len(checks))
	codes := make([]int, len(checks))
	failures := make([]error, len(checks))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			codes[i], verdicts[i], failures[i] = ask(info, c, deadline)
		})
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return findings{}, err
	}
	var f findings
	for i, c := range checks {
		switch codes[i] {
		case childHolds:
			f.held++
		case childBreak:
			f.broken = append(f.broken, finding{c, verdicts[i], slices.Contains(info.Declines, c.Property)})
		}
	}
	return f, nil
}

// ask runs a check in a child. A child that is over its deadline, or that the
// runtime ends, is a finding too.
func ask(info algorithms.Info, c algotest.Check, deadline time.Duration) (code int, says string, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, self, "-peer", info.Name, "-check", c.Name)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return childHolds, "", nil
	case ctx.Err() != nil:
		return childBreak, fmt.Sprintf("it does not end within %v", deadline), nil
	case !errors.As(err, &ended):
		return 0, "", err
	case ended.ExitCode() == childBreak || ended.ExitCode() == childSkips:
		return ended.ExitCode(), out.String(), nil
	case ended.ExitCode() == 2 && problems.Len() > 0:
		first, _, _ := strings.Cut(problems.String(), "\n")
		return childBreak, "it panics: " + first, nil
	}
	return 0, "", fmt.Errorf("%s: %w: %s", c.Name, err, out.String())
}

// write prints the kinds, each with the first that shows it and how many more do.
// Where every removal panics, that is what ails all checks that panic.
func (f findings) write(w io.Writer, info algorithms.Info) {
	const panics = "it panics"
	byKind := map[string][]finding{}
	var kinds, natural []string
	removal := ""
	for _, x := range f.broken {
		if kind := peers.KindOf(x.check.Name, x.err); strings.HasPrefix(x.err, panics) && kind == peers.RemovePanics {
			removal = kind
		}
	}
	for _, x := range f.broken {
		if x.declined {
			if !slices.Contains(natural, x.check.Property) {
				natural = append(natural, x.check.Property)
			}
			continue
		}
		kind := peers.KindOf(x.check.Name, x.err)
		if removal != "" && strings.HasPrefix(x.err, panics) {
			kind = removal
		}
		if byKind[kind] == nil {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], x)
	}
	fmt.Fprintf(w, "%s (%s)\n", info.Name, info.Ref)
	for _, kind := range kinds {
		first := byKind[kind][0]
		says, _, _ := strings.Cut(first.err, "\n")
		fmt.Fprintf(w, "  - %s\n      %s: %s\n", kind, first.check.Name, says)
		if more := len(byKind[kind]) - 1; more > 0 {
			fmt.Fprintf(w, "      and %d checks more\n", more)
		}
	}
	fmt.Fprintf(w, "  %d checks hold", f.held)
	if len(natural) > 0 {
		fmt.Fprintf(w, "; by the nature of the algorithm it does not keep: %s", strings.Join(natural, ", "))
	}
	fmt.Fprintln(w)
}
