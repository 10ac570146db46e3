package claims

import (
	"fmt"
	"slices"
	"strings"
)

// Text writes the results for a screen: a line each, and what is true where a claim
// is wrong.
func Text(found []Result) string {
	var b strings.Builder
	byID := map[string]Result{}
	width := 0
	for _, r := range found {
		byID[r.ID] = r
		width = max(width, len(r.ID))
	}
	for _, s := range sections {
		if slices.ContainsFunc(s.claims, func(c Claim) bool { return byID[c.ID].ID != "" }) {
			width = max(width, len(s.title))
		}
	}
	for _, s := range sections {
		title := s.title
		for _, c := range s.claims {
			r, ok := byID[c.ID]
			if !ok {
				continue
			}
			if title != "" {
				if b.Len() > 0 {
					b.WriteString("\n")
				}
				fmt.Fprintf(&b, "%-*s  %10s  %10s  %9s\n", width, title, "published", "measured", "tolerance")
				title = ""
			}
			verdict := ""
			if r.Verdict != Reproduced {
				verdict = "  " + string(r.Verdict)
			}
			if !r.Pass {
				verdict = "  FAILED: " + string(r.Verdict) + ", expected " + string(r.Expected)
			}
			fmt.Fprintf(&b, "%-*s  %10s  %10s  %9s%s\n", width, r.ID, number(r.Published), number(r.Measured), number2(r.Tolerance), verdict)
			if r.Verdict != Reproduced && r.Finds != "" {
				fmt.Fprintf(&b, "%s\n", wrapped(r.Finds, "    "))
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", Tally(found))
	return b.String()
}

// wrapped breaks text at the width of a screen.
func wrapped(text, indent string) string {
	const width = 80
	line := indent
	var lines []string
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != indent {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
