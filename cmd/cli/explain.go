package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/plots"
	"github.com/ringbench/ringbench/results"
)

// What place tells of the structure itself: why a key is where it is, and who owns
// which part of the hash space.

// A pointed mapper has points on a circle; each belongs to a node.
type pointed interface {
	Points() iter.Seq2[uint64, algorithms.Bucket]
}

// mostSlots is the most slots that a table has: a larger space is a circle of
// hashes.
const mostSlots = 1 << 28

// mostNext is how many nodes behind the owner are named.
const mostNext = 4

// explain writes where the key goes, and why.
func (b *building) explain(key string) string {
	var t prose
	row := func(what, format string, args ...any) { t.line("%-7s "+format, append([]any{what}, args...)...) }
	row("key", "%s", cut(key))
	m, owner := b.mapper, algorithms.None
	_, known := m.(algorithms.KeyHasher)
	keyed, own := m.(algorithms.KeyMapper)
	h := uint64(0)
	if own && !known {
		row("hash", "of its own, which it does not tell")
		owner = keyed.LookupKey(key)
	} else {
		h = b.hash.OfKeys(m)(key)
		b.hashed(h, row)
		owner = m.Lookup(h)
	}
	if owner == algorithms.None {
		row("owner", "none: no node can take it")
		return t.b.String()
	}
	why := "By " + b.info.Name + ": " + b.info.Ref + "."
	if own && !known {
		row("owner", "%s", b.nodes[owner].Name)
		t.say("%s", why)
		return t.b.String()
	}
	if o, ok := m.(algorithms.Owned); ok {
		why = b.inCell(o, h, owner, row)
	} else if p, ok := m.(algorithms.Prober); ok {
		_, steps := p.LookupProbes(h)
		row("steps", "%d", steps)
	}
	row("owner", "%s", b.nodes[owner].Name)
	b.heirs(h, row)
	t.say("%s", why)
	if _, bounded := m.(algorithms.Assigner); bounded {
		t.say("That is its first choice. While %s is full, the request goes on to another node.", b.nodes[owner].Name)
	}
	return t.b.String()
}

// hashed tells of the hash of a key in its own width, and of what Lookup makes of
// that: a position on a circle of 2^64, or the remainder of a number.
func (b *building) hashed(h uint64, row func(what, format string, args ...any)) {
	_, own := b.mapper.(algorithms.KeyHasher)
	number := algorithms.TakesNumber(b.mapper)
	switch {
	case own && number:
		row("hash", "%d (its own)", h)
	case own:
		row("hash", "%#016x, %s of 2^64 (its own)", h, place(h, 0))
	case b.hash.Bits < 64:
		const space = 1 << 32
		row("hash", "%#08x, %s of 2^32 (%s)", h%space, place(h%space, space), b.hash.Name)
		if !number {
			row("widened", "%#016x", h)
		} else if divisor(b.mapper) == 0 {
			row("number", "%d, with 32 zero bits above", h)
		}
	default:
		row("hash", "%#016x, %s of 2^64 (%s)", h, place(h, 0), b.hash.Name)
	}
	if n := divisor(b.mapper); n > 0 {
		row("divided", "%d modulo %d is %d", h, n, h%n)
	}
}

// divisor returns what the algorithm divides a hash by, 0 for nothing.
func divisor(m algorithms.Mapper) uint64 {
	if n, ok := m.(algorithms.NumberMapper); ok {
		by, _ := n.Divisor()
		return by
	}
	return 0
}

// heirs names the nodes behind the owner.
func (b *building) heirs(h uint64, row func(what, format string, args ...any)) {
	r, ok := b.mapper.(algorithms.Replicator)
	if _, bounded := b.mapper.(algorithms.Assigner); !ok || bounded || len(b.nodes) < 2 {
		return
	}
	dst := make([]algorithms.Bucket, min(len(b.nodes), 1+mostNext))
	var names []string
	for i, other := range dst[:r.LookupN(h, dst)] {
		if i > 0 {
			names = append(names, b.nodes[other].Name)
		}
	}
	if len(names) > 0 {
		row("next", "%s", strings.Join(names, ", "))
	}
}

// inCell tells of the cell that holds the hash, and says why the owner is who it
// is.
func (b *building) inCell(o algorithms.Owned, h uint64, owner algorithms.Bucket, row func(what, format string, args ...any)) string {
	space, cells := o.Cells()
	at := h
	if space != 0 {
		at = h % space
	}
	prev := ^uint64(0)
	first, last := uint64(0), uint64(0)
	for end := range cells {
		if at <= end {
			first, last = prev+1, end
			break
		}
		prev = end
	}
	name := b.nodes[owner].Name
	if m, ok := b.mapper.(pointed); ok {
		var points []uint64
		var owners []algorithms.Bucket
		for p, bucket := range m.Points() {
			points, owners = append(points, p), append(owners, bucket)
		}
		i, _ := slices.BinarySearch(points, at)
		wraps := ""
		if i == len(points) {
			i, wraps = 0, " after going round once"
		}
		if i < len(owners) && owners[i] == owner {
			row("point", "%s, %s of the circle further on", position(points[i], space), fraction(points[i]-at, space))
			return fmt.Sprintf("The first of the %s at or after the hash%s belongs to %s.", number1(len(points), "point"), wraps, name)
		}
	} else if space != 0 && space <= mostSlots {
		row("slot", "%d of %d", at, space)
		return fmt.Sprintf("Slot %d of the table, the hash modulo %d, belongs to %s.", at, space, name)
	}
	row("cell", "%s to %s", position(first, space), position(last, space))
	return fmt.Sprintf("All hashes from the one end of the cell to the other belong to %s.", name)
}

// position writes a position as people who read dumps of rings do: in hexadecimal
// on a full circle, and plainly in a smaller space.
func position(at, space uint64) string {
	if space == 0 {
		return fmt.Sprintf("%#016x", at)
	}
	return strconv.FormatUint(at, 10)
}

// partOf returns a number of positions as a part of the space, 0 being 2^64.
func partOf(n, space uint64) float64 {
	if space == 0 {
		return float64(n) * 0x1p-64
	}
	return float64(n) / float64(space)
}

func place(at, space uint64) string { return fmt.Sprintf("%.4f", partOf(at, space)) }

func fraction(n, space uint64) string {
	if space != 0 {
		n %= space
	}
	return fmt.Sprintf("%.2g%%", 100*partOf(n, space))
}

// A stretch is a part of the hash space with one owner.
type stretch struct {
	at    uint64 // the point it belongs to, or its last position
	owner algorithms.Bucket
	share float64 // of the space
}

// stretches returns the hash space in order: point after point where there are
// some, and otherwise cell after cell.
func (b *building) stretches() (head string, space uint64, all []stretch, err error) {
	o, ok := b.mapper.(algorithms.Owned)
	if !ok {
		return "", 0, nil, fmt.Errorf("%s has no points and does not list who owns which hash, --explain KEY tells of a single key", b.info.Name)
	}
	var cells iter.Seq2[uint64, algorithms.Bucket]
	space, cells = o.Cells()
	owned := map[uint64]float64{} // by last position
	prev := ^uint64(0)
	rest := 0.0
	for end, owner := range cells {
		share := partOf(end-prev, space)
		if end == prev {
			share = 1 // a single cell over all of 2^64
		}
		owned[end] = share
		all = append(all, stretch{end, owner, share})
		rest, prev = share, end
	}
	m, ok := b.mapper.(pointed)
	if !ok {
		return "last", space, all, nil
	}
	var points []stretch
	for at, owner := range m.Points() {
		s := stretch{at, owner, owned[at]}
		if n := len(points); n > 0 && points[n-1].at == at {
			s.share = 0 // another stands there, and owns what lies before
		}
		points = append(points, s)
	}
	// What lies behind the last point is the first one's.
	if n := len(points); n > 0 && points[n-1].at != prev {
		points[0].share += rest
	}
	sum := 0.0
	for _, p := range points {
		sum += p.share
	}
	if math.Abs(sum-1) > 1e-9 {
		return "last", space, all, nil // points of another kind, whose cells end between them
	}
	return "point", space, points, nil
}

// writeRing writes the points and their owners in order, as CSV.
func (b *building) writeRing(w io.Writer) error {
	head, space, all, err := b.stretches()
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write([]string{head, "node", "share"}); err != nil {
		return err
	}
	for _, s := range all {
		name := ""
		if s.owner >= 0 {
			name = b.nodes[s.owner].Name
		}
		if err := out.Write([]string{position(s.at, space), name, strconv.FormatFloat(s.share, 'g', 6, 64)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// drawn says whether a file's name asks for a figure.
func drawn(path string) bool {
	return plots.CheckFormat(strings.TrimPrefix(filepath.Ext(path), ".")) == nil
}

// drawRing draws the circle.
func (b *building) drawRing(path string) error {
	o, ok := b.mapper.(algorithms.Owned)
	if !ok {
		_, _, _, err := b.stretches()
		return err
	}
	r := plots.Ring{Algorithm: b.info.Name}
	for _, n := range b.nodes {
		r.Names = append(r.Names, n.Name)
		r.Weights = append(r.Weights, n.Weight)
	}
	if _, inForce, err := b.info.New(b.nodes, b.params); err == nil && algorithms.EqualWeights(b.nodes) {
		r.VNodes, _ = strconv.ParseFloat(results.Param(inForce, "vnodes"), 64)
	}
	space, cells := o.Cells()
	for end, owner := range cells {
		at := partOf(end, space)
		if space != 0 {
			at = partOf(end+1, space)
		}
		r.Ends = append(r.Ends, at)
		r.Owners = append(r.Owners, int(owner))
	}
	if len(r.Ends) == 0 {
		return errors.New("nobody owns anything, so there is no circle to draw")
	}
	return results.WriteFile(path, func(w io.Writer) error {
		return r.Figure().Draw(w, strings.TrimPrefix(filepath.Ext(path), "."))
	})
}
