package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// A heatMap is a table of ratios to what theory says, coloured where they are too
// high.
type heatMap struct {
	columns []string
	rows    []heatRow
	red     float64 // the ratio from which a cell is red
}

type heatRow struct {
	name   string
	ratios []float64 // by column; not a number for none
}

// tooUneven is the ratio to theory from which a cell is red. Of few nodes in few
// placements a ratio is that high by chance, so that more is asked of them: three
// standard deviations, of which one is 1/sqrt(2 (n-1)) of the spread of n amounts.
const tooUneven = 1.3

func redFrom(rows []results.Row) float64 {
	red := tooUneven
	for _, row := range rows {
		red = max(red, 1+3/math.Sqrt(float64(2*max(1, row.Nodes-1)*row.N)))
	}
	return red
}

// leastHashes is how many hashes make a heat map.
const leastHashes = 3

// fieldOf returns a field of the name of the row's cell, "" when it is not there.
func fieldOf(row results.Row, name string) string {
	_, fields := results.ParseCell(row.Cell)
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// ratiosOf makes a heat map of rows that have a theory, with a column for each of
// what column says and a row for each of what name says, in the order of the records.
func ratiosOf(rows []results.Row, order []string, column, name func(results.Row) string) heatMap {
	h := heatMap{red: redFrom(rows)}
	for _, row := range rows {
		if c := column(row); !slices.Contains(h.columns, c) {
			h.columns = append(h.columns, c)
		}
	}
	slices.SortStableFunc(h.columns, func(a, b string) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
	for _, row := range rows {
		i := slices.IndexFunc(h.rows, func(r heatRow) bool { return r.name == name(row) })
		if i < 0 {
			i = len(h.rows)
			h.rows = append(h.rows, heatRow{name(row), slices.Repeat([]float64{math.NaN()}, len(h.columns))})
		}
		h.rows[i].ratios[slices.Index(h.columns, column(row))] = timesAsMuch(row.RMS, row.Theory)
	}
	slices.SortStableFunc(h.rows, func(a, b heatRow) int { return cmp.Compare(a.name, b.name) })
	return h
}

// expected returns the rows with the theory that their records carry, for nodes of
// the user's own, and otherwise with their floor where there is nothing else.
func (r *run) expected(measure string, rows []results.Row) []results.Row {
	theory := map[string]float64{}
	for _, row := range r.metric(measure, "expected-cv") {
		theory[row.Cell] = row.Center
	}
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Theory = cmp.Or(rows[i].Theory, theory[rows[i].Cell], rows[i].Floor)
	}
	return rows
}

// firstSeen returns what of says of the trials, each once and in their order.
func (r *run) firstSeen(of func(results.Trial) string) []string {
	var all []string
	for _, t := range r.set.Trials {
		if s := of(t); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// pointHashes draws how evenly each hash spreads the points of a ring, for each way
// of naming nodes and points.
func (r *run) pointHashes() (Figure, bool) {
	rows := where(r.expected("shares", r.metric("shares", "share-cv")), func(row results.Row) bool {
		return row.Theory > 0 && row.Schedule == "" && fieldOf(row, "point_hash") != ""
	})
	n := fullest(rows)
	rows = where(rows, ofNodes(n))
	order := r.firstSeen(func(t results.Trial) string { return results.Param(t.Params, "point_hash") })
	h := ratiosOf(rows, order,
		func(row results.Row) string { return results.Param(row.Params, "point_hash") },
		func(row results.Row) string {
			return labelExample(results.Param(row.Params, "label"), fieldOf(row, "names"))
		})
	if len(h.columns) < leastHashes {
		return Figure{}, false
	}
	notes := h.reasons()
	for _, row := range where(r.metric("shares", "point-collisions"), ofNodes(n)) {
		label := results.Param(row.Params, "label")
		if fieldOf(row, "point_hash") == h.columns[0] && row.Max > 0 && !slices.Contains(notes, sharedLabels(label, row)) {
			notes = append(notes, sharedLabels(label, row))
		}
	}
	f := h.figure(notes)
	f.Name = "hashes"
	f.Title = "Which hash spreads the points of a ring, under which labels"
	example := ""
	if fieldOf(rows[0], "names") != "" {
		example = "The first label of the first node stands for the names and the template. "
	}
	f.Caption = fmt.Sprintf("Spread of the shares of %s, 1.0 = as theory says of random points; red from %.1f on. %s%s",
		plural(n, "node"), h.red, example, h.verdict())
	f.footer = r.footer("shares")
	return f, true
}

// labelExample writes the label of point 0 of the first node under a pattern of names,
// and the template itself where the names are the user's own.
func labelExample(template, names string) string {
	if names == "" {
		return clean(template)
	}
	head, rest, _ := strings.Cut(names, "{i")
	number, tail, _ := strings.Cut(rest, "}")
	number = cmp.Or(strings.TrimPrefix(number, "+"), "0")
	label := strings.ReplaceAll(template, "{name}", head+number+tail)
	label = strings.ReplaceAll(label, "{index}", "0")
	head, rest, found := strings.Cut(label, "{index+")
	if found {
		k, tail, _ := strings.Cut(rest, "}")
		label = head + k + tail
	}
	return clean(label)
}

// sharedLabels tells of points that have the same label.
func sharedLabels(label string, row results.Row) string {
	return fmt.Sprintf("Labels %s: up to %s points have the label of another node's point; the warnings of the run name the pairs.",
		clean(label), count(row.Max))
}

// weaknesses says why hashes fail on similar names, by the beginning of their name.
var weaknesses = []struct{ prefix, why string }{
	{"fnv", "FNV hardly mixes what comes last into the upper bits: a number at the end leaves hashes close together."},
	{"java", "java and djb2 are linear: names that differ in one place have hashes that differ by a small number."},
	{"djb2", "java and djb2 are linear: names that differ in one place have hashes that differ by a small number."},
	{"crc", "CRCs are linear in the bits: two names that differ alike have hashes that differ alike, in a pattern."},
}

// reasons says of the hashes that fail why they do, where that is known.
func (h heatMap) reasons() (notes []string) {
	for _, c := range h.failing() {
		for _, w := range weaknesses {
			if strings.HasPrefix(c, w.prefix) && !slices.Contains(notes, w.why) {
				notes = append(notes, w.why)
			}
		}
	}
	return notes
}

// failing returns the columns with a red cell.
func (h heatMap) failing() (columns []string) {
	for i, c := range h.columns {
		if slices.ContainsFunc(h.rows, func(r heatRow) bool { return r.ratios[i] >= h.red }) {
			columns = append(columns, c)
		}
	}
	return columns
}

// verdict is the finding of the map in a sentence.
func (h heatMap) verdict() string {
	failing := h.failing()
	if len(failing) == 0 {
		return fmt.Sprintf("All %d hashes do.", len(h.columns))
	}
	worst, hash, where := 0.0, "", ""
	for _, r := range h.rows {
		for i, x := range r.ratios {
			if x > worst {
				worst, hash, where = x, h.columns[i], r.name
			}
		}
	}
	return fmt.Sprintf("%d of %d hashes do everywhere; the worst is %s with %s times the spread on %s.",
		len(h.columns)-len(failing), len(h.columns), clean(hash), ratioText(worst), where)
}

// keyHashes draws how evenly each hash spreads keys, for each kind of keys.
func (r *run) keyHashes() (Figure, bool) {
	rows := where(r.expected("balance", r.metric("balance", "balance-cv")), func(row results.Row) bool { return row.Theory > 0 })
	n := fullest(rows)
	rows = where(rows, func(row results.Row) bool {
		return row.Nodes == n && (row.Algorithm == "ring" || row.Algorithm == "modulo")
	})
	order := r.firstSeen(func(t results.Trial) string { return t.Hash })
	h := ratiosOf(rows, order,
		func(row results.Row) string { return row.Hash },
		func(row results.Row) string {
			keys, _, _ := cutLast(row.Workload, "+")
			return row.Algorithm + " " + keys
		})
	if len(h.columns) < leastHashes {
		return Figure{}, false
	}
	var few []string // keys under so few hashes that their row would be empty
	h.rows = slices.DeleteFunc(h.rows, func(row heatRow) bool {
		none := 0
		for _, ratio := range row.ratios {
			if math.IsNaN(ratio) {
				none++
			}
		}
		if len(row.ratios)-none < leastHashes {
			few = append(few, row.name)
			return true
		}
		return false
	})
	slices.SortStableFunc(h.rows, func(a, b heatRow) int {
		return cmp.Compare(b.name[:1], a.name[:1]) // the ring first
	})
	f := h.figure(h.reasons())
	f.Name = "key-hashes"
	f.Title = "Which hash spreads keys, whatever they look like"
	f.Caption = fmt.Sprintf("Spread of the keys over %s, 1.0 = as theory says of random hashes; red from %.1f on. Far below 1, numbered keys are dealt out in turn. %s",
		plural(n, "node"), h.red, h.verdict())
	if len(few) > 0 {
		f.Caption += fmt.Sprintf(" Not shown, with fewer than %d hashes: %s.", leastHashes, some(few))
	}
	f.footer = r.footer("balance")
	return f, true
}

const (
	heatCell  = vg.Length(15)
	heatNames = 155 // width of the names of rows
	noteLine  = vg.Length(12)
)

// figure draws the map with notes below.
func (h heatMap) figure(notes []string) Figure {
	lettersOf := pen{size: tickSize, color: soft}
	var lines []string
	for _, note := range notes {
		lines = append(lines, lettersOf.wrap(note, pageWidth-2*pageMargin)...)
	}
	f := Figure{height: 34 + heatCell*vg.Length(len(h.rows)) + 8 + noteLine*vg.Length(len(lines)) + 12}
	f.body = func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - heatNames) / vg.Length(len(h.columns))
		top := c.Max.Y - 26
		numbers := pen{size: 7.5}
		for _, row := range h.rows { // of which the widest has to fit
			for _, ratio := range row.ratios {
				if w := numbers.width(ratioText(ratio)); !math.IsNaN(ratio) && w > width-2 {
					numbers.size *= (width - 2) / w
				}
			}
		}
		for i, name := range h.columns {
			x := c.Min.X + heatNames + width*(vg.Length(i)+0.5)
			// Every other name stands higher, for they are wider than a column.
			y := top + 4 + vg.Length(i%2)*11
			pen{size: 8, color: soft}.write(c, x, y, center, pen{size: 8}.fit(clean(name), 2*width-2))
		}
		for j, row := range h.rows {
			y := top - heatCell*vg.Length(j+1)
			pen{size: 8, color: ink}.write(c, c.Min.X, y+4.5, left, pen{size: 8}.fit(row.name, heatNames-6))
			for i, ratio := range row.ratios {
				if math.IsNaN(ratio) {
					continue
				}
				x := c.Min.X + heatNames + width*vg.Length(i)
				fill, text := heatColors(ratio, h.red)
				box := vg.Rectangle{Min: vg.Point{X: x + 0.5, Y: y + 0.5}, Max: vg.Point{X: x + width - 0.5, Y: y + heatCell - 0.5}}
				declare(c, box.Min, box.Max)
				c.SetColor(fill)
				c.Fill(box.Path())
				numbers.color = text
				numbers.write(c, x+width/2, y+4.8, center, ratioText(ratio))
			}
		}
		y := top - heatCell*vg.Length(len(h.rows)) - 8
		for _, line := range lines {
			y -= noteLine
			lettersOf.write(c, c.Min.X, y, left, line)
		}
	}
	return f
}

// heatColors returns the colours of a cell and of the number in it: none for what
// theory allows, and a red that stands out more up to ten times that and beyond.
func heatColors(ratio, red float64) (fill, text color.RGBA) {
	if ratio < red {
		return grid, ink
	}
	at := uneven.step(math.Log(ratio/red) / math.Log(10))
	if at > 0.5 {
		return uneven.at(at), paleText
	}
	return uneven.at(at), darkText
}

// The numbers on red. On a dark screen they change places, as the reds do.
var (
	paleText = rgb(0xfffdfb)
	darkText = rgb(0x2b0e05)
)

// ratioText writes a ratio with two digits that matter.
func ratioText(v float64) string {
	switch {
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1000:
		return ">999"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
