package results

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Medians is what a run leaves in a history: a line of JSON that is kept for
// good, where the run itself may go. A history is a file of such lines, one a
// run, in the order in which they were appended. It feeds charts and never a
// verdict: the same program on the same machine differs from day to day by more
// than what a verdict is about.
type Medians struct {
	Type     string                        `json:"type"`     // "medians"
	Schema   int                           `json:"schema"`   // major version of the format
	Suite    string                        `json:"suite"`    // as in the run
	Seed     uint64                        `json:"seed"`     // as in the run
	Start    string                        `json:"start"`    // RFC 3339, UTC
	Revision string                        `json:"revision"` // that the program was built from; "" when it does not say
	Dirty    bool                          `json:"dirty"`    // whether it was built from changed files
	Version  string                        `json:"version"`  // of the program
	Go       string                        `json:"go"`       // release that built it
	Machine  string                        `json:"machine"`  // by [Environment.Machine]: only lines of one machine compare
	Clock    string                        `json:"clock"`    // "cpu" or "wall": what the medians are times of; "" in older lines, for wall
	Medians  map[string]map[string]float64 `json:"medians"`  // cell -> timed metric -> median
}

// MediansOf returns what the run leaves in a history. A run without timings is
// an error: exact metrics have their place in a baseline.
func MediansOf(s *Set) (Medians, error) {
	e := s.Run.Environment
	m := Medians{
		Type: "medians", Schema: Schema, Suite: s.Run.Suite, Seed: s.Run.Seed, Start: s.Run.Start,
		Revision: e.Revision, Dirty: e.Dirty, Version: s.Run.Version, Go: e.GoVersion, Machine: e.Machine(), Clock: clockOf(s),
		Medians: map[string]map[string]float64{},
	}
	for _, r := range Summarize(s) {
		if metric, ok := MetricByName(r.Metric); !ok || metric.Kind != Timed {
			continue
		}
		if m.Medians[r.Cell] == nil {
			m.Medians[r.Cell] = map[string]float64{}
		}
		m.Medians[r.Cell][r.Metric] = r.Center
	}
	if len(m.Medians) == 0 {
		return m, errors.New("the run holds no timings, and a history is of nothing else")
	}
	return m, nil
}

// WriteHistory writes the run's line of a history.
func WriteHistory(w io.Writer, s *Set) error {
	b, err := historyLine(s)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func historyLine(s *Set) ([]byte, error) {
	m, err := MediansOf(s)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("cannot encode as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// AppendHistory appends the run to the history at the path, which it makes when
// it is not there. What is in the file stays as it is, but for a last line that
// was torn, which is cut off. A file that is no history, that holds the run
// already or that another process writes to is an error.
func AppendHistory(path string, s *Set) (err error) {
	line, err := historyLine(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); errors.Is(err, errLocked) {
		return fmt.Errorf("%s is in use: another process appends to it", path)
	} else if err != nil {
		return fmt.Errorf("cannot lock %s: %w", path, err)
	}
	earlier, good, _, err := parseHistory(f, path)
	if err != nil {
		return err
	}
	machine := s.Run.Environment.Machine()
	for i, m := range earlier {
		if m.Start == s.Run.Start && m.Suite == s.Run.Suite && m.Machine == machine {
			return fmt.Errorf("%s:%d: holds the run of %s already", path, i+1, m.Start)
		}
	}
	if err := f.Truncate(good); err != nil {
		return fmt.Errorf("cannot cut the torn last line off: %w", err)
	}
	if _, err := f.WriteAt(line, good); err != nil {
		return errors.Join(fmt.Errorf("cannot append to %s: %w", path, err), f.Truncate(good))
	}
	return f.Sync()
}

// IsHistory reports whether the path is a file whose first line is that of a
// history. It reads no more of it than that line's beginning.
func IsHistory(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(historyHead))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, historyHead)
}

// historyHead is how every line of a history begins.
var historyHead = []byte(`{"type":"medians",`)

// ReadHistory reads the lines of a history, oldest first. A last line that was
// torn is dropped with a warning, and one warning tells of the first run whose times are
// of another clock than those of the run before it on its machine; anything else that is not such a line is an
// error that begins with file:line.
func ReadHistory(path string) (lines []Medians, warnings []string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("no history there, make one with export --format history: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines, _, warnings, err = parseHistory(f, path)
	return lines, append(warnings, otherClock(lines, path)...), err
}

// otherClock warns of the first line whose times are of another clock than those of the
// line before it of the same machine.
func otherClock(lines []Medians, file string) []string {
	last := map[string]string{} // machine -> clock
	for i, m := range lines {
		clock := cmp.Or(m.Clock, wallClock)
		if was := last[m.Machine]; was != "" && was != clock {
			return []string{fmt.Sprintf("%s:%d: times are %s from here on and were %s before: a step here may be that alone", file, i+1, clockName(clock), clockName(was))}
		}
		last[m.Machine] = clock
	}
	return nil
}

// parseHistory returns the lines, and the length of the part that is whole lines.
func parseHistory(r io.Reader, file string) (all []Medians, good int64, warnings []string, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, torn, err := readLine(lines)
		switch {
		case err != nil:
			return nil, good, nil, fmt.Errorf("%s:%d: %w", file, number, err)
		case len(line) == 0:
			return all, good, warnings, nil
		case torn && bytes.HasPrefix(line, historyHead[:min(len(line), len(historyHead))]):
			warnings = append(warnings, fmt.Sprintf("%s:%d: dropped a torn last line of %d bytes", file, number, len(line)))
			return all, good, warnings, nil
		}
		var m Medians
		if err := json.Unmarshal(line, &m); err != nil || m.Type != "medians" {
			return nil, good, nil, fmt.Errorf("%s:%d: no line of a history, is this another file?", file, number)
		}
		if m.Schema != Schema {
			return nil, good, nil, fmt.Errorf("%s:%d: schema %d, this program reads schema %d: use the ringbench that wrote it", file, number, m.Schema, Schema)
		}
		all = append(all, m)
		good += int64(len(line))
	}
}
