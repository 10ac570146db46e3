package algorithms_test

import (
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms"
)

func TestReadNodesReadsNamesWeightsAndZones(t *testing.T) {
	const file = "\ufeff# a cluster\n" +
		"10.0.0.1:8080\r\n" +
		"\n" +
		"  big , 2.5 , eu-west-1a \n" +
		"idle,0\n" +
		"# the last line has no end\n" +
		"naïve {x}#0,1e3,"
	got, err := algorithms.ReadNodes(strings.NewReader(file), "nodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := []algorithms.Node{
		{Name: "10.0.0.1:8080", Weight: 1},
		{Name: "big", Weight: 2.5, Zone: "eu-west-1a"},
		{Name: "idle", Weight: 0},
		{Name: "naïve {x}#0", Weight: 1000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (want to got):\n%s", diff)
	}
}

func TestReadNodesNamesTheLineOfAnError(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"", `nodes.txt: no nodes, name at least one`},
		{"# only a comment\n", `nodes.txt: no nodes, name at least one`},
		{"a\n\nb,heavy\n", `nodes.txt:3: weight "heavy" is not a number`},
		{"a,-1\n", `nodes.txt:1: weight -1, it must be a finite number of 0 or more`},
		{"a,NaN\n", `nodes.txt:1: weight NaN, it must be a finite number of 0 or more`},
		{"a,1e400\n", `nodes.txt:1: weight "1e400" is not a number`},
		{"a,\n", `nodes.txt:1: weight "" is not a number`},
		{",1\n", `nodes.txt:1: empty node name`},
		{"a\nb\n# c\na,2\n", `nodes.txt:4: name "a" is taken by line 1, names must differ`},
		{"a,1,z,more\n", `nodes.txt:1: 4 fields, want name[,weight[,zone]]`},
		{"a,0\nb,0\n", `nodes.txt: all weights are zero, at least one node must own something`},
		{"a\n\xff\xfe\n", `nodes.txt:2: not UTF-8, is this a nodes file?`},
		{"a\n" + strings.Repeat("x", 1<<20+1), `nodes.txt:2: line longer than 1048576 bytes, is this a nodes file?`},
	} {
		nodes, err := algorithms.ReadNodes(strings.NewReader(tt.file), "nodes.txt")
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.20q: error %v, want %s", tt.file, err, tt.want)
		}
		if nodes != nil {
			t.Errorf("%.20q: nodes beside the error", tt.file)
		}
	}
	_, err := algorithms.ReadNodes(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a\nb\n"))), "nodes.txt")
	if err == nil || err.Error() != "nodes.txt:2: timeout" {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestParseNodeSplitsAtTheLastEqualsSign(t *testing.T) {
	for s, want := range map[string]algorithms.Node{
		"a":       {Name: "a", Weight: 1},
		"a=2":     {Name: "a", Weight: 2},
		"a=b=0.5": {Name: "a=b", Weight: 0.5},
		"a=0":     {Name: "a", Weight: 0},
	} {
		if got, err := algorithms.ParseNode(s); got != want || err != nil {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"":     `node "": empty node name`,
		"=1":   `node "=1": empty node name`,
		"a=":   `node "a=": weight "" is not a number`,
		"a=b":  `node "a=b": weight "b" is not a number`,
		"a=-2": `node "a=-2": weight -2, it must be a finite number of 0 or more`,
	} {
		if got, err := algorithms.ParseNode(s); err == nil || err.Error() != want || got != (algorithms.Node{}) {
			t.Errorf("%q is %v, %v, want the error %s", s, got, err, want)
		}
	}
}

func TestValidateNamesTheNode(t *testing.T) {
	ok := algorithms.Node{Name: "ok", Weight: 1}
	for _, tt := range []struct {
		nodes []algorithms.Node
		want  string
	}{
		{nil, `no nodes, name at least one`},
		{[]algorithms.Node{ok, {Weight: 1}}, `node 2: empty node name`},
		{[]algorithms.Node{ok, ok}, `node 2: name "ok" is taken by node 1, names must differ`},
		{[]algorithms.Node{{Name: "a", Weight: math.Inf(1)}}, `node 1: weight +Inf, it must be a finite number of 0 or more`},
		{[]algorithms.Node{{Name: "a", Weight: 1e308}, {Name: "b", Weight: 1e308}}, `the weights add up to more than a number can hold, divide all of them by the same`},
		{[]algorithms.Node{{Name: "a"}}, `all weights are zero, at least one node must own something`},
	} {
		if err := algorithms.Validate(tt.nodes); err == nil || err.Error() != tt.want {
			t.Errorf("%v: error %v, want %s", tt.nodes, err, tt.want)
		}
	}
	if err := algorithms.Validate([]algorithms.Node{ok, {Name: "idle"}}); err != nil {
		t.Errorf("a node of weight 0 beside others: %v", err)
	}
}

func TestEqualWeights(t *testing.T) {
	if !algorithms.EqualWeights(nil) || !algorithms.EqualWeights(algorithms.Nodes("a", "b")) {
		t.Error("equal weights are said to differ")
	}
	if algorithms.EqualWeights([]algorithms.Node{{Name: "a", Weight: 1}, {Name: "b", Weight: 2}}) {
		t.Error("1 and 2 are said to be equal")
	}
}
