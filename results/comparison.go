package results

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A Verdict says what became of one metric of one cell, or of all together.
type Verdict string

const (
	Unchanged    Verdict = "unchanged"
	Improved     Verdict = "improved"
	Regressed    Verdict = "regressed"
	Inconclusive Verdict = "inconclusive"      // the noise hides whether anything changed
	Differs      Verdict = "differs"           // an exact metric of which neither way is better
	Moved        Verdict = "placement changed" // keys have other owners
	Accepted     Verdict = "accepted"          // worse or moved, and the caller says that this is wanted
	Wrong        Verdict = "wrong answers"
	Added        Verdict = "added"   // only head has the cell
	Removed      Verdict = "removed" // only base has the cell
)

// verdicts in the order in which they are shown, the gravest first.
var verdicts = []Verdict{Wrong, Moved, Regressed, Improved, Inconclusive, Differs, Accepted, Removed, Added, Unchanged}

// Fails says whether the verdict alone fails a comparison.
func (v Verdict) Fails() bool { return v == Wrong || v == Moved || v == Regressed }

// A Number is a figure that may be missing: NaN, in JSON null.
type Number float64

// MarshalJSON writes null for what is no number.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// none is the figure that is missing.
var none = Number(math.NaN())

// A Change is one metric of one cell in two programs, or in two runs.
type Change struct {
	Name   string `json:"name"`   // of the cell
	Metric string `json:"metric"` // "placement" for the digest of who owns what

	Base  Number `json:"base"`
	Head  Number `json:"head"`    // of a timed metric, side by side: base times the ratio
	Ratio Number `json:"ratio"`   // head over base; of a timed metric the estimate over all rounds
	Low   Number `json:"ci_low"`  // of the ratio; null for exact metrics
	High  Number `json:"ci_high"` // of the ratio; null for exact metrics
	P     Number `json:"p"`       // of what was seen: side by side, if nothing got worse by more than 1%; of stored runs, if nothing changed; null for exact metrics

	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"` // what a reader should know of this row
}

// A Comparison is what two programs, or two runs, have told about each other.
type Comparison struct {
	Base, Head string   // what the two sides are
	Machine    string   // where they ran; "" when nothing was timed
	Design     string   // how they ran: rounds, layouts
	Start      string   // when, in RFC 3339; "" when not known
	Rows       []Change // see Sort
	Warnings   []string
	Strict     bool     // what is inconclusive fails too
	Repeat     []string // the command that does it again, for all cells
	Only       string   // pattern of the cells that were asked for; "" for all
}

// Verdict returns the gravest verdict that decides: Wrong, Moved, Regressed,
// Inconclusive, Improved or Unchanged.
func (c *Comparison) Verdict() Verdict {
	for _, v := range []Verdict{Wrong, Moved, Regressed, Inconclusive, Improved} {
		if c.Count(v) > 0 {
			return v
		}
	}
	return Unchanged
}

// Failed says whether the comparison fails a build.
func (c *Comparison) Failed() bool {
	v := c.Verdict()
	return v.Fails() || c.Strict && v == Inconclusive
}

// Count returns how many rows have the verdict.
func (c *Comparison) Count(v Verdict) int {
	n := 0
	for _, r := range c.Rows {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// named returns "cell metric" of all rows with one of the verdicts, never nil.
func (c *Comparison) named(vs ...Verdict) []string {
	names := []string{}
	for _, r := range c.Rows {
		if slices.Contains(vs, r.Verdict) {
			names = append(names, r.Name+" "+r.Metric)
		}
	}
	return names
}

// AcceptWorse accepts what got worse in the rows that match, as "cell metric".
func (c *Comparison) AcceptWorse(wanted *regexp.Regexp) {
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Verdict == Regressed && wanted.MatchString(r.Name+" "+r.Metric) {
			r.Verdict = Accepted
		}
	}
	c.Sort()
}

// Sort puts the rows in the order in which they are shown: by verdict, the
// gravest first, then by size of the change, then by name.
func (c *Comparison) Sort() {
	size := func(r Change) float64 {
		if s := math.Abs(math.Log(float64(r.Ratio))); s >= 0 {
			return s
		}
		return 0
	}
	slices.SortStableFunc(c.Rows, func(a, b Change) int {
		if d := slices.Index(verdicts, a.Verdict) - slices.Index(verdicts, b.Verdict); d != 0 {
			return d
		}
		if a.Verdict != Unchanged {
			if x, y := size(a), size(b); x != y {
				if x > y {
					return -1
				}
				return 1
			}
		}
		if d := compareNatural(a.Name, b.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Metric, b.Metric)
	})
}

// placementMeasures are those whose values follow from who owns what.
var placementMeasures = []string{"shares", "balance", "load", "movement", "bounded"}

// CompareExact compares the exact metrics and the digests of two sets of trials
// with equality. Where accept matches the name of a cell, what follows from a
// changed placement is accepted; nil accepts nothing. Seeds are told apart, and
// of repetitions the first counts.
func CompareExact(base, head []Trial, accept *regexp.Regexp) []Change {
	type side struct{ base, head *Trial }
	type place struct {
		cell string
		seed uint64
	}
	var order []place
	sides := map[place]side{}
	put := func(trials []Trial, set func(*side, *Trial)) {
		for i := range trials {
			t := &trials[i]
			if t.Rep != 0 || !exact(t) {
				continue
			}
			at := place{t.Cell, t.Seed}
			s, known := sides[at]
			if !known {
				order = append(order, at)
			}
			set(&s, t)
			sides[at] = s
		}
	}
	put(base, func(s *side, t *Trial) { s.base = t })
	put(head, func(s *side, t *Trial) { s.head = t })
	var rows []Change
	seeds := map[string]int{} // placements of a cell so far
	for _, at := range order {
		s := sides[at]
		accepted := accept != nil && accept.MatchString(at.cell)
		seeds[at.cell]++
		for _, r := range compareTrials(at.cell, s.base, s.head, accepted) {
			if seeds[at.cell] > 1 && r.Metric == everything {
				continue // one line says it for all placements
			}
			if seeds[at.cell] > 1 && r.Verdict != Unchanged {
				r.Note = strings.TrimPrefix(fmt.Sprintf("%s, seed %d", r.Note, at.seed), ", ")
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// everything is the metric of a row that is about all of a cell.
const everything = "all"

// exact says whether a trial holds anything that repeats on every machine, or
// would if it had not been skipped.
func exact(t *Trial) bool {
	if slices.Contains(placementMeasures, t.Measure) || t.Measure == "allocations" {
		return true
	}
	for name := range t.Values {
		if m, _ := MetricByName(name); m.Kind == Computed && name != "footprint-bytes" {
			return true
		}
	}
	return false
}

// compareTrials compares one cell in one placement.
func compareTrials(cell string, base, head *Trial, accepted bool) []Change {
	gone := func(t *Trial) bool { return t == nil || t.Skip != "" }
	one := Change{Name: cell, Metric: everything, Base: none, Head: none, Ratio: none, Low: none, High: none, P: none}
	switch {
	case gone(base) && gone(head):
		return nil
	case gone(base):
		one.Verdict = Added
		return []Change{one}
	case gone(head):
		one.Verdict = Removed
		if head != nil {
			one.Note = head.Skip
		}
		return []Change{one}
	}
	var rows []Change
	placed := slices.Contains(placementMeasures, base.Measure)
	if base.Check != "" || head.Check != "" {
		r := one
		r.Metric, r.Verdict = "placement", Unchanged
		if base.Check != head.Check {
			r.Verdict, r.Note = Moved, "key owners move"
			if accepted {
				r.Verdict = Accepted
			}
		}
		rows = append(rows, r)
	}
	for _, m := range Metrics {
		x, was := base.Values[m.Name]
		y, is := head.Values[m.Name]
		if m.Kind != Computed || !was && !is {
			continue
		}
		r := one
		r.Metric, r.Base, r.Head = m.Name, none, none
		if was {
			r.Base = Number(x)
		}
		if is {
			r.Head = Number(y)
		}
		switch {
		case !was:
			r.Verdict = Added
		case !is:
			r.Verdict = Removed
		default:
			r.Ratio = Number(y / x)
			r.Verdict = judgeExact(m, Exact(x), Exact(y))
			if r.Verdict == Regressed && accepted && placed {
				r.Verdict = Accepted
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func judgeExact(m Metric, base, head float64) Verdict {
	switch {
	case base == head:
		return Unchanged
	case m.Better == Neither:
		return Differs
	case (head > base) == (m.Better == Lower):
		return Regressed
	}
	return Improved
}

// MarshalJSON writes the comparison for other programs.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	rows, warnings := c.Rows, c.Warnings
	if rows == nil {
		rows = []Change{}
	}
	if warnings == nil {
		warnings = []string{}
	}
	return json.Marshal(struct {
		Verdict      Verdict  `json:"verdict"`
		Failed       bool     `json:"failed"`
		Base         string   `json:"base"`
		Head         string   `json:"head"`
		Machine      string   `json:"machine"`
		Design       string   `json:"design"`
		Regressions  []string `json:"regressions"` // wrong answers and changed placements included
		Improvements []string `json:"improvements"`
		Inconclusive []string `json:"inconclusive"`
		Added        []string `json:"added"`
		Removed      []string `json:"removed"`
		Rows         []Change `json:"rows"`
		Warnings     []string `json:"warnings"`
	}{
		c.Verdict(), c.Failed(), c.Base, c.Head, c.Machine, c.Design,
		c.named(Wrong, Moved, Regressed), c.named(Improved), c.named(Inconclusive), c.named(Added), c.named(Removed), rows, warnings,
	})
}
