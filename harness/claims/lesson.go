package claims

import (
	"fmt"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/workloads"
)

// The measures of this file check examples that were worked by hand.

// A lesson is a ring drawn by hand: where its points are, who joins or leaves, and
// who owns which key before and after.
type lesson struct {
	points  []point
	modulus uint64
	joins   string
	leaves  string
	before  map[uint64]string
	after   map[uint64]string
	moved   [2]uint64 // the only positions that change hands, from and to; 0, 0 when nothing is said
}

type point struct {
	at   uint64
	node string
}

// wrong counts the statements of the lesson that a ring does not bear out: owners
// before and after, and whether any position outside of moved changes hands, or one
// inside does not.
func (x lesson) wrong() measure {
	setup := fmt.Sprintf("ring with points %s on a circle of %d", pointsText(x.points), x.modulus)
	if x.joins != "" {
		setup += ", " + x.joins + " joins"
	}
	if x.leaves != "" {
		setup += ", " + x.leaves + " leaves"
	}
	return measure{setup: setup + ": statements that do not hold", exact: true, take: x.check}
}

func pointsText(ps []point) string {
	text := ""
	for i, p := range ps {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", p.node, p.at)
	}
	return text
}

func (x lesson) check(l *lab) (estimate, error) {
	var listed []map[string]any
	var nodes []algorithms.Node
	for _, p := range x.points {
		listed = append(listed, map[string]any{"position": p.at, "node": p.node})
		if p.node != x.joins {
			nodes = append(nodes, algorithms.Node{Name: p.node, Weight: 1})
		}
	}
	p, err := l.place("ring", nodes, params{"points": listed, "modulus": x.modulus, "vnodes": 1})
	if err != nil {
		return estimate{}, err
	}
	wrong := 0.0
	owner := func(at uint64) string { return p.Nodes[p.NodeOf(p.Mapper.Lookup(at))].Name }
	look := func(want map[uint64]string) (all []string) {
		for at, node := range want {
			if owner(at) != node {
				wrong++
			}
		}
		for at := range x.modulus {
			all = append(all, owner(at))
		}
		return all
	}
	before := look(x.before)
	switch {
	case x.joins != "":
		err = p.Apply(workloads.Change{Op: workloads.AddNode, Node: p.Announce(algorithms.Node{Name: x.joins, Weight: 1})})
	case x.leaves != "":
		err = p.Apply(left(slices.IndexFunc(nodes, func(n algorithms.Node) bool { return n.Name == x.leaves })))
	}
	if err != nil {
		return estimate{}, err
	}
	after := look(x.after)
	for at := range before {
		inside := uint64(at) >= x.moved[0] && uint64(at) <= x.moved[1] && x.moved[1] > 0
		if (before[at] != after[at]) != inside {
			wrong++
		}
	}
	return known(wrong), nil
}

// ownPoints is the part of the points of a ring on which a key belongs to the
// point's own node, and the position after it to the next one's.
func (c cluster) ownPoints() measure {
	return measure{
		setup: c.text() + ", a key on every point",
		exact: true,
		take: func(l *lab) (estimate, error) {
			p, err := l.build(c, 0)
			if err != nil {
				return estimate{}, err
			}
			cells, ok := p.Cells()
			if !ok {
				return estimate{}, fmt.Errorf("%s does not list its cells", c.alg)
			}
			right := 0
			for i, at := range cells.Last {
				next := cells.Node[(i+1)%len(cells.Node)]
				if p.NodeOf(p.Mapper.Lookup(at)) == int(cells.Node[i]) && p.NodeOf(p.Mapper.Lookup(at+1)) == int(next) {
					right++
				}
			}
			return known(float64(right) / float64(len(cells.Last))), nil
		},
	}
}

// turns is how many slots of the tables of a worked example are not as its source
// prints them: of three nodes, and when the second is gone.
func turns(size int, offsets, skips []uint64, all, withoutSecond []algorithms.Bucket) measure {
	return measure{
		setup: fmt.Sprintf("maglev over %d slots, three nodes with offsets %v and skips %v: slots that differ", size, offsets, skips),
		exact: true,
		take: func(*lab) (estimate, error) {
			nodes := algorithms.Nodes("B0", "B1", "B2")
			prefer := func(name string) (offset, skip uint64) {
				i := name[1] - '0'
				return offsets[i], skips[i] - 1
			}
			m, err := maglev.NewPreferring(nodes, size, prefer)
			if err != nil {
				return estimate{}, err
			}
			wrong := 0.0
			compare := func(want []algorithms.Bucket) {
				for slot, b := range want {
					if m.Lookup(uint64(slot)) != b {
						wrong++
					}
				}
			}
			compare(all)
			if err := m.Remove(1); err != nil {
				return estimate{}, err
			}
			compare(withoutSecond)
			return known(wrong), nil
		},
	}
}
