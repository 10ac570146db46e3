package results

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Headline counts the verdicts in one line: "1 regression, 46 unchanged, 1
// inconclusive".
func (c *Comparison) Headline() string {
	var parts []string
	for _, v := range verdicts {
		n := c.Count(v)
		if n == 0 {
			continue
		}
		words := string(v)
		switch v {
		case Wrong:
			words = "with wrong answers"
		case Moved:
			words = "with a changed placement"
		case Regressed:
			words = "regression"
			if n > 1 {
				words = "regressions"
			}
		case Differs:
			words = "different"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, words))
	}
	if parts == nil {
		return "nothing to compare"
	}
	return strings.Join(parts, ", ")
}

// mostTextRows is how many rows the text shows: a screen or two.
const mostTextRows = 60

// WriteText writes the comparison for people: what changed, the headline, and in
// the last line what to do.
func (c *Comparison) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "base  %s\nhead  %s\n", c.Base, c.Head)
	if c.Machine != "" {
		fmt.Fprintf(&b, "on    %s\n", c.Machine)
	}
	fmt.Fprintf(&b, "by    %s\n\n", c.Design)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	shown, hidden := 0, 0
	for _, r := range c.Rows {
		switch {
		case r.Verdict == Unchanged:
			continue
		case shown == mostTextRows:
			hidden++
			continue
		case shown == 0:
			fmt.Fprintf(t, "VERDICT\tCHANGE\t%s\tBASE\tHEAD\tCELL\n", intervalHead(c.Rows))
		}
		shown++
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Verdict, r.change(), r.interval(), r.figure(r.Base), r.figure(r.Head), r.title())
	}
	t.Flush()
	if hidden > 0 {
		fmt.Fprintf(&b, "and %d more, see --format json\n", hidden)
	}
	if shown > 0 {
		b.WriteByte('\n')
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "%s\n", warning)
	}
	fmt.Fprintf(&b, "%s\n%s\n", c.Headline(), c.next())
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// intervalHead is the heading over the intervals.
func intervalHead(rows []Change) string {
	for _, r := range rows {
		if !math.IsNaN(float64(r.Low)) {
			return "INTERVAL"
		}
	}
	return ""
}

// next says what to do.
func (c *Comparison) next() string {
	again := strings.Join(c.Repeat, " ")
	switch v := c.Verdict(); {
	case v == Wrong:
		return "Next  mend the answers: no timing counts before"
	case v == Moved:
		return "Next  mend the placement, or if the keys are meant to move, say so with --accept-placement REGEX"
	case v == Regressed && again != "":
		return "Next  mend it, or if it is meant, say so with --accept-worse REGEX; see with: " + again + " --only " + quote(c.first(Regressed))
	case v == Regressed:
		return "Next  mend it, or if it is meant, say so with --accept-worse REGEX; time the two programs side by side with ringbench compare --base"
	case v == Inconclusive && again != "":
		return "Next  nothing failed; to know more, quiet the machine (ringbench doctor) and repeat: " + again + " --only " + quote(c.first(Inconclusive))
	case v == Inconclusive:
		return "Next  runs of different times tell no more; compare the two programs side by side with ringbench compare --base"
	}
	return "Next  nothing to do"
}

// quote wraps the name of a cell as a regular expression for a shell.
func quote(cell string) string {
	return "'^" + strings.NewReplacer("+", `\+`, ".", `\.`, "'", "_27").Replace(cell) + "$'"
}

// first returns the name of the first cell with the verdict.
func (c *Comparison) first(v Verdict) string {
	for _, r := range c.Rows {
		if r.Verdict == v {
			return r.Name
		}
	}
	return ""
}

// title names the row for people: the cell, and the metric where the cell has
// several.
func (r Change) title() string {
	title := r.Name
	if m, ok := MetricByName(r.Metric); !ok || m.Kind == Computed {
		title += " " + r.Metric
	}
	if r.Note != "" {
		title += " (" + r.Note + ")"
	}
	return title
}

// change returns the relative change in percent, "" when there is none to tell, as
// of a figure that may have either sign.
func (r Change) change() string {
	if r.Base < 0 || r.Head < 0 {
		return ""
	}
	return relative(r.Ratio)
}

func relative(ratio Number) string {
	p := 100 * (float64(ratio) - 1)
	switch {
	case math.IsNaN(p), math.IsInf(p, 0):
		return ""
	case math.Abs(p) < 0.05:
		return "0.0%"
	case math.Abs(p) >= 1000:
		return fmt.Sprintf("x%.3g", float64(ratio))
	}
	return fmt.Sprintf("%+.1f%%", p)
}

// interval returns the interval of the change, "" when there is none.
func (r Change) interval() string {
	if math.IsNaN(float64(r.Low)) || math.IsNaN(float64(r.High)) {
		return ""
	}
	return fmt.Sprintf("%+.1f to %+.1f%%", 100*(float64(r.Low)-1), 100*(float64(r.High)-1))
}

// timed says whether the metric is read from a clock.
func (r Change) timed() bool {
	m, _ := MetricByName(r.Metric)
	return m.Kind == Timed
}

// figure writes a value in its unit, "" when it is missing.
func (r Change) figure(n Number) string {
	v := float64(n)
	if math.IsNaN(v) {
		return ""
	}
	if !r.timed() {
		return formatFloat(v)
	}
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g ms", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3g us", v/1e3)
	}
	return fmt.Sprintf("%.3g ns", v)
}

// markdownBudget keeps the text below what a comment on a pull request takes,
// 65,536 bytes, with room for what surrounds it.
const markdownBudget = 60_000

// WriteMarkdown writes the comparison as the summary of a CI job: the headline,
// the machine, a table of what changed, what did not folded away, and the command
// that repeats it. It is shorter than 64 KiB, whatever the number of rows.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### ringbench: %s\n\n", c.Headline())
	fmt.Fprintf(&b, "Base: %s. Head: %s. ", html.EscapeString(c.Base), html.EscapeString(c.Head))
	if c.Machine != "" {
		fmt.Fprintf(&b, "Machine: %s. ", html.EscapeString(c.Machine))
	}
	fmt.Fprintf(&b, "Design: %s.\n\n", c.Design)
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "> %s\n", warning)
	}
	var tail bytes.Buffer
	if len(c.Repeat) > 0 {
		again := strings.Join(c.Repeat, " ")
		if c.Only != "" {
			again += " --only '" + c.Only + "'"
		}
		fmt.Fprintf(&tail, "\nRepeat with `%s`. %s\n", again, strings.ReplaceAll(c.next(), "Next  ", "Next: "))
	}
	room := markdownBudget - tail.Len()
	c.markdownRows(&b, room*3/4, "| verdict | cell | base | head | change | interval |\n|---|---|---:|---:|---:|---:|\n", func(r Change) string {
		if r.Verdict == Unchanged {
			return ""
		}
		return fmt.Sprintf("| %s | `%s` | %s | %s | %s | %s |\n", r.Verdict, r.title(), r.figure(r.Base), r.figure(r.Head), r.change(), r.interval())
	})
	timed := slices.ContainsFunc(c.Rows, func(r Change) bool { return r.Verdict == Unchanged && r.timed() })
	switch n := c.Count(Unchanged); {
	case n > 0 && !timed:
		fmt.Fprintf(&b, "\n%d unchanged, digit for digit.\n", n)
	case n > 0:
		fmt.Fprintf(&b, "\n<details><summary>%d unchanged</summary>\n\n", n)
		c.markdownRows(&b, room-len("\n</details>\n"), "| cell | change | interval |\n|---|---:|---:|\n", func(r Change) string {
			// What is exact and unchanged is the same digit for digit.
			if r.Verdict != Unchanged || !r.timed() {
				return ""
			}
			return fmt.Sprintf("| `%s` | %s | %s |\n", r.title(), r.change(), r.interval())
		})
		b.WriteString("\n</details>\n")
	}
	b.Write(tail.Bytes())
	_, err := w.Write(b.Bytes())
	return err
}

// markdownRows writes the rows under the head, until b is as long as the limit.
func (c *Comparison) markdownRows(b *bytes.Buffer, limit int, head string, line func(Change) string) {
	const more = 64 // bytes for the line that counts what is left out
	left := 0
	for _, r := range c.Rows {
		l := line(r)
		switch {
		case l == "":
		case b.Len()+len(head)+len(l)+more > limit:
			left++
		default:
			b.WriteString(head)
			b.WriteString(l)
			head = ""
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "\nand %d more, see the JSON\n", left)
	}
}

// mostAnnotations is how many annotations of one level GitHub shows for a step.
const mostAnnotations = 10

// WriteGitHub writes the comparison as workflow commands, which GitHub shows as
// annotations of the job: errors for what fails, warnings for what is
// inconclusive, a notice with the headline.
func (c *Comparison) WriteGitHub(w io.Writer) error {
	var b bytes.Buffer
	counts := map[string]int{}
	for _, r := range c.Rows {
		level := ""
		switch {
		case r.Verdict.Fails():
			level = "error"
		case r.Verdict == Inconclusive:
			level = "warning"
		}
		if level == "" || counts[level] == mostAnnotations {
			continue
		}
		counts[level]++
		message := r.title()
		if r.change() != "" {
			message += fmt.Sprintf(": %s -> %s, %s", r.figure(r.Base), r.figure(r.Head), r.change())
		}
		if i := r.interval(); i != "" {
			message += " (interval " + i + ")"
		}
		fmt.Fprintf(&b, "::%s title=ringbench %s::%s\n", level, r.Verdict, workflowText(message))
	}
	fmt.Fprintf(&b, "::notice title=ringbench::%s\n", workflowText(c.Headline()))
	_, err := w.Write(b.Bytes())
	return err
}

// workflowText escapes the message of a workflow command.
func workflowText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// WriteJUnit writes the comparison as a test report: what fails failed, what is
// inconclusive was skipped.
func (c *Comparison) WriteJUnit(w io.Writer) error {
	j := JUnit{Name: "ringbench compare", Start: c.Start, Properties: []Field{
		{"base", c.Base}, {"head", c.Head}, {"machine", c.Machine}, {"design", c.Design},
	}}
	for _, r := range c.Rows {
		measure, _ := ParseCell(r.Name)
		one := JUnitCase{Class: "ringbench." + measure, Name: r.Name + " " + r.Metric}
		told := strings.Join(strings.Fields(fmt.Sprintf("%s: %s -> %s %s %s %s", r.Verdict, r.figure(r.Base), r.figure(r.Head), r.change(), r.interval(), r.Note)), " ")
		switch {
		case r.Verdict.Fails():
			one.Failure = told
		case r.Verdict == Inconclusive, r.Verdict == Removed, r.Verdict == Added:
			one.Skipped = told
		}
		j.Cases = append(j.Cases, one)
	}
	j.Output = c.Headline() + "\n" + c.next()
	return j.Write(w)
}
