// Package keyhash names the functions that turn a key into the 64-bit hash
// which every Mapper looks up. It answers "how much of this result is the
// hash's doing?": a run can repeat a cell under each of them.
//
// All of them are pure functions of the key's bytes, safe for concurrent use,
// and none allocates. xxh3 is the default. How a function of another width
// becomes 64 bits:
//
//   - A 32-bit hash h has two forms. As a position on a circle it is widened to
//     h<<32 | h, which keeps the order and the ties of h and fills the bits at
//     both ends. As a number it is h itself. [Hash.For] picks the form that a
//     Mapper takes: the number where it is an [algorithms.NumberMapper], which
//     divides it as the systems do that compute crc32(key) % n. One form cannot
//     serve both: h<<32 | h is h times 641 times 6,700,417, so that its remainder
//     by 641 is 0 for every key.
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

// A Hash is a function from keys to hashes, in the forms that have 64 bits. Both
// are one function unless Bits is 32. They do not allocate and are safe for
// concurrent use.
type Hash struct {
	Name string // as in records and on the command line
	Bits int    // width of the function: 32, 64, 128 or 160

	Number   func(string) uint64 // the value; its first 64 bits where it has more
	Position func(string) uint64 // where the value stands on a circle of 2^64
}

// A Function is a Hash in one of its forms. Functions of the same Name are the
// same, so that their values can be kept by it.
type Function struct {
	Name string
	Sum  func(string) uint64
}

// For returns the hash in the form in which the Mapper's Lookup takes it. The
// form depends on the algorithm and its parameters, not on the members. For no
// Mapper, nil, it is the position.
func (h Hash) For(m algorithms.Mapper) Function {
	if h.Bits < 64 && algorithms.TakesNumber(m) {
		return Function{h.Name + ", the number", h.Number}
	}
	return Function{h.Name, h.Position}
}

// OfKeys returns what the Mapper's Lookup is asked for a key: the Mapper's own
// hash where it tells one, see [algorithms.KeyHasher], and else that of For.
func (h Hash) OfKeys(m algorithms.Mapper) func(string) uint64 {
	if own, ok := m.(algorithms.KeyHasher); ok {
		return own.HashKey
	}
	return h.For(m).Sum
}

// Default is the hash that is used where none is named.
const Default = "xxh3"

var table = []Hash{
	wide("xxh3", 64, xxh3.HashString),
	wide("xxh64", 64, xxhash.Sum64String),
	wide("md5", 128, sumMD5),
	wide("sha1", 160, sumSHA1),
	narrow("crc32", sumCRC32),
	narrow("crc32c", sumCRC32C),
	narrow("fnv1a-32", sumFNV1a32),
	wide("fnv1a-64", 64, sumFNV1a64),
	narrow("fnv1-32", sumFNV132),
	wide("fnv1-64", 64, sumFNV164),
	wide("murmur3", 128, sumMurmur3),
	wide("siphash", 64, sumSipHash),
	wide("farm", 64, sumFarm),
	narrow("java", sumJava),
	narrow("djb2", sumDJB2),
}

// wide returns a hash of 64 bits or more.
func wide(name string, bits int, sum func(string) uint64) Hash {
	return Hash{Name: name, Bits: bits, Number: sum, Position: sum}
}

// narrow returns a hash of 32 bits.
func narrow(name string, sum func(string) uint32) Hash {
	return Hash{
		Name: name, Bits: 32,
		Number:   func(key string) uint64 { return uint64(sum(key)) },
		Position: func(key string) uint64 { return algorithms.Widen(sum(key)) },
	}
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

func sumMD5(key string) uint64 {
	digest := md5.Sum(view(key))
	return binary.LittleEndian.Uint64(digest[:8])
}

func sumSHA1(key string) uint64 {
	digest := sha1.Sum(view(key))
	return binary.LittleEndian.Uint64(digest[:8])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumCRC32(key string) uint32  { return crc32.ChecksumIEEE(view(key)) }
func sumCRC32C(key string) uint32 { return crc32.Checksum(view(key), castagnoli) }

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

func sumFNV1a32(key string) uint32 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * fnvPrime32
	}
	return h
}

func sumFNV1a64(key string) uint64 {
	h := uint64(fnvOffset64)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * fnvPrime64
	}
	return h
}

func sumFNV132(key string) uint32 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = h*fnvPrime32 ^ uint32(key[i])
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

// sumJava is String.hashCode of the text whose UTF-8 form is the key: h*31 + c
// over its UTF-16 code units, from 0. In a key that is not valid UTF-8, each byte
// that belongs to no character counts as one U+FFFD; a JVM that decodes such
// bytes may take several of them together.
func sumJava(key string) uint32 {
	h := uint32(0)
	for _, c := range key {
		if c >= 1<<16 {
			c -= 1 << 16
			h = h*31 + 0xd800 + uint32(c>>10)
			c = 0xdc00 + c&0x3ff
		}
		h = h*31 + uint32(c)
	}
	return h
}

func sumDJB2(key string) uint32 {
	h := uint32(5381)
	for i := range len(key) {
		h = h*33 + uint32(key[i])
	}
	return h
}
