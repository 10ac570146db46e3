package algorithms_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
)

// contents lists the buckets and nodes of m.
func contents(m *algorithms.Members) map[algorithms.Bucket]algorithms.Node {
	all := map[algorithms.Bucket]algorithms.Node{}
	for b, n := range m.All() {
		all[b] = n
	}
	return all
}

func TestMembersFollowsAModelThroughRandomChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.IntRange(1, 8).Draw(t, "start")
		model := map[algorithms.Bucket]algorithms.Node{}
		var nodes []algorithms.Node
		for i := range start {
			nodes = append(nodes, algorithms.Node{Name: fmt.Sprintf("n%d", i), Weight: 1 + float64(i)})
			model[algorithms.Bucket(i)] = nodes[i]
		}
		m, err := algorithms.NewMembers(nodes)
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.Map(rapid.IntRange(0, 11), func(i int) string { return fmt.Sprintf("n%d", i) })
		bucket := rapid.Map(rapid.IntRange(-2, 12), func(i int) algorithms.Bucket { return algorithms.Bucket(i) })
		weight := rapid.SampledFrom([]float64{0, 0.5, 3, -1, math.NaN(), math.Inf(1)})
		bad := func(w float64) bool { return !(w >= 0) || math.IsInf(w, 1) }

		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := algorithms.Node{Name: name.Draw(t, "name"), Weight: weight.Draw(t, "weight"), Zone: "z"}
				want := algorithms.Bucket(0)
				for _, taken := model[want]; taken; _, taken = model[want] {
					want++
				}
				refuse := bad(n.Weight)
				for _, other := range model {
					refuse = refuse || other.Name == n.Name
				}
				b, err := m.Add(n)
				switch {
				case refuse && (err == nil || b != algorithms.None):
					t.Fatalf("Add(%v) = %d, %v, want an error", n, b, err)
				case !refuse && (err != nil || b != want):
					t.Fatalf("Add(%v) = %d, %v, want the lowest free bucket %d", n, b, err, want)
				case !refuse:
					model[b] = n
				}
			},
			"add to": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				n := algorithms.Node{Name: name.Draw(t, "name"), Weight: weight.Draw(t, "weight"), Zone: "y"}
				_, refuse := model[b]
				refuse = refuse || bad(n.Weight) || b < 0
				for _, other := range model {
					refuse = refuse || other.Name == n.Name
				}
				if err := m.AddTo(b, n); (err != nil) != refuse {
					t.Fatalf("AddTo(%d, %v) gives %v, want an error %v", b, n, err, refuse)
				} else if !refuse {
					model[b] = n
				}
			},
			"remove": func(t *rapid.T) {
				b := bucket.Draw(t, "bucket")
				want, bound := model[b]
				got, err := m.Remove(b)
				if (err == nil) != bound || got != want {
					t.Fatalf("Remove(%d) = %v, %v, want %v, error %v", b, got, err, want, !bound)
				}
				delete(model, b)
			},
			"reweight": func(t *rapid.T) {
				b, w := bucket.Draw(t, "bucket"), weight.Draw(t, "weight")
				n, bound := model[b]
				if err := m.SetWeight(b, w); (err == nil) != (bound && !bad(w)) {
					t.Fatalf("SetWeight(%d, %v) = %v, bound %v", b, w, err, bound)
				} else if err == nil {
					n.Weight = w
					model[b] = n
				}
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(model, contents(m)); diff != "" {
					t.Fatalf("members differ from the model:\n%s", diff)
				}
				top, total := 0, 0.0
				for b, n := range model {
					top = max(top, int(b)+1)
					total += n.Weight
				}
				if m.Len() != len(model) || m.Cap() != top || m.TotalWeight() != total {
					t.Fatalf("Len %d Cap %d TotalWeight %v, want %d %d %v", m.Len(), m.Cap(), m.TotalWeight(), len(model), top, total)
				}
				for b := algorithms.Bucket(-2); b < 14; b++ {
					want, bound := model[b]
					if got, ok := m.Node(b); ok != bound || got != want {
						t.Fatalf("Node(%d) = %v, %v, want %v, %v", b, got, ok, want, bound)
					}
				}
			},
		})
	})
}

func TestMembersYieldsInBucketOrder(t *testing.T) {
	m, err := algorithms.NewMembers(algorithms.Nodes("c", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remove(0); err != nil {
		t.Fatal(err)
	}
	var got []algorithms.Bucket
	for b := range m.All() {
		got = append(got, b)
	}
	if !slices.Equal(got, []algorithms.Bucket{1, 2}) {
		t.Errorf("buckets %v, want 1 2", got)
	}
	for b := range m.All() { // stopping early must be safe
		if b != 1 {
			t.Errorf("first bucket %d", b)
		}
		break
	}
}

func TestMembersErrorsSayWhatWhereAndTheMend(t *testing.T) {
	m, err := algorithms.NewEqualMembers(algorithms.Nodes("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	add := func(n algorithms.Node) error { _, err := m.Add(n); return err }
	remove := func(b algorithms.Bucket) error { _, err := m.Remove(b); return err }
	create := func(nodes ...algorithms.Node) error { _, err := algorithms.NewEqualMembers(nodes); return err }
	tests := []struct {
		err         error
		want        string
		unsupported bool
	}{
		{add(algorithms.Node{Name: "a", Weight: 1}), `node "a" is a member already, in bucket 0, names must differ`, false},
		{add(algorithms.Node{Weight: 1}), `node "": empty node name`, false},
		{add(algorithms.Node{Name: "c", Weight: -1}), `node "c": weight -1, it must be a finite number of 0 or more`, false},
		{add(algorithms.Node{Name: "c", Weight: 2}), `unsupported operation: node "c" has weight 2 and node "a" 1, the weights must be equal`, true},
		{add(algorithms.Node{Name: "c"}), `unsupported operation: node "c" has weight 0, all nodes must own an equal share`, true},
		{remove(2), `bucket 2 is bound to no node, the highest that is bound is 1`, false},
		{m.SetWeight(-1, 1), `bucket -1 is bound to no node, the highest that is bound is 1`, false},
		{m.SetWeight(1, math.Inf(1)), `node "b": weight +Inf, it must be a finite number of 0 or more`, false},
		{m.SetWeight(1, 2), `unsupported operation: node "b" cannot change its weight from 1 to 2, the weights must be equal`, true},
		{new(algorithms.Members).SetWeight(0, 1), `bucket 0 is bound to no node, there are no nodes`, false},
		{create(algorithms.Node{Name: "a", Weight: 1}, algorithms.Node{Name: "b", Weight: 2}), `unsupported operation: node "b" has weight 2 and node "a" 1, the weights must be equal`, true},
		{create(), `no nodes, name at least one`, false},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error %q, want %q", tt.err, tt.want)
		}
		if errors.Is(tt.err, errors.ErrUnsupported) != tt.unsupported {
			t.Errorf("%q wraps ErrUnsupported: %v, want %v", tt.err, !tt.unsupported, tt.unsupported)
		}
	}
	if m.Len() != 2 || m.SetWeight(1, 1) != nil {
		t.Errorf("the refused changes left %v", contents(m))
	}
}
