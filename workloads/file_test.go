package workloads

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"pgregory.net/rapid"
)

// naughty holds keys that have broken readers before.
var naughty = []string{
	"", " ", "\t", "\x00", "\x00\x00", "\x01\x02\x1b[31m\x7f", "\ufeff", "\ufeffkey", "key\x00", "\v\f\u0085\u2028",
	"\xff", "\xfe\xfe\xff\xff", "\xc3\x28", "\xed\xa0\x80", "\x80abc", "a\rb", "\r\rx",
	"undefined", "null", "NaN", "-1/0", "0x10", "1e309", "007", "true", "None", "#comment", "# x", "//", "--",
	`"`, `""`, `"quoted"`, `a"b`, `'`, "`", `\`, `\n`, "a,b", ",", ";;", "|", "{braces}", "{{.}}", "${HOME}", "%s%n%d",
	"../../etc/passwd", "C:\\NUL", "<script>", "'; DROP TABLE nodes; --", "user:42#0", "node-1=2",
	"田中さん", "👩‍👩‍👧", "e\u0301", "\u202eright to left", "ẞß", "İi", "\u200b", "\U000e0041", strings.Repeat("k", 10_000),
}

// write makes a file in a new folder and returns its path.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func pack(t testing.TB, name string, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	var w io.WriteCloser
	var err error
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&packed)
	case ".zst":
		w, err = zstd.NewWriter(&packed)
	case ".xz":
		w, err = xz.NewWriter(&packed)
	default:
		return content
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// stream collects what StreamKeys yields.
func stream(path string, o FileOptions) (keys []string, err error) {
	for key, err := range StreamKeys(path, o) {
		if err != nil {
			return keys, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func TestKeysComeBackAsTheyWereWritten(t *testing.T) {
	plain := []byte(strings.Join(naughty, "\n") + "\n")
	var asCSV bytes.Buffer
	w := csv.NewWriter(&asCSV)
	w.Write([]string{"before", "the key", "after"})
	var asTSV bytes.Buffer
	asTSV.WriteString("the key\tafter\n")
	var inTSV []string
	for _, key := range naughty {
		w.Write([]string{"x", key, ""})
		if !strings.Contains(key, "\t") {
			inTSV = append(inTSV, key)
			fmt.Fprintf(&asTSV, "%s\t\n", key)
		}
	}
	w.Flush()
	column := FileOptions{KeyColumn: "the key"}
	for _, suffix := range []string{"", ".gz", ".zst", ".xz"} {
		for _, test := range []struct {
			name    string
			content []byte
			options FileOptions
			want    []string
		}{
			{"keys.txt", plain, FileOptions{}, naughty},
			{"keys.csv", asCSV.Bytes(), column, naughty},
			{"keys.tsv", asTSV.Bytes(), column, inTSV},
		} {
			path := write(t, test.name+suffix, pack(t, test.name+suffix, test.content))
			got, err := stream(path, test.options)
			if err != nil {
				t.Errorf("%s: %v", test.name+suffix, err)
				continue
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name+suffix, diff)
			}
			f, err := ReadKeys(path, test.options)
			if err != nil {
				t.Errorf("%s: %v", test.name+suffix, err)
				continue
			}
			if diff := cmp.Diff(test.want, keysOf(f)); diff != "" {
				t.Errorf("%s read whole (-want +got):\n%s", test.name+suffix, diff)
			}
			if want := fmt.Sprintf("file:%s:%d", test.name+suffix, len(test.want)); f.Name() != want {
				t.Errorf("%s is named %s, want %s", test.name+suffix, f.Name(), want)
			}
		}
	}
}

func TestReadKeysCountsRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "", "cc"}), rapid.StringMatching(`[^\n\r]{0,5}`))
		lines := rapid.SliceOfN(word, 1, 3000).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		text := strings.Join(lines, end)
		if lines[len(lines)-1] == "" || rapid.Bool().Draw(t, "end of last") {
			text += end
		}
		f, err := ReadKeys("-", FileOptions{Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		count := map[string]float64{}
		for _, line := range lines {
			if count[line] == 0 {
				order = append(order, line)
			}
			count[line]++
		}
		if diff := cmp.Diff(order, keysOf(f)); diff != "" {
			t.Fatalf("keys (-want +got):\n%s", diff)
		}
		for rank, key := range order {
			if f.Counts()[rank] != count[key] {
				t.Fatalf("key %q counts %v, want %v", key, f.Counts()[rank], count[key])
			}
		}
	})
}

func TestManyKeysAreToldApart(t *testing.T) {
	const n = 300_000
	var text bytes.Buffer
	for range 2 {
		for i := range n {
			fmt.Fprintf(&text, "key-%d\n", i)
		}
	}
	f, err := ReadKeys("-", FileOptions{Stdin: &text})
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != n {
		t.Fatalf("%d distinct keys, want %d", f.Len(), n)
	}
	for i := range n {
		if want := fmt.Sprintf("key-%d", i); f.Key(i) != want || f.Counts()[i] != 2 {
			t.Fatalf("key %d is %q with %v requests, want %q with 2", i, f.Key(i), f.Counts()[i], want)
		}
	}
}

func TestCountsComeFromTheirColumn(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"commas.csv", "key,op,n\na,GET,2\n\nb,GET,0.5\na,SET,3\nc,GET,0\n"},
		{"quoted.csv", "\"key\",op,\"n\"\r\n\"a\",GET,2\r\nb,GET,0.5\r\na,SET,\" 3 \"\r\nc,,0"},
		{"mark.csv", "\ufeffkey,n\na,2\nb,0.5\na,3\nc,0\n"},
		{"semicolons.csv", "n;key\n2;a\n0.5;b\n3;a\n0;c\n"},
		{"bars.txt", "n|key\n2|a\n.5|b\n3|a\n0|c\n"},
		{"tabs.tsv", "op,n\tn\tkey\r\nx\t2\ta\r\ny\t5e-1\tb\r\n\r\n\"\t3\ta\r\n\t0\tc\r\n"},
	} {
		f, err := ReadKeys(write(t, test.name, []byte(test.text)), FileOptions{KeyColumn: "key", CountColumn: "n"})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, keysOf(f)); diff != "" {
			t.Errorf("%s keys (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff([]float64{5, 0.5, 0}, f.Counts()); diff != "" {
			t.Errorf("%s counts (-want +got):\n%s", test.name, diff)
		}
	}
}

// Editors on Windows put a byte order mark at the beginning of a file, where it is
// no part of the first key. Anywhere else it is one like any other character.
func TestAByteOrderMarkIsNoPartOfTheFirstKey(t *testing.T) {
	for _, name := range []string{"keys.txt", "keys.txt.gz", "keys.txt.zst"} {
		path := write(t, name, pack(t, name, []byte("\ufeffa\r\n\ufeffb\n\n")))
		keys, err := stream(path, FileOptions{})
		if diff := cmp.Diff([]string{"a", "\ufeffb", ""}, keys); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if keys, err := stream(write(t, "twice.txt", []byte("\ufeff\ufeff")), FileOptions{}); err != nil || len(keys) != 1 || keys[0] != "\ufeff" {
		t.Errorf("two marks: keys %q, error %v, want the second as a key", keys, err)
	}
	if keys, err := stream(write(t, "mark.txt", []byte("\ufeff")), FileOptions{}); err == nil || !strings.Contains(err.Error(), "no keys, it is empty") {
		t.Errorf("a mark alone: keys %q, error %v, want none and an error", keys, err)
	}
}

func TestReadKeysSaysWhatIsWrongAndWhere(t *testing.T) {
	long := strings.Repeat("x", MaxKeyBytes+3)
	gz := pack(t, "x.gz", []byte(strings.Repeat("key of some length\n", 10)))
	manyLines := new(bytes.Buffer)
	for i := range 50_000 {
		fmt.Fprintf(manyLines, "key %x\n", uint64(i)*0x9e3779b97f4a7c15)
	}
	torn := func(name string) []byte {
		packed := pack(t, name, manyLines.Bytes())
		return packed[:len(packed)/2]
	}
	flipped := bytes.Clone(gz)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	key, both := FileOptions{KeyColumn: "key"}, FileOptions{KeyColumn: "key", CountColumn: "n"}
	for _, test := range []struct {
		name, text string
		options    FileOptions
		want       string // after the path
	}{
		{"a", "", FileOptions{}, ": no keys, "},
		{"a.csv", "", key, ": no keys, it is empty"},
		{"a.csv.gz", string(pack(t, "x.gz", nil)), key, ": no keys, it is empty"},
		{"a.gz", string(pack(t, "x.gz", nil)), FileOptions{}, ": no keys, it is empty"},
		{"a.csv", "key,n\n", key, ": no keys, it is empty below the header"},
		{"a.csv", "key,n\n\n\n", key, ": no keys, it is empty below the header"},
		{"a.tsv", "key\tn\n\n", key, ": no keys, it is empty below the header"},
		{"a.csv", "k,n\n1,2\n", key, `:1: no column "key", columns separated by ',' are "k", "n"`},
		{"a.csv", "key\tn\n1\t2\n", FileOptions{KeyColumn: "key", Comma: ';'}, `:1: no column "key", columns separated by ';' are "key\tn"`},
		{"a.csv", "key,m\n1,2\n", both, `:1: no column "n", columns separated by ',' are "key", "m"`},
		{"a.csv", "key\tm\n1\t2\n", both, `:1: no column "n", columns separated by '\t' are "key", "m"`},
		{"a.csv", "key,n,key\n1,2,3\n", key, `:1: columns 1 and 3 are both named "key"`},
		{"a.csv", "\"key,n\n1,2\n", key, `:1: no column "key"`},
		{"a.csv", "key,n\n1,2\n3\n", key, `:3: 1 columns where the header has 2`},
		{"a.csv", "key,n\n1,2\n\n3,4,5\n", key, `:4: 3 columns where the header has 2`},
		{"a.tsv", "key\tn\n1\t2\n\n3\t4\t5\n", key, `:4: 3 columns where the header has 2`},
		{"a.csv", "key,n\n1,2\nab\"c,4\n", key, `:3:3: quotation mark within a field`},
		{"a.csv", "key,n\n1,2\n\"ab\"c,4\n", key, `:3:4: the quoted field does not end as it should`},
		{"a.csv", "key,n\n1,2\n\"ab,4\n5,6\n", key, `(the row begins at line 3)`},
		{"a.csv", "key,n\n1,2\n3,x\n", both, `:3:3: count "x" in column "n" is not a finite number of 0 or more`},
		{"a.csv", "key,n\n1,2\n\"3\n3\",-1\n", both, `:4:4: count "-1"`},
		{"a.tsv", "key\tn\n1\t2\n33\t\n", both, `:3:4: count ""`},
		{"a.tsv", "key\tn\n1\tNaN\n", both, `:2:3: count "NaN"`},
		{"a.tsv", "key\tn\n1\tinf\n", both, `:2:3: count "inf"`},
		{"a.csv", "key,n\n1,0\n2,0\n", both, `: column "n": all counts are 0`},
		{"a.csv", "key,n\n1,1e308\n1,1e308\n", both, `: column "n": counts of rank 0 are +Inf`},
		{"a.csv", "key,n\n1,x\n", FileOptions{KeyColumn: "key", SizeColumn: "n"}, `:2:3: size "x" in column "n" is not a finite number of 0 or more`},
		{"a.tsv", "key\tn\n1\t-2\n", FileOptions{KeyColumn: "key", SizeColumn: "n"}, `:2:3: size "-2" in column "n"`},
		{"a.csv", "key,n\n1,0\n", FileOptions{KeyColumn: "key", SizeColumn: "n"}, `: column "n": all bytes are 0`},
		{"a.csv", "key,n,m\n1,1e200,1e200\n", FileOptions{KeyColumn: "key", CountColumn: "n", SizeColumn: "m"}, `: column "m": bytes of rank 0 are +Inf`},
		{"a.csv", "key,n\n1,2\n", FileOptions{KeyColumn: "key", SizeColumn: "m"}, `:1: no column "m"`},
		{"a", "k\n", FileOptions{SizeColumn: "n"}, `: size column "n" without a key column`},
		{"a", "k\n", FileOptions{KeyColumn: "n", SizeColumn: "n"}, `: column "n" cannot hold both keys and sizes`},
		{"a", "k\n", FileOptions{KeyColumn: "k", CountColumn: "n", SizeColumn: "n"}, `: column "n" cannot hold both counts and sizes`},
		{"a", "k\n", FileOptions{Format: "csv"}, `: unknown format "csv", want libcachesim-csv or oracle-general`},
		{"a", "k\n", FileOptions{Format: OracleGeneral, KeyColumn: "k"}, `: the format oracle-general has its own columns`},
		{"a.csv", "# time, object, size\n\n1, 7, 5\n2, 8\n", FileOptions{Format: LibCacheSimCSV}, `:4: 2 columns, want time, object and size`},
		{"a.csv", "# time, object, size\n1, 77, x, 3\n", FileOptions{Format: LibCacheSimCSV}, `:2:7: size " x" is not a finite number`},
		{"a.csv", "# time, object, size\n", FileOptions{Format: LibCacheSimCSV}, `: no keys, it is empty`},
		{"a", "k\n", FileOptions{CountColumn: "n"}, `: count column "n" without a key column`},
		{"a", "k\n", FileOptions{KeyColumn: "n", CountColumn: "n"}, `: column "n" cannot hold both`},
		{"a", "k\n", FileOptions{KeyColumn: "n", Comma: '"'}, `: columns cannot be separated by '"'`},
		{"a", "1\n2\n" + long, FileOptions{}, `:3: longer than 16777216 bytes`},
		{"a.csv", "key\n2\n\"" + long + long, key, `:3: longer than 16777216 bytes`},
		{"a.gz", "", FileOptions{}, ": no keys, it is empty"},
		{"a.zst", "", FileOptions{}, ": no keys, "},
		{"a.xz", "", FileOptions{}, ": no keys, it is empty"},
		{"a.gz", "plain text\n", FileOptions{}, ": bad gzip data "},
		{"a.zst", "plain\n", FileOptions{}, ":1: bad zstd data "},
		{"a.xz", "plain text of some length\n", FileOptions{}, ": bad xz data "},
		{"a.gz", string(gz[:5]), FileOptions{}, ": the gzip data end too early"},
		{"a.gz", string(gz[:len(gz)-1]), FileOptions{}, ":11: the gzip data end too early, fetch the file again"},
		{"a.gz", string(flipped), FileOptions{}, ":11: bad gzip data (gzip: invalid checksum)"},
		{"a.gz", string(torn("a.gz")), FileOptions{}, ": the gzip data end too early"},
		{"a.zst", string(torn("a.zst")), FileOptions{}, ": the zstd data end too early"},
		{"a.xz", string(torn("a.xz")), FileOptions{}, ": the xz data end too early"},
		{"a.csv.gz", string(pack(t, "x.gz", []byte("key,n\n1,2\n3,4\n")))[:30], key, ": the gzip data end too early"},
		{"a.txt", string(gz), FileOptions{}, ": these are gzip data, let the name end in .gz or pipe them through gzip -dc"},
		{"a.txt", "\x28\xb5\x2f\xfd", FileOptions{}, ": these are zstd data"},
		{"a.txt", "\xfd7zXZ\x00", FileOptions{}, ": these are xz data"},
	} {
		path := write(t, test.name, []byte(test.text))
		_, err := ReadKeys(path, test.options)
		checkError(t, err, path, test.want)
		if strings.Contains(test.want, "all counts") || strings.Contains(test.want, "all bytes") || strings.Contains(test.want, "+Inf") {
			continue // each row by itself is well
		}
		_, err = stream(path, test.options)
		checkError(t, err, path, test.want)
	}
	missing := filepath.Join(t.TempDir(), "missing.txt")
	_, err := ReadKeys(missing, FileOptions{})
	checkError(t, err, missing, ": ")
	_, err = ReadKeys(t.TempDir(), FileOptions{})
	checkError(t, err, "", "")
	_, err = ReadKeys("-", FileOptions{})
	checkError(t, err, "-", ": there is no standard input here")
	_, err = ReadKeys("-", FileOptions{Stdin: bytes.NewReader(gz)})
	checkError(t, err, "-", ": these are gzip data")
}

func checkError(t *testing.T, err error, path, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %q", want)
	case !strings.HasPrefix(err.Error(), path) || !strings.Contains(strings.TrimPrefix(err.Error(), path), want):
		t.Errorf("%v; want the path and %q", err, want)
	case strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000:
		t.Errorf("not one line: %v", err)
	}
}

func TestALineOfTenMegabytesIsAKey(t *testing.T) {
	long := strings.Repeat("0123456789", 1<<20)
	for _, o := range []FileOptions{{}, {KeyColumn: "key", Comma: ','}, {KeyColumn: "key", Comma: '\t'}} {
		o.Stdin = strings.NewReader("key\n" + long + "\nshort\n" + long + "\n")
		f, err := ReadKeys("-", o)
		if err != nil {
			t.Fatal(err)
		}
		keys := keysOf(f)
		if o.KeyColumn == "" {
			keys = keys[1:]
		}
		if len(keys) != 2 || keys[0] != long || keys[1] != "short" {
			t.Errorf("%+v: got %d keys", o.Comma, len(keys))
		}
	}
}

func TestAnErrorComesAfterTheKeysBeforeIt(t *testing.T) {
	o := FileOptions{KeyColumn: "key", Stdin: strings.NewReader("key,n\na,1\nb,2\nc\nd,4\n")}
	keys, err := stream("-", o)
	if diff := cmp.Diff([]string{"a", "b"}, keys); diff != "" || err == nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzReadKeys(f *testing.F) {
	f.Add([]byte("key,n\na,1\nb,2\n"), "key", "n")
	f.Add([]byte("\ufeffkey\tn\r\na\t1\r\n\"\t2\n"), "key", "n")
	f.Add([]byte("\"key\";\"n\"\n\"a\nb\";1"), "key", "")
	f.Add([]byte(strings.Join(naughty[:40], "\n")), "", "")
	f.Add([]byte("\x1f\x8b"), "", "")
	f.Fuzz(func(t *testing.T, text []byte, keyColumn, countColumn string) {
		options := func() FileOptions {
			return FileOptions{KeyColumn: keyColumn, CountColumn: countColumn, Stdin: bytes.NewReader(text)}
		}
		file, err := ReadKeys("-", options())
		keys, streamErr := stream("-", options())
		if err != nil {
			if !strings.HasPrefix(err.Error(), "-:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v: want one line that begins with the file", err)
			}
			return
		}
		if streamErr != nil {
			t.Fatalf("the stream ends with %v, the file reads well", streamErr)
		}
		rank := map[string]int{}
		for _, key := range keys {
			if _, known := rank[key]; !known {
				rank[key] = len(rank)
			}
		}
		if len(rank) != file.Len() || len(file.Counts()) != file.Len() {
			t.Fatalf("%d distinct keys in the stream, %d in the file, with %d counts", len(rank), file.Len(), len(file.Counts()))
		}
		for key, r := range rank {
			if file.Key(r) != key {
				t.Fatalf("key %d is %q, want %q", r, file.Key(r), key)
			}
		}
		if _, err := ParsePopularity("counts", file.Len(), file.Counts()); err != nil {
			t.Fatalf("the counts are no popularity: %v", err)
		}
	})
}
