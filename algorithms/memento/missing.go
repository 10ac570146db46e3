package memento

import (
	"math/bits"
	"unsafe"
)

// missing is the paper's replacement set: a hash table of the missing buckets with
// linear probing, at most half full. The zero value is empty.
type missing struct {
	rows  []row // a power of 2 of them, or none
	shift uint  // 64 less the logarithm of their number
	count int
}

// A row is what the paper's memento holds of a missing bucket.
type row struct {
	number int32 // the bucket's, counted from 1; 0 in a free row
	left   int32 // buckets that worked right after its removal
	before int32 // the bucket removed before it, or n when it was the first
}

const (
	rowBytes = int64(unsafe.Sizeof(row{}))

	// least is the number of rows of the smallest table.
	least = 8
)

// home returns where the row of the bucket stands when nothing is in its way.
func (m *missing) home(bucket int32) int {
	return int(uint64(bucket) * 0x9e3779b97f4a7c15 >> m.shift)
}

// find returns where the row of the bucket is, or else the free row that ends the
// search for it. There must be rows.
func (m *missing) find(bucket int32) int {
	i := m.home(bucket)
	for n := m.rows[i].number; n != 0 && n != bucket+1; n = m.rows[i].number {
		i = (i + 1) & (len(m.rows) - 1)
	}
	return i
}

// left returns how many buckets worked right after the removal of the bucket, and
// whether it is missing.
func (m *missing) left(bucket int32) (int32, bool) {
	if m.count == 0 {
		return 0, false
	}
	r := &m.rows[m.find(bucket)]
	return r.left, r.number != 0
}

// insert adds a row for a bucket that has none.
func (m *missing) insert(bucket, left, before int32) {
	if 2*(m.count+1) > len(m.rows) {
		m.resize(max(least, 2*len(m.rows)))
	}
	m.rows[m.find(bucket)] = row{bucket + 1, left, before}
	m.count++
}

// resize moves the rows to a table of n.
func (m *missing) resize(n int) {
	old := m.rows
	m.rows, m.shift = make([]row, n), uint(64-bits.Len(uint(n-1)))
	for _, r := range old {
		if r.number != 0 {
			m.rows[m.find(r.number-1)] = r
		}
	}
}

// delete removes the row of the bucket and returns the bucket removed before it.
func (m *missing) delete(bucket int32) (before int32) {
	i := m.find(bucket)
	before = m.rows[i].before
	m.count--
	m.rows[i] = row{}
	m.close(i)
	switch {
	case m.count == 0:
		m.rows = nil
	case 8*m.count <= len(m.rows) && len(m.rows) > least:
		m.resize(len(m.rows) / 2)
	}
	return before
}

// close moves rows back into the gap at i, so that no search for one ends there.
func (m *missing) close(i int) {
	mask := len(m.rows) - 1
	for j := (i + 1) & mask; m.rows[j].number != 0; j = (j + 1) & mask {
		// A row may stand anywhere from its home on; the gap is in that range
		// unless it is nearer to the row than the home is.
		if home := m.home(m.rows[j].number - 1); (j-home)&mask >= (j-i)&mask {
			m.rows[i], m.rows[j] = m.rows[j], row{}
			i = j
		}
	}
}
