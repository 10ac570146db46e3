// Package algorithms is the contract that every way of spreading keys over
// nodes keeps: the two methods all of them have, and the abilities that some
// have beyond those, each a small interface of its own.
//
// The method set of a type is the only source of truth about what it can do.
// An algorithm that cannot add a node has no Add method; a caller asks with a
// type assertion. What a method cannot do for certain arguments (unequal
// weights for jump, say) it answers with an error that wraps
// [errors.ErrUnsupported]; a run records that as a skip with its reason.
//
// Each algorithm lives in a folder of its own below this one and is usable as a
// plain library:
//
//	m, err := ring.New(algorithms.Nodes("a", "b", "c"), ring.Default)
//	bucket := m.Lookup(xxh3.HashString("user:42"))
//
// The harness sees an algorithm through its [Info], made by [Define]; the
// package builtin lists them all. This package imports none of its children.
//
// # Concurrency
//
// Lookup, LookupN, LookupKey, HashKey, Divisor, LookupBatch, LookupProbes, Len,
// Footprint and Cells may be called by any number of goroutines at once as long as
// no method that changes the membership runs at the same time. Add, Remove, RemoveLast,
// SetWeight, Assign and Release need exclusive use, unless a type says that it
// offers more.
package algorithms

import "iter"

// A Bucket names a node inside one Mapper. New gives nodes[i] the bucket i; a
// bucket stays bound to its node until that node is removed, and may be given to
// another node afterwards.
type Bucket int32

// None is the answer of a Mapper that has no node to name.
const None Bucket = -1

// A Node is a member of the cluster.
type Node struct {
	Name   string
	Weight float64 // relative share of the keys, >= 0; 0 owns nothing
	Zone   string  // rack or availability zone; "" when unknown
}

// Nodes returns a node of weight 1 for each name.
func Nodes(names ...string) []Node {
	nodes := make([]Node, len(names))
	for i, name := range names {
		nodes[i] = Node{Name: name, Weight: 1}
	}
	return nodes
}

// A Mapper maps the hash of a key to a bucket.
type Mapper interface {
	// Lookup returns the bucket that owns the key whose 64-bit hash is h, or
	// None when no node can own it. The same h gives the same bucket until the
	// membership changes. A hash of 32 bits stands in both halves of h, unless
	// the Mapper is a [NumberMapper]. It does not allocate.
	Lookup(h uint64) Bucket

	// Len returns the number of nodes, those of weight 0 included.
	Len() int
}

// An Adder can take in a node.
type Adder interface {
	// Add adds the node and returns the bucket it is bound to. A name that is
	// already a member is an error, and nothing changes.
	Add(Node) (Bucket, error)
}

// A Remover can let go of any node.
type Remover interface {
	// Remove removes the node bound to the bucket. A bucket that is bound to no
	// node is an error, and nothing changes.
	Remove(Bucket) error
}

// A LastRemover can let go only of the node added last.
type LastRemover interface {
	// RemoveLast removes the node with the highest bucket and returns that
	// bucket; on an empty Mapper it is an error.
	RemoveLast() (Bucket, error)
}

// A Reweighter can change the weight of a member.
type Reweighter interface {
	// SetWeight sets the weight of the node bound to the bucket. An unbound
	// bucket and a weight that is negative, NaN or infinite are errors.
	SetWeight(Bucket, float64) error
}

// A Replicator can name several nodes for one key. Those of a key that a
// [KeyMapper] hashes are LookupN(HashKey(key), dst), see [KeyHasher].
type Replicator interface {
	// LookupN writes distinct buckets for h to dst, the owner first, in order of
	// preference, and returns how many it wrote: len(dst), or fewer when there
	// are not enough nodes that can own a key. Where nodes name zones, those
	// first in their zones come before all others, so that as many zones as
	// there are, up to len(dst), hold a replica; [Choice] picks by this rule. It
	// does not allocate. A longer answer for h begins with the shorter one.
	LookupN(h uint64, dst []Bucket) int
}

// A KeyMapper hashes keys its own way, as the system it reproduces does.
type KeyMapper interface {
	LookupKey(key string) Bucket
}

// A KeyHasher is a KeyMapper that tells its hash.
type KeyHasher interface {
	// HashKey returns the hash at which Lookup, and LookupN if there is one, say
	// what belongs to the key: LookupKey(key) is Lookup(HashKey(key)). A hash of
	// 32 bits has the form that Lookup takes. It does not allocate.
	HashKey(key string) uint64
}

// A NumberMapper can take the hash of a key as the number that it is, where others
// take it as a position on a circle of 2^64. That tells how a hash of 32 bits
// becomes 64: as a number it is itself, with 32 zero bits above.
type NumberMapper interface {
	// Divisor reports whether Lookup takes the hash as a number, which does not
	// depend on the members, and what Lookup divides that number by to use the
	// remainder: the count of nodes, slots or positions, or 0 when it does not
	// divide or is empty.
	Divisor() (divisor uint64, number bool)
}

// TakesNumber reports whether the Mapper is a [NumberMapper] and takes hashes as
// numbers.
func TakesNumber(m Mapper) bool {
	if n, ok := m.(NumberMapper); ok {
		_, number := n.Divisor()
		return number
	}
	return false
}

// Widen returns the position of a hash of 32 bits on a circle of 2^64: the hash in
// both halves, so that order and ties stay and bits at both ends are filled. On a
// circle of 2^32 it stands at h, which is its remainder.
func Widen(h uint32) uint64 { return uint64(h)<<32 | uint64(h) }

// A BatchMapper answers many lookups at once, faster than one by one.
type BatchMapper interface {
	// LookupBatch sets dst[i] to Lookup(hs[i]) for all i < len(hs); dst must be
	// at least as long as hs.
	LookupBatch(hs []uint64, dst []Bucket)
}

// An Assigner places requests under a bound on the load of a node, and so has
// state. Its Lookup is the first choice, which ignores load.
type Assigner interface {
	// Assign places one request for the key with hash h. It returns the bucket,
	// and whether that is the key's first choice. None means that no node may
	// take the request.
	Assign(h uint64) (Bucket, bool)

	// Release ends one request that Assign placed on the bucket.
	Release(Bucket)
}

// A StepAssigner is an Assigner that tells the work of an assignment.
type StepAssigner interface {
	// AssignSteps is Assign, with the number of full nodes that it passed on the
	// way instead of whether it stayed at the first choice.
	AssignSteps(h uint64) (b Bucket, steps int)
}

// A Loader is an Assigner that tells how full a node is.
type Loader interface {
	// Load returns the requests placed on the bucket and not yet released, and
	// the most that it may hold at this moment.
	Load(Bucket) (load, capacity int)
}

// A Prober tells the work of a lookup.
type Prober interface {
	// LookupProbes is Lookup, with the number of steps it took, in the unit that
	// the algorithm's package comment names.
	LookupProbes(h uint64) (Bucket, int)
}

// A Sizer tells the size of its structure.
type Sizer interface {
	// Footprint returns the bytes that the structure holds for its lookups,
	// computed from its lengths, so that it is the same on every machine.
	Footprint() int64
}

// A HotSizer knows that lookups read at random in a part of its structure only: one
// that keeps beside it what changes or ties ask for. Where a Sizer is no HotSizer,
// that part is taken to be all of the footprint.
type HotSizer interface {
	// HotBytes returns the bytes of that part: at most those of the footprint.
	HotBytes() int64
}

// A Sharer tells what part of the keys each node owns where the owners of the hash
// space cannot be listed as for an [Owned] Mapper.
type Sharer interface {
	// Shares returns, by bucket, the part of the keys that it owns: the chance
	// that Lookup names it for a hash drawn at random. It is computed, not
	// sampled. Unbound buckets own 0; an empty Mapper may return none.
	Shares() []float64
}

// An Owned Mapper can list who owns what, exactly. Shares, movement and
// disagreement between views are derived from it without sampling.
type Owned interface {
	// Cells returns the owners in hash order. Each cell is named by its last
	// position: it covers everything after the cell before it up to and with
	// that position. The last cell ends at space-1. A space of 0 means 2^64;
	// any other value is the number of positions, and a hash h stands at the
	// position h mod space. An empty Mapper has no cells.
	Cells() (space uint64, cells iter.Seq2[uint64, Bucket])
}
