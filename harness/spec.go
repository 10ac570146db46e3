package harness

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A Spec says what a run measures: who competes, at which sizes, under which
// workload, and in which experiments. It is read from TOML; every field has a
// default, and the spec in run.json has them filled in.
type Spec struct {
	Title string `toml:"title" json:"title"`
	Seed  uint64 `toml:"seed" json:"seed"` // of the first placement; default 1
	Hash  string `toml:"hash" json:"hash"` // of the keys; default "xxh3"

	Nodes     []int  `toml:"nodes" json:"nodes"`           // cluster sizes; generated names
	NodesFile string `toml:"nodes_file" json:"nodes_file"` // the user's own nodes, instead of Nodes

	Keys        string   `toml:"keys" json:"keys"`           // key SPEC, default "seq:key-:0:1000000"
	KeysFile    string   `toml:"keys_file" json:"keys_file"` // the user's own keys, instead of Keys
	KeyColumn   string   `toml:"key_column" json:"key_column"`
	CountColumn string   `toml:"count_column" json:"count_column"`
	SizeColumn  string   `toml:"size_column" json:"size_column"` // of the bytes that a request asks for
	KeysFormat  string   `toml:"keys_format" json:"keys_format"` // of a trace: "libcachesim-csv" or "oracle-general"
	Popularity  []string `toml:"popularity" json:"popularity"`   // default "uniform", or "counts" with a keys file

	Pool int `toml:"pool" json:"pool"` // keys that lookups are timed over, a multiple of 1,024; default PoolSize

	Contestants []Contestant `toml:"contestant" json:"contestant"`
	Experiments []Experiment `toml:"experiment" json:"experiment"`

	file string // for errors
	src  []byte
}

// A Contestant is an algorithm with its parameters and weights.
type Contestant struct {
	Name      string         `toml:"name" json:"name"`           // default: the algorithm, and the weights if any
	Algorithm string         `toml:"algorithm" json:"algorithm"` // "*" for every one that no other contestant is called after
	Params    map[string]any `toml:"params" json:"params"`
	Weights   string         `toml:"weights" json:"weights"` // pattern repeated over the nodes: "1:2:4"
	Hash      string         `toml:"hash" json:"hash"`       // of the keys; default: the spec's
	Names     string         `toml:"names" json:"names"`     // of the nodes: a pattern such as "node-{i}"; default: generated ones

	// How the nodes are handed to the algorithm; see variant.
	Identity string `toml:"identity" json:"identity"` // "name" unless given, or "position"
	Total    int    `toml:"total" json:"total"`       // points of the whole ring, instead of vnodes; 0 for none

	// The zones of the nodes, for the replicas.
	Zones       int  `toml:"zones" json:"zones"`               // dealt out in turn to generated nodes; 0 for none
	IgnoreZones bool `toml:"ignore_zones" json:"ignore_zones"` // the algorithm is not told of them
}

// An Experiment is a group of cells that run together and, when timed, are
// interleaved with each other.
type Experiment struct {
	Name        string           `toml:"name" json:"name"`
	Measures    []string         `toml:"measures" json:"measures"`
	Contestants []string         `toml:"contestants" json:"contestants"` // by name; default all
	Nodes       []int            `toml:"nodes" json:"nodes"`             // default: the spec's
	Keys        []string         `toml:"keys" json:"keys"`               // key SPECs, for balance; default: the spec's, and a keys file comes first
	Popularity  []string         `toml:"popularity" json:"popularity"`   // default: the spec's
	Schedules   []string         `toml:"schedules" json:"schedules"`     // for movement, misses, views and replica-movement
	After       []string         `toml:"after" json:"after"`             // schedules that a structure has been through before it is measured; default "none"
	Replicas    []int            `toml:"replicas" json:"replicas"`       // nodes that hold a key, for replicas and replica-movement; default 3
	Remedies    []string         `toml:"remedies" json:"remedies"`       // for remedies, see parseRemedy
	Rate        float64          `toml:"rate" json:"rate"`               // requests a second of the misses measure; default 50,000
	Sweep       map[string][]any `toml:"sweep" json:"sweep"`             // parameter, or hash or names of the contestant -> values, all combinations
	Seeds       int              `toml:"seeds" json:"seeds"`             // placements; default 1
	Reps        int              `toml:"reps" json:"reps"`               // repetitions of a timing; default 10
	Requests    int              `toml:"requests" json:"requests"`       // of the bounded measure; default the number of keys
	Outstanding int              `toml:"outstanding" json:"outstanding"` // requests held at a time; 0: nothing is released

	// Headline marks the experiments that the first screen's exact part needs:
	// it is shown as soon as the last of them is done.
	Headline bool `toml:"headline" json:"headline"`
}

//go:embed specs/*.toml
var specs embed.FS

// The suite full is all suites in one run, but for those that answer questions
// of their own and take long.
const full = "full"

var notInFull = []string{"gate", "speed"}

// Suites returns the names of the built-in suites, sorted.
func Suites() []string {
	files, err := fs.Glob(specs, "specs/*.toml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	names := []string{full}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".toml"))
	}
	slices.Sort(names)
	return names
}

// Suite returns a built-in suite by name.
func Suite(name string) (*Spec, error) {
	if name == full {
		return fullSuite()
	}
	src, err := specs.ReadFile("specs/" + name + ".toml")
	if err != nil {
		return nil, fmt.Errorf("unknown suite %q, %s", name, algorithms.Nearest(name, Suites()))
	}
	return ParseSpec(name+".toml", src)
}

// fullSuite puts the suites together: each keeps its experiments, under its own
// name, and its contestants.
func fullSuite() (*Spec, error) {
	all := &Spec{Title: "All suites", file: full}
	for _, name := range Suites() {
		if name == full || slices.Contains(notInFull, name) {
			continue
		}
		s, err := Suite(name)
		if err != nil {
			return nil, err
		}
		if all.Keys == "" {
			all.Seed, all.Hash, all.Keys, all.Pool = s.Seed, s.Hash, s.Keys, s.Pool
		}
		if s.Seed != all.Seed || s.Hash != all.Hash || s.Keys != all.Keys || s.Pool != all.Pool {
			return nil, fmt.Errorf("suite %q has a seed, hash, keys or pool of its own and cannot be part of %q", name, full)
		}
		for _, c := range s.Contestants {
			c.Name = name + ": " + c.Name
			all.Contestants = append(all.Contestants, c)
		}
		for _, e := range s.Experiments {
			e.Name = name + ": " + e.Name
			e.Headline = false
			for i, c := range e.Contestants {
				e.Contestants[i] = name + ": " + c
			}
			all.Experiments = append(all.Experiments, e)
		}
	}
	return all, nil
}

// ParseSpec reads a spec. Errors begin with file:line:column and name the mend.
// It checks what the spec alone can tell; NewPlan checks names against the
// algorithms there are.
func ParseSpec(file string, src []byte) (*Spec, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // byte order mark
	s := &Spec{file: file, src: src}
	d := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, tomlError(file, err)
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	return s, nil
}

// SpecFromJSON reads a spec as run.json holds it, with all defaults filled in;
// file names it in errors. It makes the plan that the run was begun with.
func SpecFromJSON(file string, src []byte) (*Spec, error) {
	s := &Spec{file: file}
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%s: cannot read the spec of the run, use the ringbench that wrote it: %w", file, err)
	}
	for _, c := range s.Contestants {
		for name, v := range c.Params {
			c.Params[name] = plainNumber(v)
		}
	}
	for _, e := range s.Experiments {
		for _, values := range e.Sweep {
			for i, v := range values {
				values[i] = plainNumber(v)
			}
		}
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	return s, nil
}

// plainNumber makes of a number from JSON what TOML makes of it, so that the
// names of cells are the same.
func plainNumber(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return v
	}
	return f
}

// tomlError words an error of the TOML reader as file:line:column: what.
func tomlError(file string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, col := e.Position()
		return fmt.Errorf("%s:%d:%d: unknown field %q, see the fields of a spec in harness/METHODOLOGY.md", file, row, col, strings.Join(e.Key(), "."))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		row, col := de.Position()
		what := strings.TrimPrefix(de.Error(), "toml: ")
		if m := otherKind.FindStringSubmatch(what); m != nil {
			key := fieldKey(m[2], m[3])
			what = fmt.Sprintf("%s cannot be %s, it wants %s", key, anyOf(m[1]), wanted(key, m[3]))
		}
		return fmt.Errorf("%s:%d:%d: %s", file, row, col, what)
	}
	return fmt.Errorf("%s: %w", file, err)
}

// otherKind is how the TOML reader says that a value is of another kind than the
// field, which it names as the program does.
var otherKind = regexp.MustCompile(`^cannot decode TOML (\S+) into struct field \S+\.(\w+) of type (.+)$`)

// tables tells whether the type of a field is a list of tables.
func tables(goType string) bool { return strings.HasPrefix(goType, "[]harness.") }

// fieldKey makes of a field's name in the program what a spec calls it.
func fieldKey(field, goType string) string {
	var key strings.Builder
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) {
			key.WriteByte('_')
		}
		key.WriteRune(unicode.ToLower(r))
	}
	if tables(goType) {
		return strings.TrimSuffix(key.String(), "s")
	}
	return key.String()
}

// anyOf puts an article before a word.
func anyOf(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an " + word
	}
	return "a " + word
}

// wanted words the type of a field.
func wanted(key, goType string) string {
	element, list := strings.CutPrefix(goType, "[]")
	what := goType
	switch {
	case strings.HasPrefix(goType, "map["):
		return "a table"
	case tables(goType):
		return "[[" + key + "]]"
	case element == "int" || element == "uint64":
		what = "a whole number"
	case element == "float64":
		what = "a number"
	case element == "string":
		what = "text"
	case element == "bool":
		what = "true or false"
	}
	if list {
		what = "a list of " + strings.TrimPrefix(what+"s", "a ")
	}
	return what
}

// textOnly refuses control characters, which a screen would obey.
func textOnly(what, text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s %q holds a control character, take it out", what, text)
	}
	return nil
}

// fill sets the defaults and checks what needs no knowledge of the algorithms.
func (s *Spec) fill() error {
	if s.Seed == 0 {
		s.Seed = 1
	}
	if s.Hash == "" {
		s.Hash = defaultHash
	}
	if s.Keys != "" && s.KeysFile != "" {
		return s.errorAt("", -1, "keys_file", "keys and keys_file exclude each other, keep one")
	}
	if s.Keys == "" && s.KeysFile == "" {
		s.Keys = "seq:key-:0:1000000"
	}
	if s.Pool == 0 {
		s.Pool = PoolSize
	}
	if s.Pool < 0 || s.Pool > maxPool || s.Pool%chunk != 0 {
		return s.errorAt("", -1, "pool", "pool = %d, want a multiple of %d up to %d", s.Pool, chunk, maxPool)
	}
	if err := textOnly("title", s.Title); err != nil {
		return s.errorAt("", -1, "title", "%v", err)
	}
	if len(s.Popularity) == 0 {
		s.Popularity = []string{"uniform"}
		if s.KeysFile != "" {
			s.Popularity = []string{"counts"}
		}
	}
	if len(s.Nodes) > 0 && s.NodesFile != "" {
		return s.errorAt("", -1, "nodes_file", "nodes and nodes_file exclude each other, keep one")
	}
	if len(s.Contestants) == 0 {
		return fmt.Errorf("%s: no [[contestant]], name at least one algorithm", s.file)
	}
	if len(s.Experiments) == 0 {
		return fmt.Errorf("%s: no [[experiment]], say what to measure", s.file)
	}
	names := map[string]bool{}
	for i := range s.Contestants {
		c := &s.Contestants[i]
		if c.Algorithm == "" {
			return s.errorAt("contestant", i, "", "no algorithm, name one")
		}
		if c.Name == "" {
			c.Name = c.Algorithm
			if c.Weights != "" {
				c.Name += " " + c.Weights
			}
		}
		if err := textOnly("name", c.Name); err != nil {
			return s.errorAt("contestant", i, "name", "%v", err)
		}
		if names[c.Name] {
			return s.errorAt("contestant", i, "name", "a second contestant %q, give one of them a name", c.Name)
		}
		names[c.Name] = true
		if c.Hash == "" {
			c.Hash = s.Hash
		}
		if c.Params == nil {
			c.Params = map[string]any{}
		}
		if c.Zones < 0 || c.Zones > maxNodes {
			return s.errorAt("contestant", i, "zones", "%d zones, want 1 to %d, or 0 for none", c.Zones, maxNodes)
		}
	}
	seen := map[string]bool{}
	for i := range s.Experiments {
		if err := s.fillExperiment(i, names); err != nil {
			return err
		}
		if n := s.Experiments[i].Name; seen[n] {
			return s.errorAt("experiment", i, "name", "a second experiment %q, rename one", n)
		}
		seen[s.Experiments[i].Name] = true
	}
	return nil
}

func (s *Spec) fillExperiment(i int, contestants map[string]bool) error {
	e := &s.Experiments[i]
	fail := func(key, format string, args ...any) error {
		return s.errorAt("experiment", i, key, format, args...)
	}
	if e.Name == "" {
		return fail("", "no name, give the experiment one")
	}
	if err := textOnly("name", e.Name); err != nil {
		return fail("name", "%v", err)
	}
	if len(e.Measures) == 0 {
		return fail("", "no measures, name some of %s", strings.Join(Measures(), ", "))
	}
	for _, m := range e.Measures {
		if !slices.Contains(Measures(), m) {
			return fail("measures", "unknown measure %q, %s", m, algorithms.Nearest(m, Measures()))
		}
	}
	for _, c := range e.Contestants {
		if !contestants[c] {
			return fail("contestants", "unknown contestant %q, %s", c, algorithms.Nearest(c, slices.Sorted(maps.Keys(contestants))))
		}
	}
	if len(e.Contestants) == 0 {
		for _, c := range s.Contestants {
			e.Contestants = append(e.Contestants, c.Name)
		}
	}
	if len(e.Nodes) == 0 {
		e.Nodes = s.Nodes
	}
	if s.NodesFile != "" {
		e.Nodes = nil
	} else if len(e.Nodes) == 0 {
		return fail("nodes", "no nodes, give cluster sizes or a nodes_file")
	}
	for _, n := range e.Nodes {
		if n < 1 || n > maxNodes {
			return fail("nodes", "%d nodes, want 1 to %d", n, maxNodes)
		}
	}
	if len(e.Popularity) == 0 {
		e.Popularity = s.Popularity
	}
	for _, m := range e.Measures {
		switch m {
		case "movement", "misses", "views", "replica-movement", "bounded-movement":
			if len(e.Schedules) == 0 {
				return fail("measures", "%s needs schedules, such as [\"add-one\", \"remove-one\"]", m)
			}
		case "remedies":
			if len(e.Remedies) == 0 {
				return fail("measures", "remedies needs the list of them, such as [\"none\", \"split:10:4\", \"cache:100\"]")
			}
		}
	}
	if len(e.After) == 0 {
		e.After = []string{newlyBuilt}
	}
	for _, m := range e.Measures {
		if slices.ContainsFunc(e.After, func(a string) bool { return a != newlyBuilt }) && !slices.Contains(historic, m) {
			return fail("after", "%s is measured of structures that are newly built, give it an experiment without after", m)
		}
	}
	if len(e.Replicas) == 0 && slices.ContainsFunc(e.Measures, ofReplicas) {
		e.Replicas = []int{3}
	}
	for _, r := range e.Replicas {
		if r < 1 || r > maxReplicas {
			return fail("replicas", "%d replicas, want 1 to %d", r, maxReplicas)
		}
	}
	if !(e.Rate >= 0) || math.IsInf(e.Rate, 1) {
		return fail("rate", "rate = %v, want requests a second", e.Rate)
	}
	if e.Rate == 0 {
		e.Rate = 50_000
	}
	points := 1
	for _, p := range slices.Sorted(maps.Keys(e.Sweep)) {
		if len(e.Sweep[p]) == 0 {
			return fail("sweep", "sweep of %q has no values", p)
		}
		if points *= len(e.Sweep[p]); points > maxPoints {
			return fail("sweep", "sweep of more than %d combinations, give fewer values", maxPoints)
		}
	}
	for _, limit := range []struct {
		key   string
		value int
	}{{"seeds", e.Seeds}, {"reps", e.Reps}, {"requests", e.Requests}, {"outstanding", e.Outstanding}} {
		if limit.value < 0 {
			return fail(limit.key, "%s = %d, want 0 or more", limit.key, limit.value)
		}
	}
	if e.Seeds == 0 {
		e.Seeds = 1
	}
	if e.Reps == 0 {
		e.Reps = 10
	}
	return nil
}

// newlyBuilt stands among the schedules of [Experiment.After] for no change.
const newlyBuilt = "none"

// historic are the measures that may ask for structures with a past.
var historic = []string{"shares", "balance", "load", "movement", "allocations", "memory", "lookup", "latency", "key-lookup", "batch-lookup", "add", "remove"}

// ofReplicas says whether a measure is about replicas.
func ofReplicas(measure string) bool { return measure == "replicas" || measure == "replica-movement" }

// defaultHash is the hash of the keys that a cell's name leaves out.
const defaultHash = "xxh3"

// everyAlgorithm stands for all algorithms there are.
const everyAlgorithm = "*"

// An entrant is a contestant that stands for one algorithm, with the place in
// the spec that errors name.
type entrant struct {
	Contestant
	at int
}

// entrants returns, for each contestant, those that it stands for: itself, or one
// for each algorithm that is no control. A contestant of that name which is
// there by itself, with parameters of its own perhaps, takes its place.
func (s *Spec) entrants(infos []algorithms.Info) map[string][]*entrant {
	all := map[string][]*entrant{}
	for i, c := range s.Contestants {
		if c.Algorithm != everyAlgorithm {
			all[c.Name] = []*entrant{{c, i}}
		}
	}
	for i, c := range s.Contestants {
		if c.Algorithm != everyAlgorithm {
			continue
		}
		var them []*entrant
		for _, info := range infos {
			one := c
			one.Algorithm, one.Name = info.Name, info.Name
			if c.Weights != "" {
				one.Name += " " + c.Weights
			}
			switch there := all[one.Name]; {
			case results.IsControl(info.Name):
			case len(there) == 1 && there[0].Algorithm == info.Name:
				them = append(them, there[0])
			default:
				them = append(them, &entrant{one, i})
			}
		}
		all[c.Name] = them
	}
	return all
}

// What is beyond these is a typing error, and would take all memory or a day
// before anything is measured.
const (
	maxNodes  = 10_000_000        // of a generated cluster
	maxPool   = 1 << 26           // keys
	maxRounds = 100_000           // seeds and reps of an experiment
	maxPoints = 100_000           // of a sweep
	maxTrials = 500_000           // of a run
	maxAsked  = workloads.MaxKeys // requests of the bounded measure
)

// errorAt places an error in the spec: at the key of the i-th table of that
// name, or at the table's header when the key is not there. Table "" is the top.
func (s *Spec) errorAt(table string, i int, key, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	row, col := s.locate(table, i, key)
	if row == 0 {
		return fmt.Errorf("%s: %s", s.file, what)
	}
	return fmt.Errorf("%s:%d:%d: %s", s.file, row, col, what)
}

// locate walks the spec's text for the position of a key; 0, 0 when unknown.
func (s *Spec) locate(table string, i int, key string) (row, col int) {
	var p unstable.Parser
	p.Reset(s.src)
	inside := table == ""
	count := -1
	for p.NextExpression() {
		e := p.Expression()
		it := e.Key()
		if !it.Next() {
			continue
		}
		k := it.Node()
		name := string(k.Data)
		switch e.Kind {
		case unstable.ArrayTable:
			if name == table {
				count++
			}
			inside = name == table && count == i
			if inside {
				pos := p.Shape(k.Raw).Start
				row, col = pos.Line, pos.Column
			}
		case unstable.Table:
			// [experiment.sweep] stands inside the experiment before it.
			sub := ""
			if it.Next() {
				sub = string(it.Node().Data)
			}
			inside = name == table && count == i
			if inside && sub == key {
				pos := p.Shape(k.Raw).Start
				return pos.Line, pos.Column
			}
		case unstable.KeyValue:
			if inside && name == key {
				pos := p.Shape(k.Raw).Start
				return pos.Line, pos.Column
			}
		}
	}
	return row, col
}
