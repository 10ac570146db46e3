package hashkit_test

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/compat/hashkit"
)

func TestPublishedHashes(t *testing.T) {
	data, err := os.ReadFile("testdata/libhashkit.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Algorithm string
		Inputs    []string
		Expected  []uint32
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		name := strings.TrimPrefix(row.Algorithm, "libhashkit_")
		if name == "one_at_a_time" {
			name = "default"
		}
		sum, err := hashkit.Libmemcached.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, input := range row.Inputs {
			if got := sum(input); got != row.Expected[i] {
				t.Errorf("%s(%q) = %d, want %d", name, input, got, row.Expected[i])
			}
		}
	}
}

// The hash of "apple" in the test of twemproxy for each of its functions, from
// twitter/twemproxy src/test_all.c (facts).
var apple = map[string]uint32{
	"one_at_a_time": 2297466611, "md5": 3195025439, "crc16": 3662830516, "crc32": 10542, "crc32a": 2838417488,
	"fnv1_64": 473199127, "fnv1a_64": 1488911807, "fnv1_32": 67176023, "fnv1a_32": 280767167,
	"hsieh": 3738850110, "murmur": 4142305122, "jenkins": 1442444624,
}

func TestTwemproxysHashesOfApple(t *testing.T) {
	for _, h := range hashkit.Twemproxy {
		if want, known := apple[h.Name]; !known || h.Sum("apple") != want {
			t.Errorf("%s(apple) = %d, want %d", h.Name, h.Sum("apple"), want)
		}
	}
}

// slowJenkins is lookup3 as its paper has it: rounds over three words in turn.
func slowJenkins(key string) uint32 {
	a := 0xdeadbeef + uint32(len(key)) + 13
	s := [3]uint32{a, a, a}
	rot := func(x uint32, k int) uint32 { return x<<k | x>>(32-k) }
	block := func(part string) {
		for i := range len(part) {
			s[i/4] += uint32(part[i]) << (i % 4 * 8)
		}
	}
	for len(key) > 12 {
		block(key[:12])
		key = key[12:]
		for i, k := range []int{4, 6, 8, 16, 19, 4} {
			x, y, z := i%3, (i+2)%3, (i+1)%3
			s[x] -= s[y]
			s[x] ^= rot(s[y], k)
			s[y] += s[z]
		}
	}
	if key == "" {
		return s[2]
	}
	block(key)
	for i, k := range []int{14, 11, 25, 16, 4, 14, 24} {
		x, y := (i+2)%3, (i+1)%3
		s[x] ^= s[y]
		s[x] -= rot(s[y], k)
	}
	return s[2]
}

func FuzzHashesAgainstSlowOnes(f *testing.F) {
	for _, key := range []string{"", "a", "apple", "twelve bytes", "more than twelve", "\xff\x80\x7f\x00\xfe", strings.Repeat("0123456789ab", 2)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if got, want := hashkit.Jenkins(key), slowJenkins(key); got != want {
			t.Errorf("Jenkins(%q) = %d, want %d", key, got, want)
		}
		crc := uint16(0) // bit by bit
		for i := range len(key) {
			for bit := 7; bit >= 0; bit-- {
				out := crc>>15 ^ uint16(key[i])>>bit&1
				crc <<= 1
				if out == 1 {
					crc ^= 0x1021
				}
			}
		}
		if got := uint16(hashkit.CRC16(key)); got != crc {
			t.Errorf("CRC16(%q) has the lower half %d, want %d", key, got, crc)
		}
		ascii := true
		for i := range len(key) {
			ascii = ascii && key[i] < 0x80
		}
		if !ascii { // signed bytes make these differ from the published functions
			return
		}
		h := fnv.New64()
		h.Write([]byte(key))
		if got, want := hashkit.FNV1x64(key), binary.BigEndian.Uint32(h.Sum(nil)[4:]); got != want {
			t.Errorf("FNV1x64(%q) = %d, want %d", key, got, want)
		}
		g := fnv.New64a()
		g.Write([]byte(key))
		if got, want := hashkit.FNV1Ax64(key), binary.BigEndian.Uint32(g.Sum(nil)[4:]); got != want {
			t.Errorf("FNV1Ax64(%q) = %d, want %d", key, got, want)
		}
		k := fnv.New32()
		k.Write([]byte(key))
		if got := hashkit.FNV1x32(key); got != k.Sum32() {
			t.Errorf("FNV1x32(%q) = %d, want %d", key, got, k.Sum32())
		}
	})
}

// A byte above 0x7f counts as a negative number: one step of each function by
// hand.
func TestHighBytesAreSigned(t *testing.T) {
	h := uint32(2166136261) ^ 0xffffffff
	if got, want := hashkit.FNV1Ax32("\xff"), h*16777619; got != want {
		t.Errorf("FNV1Ax32 of 0xff = %d, want %d", got, want)
	}
	offset, prime := uint64(14695981039346656037), uint64(1099511628211)
	if got, want := hashkit.FNV1x64("\xff"), uint32(offset*prime)^0xffffffff; got != want {
		t.Errorf("FNV1x64 of 0xff = %d, want %d", got, want)
	}
}

func TestAnUnknownNameSuggestsTheNearest(t *testing.T) {
	if _, err := hashkit.Twemproxy.ByName("fnv1a64"); err == nil || !strings.Contains(err.Error(), `did you mean "fnv1a_64"?`) {
		t.Errorf("error %v", err)
	}
}
