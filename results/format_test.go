package results

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestFormatIsWhatTheTypesSay checks that FORMAT.md documents the records: its
// examples decode into the types and hold every field, and every field has a
// line in a table.
func TestFormatIsWhatTheTypesSay(t *testing.T) {
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllSubmatch(b, -1)
	types := []any{&Run{}, &Trial{}, &End{}}
	if len(examples) != len(types) {
		t.Fatalf("%d examples, want one for each of %d types", len(examples), len(types))
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[a-z0-9_`, ]+`) \\|").FindAllStringSubmatch(string(b), -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			documented[strings.Trim(name, "` ")] = true
		}
	}
	var lines []byte
	for i, record := range types {
		example := examples[i][1]
		if bytes.Contains(example, []byte("\n")) {
			t.Errorf("the example of %T is not one line", record)
		}
		d := json.NewDecoder(bytes.NewReader(example))
		d.DisallowUnknownFields()
		if err := d.Decode(record); err != nil {
			t.Errorf("%T: %v", record, err)
		}
		checkFields(t, reflect.TypeOf(record).Elem(), example, documented)
		lines = append(append(lines, example...), '\n')
	}
	set, _, err := parse(bytes.NewReader(lines), "FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Trials) != 1 || set.End == nil || checkValues(set.Trials[0].Values) != nil {
		t.Fatalf("the examples read as %+v", set)
	}
	trial := set.Trials[0]
	if float64(trial.Timing.FloorBytes) > trial.Values["footprint-bytes"] {
		t.Errorf("the floor of the example reads within %d bytes, and its structure has %v", trial.Timing.FloorBytes, trial.Values["footprint-bytes"])
	}
	// The value is the time over the operations, to the digits that the example gives.
	if math.Abs(float64(trial.Timing.CPUNs)/float64(trial.Timing.Operations)-trial.Values["lookup-ns"]) > 1e-5 {
		t.Errorf("the example has %+v and a value of %v", trial.Timing, trial.Values["lookup-ns"])
	}
}

// checkFields checks that the example holds all fields of the type, and that
// each of them is documented.
func checkFields(t *testing.T, typ reflect.Type, example []byte, documented map[string]bool) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(example, &fields); err != nil {
		t.Fatal(err)
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name := f.Tag.Get("json")
		if name == "" || strings.Contains(name, ",") {
			t.Errorf("%v.%s: a field of a record has a plain name in JSON and is always written, tag %q", typ, f.Name, name)
		}
		if !documented[name] {
			t.Errorf("%v.%s: %q has no line in a table", typ, f.Name, name)
		}
		if _, ok := fields[name]; !ok {
			t.Errorf("%v.%s: %q is not in the example", typ, f.Name, name)
			continue
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			checkFields(t, inner, fields[name], documented)
		}
	}
}
