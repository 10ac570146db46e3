package algorithms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The properties that the conformance suite checks and that an algorithm may
// decline by name in [Info.Declines]. What it declines, `ringbench list` shows.
const (
	Balance          = "balance"           // chi-square against the weights
	Reachable        = "reachable"         // every node of positive weight owns some key
	MinimalMovement  = "minimal-movement"  // a change moves keys only to or from the node it is about
	OrderIndependent = "order-independent" // the order of the nodes does not matter
	Inherits         = "inherits"          // a removed node's keys go to their second replica, without zones
)

// Properties lists the names that [Info.Declines] may hold.
var Properties = []string{Balance, Reachable, MinimalMovement, OrderIndependent, Inherits}

// Info is what the harness knows of an algorithm: its name, where it comes
// from, and how to build it. Make one with [Define].
type Info struct {
	Name     string          // as in records and on the command line: "ring", "weighted-rendezvous"
	Ref      string          // paper or source, with its authors and year
	Cost     string          // of a lookup among n nodes, in words: "O(log n)"; see Costing
	Memory   string          // of the structure over n nodes, in words: "12 bytes a node"
	Declines []string        // properties of the conformance suite that it does not promise
	Defaults json.RawMessage // the default parameters, all of them
	Knob     string          // the parameter that buys balance for memory, "" for none; see Tuned
	Shared   bool            // whether the knob counts what all nodes share, not what each has; see TunedTogether

	// New builds a Mapper. The params are a JSON object that overrides the
	// defaults; nil changes none. It returns the parameters in force, all of
	// them. An unknown or ill-typed parameter is an error that names it.
	New func(nodes []Node, params json.RawMessage) (Mapper, json.RawMessage, error)

	// Forecast returns the bytes that New will need for its structure, or 0
	// when the algorithm does not tell.
	Forecast func(nodes []Node, params json.RawMessage) (int64, error)

	// Step is that of the [Stepper] with the parameters; nil for an algorithm
	// whose Config is none.
	Step func(params json.RawMessage, v int) (int, error)

	// PointCounts and Shares are those of the [Scatterer] with the parameters;
	// nil for an algorithm whose Config is none.
	PointCounts func(nodes []Node, params json.RawMessage) ([]int, error)
	Shares      func(nodes []Node, params json.RawMessage) ([]float64, error)

	// RandomPoints is that of the [RandomRing] with the parameters; nil for an
	// algorithm whose Config is none.
	RandomPoints func(params json.RawMessage) (int, error)
}

// A Forecaster is a Config that can tell, without building anything, how many
// bytes the structure over the nodes will take.
type Forecaster interface {
	Forecast(nodes []Node) int64
}

// A Stepper is a Config whose knob, see [Info.Tuned], takes only some whole
// numbers.
type Stepper interface {
	// Step returns the least value of the knob that New takes and that is not
	// below v, or the highest that it takes where v is above all.
	Step(v int) int
}

// A Scatterer is a Config whose structure scatters points over a circle and
// gives a node all that lies between its points and those before them. Over
// random names the shares of the nodes then follow the Dirichlet distribution
// whose parameters are the numbers of points, whatever the hash, provided that
// it is a good one.
type Scatterer interface {
	// PointCounts returns the number of points of each node, or nil when the
	// points are not hashed ones on a circle of 2^64 positions.
	PointCounts(nodes []Node) []int

	// Shares returns the part of the circle that each node owns, as the built
	// structure has it up to 1e-12, without building it. Where PointCounts is
	// nil it is an error that wraps [errors.ErrUnsupported]. It may be called
	// by many goroutines at once.
	Shares(nodes []Node) ([]float64, error)
}

// A RandomRing is a Config that says of its structure what the theory of rings is
// about: every node stands on a circle at random points, as many as its weight asks
// for, and owns what lies before them. A record carries the number, and only where
// there is one is a spread shown beside what theory expects.
type RandomRing interface {
	// RandomPoints returns the number of points of a node of weight 1, or 0 when
	// they do not stand at random, such as points listed by hand.
	RandomPoints() int
}

// Define makes the Info of an algorithm from its default Config and its
// constructor. C is a struct whose fields carry json tags; a field's name in
// JSON is the parameter's name. New checks the nodes with [Validate] before it
// calls build.
func Define[C any, M Mapper](name, ref string, def C, build func([]Node, C) (M, error)) Info {
	decode := func(params json.RawMessage) (C, error) {
		c, err := decodeParams(def, params)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return c, err
	}
	info := Info{
		Name:     name,
		Ref:      ref,
		Defaults: mustEncode(def),
		New: func(nodes []Node, params json.RawMessage) (Mapper, json.RawMessage, error) {
			c, err := decode(params)
			if err != nil {
				return nil, nil, err
			}
			if err := Validate(nodes); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			m, err := build(nodes, c)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			return m, mustEncode(c), nil
		},
		Forecast: func(nodes []Node, params json.RawMessage) (int64, error) {
			c, err := decode(params)
			if err != nil {
				return 0, err
			}
			if f, ok := any(c).(Forecaster); ok {
				return f.Forecast(nodes), nil
			}
			return 0, nil
		},
	}
	if _, ok := any(def).(Stepper); ok {
		info.Step = func(params json.RawMessage, v int) (int, error) {
			c, err := decode(params)
			if err != nil {
				return 0, err
			}
			return any(c).(Stepper).Step(v), nil
		}
	}
	if _, ok := any(def).(RandomRing); ok {
		info.RandomPoints = func(params json.RawMessage) (int, error) {
			c, err := decode(params)
			if err != nil {
				return 0, err
			}
			return any(c).(RandomRing).RandomPoints(), nil
		}
	}
	if _, ok := any(def).(Scatterer); ok {
		info.PointCounts = func(nodes []Node, params json.RawMessage) ([]int, error) {
			c, err := decode(params)
			if err != nil {
				return nil, err
			}
			return any(c).(Scatterer).PointCounts(nodes), nil
		}
		info.Shares = func(nodes []Node, params json.RawMessage) ([]float64, error) {
			c, err := decode(params)
			if err != nil {
				return nil, err
			}
			return any(c).(Scatterer).Shares(nodes)
		}
	}
	return info
}

// Tuned returns the Info with the knob: the whole-number parameter that makes
// the shares of the nodes more even, and the structure larger, the higher it
// is. A name that is no parameter is a programmer's error and panics.
func (i Info) Tuned(knob string) Info {
	if !slices.Contains(ParamNames(i.Defaults), knob) {
		panic(fmt.Sprintf("algorithms: %s has no parameter %q to be tuned by", i.Name, knob))
	}
	i.Knob = knob
	return i
}

// Costing returns the Info with what a lookup costs and what the structure takes
// for n nodes, both in a few words for a table.
func (i Info) Costing(lookup, memory string) Info {
	i.Cost, i.Memory = lookup, memory
	return i
}

// TunedTogether is Tuned for a knob that counts what all nodes share, such as the
// slots of a table or the points of a ring whose total is fixed.
func (i Info) TunedTogether(knob string) Info {
	i = i.Tuned(knob)
	i.Shared = true
	return i
}

// Declining returns the Info with the properties added to Declines. An unknown
// property is a programmer's error and panics.
func (i Info) Declining(properties ...string) Info {
	for _, p := range properties {
		if !slices.Contains(Properties, p) {
			panic(fmt.Sprintf("algorithms: %s declines the unknown property %q", i.Name, p))
		}
	}
	i.Declines = append(slices.Clone(i.Declines), properties...)
	return i
}

// Unsupported returns an error that wraps [errors.ErrUnsupported]: a request
// that the algorithm cannot meet by its nature.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errors.ErrUnsupported, fmt.Sprintf(format, args...))
}

// decodeParams overlays the JSON object params on a copy of def.
func decodeParams[C any](def C, params json.RawMessage) (C, error) {
	if len(params) == 0 {
		return def, nil
	}
	c := def
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return def, paramError(def, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return def, errors.New("parameters are more than one JSON object")
	}
	for _, name := range ParamNames(params) {
		// encoding/json passes over null, so that the default would stand in for it.
		if isNull(params, name) && !isNull(mustEncode(def), name) {
			return def, fmt.Errorf("parameter %q cannot be null, give it a value or leave it out", name)
		}
		// It takes names in any case, which would make two of one.
		for _, known := range ParamNames(mustEncode(def)) {
			if name != known && strings.EqualFold(name, known) {
				return def, fmt.Errorf("unknown parameter %q, did you mean %q?", name, known)
			}
		}
	}
	return c, nil
}

// isNull reports whether the JSON object gives null for the parameter.
func isNull(params json.RawMessage, name string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(params, &m) == nil && string(m[name]) == "null"
}

// paramError words an error of encoding/json for somebody who typed k=v.
func paramError(def any, err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		name := typ.Field[strings.LastIndexByte(typ.Field, '.')+1:] // without the struct that it is embedded in
		return fmt.Errorf("parameter %q cannot be %s, it wants %s", name, given(typ.Value), wanted(typ.Type.Kind()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		known := ParamNames(mustEncode(def))
		if len(known) == 0 {
			return fmt.Errorf("unknown parameter %s, it has none", name)
		}
		return fmt.Errorf("unknown parameter %s, %s", name, Nearest(strings.Trim(name, `"`), known))
	}
	return fmt.Errorf("parameters: %w", err)
}

// given words what encoding/json met: "string", "number 1.5".
func given(value string) string {
	if number, ok := strings.CutPrefix(value, "number "); ok {
		return number
	}
	if strings.ContainsAny(value[:1], "ao") {
		return "an " + value
	}
	return "a " + value
}

// wanted words the kind of a parameter.
func wanted(kind reflect.Kind) string {
	switch kind {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	}
	return kind.String()
}

// ParamNames returns the parameter names in a JSON object, sorted.
func ParamNames(params json.RawMessage) []string {
	var m map[string]json.RawMessage
	if json.Unmarshal(params, &m) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

func mustEncode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("algorithms: a Config must encode as JSON: %v", err))
	}
	return b
}
