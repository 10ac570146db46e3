package keyhash_test

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms/keyhash"
)

func TestHashesGiveTheReferenceValues(t *testing.T) {
	data, err := os.ReadFile("testdata/hash_primitives.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Input   string
			MD5     uint64 `json:"md5,string"`
			CRC32   uint32 `json:"crc32"`
			FNV1a32 uint32 `json:"fnv1a-32"`
			FNV1a64 uint64 `json:"fnv1a-64,string"`
			XXH64   uint64 `json:"xxh64,string"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) == 0 {
		t.Fatal("no rows")
	}
	wide := func(h uint32) uint64 { return uint64(h)<<32 | uint64(h) }
	for _, r := range file.Rows {
		check(t, "md5", r.Input, r.MD5)
		check(t, "crc32", r.Input, wide(r.CRC32))
		check(t, "fnv1a-32", r.Input, wide(r.FNV1a32))
		check(t, "fnv1a-64", r.Input, r.FNV1a64)
		check(t, "xxh64", r.Input, r.XXH64)
	}
	// The empty input's values that the specifications of XXH3 and FNV print.
	check(t, "xxh3", "", 0x2d06800538d394c2)
	check(t, "fnv1-64", "", 0xcbf29ce484222325)
}

func check(t *testing.T, name, input string, want uint64) {
	t.Helper()
	h, err := keyhash.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Sum(input); got != want {
		t.Errorf("%s of %q is %d, want %d", name, input, got, want)
	}
}

func TestHashesAgreeWithTheStandardLibraryOnAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		digest := md5.Sum(key)
		a32, a64, one64 := fnv.New32a(), fnv.New64a(), fnv.New64()
		a32.Write(key)
		a64.Write(key)
		one64.Write(key)
		wide := func(h uint32) uint64 { return uint64(h)<<32 | uint64(h) }
		for name, want := range map[string]uint64{
			"md5":      binary.LittleEndian.Uint64(digest[:]),
			"crc32":    wide(crc32.ChecksumIEEE(key)),
			"fnv1a-32": wide(a32.Sum32()),
			"fnv1a-64": a64.Sum64(),
			"fnv1-64":  one64.Sum64(),
		} {
			h, err := keyhash.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Sum(string(key)); got != want {
				t.Fatalf("%s of %x is %d, want %d", name, key, got, want)
			}
		}
	})
}

func TestHashesDoNotAllocate(t *testing.T) {
	for _, h := range keyhash.All() {
		for _, key := range []string{"", "user:42", strings.Repeat("k", 10_000)} {
			if n := testing.AllocsPerRun(50, func() { sink += h.Sum(key) }); n != 0 {
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
		"sha256":  `unknown hash "sha256", there are xxh3, xxh64, md5, crc32, fnv1a-32, fnv1a-64, fnv1-64`,
		"crc-32":  `unknown hash "crc-32", did you mean "crc32"?`,
	} {
		if _, err := keyhash.ByName(name); err == nil || err.Error() != want {
			t.Errorf("ByName(%s): %v, want %s", strconv.Quote(name), err, want)
		}
	}
}
