package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// WriteCSV writes the trials as CSV (RFC 4180) under a header: one line for
// each value of each trial, and one without a value for a trial that was
// skipped. Trials keep the order of the file, values that of [Metrics].
func WriteCSV(w io.Writer, s *Set) error {
	c := csv.NewWriter(w)
	c.Write([]string{"cell", "experiment", "measure", "algorithm", "params", "workload", "schedule", "weights", "hash",
		"nodes", "keys", "seed", "rep", "metric", "unit", "value", "skip"})
	for _, t := range s.Trials {
		head := []string{t.Cell, t.Experiment, t.Measure, t.Algorithm, string(t.Params), t.Workload, t.Schedule, t.Weights, t.Hash,
			strconv.Itoa(t.Nodes), strconv.Itoa(t.Keys), strconv.FormatUint(t.Seed, 10), strconv.Itoa(t.Rep)}
		if t.Skip != "" {
			c.Write(append(head, "", "", "", t.Skip))
		}
		for _, m := range Metrics {
			if v, ok := t.Values[m.Name]; ok {
				c.Write(append(slices.Clip(head), m.Name, m.Unit, formatFloat(v), ""))
			}
		}
	}
	c.Flush()
	return c.Error()
}

// WriteBenchfmt writes the trials in the format of Go benchmarks, which
// benchstat and its kin read: the machine as configuration, what each unit
// means, and one line a trial, named after its cell. Skips are left out.
//
// The time that a measure is about is in ns/op. Fractions of keys are written as
// numbers of keys, since small fractions are hard to read in such tables.
func WriteBenchfmt(w io.Writer, s *Set) error {
	out := benchfmt.NewWriter(w)
	var errs []error
	for _, u := range benchUnits(s) {
		if u.better != Neither {
			errs = append(errs, out.Write(unitLine(u.name, "better", u.better.String())))
		}
		assume := "nothing"
		if u.exact {
			assume = "exact"
		}
		errs = append(errs, out.Write(unitLine(u.name, "assume", assume)))
	}
	e := s.Run.Environment
	var config []benchfmt.Config
	for _, kv := range [][2]string{{"goos", e.OS}, {"goarch", e.Arch}, {"pkg", "github.com/ringbench/ringbench"}, {"cpu", e.CPU}, {"seed", strconv.FormatUint(s.Run.Seed, 10)}} {
		if kv[1] != "" {
			config = append(config, benchfmt.Config{Key: kv[0], Value: []byte(kv[1]), File: true})
		}
	}
	for _, t := range s.Trials {
		var values []benchfmt.Value
		for _, m := range Metrics {
			if v, ok := t.Values[m.Name]; ok {
				unit, value := benchValue(t, m, v)
				values = append(values, benchfmt.Value{Value: value, Unit: unit})
			}
		}
		if len(values) == 0 {
			continue
		}
		operations := 1
		if t.Timing != nil && t.Timing.Operations > 0 {
			operations = t.Timing.Operations
		}
		errs = append(errs, out.Write(&benchfmt.Result{
			Config: config,
			Name:   benchfmt.Name(benchName(t.Cell, e.GOMAXPROCS)),
			Iters:  operations,
			Values: values,
		}))
	}
	return errors.Join(errs...)
}

func unitLine(unit, key, value string) *benchfmt.UnitMetadata {
	return &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: key}, OrigUnit: unit, Value: value}
}

// benchUnit is what a file of benchmarks says of one of its units.
type benchUnit struct {
	name   string
	better Direction
	exact  bool
}

// benchUnits returns the units of the set in the order of [Metrics]. A metric
// that differs between the placements of one cell is a distribution, however
// exact each value is, and so its unit is not called exact.
func benchUnits(s *Set) []benchUnit {
	type series struct{ cell, metric string }
	first := map[series]float64{}
	var units []benchUnit
	at := map[string]int{}
	for _, m := range Metrics {
		for _, t := range s.Trials {
			v, ok := t.Values[m.Name]
			if !ok {
				continue
			}
			name, _ := benchValue(t, m, v)
			i, known := at[name]
			if !known {
				i = len(units)
				at[name] = i
				units = append(units, benchUnit{name, m.Better, m.Kind == Computed})
			}
			key := series{t.Cell, m.Name}
			if was, seen := first[key]; !seen {
				first[key] = v
			} else if was != v {
				units[i].exact = false
			}
		}
	}
	return units
}

// keyFractions are the metrics that are written as numbers of keys.
var keyFractions = map[string]string{
	"moved-fraction":      "moved-keys",
	"moved-minimum":       "minimum-keys",
	"disruption":          "disruption-keys",
	"collateral-fraction": "collateral-keys",
}

// benchValue returns a value with its unit as Go benchmarks name them.
func benchValue(t Trial, m Metric, v float64) (unit string, value float64) {
	number := math.Round(v * float64(t.Keys))
	switch name, timed := strings.CutSuffix(m.Name, "-ns"); {
	case timed && m.Name == t.Measure+"-ns":
		return "ns/op", v
	case timed:
		return name + "-ns/op", v
	case m.Name == "allocs-per-lookup":
		return "allocs/op", v
	case m.Name == "bytes-per-lookup":
		return "B/op", v
	case keyFractions[m.Name] != "" && t.Keys > 0 && !math.IsInf(number, 0):
		return keyFractions[m.Name], number
	}
	return m.Name, v
}

// benchName turns the name of a cell into that of a benchmark. It always carries
// GOMAXPROCS, so that digits at the end of a cell's name are not taken for it.
func benchName(cell string, gomaxprocs int) string {
	measure, rest, _ := strings.Cut(cell, "/")
	var b strings.Builder
	for word := range strings.SplitSeq(measure, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	b.WriteByte('/')
	b.WriteString(rest)
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && plain(byte(r)) || r == '_' || r == '=' || r == '/' {
			return r
		}
		return '_'
	}, b.String())
	return fmt.Sprintf("%s-%d", name, max(1, gomaxprocs))
}
