package regress

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/harness"
)

// talk starts a worker and returns what asks it.
func talk(t *testing.T, infos ...algorithms.Info) func(line string) response {
	t.Helper()
	processors := runtime.GOMAXPROCS(0)
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Work(context.Background(), in, out, infos) }()
	lines := bufio.NewReader(answers)
	t.Cleanup(func() {
		requests.Close()
		if err := <-done; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
		runtime.GOMAXPROCS(processors) // a worker takes its process for itself
		debug.SetGCPercent(100)
	})
	return func(line string) response {
		t.Helper()
		if _, err := io.WriteString(requests, line+"\n"); err != nil {
			t.Fatal(err)
		}
		b, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var told response
		if err := json.Unmarshal(b, &told); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return told
	}
}

// ask is a request as the parent writes it.
func ask(t *testing.T, r request) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const workerSpec = `
nodes = [4]
keys = "seq:100"
pool = 1024
[[contestant]]
algorithm = "ring"
params = { vnodes = 10 }
[[experiment]]
name = "all"
measures = ["balance", "allocations", "lookup", "assign", "add"]
`

func specJSON(t *testing.T, toml string) json.RawMessage {
	t.Helper()
	spec, err := harness.ParseSpec("test.toml", []byte(toml))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAWorkerDescribesCalibratesOpensAndTimes(t *testing.T) {
	say := talk(t, ring.Info)
	told := say(ask(t, request{Do: "describe", Spec: specJSON(t, workerSpec)}))
	if told.Error != "" || told.Protocol != protocol || len(told.Cells) != 3 || len(told.Exact) != 2 || len(told.Failed) != 0 {
		t.Fatalf("described as %+v", told)
	}
	r := request{Do: "calibrate", TargetNs: 1000}
	for _, c := range told.Cells {
		r.Cells = append(r.Cells, opening{Name: c.Name})
	}
	ops := say(ask(t, r)).Operations
	if len(ops) != 3 {
		t.Fatalf("calibrated as %v", ops)
	}
	r = request{Do: "open", Spec: specJSON(t, workerSpec)}
	for i, c := range told.Cells {
		if strings.HasPrefix(c.Name, "assign/") != (ops[i] == 0) {
			t.Errorf("%s has %d operations a slice", c.Name, ops[i])
		}
		if ops[i] > 0 {
			r.Cells = append(r.Cells, opening{c.Name, ops[i]})
		}
	}
	if told := say(ask(t, r)); told.Error != "" {
		t.Fatal(told.Error)
	}
	for _, c := range r.Cells {
		slice := ask(t, request{Do: "slice", Cell: c.Name, Slice: 3})
		first, second := say(slice), say(slice)
		if first.Error != "" || first.WallNs <= 0 || first.Sum != second.Sum {
			t.Errorf("%s: %+v, then %+v", c.Name, first, second)
		}
	}
}

func TestAWorkerRefusesWhatItCannotDoAndGoesOn(t *testing.T) {
	say := talk(t, ring.Info)
	for _, tt := range []struct{ line, want string }{
		{"{", "not a request"},
		{`{"do":"dance"}`, `unknown request "dance"`},
		{`{"do":"slice","cell":"lookup/x"}`, "was not opened"},
		{`{"do":"calibrate","cells":[{"name":"lookup/x"}]}`, "was described"},
		{`{"do":"describe","spec":7}`, "spec"},
	} {
		if told := say(tt.line); !strings.Contains(told.Error, tt.want) {
			t.Errorf("%s: error %q, want %q", tt.line, told.Error, tt.want)
		}
	}
}

// The spec may come from a program that knows more: what is unknown here is left
// out, and becomes a cell that only one side has.
func TestAWorkerPassesOverWhatItDoesNotKnow(t *testing.T) {
	newer := `{
		"seed": 1, "hash": "xxh3", "nodes": [4], "keys": "seq:100", "pool": 1024, "popularity": ["uniform"], "colour": "blue",
		"contestant": [
			{"name": "ring", "algorithm": "ring", "params": {"vnodes": 10}},
			{"name": "ring of tomorrow", "algorithm": "ring", "params": {"sides": 2}},
			{"name": "newcomer", "algorithm": "newcomer"},
			{"name": "all", "algorithm": "*"}
		],
		"experiment": [
			{"name": "a", "measures": ["balance", "beauty"], "contestants": ["ring", "ring of tomorrow", "newcomer"]},
			{"name": "b", "measures": ["beauty"], "contestants": ["ring"]},
			{"name": "c", "measures": ["balance"], "contestants": ["newcomer"]},
			{"name": "d", "measures": ["balance"], "contestants": ["all"]}
		]}`
	told := talk(t, ring.Info, modulo.Info)(ask(t, request{Do: "describe", Spec: json.RawMessage(newer)}))
	if told.Error != "" {
		t.Fatal(told.Error)
	}
	var got []string
	for _, tr := range told.Exact {
		got = append(got, tr.Cell)
	}
	want := "balance/algorithm=ring/nodes=4/vnodes=10/workload=seq:100+uniform balance/algorithm=modulo/nodes=4/workload=seq:100+uniform"
	if strings.Join(got, " ") != want {
		t.Errorf("cells %q, want %q", got, want)
	}
}

func TestASideWithoutAnyOfTheCellsHasNone(t *testing.T) {
	told := talk(t, modulo.Info)(ask(t, request{Do: "describe", Spec: specJSON(t, workerSpec)}))
	if told.Error != "" || len(told.Cells)+len(told.Exact) != 0 || told.Protocol != protocol {
		t.Errorf("described as %+v", told)
	}
}

func TestRefusedOptions(t *testing.T) {
	if _, err := Compare(context.Background(), Side{Programs: []string{"x"}}, Side{Programs: []string{"x"}}, Options{Rounds: 7}); err == nil || !strings.Contains(err.Error(), "take 8 or more") {
		t.Errorf("7 rounds: %v", err)
	}
	if s := spread([]float64{0.03, -0.04}); math.Abs(s-0.025*math.Sqrt2) > 1e-12 {
		t.Errorf("spread %v", s)
	}
}
