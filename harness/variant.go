package harness

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
)

// A variant is how a contestant hands its nodes to the algorithm, where that is
// not under their names and as they are. Both are mistakes that systems make, and
// are here so that their price can be shown. What they change depends on the whole
// list of nodes, so the structure is built anew at every change.
type variant struct {
	byPosition bool // a node is known by its place in the list, not by its name
	total      int  // points of the whole ring, however many nodes share them; 0 for no such limit
}

// variantOf reads the fields of the contestant.
func variantOf(c *Contestant) (variant, error) {
	v := variant{total: c.Total}
	switch c.Identity {
	case "", "name":
	case "position":
		v.byPosition = true
	default:
		return v, fmt.Errorf("identity %q is unknown, want name or position", c.Identity)
	}
	if c.Total < 0 {
		return v, fmt.Errorf("total = %d, want the number of points of the ring, or 0 for none", c.Total)
	}
	if _, set := c.Params["vnodes"]; set && c.Total > 0 {
		return v, fmt.Errorf("total and vnodes exclude each other, keep one")
	}
	return v, nil
}

// fields returns what the name of a cell says of the variant.
func (v variant) fields() []results.Field {
	var fields []results.Field
	if v.byPosition {
		fields = append(fields, results.Field{Name: "identity", Value: "position"})
	}
	if v.total > 0 {
		fields = append(fields, results.Field{Name: "total", Value: strconv.Itoa(v.total)})
	}
	return fields
}

// of returns the algorithm as the variant uses it.
func (v variant) of(info algorithms.Info) algorithms.Info {
	if v == (variant{}) {
		return info
	}
	build, forecast := info.New, info.Forecast
	info.New = func(nodes []algorithms.Node, params json.RawMessage) (algorithms.Mapper, json.RawMessage, error) {
		params, err := v.params(nodes, params)
		if err != nil {
			return nil, nil, err
		}
		m, inForce, err := build(v.nodes(nodes), params)
		if err != nil {
			return nil, nil, err
		}
		if o, ok := m.(algorithms.Owned); ok {
			return ownedList{fixedList{m}, o}, inForce, nil
		}
		return fixedList{m}, inForce, nil
	}
	info.Forecast = func(nodes []algorithms.Node, params json.RawMessage) (int64, error) {
		params, err := v.params(nodes, params)
		if err != nil {
			return 0, err
		}
		return forecast(v.nodes(nodes), params)
	}
	return info
}

// nodes returns the nodes under the names that the variant knows them by.
func (v variant) nodes(nodes []algorithms.Node) []algorithms.Node {
	if !v.byPosition {
		return nodes
	}
	placed := make([]algorithms.Node, len(nodes))
	for i, n := range nodes {
		placed[i] = n
		placed[i].Name = "place-" + strconv.Itoa(i)
	}
	return placed
}

// params returns the parameters for these nodes. The points of a ring of a fixed
// total are shared out by weight and rounded up, as Envoy does.
func (v variant) params(nodes []algorithms.Node, params json.RawMessage) (json.RawMessage, error) {
	if v.total == 0 {
		return params, nil
	}
	all := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &all); err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
	}
	weight := 0.0
	for _, n := range nodes {
		weight += n.Weight
	}
	all = maps.Clone(all)
	all["vnodes"] = json.RawMessage(strconv.Itoa(int(max(1, math.Ceil(float64(v.total)/weight)))))
	return json.Marshal(all)
}

// A fixedList is a Mapper whose list of nodes does not change: it hides what
// would change it.
type fixedList struct{ algorithms.Mapper }

// An ownedList is a fixedList that tells who owns what.
type ownedList struct {
	fixedList
	owned algorithms.Owned
}

var _ algorithms.Owned = ownedList{}

// Cells are those of the mapper behind it.
func (l ownedList) Cells() (space uint64, cells iter.Seq2[uint64, algorithms.Bucket]) {
	return l.owned.Cells()
}
