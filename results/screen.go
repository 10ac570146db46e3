package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteExact writes the first part of the first screen: who gets how much, and
// what moves, at the smallest cluster there is, in plain words, or else the answer
// to the one question that the run is about. A section whose data are missing is
// left out; when all are, each exact metric gets a plain table. It writes nothing
// when the set has nothing exact. What the tables have no room for is for [WriteAlso].
func WriteExact(w io.Writer, s *Set) error {
	v := newView(s)
	sections := v.exactSections()
	seconds := 0.0
	if s.End != nil {
		seconds = s.End.ExactSeconds
	}
	if !v.timed() {
		sections = append(sections, v.warnings())
	}
	return writePart(w, "EXACT, the same on every machine", seconds, sections)
}

// exactSections returns the tables of the first question that has any.
func (v view) exactSections() [][]string {
	none := func(lines []string) bool { return len(lines) == 0 }
	for _, tables := range []func() [][]string{
		v.suiteTables,
		func() [][]string { return [][]string{v.exactTable(), v.vnodesTable()} },
		func() [][]string { return [][]string{v.replicasTable(), v.quorumTable()} },
		func() [][]string { return v.plainTables(v.exactAnswer) },
	} {
		if sections := slices.DeleteFunc(tables(), none); len(sections) > 0 {
			return sections
		}
	}
	return nil
}

// WriteMeasured writes the second part of the first screen: what a lookup costs
// here, with its floors first. It writes nothing when the set has no timings.
func WriteMeasured(w io.Writer, s *Set) error {
	v := newView(s)
	if !v.timed() {
		return nil
	}
	sections := v.measuredSections()
	seconds := 0.0
	if s.End != nil && s.End.Seconds > s.End.ExactSeconds {
		seconds = s.End.Seconds - s.End.ExactSeconds
	}
	sections = append(sections, v.waits(), v.unrest(), v.warnings())
	return writePart(w, "MEASURED HERE"+v.quiet(), seconds, sections)
}

// measuredSections returns the tables of what a clock or the heap told.
func (v view) measuredSections() [][]string {
	sections := [][]string{v.lookupTable()}
	if sections[0] == nil {
		sections = v.plainTables(measured)
	}
	return append(sections, v.togetherTable(), v.agedTable())
}

// writePart writes a title and the sections under it, an empty line between two.
func writePart(w io.Writer, title string, seconds float64, sections [][]string) error {
	sections = slices.DeleteFunc(sections, func(lines []string) bool { return len(lines) == 0 })
	if len(sections) == 0 {
		return nil
	}
	if seconds > 0 {
		right := 0
		for _, l := range sections[0] {
			right = max(right, width(l))
		}
		took := fmt.Sprintf("%.0f s", max(1, seconds))
		title = fmt.Sprintf("%s  %*s", title, max(0, right-width(title)-2), took)
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	for i, lines := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// warnings returns what the run and the reader warn of.
func (v view) warnings() []string {
	var lines []string
	for _, w := range v.set.Warnings {
		lines = append(lines, "warning: "+w)
	}
	if end := v.set.End; end != nil {
		for _, w := range end.Warnings {
			lines = append(lines, "warning: "+w)
		}
		if !end.Complete && end.Reason != "" {
			lines = append(lines, "warning: the run is not complete: "+end.Reason)
		}
	}
	var folded []string
	for _, l := range lines {
		folded = append(folded, fold(l)...)
	}
	return folded
}

// fold breaks a text at spaces into lines of the screen's width, those after the
// first indented.
func fold(text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > screenWidth:
			lines = append(lines, line)
			line = "  " + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
