// Package maglev is Maglev hashing: Eisenbud and others, "Maglev: A Fast and
// Reliable Software Network Load Balancer" (NSDI 2016), section 3.4. The nodes
// fill a table of a prime number M of slots by turns; a key's hash modulo M
// names its slot.
//
// Each node prefers the slots in an order of its own, offset, offset+skip,
// offset+2*skip and so on modulo M. In its turn it takes the first of them that
// is free. With equal weights every node so gets floor(M/n) or ceil(M/n) slots,
// as even as can be, and a lookup is one read, whatever n is. The price is in
// the changes: when a node joins or leaves, the others fill the table in another
// order, and some slots go from one node that stays to another. At M = 65537,
// removing one of 10 nodes moves 10.2% of the keys, of 100 nodes 1.6% and of
// 1,000 nodes 0.7%, where 10, 1 and 0.1% must move. A larger table moves less.
//
// Where the paper leaves something open: the two hashes of a name are xxh64 over
// the byte 0xba and the name, for the offset, and over 0xbe and the name, for the
// skip; the nodes take their turns in the order of their names.
//
// Weights, which the paper does not specify, follow Envoy: in round t a node of
// weight w has a turn when t*w has reached the sum of the largest weight over the
// turns it has had. In every round the heaviest node takes one slot; in the first
// all do, so that every node has one as long as there are as many slots as nodes.
// Where there are fewer, those last in the order of the names have none.
//
// Building costs O(M log M) steps in the mean, and n for each round.
package maglev

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/table"
)

// Info describes Maglev hashing. A change shuffles some slots among the nodes
// that stay, and the heirs of a node are whoever takes its slots next.
var Info = algorithms.Define("maglev", "Eisenbud et al. 2016, NSDI, section 3.4", Default, New).
	Costing("O(1), one slot", "2 bytes a slot").
	Declining(algorithms.MinimalMovement, algorithms.Inherits).
	TunedTogether("size")

// Config sets the size of the table.
type Config struct {
	// Size is the number of slots M, a prime. The paper takes it at least 100
	// times the number of nodes.
	Size int `json:"size"`
}

// Default is the paper's smaller table.
var Default = Config{Size: 65537}

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	return table.Forecast(int64(c.Size), len(nodes))
}

// Step returns the least prime that is not below size.
func (c Config) Step(size int) int { return NextPrime(size) }

// A Preference returns the numbers from which the offset and the skip of a node
// come: the one modulo the size, and the other modulo the size less one, plus one.
type Preference func(name string) (offset, skip uint64)

// A Map is a table that its members filled by turns.
type Map struct {
	table.Table
	members    *algorithms.Members
	size       int
	preference Preference
}

var (
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)

	_ algorithms.BatchMapper = (*Map)(nil)
)

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := CheckSize("size", c.Size, table.MaxSize); err != nil {
		return nil, err
	}
	return NewPreferring(nodes, c.Size, xxh64)
}

// NewPreferring returns a Map of a size that [CheckSize] takes over nodes whose
// preferences differ from those of New.
func NewPreferring(nodes []algorithms.Node, size int, p Preference) (*Map, error) {
	members, err := algorithms.NewMembers(nodes)
	if err != nil {
		return nil, err
	}
	m := &Map{members: members, size: size, preference: p}
	m.refill()
	return m, nil
}

// refill fills the table anew.
func (m *Map) refill() {
	m.Table = table.New(fill(m.size, turns(m.members, m.size, m.preference)), m.members)
}

// xxh64 is the preference of New.
func xxh64(name string) (offset, skip uint64) {
	text := append([]byte{0xba}, name...)
	offset = xxhash.Sum64(text)
	text[0] = 0xbe
	return offset, xxhash.Sum64(text)
}

// Clone returns a Map of its own, in O(n): the slots, which are given away anew at
// every change, are in common until then.
func (m *Map) Clone() algorithms.Mapper {
	c := *m
	c.members = m.members.Clone()
	c.Table = m.Table.Clone(c.members)
	return &c
}

// Add adds the node and fills the table anew.
func (m *Map) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.members.Add(n)
	if err == nil {
		m.refill()
	}
	return b, err
}

// Remove removes the node of the bucket and fills the table anew.
func (m *Map) Remove(b algorithms.Bucket) error {
	_, err := m.members.Remove(b)
	if err == nil {
		m.refill()
	}
	return err
}

// SetWeight sets a weight and fills the table anew.
func (m *Map) SetWeight(b algorithms.Bucket, w float64) error {
	err := m.members.SetWeight(b, w)
	if err == nil {
		m.refill()
	}
	return err
}

// A turn is a node that takes part in filling a table.
type turn struct {
	owner  algorithms.Bucket
	offset uint64 // its first choice, below the size
	skip   uint64 // from one choice to the next, 1 to size-1
	weight float64
}

// turns returns the members of positive weight in the order of their names, with
// the offsets and skips that the hashes of their names give for a table of a
// size. Their weights are divided by the sum.
func turns(members *algorithms.Members, size int, preference Preference) []turn {
	type named struct {
		name string
		turn turn
	}
	var all []named
	total := members.TotalWeight()
	for b, n := range members.All() {
		if n.Weight == 0 {
			continue
		}
		offset, skip := preference(n.Name)
		all = append(all, named{n.Name, turn{
			owner:  b,
			offset: offset % uint64(size),
			skip:   skip%uint64(size-1) + 1,
			weight: n.Weight / total,
		}})
	}
	slices.SortFunc(all, func(x, y named) int { return strings.Compare(x.name, y.name) })
	ordered := make([]turn, len(all))
	for i, n := range all {
		ordered[i] = n.turn
	}
	return ordered
}

// A filler is how far a node has come.
type filler struct {
	next   uint64  // the slot it would take next
	target float64 // that the round times its weight must reach
}

// advance goes on to the next choice of a node.
func (f *filler) advance(skip, size uint64) {
	if f.next += skip; f.next >= size {
		f.next -= size
	}
}

// fill returns the owners of the slots of a table that is filled by turns in the
// order given; nil when there are none. The size is a prime of 2 or more.
func fill(size int, turns []turn) []algorithms.Bucket {
	if len(turns) == 0 {
		return nil
	}
	owners := slices.Repeat([]algorithms.Bucket{algorithms.None}, size)
	fillers := make([]filler, len(turns))
	heaviest := 0.0
	for i, t := range turns {
		fillers[i].next = t.offset
		heaviest = max(heaviest, t.weight)
	}
	for round, taken := 1, 0; ; round++ {
		for i := range turns {
			t, f := &turns[i], &fillers[i]
			if float64(round)*t.weight < f.target {
				continue
			}
			f.target += heaviest
			for owners[f.next] != algorithms.None {
				f.advance(t.skip, uint64(size))
			}
			owners[f.next] = t.owner
			f.advance(t.skip, uint64(size))
			if taken++; taken == size {
				return owners
			}
		}
	}
}

// CheckSize refuses a size of a table that is not a prime, or beyond most. The
// name is that of the parameter.
func CheckSize(name string, size, most int) error {
	switch {
	case size < 2 || size > most:
		return fmt.Errorf("%s %d, it must be a prime from 2 to %d, such as 65537", name, size, most)
	case !prime(size):
		return fmt.Errorf("%s %d is not a prime, so a node could run out of slots to choose from: the next prime is %d", name, size, NextPrime(size))
	}
	return nil
}

// prime reports whether n > 0 is a prime. The test is exact below 2^64.
func prime(n int) bool { return big.NewInt(int64(n)).ProbablyPrime(0) }

// NextPrime returns the least prime that is not below n.
func NextPrime(n int) int {
	for n = max(n, 2); !prime(n); n++ {
	}
	return n
}
