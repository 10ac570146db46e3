// Package keyhash names the functions that turn a key into the 64-bit hash
// which every Mapper looks up. It answers "how much of this result is the
// hash's doing?": a run can repeat a cell under each of them.
//
// All of them are pure functions of the key's bytes, safe for concurrent use,
// and none allocates. xxh3 is the default. A 32-bit hash h is widened to
// h<<32 | h, which keeps the order and the ties that h has on a ring and leaves
// usable low bits to an algorithm that takes a remainder. For md5 the hash is
// the first 8 bytes of the digest, little-endian.
package keyhash

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// A Hash is a function from keys to 64-bit hashes.
type Hash struct {
	Name string              // as in records and on the command line
	Bits int                 // width of the function before it is widened to 64
	Sum  func(string) uint64 // does not allocate; safe for concurrent use
}

// Default is the hash that is used where none is named.
const Default = "xxh3"

var table = []Hash{
	{"xxh3", 64, xxh3.HashString},
	{"xxh64", 64, xxhash.Sum64String},
	{"md5", 128, sumMD5},
	{"crc32", 32, sumCRC32},
	{"fnv1a-32", 32, sumFNV1a32},
	{"fnv1a-64", 64, sumFNV1a64},
	{"fnv1-64", 64, sumFNV164},
}

// All returns the hashes, the default first.
func All() []Hash { return slices.Clone(table) }

// ByName returns the hash of that name. The error for an unknown name suggests
// the nearest one.
func ByName(name string) (Hash, error) {
	var known []string
	for _, h := range table {
		if h.Name == name {
			return h, nil
		}
		known = append(known, h.Name)
	}
	return Hash{}, fmt.Errorf("unknown hash %q, %s", name, algorithms.Nearest(name, known))
}

// view returns the bytes of s without copying them. They must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func widen(h uint32) uint64 { return uint64(h)<<32 | uint64(h) }

func sumMD5(key string) uint64 {
	digest := md5.Sum(view(key))
	return binary.LittleEndian.Uint64(digest[:8])
}

func sumCRC32(key string) uint64 { return widen(crc32.ChecksumIEEE(view(key))) }

// The offsets and primes of FNV are those of its reference page,
// http://www.isthe.com/chongo/tech/comp/fnv/.
const (
	fnvOffset32 = 2166136261
	fnvPrime32  = 16777619
	fnvOffset64 = 14695981039346656037
	fnvPrime64  = 1099511628211
)

func sumFNV1a32(key string) uint64 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * fnvPrime32
	}
	return widen(h)
}

func sumFNV1a64(key string) uint64 {
	h := uint64(fnvOffset64)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * fnvPrime64
	}
	return h
}

func sumFNV164(key string) uint64 {
	h := uint64(fnvOffset64)
	for i := range len(key) {
		h = h*fnvPrime64 ^ uint64(key[i])
	}
	return h
}
