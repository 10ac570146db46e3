package keyhash_test

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms/keyhash"
)

// read decodes a file of reference values: its rows, without its source.
func read(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := struct {
		Source string
		Rows   *[]map[string]string
	}{Rows: &rows}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Source == "" || len(rows) == 0 {
		t.Fatalf("%s: no source or no rows", path)
	}
	return rows
}

func TestHashesGiveTheReferenceValues(t *testing.T) {
	for _, row := range read(t, "testdata/hash_primitives.json") {
		for _, h := range keyhash.All() {
			check(t, h.Name, row["input"], row[h.Name])
		}
	}
}

func TestHashesGiveTheValuesThatOthersPublished(t *testing.T) {
	published := map[string]bool{}
	for _, row := range read(t, "testdata/published.json") {
		check(t, row["hash"], row["input"], row["value"])
		published[row["hash"]] = true
	}
	published["xxh64"] = true // its own module carries them
	published["siphash"] = true
	for _, h := range keyhash.All() {
		if !published[h.Name] {
			t.Errorf("no published value of %s", h.Name)
		}
	}
}

// check compares a hash with its value before it becomes 64 bits wide.
func check(t *testing.T, name, input, value string) {
	t.Helper()
	h, err := keyhash.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := strconv.ParseUint(value, 10, min(h.Bits, 64))
	if err != nil {
		t.Fatalf("%s of %q: %v", name, input, err)
	}
	if got := h.Number(input); got != want {
		t.Errorf("%s of %q is %d, want %d", name, input, got, want)
	}
	if h.Bits == 32 {
		want = wide(uint32(want))
	}
	if got := h.Position(input); got != want {
		t.Errorf("%s of %q stands at %d, want %d", name, input, got, want)
	}
}

func wide(h uint32) uint64 { return uint64(h)<<32 | uint64(h) }

// The JVM's own answer for a character beyond 16 bits is among the reference
// values; what no character begins or ends counts as U+FFFD.
func TestJavaTakesInvalidBytesForTheReplacementCharacter(t *testing.T) {
	h, err := keyhash.ByName("java")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]uint32{
		"\xff":     0xfffd,
		"a\xc3":    31*'a' + 0xfffd,
		"\x80\x80": 31*0xfffd + 0xfffd,
	} {
		if got := h.Number(key); got != uint64(want) {
			t.Errorf("java of %q is %#x, want %#x", key, got, want)
		}
	}
}

// elastic/elasticsearch#7954: a remainder by 33 undoes most of djb2.
func TestDJB2OfDecimalNumbersLeavesShardsEmpty(t *testing.T) {
	h, err := keyhash.ByName("djb2")
	if err != nil {
		t.Fatal(err)
	}
	used := map[uint64]bool{}
	for id := range 100_000 {
		used[h.Number(strconv.Itoa(id))%33] = true
	}
	if empty := 33 - len(used); empty != 17 {
		t.Errorf("%d of 33 shards are empty, want 17", empty)
	}
}

func TestHashesAgreeWithTheStandardLibraryOnAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		digest := md5.Sum(key)
		sum := sha1.Sum(key)
		a32, a64, one32, one64 := fnv.New32a(), fnv.New64a(), fnv.New32(), fnv.New64()
		for _, w := range []io.Writer{a32, a64, one32, one64} {
			w.Write(key)
		}
		for name, want := range map[string]uint64{
			"md5":      binary.LittleEndian.Uint64(digest[:]),
			"sha1":     binary.LittleEndian.Uint64(sum[:]),
			"crc32":    wide(crc32.ChecksumIEEE(key)),
			"crc32c":   wide(crc32.Checksum(key, crc32.MakeTable(crc32.Castagnoli))),
			"fnv1a-32": wide(a32.Sum32()),
			"fnv1a-64": a64.Sum64(),
			"fnv1-32":  wide(one32.Sum32()),
			"fnv1-64":  one64.Sum64(),
		} {
			h, err := keyhash.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Position(string(key)); got != want {
				t.Fatalf("%s of %x is %d, want %d", name, key, got, want)
			}
		}
	})
}

func TestHashesDoNotAllocate(t *testing.T) {
	for _, h := range keyhash.All() {
		for _, key := range []string{"", "user:42", "\xff\U0001f511", strings.Repeat("k", 10_000)} {
			if n := testing.AllocsPerRun(50, func() { sink += h.Number(key) + h.Position(key) }); n != 0 {
				t.Errorf("%s allocates %v times for a key of %d bytes", h.Name, n, len(key))
			}
		}
	}
}

var sink uint64

func TestTheDefaultIsFirstAndNamesAreUnique(t *testing.T) {
	all := keyhash.All()
	if all[0].Name != keyhash.Default {
		t.Errorf("first is %s, want the default %s", all[0].Name, keyhash.Default)
	}
	seen := map[string]bool{}
	for _, h := range all {
		if seen[h.Name] {
			t.Errorf("two hashes are named %s", h.Name)
		}
		seen[h.Name] = true
	}
	all[0].Name = "changed"
	if keyhash.All()[0].Name != keyhash.Default {
		t.Error("a caller can change the table through All")
	}
}

func TestAnUnknownNameSuggestsTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"xxh":     `unknown hash "xxh", did you mean "xxh3"?`,
		"fnv1a32": `unknown hash "fnv1a32", did you mean "fnv1a-32"?`,
		"sha256":  `unknown hash "sha256", did you mean "sha1"?`,
		"blake2b": `unknown hash "blake2b", there are xxh3, xxh64, md5, sha1, crc32, crc32c, fnv1a-32, fnv1a-64, fnv1-32, fnv1-64, murmur3, siphash, farm, java, djb2`,
		"crc-32":  `unknown hash "crc-32", did you mean "crc32"?`,
	} {
		if _, err := keyhash.ByName(name); err == nil || err.Error() != want {
			t.Errorf("ByName(%s): %v, want %s", strconv.Quote(name), err, want)
		}
	}
}
