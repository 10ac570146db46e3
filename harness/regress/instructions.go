package regress

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/harness"
)

// The instruction lane counts what a slice executes, under valgrind's callgrind.
// The count is the same in every run and layout, so that a change of a thousandth
// shows. It knows nothing of caches and branches, and so it stands beside the
// times and decides nothing.

// countedMeasures are those whose slices execute the same instructions in every
// process; what builds or changes a structure depends on the seeds of its maps.
var countedMeasures = []string{"lookup/", "latency/", "key-lookup/", "assign/"}

// countedOps is the number of operations in a slice that is counted.
const countedOps = 1024

// countedSlices is how often the slice runs. Some of them count what does not
// belong there: a stack that grows, a goroutine that makes way after 10 ms, which
// pass quickly under valgrind. The least counts.
const countedSlices = 6

// leastCount is the relative difference of counts that is worth telling.
const leastCount = 0.001

// instructions counts both sides' slices of the cells and notes where they differ.
// What goes wrong is a warning: the comparison stands without it.
func (s *session) instructions() error {
	var counted []*timedCell
	for _, c := range s.cells {
		if slices.ContainsFunc(countedMeasures, func(m string) bool { return strings.HasPrefix(c.name, m) }) {
			counted = append(counted, c)
		}
	}
	if len(counted) == 0 {
		return nil
	}
	var counts [2][]float64
	for side := range s.sides {
		s.step("counting instructions", side, 2)
		var err error
		if counts[side], err = s.count(side, counted); err != nil {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			s.warnings = append(s.warnings, "No instructions were counted: "+err.Error())
			return nil
		}
	}
	s.step("counting instructions", 2, 2)
	for i, c := range counted {
		if d := counts[head][i]/counts[base][i] - 1; math.Abs(d) > leastCount {
			c.counts = fmt.Sprintf("%+.2f%% instructions", 100*d)
			s.warnings = append(s.warnings, fmt.Sprintf("%s executes %s", c.name, c.counts))
		}
	}
	return nil
}

// count returns the instructions of one slice of each cell.
func (s *session) count(side int, cells []*timedCell) ([]float64, error) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return nil, errors.New("valgrind is not installed")
	}
	folder, err := NewFolder()
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	profile := filepath.Join(folder.dir, "profile")
	program := s.sides[side].Symbols
	if program == "" {
		program = s.sides[side].Programs[0]
	}
	w, err := s.launch(side, []string{"GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off"}, "valgrind", "--tool=callgrind",
		"--callgrind-out-file="+profile, "--collect-atstart=no", "--toggle-collect="+harness.Counted, "--dump-after="+harness.Counted,
		program, workerCommand)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	open := s.request("open")
	for _, c := range cells {
		open.Cells = append(open.Cells, opening{c.name, countedOps})
	}
	if _, err := w.ask(open); err != nil {
		return nil, err
	}
	for _, c := range cells {
		r := request{Do: "slice", Cell: c.name}
		if side == head {
			r.Extra = c.extra(countedOps)
		}
		for range countedSlices {
			if _, err := w.ask(r); err != nil {
				return nil, err
			}
		}
	}
	w.stop()
	counts := make([]float64, len(cells))
	for i := range counts {
		counts[i] = math.Inf(1)
		for k := range countedSlices {
			n, err := readCount(fmt.Sprintf("%s.%d", profile, countedSlices*i+k+1))
			if err != nil {
				return nil, fmt.Errorf("%s has no symbols, or valgrind does not know its functions: %w", s.sides[side].Name, err)
			}
			counts[i] = min(counts[i], n)
		}
	}
	return counts, nil
}

// readCount returns the instructions in one profile of callgrind.
func readCount(path string) (float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "summary: "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err == nil && n <= 0 {
				err = errors.New("it counted nothing")
			}
			return n, err
		}
	}
	return 0, errors.Join(lines.Err(), errors.New("a profile without a summary"))
}
