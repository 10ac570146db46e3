package ring

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// Config sets where the points of the nodes stand. Rings of the same Config and
// nodes are alike, whichever way they came about.
type Config struct {
	// VNodes is the number of points of a node of weight 1, at least 1. A node
	// of weight w > 0 has max(1, round(VNodes * w)) points, whatever the others
	// weigh; weight 0 has none.
	VNodes int `json:"vnodes"`

	// Label names a node's points: a text in which {name} stands for the node's
	// name, {index} for the point's number from 0, and {index+K} for that
	// number plus K. Both must occur, but {index} may be left out for VNodes 1.
	// No other braces are allowed.
	//
	// Put something between the two that no name ends with: under
	// "{name}{index}" the point 10 of node-1 and the point 0 of node-11 are the
	// same, by any hash.
	Label string `json:"label"`

	// PointHash is the hash of the labels, by its name in package keyhash.
	PointHash string `json:"point_hash"`

	// Points lists the positions by hand, for examples on paper, in place of
	// hashed labels: those of one node are its points 0, 1, 2... in the order
	// of the list. A node has as many of them as it would have points, or all.
	// Nodes that are not members yet may be listed for a later Add.
	Points []Listed `json:"points,omitempty"`

	// Modulus is the number of positions on the circle, 0 for 2^64. A hash h,
	// of a key or of a label, stands at h mod Modulus; one of 32 bits is then
	// the number that it is, not widened to 2^64.
	Modulus uint64 `json:"modulus,omitempty"`

	// Roomy gives the structure three cells a point instead of 1.5, 30 bytes a
	// point, and changes no owner. It is for [Map.Closest], which looks for many
	// positions at a time: a search then leaves its window once in 10,000 times
	// instead of once in 12 to 100, by how the points of a small ring crowd.
	Roomy bool `json:"-"`
}

// A Listed is a point placed by hand.
type Listed struct {
	Position uint64 `json:"position"` // less than the modulus
	Node     string `json:"node"`
}

// Default is a ring of 160 points a node, named node#0 to node#159.
var Default = Config{VNodes: 160, Label: "{name}#{index}", PointHash: "xxh3"}

// maxPoints bounds the points of one ring. It takes 100 GB to build.
const maxPoints = 1<<31 - 1

// buildBytes is the memory that New needs for a point: 32 bytes for the points
// before and after sorting, 4 for the counts of the sort and 18 for the cells, 36
// where they are roomy.
const (
	buildBytes      = 54
	roomyBuildBytes = 72
)

// Forecast returns the bytes that New needs at its peak, points to be sorted
// included; the finished ring holds about a third of it, a roomy one half.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	points := 0.0
	for _, n := range nodes {
		points += pointsOfWeight(c.VNodes, n.Weight)
	}
	if c.Points != nil {
		points = min(points, float64(len(c.Points)))
	}
	each := float64(buildBytes)
	if c.Roomy {
		each = roomyBuildBytes
	}
	if bytes := points * each; bytes < math.MaxInt64 {
		return int64(bytes)
	}
	return math.MaxInt64
}

// pointsOfWeight returns max(1, round(vnodes*w)), and 0 for weight 0. It is a
// float64 because it may be beyond any integer.
func pointsOfWeight(vnodes int, w float64) float64 {
	if w == 0 {
		return 0
	}
	return max(1, math.Round(float64(vnodes)*w))
}

func tooManyPoints() error {
	return fmt.Errorf("more than %d points, a ring holds no more: lower vnodes or the weights", maxPoints)
}

// A Point is a place on the circle of 2^64 positions and the node it names.
type Point struct {
	Position uint64
	Owner    algorithms.Bucket
}

// A Placement is a Config made ready: it says where hashes and points stand. A
// circle of fewer positions is laid over the first positions of a power of two,
// stretched to 2^64, so that one order serves all. Every ring is built on it,
// whatever its structure for lookups. A Placement does not change, and any
// number of goroutines may use it.
type Placement struct {
	vnodes  int
	label   label
	hash    func(string) uint64 // of labels, in the form that Position takes
	listed  map[string][]uint64 // stretched positions by node; nil when hashed
	modulus uint64
	stretch int // bits by which positions under a modulus are shifted up
}

// Placement checks the Config and makes it ready.
func (c Config) Placement() (*Placement, error) {
	p := &Placement{vnodes: c.VNodes, modulus: c.Modulus}
	if c.VNodes < 1 {
		return nil, fmt.Errorf("vnodes %d, a node needs at least 1", c.VNodes)
	}
	var err error
	if p.label, err = parseLabel(c.Label, c.VNodes); err != nil {
		return nil, err
	}
	hash, err := keyhash.ByName(c.PointHash)
	if err != nil {
		return nil, fmt.Errorf("point_hash: %w", err)
	}
	p.hash = hash.Position
	if _, number := p.Divisor(); number {
		p.hash = hash.Number
	}
	if c.Modulus != 0 {
		p.stretch = bits.LeadingZeros64(c.Modulus - 1)
	}
	if c.Points != nil {
		p.listed = make(map[string][]uint64)
	}
	for i, l := range c.Points {
		if l.Node == "" {
			return nil, fmt.Errorf("points: entry %d names no node", i+1)
		}
		if c.Modulus != 0 && l.Position >= c.Modulus {
			return nil, fmt.Errorf("points: entry %d of node %q is at %d, the modulus %d allows 0 to %d",
				i+1, l.Node, l.Position, c.Modulus, c.Modulus-1)
		}
		p.listed[l.Node] = append(p.listed[l.Node], l.Position<<p.stretch)
	}
	return p, nil
}

// Position returns where the hash h stands on the circle of 2^64 positions.
func (p *Placement) Position(h uint64) uint64 {
	if p.modulus == 0 {
		return h
	}
	return h % p.modulus << p.stretch
}

// Displayed returns the position as a number below the modulus.
func (p *Placement) Displayed(position uint64) uint64 {
	return position >> p.stretch
}

// Divisor is that of a ring of the placement, see [algorithms.NumberMapper]: under
// a modulus a hash is a number of which the remainder is taken.
func (p *Placement) Divisor() (divisor uint64, number bool) { return p.modulus, p.modulus != 0 }

// Modulus returns the number of positions on the circle, 0 for 2^64.
func (p *Placement) Modulus() uint64 { return p.modulus }

// Count returns the number of points of a node.
func (p *Placement) Count(n algorithms.Node) (int, error) {
	count := pointsOfWeight(p.vnodes, n.Weight)
	if p.listed != nil && count > 0 {
		listed := len(p.listed[n.Name])
		if listed == 0 {
			return 0, fmt.Errorf("node %q has no points listed, and only listed points are in use", n.Name)
		}
		return int(min(count, float64(listed))), nil
	}
	if count > maxPoints {
		return 0, fmt.Errorf("node %q of weight %v would have %.3g points, a ring holds at most %d: lower the weights together",
			n.Name, n.Weight, count, maxPoints)
	}
	return int(count), nil
}

// Append appends the points of the node, those with the indices from from up to
// to, exclusive, in the order of their index. The indices must be below Count.
func (p *Placement) Append(dst []Point, b algorithms.Bucket, name string, from, to int) []Point {
	if p.listed != nil {
		for _, position := range p.listed[name][from:to] {
			dst = append(dst, Point{position, b})
		}
		return dst
	}
	dst = slices.Grow(dst, to-from)
	text := appendParts(nil, p.label.head, name, 0)
	head := len(text)
	after, counting := p.label.afterIndex(name)
	units := 0 // where the last digit of the index stands in text
	for i := from; i < to; i++ {
		if counting && i > from && text[units] != '9' {
			text[units]++
		} else {
			text = appendParts(text[:head], p.label.tail, name, i)
			units = len(text) - after - 1
		}
		// The string lives no longer than the call, and text rests meanwhile.
		h := p.hash(unsafe.String(unsafe.SliceData(text), len(text)))
		dst = append(dst, Point{p.Position(h), b})
	}
	return dst
}

// All returns the points of all members in ring order.
func (p *Placement) All(members *algorithms.Members) ([]Point, error) {
	total := 0
	for _, n := range members.All() {
		count, err := p.Count(n)
		if err != nil {
			return nil, err
		}
		if total += count; total > maxPoints {
			return nil, tooManyPoints()
		}
	}
	points := make([]Point, 0, total)
	for b, n := range members.All() {
		count, err := p.Count(n)
		if err != nil {
			return nil, err
		}
		points = p.Append(points, b, n.Name, 0, count)
	}
	return sortPoints(points, members), nil
}

// Compare orders points by position, and those of one position by the name of
// the owner, so that ownership does not depend on who joined first.
func Compare(p, q Point, members *algorithms.Members) int {
	if p.Position != q.Position {
		return cmp.Compare(p.Position, q.Position)
	}
	if p.Owner == q.Owner {
		return 0
	}
	a, _ := members.Node(p.Owner)
	b, _ := members.Node(q.Owner)
	return strings.Compare(a.Name, b.Name)
}

// sortPoints returns the points in ring order, in an array of its own unless
// they are few. It spreads them over as many groups as there are points, in the
// order of the circle, and sorts within the groups: O(P) for hashed points,
// O(P log P) for any.
func sortPoints(points []Point, members *algorithms.Members) []Point {
	compare := func(p, q Point) int { return Compare(p, q, members) }
	if len(points) < 64 {
		slices.SortFunc(points, compare)
		return points
	}
	groups := uint64(len(points))
	next := make([]uint32, groups+1) // where the next point of each group goes
	for _, p := range points {
		g, _ := bits.Mul64(p.Position, groups)
		next[g+1]++
	}
	for g := range groups {
		next[g+1] += next[g]
	}
	sorted := make([]Point, len(points))
	for _, p := range points {
		g, _ := bits.Mul64(p.Position, groups)
		sorted[next[g]] = p
		next[g]++
	}
	begin := uint32(0)
	for _, end := range next[:groups] { // next now holds the end of each group
		if group := sorted[begin:end]; len(group) > 16 {
			slices.SortFunc(group, compare)
		} else {
			insertionSort(group, members)
		}
		begin = end
	}
	return sorted
}

func insertionSort(points []Point, members *algorithms.Members) {
	for i := 1; i < len(points); i++ {
		for j := i; j > 0 && Compare(points[j], points[j-1], members) < 0; j-- {
			points[j], points[j-1] = points[j-1], points[j]
		}
	}
}

// Cells turns points in ring order into the cells of [algorithms.Owned] on a
// circle of modulus positions, 0 for 2^64.
func Cells(modulus uint64, points iter.Seq2[uint64, algorithms.Bucket]) iter.Seq2[uint64, algorithms.Bucket] {
	return func(yield func(uint64, algorithms.Bucket) bool) {
		last, first := uint64(0), algorithms.None
		for position, b := range points {
			if first == algorithms.None {
				first = b
			} else if position == last {
				continue
			}
			last = position
			if !yield(position, b) {
				return
			}
		}
		if end := modulus - 1; first != algorithms.None && last != end {
			yield(end, first)
		}
	}
}

// A label is a compiled template. Its head, up to the first index, is one for
// all points of a node.
type label struct{ head, tail []labelPart }

type labelPart struct {
	kind    partKind
	literal string
	plus    uint64
}

type partKind uint8

const (
	literalPart partKind = iota
	namePart
	indexPart
)

// maxIndexOffset bounds the K of {index+K}.
const maxIndexOffset = math.MaxInt32

// parseLabel compiles a label template for nodes of so many vnodes.
func parseLabel(template string, vnodes int) (label, error) {
	var parts []labelPart
	fail := func(what string) (label, error) {
		return label{}, fmt.Errorf("label %q: %s; it is made of {name}, {index} or {index+K}, and text", template, what)
	}
	has := map[partKind]bool{}
	for rest := template; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			i = len(rest)
		}
		if i > 0 {
			parts = append(parts, labelPart{kind: literalPart, literal: rest[:i]})
			rest = rest[i:]
			continue
		}
		inside, after, closed := strings.Cut(rest[1:], "}")
		if rest[0] == '}' || !closed {
			return fail("unpaired brace")
		}
		part, err := parsePlaceholder(inside)
		if err != nil {
			return fail(err.Error())
		}
		parts, rest = append(parts, part), after
		has[part.kind] = true
	}
	if !has[namePart] {
		return fail("no {name}")
	}
	if !has[indexPart] && vnodes > 1 {
		return fail("no {index}, so the points of a node would be one")
	}
	head := slices.IndexFunc(parts, func(p labelPart) bool { return p.kind == indexPart })
	if head < 0 {
		head = len(parts)
	}
	return label{parts[:head], parts[head:]}, nil
}

func parsePlaceholder(inside string) (labelPart, error) {
	if inside == "name" {
		return labelPart{kind: namePart}, nil
	}
	if inside == "index" {
		return labelPart{kind: indexPart}, nil
	}
	offset, ok := strings.CutPrefix(inside, "index+")
	if !ok {
		return labelPart{}, fmt.Errorf("unknown placeholder {%s}", inside)
	}
	k, err := strconv.ParseUint(offset, 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return labelPart{}, fmt.Errorf("{%s} does not end in a whole number", inside)
	}
	if err != nil || k > maxIndexOffset {
		return labelPart{}, fmt.Errorf("{%s} is over the limit of %d", inside, maxIndexOffset)
	}
	return labelPart{kind: indexPart, plus: k}, nil
}

// afterIndex returns how many bytes of a node's label stand after its index, and
// whether there is one index, so that the next label differs from one in its last
// digit alone, unless that is a 9.
func (l label) afterIndex(name string) (bytes int, one bool) {
	if len(l.tail) == 0 {
		return 0, false
	}
	for _, p := range l.tail[1:] {
		if p.kind == indexPart {
			return 0, false
		}
	}
	return len(appendParts(nil, l.tail[1:], name, 0)), true
}

// appendParts appends the text of the parts for one point of a node.
func appendParts(text []byte, parts []labelPart, name string, index int) []byte {
	for _, p := range parts {
		switch p.kind {
		case literalPart:
			text = append(text, p.literal...)
		case namePart:
			text = append(text, name...)
		case indexPart:
			text = strconv.AppendUint(text, uint64(index)+p.plus, 10)
		}
	}
	return text
}
