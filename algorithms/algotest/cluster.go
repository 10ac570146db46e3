package algotest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// A cluster is a Mapper together with what its members ought to be: the model
// that its answers are held against.
type cluster struct {
	algorithms.Mapper
	nodes map[algorithms.Bucket]algorithms.Node
}

// build makes a cluster of the nodes with the default parameters. Nodes of equal
// weight are what every algorithm must take, so that an ErrUnsupported is an
// ordinary failure then.
func build(info algorithms.Info, nodes []algorithms.Node) (*cluster, error) {
	m, _, err := info.New(nodes, nil)
	if err != nil {
		if algorithms.EqualWeights(nodes) {
			return nil, fmt.Errorf("building %s: %v", describe(nodes), err)
		}
		return nil, err
	}
	c := &cluster{Mapper: m, nodes: map[algorithms.Bucket]algorithms.Node{}}
	for i, n := range nodes {
		c.nodes[algorithms.Bucket(i)] = n
	}
	return c, nil
}

func describe(nodes []algorithms.Node) string {
	return fmt.Sprintf("%d nodes like %q", len(nodes), nodes[len(nodes)-1].Name)
}

// buckets returns the bound buckets in ascending order.
func (c *cluster) buckets() []algorithms.Bucket {
	var bs []algorithms.Bucket
	for b := range c.nodes {
		bs = append(bs, b)
	}
	slices.Sort(bs)
	return bs
}

// owner returns the bucket of h, or an error when that cannot own a key.
func (c *cluster) owner(h uint64) (algorithms.Bucket, error) {
	b := c.Lookup(h)
	return b, c.mayOwn(b, h)
}

func (c *cluster) mayOwn(b algorithms.Bucket, h uint64) error {
	n, bound := c.nodes[b]
	if !bound {
		return fmt.Errorf("hash %#x goes to bucket %d, which none of the %d nodes is bound to", h, b, len(c.nodes))
	}
	if n.Weight == 0 {
		return fmt.Errorf("hash %#x goes to node %q, which has weight 0", h, n.Name)
	}
	return nil
}

// owners returns the bucket of every hash.
func (c *cluster) owners(hs []uint64) ([]algorithms.Bucket, error) {
	bs := make([]algorithms.Bucket, len(hs))
	for i, h := range hs {
		b, err := c.owner(h)
		if err != nil {
			return nil, err
		}
		bs[i] = b
	}
	return bs, nil
}

// unchanged reports a hash whose bucket is no longer that in before.
func (c *cluster) unchanged(hs []uint64, before []algorithms.Bucket) error {
	for i, h := range hs {
		if b := c.Lookup(h); b != before[i] {
			return fmt.Errorf("hash %#x went from bucket %d to %d", h, before[i], b)
		}
	}
	return nil
}

// sameNames reports a hash that the two clusters give to nodes of different
// names.
func sameNames(a, b *cluster, hs []uint64) error {
	for _, h := range hs {
		x, err := a.owner(h)
		if err != nil {
			return err
		}
		y, err := b.owner(h)
		if err != nil {
			return err
		}
		if a.nodes[x].Name != b.nodes[y].Name {
			return fmt.Errorf("hash %#x goes to %q and to %q", h, a.nodes[x].Name, b.nodes[y].Name)
		}
	}
	return nil
}

// add adds the node and checks that it gets a bucket of its own.
func (c *cluster) add(n algorithms.Node) (algorithms.Bucket, error) {
	a, ok := c.Mapper.(algorithms.Adder)
	if !ok {
		return algorithms.None, algorithms.Unsupported("it cannot add a node")
	}
	b, err := a.Add(n)
	if err != nil {
		return algorithms.None, fmt.Errorf("adding %q: %w", n.Name, err)
	}
	if other, taken := c.nodes[b]; taken {
		return algorithms.None, fmt.Errorf("adding %q gives bucket %d, which is bound to %q", n.Name, b, other.Name)
	}
	if b < 0 {
		return algorithms.None, fmt.Errorf("adding %q gives bucket %d", n.Name, b)
	}
	c.nodes[b] = n
	if c.Len() != len(c.nodes) {
		return algorithms.None, fmt.Errorf("after adding node number %d, Len is %d", len(c.nodes), c.Len())
	}
	return b, nil
}

// remove removes the node of the bucket, which must be the highest when only the
// last can go.
func (c *cluster) remove(b algorithms.Bucket) error {
	switch m := c.Mapper.(type) {
	case algorithms.Remover:
		if err := m.Remove(b); err != nil {
			return fmt.Errorf("removing bucket %d of %d nodes: %v", b, len(c.nodes), err)
		}
	case algorithms.LastRemover:
		if last := slices.Max(c.buckets()); b != last {
			return algorithms.Unsupported("only its last node can leave")
		}
		got, err := m.RemoveLast()
		if err != nil {
			return fmt.Errorf("removing the last of %d nodes: %v", len(c.nodes), err)
		}
		if got != b {
			return fmt.Errorf("removing the last node removes bucket %d, want %d", got, b)
		}
	default:
		return algorithms.Unsupported("it cannot remove a node")
	}
	delete(c.nodes, b)
	if c.Len() != len(c.nodes) {
		return fmt.Errorf("with %d nodes left after a removal, Len is %d", len(c.nodes), c.Len())
	}
	return nil
}

// removable returns the buckets that can be removed next.
func (c *cluster) removable() []algorithms.Bucket {
	bs := c.buckets()
	switch c.Mapper.(type) {
	case algorithms.Remover:
		return bs
	case algorithms.LastRemover:
		return bs[max(0, len(bs)-1):]
	}
	return nil
}

func (c *cluster) setWeight(b algorithms.Bucket, w float64) error {
	r, ok := c.Mapper.(algorithms.Reweighter)
	if !ok {
		return algorithms.Unsupported("it cannot change a weight")
	}
	if err := r.SetWeight(b, w); err != nil {
		return fmt.Errorf("setting the weight of %q to %v: %w", c.nodes[b].Name, w, err)
	}
	n := c.nodes[b]
	n.Weight = w
	c.nodes[b] = n
	return nil
}

// knowsWeights returns nil when the algorithm takes unequal weights, and an
// error that wraps ErrUnsupported when it does not.
func knowsWeights(info algorithms.Info) error {
	_, err := build(info, named(3, plain, 1, 2, 4))
	return err
}

// Name patterns. They differ in what a weak hash of the names trips over: where
// the varying part stands, whether a number can run into an index that is
// written after it, and what a template might take for its own.
const (
	plain   = "node-%d"
	address = "10.0.0.%d:8080"
	running = "node%d"
	odd     = "{name}#%d é"
)

var patterns = []string{plain, address, running, odd}

// named returns n nodes with names by the pattern, counted from 1, and the
// weights repeated as often as needed; without weights each is 1.
func named(n int, pattern string, weights ...float64) []algorithms.Node {
	nodes := make([]algorithms.Node, n)
	for i := range nodes {
		nodes[i] = algorithms.Node{Name: fmt.Sprintf(pattern, i+1), Weight: 1}
		if len(weights) > 0 {
			nodes[i].Weight = weights[i%len(weights)]
		}
	}
	return nodes
}

// newNode is one that named does not give.
func newNode(weight float64) algorithms.Node {
	return algorithms.Node{Name: "a newcomer", Weight: weight}
}

// draw returns k hashes, the same for the same k; the first ones are the edges
// of the range.
func draw(k int) []uint64 {
	hs := []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1 << 32, 1<<32 - 1}
	r := rand.New(rand.NewPCG(20, uint64(k)))
	for len(hs) < k {
		hs = append(hs, r.Uint64())
	}
	return hs[:k]
}

// settings calls f with equal weights and, where the algorithm takes them, with
// unequal ones: with a fraction among them unless it takes only whole numbers.
func settings(info algorithms.Info, f func(weights ...float64) error) error {
	if err := f(); err != nil {
		return err
	}
	switch err := knowsWeights(info); {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	}
	weights := []float64{1, 2, 4, 0.5}
	if _, err := build(info, named(len(weights), plain, weights...)); errors.Is(err, errors.ErrUnsupported) {
		weights[3] = 3
	}
	if err := f(weights...); err != nil {
		return fmt.Errorf("with weights %v: %w", weights, err)
	}
	return nil
}
