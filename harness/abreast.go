package harness

import (
	"runtime"
	"sync"
	"time"

	"github.com/ringbench/ringbench/algorithms"
)

// Lookups abreast of each other: in batches, and from all cores at once with and
// without a writer that changes the membership meanwhile.

// batchKernel looks up 1,024 hashes in each call.
func (st *stage) batchKernel(c *cell, s *structure) (*kernel, error) {
	if _, ok := s.place.Mapper.(algorithms.BatchMapper); !ok {
		return nil, algorithms.Unsupported("%s does not look up in batches", c.subject.info.Name)
	}
	k := st.lookupKernel(c, s)
	hs := c.pool.hashed(c.subject.hash.For(s.place.Mapper))
	dst := make([]algorithms.Bucket, chunk)
	k.run = func(offset, ops int) uint64 {
		m := s.place.Mapper.(algorithms.BatchMapper)
		return round(len(hs), offset, ops, func(from, to int) (sum uint64) {
			for ; from < to; from += chunk {
				sum += batchLookups(m, hs[from:min(from+chunk, to)], dst)
			}
			return sum
		})
	}
	return k, nil
}

// A writer makes two changes, which take each other back, so often.
const (
	writerPause   = 20 * time.Millisecond
	contendedLeft = 160 * time.Millisecond // how long a block with a writer lasts
)

// mostContended bounds the lookups of a block with a writer: at a tenth of a nanosecond
// each it lasts long enough.
const mostContended = 1 << 30

// parallelKernel looks up from all cores at once, each over its part of the
// block. Where the algorithm can be copied, readers go through a snapshot. With a
// writer, a node leaves a copy and joins it again every 20 ms, which is then what
// readers see: 100 changes a second, after each pair of which every answer is what
// it was, so that the answers can be checked.
func (st *stage) parallelKernel(c *cell, s *structure, writer bool) (*kernel, error) {
	_, cloner := s.place.Mapper.(algorithms.Cloner)
	_, adder := s.place.Mapper.(algorithms.Adder)
	_, remover := s.place.Mapper.(algorithms.Remover)
	if writer && !(cloner && adder && remover) {
		return nil, algorithms.Unsupported("%s does not change while it is read: its readers need a lock", c.subject.info.Name)
	}
	k := st.lookupKernel(c, s)
	hs := c.pool.hashed(c.subject.hash.For(s.place.Mapper))
	readers := runtime.GOMAXPROCS(0)
	k.unit, k.shared = chunk*readers, true
	k.most = maxOps * readers
	if writer {
		k.target, k.litter = contendedLeft, true
		k.most = mostContended
	}
	k.most -= k.most % k.unit
	nodes := c.subject.nodes()
	last := algorithms.Bucket(len(nodes) - 1)
	k.run = func(offset, ops int) uint64 {
		m := s.place.Mapper
		if own, ok := m.(algorithms.Cloner); ok {
			snapshot := algorithms.NewSnapshot(own)
			m = snapshot
			if writer {
				stop := rewriting(snapshot, last, nodes[last])
				defer stop()
			}
		}
		sums := make([]uint64, readers)
		var wait sync.WaitGroup
		for r := range readers {
			part := ops / readers
			from := (offset + r*part) % len(hs)
			wait.Go(func() {
				sums[r] = round(len(hs), from, part, func(from, to int) uint64 { return lookups(m, hs[from:to]) })
			})
		}
		wait.Wait()
		sum := uint64(0)
		for _, s := range sums {
			sum += s
		}
		return sum
	}
	return k, nil
}

// rewriting lets the node leave and join again from time to time until it is
// stopped.
func rewriting(s *algorithms.Snapshot, b algorithms.Bucket, node algorithms.Node) (stop func()) {
	ended, ending := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		next := time.NewTimer(writerPause / 2)
		defer next.Stop()
		for {
			select {
			case <-ending:
				return
			case <-next.C:
			}
			next.Reset(writerPause)
			err := s.Change(func(m algorithms.Mapper) error {
				if err := m.(algorithms.Remover).Remove(b); err != nil {
					return err
				}
				_, err := m.(algorithms.Adder).Add(node)
				return err
			})
			if err != nil {
				panic("harness: " + err.Error()) // it is a member, and then it is not
			}
		}
	}()
	return func() { close(ending); <-ended }
}
