package results

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// small is a short run with all kinds of trials.
func small() *Set {
	f := newFixture()
	c := contestant{"ring", []Field{{"vnodes", "4"}}, `{"vnodes":4}`, ""}
	t := f.trial(c, "balance", 10, 1, 0, "uniform", "", map[string]float64{"balance-cv": 0.25})
	t.Series, t.Check = map[string][]float64{"loads": {1, 2, 3}}, "00ff"
	f.trial(c, "movement", 10, 1, 0, "uniform", "remove-one", map[string]float64{}).Skip = "not this \"one\"\n"
	for rep := range 3 {
		t := f.trial(c, "lookup", 10, 1, rep, "uniform", "", map[string]float64{"lookup-ns": 12.3456789012345})
		t.Timing = &Timing{Operations: 1024, WallNs: 99, CPUNs: -1, Pool: 1 << 20, ControlNs: 0.5}
	}
	s := f.end()
	s.End.Warnings, s.Run.Environment.CacheBytes, s.Run.Environment.Absent = []string{}, []int64{1 << 15}, []string{}
	return s
}

// write makes a run of the set's trials, and closes it when it has an end.
func write(t testing.TB, dir string, s *Set) {
	t.Helper()
	w, err := Create(dir, s.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range s.Trials {
		if err := w.Append(trial); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(*s.End); err != nil {
		t.Fatal(err)
	}
}

func records(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	want, dir := small(), filepath.Join(t.TempDir(), "out", "run")
	write(t, dir, want)
	for _, path := range []string{dir, filepath.Join(dir, RecordsFile)} {
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Read(%s) (-want +got):\n%s", path, diff)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(files) != 2 || len(hidden) != 0 {
		t.Errorf("folder holds %v %v, want run.json and records.jsonl alone", files, hidden)
	}
}

// pack compresses the records of the folder and removes them, as one who commits
// a run does, and returns the archive's path.
func pack(t testing.TB, dir string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(records(t, dir))
	z.Close()
	path := filepath.Join(dir, ArchiveFile)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, RecordsFile)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnArchivedRunIsReadAndNotWrittenTo(t *testing.T) {
	want, dir := small(), t.TempDir()
	write(t, dir, want)
	archive := pack(t, dir)
	for _, path := range []string{dir, archive} {
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Read(%s) (-want +got):\n%s", path, diff)
		}
	}
	if _, _, err := Resume(dir); err == nil || !strings.Contains(err.Error(), "archived run") || !strings.Contains(err.Error(), "gunzip") {
		t.Errorf("Resume: %v", err)
	}
	if _, err := Create(dir, want.Run); err == nil || !strings.Contains(err.Error(), "archived run") {
		t.Errorf("Create: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, RecordsFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refusal left records behind: %v", err)
	}
}

func TestADamagedArchiveIsAnErrorWithItsPlace(t *testing.T) {
	dir := t.TempDir()
	s := small()
	for rep := range 2000 { // more than the reader takes in at once
		c := s.Trials[len(s.Trials)-1]
		c.Rep = 3 + rep
		s.Trials = append(s.Trials, c)
	}
	write(t, dir, s)
	path := pack(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, c := range map[string]struct {
		content []byte
		place   string
	}{
		"empty":           {nil, path + ": "},
		"no archive":      {[]byte(`{"type":"run"}`), path + ": "},
		"cut in the head": {whole[:5], path + ": "},
		"cut in the body": {whole[:len(whole)/2], path + ":"},
		"without its end": {whole[:len(whole)-1], fmt.Sprintf("%s:%d: ", path, len(s.Trials)+3)},
		"wrong checksum":  {flipped, fmt.Sprintf("%s:%d: ", path, len(s.Trials)+3)},
	} {
		if err := os.WriteFile(path, c.content, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(dir)
		if err == nil || !strings.HasPrefix(err.Error(), c.place) || !strings.Contains(err.Error(), "cut short or damaged") {
			t.Errorf("%s: %v, want an error at %q", name, err, c.place)
		}
	}
}

func TestEveryFieldStandsInEveryTrial(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small())
	lines := bytes.Split(records(t, dir), []byte("\n"))
	for _, line := range lines[1 : len(lines)-2] {
		for _, field := range []string{"type", "cell", "params", "values", "timing", "series", "check", "skip", "seed", "rep"} {
			if !bytes.Contains(line, []byte(`"`+field+`":`)) {
				t.Errorf("%s is missing in %s", field, line)
			}
		}
	}
}

func TestARunCutAnywhereIsResumedToTheSameRecords(t *testing.T) {
	want, dir := small(), t.TempDir()
	write(t, dir, want)
	whole := records(t, dir)
	for cut := 0; cut <= len(whole); cut++ {
		if near := whole[max(0, cut-2):min(len(whole), cut+2)]; cut%13 != 0 && !bytes.Contains(near, []byte("\n")) {
			continue // all around the ends of lines, and some within them
		}
		if err := os.WriteFile(filepath.Join(dir, RecordsFile), whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		read, readErr := Read(dir)
		w, set, err := Resume(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if readErr == nil && !cmp.Equal(read, set) {
			t.Fatalf("cut at %d: Read and Resume disagree:\n%s", cut, cmp.Diff(read, set))
		}
		torn := cut > 0 && whole[cut-1] != '\n'
		if warned := len(set.Warnings) > 0; warned != (torn || cut == 0) {
			t.Fatalf("cut at %d: warnings %q", cut, set.Warnings)
		}
		for _, trial := range want.Trials[len(set.Trials):] {
			if err := w.Append(trial); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(*want.End); err != nil {
			t.Fatal(err)
		}
		expect := whole
		if cut == len(whole) { // it had its end already, and now has two
			expect = append(bytes.Clone(whole), whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:]...)
		}
		if got := records(t, dir); !bytes.Equal(got, expect) {
			t.Fatalf("cut at %d: resumed run differs:\n%s", cut, cmp.Diff(string(expect), string(got)))
		}
	}
}

func TestReadRefusesWhatIsNoRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small())
	lines := strings.SplitAfter(string(records(t, dir)), "\n")
	all := strings.Join(lines, "")
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "no run line"},
		"torn run line":  {lines[0][:20], "no run line"},
		"no run line":    {lines[1] + lines[2], `:1: the first record must be the run, this is "trial"`},
		"other text":     {"key,node\na,b\n", ":1: not a record"},
		"later schema":   {strings.Replace(all, `"schema":1`, `"schema":2`, 1), ":1: records have schema 2, this program reads schema 1"},
		"garbage inside": {strings.Replace(all, lines[2], "{\"type\":\n", 1), ":3: not a record"},
		"ill-typed":      {strings.Replace(all, `"nodes":10`, `"nodes":"ten"`, 1), ":2: trial: "},
		"repeated":       {all + lines[3], "trial repeats line 4: lookup/"},
		"two runs":       {all + lines[0], "a second run begins here"},
	} {
		if err := os.WriteFile(filepath.Join(dir, RecordsFile), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing run: error %v", err)
	}
}

func TestReadPassesOverLinesOfUnknownType(t *testing.T) {
	dir := t.TempDir()
	want := small()
	write(t, dir, want)
	text := strings.Replace(string(records(t, dir)), "\n", "\n{\"type\":\"remark\",\"text\":1}\n", 2)
	if err := os.WriteFile(filepath.Join(dir, RecordsFile), []byte(text+"\x00\x00\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "dropped a torn last line") {
		t.Errorf("warnings %q", got.Warnings)
	}
	got.Warnings = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCreateRefusesAFolderThatHoldsARun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small())
	before := records(t, dir)
	if _, err := Create(dir, Run{Suite: "other"}); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("error %v", err)
	}
	if !bytes.Equal(before, records(t, dir)) {
		t.Error("the old records changed")
	}
}

func TestAppendRefusesValuesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, Run{})
	if err != nil {
		t.Fatal(err)
	}
	before := records(t, dir)
	for _, values := range []map[string]float64{
		{"lookup-ms": 1},
		{"lookup-ns": math.NaN()},
		{"balance-cv": math.Inf(1)},
	} {
		if err := w.Append(Trial{Cell: "here", Values: values}); err == nil || !strings.HasPrefix(err.Error(), "here: ") {
			t.Errorf("%v: error %v", values, err)
		}
	}
	if !bytes.Equal(before, records(t, dir)) {
		t.Error("something was written")
	}
	if err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}
}

func TestAppendRoundsExactValuesAndNoOthers(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, Run{})
	if err != nil {
		t.Fatal(err)
	}
	third := 1.0 / 3
	trial := Trial{Values: map[string]float64{"balance-cv": third, "lookup-ns": third}, Series: map[string][]float64{"shares": {third}}}
	if err := w.Append(trial); err != nil {
		t.Fatal(err)
	}
	if trial.Values["balance-cv"] != third || trial.Series["shares"][0] != third {
		t.Error("Append changed its argument")
	}
	if err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}
	set, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := set.Trials[0]
	if got.Values["balance-cv"] != 0.333333333333 || got.Values["lookup-ns"] != third || got.Series["shares"][0] != 0.333333333333 {
		t.Errorf("read %v %v", got.Values, got.Series)
	}
}

func TestExactKeepsTwelveDigits(t *testing.T) {
	for v, want := range map[float64]float64{
		0: 0, 1: 1, -2.5: -2.5, 1.0 / 3: 0.333333333333, 2e10 / 3: 6666666666.67, 123456789012345: 123456789012000,
		1e-310 / 3: 3.33333333333e-311, math.MaxFloat64: 1.79769313486e308, math.Inf(-1): math.Inf(-1),
	} {
		if got := Exact(v); got != want {
			t.Errorf("Exact(%v) = %v, want %v", v, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		once := Exact(v)
		if Exact(once) != once || math.Abs(once-v) > 5.0001e-12*math.Abs(v) && math.Abs(v) > 1e-290 {
			t.Fatalf("Exact(%v) = %v, and then %v", v, once, Exact(once))
		}
	})
}

// text returns what writes s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWriteFileLeavesNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plot.svg")
	if err := WriteFile(path, text("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFile(path, func(w io.Writer) error { fmt.Fprint(w, "half"); return broken })
	if err != broken {
		t.Errorf("error %v: it is not the file that is to blame", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "one" {
		t.Errorf("file holds %q", b)
	}
	if err := WriteFile(path, text("two")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "two" {
		t.Errorf("file holds %q", b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("folder holds %v", entries)
	}
}

func TestWriteFileSaysWhichFileItCannotWrite(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		"":                               "no name for the file",
		dir:                              "it is a folder",
		dir + string(filepath.Separator): "it is a folder",
		filepath.Join(dir, "no", "such"): "cannot write " + filepath.Join(dir, "no", "such") + ": ",
		filepath.Join(dir, "new") + "/":  "it is a folder",
	} {
		err := WriteFile(path, text("x"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), temporary) {
			t.Errorf("%q: error %v, want one with %q and no other name", path, err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("folder holds %v", entries)
	}
	if err := WriteFile(filepath.Join(dir, "no", "such"), text("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestWriteFileTakesTheLongestNameThatTheSystemTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Skip("no such long names here")
	}
	if err := WriteFile(path, text("x")); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	write(f, dir, small())
	seed := records(f, dir)
	f.Add(seed)
	f.Add(bytes.ReplaceAll(seed, []byte(`"nodes":10`), []byte(`"nodes":-1`)))
	f.Add(bytes.ReplaceAll(seed, []byte(`ring`), []byte(``)))
	f.Add(bytes.ReplaceAll(seed, []byte(`0.25`), []byte(`1e308`)))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		set, good, err := parse(bytes.NewReader(b), "records")
		if err != nil {
			return
		}
		if good > int64(len(b)) {
			t.Fatalf("%d good bytes of %d", good, len(b))
		}
		again, _, err := parse(bytes.NewReader(b[:good]), "records")
		if err != nil {
			t.Fatalf("the good part cannot be read: %v", err)
		}
		if len(again.Warnings) > 0 || len(again.Trials) != len(set.Trials) {
			t.Fatalf("the good part reads differently: %v", again.Warnings)
		}
		// What is made from records must bear whatever they hold.
		for _, write := range []func(io.Writer, *Set) error{WriteExact, WriteMeasured, WriteCSV, WriteBenchfmt, WriteGitHubAction, WriteGitHubActionBigger, WriteBencher, WriteJUnit} {
			if err := write(io.Discard, set); err != nil {
				t.Fatal(err)
			}
		}
		Findings(set)
		if err := WriteSummary(io.Discard, Summarize(set)); err != nil {
			t.Fatal(err)
		}
	})
}
