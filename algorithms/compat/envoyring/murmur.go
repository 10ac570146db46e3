package envoyring

import "encoding/binary"

// murmur2 is MurmurHash64A by A. Appleby (public domain) with the seed that
// std::hash of libstdc++ has, and Envoy after it.
func murmur2(text []byte) uint64 {
	const (
		seed       = 0xc70f6907
		multiplier = 0xc6a4a7935bd1e995
	)
	mix := func(x uint64) uint64 { return x ^ x>>47 }
	h := seed ^ uint64(len(text))*multiplier
	for ; len(text) >= 8; text = text[8:] {
		h = (h ^ mix(binary.LittleEndian.Uint64(text)*multiplier)*multiplier) * multiplier
	}
	if len(text) > 0 {
		var rest [8]byte
		copy(rest[:], text)
		h = (h ^ binary.LittleEndian.Uint64(rest[:])) * multiplier
	}
	return mix(mix(h) * multiplier)
}
