package algorithms

import (
	"sync"
	"sync/atomic"
)

// A Cloner can be copied, for a change that others should not see half done.
type Cloner interface {
	Mapper

	// Clone returns a Mapper that names the same bucket for every hash. What
	// changes the membership of one of the two changes nothing in the other.
	Clone() Mapper
}

// A Snapshot lets any number of goroutines look up while others change the
// membership. A lookup reads one atomic pointer more than without it and never
// waits; it sees the membership of before a change or of after it. A change copies
// the Mapper first, so that it costs what Clone costs on top.
type Snapshot struct {
	current  atomic.Pointer[view]
	changing sync.Mutex
}

type view struct{ mapper Cloner }

// NewSnapshot returns a Snapshot of m, which belongs to it from then on.
func NewSnapshot(m Cloner) *Snapshot {
	s := &Snapshot{}
	s.current.Store(&view{m})
	return s
}

// Lookup returns the bucket that owns the hash in the membership of this moment.
func (s *Snapshot) Lookup(h uint64) Bucket { return s.current.Load().mapper.Lookup(h) }

// Len returns the number of nodes at this moment.
func (s *Snapshot) Len() int { return s.current.Load().mapper.Len() }

// Mapper returns the membership of this moment, for several questions that belong
// together. It must not be changed.
func (s *Snapshot) Mapper() Mapper { return s.current.Load().mapper }

// Change calls f with a copy and publishes that, unless f returns an error, which
// Change returns then. Changes run one after the other.
//
//	err := s.Change(func(m algorithms.Mapper) error {
//		_, err := m.(algorithms.Adder).Add(node)
//		return err
//	})
func (s *Snapshot) Change(f func(m Mapper) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	m := s.current.Load().mapper.Clone().(Cloner)
	if err := f(m); err != nil {
		return err
	}
	s.current.Store(&view{m})
	return nil
}
