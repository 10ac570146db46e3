package cli

import (
	"fmt"
	"strings"
)

// A prose is an answer for people being written: lines, and sentences that are
// broken at the width of the screen.
type prose struct{ b strings.Builder }

func (p *prose) line(format string, args ...any) {
	fmt.Fprintln(&p.b, oneLine(fmt.Sprintf(format, args...)))
}

// screenWidth is the width that sentences are broken at.
const screenWidth = 80

// say writes sentences, broken at the width of the screen.
func (p *prose) say(format string, args ...any) {
	line := ""
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if line != "" && len(line)+1+len(word) > screenWidth {
			p.line("%s", line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.line("%s", line)
}

// table writes rows under their heads, the first of the columns to the left and
// the numbers to the right. A column whose head begins with "<" is text.
func (p *prose) table(head []string, rows [][]string) {
	rows = append([][]string{head}, rows...)
	width := make([]int, len(head))
	text := make([]bool, len(head))
	for c := range head {
		text[c] = c == 0 || strings.HasPrefix(head[c], "<")
		rows[0][c] = strings.TrimPrefix(head[c], "<")
		for _, row := range rows {
			width[c] = max(width[c], len([]rune(row[c])))
		}
	}
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			pad := strings.Repeat(" ", width[c]-len([]rune(cell)))
			if c > 0 {
				line += "  "
			}
			if text[c] {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		p.line("%s", strings.TrimRight(line, " "))
	}
}
