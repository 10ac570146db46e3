package results

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The names of the two files of a run that nothing else can make again.
const (
	RunFile     = "run.json"
	RecordsFile = "records.jsonl"
)

// ArchiveFile is RecordsFile compressed by gzip. Where it stands in place of the
// other, the run is archived: it is read as ever and can no longer be written to.
const ArchiveFile = RecordsFile + ".gz"

// maxLine is the longest line that the reader takes, in bytes.
const maxLine = 256 << 20

// A Set is a run as read from disk.
type Set struct {
	Run      Run
	Trials   []Trial  // in the order of the file
	End      *End     // the last end line, nil when there is none
	Warnings []string // what was passed over in reading
}

// Key identifies a trial within a run.
type Key struct {
	Cell string
	Seed uint64
	Rep  int
}

// Key returns what identifies the trial within its run.
func (t Trial) Key() Key { return Key{t.Cell, t.Seed, t.Rep} }

// A Writer appends records to a run. It holds a lock on records.jsonl, which
// the system releases when the process ends in whatever way. A Writer is for
// one goroutine at a time.
//
// Every record is handed to the operating system in one write as it is
// appended, so that a process that is killed loses nothing that Append returned
// for. The disk is asked to make it durable only by Create and Close: syncing
// after each trial would disturb the timings that follow. A power cut may
// therefore cost the last seconds of a run, which a resumed run measures again.
type Writer struct {
	f      *os.File
	size   int64 // of the good part of the file
	broken error // set when the file can no longer be trusted to end in a whole line
}

// Create makes the folder, run.json and records.jsonl with its first line. A
// folder that holds a run already, or that another process writes to, is an
// error. Type and Schema of the run are set here.
func Create(dir string, run Run) (*Writer, error) {
	run.Type, run.Schema = "run", Schema
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the run: %w", err)
	}
	w, err := open(dir, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := w.start(dir, run); err != nil {
		w.f.Close()
		return nil, err
	}
	return w, nil
}

// start writes what stands at the beginning of a run.
func (w *Writer) start(dir string, run Run) error {
	if size, err := w.f.Seek(0, io.SeekEnd); err != nil {
		return err
	} else if size > 0 {
		return fmt.Errorf("%s holds a run already: resume it, or write to another folder", dir)
	}
	err := WriteFile(filepath.Join(dir, RunFile), func(out io.Writer) error {
		pretty, err := json.MarshalIndent(run, "", "  ")
		if err != nil {
			return err
		}
		_, err = out.Write(append(pretty, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	if err := w.line(run); err != nil {
		return err
	}
	return w.f.Sync()
}

// open opens and locks the records of a run.
func open(dir string, flag int) (*Writer, error) {
	if archived(dir) {
		return nil, fmt.Errorf("%s holds an archived run, which is only read: gunzip %s in it to resume the run, or write to another folder", dir, ArchiveFile)
	}
	f, err := os.OpenFile(filepath.Join(dir, RecordsFile), flag, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("%s is in use: another process writes its run there", dir)
		}
		return nil, fmt.Errorf("cannot lock %s: %w", f.Name(), err)
	}
	return &Writer{f: f}, nil
}

// Resume opens a run to append what is missing, and returns what is there. A
// torn last line is cut off; Set.Warnings says so.
func Resume(dir string) (*Writer, *Set, error) {
	w, err := open(dir, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("no run to resume: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	set, err := w.resume(dir)
	if err != nil {
		w.f.Close()
		return nil, nil, err
	}
	return w, set, nil
}

func (w *Writer) resume(dir string) (*Set, error) {
	set, good, err := parse(w.f, w.f.Name())
	if errors.Is(err, errNoRun) {
		return w.restart(dir)
	}
	if err != nil {
		return nil, err
	}
	if err := w.f.Truncate(good); err != nil {
		return nil, fmt.Errorf("cannot cut the torn last line off: %w", err)
	}
	w.size = good
	return set, nil
}

// restart makes the first line again from run.json, which is there before it.
func (w *Writer) restart(dir string) (*Set, error) {
	path := filepath.Join(dir, RunFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.f.Name(), errNoRun)
	}
	var run Run
	if err := json.Unmarshal(b, &run); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := checkRun(run); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := w.f.Truncate(0); err != nil {
		return nil, fmt.Errorf("cannot cut the torn first line off: %w", err)
	}
	warning := fmt.Sprintf("%s: made the first line again from %s", w.f.Name(), RunFile)
	return &Set{Run: run, Warnings: []string{warning}}, w.line(run)
}

// Append writes one trial. Its Type is set here, and exact metrics are rounded
// by [Exact]. A value that is no metric, or NaN or infinite, is an error. After
// an error the file holds what it held before.
func (w *Writer) Append(t Trial) error {
	t.Type = "trial"
	if err := checkValues(t.Values); err != nil {
		return fmt.Errorf("%s: %w", t.Cell, err)
	}
	t.Values = maps.Clone(t.Values)
	for name, v := range t.Values {
		if m, _ := MetricByName(name); m.Kind == Computed {
			t.Values[name] = Exact(v)
		}
	}
	if t.Series != nil {
		series := make(map[string][]float64, len(t.Series))
		for name, vs := range t.Series {
			series[name] = slices.Clone(vs)
			for i, v := range vs {
				series[name][i] = Exact(v)
			}
		}
		t.Series = series
	}
	if err := w.line(t); err != nil {
		return fmt.Errorf("%s: %w", t.Cell, err)
	}
	return nil
}

// Close writes the end line, makes the file durable and releases the lock. The
// lock is released in any case. The Type of the end is set here.
func (w *Writer) Close(end End) error {
	end.Type = "end"
	err := w.line(end)
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close())
}

// line writes one record as one line in one write.
func (w *Writer) line(record any) error {
	if w.broken != nil {
		return w.broken
	}
	b, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("record cannot be encoded: %w", err)
	}
	b = append(b, '\n')
	if _, err := w.f.WriteAt(b, w.size); err != nil {
		err = fmt.Errorf("cannot write to the records, what is there is kept: %w", err)
		if w.f.Truncate(w.size) != nil {
			w.broken = err
		}
		return err
	}
	w.size += int64(len(b))
	return nil
}

// archived reports whether the folder holds its records as an archive only.
func archived(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, RecordsFile)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, ArchiveFile))
	return err == nil
}

// Read reads a run, given its folder or its records file, archived or not. A
// last line that was torn is dropped with a warning, lines of an unknown type
// are passed over, and anything else that is not a record is an error that
// begins with file:line.
func Read(path string) (*Set, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if archived(path) {
			path = filepath.Join(path, ArchiveFile)
		} else {
			path = filepath.Join(path, RecordsFile)
		}
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run there, name a folder that holds %s: %w", RecordsFile, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = unpack(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	set, _, err := parse(r, path)
	return set, err
}

// An archive reads what gzip packed, and words its errors.
type archive struct{ r *gzip.Reader }

func unpack(r io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, damaged(err)
	}
	return archive{z}, nil
}

func (a archive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("the archive is cut short or damaged, pack it anew from the records: %w", err)
}

// errNoRun says that there is no whole first line.
var errNoRun = errors.New("no run line, the run ended before it began: start it anew")

// parse reads records and returns the length of the part that is whole lines.
func parse(r io.Reader, file string) (*Set, int64, error) {
	set := &Set{}
	lines := bufio.NewReaderSize(r, 1<<16)
	seen := map[Key]int{}
	var good int64
	for number := 1; ; number++ {
		line, torn, err := readLine(lines)
		if err != nil {
			return nil, good, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		if len(line) == 0 {
			break
		}
		if !torn {
			err = set.add(line, number, seen)
			if _, more := lines.Peek(1); err != nil && number > 1 && more == io.EOF && !json.Valid(line) {
				torn = true // what a power cut leaves may hold a newline
			}
		}
		if torn {
			set.Warnings = append(set.Warnings, fmt.Sprintf("%s:%d: dropped a torn last line of %d bytes", file, number, len(line)))
			break
		}
		if err != nil {
			return nil, good, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		good += int64(len(line))
	}
	if set.Run.Type == "" {
		return nil, 0, fmt.Errorf("%s: %w", file, errNoRun)
	}
	return set, good, nil
}

// readLine returns the next line with its newline, empty at the end, and
// whether the newline is missing.
func readLine(r *bufio.Reader) (line []byte, torn bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, false, nil
		case err == io.EOF:
			return line, true, nil
		case err != bufio.ErrBufferFull:
			return nil, false, err
		case len(line) > maxLine:
			return nil, false, fmt.Errorf("line longer than %d bytes, is this a records file?", maxLine)
		}
	}
}

// add takes in one line.
func (s *Set) add(line []byte, number int, seen map[Key]int) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	first := number == 1
	switch {
	case first && kind.Type != "run":
		return fmt.Errorf("the first record must be the run, this is %q", kind.Type)
	case !first && kind.Type == "run":
		return errors.New("a second run begins here, a records file holds one")
	}
	switch kind.Type {
	case "run":
		if err := json.Unmarshal(line, &s.Run); err != nil {
			return fmt.Errorf("run: %w", err)
		}
		return checkRun(s.Run)
	case "trial":
		var t Trial
		if err := json.Unmarshal(line, &t); err != nil {
			return fmt.Errorf("trial: %w", err)
		}
		if at, dup := seen[t.Key()]; dup {
			return fmt.Errorf("trial repeats line %d: %s, seed %d, rep %d", at, t.Cell, t.Seed, t.Rep)
		}
		seen[t.Key()] = number
		s.Trials = append(s.Trials, t)
	case "end":
		s.End = &End{}
		if err := json.Unmarshal(line, s.End); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
	return nil
}

// checkRun refuses the run lines of other programs and later formats.
func checkRun(r Run) error {
	if r.Schema != Schema {
		return fmt.Errorf("records have schema %d, this program reads schema %d: use the ringbench that wrote them", r.Schema, Schema)
	}
	return nil
}
