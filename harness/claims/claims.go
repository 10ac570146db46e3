// Package claims answers one question: is what is said of consistent hashing true?
// It holds a table of claims, from papers, from theory and from the pages that
// people copy from each other, and checks each by the harness' own measures: the
// code that users measure with.
//
// A [Claim] is data and one measure. Most measures are a cell of a run, which is
// planned and carried out as the command run does, and a statistic over its
// placements; see measure.go. The table stands in the files that begin with
// "about". CLAIMS.md, one folder up, is what [Page] writes of them.
//
// # When a figure counts as reproduced
//
// Chance is allowed to move a measured figure by four standard errors, which it
// exceeds once in 16,000 times, and the source to round its own, by half a unit of
// the last digit that it prints. Both make the tolerance. Where a source took its
// figure from a single random placement, chance had its way with the source too: the
// figure has to lie within what single placements show here. Each tolerance says what
// it is made of.
package claims

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// A Verdict is what measuring made of a claim.
type Verdict string

const (
	Reproduced    Verdict = "reproduced"
	NotReproduced Verdict = "not reproduced" // a published figure that its set-up does not give here
	Refuted       Verdict = "refuted"        // a claim that is repeated and is wrong
)

// A Claim is a figure that somebody published, and how to check it.
type Claim struct {
	ID        string  // what --only matches: theme/claim/size
	Source    string  // paper with section or table, or what kind of page says so
	Says      string  // the claim, in our words
	Published figure  // the figure that it gives
	Expected  Verdict // Reproduced unless given
	Finds     string  // what is true instead, unless it is reproduced
	Measure   measure
}

// A figure is a published number: a printed one, whose last digit tells how far it
// is rounded, or that of a formula.
type figure struct {
	value  float64
	text   string // as the source prints it, or the formula
	half   float64
	slack  string // why half is not half a unit of the last digit
	single bool   // the source drew one random placement
	peak   bool   // and its figure is a maximum, whose chance is lopsided
	bound  int    // -1: the claim is "at most", 1: "at least", 0: equality
}

// printed is a figure as it stands in its source: digits, and % behind them.
func printed(text string) figure {
	digits, percent := strings.CutSuffix(text, "%")
	digits = strings.ReplaceAll(digits, ",", "")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		panic("claims: " + err.Error())
	}
	_, decimals, _ := strings.Cut(digits, ".")
	unit := math.Pow(10, -float64(len(decimals)))
	if decimals == "" { // 44,000 is rounded to thousands
		for d := digits; len(d) > 1 && strings.HasSuffix(d, "0"); d = d[:len(d)-1] {
			unit *= 10
		}
	}
	if percent {
		v, unit = v/100, unit/100
	}
	return figure{value: v, text: text, half: unit / 2}
}

// formula is a figure that follows from the formula, and so has all its digits.
func formula(text string, value float64) figure { return figure{value: value, text: text} }

// exactly is a whole number that is meant as it stands.
func exactly(value float64, unit string) figure {
	return figure{value: value, text: strings.TrimSpace(number(value) + " " + unit)}
}

// within returns the figure with another allowance than half a unit, and why.
func (f figure) within(allowance float64, why string) figure {
	f.half, f.slack = allowance, why
	return f
}

// fromOne returns the figure as one that its source drew a single time, and peakOfOne
// as the maximum of such a draw.
func (f figure) fromOne() figure   { f.single = true; return f }
func (f figure) peakOfOne() figure { f.peak = true; return f }

// atMost and atLeast make a limit of the figure.
func (f figure) atMost() figure  { f.bound = -1; f.text = "at most " + f.text; return f }
func (f figure) atLeast() figure { f.bound = 1; f.text = "at least " + f.text; return f }

// A Result is a claim with what was found. Its fields in JSON are those that
// programs read; numbers are rounded to 12 digits.
type Result struct {
	ID        string  `json:"id"`
	Source    string  `json:"source"`
	Claim     string  `json:"claim"`
	Setup     string  `json:"setup"`
	Published float64 `json:"published"`
	Printed   string  `json:"printed"` // the published figure in words
	Measured  float64 `json:"measured"`
	Low       float64 `json:"ci_low"` // of the interval of 95%
	High      float64 `json:"ci_high"`
	Tolerance float64 `json:"tolerance"`
	Reason    string  `json:"reason"` // what the tolerance is made of
	Expected  Verdict `json:"expected"`
	Verdict   Verdict `json:"verdict"`
	Pass      bool    `json:"pass"`
	Finds     string  `json:"finds,omitempty"`
}

// errorsAllowed is how many standard errors chance may move a figure by.
const errorsAllowed = 4

// judge compares what was measured with the claim.
func (c *Claim) judge(e estimate) Result {
	r := c.blank()
	r.Measured = e.value
	r.Low, r.High = e.low, e.high
	if e.low == 0 && e.high == 0 {
		r.Low, r.High = e.value-1.96*e.err, e.value+1.96*e.err
	}
	f := c.Published
	r.Tolerance = float64(errorsAllowed*e.err) + f.half
	switch {
	case f.single:
		r.Tolerance = float64(errorsAllowed*e.one) + f.half
	case f.peak && f.value < e.value:
		r.Tolerance = e.value - e.least + f.half
	case f.peak:
		r.Tolerance = e.most - e.value + f.half
	}
	const rounding = 1e-9 // of floating point, relative
	room := r.Tolerance + rounding*max(1, math.Abs(f.value))
	off := e.value - f.value
	holds := math.Abs(off) <= room
	switch {
	case f.bound < 0:
		holds = off <= room
	case f.bound > 0:
		holds = -off <= room
	}
	switch {
	case holds:
		r.Verdict = Reproduced
	case r.Expected == Refuted:
		r.Verdict = Refuted
	default:
		r.Verdict = NotReproduced
	}
	r.Pass = r.Verdict == r.Expected
	for _, v := range []*float64{&r.Published, &r.Measured, &r.Low, &r.High, &r.Tolerance} {
		*v = results.Exact(*v)
	}
	return r
}

// blank returns the result without what is measured.
func (c *Claim) blank() Result {
	r := Result{
		ID: c.ID, Source: c.Source, Claim: c.Says, Setup: c.Measure.setup,
		Published: c.Published.value, Printed: c.Published.text, Expected: c.Expected, Finds: c.Finds,
	}
	if r.Expected == "" {
		r.Expected = Reproduced
	}
	f := c.Published
	var parts []string
	switch {
	case f.single:
		parts = append(parts, fmt.Sprintf("the source drew once: %d standard deviations of a draw", errorsAllowed))
	case f.peak:
		parts = append(parts, "the source drew once, and a maximum: as far as any of our draws goes")
	case !c.Measure.exact:
		parts = append(parts, fmt.Sprintf("%d standard errors", errorsAllowed))
	}
	switch {
	case f.slack != "":
		parts = append(parts, f.slack)
	case f.half > 0:
		parts = append(parts, "half a unit of the last printed digit")
	}
	r.Reason = strings.Join(parts, ", and ")
	if r.Reason == "" {
		r.Reason = "exact"
	}
	return r
}

// Options say which claims are checked, and how.
type Options struct {
	Algorithms []algorithms.Info
	Only       *regexp.Regexp // keep the claims whose ID matches; nil keeps all
	Seed       uint64         // of all placements and keys; another one must not change a verdict

	// Each, unless nil, is called before each claim is checked, with the part of the
	// work that is done, and after the last.
	Each func(id string, done float64)

	thin int // draws are divided by it; 0 for 1
}

// ErrNoClaim says that [Options.Only] leaves no claim.
var ErrNoClaim = errors.New("no claim matches --only, see the names in harness/CLAIMS.md")

// All returns the table: theory first, then the papers, then what people repeat.
func All() []Claim { return table }

// Check measures the claims, in the order of the table. The results depend on the
// seed alone, not on the machine nor its cores. It returns the context's error when
// that ends.
func Check(ctx context.Context, o Options) ([]Result, error) { return check(ctx, All(), o) }

func check(ctx context.Context, all []Claim, o Options) ([]Result, error) {
	var kept []Claim
	for _, c := range all {
		if o.Only == nil || o.Only.MatchString(c.ID) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return nil, ErrNoClaim
	}
	l := newLab(ctx, o)
	var found []Result
	for i, c := range kept {
		if o.Each != nil {
			o.Each(c.ID, float64(i)/float64(len(kept)))
		}
		e, err := c.Measure.take(l)
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.ID, err)
		}
		found = append(found, c.judge(e))
	}
	if o.Each != nil {
		o.Each("", 1)
	}
	return found, nil
}

// Failed returns the results whose verdict is not the expected one.
func Failed(all []Result) []Result {
	var failed []Result
	for _, r := range all {
		if !r.Pass {
			failed = append(failed, r)
		}
	}
	return failed
}
