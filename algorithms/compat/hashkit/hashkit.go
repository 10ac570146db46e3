// Package hashkit is the hash functions of 32 bits that memcached clients and
// proxies let their users choose among, bit for bit. libmemcached keeps them in
// its library libhashkit, and twemproxy took them from there.
//
// Version followed: libhashkit of awesomized/libmemcached 1.1, twemproxy 0.5, on
// machines that are little-endian and whose char is signed, as on x86-64: in
// some functions a byte above 0x7f counts as a negative number. Where that
// differs from the function's definition, its comment says so.
//
// All of them are pure, safe for concurrent use, and none allocates.
package hashkit

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"unsafe"

	"github.com/ringbench/ringbench/algorithms"
)

// A Hash is a function from keys to hashes of 32 bits, by the name that it has
// in a system's settings.
type Hash struct {
	Name string
	Sum  func(string) uint32
}

// A Table is the functions that a system offers.
type Table []Hash

// Libmemcached is the functions of libmemcached, its MEMCACHED_HASH_* in lower
// case; default is one_at_a_time there.
var Libmemcached = Table{
	{"md5", MD5}, {"default", OneAtATime}, {"crc", CRC},
	{"fnv1_64", FNV1x64}, {"fnv1a_64", FNV1Ax64}, {"fnv1_32", FNV1x32}, {"fnv1a_32", FNV1Ax32},
	{"hsieh", Hsieh}, {"murmur", Murmur}, {"jenkins", Jenkins}, {"murmur3", Murmur3},
}

// Twemproxy is the functions of twemproxy. Its crc32 is the crc of libmemcached,
// 15 bits wide, and its crc32a is what others call crc32.
var Twemproxy = Table{
	{"fnv1a_64", FNV1Ax64}, {"one_at_a_time", OneAtATime}, {"md5", MD5},
	{"crc16", CRC16}, {"crc32", CRC}, {"crc32a", CRC32A},
	{"fnv1_64", FNV1x64}, {"fnv1_32", FNV1x32}, {"fnv1a_32", FNV1Ax32},
	{"hsieh", Hsieh}, {"murmur", Murmur}, {"jenkins", Jenkins},
}

// ByName returns the function of that name. The error for an unknown name
// suggests the nearest one.
func (t Table) ByName(name string) (func(string) uint32, error) {
	var known []string
	for _, h := range t {
		if h.Name == name {
			return h.Sum, nil
		}
		known = append(known, h.Name)
	}
	return nil, fmt.Errorf("unknown hash %q, %s", name, algorithms.Nearest(name, known))
}

// view returns the bytes of s without copying them. They must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// signed returns a byte as a signed char widened to 32 bits.
func signed(b byte) uint32 { return uint32(int32(int8(b))) }

// Words returns the digest of md5 as four little-endian numbers. The ketama
// family makes a point of each.
func Words(label []byte) [4]uint32 {
	digest := md5.Sum(label)
	var w [4]uint32
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(digest[4*i:])
	}
	return w
}

// MD5 is the first of Words.
func MD5(key string) uint32 { return Words(view(key))[0] }

// OneAtATime is the function of that name by Bob Jenkins, over signed bytes.
func OneAtATime(key string) uint32 {
	h := uint32(0)
	for i := range len(key) {
		h += signed(key[i])
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	h += h << 15
	return h
}

// CRC32A is CRC-32 with the IEEE polynomial.
func CRC32A(key string) uint32 { return crc32.ChecksumIEEE(view(key)) }

// CRC is the upper half of CRC32A without its highest bit: 15 bits.
func CRC(key string) uint32 { return CRC32A(key) >> 16 & 0x7fff }

// CRC16 is CRC-16 with the polynomial 0x1021 from 0, and does not drop what it
// shifts beyond 16 bits: of the result the lower half is the CRC.
func CRC16(key string) uint32 {
	crc := uint32(0)
	for i := range len(key) {
		step := (crc>>8 ^ uint32(key[i])) & 0xff << 8
		for range 8 {
			step = step<<1 ^ step>>15&1*0x1021
		}
		crc = crc<<8 ^ step&0xffff
	}
	return crc
}

const (
	fnvOffset32 = 2166136261
	fnvPrime32  = 16777619
	fnvOffset64 = 14695981039346656037
	fnvPrime64  = 1099511628211
)

// FNV1x64 is the lower half of FNV-1 of 64 bits, over signed bytes.
func FNV1x64(key string) uint32 {
	h := uint64(fnvOffset64)
	for i := range len(key) {
		h = h*fnvPrime64 ^ uint64(int64(int8(key[i])))
	}
	return uint32(h)
}

// FNV1Ax64 is FNV-1a with the lower halves of the offset and the prime of 64
// bits, over signed bytes.
func FNV1Ax64(key string) uint32 {
	const offset, prime = fnvOffset64 & (1<<32 - 1), fnvPrime64 & (1<<32 - 1)
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ signed(key[i])) * prime
	}
	return h
}

// FNV1x32 is FNV-1 of 32 bits, over signed bytes.
func FNV1x32(key string) uint32 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = h*fnvPrime32 ^ signed(key[i])
	}
	return h
}

// FNV1Ax32 is FNV-1a of 32 bits, over signed bytes.
func FNV1Ax32(key string) uint32 {
	h := uint32(fnvOffset32)
	for i := range len(key) {
		h = (h ^ signed(key[i])) * fnvPrime32
	}
	return h
}

// Hsieh is SuperFastHash by Paul Hsieh, from 0. Where three bytes are left at
// the end the last of them is signed.
func Hsieh(key string) uint32 {
	if key == "" {
		return 0
	}
	half := func(i int) uint32 { return uint32(key[i]) | uint32(key[i+1])<<8 }
	h, i := uint32(0), 0
	for ; i+4 <= len(key); i += 4 {
		h += half(i)
		h = h<<16 ^ half(i+2)<<11 ^ h
		h += h >> 11
	}
	switch len(key) - i {
	case 3:
		h += half(i)
		h ^= h << 16
		h ^= signed(key[i+2]) << 18
		h += h >> 11
	case 2:
		h += half(i)
		h ^= h << 11
		h += h >> 17
	case 1:
		h += uint32(key[i])
		h ^= h << 10
		h += h >> 1
	}
	h ^= h << 3
	h += h >> 5
	h ^= h << 4
	h += h >> 17
	h ^= h << 25
	h += h >> 6
	return h
}

// seed is what libhashkit starts both murmur hashes from.
func seed(key string) uint32 { return 0xdeadbeef * uint32(len(key)) }

// Murmur is MurmurHash2 by Austin Appleby, seeded by the length.
func Murmur(key string) uint32 {
	const m = 0x5bd1e995
	data := view(key)
	h := seed(key) ^ uint32(len(key))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	if len(data) > 0 {
		for i, b := range data {
			h ^= uint32(b) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

// Murmur3 is MurmurHash3_x86_32 by Austin Appleby, seeded by the length.
func Murmur3(key string) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	data := view(key)
	h := seed(key)
	for ; len(data) >= 4; data = data[4:] {
		h ^= bits.RotateLeft32(binary.LittleEndian.Uint32(data)*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	k := uint32(0)
	for i, b := range data {
		k ^= uint32(b) << (8 * i)
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= uint32(len(key))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Jenkins is lookup3 (hashlittle) by Bob Jenkins with the initial value 13.
func Jenkins(key string) uint32 {
	data := view(key)
	a := 0xdeadbeef + uint32(len(key)) + 13
	b, c := a, a
	rot := bits.RotateLeft32
	for ; len(data) > 12; data = data[12:] {
		a += binary.LittleEndian.Uint32(data)
		b += binary.LittleEndian.Uint32(data[4:])
		c += binary.LittleEndian.Uint32(data[8:])
		a, c = (a-c)^rot(c, 4), c+b
		b, a = (b-a)^rot(a, 6), a+c
		c, b = (c-b)^rot(b, 8), b+a
		a, c = (a-c)^rot(c, 16), c+b
		b, a = (b-a)^rot(a, 19), a+c
		c, b = (c-b)^rot(b, 4), b+a
	}
	if len(data) == 0 {
		return c
	}
	var last [12]byte
	copy(last[:], data)
	a += binary.LittleEndian.Uint32(last[:])
	b += binary.LittleEndian.Uint32(last[4:])
	c += binary.LittleEndian.Uint32(last[8:])
	c = (c ^ b) - rot(b, 14)
	a = (a ^ c) - rot(c, 11)
	b = (b ^ a) - rot(a, 25)
	c = (c ^ b) - rot(b, 16)
	a = (a ^ c) - rot(c, 4)
	b = (b ^ a) - rot(a, 14)
	return (c ^ b) - rot(b, 24)
}
