package algorithms

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Members is the book of who is in: which bucket is bound to which node. It
// keeps the rules that the contract sets for every algorithm, and words their
// errors alike: names are unique, a bucket stays bound to its node until that
// node is removed, and a new node gets the lowest bucket that is free.
//
// It is meant for the methods that change the membership, and for the choice of
// replicas (see [Choice]); a lookup should need nothing of it. Its readers may run at the same time as each other, its
// changes need exclusive use. The zero value is an empty membership.
type Members struct {
	bound  []slot // by bucket; the last one is always taken
	names  map[string]Bucket
	lowest int  // every bucket below is taken
	equal  bool // all weights must be the same

	able       int              // nodes of positive weight
	zones      int              // zones that have one of them
	numbers    map[string]int32 // of every zone ever named
	population []int            // nodes of positive weight, by the number of the zone
}

type slot struct {
	node  Node
	zone  int32 // number of the node's zone
	taken bool
}

// bind enters the node in the slot of the bucket.
func (m *Members) bind(b Bucket, n Node) {
	zone, known := m.numbers[n.Zone]
	if !known {
		if m.numbers == nil {
			m.numbers = map[string]int32{}
		}
		zone = int32(len(m.population))
		m.numbers[n.Zone] = zone
		m.population = append(m.population, 0)
	}
	m.bound[b] = slot{n, zone, true}
	if n.Weight > 0 {
		m.populate(zone, 1)
	}
}

// populate counts nodes of positive weight in or out of the zone, one at a time.
func (m *Members) populate(zone int32, by int) {
	before := m.population[zone]
	m.population[zone] += by
	m.able += by
	if before == 0 {
		m.zones++
	} else if m.population[zone] == 0 {
		m.zones--
	}
}

// NewMembers returns a membership that binds nodes[i] to bucket i. The nodes
// must pass [Validate].
func NewMembers(nodes []Node) (*Members, error) {
	if err := Validate(nodes); err != nil {
		return nil, err
	}
	m := &Members{
		bound: make([]slot, len(nodes)),
		names: make(map[string]Bucket, len(nodes)),
	}
	for i, n := range nodes {
		m.bind(Bucket(i), n)
		m.names[n.Name] = Bucket(i)
	}
	m.lowest = len(nodes)
	return m, nil
}

// Clone returns a membership of its own that is the same.
func (m *Members) Clone() *Members {
	c := *m
	c.bound, c.population = slices.Clone(m.bound), slices.Clone(m.population)
	c.names, c.numbers = maps.Clone(m.names), maps.Clone(m.numbers)
	return &c
}

// NewEqualMembers is NewMembers for an algorithm that knows no weights: nodes
// whose weights differ are refused, now and in Add and SetWeight, with an error
// that wraps [errors.ErrUnsupported].
func NewEqualMembers(nodes []Node) (*Members, error) {
	m, err := NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m.equal = true
	for _, n := range nodes {
		if err := m.checkEqual(n); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// checkEqual refuses a node whose weight differs from that of the members.
func (m *Members) checkEqual(n Node) error {
	if !m.equal {
		return nil
	}
	if n.Weight == 0 {
		return Unsupported("node %q has weight 0, all nodes must own an equal share", n.Name)
	}
	for _, other := range m.All() {
		if n.Weight != other.Weight {
			return Unsupported("node %q has weight %v and node %q %v, the weights must be equal",
				n.Name, n.Weight, other.Name, other.Weight)
		}
		break // those that are in agree with each other
	}
	return nil
}

// Add binds the node to the lowest free bucket. A node that is not valid or
// whose name is taken is an error, and nothing changes.
func (m *Members) Add(n Node) (Bucket, error) {
	if err := m.admit(n); err != nil {
		return None, err
	}
	for m.lowest < len(m.bound) && m.bound[m.lowest].taken {
		m.lowest++
	}
	b := Bucket(m.lowest)
	m.enter(b, n)
	m.lowest++
	return b, nil
}

// AddTo is Add for an algorithm that has rules of its own for which bucket is
// next. A bucket that is bound or negative is an error, and nothing changes.
func (m *Members) AddTo(b Bucket, n Node) error {
	if other, taken := m.Node(b); taken {
		return fmt.Errorf("node %q cannot have bucket %d, it is bound to node %q", n.Name, b, other.Name)
	}
	if b < 0 {
		return fmt.Errorf("node %q cannot have bucket %d, buckets count from 0", n.Name, b)
	}
	if err := m.admit(n); err != nil {
		return err
	}
	m.enter(b, n)
	return nil
}

// admit refuses a node that cannot be a member.
func (m *Members) admit(n Node) error {
	if err := n.validate(); err != nil {
		return fmt.Errorf("node %q: %w", n.Name, err)
	}
	if b, taken := m.names[n.Name]; taken {
		return fmt.Errorf("node %q is a member already, in bucket %d, names must differ", n.Name, b)
	}
	return m.checkEqual(n)
}

// enter binds the node to the bucket, which is free.
func (m *Members) enter(b Bucket, n Node) {
	if grow := int(b) + 1 - len(m.bound); grow > 0 {
		m.bound = append(m.bound, make([]slot, grow)...)
	}
	m.bind(b, n)
	if m.names == nil {
		m.names = map[string]Bucket{}
	}
	m.names[n.Name] = b
}

// Remove unbinds the bucket and returns the node that had it. A bucket bound to
// no node is an error, and nothing changes.
func (m *Members) Remove(b Bucket) (Node, error) {
	n, ok := m.Node(b)
	if !ok {
		return Node{}, m.unknown(b)
	}
	delete(m.names, n.Name)
	if n.Weight > 0 {
		m.populate(m.bound[b].zone, -1)
	}
	m.bound[b] = slot{}
	m.lowest = min(m.lowest, int(b))
	for len(m.bound) > 0 && !m.bound[len(m.bound)-1].taken {
		m.bound = m.bound[:len(m.bound)-1]
	}
	return n, nil
}

// SetWeight sets the weight of the node bound to the bucket. An unbound bucket
// and a weight that is not valid are errors, and nothing changes.
func (m *Members) SetWeight(b Bucket, w float64) error {
	n, ok := m.Node(b)
	if !ok {
		return m.unknown(b)
	}
	if err := ValidateWeight(w); err != nil {
		return fmt.Errorf("node %q: %w", n.Name, err)
	}
	if m.equal && w != n.Weight {
		return Unsupported("node %q cannot change its weight from %v to %v, the weights must be equal", n.Name, n.Weight, w)
	}
	switch zone := m.bound[b].zone; {
	case n.Weight == 0 && w > 0:
		m.populate(zone, 1)
	case n.Weight > 0 && w == 0:
		m.populate(zone, -1)
	}
	m.bound[b].node.Weight = w
	return nil
}

func (m *Members) unknown(b Bucket) error {
	if len(m.bound) == 0 {
		return fmt.Errorf("bucket %d is bound to no node, there are no nodes", b)
	}
	return fmt.Errorf("bucket %d is bound to no node, the highest that is bound is %d", b, len(m.bound)-1)
}

// Node returns the node bound to the bucket, and whether there is one.
func (m *Members) Node(b Bucket) (Node, bool) {
	if b < 0 || int(b) >= len(m.bound) {
		return Node{}, false
	}
	return m.bound[b].node, m.bound[b].taken
}

// Len returns the number of nodes.
func (m *Members) Len() int { return len(m.names) }

// Cap returns the highest bound bucket plus 1, the length of a table indexed by
// bucket; 0 when there are no nodes.
func (m *Members) Cap() int { return len(m.bound) }

// All yields the bound buckets and their nodes in the order of the buckets.
func (m *Members) All() iter.Seq2[Bucket, Node] {
	return func(yield func(Bucket, Node) bool) {
		for i, s := range m.bound {
			if s.taken && !yield(Bucket(i), s.node) {
				return
			}
		}
	}
}

// TotalWeight returns the sum of the weights, added in the order of the
// buckets. It costs a pass over the nodes.
func (m *Members) TotalWeight() float64 {
	total := 0.0
	for _, n := range m.All() {
		total += n.Weight
	}
	return total
}
