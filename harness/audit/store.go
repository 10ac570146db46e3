package audit

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"sync"

	"github.com/zeebo/xxh3"
)

// A holding is what is known of one key in one file.
type holding struct {
	hash     uint64
	from, to uint32 // where in the table's texts the key stands
	node     int32  // on which its first row has it
	split    bool   // another row has it on another node
	line     int64  // of its first row
	requests float64
	bytes    float64
}

// A conflict is a key that is on two nodes, at the line that shows it.
type conflict struct {
	line       int64
	key        string
	here, than int32 // nodes
}

// A store adds up the rows of each key of a file, in bounded memory. While the
// keys fit into the budget they are in a table; when they do not, the table is
// written to a temporary file, parted by the hash of the key, and filled anew. A
// part is read back as a store of its own, which may spill again. The order of the
// rows of a key is kept throughout, and the result does not depend on chance.
type store struct {
	budget int // bytes of the table
	level  uint
	table  table
	file   *spill
	first  *conflict // the one with the lowest line
}

// parts is into how many parts a table is written; the hash has room for so many
// levels of parts.
const (
	partBits = 7
	parts    = 1 << partBits
	levels   = 4
)

// window is how many bytes a table grows to once there is a temporary file. It then
// merely saves writing keys that come again soon, and is fastest where it fits into
// the cache of a processor.
const window = 4 << 20

func newStore(budget int) *store { return &store{budget: budget} }

// add takes a row in.
func (s *store) add(key []byte, node int32, line int64, requests, size float64) error {
	h := holding{hash: xxh3.Hash(key), node: node, line: line, requests: requests, bytes: size}
	return s.merge(key, &h)
}

// merge takes in what is known of a key from rows behind all that were taken in
// before.
func (s *store) merge(key []byte, h *holding) error {
	old, known := s.table.find(key, h)
	if known {
		if old.node != h.node {
			old.split = true
			s.note(h.line, key, h.node, old.node)
		}
		old.split = old.split || h.split
		old.requests += h.requests
		old.bytes += h.bytes
		return nil
	}
	most := s.budget
	if s.file != nil {
		most = min(most, window)
	}
	if s.table.size() > most && s.level < levels && len(s.table.holdings) > 1 {
		return s.flush()
	}
	return nil
}

func (s *store) note(line int64, key []byte, here, than int32) {
	if s.first == nil || line < s.first.line {
		s.first = &conflict{line, string(key), here, than}
	}
}

// flush writes the table to the temporary file and empties it.
func (s *store) flush() error {
	first := s.file == nil
	if first {
		f, err := newSpill()
		if err != nil {
			return err
		}
		s.file = f
	}
	err := s.file.write(&s.table, s.level)
	if first {
		s.table = table{}
	}
	s.table.clear()
	return err
}

// close removes the temporary file.
func (s *store) close() {
	if s.file != nil {
		s.file.close()
		s.file = nil
	}
}

// part reads part p back, into the memory of a table that is needed no longer.
func (s *store) part(p int, memory table) (*store, error) {
	child := &store{budget: s.budget, level: s.level + 1, table: memory}
	child.table.clear()
	if s.file == nil {
		return child, nil // it never had a key
	}
	if err := s.file.read(p, child.merge); err != nil {
		child.close()
		return nil, err
	}
	return child, nil
}

// keep takes a conflict over when its line is the lowest.
func (s *store) keep(c *conflict) {
	if c != nil && (s.first == nil || c.line < s.first.line) {
		s.first = c
	}
}

// A visit is shown a key with what two stores know of it: nil where one does not
// have it. It may keep neither key nor holding.
type visit func(key []byte, x, y *holding)

// join visits every key of either store once. The keys are shared out among the
// visits by their hash, always alike, and each visit is called by one goroutine. The
// stores are used up, which leaves in them the first conflict alone. It ends early
// with the context's error.
func join(ctx context.Context, a, b *store, visits ...visit) error {
	defer a.close()
	defer b.close()
	if a.file == nil && b.file == nil {
		joinTables(&a.table, &b.table, visits[0])
		return nil
	}
	for _, s := range []*store{a, b} {
		if len(s.table.holdings) > 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
		s.table = table{}
	}
	firsts := make([][2]*conflict, len(visits))
	errs := make([]error, len(visits))
	var wait sync.WaitGroup
	for w, v := range visits {
		wait.Go(func() { firsts[w], errs[w] = joinParts(ctx, a, b, w, len(visits), v) })
	}
	wait.Wait()
	for _, f := range firsts {
		a.keep(f[0])
		b.keep(f[1])
	}
	return firstCause(errs)
}

// joinParts joins every step-th part from the first on, and returns the first
// conflict of either store.
func joinParts(ctx context.Context, a, b *store, first, step int, v visit) (conflicts [2]*conflict, err error) {
	var memory [2]table
	for p := first; p < parts; p += step {
		if ctx.Err() != nil {
			return conflicts, ctx.Err()
		}
		x, err := a.part(p, memory[0])
		if err != nil {
			return conflicts, err
		}
		y, err := b.part(p, memory[1])
		if err != nil {
			x.close()
			return conflicts, err
		}
		if err := join(ctx, x, y, v); err != nil {
			return conflicts, err
		}
		x.keep(conflicts[0])
		y.keep(conflicts[1])
		conflicts = [2]*conflict{x.first, y.first}
		memory = [2]table{x.table, y.table}
	}
	return conflicts, nil
}

func joinTables(a, b *table, see visit) {
	met := make([]bool, len(b.holdings))
	for i := range a.holdings {
		x := &a.holdings[i]
		key := a.key(x)
		var y *holding
		if at, found := b.locate(key, x.hash); found {
			j := b.slots[at].at - 1
			y, met[j] = &b.holdings[j], true
		}
		see(key, x, y)
	}
	for j := range b.holdings {
		if !met[j] {
			y := &b.holdings[j]
			see(b.key(y), nil, y)
		}
	}
}

// A table finds what is known of a key. It holds no pointers, so that millions of
// keys cost the garbage collector nothing.
type table struct {
	holdings []holding
	texts    []byte
	slots    []slot
}

// A slot holds one more than an index into holdings, 0 when free, and bits of the
// hash, which spare a look at the holding when it is another's.
type slot struct{ at, hash uint32 }

const holdingBytes = 56

func (t *table) size() int {
	return holdingBytes*len(t.holdings) + len(t.texts) + 8*len(t.slots)
}

func (t *table) key(h *holding) []byte { return t.texts[h.from:h.to] }

// clear empties the table and keeps its memory.
func (t *table) clear() {
	t.holdings, t.texts = t.holdings[:0], t.texts[:0]
	clear(t.slots)
}

// locate returns where the key is, or where it would be.
func (t *table) locate(key []byte, hash uint64) (at uint64, found bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		i := t.slots[at]
		if i.at == 0 {
			return at, false
		}
		if i.hash == uint32(hash>>32) && string(t.key(&t.holdings[i.at-1])) == string(key) {
			return at, true
		}
	}
}

// find returns what is known of the key, after putting h in when nothing is.
func (t *table) find(key []byte, h *holding) (*holding, bool) {
	if 4*len(t.holdings) >= 3*len(t.slots) {
		t.grow()
	}
	at, found := t.locate(key, h.hash)
	if found {
		return &t.holdings[t.slots[at].at-1], true
	}
	h.from = uint32(len(t.texts))
	t.texts = append(t.texts, key...)
	h.to = uint32(len(t.texts))
	t.holdings = append(t.holdings, *h)
	t.slots[at] = slot{uint32(len(t.holdings)), uint32(h.hash >> 32)}
	return &t.holdings[len(t.holdings)-1], false
}

func (t *table) grow() {
	t.slots = make([]slot, max(1<<10, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.holdings {
		at := t.holdings[i].hash & mask
		for t.slots[at].at != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = slot{uint32(i + 1), uint32(t.holdings[i].hash >> 32)}
	}
}

// A spill is a temporary file of tables. Where the system allows, it has no name
// by the time it is written, so that nothing is left of it however the process
// ends.
type spill struct {
	f      *os.File
	named  bool
	end    int64
	pieces [parts][]piece
}

// A piece is where a table's entries of one part stand.
type piece struct{ from, to int64 }

func newSpill() (*spill, error) {
	f, err := os.CreateTemp("", "ringbench-audit-*")
	if err != nil {
		return nil, cannotSpill(err)
	}
	return &spill{f: f, named: os.Remove(f.Name()) != nil}, nil
}

func cannotSpill(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("the keys do not fit into memory and %s takes no temporary file (%w), let TMPDIR name a folder with room", os.TempDir(), err)
}

func (f *spill) close() {
	f.f.Close()
	if f.named {
		os.Remove(f.f.Name())
	}
}

// write appends the entries of the table, part after part.
func (f *spill) write(t *table, level uint) error {
	partOf := func(hash uint64) uint64 { return hash << (partBits * level) >> (64 - partBits) }
	var starts [parts + 1]int
	for i := range t.holdings {
		starts[partOf(t.holdings[i].hash)+1]++
	}
	for p := range parts {
		starts[p+1] += starts[p]
	}
	free := starts
	order := make([]uint32, len(t.holdings))
	for i := range t.holdings {
		p := partOf(t.holdings[i].hash)
		order[free[p]] = uint32(i)
		free[p]++
	}
	w := bufio.NewWriterSize(f.f, 1<<18)
	var head []byte
	for p := range parts {
		from := f.end
		for _, i := range order[starts[p]:starts[p+1]] {
			h := &t.holdings[i]
			head = appendHolding(head[:0], h)
			f.end += int64(len(head)) + int64(h.to-h.from)
			w.Write(head) // a bufio.Writer keeps the error for Flush
			w.Write(t.key(h))
		}
		if f.end > from {
			f.pieces[p] = append(f.pieces[p], piece{from, f.end})
		}
	}
	if err := w.Flush(); err != nil {
		return cannotSpill(err)
	}
	return nil
}

// read hands the entries of part p on, in the order in which they were written.
func (f *spill) read(p int, take func(key []byte, h *holding) error) error {
	r := bufio.NewReaderSize(nil, 1<<16)
	var key []byte
	for _, at := range f.pieces[p] {
		r.Reset(io.NewSectionReader(f.f, at.from, at.to-at.from))
		for {
			h, length, err := readHolding(r)
			if err == io.EOF {
				break
			}
			if err == nil {
				if uint64(cap(key)) < length {
					key = make([]byte, length)
				}
				key = key[:length]
				_, err = io.ReadFull(r, key)
			}
			if err != nil {
				return fmt.Errorf("cannot read a temporary file back: %w", err)
			}
			h.hash = xxh3.Hash(key)
			if err := take(key, &h); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendHolding writes all of an entry but its hash and its key, which follows.
func appendHolding(b []byte, h *holding) []byte {
	node := uint64(h.node) << 1
	if h.split {
		node |= 1
	}
	b = binary.AppendUvarint(b, uint64(h.to-h.from))
	b = binary.AppendUvarint(b, node)
	b = binary.AppendUvarint(b, uint64(h.line))
	// The low bits of small whole numbers are zeros: turned around they are short.
	b = binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(h.requests)))
	return binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(h.bytes)))
}

func readHolding(r io.ByteReader) (h holding, keyBytes uint64, err error) {
	var v [5]uint64
	for i := range v {
		if v[i], err = binary.ReadUvarint(r); err != nil {
			if i > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return h, 0, err
		}
	}
	h.node, h.split = int32(v[1]>>1), v[1]&1 != 0
	h.line = int64(v[2])
	h.requests = math.Float64frombits(bits.ReverseBytes64(v[3]))
	h.bytes = math.Float64frombits(bits.ReverseBytes64(v[4]))
	return h, v[0], nil
}
