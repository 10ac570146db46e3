package results

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteGitHubAction writes the metrics of which less is better for
// github-action-benchmark, as its tool customSmallerIsBetter reads them: one
// entry for each metric of each cell, with the median of a timed metric and the
// mean over the seeds of an exact one.
func WriteGitHubAction(w io.Writer, s *Set) error { return writeGitHubAction(w, s, Lower) }

// WriteGitHubActionBigger is [WriteGitHubAction] for the metrics of which more is
// better and the tool customBiggerIsBetter: a file of it holds one direction.
func WriteGitHubActionBigger(w io.Writer, s *Set) error { return writeGitHubAction(w, s, Higher) }

func writeGitHubAction(w io.Writer, s *Set, better Direction) error {
	type entry struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
		Range string  `json:"range,omitempty"`
		Extra string  `json:"extra,omitempty"`
	}
	entries := []entry{} // an empty list is written as one
	for _, r := range Summarize(s) {
		m, ok := MetricByName(r.Metric)
		if !ok || m.Better != better {
			continue
		}
		e := entry{Name: r.Cell + " " + m.Name, Unit: m.Unit, Value: r.Center}
		if half := max(r.High-r.Center, r.Center-r.Low); half > 0 {
			e.Range = fmt.Sprintf("\u00b1 %.3g", half)
		}
		e.Extra = fmt.Sprintf("%s\n%s, %s", m.Meaning, r.basis(m), s.Run.Environment.Machine())
		entries = append(entries, e)
	}
	return writeJSON(w, entries)
}

// basis says what the row's value rests on.
func (r Row) basis(m Metric) string {
	switch {
	case m.Kind != Computed:
		return "median of " + plural(r.N, "repetition")
	case r.N > 1:
		return "mean of " + plural(r.N, "placement")
	}
	return "exact"
}

// WriteBencher writes the run in the metric format of Bencher: for each cell its
// metrics, each with its value and, where there are several values behind it,
// their interval.
func WriteBencher(w io.Writer, s *Set) error {
	type metric struct {
		Value float64  `json:"value"`
		Lower *float64 `json:"lower_value,omitempty"`
		Upper *float64 `json:"upper_value,omitempty"`
	}
	cells := map[string]map[string]metric{}
	for _, r := range Summarize(s) {
		if r.Metric == "" {
			continue
		}
		m := metric{Value: r.Center}
		if r.N > 1 {
			m.Lower, m.Upper = &r.Low, &r.High
		}
		if cells[r.Cell] == nil {
			cells[r.Cell] = map[string]metric{}
		}
		cells[r.Cell][r.Metric] = m
	}
	return writeJSON(w, cells)
}

func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode as JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
