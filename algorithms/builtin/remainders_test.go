package builtin_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/partitions"
	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/algorithms/memento"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/ring"
)

// divisors are 2 to 50, 641, which divides 2^32 + 1, and two that people use.
func divisors() (ns []int) {
	for n := 2; n <= 50; n++ {
		ns = append(ns, n)
	}
	return append(ns, 641, 1000, 1282)
}

func byName(t testing.TB, name string) keyhash.Hash {
	t.Helper()
	h, err := keyhash.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func numbered(n int) []algorithms.Node {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return algorithms.Nodes(names...)
}

// A divider is an algorithm that divides the hash by n, with the owner that it has
// for a remainder.
type divider struct {
	name   string
	mapper algorithms.Mapper
	ofSlot func(remainder uint64) algorithms.Bucket
}

// dividers returns the algorithms that can divide by n.
func dividers(t testing.TB, n int, hash string) (all []divider) {
	t.Helper()
	add := func(name string, m algorithms.Mapper, err error, ofSlot func(uint64) algorithms.Bucket) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, divider{name: name, mapper: m, ofSlot: ofSlot})
	}
	same := func(remainder uint64) algorithms.Bucket { return algorithms.Bucket(remainder) }
	mod, err := modulo.New(numbered(n), modulo.Default)
	add("modulo", mod, err, same)

	// On a circle of n positions with a point on each, the point is the remainder.
	c := ring.Config{VNodes: 1, Label: "{name}", PointHash: "xxh3", Modulus: uint64(n)}
	for i := range n {
		c.Points = append(c.Points, ring.Listed{Position: uint64(i), Node: strconv.Itoa(i)})
	}
	circle, err := ring.New(numbered(n), c)
	add("ring", circle, err, same)

	p := partitions.Default
	p.Partitions, p.Hasher = n, hash
	parts, err := partitions.New(numbered(3), p)
	add("partitions", parts, err, func(r uint64) algorithms.Bucket { return parts.Owners()[r] })

	if maglev.NextPrime(n) == n {
		table, err := maglev.New(numbered(2), maglev.Config{Size: n})
		add("maglev", table, err, func(r uint64) algorithms.Bucket { return table.Owners()[r] })
	}
	return all
}

// The remainders come from other programs, see the file.
func TestRemaindersAreThoseThatSystemsTake(t *testing.T) {
	data, err := os.ReadFile("testdata/remainders.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []map[string]string }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 11 {
		t.Fatalf("%d rows, want 11", len(file.Rows))
	}
	for i, n := range divisors() {
		for _, name := range []string{"crc32", "crc32c", "fnv1-32", "fnv1a-32", "djb2", "java"} {
			hash := byName(t, name)
			for _, d := range dividers(t, n, name) {
				lookup := hash.OfKeys(d.mapper)
				for _, row := range file.Rows {
					want, err := strconv.ParseUint(strings.Fields(row[name])[i], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					if got := d.mapper.Lookup(lookup(row["input"])); got != d.ofSlot(want) {
						t.Errorf("%s: %s(%q) %% %d is %d and belongs to %d, it goes to %d", d.name, name, row["input"], n, want, d.ofSlot(want), got)
					}
				}
			}
		}
	}
}

// values are the 32-bit hashes as others compute them.
var values = map[string]func(key string) uint32{
	"crc32":  func(key string) uint32 { return crc32.ChecksumIEEE([]byte(key)) },
	"crc32c": func(key string) uint32 { return crc32.Checksum([]byte(key), crc32.MakeTable(crc32.Castagnoli)) },
	"fnv1-32": func(key string) uint32 {
		h := fnv.New32()
		h.Write([]byte(key))
		return h.Sum32()
	},
	"fnv1a-32": func(key string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(key))
		return h.Sum32()
	},
	"djb2": func(key string) uint32 { return polynomial(5381, 33, []byte(key)) },
	"java": func(key string) uint32 { return polynomial(0, 31, utf16.Encode([]rune(key))) },
}

// polynomial has the seed as its first coefficient, and the units as the others.
func polynomial[T byte | uint16](seed, x uint32, units []T) uint32 {
	sum, power := uint32(0), uint32(1)
	for i := len(units) - 1; i >= 0; i-- {
		sum += uint32(units[i]) * power
		power *= x
	}
	return sum + seed*power
}

// Whatever the key and the number of nodes: a remainder is that of the value, and a
// ring asks for the place of the value on its circle.
func TestEachAlgorithmTakesA32BitHashAsSystemsDo(t *testing.T) {
	for _, h := range keyhash.All() {
		if _, known := values[h.Name]; known != (h.Bits == 32) {
			t.Errorf("%s has %d bits and is computed apart: %v", h.Name, h.Bits, known)
		}
	}
	ns := append(divisors(), 3*641, 5*641, 10*641)
	circle, err := ring.New(numbered(20), ring.Default)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		n    int
		hash string
	}
	built := map[key][]divider{}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom(ns).Draw(r, "n")
		name := rapid.SampledFrom([]string{"crc32", "crc32c", "fnv1-32", "fnv1a-32", "djb2", "java"}).Draw(r, "hash")
		text := rapid.String().Draw(r, "key")
		hash, value := byName(t, name), values[name](text)
		if built[key{n, name}] == nil {
			built[key{n, name}] = dividers(t, n, name)
		}
		for _, d := range built[key{n, name}] {
			want := d.ofSlot(uint64(value) % uint64(n))
			if got := d.mapper.Lookup(hash.OfKeys(d.mapper)(text)); got != want {
				r.Fatalf("%s: %s(%q) is %d, its remainder by %d belongs to %d, and it goes to %d", d.name, name, text, value, n, want, got)
			}
			if keyed, ok := d.mapper.(algorithms.KeyMapper); ok && keyed.LookupKey(text) != want {
				r.Fatalf("%s: LookupKey(%q) is %d, want %d", d.name, text, keyed.LookupKey(text), want)
			}
		}
		for _, info := range []algorithms.Info{jump.Info, jump.ReferenceInfo, jump.ShiftInfo, memento.Info} {
			m, _, err := info.New(numbered(n), nil)
			if err != nil {
				r.Fatal(err)
			}
			if got, want := m.Lookup(hash.OfKeys(m)(text)), published(uint64(value), n); got != want {
				r.Fatalf("%s: %s(%q) is %d and jumps to %d of %d, want %d", info.Name, name, text, value, got, n, want)
			}
		}
		if got, want := circle.Lookup(hash.OfKeys(circle)(text)), circle.Lookup(uint64(value)<<32+uint64(value)); got != want {
			r.Fatalf("ring: %s(%q) goes to %d, want %d", name, text, got, want)
		}
	})
}

// published is the function of Lamping and Veach's paper.
func published(key uint64, buckets int) algorithms.Bucket {
	b, j := int64(-1), int64(0)
	for j < int64(buckets) {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(int64(1)<<31) / float64((key>>33)+1)))
	}
	return algorithms.Bucket(b)
}

// 641 and 6,700,417 are the factors of 2^32 + 1, by which a widened hash leaves no
// remainder.
func TestNoDivisorGivesAllKeysToOneNode(t *testing.T) {
	for _, n := range []int{641, 2 * 641, 10 * 641} {
		for name, value := range values {
			want := map[uint32]bool{}
			for i := range 2000 {
				want[value(fmt.Sprint("key-", i))%uint32(n)] = true
			}
			hash := byName(t, name)
			for _, d := range dividers(t, n, name) {
				met, owners := map[algorithms.Bucket]bool{}, map[algorithms.Bucket]bool{}
				for i := range 2000 {
					met[d.mapper.Lookup(hash.OfKeys(d.mapper)(fmt.Sprint("key-", i)))] = true
				}
				for r := range want {
					owners[d.ofSlot(uint64(r))] = true
				}
				if len(met) < 2 || len(met) != len(owners) {
					t.Errorf("%s by %d: 2,000 keys hashed by %s meet %d owners, want %d", d.name, n, name, len(met), len(owners))
				}
			}
		}
	}
	const large = 6_700_417
	c := ring.Config{VNodes: 20, Label: "{name}#{index}", PointHash: "crc32", Modulus: large}
	m, err := ring.New(numbered(50), c)
	if err != nil {
		t.Fatal(err)
	}
	met := map[algorithms.Bucket]bool{}
	for i := range 2000 {
		met[m.Lookup(byName(t, "crc32").OfKeys(m)(fmt.Sprint("key-", i)))] = true
	}
	if len(met) < 45 {
		t.Errorf("a circle of %d: 2,000 keys meet %d of 50 nodes", large, len(met))
	}
}
