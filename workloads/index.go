package workloads

import "hash/maphash"

// An index finds the rank of a key that was seen before. It is here because the
// language's own map holds each key a second time and reads all of them again
// whenever it grows, which for ten million distinct keys takes several times as
// long. Hashes differ from run to run; ranks do not depend on them.
type index struct {
	seed  maphash.Seed
	slots []slot // a power of two of them; those in use are at most 3 in 4
	used  int
}

// A slot holds one more than a rank, or 0 when it is free, and the low half of
// the hash of the rank's key.
type slot struct{ hash, rank1 uint32 }

func newIndex() *index {
	return &index{seed: maphash.MakeSeed(), slots: make([]slot, 1<<10)}
}

// rank returns the rank of the key among keys. A key that is not among them gets
// the rank len(keys); the caller appends it.
func (x *index) rank(key []byte, keys []string) (rank int, known bool) {
	hash := uint32(maphash.Bytes(x.seed, key))
	i := x.find(hash)
	for ; x.slots[i].rank1 != 0; i = (i + 1) & x.mask() {
		rank := int(x.slots[i].rank1 - 1)
		if x.slots[i].hash == hash && keys[rank] == string(key) {
			return rank, true
		}
	}
	x.slots[i] = slot{hash, uint32(len(keys) + 1)}
	if x.used++; x.used > len(x.slots)/4*3 {
		x.grow()
	}
	return len(keys), false
}

// find returns the slot at which the search for a hash begins.
func (x *index) find(hash uint32) uint32 { return hash & x.mask() }

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.rank1 == 0 {
			continue
		}
		i := x.find(s.hash)
		for x.slots[i].rank1 != 0 {
			i = (i + 1) & x.mask()
		}
		x.slots[i] = s
	}
}

func (x *index) mask() uint32 { return uint32(len(x.slots) - 1) }
