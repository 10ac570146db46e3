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

// The space between columns, and the width that a screen has at least.
const (
	gap         = 2
	screenWidth = 80
)

// wide reports whether lines are too wide for a screen.
func wide(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return width(l) > screenWidth })
}

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

// block is the room that the parts of a column's figures take.
type block struct{ whole, decimals, err int }

func (b block) width() int { return b.whole + b.decimals + b.err }

// blocks measures the figures of all columns.
func (t *table) blocks() []block {
	blocks := make([]block, len(t.heads))
	for _, row := range t.rows {
		for c, cell := range row {
			if c == 0 || t.isNote(c) {
				blocks[c].whole = max(blocks[c].whole, width(cell))
				continue
			}
			whole, decimals, err := splitFigure(cell)
			blocks[c].whole = max(blocks[c].whole, width(whole))
			blocks[c].decimals = max(blocks[c].decimals, width(decimals))
			blocks[c].err = max(blocks[c].err, width(err))
		}
	}
	return blocks
}

// isNote reports whether the column is the last and has no heading.
func (t *table) isNote(c int) bool {
	return c > 0 && c == len(t.heads)-1 && t.heads[c] == "" && (t.groups == nil || t.groups[len(t.groups)-1].text == "")
}

// widths returns the widths of the columns, so wide that headings fit.
func (t *table) widths() []int {
	widths := make([]int, len(t.heads))
	for c, b := range t.blocks() {
		widths[c] = max(width(t.heads[c]), b.width())
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
		room := widths[c] + gap
		if blocks != nil && c > 0 && !t.isNote(c) {
			lead := (widths[c] - blocks[c].width()) / 2
			cell = strings.Repeat(" ", lead) + blocks[c].layOut(cell)
			if t.isNote(c + 1) {
				room = lead + blocks[c].width() + gap
			}
		}
		line.WriteString(cell)
		line.WriteString(strings.Repeat(" ", max(0, room-width(cell))))
	}
	return line.String()
}

// layOut puts a figure in its block, in line with the others by its decimal
// point; the "-" of a missing figure stands in the middle.
func (b block) layOut(cell string) string {
	if cell == "-" {
		return strings.Repeat(" ", (b.whole+b.decimals)/2) + cell
	}
	whole, decimals, err := splitFigure(cell)
	return fmt.Sprintf("%*s%-*s%s", b.whole, whole, b.decimals, decimals, err)
}

// splitFigure parts "8.0 +-0.2" before the point and before the space.
func splitFigure(cell string) (whole, decimals, err string) {
	figure := cell
	if i := strings.Index(cell, " +-"); i >= 0 {
		figure, err = cell[:i], cell[i:]
	}
	if i := strings.IndexAny(figure, ".% "); i >= 0 {
		return figure[:i], figure[i:], err
	}
	return figure, "", err
}

func width(s string) int { return utf8.RuneCountInString(s) }

// filled reports whether a column holds anything.
func filled(column []string) bool {
	return slices.ContainsFunc(column, func(s string) bool { return s != "-" })
}

func transpose(columns [][]string) [][]string {
	rows := make([][]string, len(columns[0]))
	for i := range rows {
		for _, c := range columns {
			rows[i] = append(rows[i], c[i])
		}
	}
	return rows
}

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

// Duration writes ns in the unit that suits, with two or three digits: "8.8 ms".
func Duration(ns float64) string {
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
