package claims

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A section is the claims on one theme, with what they come to.
type section struct {
	title, intro string
	claims       []Claim
}

var sections = []section{
	aboutRings, aboutJumpTable, aboutCounting, aboutMoves, aboutCost, aboutMaglev,
	aboutBounds, aboutWeights, aboutHotKeys, aboutHashes, aboutOthers, aboutFolklore,
}

var table = concat(claimsOf(sections)...)

func claimsOf(all []section) (lists [][]Claim) {
	for _, s := range all {
		lists = append(lists, s.claims)
	}
	return lists
}

func concat(lists ...[]Claim) []Claim { return slices.Concat(lists...) }

const preface = `# What is true of consistent hashing

Figures about consistent hashing are copied from page to page, some right, some wrong by ten times. Here each stands
beside what ringbench measures, by the code that its users measure with. Run them on your machine:

    ringbench verify

A claim is *reproduced* when it lies within the tolerance of what is measured. It is *refuted* when people repeat it and it
is wrong: what is true stands beside it. It is *not reproduced* when a source prints a figure that its own set-up does not
give here. A measured figure stands with its interval of 95%, for it is drawn from random names and keys: another seed
gives another figure and the same verdict. Chance is allowed four standard errors, which it exceeds once in 16,000 times;
the source, the rounding of what it prints.
`

// Page writes the results as Markdown: the page CLAIMS.md, when they are all of them.
func Page(found []Result) string {
	var b strings.Builder
	b.WriteString("<!-- Written by ringbench verify --markdown; do not edit. -->\n\n")
	b.WriteString(preface)
	fmt.Fprintf(&b, "\n%s\n", Tally(found))
	byID := map[string]Result{}
	var wrong []Result
	for _, r := range found {
		byID[r.ID] = r
		if r.Verdict == Refuted {
			wrong = append(wrong, r)
		}
	}
	if len(wrong) > 0 {
		b.WriteString("\n## Repeated, and wrong\n\n")
	}
	for _, r := range wrong {
		fmt.Fprintf(&b, "- *%s* %s\n", r.Claim, r.Finds)
	}
	for _, s := range sections {
		var kept []Result
		for _, c := range s.claims {
			if r, ok := byID[c.ID]; ok {
				kept = append(kept, r)
			}
		}
		if len(kept) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.title, strings.Join(strings.Fields(s.intro), " "))
		b.WriteString("| the claim | published | measured | verdict |\n|---|---|---|---|\n")
		for _, r := range kept {
			b.WriteString(row(r))
		}
		b.WriteString("\n<details><summary>Sources, set-ups and tolerances</summary>\n\n")
		b.WriteString("| name | source | set-up | tolerance |\n|---|---|---|---|\n")
		for _, r := range kept {
			b.WriteString(cells("`"+r.ID+"`", r.Source, r.Setup, toleranceText(r)))
		}
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// row writes what a result says as a row of a table.
func row(r Result) string {
	verdict := string(r.Verdict)
	if r.Verdict != Reproduced {
		verdict = "**" + verdict + "**"
	}
	if !r.Pass {
		verdict += " (expected: " + string(r.Expected) + ")"
	}
	claim := r.Claim
	if r.Finds != "" && r.Verdict != Reproduced {
		claim += " **But:** " + r.Finds
	}
	published := r.Printed
	if strings.ContainsAny(published, "()/*+") {
		published = "`" + published + "` = " + number(r.Published)
	}
	return cells(claim, published, measuredText(r), verdict)
}

// cells writes a row of a table.
func cells(all ...string) string {
	for i, c := range all {
		all[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(c)
	}
	return "| " + strings.Join(all, " | ") + " |\n"
}

// measuredText writes the measured figure with its interval.
func measuredText(r Result) string {
	figure := number
	if strings.HasSuffix(r.Printed, "%") {
		figure = func(v float64) string { return number(100*v) + "%" }
	}
	if r.Low == r.High {
		return figure(r.Measured)
	}
	return fmt.Sprintf("%s (%s to %s)", figure(r.Measured), figure(r.Low), figure(r.High))
}

func toleranceText(r Result) string {
	switch {
	case r.Tolerance == 0 && r.Reason == "exact":
		return "none: exact"
	case r.Tolerance == 0:
		return "none: all draws agree"
	}
	return number2(r.Tolerance) + ": " + r.Reason
}

// Tally counts the verdicts in a sentence.
func Tally(found []Result) string {
	n := map[Verdict]int{}
	for _, r := range found {
		n[r.Verdict]++
	}
	text := fmt.Sprintf("%d claims: %d reproduced, %d refuted, %d not reproduced", len(found), n[Reproduced], n[Refuted], n[NotReproduced])
	if failed := len(Failed(found)); failed > 0 {
		return fmt.Sprintf("%s; %d not as expected.", text, failed)
	}
	return text + ", all as expected."
}

// number writes a figure with four significant digits, and whole numbers whole.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return thousands(int(v))
	}
	if math.Abs(v) >= 1000 {
		return thousands(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// number2 writes a figure with two.
func number2(v float64) string {
	if math.Abs(v) >= 100 {
		return number(math.Round(v))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// thousands writes a whole number with commas.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
