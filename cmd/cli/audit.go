package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/harness/audit"
)

// An auditing is what audit is asked.
type auditing struct {
	nodesFile                        string
	maxPeak, maxMoved, maxCollateral float64
	json                             bool
}

func (inv *invocation) audit() *cobra.Command {
	var f auditing
	cmd := &cobra.Command{
		Use:   "audit BEFORE.csv [AFTER.csv]",
		Short: "Judge an assignment of keys to nodes, made by any system",
		Long: `Judge an assignment that any system made, from CSV with the header
key,node[,count[,bytes]]: how even keys, requests and bytes lie, and whether
chance, too few vnodes, a weak hash or hot keys explain the spread. Rows of one
key add up; a row without a count is one request, bytes are those of the row.
Other columns are passed over; tabs, .gz, .zst and .xz will do; - is stdin.

With a second file it judges that, and tells which keys moved from the first and
whether they had to. With --nodes-file weights count, and nodes that own nothing
are named. It ends with 1 when a limit is exceeded; --max-peak is for the busiest
node by keys and by requests.`,
		Args: arguments(1, 2, "a CSV of keys and nodes, and another from after a change"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.question(inv, args, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			r, err := audit.Ask(ctx, q)
			if err != nil {
				return interrupted(err)
			}
			inv.warnSplit(q, r)
			if f.json {
				err = writeJSON(inv.stdout, r)
			} else {
				err = inv.write("-", func(w io.Writer) error {
					_, err := io.WriteString(w, auditText(&q, r))
					return err
				})
			}
			if err != nil {
				return err
			}
			return f.check(r)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.nodesFile, "nodes-file", "", "`F`: all nodes, one a line, name[,weight[,zone]]; - is stdin")
	fl.Float64Var(&f.maxPeak, "max-peak", 0, "`X`: fail when the busiest node has more than this, 1 = its fair share")
	fl.Float64Var(&f.maxMoved, "max-moved-over-minimum", 0, "`RATIO`: fail when more keys moved than this many times the minimum")
	fl.Float64Var(&f.maxCollateral, "max-collateral", 0, "`X`: fail when more than this part of the keys moved between nodes that stay")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// question makes the flags a question, or refuses them.
func (f *auditing) question(inv *invocation, files []string, given func(string) bool) (audit.Question, error) {
	q := audit.Question{File: files[0], Stdin: inv.stdin}
	if len(files) == 2 {
		q.Before, q.File = files[0], files[1]
	}
	for _, limit := range []struct {
		flag  string
		value float64
		least float64
		two   bool
	}{
		{"max-peak", f.maxPeak, 1, false},
		{"max-moved-over-minimum", f.maxMoved, 1, true},
		{"max-collateral", f.maxCollateral, 0, true},
	} {
		switch {
		case !given(limit.flag):
		case !(limit.value >= limit.least) || math.IsInf(limit.value, 1):
			return q, fmt.Errorf("--%s cannot be %v, it wants %v or more", limit.flag, limit.value, limit.least)
		case limit.two && q.Before == "":
			return q, fmt.Errorf("--%s needs two files, from before and after the change", limit.flag)
		}
	}
	if f.maxCollateral == 0 && !given("max-collateral") {
		f.maxCollateral = math.Inf(1)
	}
	if f.nodesFile == "" {
		return q, nil
	}
	if f.nodesFile == "-" && (q.File == "-" || q.Before == "-") {
		return q, errors.New("nodes and keys cannot both come from stdin, put one of them into a file")
	}
	var err error
	p := placing{nodesFile: f.nodesFile}
	q.Nodes, err = p.members(inv)
	return q, err
}

// warnSplit says where a key is on two nodes, which most systems do not mean.
func (inv *invocation) warnSplit(q audit.Question, r *audit.Report) {
	warn := func(file string, s *audit.Split) {
		if s != nil {
			inv.say("%s:%d: key %q is on node %q here and on %q before; %s on more than one node, each counted as a key of the first: keep one row, or the one system, that is right",
				file, s.Line, cut(s.Key), s.Here, s.First, are(s.Keys, "key"))
		}
	}
	if r.Before != nil {
		warn(q.Before, r.Before.Split)
	}
	warn(q.File, r.Split)
}

// are counts things that a verb follows.
func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return thousands(n) + " " + what + "s are"
}

// cut keeps a key to a length that fits into a line.
func cut(key string) string {
	const most = 60
	if runes := []rune(key[:min(len(key), 4*most)]); len(runes) > most || len(key) > 4*most {
		return string(runes[:min(len(runes), most)]) + "..."
	}
	return key
}

// check fails when a limit is exceeded.
func (f *auditing) check(r *audit.Report) error {
	var failed []string
	fail := func(format string, args ...any) { failed = append(failed, fmt.Sprintf(format, args...)) }
	if f.maxPeak > 0 {
		for _, by := range []struct {
			what string
			peak *float64
		}{{"keys", r.Peak}, {"requests", r.LoadPeak}} {
			if by.peak != nil && *by.peak > f.maxPeak {
				fail("the busiest node has %.3g times its fair share of the %s, more than --max-peak %v", *by.peak, by.what, f.maxPeak)
			}
		}
	}
	if m := r.Moves; m.Moved != nil {
		if f.maxMoved > 0 && *m.Moved > f.maxMoved**m.Minimum*(1+1e-12) {
			fail("%s of the keys moved where %s would do, more than --max-moved-over-minimum %v times", percent(*m.Moved), percent(*m.Minimum), f.maxMoved)
		}
		if *m.Collateral > f.maxCollateral {
			fail("%s of the keys moved between nodes that stay, more than --max-collateral %v", percent(*m.Collateral), f.maxCollateral)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &exit{exitFailed, errors.New(strings.Join(failed, "; "))}
}
