package algotest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// checkAddMovement: a node that joins takes keys only for itself, whether it is
// added or the cluster is built anew with it at the end of the list.
func checkAddMovement(info algorithms.Info) error {
	hs := draw(4000)
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 2, 9, 10, 60} {
			for _, pattern := range []string{plain, running} {
				nodes := named(n, pattern, weights...)
				before, err := build(info, nodes)
				if err != nil {
					return err
				}
				anew, err := build(info, append(slices.Clone(nodes), newNode(nodes[0].Weight)))
				if err != nil {
					return err
				}
				if err := movedOnlyTo(before, anew, hs, algorithms.Bucket(n)); err != nil {
					return fmt.Errorf("%s and one more: %w", describe(nodes), err)
				}
				if _, ok := before.Mapper.(algorithms.Adder); !ok {
					continue
				}
				after, err := build(info, nodes)
				if err != nil {
					return err
				}
				added, err := after.add(newNode(nodes[0].Weight))
				if err != nil {
					return err
				}
				if err := movedOnlyTo(before, after, hs, added); err != nil {
					return fmt.Errorf("a node added to %s: %w", describe(nodes), err)
				}
			}
		}
		return nil
	})
}

func movedOnlyTo(before, after *cluster, hs []uint64, to algorithms.Bucket) error {
	for _, h := range hs {
		x, err := before.owner(h)
		if err != nil {
			return err
		}
		y, err := after.owner(h)
		if err != nil {
			return err
		}
		if x != y && y != to {
			return fmt.Errorf("hash %#x moves from %q to %q, both were there before", h, before.nodes[x].Name, after.nodes[y].Name)
		}
	}
	return nil
}

// checkRemoveMovement: when a node leaves, the keys of all others stay.
func checkRemoveMovement(info algorithms.Info) error {
	hs := draw(4000)
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{2, 3, 12, 61} {
			for _, pattern := range []string{plain, running} {
				nodes := named(n, pattern, weights...)
				before, err := build(info, nodes)
				if err != nil {
					return err
				}
				for _, i := range slices.Compact([]int{0, n / 2, n - 1}) {
					gone := algorithms.Bucket(i)
					after, err := build(info, nodes)
					if err != nil {
						return err
					}
					if !slices.Contains(after.removable(), gone) {
						if i == n-1 {
							return algorithms.Unsupported("it cannot remove a node")
						}
						continue
					}
					if err := after.remove(gone); err != nil {
						return err
					}
					if err := movedOnlyFrom(before, after, hs, gone); err != nil {
						return fmt.Errorf("%q removed from %s: %w", nodes[i].Name, describe(nodes), err)
					}
				}
			}
		}
		return nil
	})
}

func movedOnlyFrom(before, after *cluster, hs []uint64, from algorithms.Bucket) error {
	for _, h := range hs {
		x, err := before.owner(h)
		if err != nil {
			return err
		}
		y, err := after.owner(h)
		if err != nil {
			return err
		}
		if x != y && x != from {
			return fmt.Errorf("hash %#x moves from %q to %q, both are still there", h, before.nodes[x].Name, after.nodes[y].Name)
		}
	}
	return nil
}

// checkReweightMovement: a raised weight draws keys only to its node, a lowered
// one sends them only away from it. Fractions are passed over where they are not
// taken.
func checkReweightMovement(info algorithms.Info) error {
	hs := draw(6000)
	nodes := named(9, plain, 1, 2, 4)
	before, err := build(info, nodes)
	if err != nil {
		return err
	}
	for _, w := range []float64{0, 0.3, 1, 1.9, 2.1, 3, 7} {
		after, err := build(info, nodes)
		if err != nil {
			return err
		}
		const changed = algorithms.Bucket(4) // of weight 2
		switch err := after.setWeight(changed, w); {
		case errors.Is(err, errors.ErrUnsupported) && w != math.Trunc(w):
			continue
		case err != nil:
			return err
		}
		if w > 2 {
			err = movedOnlyTo(before, after, hs, changed)
		} else {
			err = movedOnlyFrom(before, after, hs, changed)
		}
		if err != nil {
			return fmt.Errorf("a weight set from 2 to %v: %w", w, err)
		}
	}
	return nil
}

// checkAddThenRemove: a node that comes and goes leaves no trace.
func checkAddThenRemove(info algorithms.Info) error {
	hs := draw(4000)
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 3, 10, 60} {
			c, err := build(info, named(n, running, weights...))
			if err != nil {
				return err
			}
			before, err := c.owners(hs)
			if err != nil {
				return err
			}
			for round := range 3 {
				b, err := c.add(newNode(c.nodes[0].Weight))
				if err != nil {
					return err
				}
				if err := c.remove(b); err != nil {
					return err
				}
				if err := c.unchanged(hs, before); err != nil {
					return fmt.Errorf("a node came and went %d times: %w", round+1, err)
				}
			}
		}
		return nil
	})
}

// checkBuckets: through random changes, every answer is a bucket that is bound,
// Add hands out only buckets that are not, and a removed bucket is never named.
func checkBuckets(info algorithms.Info) error {
	hs := draw(300)
	return settings(info, func(weights ...float64) error {
		c, err := build(info, named(10, plain, weights...))
		if err != nil {
			return err
		}
		total := 0
		for round := range 30 {
			changes, err := shake(c, 4+round%3, fmt.Sprintf("round%d-%%d", round), weights)
			if err != nil {
				return err
			}
			total += changes
			if _, err := c.owners(hs); err != nil {
				return fmt.Errorf("after %d changes: %w", total, err)
			}
		}
		if total == 0 {
			return algorithms.Unsupported("its members cannot change")
		}
		return nil
	})
}

// A refusing is a cluster that is put to changes which make no sense.
type refusing struct {
	*cluster
	hs     []uint64
	before []algorithms.Bucket
}

func newRefusing(info algorithms.Info) (*refusing, error) {
	c, err := build(info, named(9, running))
	if err != nil {
		return nil, err
	}
	r := &refusing{cluster: c, hs: draw(2000)}
	r.before, err = c.owners(r.hs)
	return r, err
}

// refused fails unless the change gave an error and changed nothing; it tells what
// became of the cluster.
func (r *refusing) refused(what string, err error) error {
	verdict := "is refused, but"
	if err == nil {
		verdict = "is accepted, and"
	}
	if r.Len() != len(r.nodes) {
		return fmt.Errorf("%s %s Len went from %d to %d", what, verdict, len(r.nodes), r.Len())
	}
	if moved := r.unchanged(r.hs, r.before); moved != nil {
		return fmt.Errorf("%s %s %w", what, verdict, moved)
	}
	if err == nil {
		return fmt.Errorf("%s is accepted, and changes nothing", what)
	}
	return nil
}

// unbound lets a node leave, where one can, and returns buckets that no node is
// bound to, that of the node which left first.
func (r *refusing) unbound() ([]algorithms.Bucket, error) {
	unbound := []algorithms.Bucket{algorithms.None, -7, 9, 1 << 20, math.MaxInt32}
	bs := r.removable()
	if len(bs) == 0 {
		return unbound, nil
	}
	gone := bs[len(bs)/2]
	if err := r.remove(gone); err != nil {
		return nil, err
	}
	var err error
	r.before, err = r.owners(r.hs)
	return append([]algorithms.Bucket{gone}, unbound...), err
}

// checkWrongAdds: a node that cannot join is an error and changes nothing.
func checkWrongAdds(info algorithms.Info) error {
	r, err := newRefusing(info)
	if err != nil {
		return err
	}
	m, ok := r.Mapper.(algorithms.Adder)
	if !ok {
		return algorithms.Unsupported("it cannot add a node")
	}
	for _, bad := range []struct {
		what string
		node algorithms.Node
	}{
		{"a node that is a member", r.nodes[0]},
		{"a node that is a member, with a weight", algorithms.Node{Name: r.nodes[0].Name, Weight: 3}},
		{"a node without a name", algorithms.Node{Weight: 1}},
		{"a node with a negative weight", newNode(-1)},
		{"a node with the weight NaN", newNode(math.NaN())},
		{"a node with the weight infinity", newNode(math.Inf(1))},
	} {
		_, err := m.Add(bad.node)
		if err := r.refused("adding "+bad.what, err); err != nil {
			return err
		}
	}
	return nil
}

// checkWrongRemovals: to remove what is not there is an error and changes nothing.
func checkWrongRemovals(info algorithms.Info) error {
	r, err := newRefusing(info)
	if err != nil {
		return err
	}
	m, ok := r.Mapper.(algorithms.Remover)
	if !ok {
		return algorithms.Unsupported("it cannot remove any node")
	}
	unbound, err := r.unbound()
	if err != nil {
		return err
	}
	for _, b := range unbound {
		if err := r.refused(fmt.Sprintf("removing bucket %d, which is not bound,", b), m.Remove(b)); err != nil {
			return err
		}
	}
	return nil
}

// checkWrongWeights: a weight that makes no sense, or is for no node, is an error
// and changes nothing.
func checkWrongWeights(info algorithms.Info) error {
	r, err := newRefusing(info)
	if err != nil {
		return err
	}
	m, ok := r.Mapper.(algorithms.Reweighter)
	if !ok {
		return algorithms.Unsupported("it cannot change a weight")
	}
	unbound, err := r.unbound()
	if err != nil {
		return err
	}
	for _, b := range unbound {
		if err := r.refused(fmt.Sprintf("a weight for bucket %d, which is not bound,", b), m.SetWeight(b, 2)); err != nil {
			return err
		}
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := r.refused(fmt.Sprintf("the weight %v", w), m.SetWeight(0, w)); err != nil {
			return err
		}
	}
	return nil
}

// checkEmpty: without nodes there is no owner, and no panic; a node that then
// joins owns everything.
func checkEmpty(info algorithms.Info) error {
	hs := draw(50)
	c, err := build(info, named(5, plain))
	if err != nil {
		return err
	}
	for len(c.nodes) > 0 {
		bs := c.removable()
		if len(bs) == 0 {
			return algorithms.Unsupported("it cannot remove a node")
		}
		if err := c.remove(bs[len(bs)/2]); err != nil {
			return err
		}
	}
	for _, h := range hs {
		if err := noOwner(c, h); err != nil {
			return err
		}
	}
	if r, ok := c.Mapper.(algorithms.Remover); ok && r.Remove(0) == nil {
		return errors.New("without nodes, removing bucket 0 succeeds")
	}
	if r, ok := c.Mapper.(algorithms.LastRemover); ok {
		if b, err := r.RemoveLast(); err == nil {
			return fmt.Errorf("without nodes, RemoveLast removes bucket %d", b)
		}
	}
	if _, ok := c.Mapper.(algorithms.Adder); !ok {
		return nil
	}
	if _, err := c.add(newNode(1)); err != nil {
		return err
	}
	if _, err := c.owners(hs); err != nil {
		return fmt.Errorf("emptied and filled again: %w", err)
	}
	return nil
}

// noOwner holds every method that answers for h to the empty answer.
func noOwner(c *cluster, h uint64) error {
	if b := c.Lookup(h); b != algorithms.None {
		return fmt.Errorf("without nodes, Lookup gives bucket %d", b)
	}
	if r, ok := c.Mapper.(algorithms.Replicator); ok {
		if n := r.LookupN(h, make([]algorithms.Bucket, 3)); n != 0 {
			return fmt.Errorf("without nodes, LookupN gives %d buckets", n)
		}
	}
	if k, ok := c.Mapper.(algorithms.KeyMapper); ok {
		if b := k.LookupKey("key"); b != algorithms.None {
			return fmt.Errorf("without nodes, LookupKey gives bucket %d", b)
		}
	}
	if m, ok := c.Mapper.(algorithms.BatchMapper); ok {
		dst := make([]algorithms.Bucket, 5)
		m.LookupBatch([]uint64{h, h, h, h, h}, dst)
		for _, b := range dst {
			if b != algorithms.None {
				return fmt.Errorf("without nodes, LookupBatch gives bucket %d", b)
			}
		}
	}
	if p, ok := c.Mapper.(algorithms.Prober); ok {
		if b, _ := p.LookupProbes(h); b != algorithms.None {
			return fmt.Errorf("without nodes, LookupProbes gives bucket %d", b)
		}
	}
	if a, ok := c.Mapper.(algorithms.Assigner); ok {
		if b, _ := a.Assign(h); b != algorithms.None {
			return fmt.Errorf("without nodes, Assign gives bucket %d", b)
		}
	}
	if o, ok := c.Mapper.(algorithms.Owned); ok {
		_, cells := o.Cells()
		for _, b := range cells {
			return fmt.Errorf("without nodes, there is a cell of bucket %d", b)
		}
	}
	return nil
}
