package points_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// TestStathatsRing lays out the circle of a library whose points own what comes
// before them, their own position excluded.
func TestStathatsRing(t *testing.T) {
	data, err := os.ReadFile("testdata/stathat.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Hash                string
		Nodes, Points, Keys int
		Expected            []string
		ExpectedN           [][]string `json:"expected_getn3"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		hash, err := keyhash.ByName(row.Hash)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []algorithms.Node
		for i := range row.Nodes {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint("node-", i), Weight: 1})
		}
		members, err := algorithms.NewMembers(nodes)
		if err != nil {
			t.Fatal(err)
		}
		r, err := points.New(members, points.Circle{Space: points.Space32, Rule: points.After}, func(m *algorithms.Members) ([]points.Point, error) {
			var all []points.Point
			for b, n := range m.All() {
				for i := range row.Points {
					all = append(all, points.Point{Position: hash.Position(fmt.Sprint(i)+n.Name) % points.Space32, Owner: b})
				}
			}
			return all, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var gotN [][]string
		for k := range row.Keys {
			h := hash.Position(fmt.Sprint("key-", k))
			got = append(got, nodes[r.Lookup(h)].Name)
			dst := make([]algorithms.Bucket, 3)
			var names []string
			for _, b := range dst[:r.LookupN(h, dst)] {
				names = append(names, nodes[b].Name)
			}
			gotN = append(gotN, names)
		}
		if diff := cmp.Diff(row.Expected, got); diff != "" {
			t.Errorf("%s: owners (-want +got):\n%s", row.Hash, diff)
		}
		if diff := cmp.Diff(row.ExpectedN, gotN); diff != "" {
			t.Errorf("%s: three nodes of each key (-want +got):\n%s", row.Hash, diff)
		}
	}
}

// A model is a circle as one would explain it. Its points are in no order.
type model struct {
	circle points.Circle
	names  []string
	points []points.Point
}

// wins reports whether of two points at one position p owns it.
func (m *model) wins(p, q points.Point) bool {
	switch m.circle.Tie {
	case points.FirstListed:
		return p.Owner < q.Owner
	case points.LastListed:
		return p.Owner > q.Owner
	}
	return m.names[p.Owner] < m.names[q.Owner]
}

// way returns how far q is behind p on the way clockwise.
func (m *model) way(p, q uint64) uint64 {
	if m.circle.Space == 0 {
		return q - p
	}
	return (q + m.circle.Space - p) % m.circle.Space
}

// owner looks at every point for the best.
func (m *model) owner(h uint64) algorithms.Bucket {
	if m.circle.Space > 0 {
		h %= m.circle.Space
	}
	if len(m.points) == 0 {
		return algorithms.None
	}
	from := h
	if m.circle.Rule == points.After {
		if from++; from == m.circle.Space {
			from = 0
		}
	}
	next, prev := m.points[0], m.points[0]
	back := m.circle.Space - 1 // from the position before h, or all the way
	if h > 0 {
		back = h - 1
	}
	for _, p := range m.points {
		if a, b := m.way(from, p.Position), m.way(from, next.Position); a < b || a == b && m.wins(p, next) {
			next = p
		}
		// Of several at one position before h, the last one is met first.
		if a, b := m.way(p.Position, back), m.way(prev.Position, back); a < b || a == b && m.wins(prev, p) {
			prev = p
		}
	}
	if m.circle.Rule == points.Nearest && m.way(prev.Position, h) <= m.way(h, next.Position) && m.way(prev.Position, h) > 0 {
		return prev.Owner
	}
	return next.Owner
}

func TestACircleIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{circle: points.Circle{
			Space: rapid.SampledFrom([]uint64{0, 1, 2, 3, 10, 64, points.Space32, 1 << 63}).Draw(t, "space"),
			Rule:  rapid.SampledFrom([]points.Rule{points.AtOrAfter, points.After, points.Nearest}).Draw(t, "rule"),
			Tie:   rapid.SampledFrom([]points.Tie{points.ByName, points.FirstListed, points.LastListed}).Draw(t, "tie"),
		}}
		m.names = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]`), 1, 6, rapid.ID[string]).Draw(t, "names")
		members, err := algorithms.NewMembers(algorithms.Nodes(m.names...))
		if err != nil {
			t.Fatal(err)
		}
		last := m.circle.Space - 1
		position := rapid.OneOf(rapid.Uint64Range(0, last), rapid.Uint64Range(0, min(last, 20)), rapid.Uint64Range(last-min(last, 5), last))
		for range rapid.IntRange(1, 12).Draw(t, "points") {
			b := rapid.IntRange(0, len(m.names)-1).Draw(t, "owner")
			m.points = append(m.points, points.Point{Position: position.Draw(t, "position"), Owner: algorithms.Bucket(b)})
		}
		r, err := points.New(members, m.circle, func(*algorithms.Members) ([]points.Point, error) { return slices.Clone(m.points), nil })
		if err != nil {
			t.Fatal(err)
		}
		check := func(h uint64) {
			if got, want := r.Lookup(h), m.owner(h); got != want {
				t.Fatalf("Lookup(%#x) = %d, want %d of the points %v", h, got, want, m.points)
			}
		}
		hs := []uint64{0, math.MaxUint64, rapid.Uint64().Draw(t, "h"), position.Draw(t, "at")}
		for _, p := range m.points {
			hs = append(hs, p.Position-1, p.Position, p.Position+1)
		}
		for _, h := range hs {
			check(h)
		}
		begin, ends := uint64(0), false
		space, cells := r.Cells()
		if space != m.circle.Space {
			t.Fatalf("cells of a space of %d, want %d", space, m.circle.Space)
		}
		for end, b := range cells {
			if ends || end < begin {
				t.Fatalf("a cell ends at %#x, the next begins at %#x, of the points %v", end, begin, m.points)
			}
			for _, h := range []uint64{begin, begin + (end-begin)/2, end} {
				if want := m.owner(h); b != want {
					t.Fatalf("%#x lies in a cell of %d, want %d of the points %v", h, b, want, m.points)
				}
			}
			begin, ends = end+1, end == last
		}
		if !ends && len(m.points) > 0 {
			t.Fatalf("the cells end before %#x, of the points %v", begin, m.points)
		}
	})
}

// TestReplicasAreMetClockwise holds LookupN to a list of all points.
func TestReplicasAreMetClockwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "nodes")
		var nodes []algorithms.Node
		for i := range n {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprint(i), Weight: 1, Zone: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "zone")})
		}
		members, err := algorithms.NewMembers(nodes)
		if err != nil {
			t.Fatal(err)
		}
		var all []points.Point
		for position := range uint64(rapid.IntRange(1, 30).Draw(t, "points")) {
			all = append(all, points.Point{Position: position, Owner: algorithms.Bucket(rapid.IntRange(0, n-1).Draw(t, "owner"))})
		}
		r, err := points.New(members, points.Circle{Space: 64}, func(*algorithms.Members) ([]points.Point, error) { return all, nil })
		if err != nil {
			t.Fatal(err)
		}
		h := rapid.Uint64Range(0, 63).Draw(t, "h")
		var met, first, rest []algorithms.Bucket
		zones := map[string]bool{}
		for i := range all {
			if p := all[(i+max(0, slices.IndexFunc(all, func(p points.Point) bool { return p.Position >= h })))%len(all)]; !slices.Contains(met, p.Owner) {
				met = append(met, p.Owner)
			}
		}
		for _, b := range met {
			if zone := nodes[b].Zone; zones[zone] {
				rest = append(rest, b)
			} else {
				zones[zone] = true
				first = append(first, b)
			}
		}
		want := append(first, rest...)
		for k := range n + 2 {
			dst := make([]algorithms.Bucket, k)
			if got := dst[:r.LookupN(h, dst)]; !slices.Equal(got, want[:min(k, len(want))]) {
				t.Fatalf("LookupN(%d) for %d = %d, want the first of %d", h, k, got, want)
			}
		}
	})
}

func TestWeightsOfWhichNoneIsWorthAPointAreRefused(t *testing.T) {
	layout := func(m *algorithms.Members) (all []points.Point, err error) {
		for b, n := range m.All() {
			for i := range uint64(n.Weight) {
				all = append(all, points.Point{Position: i, Owner: b})
			}
		}
		return all, nil
	}
	for weight, want := range map[float64]string{1: "", 0.5: `the weight of node "b" is too small for a single point`} {
		members, err := algorithms.NewMembers([]algorithms.Node{{Name: "a"}, {Name: "b", Weight: weight}, {Name: "c", Weight: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = points.New(members, points.Circle{}, layout)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("weight %v: error %v, want %q", weight, err, want)
		}
	}
}
