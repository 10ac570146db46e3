package ringbinarysearch_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/ringarray"
	"github.com/ringbench/ringbench/algorithms/ringbinarysearch"
)

// rival is what the rings have in common.
type rival interface {
	algorithms.Adder
	algorithms.Remover
	algorithms.Reweighter
	algorithms.Mapper
	algorithms.Replicator
	algorithms.Owned
}

// TestAllRingsAgree drives the three structures through the same changes of
// membership: they differ in time and never in an answer.
func TestAllRingsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := ring.Config{
			VNodes:    rapid.SampledFrom([]int{1, 3, 50}).Draw(t, "vnodes"),
			Label:     rapid.SampledFrom([]string{"{name}{index}", "{name}#{index}"}).Draw(t, "label"),
			PointHash: rapid.SampledFrom([]string{"xxh3", "crc32", "fnv1a-64"}).Draw(t, "hash"),
			Modulus:   rapid.SampledFrom([]uint64{0, 0, 50, 36000}).Draw(t, "modulus"),
		}
		slots := rapid.SampledFrom([]int{0, 1, 7, 4096}).Draw(t, "slots")
		weight := rapid.SampledFrom([]float64{0, 0.5, 1, 2})
		name := rapid.StringMatching(`n[0-9]{1,2}`)
		nodes := algorithms.Nodes(rapid.SliceOfNDistinct(name, 1, 8, rapid.ID[string]).Draw(t, "names")...)

		r, err := ring.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		bisected, err := ringbinarysearch.New(nodes, c)
		if err != nil {
			t.Fatal(err)
		}
		slotted, err := ringarray.New(nodes, ringarray.Config{Config: c, Slots: slots})
		if err != nil {
			t.Fatal(err)
		}
		rivals := []rival{bisected, slotted}

		// all applies a change to all rings, which must accept or refuse it alike.
		all := func(t *rapid.T, change func(rival) (algorithms.Bucket, error)) {
			want, refused := change(r)
			for _, m := range rivals {
				if got, err := change(m); got != want || (err == nil) != (refused == nil) {
					t.Fatalf("%T gives %v, %v, and the ring %v, %v", m, got, err, want, refused)
				}
			}
		}
		bucket := rapid.Map(rapid.IntRange(-1, 9), func(i int) algorithms.Bucket { return algorithms.Bucket(i) })
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := algorithms.Node{Name: name.Draw(t, "name"), Weight: weight.Draw(t, "weight")}
				all(t, func(m rival) (algorithms.Bucket, error) { return m.Add(n) })
			},
			"remove": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				all(t, func(m rival) (algorithms.Bucket, error) { return b, m.Remove(b) })
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket.Draw(t, "bucket"), weight.Draw(t, "weight")
				all(t, func(m rival) (algorithms.Bucket, error) { return b, m.SetWeight(b, w) })
			},
			"": func(t *rapid.T) {
				hs := []uint64{0, math.MaxUint64, rapid.Uint64().Draw(t, "h")}
				for at := range r.Points() {
					if hs = append(hs, at-1, at, at+1); len(hs) > 60 {
						break
					}
				}
				dst, want := make([]algorithms.Bucket, 4), make([]algorithms.Bucket, 4)
				for _, m := range rivals {
					if m.Len() != r.Len() {
						t.Fatalf("%T has %d nodes, the ring %d", m, m.Len(), r.Len())
					}
					for _, h := range hs {
						if got, want := m.Lookup(h), r.Lookup(h); got != want {
							t.Fatalf("%T: Lookup(%#x) = %d, the ring says %d", m, h, got, want)
						}
						got, wanted := dst[:m.LookupN(h, dst)], want[:r.LookupN(h, want)]
						if fmt.Sprint(got) != fmt.Sprint(wanted) {
							t.Fatalf("%T: LookupN(%#x) = %v, the ring says %v", m, h, got, wanted)
						}
					}
					if got, want := cells(m), cells(r); got != want {
						t.Fatalf("%T: cells %v, the ring has %v", m, got, want)
					}
				}
			},
		})
	})
}

func cells(m algorithms.Owned) string {
	var b strings.Builder
	space, all := m.Cells()
	fmt.Fprintln(&b, space)
	for end, owner := range all {
		fmt.Fprintln(&b, end, owner)
	}
	return b.String()
}

func TestLookupDoesNotAllocate(t *testing.T) {
	m, err := ringbinarysearch.New(algorithms.Nodes("a", "b", "c"), ringbinarysearch.Default)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]algorithms.Bucket, 2)
	h := uint64(0)
	if allocs := testing.AllocsPerRun(100, func() { h += 1 << 57; m.Lookup(h); m.LookupN(h, dst) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if got := m.Footprint(); got != 3*160*12 {
		t.Errorf("footprint %d, want 12 bytes a point", got)
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"vnodes":0}`:       "ring-binary-search: vnodes 0",
		`{"label":"{name}"}`: "no {index}",
		`{"epsilon":1}`:      `unknown parameter "epsilon"`,
	} {
		_, _, err := ringbinarysearch.Info.New(algorithms.Nodes("a"), json.RawMessage(params))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", params, err, want)
		}
	}
	m, err := ringbinarysearch.New(algorithms.Nodes("a"), ringbinarysearch.Default)
	if err != nil {
		t.Fatal(err)
	}
	before := cells(m)
	if err := m.SetWeight(0, 1e300); err == nil {
		t.Error("1.6e302 points were accepted")
	}
	if _, err := m.Add(algorithms.Node{Name: "b", Weight: 1e300}); err == nil || m.Len() != 1 {
		t.Errorf("1.6e302 points were accepted, or the node stayed: %v", err)
	}
	if before != cells(m) {
		t.Error("a refused change left its traces")
	}
}
