package guavajump

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/jump"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/guava.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Source   string
			Key      uint64 `json:"key_u64,string"`
			N        []int
			Expected []algorithms.Bucket
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 13 {
		t.Fatalf("%d rows, want 13", len(file.Rows))
	}
	for _, v := range file.Rows {
		for i, n := range v.N {
			if got := bucket(v.Key, n); got != v.Expected[i] {
				t.Errorf("%s: hash %d of %d buckets goes to %d, want %d", v.Source, v.Key, n, got, v.Expected[i])
			}
		}
	}
}

// obvious is the rule in whole numbers: the quotient of exact fractions, rounded
// to the 53 bits of a double once.
func obvious(h uint64, n int) algorithms.Bucket {
	b := int64(0)
	for {
		h = h*2862933555777941757 + 1
		r := int64(h>>33) + 1
		if r == 1<<31 {
			return algorithms.Bucket(b)
		}
		quotient, _ := new(big.Rat).SetFrac64((b+1)<<31, r).Float64()
		if quotient >= float64(n) {
			return algorithms.Bucket(b)
		}
		b = int64(quotient)
	}
}

func TestTheWalkIsThatOfExactQuotientsRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, n := rapid.Uint64().Draw(t, "hash"), rapid.IntRange(1, math.MaxInt32).Draw(t, "buckets")
		if got, want := bucket(h, n), obvious(h, n); got != want {
			t.Fatalf("hash %d of %d buckets goes to %d, want %d", h, n, got, want)
		}
	})
}

func FuzzTheWalkIsThatOfExactQuotientsRoundedOnce(f *testing.F) {
	f.Add(uint64(0), int32(100))
	f.Add(uint64(math.MaxUint64), int32(math.MaxInt32))
	f.Fuzz(func(t *testing.T, h uint64, n int32) {
		if n < 1 {
			return
		}
		if got, want := bucket(h, int(n)), obvious(h, int(n)); got != want {
			t.Fatalf("hash %d of %d buckets goes to %d, want %d", h, n, got, want)
		}
	})
}

// before returns the state of the generator before another.
func before(state uint64) uint64 {
	// state = a*x + 1 has one solution x, since a is odd: its inverse comes by
	// Newton's steps.
	const a = uint64(2862933555777941757)
	inverse := a
	for range 6 {
		inverse *= 2 - a*inverse
	}
	return (state - 1) * inverse
}

func TestTheGreatestDrawEndsTheWalk(t *testing.T) {
	h := before((1<<31 - 1) << 33)
	if got := bucket(h, 1000); got != 0 {
		t.Errorf("the walk goes on to %d", got)
	}
	if jump.Hash(h, 1000) == 0 {
		t.Error("the paper's walk ends there too, so this shows nothing")
	}
}

// TestTheQuotientIsRoundedOnce: a key that jumps to bucket 48 and then draws 49/64
// goes on to 64, where the paper's two roundings lead to 63.
func TestTheQuotientIsRoundedOnce(t *testing.T) {
	for low := uint64(0); low < 1<<20; low++ {
		second := uint64(49<<25-1)<<33 | low
		first := before(second)
		if h := before(first); (1<<31)/(first>>33+1) == 48 {
			if got := bucket(h, 65); got != 64 {
				t.Errorf("hash %d goes to %d, want 64", h, got)
			}
			if got := jump.Hash(h, 64); got != 63 {
				t.Errorf("by the paper hash %d goes to %d, want 63", h, got)
			}
			return
		}
	}
	t.Error("no hash has these two draws")
}

func TestKeysAreHashedAsPadToLongHasThem(t *testing.T) {
	// Published digests of the empty string and of "abc", the first eight bytes
	// taken with the least first.
	for _, c := range []struct {
		function, key string
		want          uint64
	}{
		{"md5", "abc", 0xb04fd23c98500190},
		{"sha1", "abc", 0x6a810647363e99a9},
		{"sha256", "abc", 0xeacf018fbf1678ba},
		{"crc32", "123456789", 0xcbf43926},
		{"crc32c", "123456789", 0xe3069283},
		{"adler32", "Wikipedia", 0x11e60398},
		{"murmur3_128", "", 0},
		{"murmur3_32_fixed", "", 0},
	} {
		m, err := New(algorithms.Nodes("a", "b"), Config{HashFunction: c.function})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.HashKey(c.key); got != c.want {
			t.Errorf("%s of %q is %#x, want %#x", c.function, c.key, got, c.want)
		}
	}
	if _, err := New(algorithms.Nodes("a"), Config{HashFunction: "murmur"}); err == nil {
		t.Error("an unknown function is accepted")
	}
}

// TestSipHashHasGuavasKey is the vector of 15 bytes in the paper of SipHash, whose
// key Guava takes for its own.
func TestSipHashHasGuavasKey(t *testing.T) {
	m, err := New(algorithms.Nodes("a"), Config{HashFunction: "sipHash24"})
	if err != nil {
		t.Fatal(err)
	}
	key := ""
	for i := range 15 {
		key += fmt.Sprintf("%c", i)
	}
	if got := m.HashKey(key); got != 0xa129ca6149be45e5 {
		t.Errorf("%#x, want 0xa129ca6149be45e5", got)
	}
}

func TestUnequalWeightsAreRefused(t *testing.T) {
	nodes := algorithms.Nodes("a", "b")
	nodes[1].Weight = 2
	if _, err := New(nodes, Default); err == nil {
		t.Error("weights 1 and 2 are accepted")
	}
}
