package results

import (
	"fmt"
	"strconv"
)

// A Direction says which way a metric is better.
type Direction int

const (
	Neither Direction = iota // describes, does not judge
	Lower
	Higher
)

// String returns "lower", "higher" or "neither".
func (d Direction) String() string {
	switch d {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	}
	return "neither"
}

// A Kind says how far a metric can be trusted to repeat, and so how two runs
// are compared.
type Kind int

const (
	// Computed metrics are exact: the same seed gives the same value on every
	// machine, and they are compared with equality.
	Computed Kind = iota

	// Timed metrics come from a clock. They differ from reading to reading and
	// from machine to machine, and only runs of one machine compare.
	Timed

	// Heap metrics are read from the allocator. They are compared within 1%.
	Heap
)

// String returns "exact", "timed" or "heap".
func (k Kind) String() string {
	switch k {
	case Timed:
		return "timed"
	case Heap:
		return "heap"
	}
	return "exact"
}

// A Metric is one thing that can be measured. Its entry in [Metrics] is all
// that tables, axes and comparisons know about it.
type Metric struct {
	Name    string    // as in Trial.Values
	Unit    string    // "ns", "bytes", "fraction" of 1, "x fair" (multiple of the fair share), "count", ...
	Better  Direction // which way is better
	Kind    Kind      // how it repeats
	Label   string    // plain words for an axis or a column
	Meaning string    // one line of plain words
}

// Metrics is the table of all metrics, in the order in which reports show them.
// It must not be changed.
var Metrics = []Metric{
	{"lookup-ns", "ns", Lower, Timed, "ns per lookup", "time of one lookup of a key that is hashed already, when lookups do not wait for each other"},
	{"batch-lookup-ns", "ns", Lower, Timed, "ns per key in a batch", "time of one key when many are looked up in one call"},
	{"latency-ns", "ns", Lower, Timed, "ns per lookup, one after the other", "time of one lookup when each needs the answer of the one before"},
	{"key-lookup-ns", "ns", Lower, Timed, "ns from string to node", "time from a string key to its node, hashing included"},
	{"parallel-lookup-ns", "ns", Lower, Timed, "ns per lookup, all cores", "wall time over lookups when all cores look up at once"},
	{"assign-ns", "ns", Lower, Timed, "ns to place and release", "time to place one request under a load bound and to release it again"},
	{"build-ns", "ns", Lower, Timed, "ns to build", "time to build the structure over all nodes"},
	{"add-ns", "ns", Lower, Timed, "ns to add a node", "time to take in one more node"},
	{"remove-ns", "ns", Lower, Timed, "ns to remove a node", "time to let go of one node"},

	{"memory-bytes", "bytes", Lower, Heap, "heap bytes", "heap that the built structure holds, measured"},
	{"allocs-per-lookup", "count", Lower, Computed, "allocations per lookup", "heap allocations in one lookup"},
	{"bytes-per-lookup", "bytes", Lower, Computed, "bytes allocated per lookup", "heap bytes allocated in one lookup"},
	{"footprint-bytes", "bytes", Lower, Computed, "bytes of the structure", "bytes of the structure, counted from its lengths"},

	{"balance-cv", "fraction", Lower, Computed, "stddev/mean of keys per node", "spread of the keys over the nodes: standard deviation over mean, adjusted for weights"},
	{"balance-peak", "x fair", Lower, Computed, "busiest node (1.00 = fair)", "keys of the fullest node as a multiple of its fair share"},
	{"balance-min", "x fair", Higher, Computed, "idlest node (1.00 = fair)", "keys of the emptiest node as a multiple of its fair share"},
	{"share-cv", "fraction", Lower, Computed, "stddev/mean of shares", "spread of the exact shares of the hash space: standard deviation over mean, adjusted for weights"},
	{"share-peak", "x fair", Lower, Computed, "largest share (1.00 = fair)", "exact share of the hash space of the largest owner as a multiple of its fair share"},
	{"expected-cv", "fraction", Neither, Computed, "stddev/mean that chance explains", "spread of shares or keys that theory expects over the user's own nodes and weights"},
	{"load-cv", "fraction", Lower, Computed, "stddev/mean of requests per node", "spread of the requests over the nodes: standard deviation over mean, adjusted for weights"},
	{"load-peak", "x fair", Lower, Computed, "busiest node by requests (1.00 = fair)", "requests of the busiest node as a multiple of its fair share"},
	{"weight-error", "fraction", Lower, Computed, "largest miss of a weight", "largest relative difference between a node's share and what its weight asks for"},
	{"point-collisions", "count", Lower, Computed, "points that collide", "points that fall on a position that is taken already"},

	{"moved-fraction", "fraction", Lower, Computed, "keys moved", "part of the keys that change their node"},
	{"moved-load-fraction", "fraction", Lower, Computed, "requests moved", "part of the requests whose key changes its node"},
	{"moved-minimum", "fraction", Neither, Computed, "keys that must move", "part of the keys that any algorithm has to move to follow the weights"},
	{"disruption", "fraction", Lower, Computed, "keys moved beyond need", "part of the keys that move without need: moved less the minimum"},
	{"collateral-fraction", "fraction", Lower, Computed, "keys moved between nodes that stay", "part of the keys that move between two nodes that are there before and after"},
	{"ranges-moved", "count", Neither, Computed, "ranges moved", "separate stretches of the hash space that change their owner"},
	{"monotonicity-violations", "count", Lower, Computed, "keys moved the wrong way", "keys, or ranges of the hash space where shares are compared, that move to an old node when one joins or away from one that stays when one leaves"},
	{"failover-peak", "fraction", Lower, Computed, "most that one survivor takes over", "largest part of a removed node's keys that goes to one single survivor"},
	{"view-disagreement", "fraction", Lower, Computed, "keys that two views place apart", "part of the keys on which two clients with different member lists disagree"},
	{"view-disagreement-load", "fraction", Lower, Computed, "requests that two views place apart", "part of the requests on whose key two clients with different member lists disagree"},
	{"stickiness-lost", "fraction", Lower, Computed, "requests that leave their node", "part of the requests that go elsewhere than the request before for the same key"},

	{"replica-moved-fraction", "fraction", Lower, Computed, "replicas moved", "part of all replicas that have to be copied to another node"},
	{"replica-moved-minimum", "fraction", Neither, Computed, "replicas that must move", "part of all replicas that any algorithm has to copy to follow the weights, and the zones where there are"},
	{"replica-collateral-fraction", "fraction", Lower, Computed, "keys copied without need", "part of the keys of which a replica is copied although none was or will be on a node that the change is about"},
	{"replica-failover-peak", "fraction", Lower, Computed, "most that one survivor has to copy", "largest part of a removed node's replicas that one single survivor has to take in"},
	{"replica-balance-cv", "fraction", Lower, Computed, "stddev/mean of replicas per node", "spread of all replicas over the nodes: standard deviation over mean, adjusted for weights, and for zones where there are"},
	{"replica-balance-peak", "x fair", Lower, Computed, "node with most replicas (1.00 = fair)", "replicas on the fullest node as a multiple of its fair share"},
	{"replica-zone-violations", "count", Lower, Computed, "keys with replicas in one zone", "keys that have two replicas in one zone although there are zones enough"},
	{"quorum-exposure", "fraction", Lower, Computed, "sets of nodes that break a quorum", "part of the sets of nodes, each as many as a majority of the replicas, whose joint loss takes some key its majority"},

	{"probes-per-lookup", "count", Lower, Computed, "steps per lookup", "mean number of steps of a lookup, in the unit that the algorithm names"},
	{"spill-fraction", "fraction", Lower, Computed, "requests off their first choice", "part of the requests that a load bound sends on to another node"},
	{"extra-steps", "count", Lower, Computed, "full nodes passed per request", "mean number of full nodes that a request passes before it is placed"},
	{"full-fraction", "fraction", Lower, Computed, "nodes at their bound", "part of the nodes that are full at the end"},
	{"hot-key-nodes", "count", Neither, Computed, "nodes that serve the hottest key", "number of nodes over which the most asked key is spread"},
	{"extra-copies", "count", Lower, Computed, "copies of hot keys", "copies of keys that a remedy keeps beyond the first, each of which a write has to reach"},
	{"cached-fraction", "fraction", Neither, Computed, "requests that clients answer", "part of the requests that clients answer from a copy of their own, which may be old"},
	{"capacity-before", "count", Neither, Computed, "capacity before the change", "most requests that a node may hold before a change of the membership"},
	{"capacity-after", "count", Neither, Computed, "capacity after the change", "most requests that a node may hold after a change of the membership"},
	{"bound-violations", "count", Lower, Computed, "requests over the bound", "requests placed on a node beyond its bound"},

	{"miss-peak", "1/s", Lower, Computed, "most misses in a second", "cache misses a second right after the change, when they are most"},
	{"miss-total", "count", Lower, Computed, "misses in all", "cache misses that the change causes in all"},
}

// metricIndex maps the name of a metric to its place in Metrics.
var metricIndex = func() map[string]int {
	m := make(map[string]int, len(Metrics))
	for i, metric := range Metrics {
		m[metric.Name] = i
	}
	return m
}()

// MetricByName returns the metric with that name.
func MetricByName(name string) (Metric, bool) {
	i, ok := metricIndex[name]
	if !ok {
		return Metric{}, false
	}
	return Metrics[i], true
}

// exactDigits is how many significant digits of an exact value are kept.
const exactDigits = 12

// Exact rounds v to 12 significant digits. Exact metrics are stored so, since
// the mathematical functions of two machines may differ in the last bits.
func Exact(v float64) float64 {
	// Neither can this fail nor overflow: the largest float64 rounds down.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', exactDigits-1, 64), 64)
	return rounded
}

// checkValues refuses names that are not in the table.
func checkValues(values map[string]float64) error {
	for name := range values {
		if _, ok := metricIndex[name]; !ok {
			return fmt.Errorf("value %q is no metric of the table", name)
		}
	}
	return nil
}
