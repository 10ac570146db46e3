package algorithms_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
)

// sized is a Mapper of one bucket with parameters of three kinds.
type sized struct{ nodes int }

func (s *sized) Lookup(uint64) algorithms.Bucket { return 0 }
func (s *sized) Len() int                        { return s.nodes }

type sizedConfig struct {
	Vnodes int     `json:"vnodes"`
	Label  string  `json:"label"`
	Factor float64 `json:"factor"`
}

func (c sizedConfig) Forecast(nodes []algorithms.Node) int64 { return int64(c.Vnodes * len(nodes)) }

var sizedInfo = algorithms.Define("sized", "nowhere", sizedConfig{160, "{name}", 1.5},
	func(nodes []algorithms.Node, c sizedConfig) (*sized, error) {
		if c.Vnodes < 1 {
			return nil, algorithms.Unsupported("vnodes %d", c.Vnodes)
		}
		return &sized{len(nodes)}, nil
	})

func TestDefineReportsTheParametersInForce(t *testing.T) {
	for _, tt := range []struct{ params, want string }{
		{``, `{"vnodes":160,"label":"{name}","factor":1.5}`},
		{`{}`, `{"vnodes":160,"label":"{name}","factor":1.5}`},
		{`{"vnodes":4}`, `{"vnodes":4,"label":"{name}","factor":1.5}`},
		{`{"factor":2,"label":"x"}`, `{"vnodes":160,"label":"x","factor":2}`},
	} {
		m, got, err := sizedInfo.New(algorithms.Nodes("a", "b"), json.RawMessage(tt.params))
		if err != nil || string(got) != tt.want || m.Len() != 2 {
			t.Errorf("params %s give %s, %v, want %s", tt.params, got, err, tt.want)
		}
	}
	if string(sizedInfo.Defaults) != `{"vnodes":160,"label":"{name}","factor":1.5}` {
		t.Errorf("defaults %s", sizedInfo.Defaults)
	}
	if got := algorithms.ParamNames(sizedInfo.Defaults); !slices.Equal(got, []string{"factor", "label", "vnodes"}) {
		t.Errorf("parameter names %q", got)
	}
}

func TestDefineRefusesWithTheNameOfTheParameter(t *testing.T) {
	two := algorithms.Nodes("a", "b")
	for _, tt := range []struct {
		nodes  []algorithms.Node
		params string
		want   string
	}{
		{two, `{"vnode":1}`, `sized: unknown parameter "vnode", did you mean "vnodes"?`},
		{two, `{"vnodes":"many"}`, `sized: parameter "vnodes" cannot be a string, it wants a whole number`},
		{two, `{"vnodes":{}}`, `sized: parameter "vnodes" cannot be an object, it wants a whole number`},
		{two, `{"label":7}`, `sized: parameter "label" cannot be a number, it wants text`},
		{two, `{"factor":true}`, `sized: parameter "factor" cannot be a bool, it wants a number`},
		{two, `{"VNODES":1}`, `sized: unknown parameter "VNODES", did you mean "vnodes"?`},
		{two, `{"vnodes":1,"Vnodes":2}`, `sized: unknown parameter "Vnodes", did you mean "vnodes"?`},
		{two, `{"vnodes":1.5}`, `sized: parameter "vnodes" cannot be 1.5, it wants a whole number`},
		{two, `{"vnodes":null}`, `sized: parameter "vnodes" cannot be null, give it a value or leave it out`},
		{two, `{"vnodes":1} {}`, `sized: parameters are more than one JSON object`},
		{two, `{"vnodes":0}`, `sized: unsupported operation: vnodes 0`},
		{nil, ``, `sized: no nodes, name at least one`},
		{algorithms.Nodes("a", "a"), ``, `sized: node 2: name "a" is taken by node 1, names must differ`},
	} {
		m, params, err := sizedInfo.New(tt.nodes, json.RawMessage(tt.params))
		if err == nil || err.Error() != tt.want {
			t.Errorf("params %s: error %q, want %q", tt.params, err, tt.want)
		}
		if m != nil || params != nil {
			t.Errorf("params %s: a Mapper or parameters beside the error", tt.params)
		}
	}
	if _, _, err := sizedInfo.New(two, json.RawMessage(`{"vnodes":`)); err == nil || !strings.HasPrefix(err.Error(), "sized: parameters: ") {
		t.Errorf("torn JSON: %v", err)
	}
	if _, _, err := sizedInfo.New(two, json.RawMessage(`{"vnodes":0}`)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v does not wrap ErrUnsupported", err)
	}
}

// A struct that is embedded is nothing that the user knows of.
func TestAParameterOfAnEmbeddedStructIsNamedAsItIsTyped(t *testing.T) {
	type limits struct {
		Most int `json:"most"`
	}
	type config struct{ limits }
	info := algorithms.Define("limited", "nowhere", config{}, func([]algorithms.Node, config) (*sized, error) { return &sized{1}, nil })
	_, _, err := info.New(algorithms.Nodes("a"), json.RawMessage(`{"most":1.5}`))
	if want := `limited: parameter "most" cannot be 1.5, it wants a whole number`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestForecastIsThatOfTheConfig(t *testing.T) {
	two := algorithms.Nodes("a", "b")
	if n, err := sizedInfo.Forecast(two, json.RawMessage(`{"vnodes":100}`)); n != 200 || err != nil {
		t.Errorf("forecast %d, %v, want 200", n, err)
	}
	if _, err := sizedInfo.Forecast(two, json.RawMessage(`{"size":1}`)); err == nil {
		t.Error("the forecast accepts an unknown parameter")
	}
	silent := algorithms.Define("silent", "", struct{}{}, func(nodes []algorithms.Node, _ struct{}) (*sized, error) {
		return &sized{len(nodes)}, nil
	})
	if n, err := silent.Forecast(two, nil); n != 0 || err != nil {
		t.Errorf("forecast without Forecaster %d, %v, want 0", n, err)
	}
	if _, _, err := silent.New(two, json.RawMessage(`{"vnodes":1}`)); err == nil || !strings.Contains(err.Error(), "it has none") {
		t.Errorf("a parameter where there is none: %v", err)
	}
}

// stepped is a Config whose knob takes even numbers only.
type stepped struct {
	Slots int `json:"slots"`
	Most  int `json:"most"`
}

func (c stepped) Step(v int) int { return min(v+v%2, c.Most) }

func TestAKnobOfStepsIsThatOfTheConfig(t *testing.T) {
	info := algorithms.Define("stepped", "nowhere", stepped{10, 40}, func(nodes []algorithms.Node, _ stepped) (*sized, error) {
		return &sized{len(nodes)}, nil
	}).TunedTogether("slots")
	if info.Knob != "slots" || !info.Shared || sizedInfo.Tuned("vnodes").Shared {
		t.Errorf("knob %q, shared %v", info.Knob, info.Shared)
	}
	for v, want := range map[int]int{1: 2, 6: 6, 99: 30} {
		if got, err := info.Step(json.RawMessage(`{"most":30}`), v); got != want || err != nil {
			t.Errorf("the step at %d is %d, %v, want %d", v, got, err, want)
		}
	}
	if _, err := info.Step(json.RawMessage(`{"least":1}`), 1); err == nil {
		t.Error("an unknown parameter is accepted")
	}
	if sizedInfo.Step != nil {
		t.Error("a Config without steps has some")
	}
}

func TestDecliningAddsToACopy(t *testing.T) {
	one := sizedInfo.Declining(algorithms.Balance)
	two := one.Declining(algorithms.Inherits)
	three := one.Declining(algorithms.Reachable)
	if len(sizedInfo.Declines) != 0 ||
		!slices.Equal(two.Declines, []string{"balance", "inherits"}) ||
		!slices.Equal(three.Declines, []string{"balance", "reachable"}) {
		t.Errorf("declines %q %q %q", sizedInfo.Declines, two.Declines, three.Declines)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown property is declined without a panic")
		}
	}()
	sizedInfo.Declining("fairness")
}
