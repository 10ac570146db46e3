package results

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCellNamesAreAsSpecified(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{CellName("lookup", "ring", 100, nil, "", "", "", ""), "lookup/algorithm=ring/nodes=100"},
		{
			CellName("movement", "ring", 10, []Field{{"point_hash", "md5"}, {"vnodes", "100"}}, "seq:1000000+zipf:0.99", "add-one", "1:2:4", "xxh64"),
			"movement/algorithm=ring/nodes=10/point_hash=md5/vnodes=100/workload=seq:1000000+zipf:0.99/schedule=add-one/weights=1:2:4/hash=xxh64",
		},
		{CellName("balance", "ring", 3, []Field{{"label", "{name}#{index}"}}, "file:a_b c.txt:7+counts", "", "", ""), "balance/algorithm=ring/nodes=3/label=_7bname_7d_23_7bindex_7d/workload=file:a_5fb_20c.txt:7+counts"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func TestParseCellUndoesCellName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("_/=5fF% a")), 0, 8, -1), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		var params []Field
		for range rapid.IntRange(0, 3).Draw(t, "params") {
			params = append(params, Field{rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "name"), text.Draw(t, "value")})
		}
		measure, algorithm, nodes := text.Draw(t, "measure"), text.Draw(t, "algorithm"), rapid.IntRange(0, 1e6).Draw(t, "nodes")
		rest := []Field{{"workload", text.Draw(t, "workload")}, {"schedule", text.Draw(t, "schedule")}, {"weights", text.Draw(t, "weights")}, {"hash", text.Draw(t, "hash")}}
		name := CellName(measure, algorithm, nodes, params, rest[0].Value, rest[1].Value, rest[2].Value, rest[3].Value)

		want := append([]Field{{"algorithm", algorithm}, {"nodes", strconv.Itoa(nodes)}}, params...)
		for _, f := range rest {
			if f.Value != "" {
				want = append(want, f)
			}
		}
		gotMeasure, got := ParseCell(name)
		if gotMeasure != measure {
			t.Fatalf("%s: measure %q, want %q", name, gotMeasure, measure)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", name, diff)
		}
		if !regexp.MustCompile(`^[A-Za-z0-9.,:+_=/-]*$`).MatchString(name) {
			t.Fatalf("%s holds bytes that other tools do not take", name)
		}
	})
}

func TestParseCellTakesAnything(t *testing.T) {
	measure, fields := ParseCell("a_/b/c=_zz_4/=/d=e=f_")
	if want := []Field{{"b", ""}, {"c", "_zz_4"}, {"", ""}, {"d", "e=f_"}}; measure != "a_" || !cmp.Equal(want, fields) {
		t.Errorf("got %q %q", measure, fields)
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		algorithm, params, weights, hash string
		set                              []Field
		want                             string
	}{
		{"ring", `{"vnodes":160}`, "", "", nil, "ring"},
		{"ring", `{"vnodes":160}`, "1:2:4", "", nil, "ring 1:2:4"},
		{"ring", `{"vnodes":100}`, "", "", []Field{{"vnodes", "100"}}, "ring v=100"},
		{"ring", `{"vnodes":100}`, "1:2", "md5", []Field{{"point_hash", "fnv1a-64"}, {"vnodes", "100"}}, "ring point_hash=fnv1a-64 v=100 1:2 md5"},
		{"ring-binary-search", `{}`, "", "", nil, "ring binary search"},
		{"bounded-ring", `{"epsilon":0.25,"vnodes":160}`, "", "", []Field{{"epsilon", "0.25"}}, "bounded ring 1.25"},
		{"bounded-ring", `{"epsilon":0.1}`, "", "", nil, "bounded ring 1.1"},
		{"bounded-ringlet", `{"epsilon":0.25}`, "", "", []Field{{"epsilon", "0.25"}}, "bounded ringlet epsilon=0.25"}, // another's epsilon
		{"ring", `{}`, "", "", []Field{{"replicas", "3"}, {"zones", "3"}}, "ring 3 zones"},
		{"ring", `{}`, "1:2", "", []Field{{"ignore_zones", "true"}, {"zones", "3"}}, "ring ignoring 3 zones 1:2"},
		{"bounded-ring", `null`, "", "", []Field{{"epsilon", "0.1"}}, "bounded ring epsilon=0.1"},
	} {
		got := Label(Trial{
			Cell:      CellName("lookup", c.algorithm, 10, c.set, "seq:10+uniform", "", c.weights, c.hash),
			Algorithm: c.algorithm, Params: json.RawMessage(c.params), Weights: c.weights,
		})
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A list of contestants is taken apart at its commas. Labels hold none, unless a
// value of the user's own does; that one is in quotes.
func TestListsOfContestantsCanBeTakenApart(t *testing.T) {
	value := rapid.StringOfN(rapid.SampledFrom([]rune(`a1:,." `)), 1, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		var labels, listed []string
		for range rapid.IntRange(1, 5).Draw(t, "contestants") {
			set := []Field{{"zones", "3"}}
			if rapid.Bool().Draw(t, "named") {
				set = append(set, Field{"label", value.Draw(t, "value")})
			}
			weights := rapid.SampledFrom([]string{"", "1:2:4", "a,b.csv"}).Draw(t, "weights")
			label := Label(Trial{Cell: CellName("lookup", "ring", 10, set, "", "", weights, "md5"), Algorithm: "ring", Weights: weights})
			if len(set) == 1 && weights != "a,b.csv" && strings.Contains(label, ",") {
				t.Fatalf("%q holds a comma", label)
			}
			labels, listed = append(labels, label), append(listed, Listed(label))
		}
		// Quoted as in CSV, but with the escapes of Go.
		var parts []string
		for rest := strings.Join(listed, ", "); rest != ""; {
			part := rest
			if quoted, err := strconv.QuotedPrefix(rest); err == nil {
				part, _ = strconv.Unquote(quoted)
				rest = rest[len(quoted):]
			} else {
				part, _, _ = strings.Cut(rest, ",")
				rest = rest[len(part):]
			}
			if part == "" {
				t.Fatalf("%q cannot be taken apart", listed)
			}
			parts, rest = append(parts, part), strings.TrimPrefix(rest, ", ")
		}
		if d := cmp.Diff(labels, parts); d != "" {
			t.Fatal(d)
		}
	})
}

func TestParam(t *testing.T) {
	params := json.RawMessage(`{"vnodes":160,"label":"{name}\"","points":[1, 2],"none":null}`)
	for name, want := range map[string]string{"vnodes": "160", "label": `{name}"`, "points": "[1, 2]", "none": "", "other": ""} {
		if got := Param(params, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := Param(nil, "vnodes"); got != "" {
		t.Errorf("no parameters: got %q", got)
	}
}

func TestNumbersInNamesCompareAsNumbers(t *testing.T) {
	sorted := []string{"", "a", "a02", "a2", "a03", "a10", "a10b2", "a10b10", "b", "b1"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareNatural(a, b); got < 0 != (i < j) || got == 0 != (i == j) {
				t.Errorf("%q against %q: %d", a, b, got)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("a01=/")), 0, 6, -1)
		a, b, c := s.Draw(t, "a"), s.Draw(t, "b"), s.Draw(t, "c")
		if compareNatural(a, b) != -compareNatural(b, a) {
			t.Fatalf("%q and %q compare the same both ways", a, b)
		}
		if compareNatural(a, b) <= 0 && compareNatural(b, c) <= 0 && compareNatural(a, c) > 0 {
			t.Fatalf("%q <= %q <= %q, and yet the first is last", a, b, c)
		}
	})
}
