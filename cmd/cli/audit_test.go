package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/harness/audit"
)

// The requests for the pages of a web server (web07 of the traces of cache2k, CC BY
// 4.0), added up for each page, with the node that a ring of 160 vnodes has each page
// on. The figures were worked out apart from this program, by a script over the file.
func TestTheAuditOfARealTrace(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Run([]string{"audit", "testdata/pages.csv.xz", "--json"}, nil, &stdout, &stderr); code != exitDone {
		t.Fatalf("it ends with %d: %s", code, &stderr)
	}
	var r audit.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Keys != 20484 || r.Requests != 76118 || r.Nodes != 10 {
		t.Errorf("%d keys, %v requests, %d nodes", r.Keys, r.Requests, r.Nodes)
	}
	for what, c := range map[string]struct{ got, want float64 }{
		"cv": {*r.CV, 0.0831867056663543}, "peak": {*r.Peak, 1.1267330599492287}, "min": {*r.Min, 0.8572544424917008},
		"load cv": {*r.LoadCV, 0.14272579207207764}, "load peak": {*r.LoadPeak, 1.3539504453611497},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", what, c.got, c.want)
		}
	}
	hot := []string{"page-107 1421 n7", "page-71 1204 n4", "page-73 1186 n7"}
	for i, want := range hot {
		k := r.HotKeys[i]
		if got := strings.Join([]string{k.Key, amount(k.Requests), k.Node}, " "); strings.ReplaceAll(got, ",", "") != want {
			t.Errorf("hot key %d is %s, want %s", i, got, want)
		}
	}
	if !r.Why.HotKeys || r.Why.Cause != audit.FewVNodes || !(*r.Why.VNodesLow < 160 && 160 < *r.Why.VNodesHigh) {
		t.Errorf("explained by %+v", r.Why)
	}
}

// A line of ten megabytes is a key like any other.
func TestTheAuditOfALongLine(t *testing.T) {
	in := "key,node\n" + strings.Repeat("k", 10<<20) + ",a\nshort,b\n"
	var stdout, stderr bytes.Buffer
	if code := Run([]string{"audit", "-"}, strings.NewReader(in), &stdout, &stderr); code != exitDone {
		t.Fatalf("it ends with %d: %s", code, &stderr)
	}
	if !strings.HasPrefix(stdout.String(), "2 keys on 2 nodes\n") || stdout.Len() > 2000 {
		t.Errorf("it says %.500s", &stdout)
	}
	in = "key,node\n" + strings.Repeat("k", 17<<20) + ",a\n"
	if code := Run([]string{"audit", "-"}, strings.NewReader(in), &stdout, &stderr); code != exitInput || !strings.Contains(stderr.String(), "-:2: longer than") {
		t.Errorf("17 MB end with %d: %.300s", code, &stderr)
	}
}
