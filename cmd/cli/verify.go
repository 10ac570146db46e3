package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/harness/claims"
)

// A verifying is what verify is asked.
type verifying struct {
	only           string
	seed           uint64
	json, markdown bool
	quiet          bool
}

func (inv *invocation) verify() *cobra.Command {
	var f verifying
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check what papers, theory and textbooks say of consistent hashing",
		Long: `Check what papers, theory and textbooks say of consistent hashing: each figure
beside what is measured here, with its tolerance. A claim is reproduced, not
reproduced, or refuted, which is what becomes of a claim that people repeat and
that is wrong. It takes a minute or two and ends with 1 when a verdict is not the
one that is expected. --only is a regular expression on the names of the claims.`,
		Args: arguments(0, 0, "flags only"),
		RunE: func(*cobra.Command, []string) error {
			if f.json && f.markdown {
				return errors.New("--json and --markdown exclude each other, keep one")
			}
			only, err := regexp.Compile(f.only)
			if err != nil {
				return fmt.Errorf("--only: %w", err)
			}
			return inv.check(&f, only)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.only, "only", "", "`REGEX`: check the claims whose name matches")
	fl.Uint64Var(&f.seed, "seed", 1, "`N`: seed of all names and keys drawn; no verdict depends on it")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.markdown, "markdown", false, "print the page harness/CLAIMS.md")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// check measures the claims and prints what became of them.
func (inv *invocation) check(f *verifying, only *regexp.Regexp) error {
	ctx, stop := untilStopped()
	defer stop()
	progress := newMeter(inv.stderr, f.quiet, time.Now())
	theme := ""
	found, err := claims.Check(ctx, claims.Options{
		Algorithms: inv.infos, Only: only, Seed: f.seed,
		Each: func(id string, done float64) {
			next, _, _ := strings.Cut(id, "/")
			if theme != "" && next != theme {
				progress.update(harness.Progress{Experiment: theme, Ended: true, Fraction: done})
			}
			theme = next
			progress.update(harness.Progress{Experiment: theme, Fraction: done})
		},
	})
	progress.clear()
	if err != nil {
		return interrupted(err)
	}
	switch {
	case f.json:
		err = writeJSON(inv.stdout, found)
	case f.markdown:
		err = inv.write("-", func(w io.Writer) error {
			_, err := io.WriteString(w, claims.Page(found))
			return err
		})
	default:
		err = inv.write("-", func(w io.Writer) error {
			_, err := io.WriteString(w, claims.Text(found))
			return err
		})
	}
	if err != nil {
		return err
	}
	failed := claims.Failed(found)
	if len(failed) == 0 {
		return nil
	}
	var names []string
	for _, r := range failed {
		names = append(names, fmt.Sprintf("%s is %s, %s was expected", r.ID, r.Verdict, r.Expected))
	}
	return &exit{exitFailed, errors.New(strings.Join(names, "; "))}
}
