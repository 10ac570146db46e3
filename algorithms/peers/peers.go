// Package peers puts public Go libraries beside the built-in algorithms: the same
// keys, the same nodes, one run. It is a module of its own, so that nobody who uses
// ringbench inherits them, and the example of how another module competes: its
// command is one line over cli.Main.
//
//	make peers
//
// An adapter is thin and mends nothing. A membership change that a library takes,
// passes over, answers with a panic or never ends, does the same here; what that
// breaks of the contract, the command faults tells by the name of the fault. A
// change counts as refused where the library returns an error or leaves everything
// as it was on purpose.
//
// # Keys
//
// All but go-jump hash the keys themselves, so the measure that is common to all is
// key-lookup-ns, from the string to the node. They have no other entrance; Lookup
// asks for the key of the 8 bytes of the hash, in little-endian order.
//
// # Answers
//
// Most libraries answer with the name that they were given. A map from there to
// the bucket would be counted against them, so the bucket is written in front of
// the name's bytes (see tagged) and costs one read, of a line that whoever uses the
// answer reads as well.
package peers

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
)

// All returns the libraries in the order in which they are shown.
func All() []algorithms.Info {
	return []algorithms.Info{
		goJump,
		goRendezvous,
		groupcache,
		hashring,
		stathat,
		maglevTable,
		partitions,
	}
}

// Vnodes is the Config of the rings.
type Vnodes struct {
	VNodes int `json:"vnodes"` // points of a node, at least 1
}

// ring describes a library that scatters points, as many as the built-in ring.
func ring[M algorithms.Mapper](name, ref string, build func([]algorithms.Node, Vnodes) (M, error)) algorithms.Info {
	usual := Vnodes{160}
	info := algorithms.Define(name, ref, usual, func(nodes []algorithms.Node, c Vnodes) (M, error) {
		if c.VNodes < 1 {
			var none M
			return none, fmt.Errorf("vnodes %d, a node needs at least 1 point", c.VNodes)
		}
		return build(nodes, c)
	}).Declining(algorithms.Balance).Tuned("vnodes")
	info.PointCounts = func(nodes []algorithms.Node, params json.RawMessage) ([]int, error) {
		c := usual
		if params != nil {
			if err := json.Unmarshal(params, &c); err != nil {
				return nil, err
			}
		}
		counts := make([]int, len(nodes))
		for i, n := range nodes {
			counts[i] = c.points(n.Weight)
		}
		return counts, nil
	}
	return info
}

// points returns the points of a node as a user of a library would count them.
func (c Vnodes) points(weight float64) int { return int(math.Round(float64(c.VNodes) * weight)) }

// A roster says which bucket is bound to which name. It checks nothing: whether a
// change makes sense is for the library to say.
type roster struct {
	names  []string // by bucket, those that have left too
	bound  []bool
	weight float64 // of every node, for a library without weights
}

// errIgnored says that a library passed a change over.
var errIgnored = errors.New("it is passed over without an error")

// errWeights refuses nodes of unequal weight, which a library cannot be told.
func errWeights() error { return algorithms.Unsupported("it knows no weights") }

// newRoster binds nodes[i] to bucket i.
func newRoster(nodes []algorithms.Node) roster {
	r := roster{weight: nodes[0].Weight}
	for i, n := range nodes {
		r.names = append(r.names, tagged(n.Name, algorithms.Bucket(i)))
		r.bound = append(r.bound, true)
	}
	return r
}

// equal is newRoster for a library without weights.
func equal(nodes []algorithms.Node) (roster, error) {
	if !algorithms.EqualWeights(nodes) {
		return roster{}, errWeights()
	}
	return newRoster(nodes), nil
}

// next returns the bucket that the next node will have, and its name with that
// bucket in front.
func (r *roster) next(n algorithms.Node) (algorithms.Bucket, string) {
	i := slices.Index(r.bound, false)
	if i < 0 {
		i = len(r.bound)
	}
	return algorithms.Bucket(i), tagged(n.Name, algorithms.Bucket(i))
}

// bind binds the bucket that next gave.
func (r *roster) bind(b algorithms.Bucket, name string) {
	if int(b) == len(r.names) {
		r.names, r.bound = append(r.names, ""), append(r.bound, false)
	}
	r.names[b], r.bound[b] = name, true
}

// leaving returns the name by which a library is asked to let go of the bucket:
// that of the node which has or had it, and of none for one never bound.
func (r *roster) leaving(b algorithms.Bucket) string {
	if b < 0 || int(b) >= len(r.names) {
		return tagged("a node that never was", b)
	}
	return r.names[b]
}

// unbind notes that the node has left.
func (r *roster) unbind(b algorithms.Bucket) {
	if b >= 0 && int(b) < len(r.bound) {
		r.bound[b] = false
	}
}

// tagged returns the name in memory of its own, in front of which stands the
// bucket.
func tagged(name string, b algorithms.Bucket) string {
	text := make([]byte, 4+len(name))
	binary.LittleEndian.PutUint32(text, uint32(b))
	copy(text[4:], name)
	return unsafe.String(unsafe.SliceData(text[4:]), len(name))
}

// bucketOf returns the bucket in front of a name that tagged made and a library
// gave back; None for the empty answer.
func bucketOf(name string) algorithms.Bucket {
	if name == "" {
		return algorithms.None
	}
	tag := (*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(name)), -4))
	return algorithms.Bucket(int32(binary.LittleEndian.Uint32(tag[:])))
}

// keys holds the bytes of keys that stand for hashes: a key on the stack would be
// moved to the heap for a library that hashes with a function it is given.
var keys = sync.Pool{New: func() any { return new([8]byte) }}

// lookup asks for the key that stands for the hash.
func lookup(m algorithms.KeyMapper, h uint64) algorithms.Bucket {
	bytes := keys.Get().(*[8]byte)
	binary.LittleEndian.PutUint64(bytes[:], h)
	b := m.LookupKey(unsafe.String(&bytes[0], len(bytes)))
	keys.Put(bytes)
	return b
}
