package tokenring

import (
	"encoding/binary"
	"math/bits"
)

// hash is the first half of MurmurHash3_x64_128 by Austin Appleby with the
// seed 0, but for the last block when that is not full: there a byte counts as a
// number with a sign, and its sign fills the bits above it.
func hash(key []byte) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	var h1, h2 uint64
	length := uint64(len(key))
	for ; len(key) >= 16; key = key[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(key))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(key[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var last [2]uint64
	for i, b := range key {
		last[i/8] ^= uint64(int64(int8(b))) << (i % 8 * 8)
	}
	h2 ^= mix2(last[1])
	h1 ^= mix1(last[0])
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1 = finish(h1)
	h2 = finish(h2)
	return h1 + h2
}

func finish(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
