package ring

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

var _ algorithms.BatchMapper = (*Map)(nil)

// together is how many lookups of a batch wait for memory at the same time.
const together = 32

// nearby is the number of cells, 8 MiB of them, up to which they are in some cache
// and looked up one after the other: the processor has several lookups in hand as it
// is, and what it would take to wait for them together is more than that saves.
const nearby = 1 << 20

// LookupBatch looks many hashes up. In a ring larger than the caches it asks for the
// cells of some of them before it looks at any, so that memory is waited for once and
// not 32 times.
func (m *Map) LookupBatch(hs []uint64, dst []algorithms.Bucket) {
	dst = dst[:len(hs)]
	switch {
	case m.modulus != 0 || len(m.cells) < window:
		for i, h := range hs {
			dst[i] = m.Lookup(h)
		}
	case len(m.cells) <= nearby:
		m.lookupInTurn(hs, dst)
	default:
		m.lookupTogether(hs, dst)
	}
}

// lookupInTurn is a loop of Lookup with what is the same for all of them at hand.
func (m *Map) lookupInTurn(hs []uint64, dst []algorithms.Bucket) {
	dst = dst[:len(hs)]
	cells, slots, mask := m.cells, m.slots, m.mask
	for k, h := range hs {
		i, _ := bits.Mul64(h, slots)
		w := cells[i : i+window : i+window]
		c := nearest(w[0], w[1], w[2], w[3], w[4], h&^mask)
		b := algorithms.Bucket(c & mask)
		if c <= h|mask { // equal in the upper bits, or behind the window
			b, _ = m.LookupProbes(h)
		}
		dst[k] = b
	}
}

// lookupTogether reads both ends of the windows of some hashes, which lie in one or
// two lines of memory each, before it looks at any.
func (m *Map) lookupTogether(hs []uint64, dst []algorithms.Bucket) {
	var starts [together]int
	var begins, ends [together]uint64 // the first and the last cell of each window
	cells, slots, mask := m.cells, m.slots, m.mask
	for len(hs) > 0 {
		n := min(len(hs), together)
		for k, h := range hs[:n] {
			i, _ := bits.Mul64(h, slots)
			starts[k%together] = int(i)
			begins[k%together], ends[k%together] = cells[i], cells[int(i)+window-1]
		}
		for k, h := range hs[:n] {
			i := starts[k%together]
			w := cells[i+1 : i+window-1 : i+window-1]
			c := nearest(begins[k%together], w[0], w[1], w[2], ends[k%together], h&^mask)
			b := algorithms.Bucket(c & mask)
			if c <= h|mask { // equal in the upper bits, or behind the window
				b, _ = m.LookupProbes(h)
			}
			dst[k] = b
		}
		hs, dst = hs[n:], dst[n:]
	}
}
