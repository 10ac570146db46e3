// Package control holds contestants that measure the harness instead of an
// algorithm: what a lookup would cost if it did next to nothing.
//
// "control" returns a constant, so its time is that of the timing loop and the
// call. "one-read" makes one random read from an array of a given size, so its
// time is the least that any structure of that size can cost. Both stand beside
// the algorithms in the same run as their floors. They name valid buckets and
// promise nothing else.
package control

import "github.com/ringbench/ringbench/algorithms"

// Info is the contestant that returns a constant.
var Info = algorithms.Define("control", "returns bucket 0; measures the harness", Default, New).
	Costing("none", "none").
	Declining(algorithms.Balance, algorithms.Reachable, algorithms.OrderIndependent)

// Config has no parameters.
type Config struct{}

// Default is the Config without parameters.
var Default = Config{}

// A Map gives every key to bucket 0.
type Map struct{ nodes int }

// New returns a Map over the nodes, of which it uses the first.
func New(nodes []algorithms.Node, _ Config) (*Map, error) {
	if err := algorithms.Validate(nodes); err != nil {
		return nil, err
	}
	if nodes[0].Weight == 0 {
		return nil, algorithms.Unsupported("node %q has weight 0, the control gives every key to the first node", nodes[0].Name)
	}
	return &Map{len(nodes)}, nil
}

// Lookup returns bucket 0.
func (m *Map) Lookup(uint64) algorithms.Bucket { return 0 }

// Len returns the number of nodes.
func (m *Map) Len() int { return m.nodes }
