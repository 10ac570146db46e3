package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/plots"
	"github.com/ringbench/ringbench/results"
)

// What a run's folder holds beside its records.
const (
	summaryCSV  = "summary.csv"
	summaryText = "summary.txt"
	plotsDir    = "plots"
	reportFile  = "report.html"
)

// runFormats are what a run draws its figures as.
var runFormats = []string{"svg", "png"}

// publish writes what is made from the records and shows the rest of the screen.
// All is written, whether or not it can be shown.
func (inv *invocation) publish(f *runFlags, r *recorder, set *results.Set, dir, shown string) error {
	rows := results.Summarize(set)
	if err := results.WriteFile(filepath.Join(dir, summaryCSV), func(w io.Writer) error { return results.WriteSummary(w, rows) }); err != nil {
		return err
	}
	if err := results.WriteFile(filepath.Join(dir, summaryText), func(w io.Writer) error { return tables(w, set) }); err != nil {
		return err
	}
	unseen := inv.show(f, r, set, rows)
	figures, err := plots.WriteAll(filepath.Join(dir, plotsDir), set, runFormats)
	if err != nil {
		return err
	}
	report := filepath.Join(dir, reportFile)
	if err := results.WriteFile(report, func(w io.Writer) error { return plots.WriteReport(w, set) }); err != nil {
		return err
	}
	if unseen == nil && !f.json {
		_, unseen = fmt.Fprintf(inv.stdout, "Report  %s   (%s beside it)\nNext    %s\n",
			filepath.Join(shown, reportFile), plural(len(figures)/len(runFormats), "plot"), next(set, shown))
	}
	if unseen == nil || errors.Is(unseen, errNoReader) { // nobody wants to see it
		return nil
	}
	return &exit{exitInput, fmt.Errorf("%w; all is in %s", unseen, dir)}
}

// show writes the screen, or what of it has not been shown.
func (inv *invocation) show(f *runFlags, r *recorder, set *results.Set, rows []results.Row) error {
	if f.json {
		return writeJSON(inv.stdout, append([]results.Row{}, rows...)) // a list also when there are none
	}
	r.exact(set)
	if r.broken != nil {
		return r.broken
	}
	if err := part(inv.stdout, set, results.WriteMeasured); err != nil {
		return err
	}
	if err := part(inv.stdout, set, results.WriteAlso); err != nil {
		return err
	}
	return findings(inv.stdout, set)
}

// part writes a part of the screen after an empty line, or nothing.
func part(w io.Writer, set *results.Set, write func(io.Writer, *results.Set) error) error {
	var b bytes.Buffer
	if err := write(&b, set); err != nil || b.Len() == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", b.Bytes())
	return err
}

// findings writes what the data show.
func findings(w io.Writer, set *results.Set) error {
	for _, f := range results.Findings(set) {
		if _, err := fmt.Fprintf(w, " - %s\n", f); err != nil {
			return err
		}
	}
	return nil
}

// tables writes the screen again, from records alone.
func tables(w io.Writer, set *results.Set) error {
	if err := results.WriteExact(w, set); err != nil {
		return err
	}
	if err := part(w, set, results.WriteMeasured); err != nil {
		return err
	}
	if err := part(w, set, results.WriteAlso); err != nil {
		return err
	}
	return findings(w, set)
}

// next says what to try after the run.
func next(set *results.Set, dir string) string {
	if set.End == nil || !set.End.Complete {
		return "ringbench run --resume " + typed(dir)
	}
	var spec harness.Spec
	if err := json.Unmarshal(set.Run.Spec, &spec); err == nil && spec.NodesFile != "" {
		return "ringbench vnodes --nodes-file " + typed(spec.NodesFile) + " --target-peak 1.15"
	}
	if nodes, _ := clusterSizes(set.Trials); nodes > 1 {
		return fmt.Sprintf("ringbench vnodes --nodes %d --target-peak 1.15", nodes)
	}
	return "ringbench run --nodes-file FILE --keys-file FILE"
}

// typed writes a word as one types it into a shell.
func typed(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,\\"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// clusterSizes returns the least and the most nodes that contestants are measured
// over; the controls, which measure the harness over one node, do not count.
func clusterSizes(trials []results.Trial) (least, most int) {
	for _, t := range trials {
		if results.IsControl(t.Algorithm) {
			continue
		}
		most = max(most, t.Nodes)
		if least == 0 || t.Nodes < least {
			least = t.Nodes
		}
	}
	return least, most
}

// headerLine says what the run is about to do.
func headerLine(plan *harness.Plan, infos []algorithms.Info) string {
	var parts []string
	trials := plan.Trials()
	least, most := clusterSizes(trials)
	keys := 0
	contestants := map[string]bool{}
	for _, t := range trials {
		contestants[t.Algorithm] = true
		if keys == 0 {
			keys = t.Keys // exact experiments stand first; timings have a pool of their own
		}
	}
	if least == most {
		parts = append(parts, plural(most, "node"))
	} else {
		parts = append(parts, fmt.Sprintf("%d to %d nodes", least, most))
	}
	if v := vnodes(plan.Spec, contestants, infos); v != "" {
		parts = append(parts, v+" vnodes")
	}
	if keys > 0 {
		parts = append(parts, shortCount(keys)+" keys")
	}
	return strings.Join(append(parts, about(plan.Estimate())), ", ") + "; Ctrl-C keeps what is done"
}

// vnodes returns the vnodes that all contestants with vnodes have, "" when they
// differ.
func vnodes(spec *harness.Spec, contestants map[string]bool, infos []algorithms.Info) string {
	found := map[string]bool{}
	for _, c := range spec.Contestants {
		i := slices.IndexFunc(infos, func(info algorithms.Info) bool { return info.Name == c.Algorithm })
		if i < 0 || !contestants[c.Algorithm] {
			continue
		}
		v := results.Param(infos[i].Defaults, "vnodes")
		if set, ok := c.Params["vnodes"]; ok {
			v = fmt.Sprint(set)
		}
		if v != "" {
			found[v] = true
		}
	}
	if len(found) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(found))[0]
}

// shortCount writes round numbers short: 1M, 20k.
func shortCount(n int) string {
	switch {
	case n >= 1e6 && n%1e5 == 0:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1e4 && n%1e3 == 0:
		return strconv.Itoa(n/1e3) + "k"
	}
	return strconv.Itoa(n)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// about writes a rough duration.
func about(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 10:
		return fmt.Sprintf("about %.0f s", max(1, s))
	case s < 150:
		return fmt.Sprintf("about %.0f s", 5*float64(int(s/5+0.5)))
	case s < 2*3600:
		return fmt.Sprintf("about %.0f min", s/60)
	default:
		return fmt.Sprintf("about %.1f h", s/3600)
	}
}
