package results

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A Field is one name=value part of a cell's name.
type Field struct {
	Name, Value string
}

// CellName builds the name of a cell:
//
//	<measure>/algorithm=<a>/nodes=<n>/<param>=<v>.../workload=<w>/schedule=<s>/weights=<w>/hash=<h>
//
// The params stand in the order given. Of the last four, those that are "" are
// left out. In values, a byte outside [A-Za-z0-9.,:+-] is written as "_" and two
// hexadecimal digits; names of parameters are identifiers and stand as they are.
func CellName(measure, algorithm string, nodes int, params []Field, workload, schedule, weights, hash string) string {
	var b strings.Builder
	b.WriteString(escape(measure))
	field := func(name, value string) {
		b.WriteByte('/')
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(escape(value))
	}
	field("algorithm", algorithm)
	field("nodes", strconv.Itoa(nodes))
	for _, p := range params {
		field(p.Name, p.Value)
	}
	for _, f := range []Field{{"workload", workload}, {"schedule", schedule}, {"weights", weights}, {"hash", hash}} {
		if f.Value != "" {
			field(f.Name, f.Value)
		}
	}
	return b.String()
}

// ParseCell takes the name of a cell apart, in order and with the escapes
// undone. It takes any string: a part without "=" becomes a name without value,
// and a "_" that begins no escape stands for itself.
func ParseCell(name string) (measure string, fields []Field) {
	parts := strings.Split(name, "/")
	for _, part := range parts[1:] {
		k, v, _ := strings.Cut(part, "=")
		fields = append(fields, Field{k, unescape(v)})
	}
	return unescape(parts[0]), fields
}

// fixedFields are the names in a cell's name that are not parameters.
var fixedFields = map[string]bool{
	"algorithm": true, "nodes": true, "workload": true, "schedule": true, "weights": true, "hash": true, "requests": true, "replicas": true, "after": true,
}

// boundedByEpsilon are the algorithms of ringbench itself whose epsilon is that of
// the bound 1 + epsilon. Another's of that name may mean anything.
var boundedByEpsilon = []string{"bounded-ring", "bounded-random-jump"}

// Label returns what a contestant is called where people read: the algorithm
// with the parameters, weights and hash that the cell's name sets, such as
// "ring v=100", "ring 1:2:4" or "bounded ring 1.25" (1 + epsilon). It adds no
// comma, so that a list of contestants can be taken apart at its commas; a value
// of the user's own may hold one, see [Listed].
func Label(t Trial) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(t.Algorithm, "-", " "))
	bounded := false
	if slices.Contains(boundedByEpsilon, t.Algorithm) {
		if epsilon, err := strconv.ParseFloat(Param(t.Params, "epsilon"), 64); err == nil {
			bounded = true
			b.WriteString(" " + formatFloat(Exact(1+epsilon)))
		}
	}
	_, fields := ParseCell(t.Cell)
	var hash, zones, placed string
	for _, f := range fields {
		switch {
		case f.Name == "hash":
			hash = f.Value
		case f.Name == "zones":
			zones = f.Value + " zones"
		case f.Name == "ignore_zones":
			placed = " ignoring"
		case fixedFields[f.Name], f.Name == "epsilon" && bounded:
		case f.Name == "vnodes":
			b.WriteString(" v=" + f.Value)
		case f.Name == "identity":
			b.WriteString(" by " + f.Value)
		default:
			b.WriteString(" " + f.Name + "=" + f.Value)
		}
	}
	if zones != "" {
		zones = placed + " " + zones
	}
	b.WriteString(zones)
	if t.Weights != "" {
		b.WriteString(" " + t.Weights)
	}
	if hash != "" {
		b.WriteString(" " + hash)
	}
	return b.String()
}

// Listed returns a name as it stands in a list whose items commas part: in quotes
// when it holds a comma or a quote itself, as it is otherwise.
func Listed(name string) string {
	if strings.ContainsAny(name, `,"`) {
		return strconv.Quote(name)
	}
	return name
}

// Param returns a parameter from a JSON object of parameters: a string without
// its quotes, anything else as it is written, and "" when it is not there.
func Param(params json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(params, &m) != nil {
		return ""
	}
	var s string
	if json.Unmarshal(m[name], &s) == nil {
		return s
	}
	return string(m[name])
}

// formatFloat writes v with as many digits as it takes to read it back.
func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// plain reports whether a byte stands for itself in a cell's name.
func plain(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' ||
		strings.IndexByte(".,:+-", c) >= 0
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '_' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
