package ring

import (
	"math/bits"

	"github.com/ringbench/ringbench/algorithms"
)

var _ algorithms.BatchMapper = (*Map)(nil)

// together is how many lookups of a batch wait for memory at the same time.
const together = 32

// LookupBatch looks many hashes up. It asks for the cells of some of them before
// it looks at any, so that a ring larger than the caches is waited for once and
// not 32 times.
func (m *Map) LookupBatch(hs []uint64, dst []algorithms.Bucket) {
	dst = dst[:len(hs)]
	if m.modulus != 0 || len(m.cells) < window {
		for i, h := range hs {
			dst[i] = m.Lookup(h)
		}
		return
	}
	var starts [together]int
	var begins, ends [together]uint64 // the first and the last cell of each window
	cells, mask := m.cells, m.mask
	for len(hs) > 0 {
		n := min(len(hs), together)
		for k, h := range hs[:n] {
			i, _ := bits.Mul64(h, m.slots)
			starts[k%together] = int(i)
			begins[k%together], ends[k%together] = cells[i], cells[int(i)+window-1]
		}
		for k, h := range hs[:n] {
			i, c, c4 := starts[k%together], begins[k%together], ends[k%together]
			w := cells[i+1 : i+window-1 : i+window-1]
			c1, c2, c3 := w[0], w[1], w[2]
			from := h &^ mask
			if c < from {
				c = c1
			}
			if c1 < from {
				c = c2
			}
			if c2 < from {
				c = c3
			}
			if c3 < from {
				c = c4
			}
			b := algorithms.Bucket(c & mask)
			if c <= h|mask { // equal in the upper bits, or behind the window
				b, _ = m.LookupProbes(h)
			}
			dst[k] = b
		}
		hs, dst = hs[n:], dst[n:]
	}
}
