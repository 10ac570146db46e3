// Package live holds placements to runs of the systems that they reproduce. It is
// for tests.
package live

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
)

// Test reads testdata/live.json, rows of a cluster with its keys and the owners
// that the system itself gave them, and compares. A row that names no algorithm is
// of the first. An algorithm with a bound is given the keys as requests, in their
// order, all of which stay.
func Test(t *testing.T, infos ...algorithms.Info) {
	t.Helper()
	data, err := os.ReadFile("testdata/live.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Algorithm string
		Params    json.RawMessage
		Nodes     [][2]any // name and weight
		Keys      []string
		Expected  []string
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, row := range rows {
		var nodes []algorithms.Node
		for _, n := range row.Nodes {
			nodes = append(nodes, algorithms.Node{Name: n[0].(string), Weight: n[1].(float64)})
		}
		info := infos[0]
		for _, other := range infos {
			if other.Name == row.Algorithm {
				info = other
			}
		}
		m, _, err := info.New(nodes, row.Params)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range row.Expected {
			b := m.(algorithms.KeyMapper).LookupKey(row.Keys[i])
			if bounded, ok := m.(algorithms.Assigner); ok {
				b, _ = bounded.Assign(m.(algorithms.KeyHasher).HashKey(row.Keys[i]))
			}
			if got := nodes[b].Name; got != want {
				t.Errorf("%s of %v: key %d, %q, goes to %s, want %s", row.Params, row.Nodes, i, row.Keys[i], got, want)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("testdata/live.json has no owners to compare with")
	}
}
