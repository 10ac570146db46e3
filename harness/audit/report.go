package audit

// A Report is what there is to say of an assignment. Its JSON is the output of the
// command. A figure that does not apply is null. With two files all but the
// movement is about the later one, and Before about the earlier.
type Report struct {
	Keys     int      `json:"keys"`  // distinct
	Nodes    int      `json:"nodes"` // those that own nothing included, where they are known
	Requests float64  `json:"requests"`
	Bytes    *float64 `json:"bytes,omitempty"`

	CV        *float64 `json:"cv"`              // of the keys per node, standard deviation over mean, adjusted for weights
	Peak      *float64 `json:"peak_to_average"` // of the keys
	Min       *float64 `json:"min_to_average"`
	CVFloor   *float64 `json:"cv_floor"` // what as many keys show under a perfect placement
	Chi2P     *float64 `json:"chi2_p"`   // chance of a spread at least as wide under a perfect placement
	LoadCV    *float64 `json:"load_cv"`  // of the requests per node
	LoadPeak  *float64 `json:"load_peak"`
	BytesCV   *float64 `json:"bytes_cv,omitempty"`
	BytesPeak *float64 `json:"bytes_peak,omitempty"`

	Moves
	Joined  []string  `json:"joined"`
	Left    []string  `json:"left"`
	Nothing []string  `json:"own_nothing"`      // nodes of the list that own no key though their weight is above 0
	Before  *Standing `json:"before,omitempty"` // the earlier file

	Why     Why      `json:"why"`
	HotKeys []HotKey `json:"hot_keys"`
	Split   *Split   `json:"keys_on_several_nodes,omitempty"`
	PerNode []Node   `json:"per_node"`
}

// A Standing is how even an assignment is.
type Standing struct {
	Keys     int      `json:"keys"`
	Nodes    int      `json:"nodes"`
	Requests float64  `json:"requests"`
	CV       *float64 `json:"cv"`
	Peak     *float64 `json:"peak_to_average"`
	LoadCV   *float64 `json:"load_cv"`
	LoadPeak *float64 `json:"load_peak"`
	Split    *Split   `json:"keys_on_several_nodes,omitempty"`
}

// Moves tells what happened to the keys that are in both files. All parts are of
// those, and null without an earlier file.
type Moves struct {
	Common     int      `json:"keys_in_both"`
	Gone       int      `json:"keys_gone"` // in the earlier file alone
	New        int      `json:"keys_new"`  // in the later file alone
	Moved      *float64 `json:"moved_fraction"`
	MovedLoad  *float64 `json:"moved_load_fraction"` // by the requests that the earlier file tells
	Minimum    *float64 `json:"moved_minimum"`
	Disruption *float64 `json:"disruption"`
	Collateral *float64 `json:"collateral_fraction"`
	Failover   *float64 `json:"failover_peak"` // largest part of a leaver's keys that one node took
	Flows      []Flow   `json:"flows"`         // largest first
}

// A Flow is the keys that went from one node to another.
type Flow struct {
	From  string  `json:"from"`
	To    string  `json:"to"`
	Keys  int     `json:"keys"`
	Share float64 `json:"share"` // of the keys in both files
}

// A Cause is what a spread of the keys looks like.
type Cause string

const (
	Chance     Cause = "chance"      // as wide as a perfect placement of so many keys
	TooEven    Cause = "dealt"       // narrower: the keys are dealt out, not hashed
	FewVNodes  Cause = "vnodes"      // like a ring of so many vnodes
	WeakHash   Cause = "hash"        // as no ring of random points spreads them
	SingleNode Cause = "single-node" // nothing to compare
)

// Why parts the spread by its causes. The squares of the three parts of the
// requests' spread add up to the square of what is expected.
type Why struct {
	Cause      Cause    `json:"cause"`       // of the keys' spread
	VNodes     *float64 `json:"vnodes"`      // that a ring with this spread has for each unit of weight; null unless it looks like one
	VNodesLow  *float64 `json:"vnodes_low"`  // from where, and
	VNodesHigh *float64 `json:"vnodes_high"` // to where, 9 in 10 such rings are
	Outlier    string   `json:"outlier,omitempty"`

	Placement *float64 `json:"placement_cv"`   // spread of the keys beyond chance
	Sampling  *float64 `json:"sampling_cv"`    // from there being so few keys
	Weights   *float64 `json:"key_weights_cv"` // from some being asked for more than others
	Expected  *float64 `json:"expected_load_cv"`
	HotKeys   bool     `json:"hot_keys"`  // the third part is the largest
	HotFloor  *float64 `json:"hot_floor"` // what the hottest key alone makes of the node that bears it best, 1 = fair
}

// A HotKey is one of the keys that are asked for most.
type HotKey struct {
	Key      string  `json:"key"`
	Node     string  `json:"node"`
	Requests float64 `json:"requests"`
	Part     float64 `json:"part"`       // of all requests
	Fair     float64 `json:"fair_share"` // the same as a multiple of the fair share of its node
}

// Split tells of keys that rows put on more than one node. Such a key counts as
// one of the node that is named first; its requests count where they are.
type Split struct {
	Keys  int    `json:"keys"`
	Line  int64  `json:"line"` // that shows the first of them
	Key   string `json:"key"`
	Here  string `json:"node"`
	First string `json:"first_node"`
}

// A Node is one row of the table of nodes.
type Node struct {
	Node     string   `json:"node"`
	Keys     int      `json:"keys"`
	Requests float64  `json:"requests"`
	Bytes    *float64 `json:"bytes,omitempty"`
	Share    float64  `json:"share"` // of the keys
	Weight   float64  `json:"weight"`
}
