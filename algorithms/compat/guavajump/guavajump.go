// Package guavajump places keys as Hashing.consistentHash of Guava does (Guava 33),
// which is the jump hash of package jump in another arithmetic.
//
//   - Nodes: buckets from 0, in the order in which they are listed. Guava knows no
//     names.
//   - Key: its hash by hash_function, as HashCode.padToLong has it: the first eight
//     bytes, the least first, zeros where there are fewer. The hash seeds the
//     linear congruential generator of the paper.
//   - Rule: from bucket b the key jumps to the whole part of (b+1)/x, x being the
//     next draw as a number up to 1, as long as that is a bucket. The division is
//     rounded once, where the paper rounds a quotient and a product, so that some
//     keys go elsewhere: from bucket 48 a draw of 49/64 leads to 64, in the paper to
//     63. And the draw of 1 is taken for -1, by an overflow of int, which ends the
//     walk.
//   - Weights: none.
//   - A change: a node that joins comes last and takes an even part of the keys of
//     every other. Only the last can leave; to drop another from the list is to
//     give all after it new numbers.
//
// Guava leaves the choice of the hash function to its callers; Murmur3 of 128 bits
// is the default here. Names of functions are those of the methods of Hashing.
package guavajump

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/dgryski/go-farm"
	"github.com/twmb/murmur3"

	"github.com/ringbench/ringbench/algorithms"
)

// Info describes Guava's jump hash. A node is known by its place in the list.
var Info = algorithms.Define("guava-jump", "Guava 33, Hashing.consistentHash", Default, New).
	Costing("O(log n), H_n draws", "none").
	Declining(algorithms.OrderIndependent, algorithms.Inherits)

// Config sets the hash of the keys.
type Config struct {
	HashFunction string `json:"hash_function"` // a method of Hashing
}

// Default is Murmur3, the function that Guava's documents use most.
var Default = Config{HashFunction: "murmur3_128"}

// functions are those of Hashing, each as padToLong has it.
var functions = []struct {
	name string
	sum  func(key []byte) uint64
}{
	{"murmur3_128", func(key []byte) uint64 { first, _ := murmur3.Sum128(key); return first }},
	{"murmur3_32_fixed", func(key []byte) uint64 { return uint64(murmur3.Sum32(key)) }},
	{"sipHash24", func(key []byte) uint64 { return siphash.Hash(0x0706050403020100, 0x0f0e0d0c0b0a0908, key) }},
	{"farmHashFingerprint64", farm.Fingerprint64},
	{"md5", func(key []byte) uint64 { digest := md5.Sum(key); return binary.LittleEndian.Uint64(digest[:]) }},
	{"sha1", func(key []byte) uint64 { digest := sha1.Sum(key); return binary.LittleEndian.Uint64(digest[:]) }},
	{"sha256", func(key []byte) uint64 { digest := sha256.Sum256(key); return binary.LittleEndian.Uint64(digest[:]) }},
	{"sha512", func(key []byte) uint64 { digest := sha512.Sum512(key); return binary.LittleEndian.Uint64(digest[:]) }},
	{"crc32", func(key []byte) uint64 { return uint64(crc32.ChecksumIEEE(key)) }},
	{"crc32c", func(key []byte) uint64 { return uint64(crc32.Checksum(key, castagnoli)) }},
	{"adler32", func(key []byte) uint64 { return uint64(adler32.Checksum(key)) }},
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Map is the list of nodes. Its buckets are those of Guava.
type Map struct {
	members *algorithms.Members
	sum     func(key []byte) uint64
}

var (
	_ algorithms.KeyMapper   = (*Map)(nil)
	_ algorithms.Adder       = (*Map)(nil)
	_ algorithms.LastRemover = (*Map)(nil)
	_ algorithms.Replicator  = (*Map)(nil)
	_ algorithms.Sizer       = (*Map)(nil)
)

// New returns a Map over the nodes, whose weights must be equal.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	m := &Map{}
	var known []string
	for _, f := range functions {
		if known = append(known, f.name); f.name == c.HashFunction {
			m.sum = f.sum
		}
	}
	if m.sum == nil {
		return nil, fmt.Errorf("hash_function %q is not known, %s", c.HashFunction, algorithms.Nearest(c.HashFunction, known))
	}
	var err error
	m.members, err = algorithms.NewEqualMembers(nodes)
	return m, err
}

// Lookup returns the bucket that the hash jumps to.
func (m *Map) Lookup(h uint64) algorithms.Bucket { return bucket(h, m.members.Len()) }

// Divisor says that a hash is taken as a number: padToLong puts zeros above one of
// 32 bits.
func (m *Map) Divisor() (divisor uint64, number bool) { return 0, true }

// bucket walks the draws of h until one leads out of the buckets.
func bucket(h uint64, buckets int) algorithms.Bucket {
	if buckets == 0 {
		return algorithms.None
	}
	limit := float64(buckets)
	candidate := 0.0
	for {
		h = h*2862933555777941757 + 1
		draw := float64(int32(h>>33)+1) / (1 << 31) // the int32 overflows as that of Java
		next := (candidate + 1) / draw
		if next < 0 || next >= limit {
			return algorithms.Bucket(candidate)
		}
		candidate = float64(int32(next))
	}
}

// HashKey returns the hash of the key.
func (m *Map) HashKey(key string) uint64 {
	// The bytes are read only.
	return m.sum(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// LookupKey returns the bucket of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }

// LookupN chooses the buckets of h and of the draws after it. Guava itself has no
// replicas.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	c := m.members.Choose(dst)
	return c.Redrawn(h, m.Lookup)
}

// Add gives the node the bucket after the last.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) { return m.members.Add(n) }

// RemoveLast removes the node of the last bucket.
func (m *Map) RemoveLast() (algorithms.Bucket, error) {
	last := algorithms.Bucket(m.members.Len() - 1)
	_, err := m.members.Remove(last)
	return last, err
}

// Len returns the number of nodes.
func (m *Map) Len() int { return m.members.Len() }

// Footprint returns 0: a lookup needs the number of nodes and no more.
func (m *Map) Footprint() int64 { return 0 }
