package ring_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// While nodes come and go, readers see the owner of before a change or of after
// it and nothing else; the race detector watches.
func TestReadersOfASnapshotSeeWholeMemberships(t *testing.T) {
	m, err := ring.New(algorithms.Nodes("a", "b", "c"), ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	s := algorithms.NewSnapshot(m)
	const h = 0x9e3779b97f4a7c15
	without := s.Lookup(h)
	guest := algorithms.Node{Name: "guest", Weight: 50} // takes nearly every key
	var bucket algorithms.Bucket
	if err := s.Change(func(m algorithms.Mapper) (err error) { bucket, err = m.(algorithms.Adder).Add(guest); return err }); err != nil {
		t.Fatal(err)
	}
	if with := s.Lookup(h); with != bucket {
		t.Fatalf("the key is on bucket %d with the guest, not on %d", with, bucket)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if b := s.Lookup(h); b != without && b != bucket {
					t.Errorf("bucket %d, neither %d nor %d", b, without, bucket)
					return
				}
				if n := s.Mapper().Len(); n != 3 && n != 4 {
					t.Errorf("%d nodes", n)
					return
				}
			}
		})
	}
	for range 50 {
		err := s.Change(func(m algorithms.Mapper) error { return m.(algorithms.Remover).Remove(bucket) })
		if err == nil {
			err = s.Change(func(m algorithms.Mapper) error { _, err := m.(algorithms.Adder).Add(guest); return err })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
}

func TestARefusedChangeOfASnapshotChangesNothing(t *testing.T) {
	m, err := ring.New(algorithms.Nodes("a", "b"), ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	s := algorithms.NewSnapshot(m)
	before := s.Mapper()
	refusal := fmt.Errorf("no")
	err = s.Change(func(m algorithms.Mapper) error {
		if err := m.(algorithms.Remover).Remove(0); err != nil {
			t.Fatal(err)
		}
		return refusal
	})
	if !errors.Is(err, refusal) || s.Mapper() != before || s.Mapper().Len() != 2 {
		t.Errorf("error %v, %d nodes", err, s.Mapper().Len())
	}
}
