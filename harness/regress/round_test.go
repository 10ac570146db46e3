package regress

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/ringbench/ringbench/workloads"
)

// A scripted is both ends of a worker whose slices all take the same time. It notes
// its side whenever it is asked.
type scripted struct {
	bytes.Buffer // what it has answered
	side         int
	wall         int64
	asked        *[]int
}

func (s *scripted) Write(line []byte) (int, error) {
	*s.asked = append(*s.asked, s.side)
	return len(line), json.NewEncoder(&s.Buffer).Encode(response{WallNs: s.wall, CPUNs: -1})
}

func (*scripted) Close() error { return nil }

func TestTurnsAreStrictAndFavourNobodyWhoBegins(t *testing.T) {
	var asked []int
	var ws [2]*worker
	for side, wall := range []int64{1_000_000, 1_030_000} {
		s := &scripted{side: side, wall: wall, asked: &asked}
		ws[side] = &worker{side: side, in: s, out: bufio.NewReader(&s.Buffer)}
	}
	s := &session{order: workloads.Rand(1, "turns")}
	began := [2]int{}
	const rounds = 20
	for range rounds {
		asked = nil
		c := &timedCell{ops: 1000, sums: [2]map[int]uint64{{}, {}}}
		if err := s.turns(ws, c, leastSlices); err != nil {
			t.Fatal(err)
		}
		began[asked[0]]++
		for i, side := range asked[1:] {
			if side == asked[i] {
				t.Fatalf("the sides were asked in the order %v", asked)
			}
		}
		if math.Abs(c.ratios[0]-math.Log(1.03)) > 1e-12 || c.base[0] != 1000 {
			t.Fatalf("side %d began: a change of %v from %v ns, want ln 1.03 from 1000", asked[0], c.ratios[0], c.base[0])
		}
	}
	if began[base] < rounds/5 || began[head] < rounds/5 {
		t.Errorf("base began %d times, head %d times", began[base], began[head])
	}
}
