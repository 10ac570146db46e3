package results

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A heading stands over one column or over several.
type heading struct {
	text string
	span int
}

// table lays out text in columns. The first column and the last are flush left,
// those between hold figures. A figure may carry "+-x", which is kept apart so
// that the figures themselves stand in line.
type table struct {
	groups []heading // over the columns; may be nil
	heads  []string
	rows   [][]string
}

// gap is the space between columns.
const gap = 2

// lines returns the lines of the table without spaces at their ends.
func (t *table) lines() []string {
	widths := t.widths()
	var out []string
	if t.groups != nil {
		var line strings.Builder
		at := 0
		for _, g := range t.groups {
			room := gap * (g.span - 1)
			for _, w := range widths[at : at+g.span] {
				room += w
			}
			fmt.Fprintf(&line, "%-*s", room+gap, g.text)
			at += g.span
		}
		out = append(out, line.String())
	}
	out = append(out, t.line(widths, t.heads, nil))
	blocks := t.blocks()
	for _, row := range t.rows {
		out = append(out, t.line(widths, row, blocks))
	}
	for i, l := range out {
		out[i] = strings.TrimRight(l, " ")
	}
	return slices.DeleteFunc(out, func(l string) bool { return l == "" })
}

// block is the room that the figures of a column take.
type block struct{ figure, error int }

// blocks measures the figures of all columns.
func (t *table) blocks() []block {
	blocks := make([]block, len(t.heads))
	for _, row := range t.rows {
		for c, cell := range row {
			figure, err := splitError(cell)
			blocks[c].figure = max(blocks[c].figure, width(figure))
			blocks[c].error = max(blocks[c].error, width(err))
		}
	}
	return blocks
}

// widths returns the widths of the columns, so wide that headings fit.
func (t *table) widths() []int {
	widths := make([]int, len(t.heads))
	for c, b := range t.blocks() {
		widths[c] = max(width(t.heads[c]), b.figure+b.error)
	}
	at := 0
	for _, g := range t.groups {
		room := gap * (g.span - 1)
		for _, w := range widths[at : at+g.span] {
			room += w
		}
		at += g.span
		widths[at-1] += max(0, width(g.text)-room)
	}
	return widths
}

// line lays out one row; blocks is nil for the headings.
func (t *table) line(widths []int, row []string, blocks []block) string {
	var line strings.Builder
	for c, cell := range row {
		if blocks != nil && c > 0 && cell != "" && !(c == len(row)-1 && t.heads[c] == "") {
			b := blocks[c]
			figure, err := splitError(cell)
			if figure == "-" {
				figure += strings.Repeat(" ", (b.figure-1)/2)
			}
			cell = strings.Repeat(" ", max(0, widths[c]-b.figure-b.error)/2) +
				strings.Repeat(" ", b.figure-width(figure)) + figure + err
		}
		line.WriteString(cell)
		line.WriteString(strings.Repeat(" ", max(0, widths[c]-width(cell))+gap))
	}
	return line.String()
}

// splitError parts "8.0 +-0.2" before the space.
func splitError(cell string) (figure, err string) {
	if i := strings.Index(cell, " +-"); i >= 0 {
		return cell[:i], cell[i:]
	}
	return cell, ""
}

func width(s string) int { return utf8.RuneCountInString(s) }

// percent writes a fraction of 1 with so many decimals.
func percent(v float64, decimals int) string {
	s := fmt.Sprintf("%.*f%%", decimals, 100*v)
	if v > 0 && strings.Trim(s, "0.%") == "" {
		return "<0.1%"
	}
	return s
}

// spread writes a cv with two significant digits or more.
func spread(v float64) string {
	if v < 0.0995 {
		return percent(v, 1)
	}
	return percent(v, 0)
}

// size writes bytes in binary units.
func size(bytes float64) string {
	const units = "KMGTP"
	if bytes < 1024 {
		return fmt.Sprintf("%.0f B", bytes)
	}
	i := -1
	for bytes >= 1024 && i < len(units)-1 {
		bytes /= 1024
		i++
	}
	if bytes < 9.95 {
		return fmt.Sprintf("%.1f %ciB", bytes, units[i])
	}
	return fmt.Sprintf("%.0f %ciB", bytes, units[i])
}

// duration writes ns in the unit that suits.
func duration(ns float64) string {
	for _, unit := range []string{"ns", "us", "ms"} {
		if ns < 999.5 {
			return short(ns) + " " + unit
		}
		ns /= 1000
	}
	return short(ns) + " s"
}

// short writes a figure with two or three digits.
func short(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// count writes a number of keys: 1000000 as "1M".
func count(n int) string {
	switch {
	case n >= 1e6 && n%1e5 == 0:
		return formatFloat(float64(n)/1e6) + "M"
	case n >= 1e4 && n%1e3 == 0:
		return formatFloat(float64(n)/1e3) + "k"
	}
	return fmt.Sprint(n)
}

// plural writes "1 node", "10 nodes".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
