package jump

import (
	"slices"

	"github.com/ringbench/ringbench/algorithms"
)

// seats says which node sits in which slot. A slot is what the jump hash
// answers, 0 to n-1 without gaps; a bucket is what a node keeps.
type seats struct {
	slots   []algorithms.Bucket // by slot
	doubt   uint64              // for the number of slots
	members *algorithms.Members
}

func newSeats(nodes []algorithms.Node) (seats, error) {
	members, err := algorithms.NewEqualMembers(nodes)
	if err != nil {
		return seats{}, err
	}
	s := seats{members: members}
	for b := range members.All() {
		s.slots = append(s.slots, b)
	}
	s.doubt = doubt(len(s.slots))
	return s, nil
}

func (s *seats) clone() seats {
	return seats{slices.Clone(s.slots), s.doubt, s.members.Clone()}
}

// Len returns the number of nodes.
func (s *seats) Len() int { return len(s.slots) }

// Divisor says that a hash is taken as a number: a hash of 32 bits is the key of 64
// bits that has the same value, as callers of the reference pass it.
func (s *seats) Divisor() (divisor uint64, number bool) { return 0, true }

// Footprint returns the bytes of the list of slots.
func (s *seats) Footprint() int64 { return int64(len(s.slots)) * 4 }

// Add gives the node a new slot after the others.
func (s *seats) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := s.members.Add(n)
	if err != nil {
		return algorithms.None, err
	}
	s.slots = append(s.slots, b)
	s.doubt = doubt(len(s.slots))
	return b, nil
}

func (s *seats) removeBySwap(b algorithms.Bucket) error {
	if _, err := s.members.Remove(b); err != nil {
		return err
	}
	last := len(s.slots) - 1
	s.slots[slices.Index(s.slots, b)] = s.slots[last]
	s.slots = s.slots[:last]
	s.doubt = doubt(last)
	return nil
}

func (s *seats) removeByShift(b algorithms.Bucket) error {
	if _, err := s.members.Remove(b); err != nil {
		return err
	}
	i := slices.Index(s.slots, b)
	s.slots = slices.Delete(s.slots, i, i+1)
	s.doubt = doubt(len(s.slots))
	return nil
}

func (s *seats) replicas(h uint64, dst []algorithms.Bucket, lookup func(uint64) algorithms.Bucket) int {
	c := s.members.Choose(dst)
	return c.Redrawn(h, lookup)
}

func (s *seats) lookupProbes(h uint64) (algorithms.Bucket, int) {
	n := uint64(len(s.slots))
	if n == 0 {
		return algorithms.None, 0
	}
	b := uint64(0)
	for draws := 1; ; draws++ {
		h = h*multiplier + 1
		j := next(b+1, h>>33+1, s.doubt)
		if j >= n {
			return s.slots[b], draws
		}
		b = j
	}
}
