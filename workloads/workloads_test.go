package workloads

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A digest takes in numbers and strings and ends in a short text.
type digest struct{ hash.Hash }

func (d digest) number(x uint64) { d.Write(binary.LittleEndian.AppendUint64(nil, x)) }

func (d digest) text(s string) {
	d.number(uint64(len(s)))
	d.Write([]byte(s))
}

// TestStreamsAreTheSameEverywhere compares digests of keys, probabilities and
// streams with those in testdata: a machine, a compiler or a change that makes
// them otherwise is seen here.
func TestStreamsAreTheSameEverywhere(t *testing.T) {
	const path = "testdata/streams.golden"
	var got strings.Builder
	got.WriteString("# source: go test ./workloads -run TestStreamsAreTheSameEverywhere -update\n")
	add := func(name string, fill func(d digest)) {
		d := digest{sha256.New()}
		fill(d)
		fmt.Fprintf(&got, "%s\t%s\n", name, hex.EncodeToString(d.Sum(nil)[:16]))
	}

	for _, parts := range [][]string{nil, {"cell", "rep 0"}} {
		add(fmt.Sprintf("Rand(7, %q)", parts), func(d digest) {
			r := Rand(7, parts...)
			for range 1000 {
				d.number(r.Uint64())
			}
		})
	}
	for _, spec := range []string{"seq:5000", "seq:a:b:99:1000", "random:5000", "random:5000:2", "uuid:5000", "uuid:5000:2", "padded:5000", "prefix:5000", "tag:5000", "url:5000", "url:5000:2"} {
		set, err := ParseKeys(spec)
		if err != nil {
			t.Fatal(err)
		}
		add("keys "+spec, func(d digest) {
			for _, key := range keysOf(set) {
				d.text(key)
			}
		})
	}
	popularities := []*Popularity{
		Uniform(1000), Counts(rampWithGaps(1000)), latest(1000), parsed(t, "hotset:0.1:0.9", 1000), parsed(t, "ycsb-scrambled", 1000),
	}
	for _, s := range exponents {
		popularities = append(popularities, Zipf(s, 100_000))
	}
	for _, p := range popularities {
		add(fmt.Sprintf("P %s over %d", p.Name(), p.Len()), func(d digest) {
			for rank := range p.Len() {
				d.number(math.Float64bits(p.P(rank)))
			}
		})
		add(fmt.Sprintf("samples %s over %d", p.Name(), p.Len()), func(d digest) {
			r := Rand(7, "samples")
			for range 20_000 {
				d.number(uint64(p.Sample(r)))
			}
		})
	}
	for _, mean := range []float64{1, 12.5, 3000} {
		add(fmt.Sprintf("requests held for %v", mean), func(d digest) {
			for e := range Requests(Zipf(0.99, 1000), 20_000, mean, Rand(7, "requests")) {
				d.text(fmt.Sprint(e))
			}
		})
	}
	add("arrivals", func(d digest) {
		for e := range Arrivals(Zipf(0.99, 1000), 20_000, Rand(7, "requests")) {
			d.text(fmt.Sprint(e))
		}
	})
	for _, spec := range []string{"remove-one", "reweight:0.5", "remove:5", "reorder"} {
		add("schedule "+spec, func(d digest) {
			r := Rand(7, "schedule")
			for range 1000 {
				s, err := ParseSchedule(spec, 129, r)
				if err != nil {
					t.Fatal(err)
				}
				d.text(fmt.Sprint(s))
			}
		})
	}

	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(s string) []string { return strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
	if diff := cmp.Diff(lines(string(want)), lines(got.String())); diff != "" {
		t.Errorf("streams differ from those of other machines (-want +got):\n%s", diff)
	}
}

func TestRandTellsItsPartsApart(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(3) {
		for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"b", "a"}, {"a", "", "b"}, {"a\x00b"}} {
			name := fmt.Sprintf("Rand(%d, %q)", seed, parts)
			x := Rand(seed, parts...).Uint64()
			if other, dup := seen[x]; dup {
				t.Errorf("%s and %s are one stream", name, other)
			}
			seen[x] = name
			if again := Rand(seed, parts...).Uint64(); again != x {
				t.Errorf("%s begins with %d and with %d", name, x, again)
			}
		}
	}
}
