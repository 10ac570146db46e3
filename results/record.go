// Package results is what a run leaves behind and what can be made of it
// without measuring again: records, their file format, the table of metrics,
// the environment they were taken in, summaries and exports.
//
// It stands in the middle of the flow: the harness appends records, everything
// after reads them. Nothing here measures, and nothing here rewrites a record.
// FORMAT.md beside this file is the format's description for other programs.
package results

import (
	"encoding/json"
	"strings"
)

// Schema is the major version of the record format. Readers refuse any other.
const Schema = 1

// A Trial is one measurement of one cell: one algorithm at one size under one
// workload, with one seed, in one repetition. Every field is present in every
// trial, skips too, so that a line can be read by itself.
type Trial struct {
	Type string `json:"type"` // "trial"

	// Cell is the name that --only matches, that comparisons join on and that
	// exports carry: <measure>/algorithm=<a>/nodes=<n>/..., with what the spec
	// sets and nothing else. Seed and rep are not part of it.
	Cell       string `json:"cell"`
	Experiment string `json:"experiment"` // the spec's name for the group of cells
	Measure    string `json:"measure"`    // "lookup", "balance", "movement", ...

	Algorithm string          `json:"algorithm"`
	Params    json.RawMessage `json:"params"`   // all parameters in force, an object
	Workload  string          `json:"workload"` // "<keys>+<popularity>", such as "seq:1000000+zipf:0.99"; "" when no key is involved
	Schedule  string          `json:"schedule"` // "add-one", "remove-one", ...; "" when membership rests
	Weights   string          `json:"weights"`  // repeated pattern such as "1:2:4"; "" for equal weights
	Hash      string          `json:"hash"`     // hash of the keys
	Nodes     int             `json:"nodes"`
	Points    *int            `json:"points"` // random points on a circle of a node of weight 1, of which theory speaks; 0 for none, nil where nothing was measured and in records from before there was the field
	Keys      int             `json:"keys"`   // distinct keys; 0 when the values come from exact shares alone
	Seed      uint64          `json:"seed"`   // which placement: node names and random choices derive from it
	Rep       int             `json:"rep"`    // which repetition of a timing, from 0

	Values map[string]float64   `json:"values"` // metric name -> value, names from Metrics
	Timing *Timing              `json:"timing"` // raw samples behind a timed value, else null
	Series map[string][]float64 `json:"series"` // vectors behind the values ("loads", "shares"), else null
	Check  string               `json:"check"`  // digest of the answers, hex; "" when there are none
	Skip   string               `json:"skip"`   // why nothing was measured; "" when it was
}

// Failed says whether the trial was skipped because a check failed: its answers were
// wrong, or it did not pass the gate. It is false where the algorithm cannot do what
// was asked, and where the block was too short to time.
func (t *Trial) Failed() bool {
	return strings.HasPrefix(t.Skip, "wrong answers:") || strings.HasPrefix(t.Skip, "failed the gate:")
}

// IsControl says whether the algorithm measures the harness and the machine instead of
// placing keys: "control" returns a constant, "one-read" reads one slot of an array.
func IsControl(algorithm string) bool { return algorithm == "control" || algorithm == "one-read" }

// Timing holds the raw readings of one timed block. The value that comes of them is
// CPUNs over Operations, and WallNs over Operations where CPUNs is -1; in older
// records, those without BlockNs, it is always the latter.
type Timing struct {
	Operations int     `json:"operations"`  // in the block, or in each pass of it
	Passes     int     `json:"passes"`      // of which the block is made; of several the readings are those of the median one; 0 in older records: one
	WallNs     int64   `json:"wall_ns"`     // of one pass; of one too short for the CPU clock less one reading of the wall clock
	CPUNs      int64   `json:"cpu_ns"`      // of the thread during it; -1 where the system has no such clock, several threads ran, or the pass was too short
	BlockNs    int64   `json:"block_ns"`    // Passes times the quickest pass, by the clock of the value; 0 in older records
	Pool       int     `json:"pool"`        // lookups of pre-hashed keys after which they repeat
	FloorBytes int64   `json:"floor_bytes"` // size of the array whose one read is the floor of this lookup; 0 for none
	ControlNs  float64 `json:"control_ns"`  // ns per operation of the control in the same repetition
}

// A Run is the first line of records.jsonl, and what run.json holds.
type Run struct {
	Type    string          `json:"type"`   // "run"
	Schema  int             `json:"schema"` // major version of the format
	Suite   string          `json:"suite"`
	Seed    uint64          `json:"seed"`
	Spec    json.RawMessage `json:"spec"` // with all defaults filled in
	Only    string          `json:"only"` // regular expression on the cells that are part of the run; "" for all
	Command []string        `json:"command"`

	// Inputs holds the SHA-256, in hex, of each file that the spec names, by its
	// path there. What the files hold is no part of a cell's name.
	Inputs map[string]string `json:"inputs"`

	Start       string      `json:"start"` // RFC 3339, UTC
	Version     string      `json:"version"`
	Environment Environment `json:"environment"`
}

// An End is the last line of a run. A run that was resumed has several; the
// last one counts.
type End struct {
	Type     string   `json:"type"`     // "end"
	Complete bool     `json:"complete"` // whether every planned trial is there
	Trials   int      `json:"trials"`   // trials in the file, skips included
	Skips    int      `json:"skips"`
	Seconds  float64  `json:"seconds"`  // spent by this process
	Reason   string   `json:"reason"`   // why it is not complete: "interrupted", an error; ""
	Warnings []string `json:"warnings"` // what the reader should know: control moved, pool too small, ...

	// ExactSeconds is the part of Seconds that went into the exact experiments.
	ExactSeconds float64 `json:"exact_seconds"`
}
