package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A Placement is an algorithm built over nodes, seen through the nodes'
// indices: buckets are an algorithm's own affair and may be given out anew, an
// index into Nodes always means the same node.
type Placement struct {
	Info   algorithms.Info
	Params json.RawMessage   // in force, all of them
	Mapper algorithms.Mapper // of the present membership
	Nodes  []algorithms.Node // all that ever were members, by index
	Member []bool            // whether Nodes[i] is a member now

	given  json.RawMessage // the parameters as given
	nodeOf []int32         // bucket -> index into Nodes, -1 for none
	list   []int           // the order in which Nodes stand in the list that New is given
}

// NewPlacement builds the algorithm over the nodes.
func NewPlacement(info algorithms.Info, nodes []algorithms.Node, params json.RawMessage) (*Placement, error) {
	m, inForce, err := info.New(nodes, params)
	if err != nil {
		return nil, err
	}
	p := &Placement{Info: info, Params: inForce, Mapper: m, given: params}
	p.Nodes = append(p.Nodes, nodes...)
	p.Member = make([]bool, len(nodes))
	p.nodeOf = make([]int32, len(nodes))
	for i := range nodes {
		p.Member[i] = true
		p.nodeOf[i] = int32(i)
		p.list = append(p.list, i)
	}
	return p, nil
}

// RandomPoints returns the random points of a node of weight 1 of which the theory
// of rings speaks, see [algorithms.RandomRing]; 0 when the algorithm tells of none.
func (p *Placement) RandomPoints() int {
	if p.Info.RandomPoints == nil {
		return 0
	}
	points, err := p.Info.RandomPoints(p.Params)
	if err != nil {
		panic("harness: parameters in force are refused: " + err.Error())
	}
	return points
}

// describe tells a trial what the placement is made of.
func (p *Placement) describe(t *results.Trial) {
	points := p.RandomPoints()
	t.Params, t.Points = p.Params, &points
}

// Clone builds the same placement again, from its present members.
func (p *Placement) Clone() (*Placement, error) {
	q := &Placement{Info: p.Info, given: p.given}
	q.Nodes = append(q.Nodes, p.Nodes...)
	q.Member = append(q.Member, p.Member...)
	q.list = append(q.list, p.list...)
	return q, q.rebuild()
}

// Apply carries out the changes of one step, in order. An algorithm without the
// method for a change is built anew from the list of members that results, as a
// client of such an algorithm does; so is any when the order of the list changes,
// since no client is told of that. A node that joins must have been announced.
func (p *Placement) Apply(step ...workloads.Change) error {
	moved := false
	for _, c := range step {
		var err error
		switch c.Op {
		case workloads.AddNode:
			err = p.add(c.Node)
		case workloads.RemoveNode:
			err = p.remove(c.Node)
		case workloads.MoveLast:
			i := slices.Index(p.list, c.Node)
			p.list = append(slices.Delete(p.list, i, i+1), c.Node)
			moved = true
		case workloads.SetWeight:
			err = p.SetWeight(c.Node, float64(p.Nodes[c.Node].Weight*c.Factor))
		default:
			err = algorithms.Unsupported("a change of the kind %d is not known here", c.Op)
		}
		if err != nil {
			return err
		}
	}
	if moved {
		return p.rebuild()
	}
	return nil
}

// Announce appends a node that is no member yet, at the end of the list, and
// returns its index.
func (p *Placement) Announce(n algorithms.Node) int {
	p.list = append(p.list, len(p.Nodes))
	p.Nodes = append(p.Nodes, n)
	p.Member = append(p.Member, false)
	return len(p.Nodes) - 1
}

func (p *Placement) add(i int) error {
	if i >= len(p.Nodes) || p.Member[i] {
		return fmt.Errorf("harness: node %d is not one to be added", i)
	}
	p.Member[i] = true
	a, ok := p.Mapper.(algorithms.Adder)
	if !ok {
		return p.rebuild()
	}
	b, err := a.Add(p.Nodes[i])
	if errors.Is(err, errors.ErrUnsupported) {
		return p.rebuild()
	}
	if err != nil {
		return err
	}
	p.bind(b, i)
	return nil
}

func (p *Placement) remove(i int) error {
	p.Member[i] = false
	b, ok := p.bucket(i)
	if !ok {
		return fmt.Errorf("harness: node %d is not a member", i)
	}
	if r, ok := p.Mapper.(algorithms.Remover); ok {
		err := r.Remove(b)
		if err == nil {
			p.nodeOf[b] = -1
			return nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if l, ok := p.Mapper.(algorithms.LastRemover); ok && int(b) == p.Mapper.Len()-1 {
		if _, err := l.RemoveLast(); err != nil {
			return err
		}
		p.nodeOf[b] = -1
		return nil
	}
	return p.rebuild()
}

// SetWeight gives a member another weight.
func (p *Placement) SetWeight(i int, w float64) error {
	p.Nodes[i].Weight = w
	b, ok := p.bucket(i)
	if !ok {
		return fmt.Errorf("harness: node %d is not a member", i)
	}
	if r, ok := p.Mapper.(algorithms.Reweighter); ok {
		return r.SetWeight(b, w)
	}
	return p.rebuild()
}

// rebuild builds the mapper anew from the members, in the order of the list.
func (p *Placement) rebuild() error {
	var nodes []algorithms.Node
	var nodeOf []int32
	for _, i := range p.list {
		if p.Member[i] {
			nodes = append(nodes, p.Nodes[i])
			nodeOf = append(nodeOf, int32(i))
		}
	}
	m, inForce, err := p.Info.New(nodes, p.given)
	if err != nil {
		return err
	}
	p.Mapper, p.Params, p.nodeOf = m, inForce, nodeOf
	return nil
}

func (p *Placement) bind(b algorithms.Bucket, i int) {
	for int(b) >= len(p.nodeOf) {
		p.nodeOf = append(p.nodeOf, -1)
	}
	p.nodeOf[b] = int32(i)
}

func (p *Placement) bucket(i int) (algorithms.Bucket, bool) {
	for b, n := range p.nodeOf {
		if int(n) == i {
			return algorithms.Bucket(b), true
		}
	}
	return algorithms.None, false
}

// canApply says whether the mapper has the method for the change, so that it is
// not built anew.
func (p *Placement) canApply(c workloads.Change) bool {
	var ok bool
	switch c.Op {
	case workloads.AddNode:
		_, ok = p.Mapper.(algorithms.Adder)
	case workloads.RemoveNode:
		if _, ok = p.Mapper.(algorithms.Remover); !ok {
			b, _ := p.bucket(c.Node)
			_, last := p.Mapper.(algorithms.LastRemover)
			ok = last && int(b) == p.Mapper.Len()-1
		}
	case workloads.SetWeight:
		_, ok = p.Mapper.(algorithms.Reweighter)
	}
	return ok
}

// bound returns the buckets that are bound to a node, in ascending order.
func (p *Placement) bound() []algorithms.Bucket {
	var buckets []algorithms.Bucket
	for b, node := range p.nodeOf {
		if node >= 0 {
			buckets = append(buckets, algorithms.Bucket(b))
		}
	}
	return buckets
}

// NodeOf returns the index of the node bound to the bucket, or -1 for a bucket
// that is bound to none, algorithms.None included.
func (p *Placement) NodeOf(b algorithms.Bucket) int {
	if b < 0 || int(b) >= len(p.nodeOf) {
		return -1
	}
	return int(p.nodeOf[b])
}

// Weights returns the weight of each node by index, 0 for those that are not
// members, and their sum.
func (p *Placement) Weights() (w []float64, total float64) {
	w = make([]float64, len(p.Nodes))
	for i, n := range p.Nodes {
		if p.Member[i] {
			w[i] = n.Weight
			total += n.Weight
		}
	}
	return w, total
}

// Owners sets dst[i] to the node index that owns hs[i], -1 for none. It costs
// one lookup a hash.
func (p *Placement) Owners(hs []uint64, dst []int32) {
	for i, h := range hs {
		dst[i] = int32(p.NodeOf(p.Mapper.Lookup(h)))
	}
}

// A width counts positions of a ring: up to 2^64 of them, one more than a
// uint64 holds.
type width struct{ hi, lo uint64 }

func (w *width) add(n uint64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, n, 0)
	w.hi += carry
}

// of returns the width as a part of the space, where 0 means 2^64.
func (w width) of(space uint64) float64 {
	if space == 0 {
		return float64(w.hi) + float64(w.lo)*0x1p-64
	}
	return float64(w.lo) / float64(space)
}

// Shares returns the exact part of the hash space that each node owns, by node
// index, and false when the algorithm neither lists its cells nor tells them. It
// costs one pass over the cells.
func (p *Placement) Shares() ([]float64, bool) {
	if s, ok := p.Mapper.(algorithms.Sharer); ok {
		shares := make([]float64, len(p.Nodes))
		for b, share := range s.Shares() {
			if i := p.NodeOf(algorithms.Bucket(b)); i >= 0 {
				shares[i] = share
			}
		}
		return shares, true
	}
	o, ok := p.Mapper.(algorithms.Owned)
	if !ok {
		return nil, false
	}
	space, cells := o.Cells()
	widths := make([]width, len(p.Nodes))
	prev := ^uint64(0) // the position before 0
	for last, b := range cells {
		if i := p.NodeOf(b); i >= 0 {
			// The difference is right across the wrap; only a single cell over
			// all of 2^64 comes out as 0.
			if n := last - prev; n == 0 {
				widths[i].hi++
			} else {
				widths[i].add(n)
			}
		}
		prev = last
	}
	shares := make([]float64, len(p.Nodes))
	for i, w := range widths {
		shares[i] = w.of(space)
	}
	return shares, true
}
