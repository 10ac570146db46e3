// Package keyhash names the functions that turn a key into the 64-bit hash
// which every Mapper looks up. It answers "how much of this result is the
// hash's doing?": a run can repeat a cell under each of them.
//
// All of them are pure functions of the key's bytes, safe for concurrent use,
// and none allocates. xxh3 is the default. How a function of another width
// becomes 64 bits:
//
//   - A 32-bit hash h is widened to h<<32 | h, which keeps the order and the ties
//     that h has on a ring and leaves usable low bits to an algorithm that takes a
//     remainder.
//   - Of md5 and sha1 the hash is the first 8 bytes of the digest, little-endian.
//   - Of murmur3 it is the first half of MurmurHash3_x64_128 with seed 0.
//
// What the other names stand for: siphash is SipHash-2-4 under a key of 16 zero
// bytes; farm is FarmHash's Fingerprint64, the one of that family that stays the
// same in every version and on every machine; crc32 has the IEEE polynomial and
// crc32c Castagnoli's; java is String.hashCode; djb2 is Bernstein's h*33 + c.
//
// The last two and the FNV family are here because systems use them, not because
// they are good: they are linear, or nearly, in the last characters of the key,
// so that similar names stay close together.
package keyhash

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/dchest/siphash"
	"github.com/dgryski/go-farm"
	"github.com/twmb/murmur3"
	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// A Hash is a function from keys to 64-bit hashes.
type Hash struct {
	Name string              // as in records and on the command line
	Bits int                 // width of the function before it becomes 64
	Sum  func(string) uint64 // does not allocate; safe for concurrent use
}

// Default is the hash that is used where none is named.
const Default = "xxh3"

var table = []Hash{
	{"xxh3", 64, xxh3.HashString},
	{"xxh64", 64, xxhash.Sum64String},
	{"md5", 128, sumMD5},
	{"sha1", 160, sumSHA1},
	{"crc32", 32, sumCRC32},
	{"crc32c", 32, sumCRC32C},
	{"fnv1a-32", 32, sumFNV1a32},
	{"fnv1a-64", 64, sumFNV1a64},
	{"fnv1-32", 32, sumFNV132},
	{"fnv1-64", 64, sumFNV164},
	{"murmur3", 128, sumMurmur3},
	{"siphash", 64, sumSipHash},
	{"farm", 64, sumFarm},
	{"java", 32, sumJava},
	{"djb2", 32, sumDJB2},
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

func sumSHA1(key string) uint64 {
	digest := sha1.Sum(view(key))
	return binary.LittleEndian.Uint64(digest[:8])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumCRC32(key string) uint64  { return widen(crc32.ChecksumIEEE(view(key))) }
func sumCRC32C(key string) uint64 { return widen(crc32.Checksum(view(key), castagnoli)) }

func sumMurmur3(key string) uint64 {
	half, _ := murmur3.StringSum128(key)
	return half
}

func sumSipHash(key string) uint64 { return siphash.Hash(0, 0, view(key)) }
func sumFarm(key string) uint64    { return farm.Fingerprint64(view(key)) }

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

func sumFNV132(key string) uint64 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = h*fnvPrime32 ^ uint32(key[i])
	}
	return widen(h)
}

func sumFNV164(key string) uint64 {
	h := uint64(fnvOffset64)
	for i := range len(key) {
		h = h*fnvPrime64 ^ uint64(key[i])
	}
	return h
}

// sumJava is String.hashCode of the text whose UTF-8 form is the key: h*31 + c
// over its UTF-16 code units, from 0. In a key that is not valid UTF-8, each byte
// that belongs to no character counts as one U+FFFD; a JVM that decodes such
// bytes may take several of them together.
func sumJava(key string) uint64 {
	h := uint32(0)
	for _, c := range key {
		if c >= 1<<16 {
			c -= 1 << 16
			h = h*31 + 0xd800 + uint32(c>>10)
			c = 0xdc00 + c&0x3ff
		}
		h = h*31 + uint32(c)
	}
	return widen(h)
}

func sumDJB2(key string) uint64 {
	h := uint32(5381)
	for i := range len(key) {
		h = h*33 + uint32(key[i])
	}
	return widen(h)
}
