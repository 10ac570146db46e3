package workloads

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A request is what a record of a trace tells.
type request struct {
	time   uint32
	object uint64
	size   uint32
	next   int64
}

// oracleGeneralTrace writes the requests as the layout of the format has it.
func oracleGeneralTrace(requests []request) []byte {
	var trace []byte
	for _, r := range requests {
		trace = binary.LittleEndian.AppendUint32(trace, r.time)
		trace = binary.LittleEndian.AppendUint64(trace, r.object)
		trace = binary.LittleEndian.AppendUint32(trace, r.size)
		trace = binary.LittleEndian.AppendUint64(trace, uint64(r.next))
	}
	return trace
}

// wanted is what a file of keys should hold.
type wanted struct {
	Keys          []string
	Counts, Bytes []float64
}

func (w *wanted) add(key string, count, size float64) {
	for rank, k := range w.Keys {
		if k == key {
			w.Counts[rank] += count
			w.Bytes[rank] += count * size
			return
		}
	}
	w.Keys, w.Counts, w.Bytes = append(w.Keys, key), append(w.Counts, count), append(w.Bytes, count*size)
}

func checkFile(t interface {
	Helper()
	Fatalf(string, ...any)
}, path string, o FileOptions, want wanted) {
	t.Helper()
	f, err := ReadKeys(path, o)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if diff := cmp.Diff(want, wanted{keysOf(f), f.Counts(), f.Bytes()}); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", path, diff)
	}
}

func TestTracesTellKeysRequestsAndBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
			return request{
				time:   rapid.Uint32().Draw(t, "time"),
				object: rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Just(uint64(math.MaxUint64))).Draw(t, "object"),
				size:   rapid.Uint32().Draw(t, "size"),
				next:   rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.Just(int64(math.MaxInt64))).Draw(t, "next"),
			}
		}), 1, 50).Draw(t, "requests")
		var want wanted
		var text bytes.Buffer
		text.WriteString("# time, object, size, next_access_vtime\n")
		for _, r := range requests {
			want.add(strconv.FormatUint(r.object, 10), 1, float64(r.size))
			fmt.Fprintf(&text, "%d, %d, %d, %d\n", r.time, r.object, r.size, r.next)
		}
		checkFile(t, "-", FileOptions{Format: OracleGeneral, Stdin: bytes.NewReader(oracleGeneralTrace(requests))}, want)
		checkFile(t, "-", FileOptions{Format: LibCacheSimCSV, Stdin: &text}, want)
	})
}

func TestTheNameOfAFileTellsAnOracleGeneralTrace(t *testing.T) {
	trace := oracleGeneralTrace([]request{{0, 300, 10, 2}, {5, 7, 4, -1}, {9, 300, 10, -2}})
	want := wanted{[]string{"300", "7"}, []float64{2, 1}, []float64{20, 4}}
	for _, name := range []string{"a.oracleGeneral", "a.oracleGeneral.bin.gz", "a.oracleGeneral.zst", "a.oracleGeneral.sample10.zst", "a.oracleGeneral.xz"} {
		checkFile(t, write(t, name, pack(t, name, trace)), FileOptions{}, want)
	}
	checkFile(t, write(t, "a.bin", trace), FileOptions{Format: OracleGeneral}, want)
	// Columns that are named say that it is a table after all.
	table := write(t, "a.oracleGeneral.csv", []byte("id,bytes\n300,20\n7,4\n300,0\n"))
	checkFile(t, table, FileOptions{KeyColumn: "id", SizeColumn: "bytes"}, want)
}

func TestATornTraceSaysAtWhichRecord(t *testing.T) {
	var requests []request
	for i := range 5000 {
		requests = append(requests, request{uint32(i), scramble(uint64(i), 1, 2, 64), 100, -1})
	}
	whole := oracleGeneralTrace(requests)
	for _, test := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"a.oracleGeneral", whole[:24*3+7], ":record 4: the trace ends after 7 of its 24 bytes, fetch the file again"},
		{"a.oracleGeneral", whole[:23], ":record 1: the trace ends after 23 of its 24 bytes"},
		{"a.oracleGeneral.zst", pack(t, ".zst", whole[:len(whole)-1]), ":record 5000: the trace ends after 23 of its 24 bytes"},
		{"a.oracleGeneral", nil, ": no keys, it is empty"},
		{"a.oracleGeneral.gz", pack(t, ".gz", nil), ": no keys, it is empty"},
		{"a.oracleGeneral", []byte(strings.Repeat("some text of a log file\n", 3)), ":record 1: the next access is said to be record "},
		{"a.oracleGeneral", oracleGeneralTrace([]request{{next: -1}, {next: -3}}), ":record 2: the next access is said to be record -3"},
		{"a.oracleGeneral", pack(t, ".zst", whole), ": these are zstd data"},
	} {
		path := write(t, test.name, test.content)
		_, err := ReadKeys(path, FileOptions{})
		checkError(t, err, path, test.want)
		_, err = stream(path, FileOptions{})
		checkError(t, err, path, test.want)
	}
	for _, suffix := range []string{".gz", ".zst", ".xz"} {
		packed := pack(t, suffix, whole)
		path := write(t, "a.oracleGeneral"+suffix, packed[:len(packed)*3/4])
		keys, err := stream(path, FileOptions{})
		checkError(t, err, path, fmt.Sprintf(":record %d: the ", len(keys)+1))
		if suffix == ".gz" && len(keys) == 0 {
			t.Errorf("%s: no key before the tear", suffix)
		}
	}
}

// The first rows of meta_kv_traces_1.csv of facebook/CacheLib (Apache-2.0).
const cacheLibRows = `op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase
604038471,82131353f9ddc8c6,48,GET,1,87,1,0,366387042,3003229276
604038471,a54f88ab02ece24d,24,GET,3,0,0,0,699950563,699950563
604038471,a54f88ab02ece24d,24,GET,1,0,0,0,699950563,699950563
604038471,4ccc6e0fdd163416,87,GET,3,8,3,0,366387042,2858173043
604038471,4ccc6e0fdd163416,87,GET,2,8,2,0,366387042,3041126167
604038471,06631532f2663ee4,81,GET,1,6432,1,0,366387042,4180585383
604038471,749ab7237b8d0372,47,GET_LEASE,7,10,7,0,176962275,176962275
604038472,06631532f2663ee4,81,GET,2,6432,2,0,366387042,655456894
`

func TestATableTellsRequestsAndBytes(t *testing.T) {
	want := wanted{
		[]string{"82131353f9ddc8c6", "a54f88ab02ece24d", "4ccc6e0fdd163416", "06631532f2663ee4", "749ab7237b8d0372"},
		[]float64{1, 4, 5, 3, 7},
		[]float64{87, 0, 40, 19296, 70},
	}
	o := FileOptions{KeyColumn: "key", CountColumn: "op_count", SizeColumn: "size"}
	checkFile(t, write(t, "kv.csv", []byte(cacheLibRows)), o, want)
	checkFile(t, write(t, "kv.tsv", []byte(strings.ReplaceAll(cacheLibRows, ",", "\t"))), o, want)

	p, err := ParsePopularity("bytes", len(want.Bytes), want.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.P(3), 19296.0/19493; math.Abs(got-want) > 1e-12 {
		t.Errorf("key 3 has %v of the bytes, want %v", got, want)
	}

	plain := write(t, "kv.csv", []byte(cacheLibRows))
	f, err := ReadKeys(plain, FileOptions{KeyColumn: "key"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Bytes() != nil {
		t.Errorf("%v bytes without a column of sizes", f.Bytes())
	}
}

func FuzzOracleGeneral(f *testing.F) {
	trace := oracleGeneralTrace([]request{{1, 2, 3, -1}, {2, math.MaxUint64, 0, math.MaxInt64}, {3, 2, 4, 9}})
	f.Add(trace)
	f.Add(trace[:30])
	f.Add([]byte("some text of a log file\n"))
	f.Fuzz(func(t *testing.T, trace []byte) {
		options := func() FileOptions {
			return FileOptions{Format: OracleGeneral, Stdin: bytes.NewReader(trace)}
		}
		file, err := ReadKeys("-", options())
		keys, streamErr := stream("-", options())
		if (err == nil) != (streamErr == nil) {
			t.Fatalf("read whole: %v; as a stream: %v", err, streamErr)
		}
		for i, key := range keys {
			if want := strconv.FormatUint(binary.LittleEndian.Uint64(trace[24*i+4:]), 10); key != want {
				t.Fatalf("record %d has the key %s, want %s", i+1, key, want)
			}
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "-:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v: want one line that begins with the file", err)
			}
			if len(keys) > 0 && !strings.HasPrefix(err.Error(), fmt.Sprintf("-:record %d: ", len(keys)+1)) {
				t.Fatalf("%v: want the record after %d", err, len(keys))
			}
			return
		}
		if 24*len(keys) != len(trace) || total(file.Counts()) != float64(len(keys)) || len(file.Bytes()) != file.Len() {
			t.Fatalf("%d keys, %v requests and %d sizes in %d bytes", len(keys), total(file.Counts()), len(file.Bytes()), len(trace))
		}
	})
}
