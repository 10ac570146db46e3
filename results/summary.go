package results

import (
	"encoding/json"
	"io"
)

// A Row is one metric of one cell, over all its seeds and repetitions.
type Row struct {
	Cell       string
	Experiment string
	Measure    string
	Algorithm  string
	Label      string          // of the contestant, by [Label]
	Params     json.RawMessage // in force, of the first trial
	Workload   string
	Schedule   string
	Weights    string
	Hash       string
	Nodes      int
	Keys       int
	Metric     string

	N          int     // values behind the row; 0 when all were skipped
	Center     float64 // timed and heap: the median; exact: the mean, which is the value when there is one seed
	Low, High  float64 // timed and heap: interval of the median; exact: 5% and 95% of the values
	Confidence float64 // of the interval around a median; 0 for exact metrics
	Min, Max   float64
	StdDev     float64 // of the values, with N-1 below
	RMS        float64 // root of the mean square, which is what theory speaks of for a cv
	Floor      float64 // what a perfectly uniform algorithm reaches with so few keys; 0 when there is no such floor
	Theory     float64 // what theory says; 0 when it says nothing
	Skip       string  // why there is nothing; "" when there is
}

// Summarize makes one row of each cell and metric. The order depends on the
// contents only, not on the order of the trials.
func Summarize(s *Set) []Row { return nil }

// WriteSummary writes the rows as CSV (RFC 4180), as summary.csv.
func WriteSummary(w io.Writer, rows []Row) error { return nil }

// WriteCSV writes the trials as CSV (RFC 4180), one line a value.
func WriteCSV(w io.Writer, s *Set) error { return nil }

// WriteBenchfmt writes the trials in the format of Go benchmarks.
func WriteBenchfmt(w io.Writer, s *Set) error { return nil }

// Fingerprint names the machine a run was taken on.
func Fingerprint(e Environment) string { return "" }

// WriteExact writes the first part of the first screen.
func WriteExact(w io.Writer, s *Set) error { return nil }

// WriteMeasured writes the second part of the first screen.
func WriteMeasured(w io.Writer, s *Set) error { return nil }

// Findings says in plain words what the data show.
func Findings(s *Set) []string { return nil }
