package ring_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// model is a ring as one would explain it: a list of points, sorted anew at
// every change, and searched from its beginning.
type model struct {
	vnodes    int
	separator string
	hash      keyhash.Hash
	modulus   uint64
	nodes     map[algorithms.Bucket]algorithms.Node
}

type modelPoint struct {
	at    uint64
	name  string
	owner algorithms.Bucket
}

func (m *model) points() []modelPoint {
	var points []modelPoint
	for b, n := range m.nodes {
		if n.Weight == 0 {
			continue
		}
		for i := range int(math.Max(1, math.Round(float64(m.vnodes)*n.Weight))) {
			label := fmt.Sprintf("%s%s%d", n.Name, m.separator, i)
			at := m.hash.Position(label)
			if m.modulus > 0 {
				at = m.hash.Number(label) % m.modulus
			}
			points = append(points, modelPoint{at, n.Name, b})
		}
	}
	slices.SortFunc(points, func(a, b modelPoint) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.name, b.name))
	})
	return points
}

// clockwise returns the distinct owners in the order in which h meets them.
func (m *model) clockwise(points []modelPoint, h uint64) []algorithms.Bucket {
	if m.modulus > 0 {
		h %= m.modulus
	}
	first := slices.IndexFunc(points, func(p modelPoint) bool { return p.at >= h })
	first = max(first, 0)
	var met []algorithms.Bucket
	for i := range points {
		if b := points[(first+i)%len(points)].owner; !slices.Contains(met, b) {
			met = append(met, b)
		}
	}
	return met
}

// TestRingIsItsModel drives a ring and its model through random changes. The
// small moduli and the labels without a separator make points collide.
func TestRingIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := keyhash.All()
		m := &model{
			vnodes:    rapid.SampledFrom([]int{1, 2, 7, 40}).Draw(t, "vnodes"),
			separator: rapid.SampledFrom([]string{"", "#"}).Draw(t, "separator"),
			hash:      all[rapid.IntRange(0, len(all)-1).Draw(t, "hash")],
			modulus:   rapid.SampledFrom([]uint64{0, 0, 1, 2, 100, 36000, 1<<63 + 5}).Draw(t, "modulus"),
			nodes:     map[algorithms.Bucket]algorithms.Node{},
		}
		weight := rapid.SampledFrom([]float64{0, 0.01, 0.5, 1, 1, 1, 2.5})
		name := rapid.StringMatching(`n[0-9]{1,2}`)
		names := rapid.SliceOfNDistinct(name, 1, 8, rapid.ID[string]).Draw(t, "names")
		var nodes []algorithms.Node
		for i, n := range names {
			nodes = append(nodes, algorithms.Node{Name: n, Weight: weight.Draw(t, "weight")})
			if i == 0 {
				nodes[0].Weight = 1
			}
			m.nodes[algorithms.Bucket(i)] = nodes[i]
		}
		r, err := ring.New(nodes, ring.Config{
			VNodes:    m.vnodes,
			Label:     "{name}" + m.separator + "{index}",
			PointHash: m.hash.Name,
			Modulus:   m.modulus,
			Roomy:     rapid.Bool().Draw(t, "roomy"),
		})
		if err != nil {
			t.Fatal(err)
		}
		bucket := func(t *rapid.T) (algorithms.Bucket, bool) {
			b := algorithms.Bucket(rapid.IntRange(-1, 12).Draw(t, "bucket"))
			_, bound := m.nodes[b]
			return b, bound
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := algorithms.Node{Name: name.Draw(t, "name"), Weight: weight.Draw(t, "weight")}
				taken := false
				for _, other := range m.nodes {
					taken = taken || other.Name == n.Name
				}
				b, err := r.Add(n)
				if taken != (err != nil) {
					t.Fatalf("Add(%v) = %v, %v; name taken: %v", n, b, err, taken)
				}
				if !taken {
					if _, bound := m.nodes[b]; bound {
						t.Fatalf("Add gave bucket %d, which is bound", b)
					}
					m.nodes[b] = n
				}
			},
			"remove": func(t *rapid.T) {
				b, bound := bucket(t)
				if err := r.Remove(b); bound != (err == nil) {
					t.Fatalf("Remove(%d) = %v; bound: %v", b, err, bound)
				}
				delete(m.nodes, b)
			},
			"reweight": func(t *rapid.T) {
				b, bound := bucket(t)
				w := weight.Draw(t, "weight")
				if err := r.SetWeight(b, w); bound != (err == nil) {
					t.Fatalf("SetWeight(%d) = %v; bound: %v", b, err, bound)
				}
				if bound {
					n := m.nodes[b]
					n.Weight = w
					m.nodes[b] = n
				}
			},
			"": func(t *rapid.T) { checkAgainst(t, r, m) },
		})
	})
}

func checkAgainst(t *rapid.T, r *ring.Map, m *model) {
	points := m.points()
	if got := r.Len(); got != len(m.nodes) {
		t.Fatalf("Len() = %d, want %d", got, len(m.nodes))
	}

	// Every position that holds a point, its two neighbours, and one at random.
	hs := []uint64{0, math.MaxUint64, rapid.Uint64().Draw(t, "h")}
	for _, p := range points[:min(len(points), 20)] {
		hs = append(hs, p.at-1, p.at, p.at+1, p.at^1<<15, p.at^1<<20)
	}
	dst := make([]algorithms.Bucket, 1+len(m.nodes))
	for _, h := range hs {
		want := m.clockwise(points, h)
		got := dst[:r.LookupN(h, dst)]
		if !slices.Equal(got, want) {
			t.Fatalf("LookupN(%#x) = %v, want %v", h, got, want)
		}
		owner := algorithms.None
		if len(want) > 0 {
			owner = want[0]
		}
		if got := r.Lookup(h); got != owner {
			t.Fatalf("Lookup(%#x) = %v, want %v", h, got, owner)
		}
		if got, probes := r.LookupProbes(h); got != owner || probes < min(1, len(points)) {
			t.Fatalf("LookupProbes(%#x) = %v, %v, want %v", h, got, probes, owner)
		}
	}

	var gotPoints []modelPoint
	for at, b := range r.Points() {
		gotPoints = append(gotPoints, modelPoint{at, m.nodes[b].Name, b})
	}
	if diff := gocmp.Diff(points, gotPoints, gocmp.AllowUnexported(modelPoint{})); diff != "" {
		t.Fatalf("Points (-want +got):\n%s", diff)
	}

	type cell struct {
		End   uint64
		Owner algorithms.Bucket
	}
	var want, got []cell
	collisions := 0
	for _, p := range points {
		if len(want) > 0 && want[len(want)-1].End == p.at {
			collisions++
			continue
		}
		want = append(want, cell{p.at, p.owner})
	}
	if n := len(want); n > 0 && want[n-1].End != m.modulus-1 {
		want = append(want, cell{m.modulus - 1, want[0].Owner})
	}
	space, cells := r.Cells()
	for end, b := range cells {
		got = append(got, cell{end, b})
	}
	if diff := gocmp.Diff(want, got); diff != "" || space != m.modulus {
		t.Fatalf("Cells in a space of %d, want %d (-want +got):\n%s", space, m.modulus, diff)
	}
	if got := r.PointCollisions(); got != collisions {
		t.Fatalf("PointCollisions() = %d, want %d", got, collisions)
	}
}
