package workloads

import (
	"fmt"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// keysOf lists the keys of a set by rank.
func keysOf(set KeySet) []string {
	keys := make([]string, set.Len())
	for rank := range keys {
		keys[rank] = set.Key(rank)
	}
	return keys
}

func TestKeysOfASetAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 3000).Draw(t, "count")
		seed := rapid.Uint64().Draw(t, "seed")
		for _, set := range []KeySet{
			Random(count, seed), UUID(count, seed), urls(count, seed), Sequential("k", 7, 7+count), padded("k", 7, 8+count),
			prefixed(count, rapid.IntRange(1, 100).Draw(t, "bytes")), tagged{count: count, perTag: rapid.IntRange(1, 100).Draw(t, "per tag")},
		} {
			seen := map[string]bool{}
			for _, key := range keysOf(set) {
				if seen[key] {
					t.Fatalf("%s: key %q appears twice", set.Name(), key)
				}
				seen[key] = true
			}
		}
	})
}

// unscramble undoes scramble step by step, which proves that scramble is one to
// one.
func unscramble(x, salt0, salt1 uint64, width uint) uint64 {
	mask := uint64(1)<<width - 1
	unshift := func(y uint64, by uint) uint64 {
		x := y
		for shift := by; shift < width; shift += by {
			x = y ^ x>>by
		}
		return x
	}
	inverse := func(odd uint64) uint64 { // Newton's iteration doubles the right bits
		inv := odd
		for range 6 {
			inv *= 2 - odd*inv
		}
		return inv
	}
	for _, salt := range [2]uint64{salt1, salt0} {
		x = unshift(x, 31)
		x = x * inverse(0x94d049bb133111eb) & mask
		x = unshift(x, 27)
		x = x * inverse(0xbf58476d1ce4e5b9) & mask
		x = unshift(x, 30)
		x = (x ^ salt) & mask
	}
	return x
}

func TestScrambleIsOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		salt0, salt1 := rapid.Uint64().Draw(t, "salt0"), rapid.Uint64().Draw(t, "salt1")
		for _, width := range []uint{32, 62, 64} {
			x := rapid.Uint64().Draw(t, "x") >> (64 - width)
			y := scramble(x, salt0, salt1, width)
			if y>>(width-1)>>1 != 0 {
				t.Fatalf("scramble(%#x) = %#x, wider than %d bits", x, y, width)
			}
			if back := unscramble(y, salt0, salt1, width); back != x {
				t.Fatalf("unscramble(scramble(%#x)) = %#x at width %d", x, back, width)
			}
		}
	})
}

func TestUUIDHasTheFormOfVersion4(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	ones := [16]int{}
	const count = 4096
	for _, key := range keysOf(UUID(count, 3)) {
		if !form.MatchString(key) {
			t.Fatalf("%q is no UUID of version 4", key)
		}
		var first uint16
		fmt.Sscanf(key[:4], "%x", &first)
		for bit := range ones {
			ones[bit] += int(first >> bit & 1)
		}
	}
	for bit, n := range ones {
		if sd := math.Sqrt(count) / 2; math.Abs(float64(n)-count/2) > 5*sd {
			t.Errorf("bit %d of the first group is set in %d of %d keys", bit, n, count)
		}
	}
}

func TestPaddedNumbersHaveOneWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, 200).Draw(t, "from")
		to := from + rapid.IntRange(1, 2000).Draw(t, "count")
		set, width := padded("k", from, to), len(fmt.Sprint(to-1))
		for rank, key := range keysOf(set) {
			if want := fmt.Sprintf("k%0*d", width, from+rank); key != want {
				t.Fatalf("%s: key %d is %q, want %q", set.Name(), rank, key, want)
			}
		}
	})
}

func TestPrefixedKeysShareTheirFirstBytes(t *testing.T) {
	for _, bytes := range []int{1, 36, 37, 38, maxPrefixBytes} {
		keys := keysOf(prefixed(12, bytes))
		for rank, key := range keys {
			if key[:bytes] != keys[0][:bytes] || key[bytes:] != fmt.Sprint(rank) {
				t.Errorf("key %d of those with %d bytes in common is %q", rank, bytes, key)
			}
		}
	}
}

func TestATagStandsInAsManyKeysAsAskedFor(t *testing.T) {
	const count, perTag = 1000, 7
	keys := map[string]int{}
	for _, key := range keysOf(tagged{count: count, perTag: perTag}) {
		tag := key[strings.Index(key, "{")+1 : strings.Index(key, "}")]
		keys[tag]++
	}
	if len(keys) != (count+perTag-1)/perTag {
		t.Errorf("%d tags", len(keys))
	}
	for tag, n := range keys {
		if n != perTag && tag != "user:142" {
			t.Errorf("tag %s stands in %d keys, want %d", tag, n, perTag)
		}
	}
}

func TestURLsLookLikeAddresses(t *testing.T) {
	form := regexp.MustCompile(`^https://([a-z.]+)/([a-z]+)/([a-z]+)-([a-z]+)-([0-9]{1,10})(\?page=([0-9]))?$`)
	words := [8]map[string]bool{}
	for i := range words {
		words[i] = map[string]bool{}
	}
	set := urls(2000, 3).(*generated)
	for rank, key := range keysOf(set) {
		match := form.FindStringSubmatch(key)
		if match == nil {
			t.Fatalf("%q is no such address", key)
		}
		number, _ := strconv.ParseUint(match[5], 10, 64)
		if back := unscramble(number, set.salt[0], set.salt[1], 32); back != uint64(rank) {
			t.Fatalf("the number of %q leads back to rank %d, want %d", key, back, rank)
		}
		for i, word := range match {
			words[i][word] = true
		}
	}
	for i, want := range [...]int{2000, len(hosts), len(sections), len(colours), len(things)} {
		if len(words[i]) != want {
			t.Errorf("part %d of the addresses is one of %d, want %d", i, len(words[i]), want)
		}
	}
	if len(words[7]) != 8 { // none and pages 2 to 8
		t.Errorf("pages %v", words[7])
	}
}

func TestSeedsGiveOtherKeys(t *testing.T) {
	for _, of := range []func(int, uint64) KeySet{Random, UUID, urls} {
		seen := map[string]bool{}
		for seed := range uint64(4) {
			for _, key := range keysOf(of(1000, seed)) {
				if seen[key] {
					t.Fatalf("key %q stands in the sets of two seeds", key)
				}
				seen[key] = true
			}
		}
	}
}

func TestParseKeys(t *testing.T) {
	for _, test := range []struct {
		spec, name  string
		count       int
		first, last string
	}{
		{"seq:3", "seq:3", 3, "user:0", "user:2"},
		{"seq:user::0:3", "seq:3", 3, "user:0", "user:2"},
		{"seq:sku-:1:100001", "seq:sku-:1:100001", 100000, "sku-1", "sku-100000"},
		{"seq::0:10", "seq::0:10", 10, "0", "9"},
		{"seq:a:b:c:98:101", "seq:a:b:c:98:101", 3, "a:b:c98", "a:b:c100"},
		{"seq:\x00\xff\n:5:6", "seq:\x00\xff\n:5:6", 1, "\x00\xff\n5", "\x00\xff\n5"},
		{"seq:x:9223372036854775806:9223372036854775807", "seq:x:9223372036854775806:9223372036854775807", 1, "x9223372036854775806", "x9223372036854775806"},
		{"padded:1000", "padded:1000", 1000, "user:000", "user:999"},
		{"padded:user::0:1001", "padded:1001", 1001, "user:0000", "user:1000"},
		{"padded:1", "padded:1", 1, "user:0", "user:0"},
		{"padded:a:b:98:101", "padded:a:b:98:101", 3, "a:b098", "a:b100"},
		{"prefix:11", "prefix:11", 11, "production/eu-west-1/orders/cache/v2/production/eu-west-1/orders0", "production/eu-west-1/orders/cache/v2/production/eu-west-1/orders10"},
		{"prefix:11:64", "prefix:11", 11, "", ""},
		{"prefix:11:4", "prefix:11:4", 11, "prod0", "prod10"},
		{"tag:25", "tag:25", 25, "{user:0}:item:0", "{user:2}:item:4"},
		{"tag:25:10", "tag:25", 25, "", ""},
		{"tag:2147483647:1", "tag:2147483647:1", math.MaxInt32, "{user:0}:item:0", "{user:2147483646}:item:0"},
		{"url:2", "url:2", 2, "", ""},
		{"url:2:1", "url:2", 2, "", ""},
		{"url:2:7", "url:2:7", 2, "", ""},
		{"random:2", "random:2", 2, "1bd8375ae811c82a", "e81565b9f5223051"},
		{"random:2:1", "random:2", 2, "1bd8375ae811c82a", "e81565b9f5223051"},
		{"random:2:7", "random:2:7", 2, "", ""},
		{"uuid:2", "uuid:2", 2, "", ""},
		{"uuid:2147483647:18446744073709551615", "uuid:2147483647:18446744073709551615", math.MaxInt32, "", ""},
	} {
		set, err := ParseKeys(test.spec)
		if err != nil {
			t.Errorf("ParseKeys(%q): %v", test.spec, err)
			continue
		}
		if set.Name() != test.name || set.Len() != test.count {
			t.Errorf("ParseKeys(%q) is %s of %d keys, want %s of %d", test.spec, set.Name(), set.Len(), test.name, test.count)
		}
		first, last := set.Key(0), set.Key(set.Len()-1)
		if test.first != "" && (first != test.first || last != test.last) {
			t.Errorf("ParseKeys(%q) goes from %q to %q, want %q to %q", test.spec, first, last, test.first, test.last)
		}
	}
}

func TestParseKeysNamesTheFieldThatIsWrong(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{"", `unknown kind ""`},
		{"seqq:5", `unknown kind "seqq"`},
		{"seq", `COUNT "" is not a whole number`},
		{"seq:", `COUNT "" is not a whole number`},
		{"seq:0", `COUNT is 0`},
		{"seq:-5", `COUNT "-5" is not a whole number`},
		{"seq:user:10", `want seq:PREFIX:FROM:TO`},
		{"seq:user:x:10", `FROM "x"`},
		{"seq:user:0:ten", `TO "ten"`},
		{"seq:user:0:", `TO ""`},
		{"seq:user:-1:10", `FROM "-1"`},
		{"seq:user:10:10", `TO (10) must be above FROM (10)`},
		{"seq:user:11:10", `TO (10) must be above FROM (11)`},
		{"seq:user:0:2147483648", `at most 2147483647`},
		{"seq:user:0:99999999999999999999", `TO "99999999999999999999" is not a whole number`},
		{"padded:user:10", `want padded:PREFIX:FROM:TO`},
		{"padded:0", `COUNT is 0`},
		{"prefix:5:0", `BYTES is 0, want 1 to 4096`},
		{"prefix:5:4097", `BYTES is 4097`},
		{"prefix:5:x", `BYTES "x"`},
		{"prefix:x", `COUNT "x"`},
		{"tag:5:0", `KEYS is 0, want 1 to 2147483647`},
		{"tag:5:1:2", `KEYS "1:2"`},
		{"url:5:x", `SEED "x"`},
		{"uuid:", `COUNT ""`},
		{"uuid:1e6", `COUNT "1e6"`},
		{"uuid:2147483648:1", `at most 2147483647`},
		{"uuid:5:", `SEED ""`},
		{"uuid:5:-1", `SEED "-1"`},
		{"random:5:1:2", `SEED "1:2"`},
		{"random:0:1", `COUNT is 0`},
	} {
		set, err := ParseKeys(test.spec)
		if err == nil {
			t.Errorf("ParseKeys(%q) makes %s, want an error", test.spec, set.Name())
			continue
		}
		if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", test.spec)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseKeys(%q): %v, want the spec and %s on one line", test.spec, err, test.want)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	for _, spec := range []string{"seq:10", "seq:a:b:0:5", "uuid:5:1", "random:5:18446744073709551615", "seq:::1:2", "padded:x:9:11", "prefix:5:7", "tag:9:2", "url:5", "x"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		set, err := ParseKeys(spec)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("ParseKeys(%q): the error has several lines: %v", spec, err)
			}
			return
		}
		again, err := ParseKeys(set.Name())
		if err != nil || again.Name() != set.Name() || again.Len() != set.Len() {
			t.Fatalf("ParseKeys(%q) is named %q, which makes %v, %v", spec, set.Name(), again, err)
		}
		for _, rank := range []int{0, set.Len() / 2, set.Len() - 1} {
			if a, b := set.Key(rank), again.Key(rank); a != b {
				t.Fatalf("ParseKeys(%q) has %q at rank %d, its name makes %q", spec, a, rank, b)
			}
		}
	})
}

func TestARankOutsideTheSetPanics(t *testing.T) {
	for _, set := range []KeySet{Sequential("k", 5, 8), tagged{count: 3, perTag: 2}, Random(3, 1), UUID(3, 1)} {
		for _, rank := range []int{-1, 3} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s has a key of rank %d", set.Name(), rank)
					}
				}()
				set.Key(rank)
			}()
		}
	}
}

func TestKeyAllocatesOnce(t *testing.T) {
	for _, set := range []KeySet{Sequential(Prefix, 0, 1e6), Sequential(strings.Repeat("long", 100), 0, 1e6), Random(1e6, 1), UUID(1e6, 1), urls(1e6, 1), padded(Prefix, 0, 1e6), prefixed(1e6, 500), tagged{count: 1e6, perTag: 10}} {
		rank := 0
		allocs := testing.AllocsPerRun(1000, func() {
			rank += 997
			set.Key(rank)
		})
		if allocs > 1 {
			t.Errorf("%s: a key takes %v allocations", set.Name(), allocs)
		}
	}
}

func TestHashesDoNotDependOnTheCores(t *testing.T) {
	set := UUID(50021, 9)
	want := make([]uint64, 0, set.Len())
	for _, key := range keysOf(set) {
		want = append(want, xxh3.HashString(key))
	}
	for _, cores := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(cores)
		got := Hashes(set, xxh3.HashString)
		runtime.GOMAXPROCS(before)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("at GOMAXPROCS %d (-want +got):\n%s", cores, diff)
		}
	}
	if got := Hashes(Random(0, 1), xxh3.HashString); len(got) != 0 {
		t.Errorf("an empty set has %d hashes", len(got))
	}
}
