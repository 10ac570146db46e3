package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringbench/ringbench/results"
)

// A matrix is who gave what to whom in one change of the membership, in one
// placement.
type matrix struct {
	row   results.Row // of its moved-fraction
	seed  uint64      // of the placement
	nodes int         // before the change
	share [][]float64 // of all keys, from a node to another
	left  int         // the node that left
	total float64
}

// mostMatrix is the most nodes whose matrix can be drawn beside others.
const mostMatrix = 16

// matrixOf reads the matrix of a trial in which one node leaves, when it is whole.
func matrixOf(row results.Row, t results.Trial) (matrix, bool) {
	from, to, share := t.Series["move_from"], t.Series["move_to"], t.Series["move_share"]
	left, joined := t.Series["nodes_left"], t.Series["nodes_joined"]
	m := matrix{row: row, seed: t.Seed, nodes: t.Nodes}
	if len(share) == 0 || len(from) != len(share) || len(to) != len(share) || len(left) != 1 || len(joined) > 0 || t.Nodes < 2 || t.Nodes > mostMatrix {
		return m, false
	}
	is := func(v float64) bool { return v >= 0 && v < float64(t.Nodes) && v == math.Trunc(v) }
	for range t.Nodes {
		m.share = append(m.share, make([]float64, t.Nodes))
	}
	for i, part := range share {
		if !is(from[i]) || !is(to[i]) || !(part >= 0 && part <= 1) {
			return m, false
		}
		m.share[int(from[i])][int(to[i])] = part
		m.total += part
	}
	if !is(left[0]) {
		return m, false
	}
	m.left = int(left[0])
	return m, true
}

// stay is the part of all keys that moves between two nodes that stay.
func (m matrix) stay() float64 {
	sum := 0.0
	for from, row := range m.share {
		for _, part := range row {
			if from != m.left {
				sum += part
			}
		}
	}
	return sum
}

// pairs counts the pairs of nodes of which one gave to the other.
func (m matrix) pairs() int {
	n := 0
	for _, row := range m.share {
		for _, part := range row {
			if part > 0 {
				n++
			}
		}
	}
	return n
}

// matrices returns those of the contestants to set beside each other when one node
// leaves: the first that moves nothing between nodes that stay, the one that moves
// most, and the one that comes nearest to half of that.
func (r *run) matrices() []matrix {
	rows := where(r.metric("movement", "moved-fraction"), func(row results.Row) bool { return row.Schedule == "remove-one" })
	perSeed := map[uint64][]matrix{}
	var seeds []uint64
	for _, row := range rows {
		for _, t := range r.set.Trials {
			if t.Cell != row.Cell {
				continue
			}
			m, ok := matrixOf(row, t)
			of := perSeed[t.Seed]
			if !ok || slices.ContainsFunc(of, func(o matrix) bool { return o.row.Label == row.Label || o.nodes != m.nodes || o.left != m.left }) {
				continue
			}
			if len(of) == 0 {
				seeds = append(seeds, t.Seed)
			}
			perSeed[t.Seed] = append(of, m)
		}
	}
	if len(seeds) == 0 {
		return nil
	}
	// Some contestants can let go of the last node and of no other, so that a
	// placement tells more in which another leaves.
	slices.Sort(seeds)
	at := slices.IndexFunc(seeds, func(s uint64) bool { m := perSeed[s][0]; return m.left < m.nodes-1 })
	all := perSeed[seeds[max(0, at)]]
	slices.SortStableFunc(all, func(a, b matrix) int { return cmp.Compare(a.stay(), b.stay()) })
	first, last := all[0], all[len(all)-1]
	if len(all) < 2 || last.stay() == 0 {
		return nil // one square would tell of all
	}
	shown := []matrix{first}
	half := first
	for _, m := range all[1 : len(all)-1] {
		if math.Abs(m.stay()-last.stay()/2) < math.Abs(half.stay()-last.stay()/2) {
			half = m
		}
	}
	if half.row.Label != first.row.Label {
		shown = append(shown, half)
	}
	return append(shown, last)
}

// who draws who loses keys to whom when one node leaves, a square of nodes by nodes
// for each of a few contestants.
func (r *run) who() (Figure, bool) {
	all := r.matrices()
	if len(all) < 2 {
		return Figure{}, false
	}
	most := 0.0
	for _, m := range all {
		for _, row := range m.share {
			most = max(most, slices.Max(row))
		}
	}
	if !(most > 0) {
		return Figure{}, false
	}
	gap := columnGap + 14
	side := (pageWidth - 2*pageMargin - matrixNames - 2*gap) / 3
	f := Figure{height: side + 78}
	f.body = func(c draw.Canvas) {
		y := c.Max.Y - headingSize
		for i, m := range all {
			x := c.Min.X + matrixNames + (side+gap)*vg.Length(i)
			heading := pen{size: headingSize, color: ink, bold: true}
			heading.write(c, x, y, left, heading.fit(m.row.Label, side))
			under := pen{size: tickSize, color: soft}
			under.write(c, x, y-12, left, under.fit(percent(m.total)+" of the keys move", side+gap-6))
			m.draw(c, x, y-38-side, side, most, i == 0)
		}
		matrixKey(c, most)
	}
	f.Name = "who"
	f.Title = "Who loses keys to whom when one node leaves"
	f.Caption = matrixCaption(all)
	f.footer = r.footerOf(func(t results.Trial) bool { return t.Measure == "movement" && t.Seed == all[0].seed })
	return f, true
}

// matrixNames is the room for what stands to the left of the first square.
const matrixNames = vg.Length(34)

// draw draws the square with its lower left corner at x and y: a row for each node
// that gives, a column for each that takes.
func (m matrix) draw(c draw.Canvas, x, y, side vg.Length, most float64, named bool) {
	size := side / vg.Length(m.nodes)
	label := pen{size: 7.5, color: soft}
	for from := range m.nodes {
		low := y + side - size*vg.Length(from+1)
		text := label
		if from == m.left {
			text.color, text.bold = ink, true
		}
		text.write(c, x-4, low+size/2-2.7, right, strconv.Itoa(from+1))
		text.write(c, x+size*(vg.Length(from)+0.5), y+side+3, center, strconv.Itoa(from+1))
		for to := range m.nodes {
			c.SetColor(m.color(from, to, most))
			at := x + size*vg.Length(to)
			declare(c, vg.Point{X: at, Y: low}, vg.Point{X: at + size, Y: low + size})
			c.Fill(vg.Rectangle{Min: vg.Point{X: at + 0.4, Y: low + 0.4}, Max: vg.Point{X: at + size - 0.4, Y: low + size - 0.4}}.Path())
		}
	}
	at := y + side - size*vg.Length(m.left+1)
	frame := vg.Rectangle{Min: vg.Point{X: x - 0.4, Y: at - 0.2}, Max: vg.Point{X: x + side + 0.4, Y: at + size + 0.2}}
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: 1})
	c.Stroke(frame.Path())
	label.write(c, x+side, y+side+12, right, "to node")
	if named {
		label.write(c, x-4, y+side+12, right, "from")
	}
}

// color is that of a cell: the more it is the more it stands out, blue for what the node that
// leaves has to give and red for what moves between nodes that stay.
func (m matrix) color(from, to int, most float64) color.RGBA {
	part := m.share[from][to]
	if part == 0 {
		return grid
	}
	if from == m.left {
		return shade(given, part/most)
	}
	return shade(shuffled, part/most)
}

// shade is the colour of a part of the most there is. A root spreads what is small.
func shade(r ramp, at float64) color.RGBA { return r.at(math.Sqrt(max(0, at))) }

// matrixKey explains the colours below the squares.
func matrixKey(c draw.Canvas, most float64) {
	text := pen{size: tickSize, color: soft}
	x, y := c.Min.X+matrixNames, c.Min.Y+5
	const steps, width = 5, vg.Length(13)
	for _, k := range []struct {
		full ramp
		name string
	}{{given, "from the node that leaves, up to " + percent(most) + " of all keys"}, {shuffled, "between nodes that stay"}} {
		for i := range steps {
			c.SetColor(shade(k.full, float64(i)/(steps-1)))
			at := x + width*vg.Length(i)
			c.Fill(vg.Rectangle{Min: vg.Point{X: at, Y: y - 2}, Max: vg.Point{X: at + width, Y: y + 7}}.Path())
		}
		x += width*steps + 6
		text.write(c, x, y, left, k.name)
		x += text.width(k.name) + 18
	}
}

// matrixCaption tells what parts the first of the squares from the last.
func matrixCaption(all []matrix) string {
	first, last := all[0], all[len(all)-1]
	text := fmt.Sprintf("One placement of %s; the framed one leaves. ", plural(first.nodes, "node"))
	if first.stay() == 0 {
		text += fmt.Sprintf("With %s it alone gives, to %s; ", first.row.Label, plural(first.pairs(), "other"))
	} else {
		text += fmt.Sprintf("With %s %s of the keys move between nodes that stay; ", first.row.Label, percent(first.stay()))
	}
	return text + fmt.Sprintf("with %s %d of the %d pairs of nodes exchange keys, and %s of all keys move between nodes that stay.",
		last.row.Label, last.pairs(), last.nodes*(last.nodes-1), percent(last.stay()))
}
