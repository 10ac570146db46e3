package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Ring is the figure of somebody's own nodes on the circle of hashes. It is drawn
// from the built structure instead of records.
type Ring struct {
	Algorithm string
	Names     []string  // of the nodes
	Weights   []float64 // of the nodes
	VNodes    float64   // 0 where there are none, or they differ
	Ends      []float64 // of the cells, ascending parts of the circle
	Owners    []int     // of the cells
}

// mostNamed is how many nodes the circle names.
const mostNamed = 20

// Figure makes the figure.
func (r Ring) Figure() Figure {
	h := hashRing{nodes: len(r.Names), vnodes: r.VNodes}
	before := 0.0
	for i, end := range r.Ends {
		if end > before && r.Owners[i] >= 0 {
			h.cells = append(h.cells, cell{before, end, r.Owners[i]})
		}
		before = end
	}
	total := 0.0
	for _, w := range r.Weights {
		total += w
		h.weighted = h.weighted || w != r.Weights[0]
	}
	shares := h.share()
	busiest, top := 0, 0.0
	for i, s := range shares {
		if w := r.Weights[i]; w > 0 && s/(w/total) > h.peak {
			h.peak, busiest = s/(w/total), i
		}
		top = max(top, s)
	}
	f := Figure{Name: "ring", Title: "Who owns which part of the hash space", height: 280, footer: clean(r.Algorithm) + ", exact shares"}
	f.Caption = fmt.Sprintf("%s in %s. The busiest, %s, owns %s times its fair share. The bars are the shares.",
		plural(len(r.Names), "node"), plural(len(h.cells), "cell"), clean(r.Names[busiest]), times(h.peak))
	if len(r.Names) > len(nodeColors) {
		f.Caption += " Colours come again after ten nodes."
	}
	f.body = func(c draw.Canvas) {
		h.draw(draw.Crop(c, 0, -170, 0, 0), top)
		letters := pen{size: labelSize, color: ink}
		y := c.Max.Y - 24
		var names []string
		for _, name := range r.Names[:min(len(r.Names), mostNamed)] {
			names = append(names, clean(name))
		}
		names = letters.fitAll(names, 90)
		for i := range r.Names {
			if i == mostNamed {
				letters.write(c, c.Max.X-146, y-1, left, plural(len(r.Names)-i, "more node"))
				break
			}
			x := c.Max.X - 160
			c.FillPolygon(nodeColor(i), []vg.Point{{X: x, Y: y}, {X: x + 8, Y: y}, {X: x + 8, Y: y + 8}, {X: x, Y: y + 8}})
			letters.write(c, x+14, y, left, names[i])
			letters.write(c, c.Max.X, y, right, percent(shares[i]))
			y -= 12
		}
	}
	return f
}
