package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// specFile tells a spec's file from the name of a suite.
func specFile(arg string) bool {
	return strings.HasSuffix(arg, ".toml") || strings.ContainsRune(arg, '/') || strings.ContainsRune(arg, filepath.Separator)
}

// suiteName is what a run of the suite or the spec is called.
func suiteName(arg string) string {
	if specFile(arg) {
		return strings.TrimSuffix(filepath.Base(arg), ".toml")
	}
	return arg
}

// loadSpec reads a built-in suite or a spec's file.
func loadSpec(arg string) (*harness.Spec, error) {
	if !specFile(arg) {
		s, err := harness.Suite(arg)
		if err != nil {
			return nil, fmt.Errorf("%w (a spec of your own ends in .toml)", err)
		}
		return s, nil
	}
	src, err := os.ReadFile(arg)
	if err != nil {
		return nil, fmt.Errorf("no spec: %w", err)
	}
	return harness.ParseSpec(arg, src)
}

// override puts what the flags say into the spec.
func (f *runFlags) override(s *harness.Spec) {
	if f.seed != 0 {
		s.Seed = f.seed
	}
	for i := range s.Experiments {
		e := &s.Experiments[i]
		if f.seeds != 0 {
			e.Seeds = f.seeds
		}
		if f.reps != 0 {
			e.Reps = f.reps
		}
		if f.nodesFile != "" {
			e.Nodes = nil
		}
		if f.keysFile != "" {
			e.Popularity = f.popularity()
		}
	}
	if f.keysFile != "" {
		s.Keys, s.KeysFile, s.KeyColumn, s.CountColumn = "", f.keysFile, f.keyColumn, f.countColumn
		s.SizeColumn, s.KeysFormat = f.sizeColumn, f.keysFormat
		s.Popularity = f.popularity()
	}
	if f.nodesFile != "" {
		s.Nodes, s.NodesFile = nil, f.nodesFile
		dropWeights(s)
	}
}

// popularity returns what a file of keys tells: who is asked how often, and for how
// many bytes.
func (f *runFlags) popularity() []string {
	if f.sizeColumn != "" || f.keysFormat != "" {
		return []string{"counts", "bytes"}
	}
	return []string{"counts"}
}

// dropWeights takes the patterns of weights from the contestants, since the nodes
// of a file have weights of their own. Of those that are then the same, the first
// stays.
func dropWeights(s *harness.Spec) {
	named := map[string]string{} // contestant -> the one that stands for it
	var kept []harness.Contestant
	for _, c := range s.Contestants {
		c.Weights = ""
		i := slices.IndexFunc(kept, func(k harness.Contestant) bool {
			return k.Algorithm == c.Algorithm && k.Hash == c.Hash && k.Identity == c.Identity && k.Total == c.Total && reflect.DeepEqual(k.Params, c.Params)
		})
		if i < 0 {
			kept = append(kept, c)
			i = len(kept) - 1
		}
		named[c.Name] = kept[i].Name
	}
	s.Contestants = kept
	for i := range s.Experiments {
		e := &s.Experiments[i]
		var names []string
		for _, c := range e.Contestants {
			if n := named[c]; !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		e.Contestants = names
	}
}

// agrees says whether the suite and the flags, where they are repeated, are those
// that the run in the folder was begun with.
func (f *runFlags) agrees(arg string, begun results.Run, spec *harness.Spec) error {
	differs := func(what string) error {
		return fmt.Errorf("%s is not what %s was begun with, leave it out to resume that", what, f.resume)
	}
	if arg != "" {
		s, err := loadSpec(arg)
		if err != nil {
			return err
		}
		if s.NodesFile == "" && spec.NodesFile != "" {
			dropWeights(s)
		}
		if suiteName(arg) != begun.Suite || outline(s) != outline(spec) {
			return differs(arg)
		}
	}
	if f.only != "" && f.only != begun.Only {
		return differs("--only " + f.only)
	}
	for _, one := range []struct {
		flag  string
		flags runFlags
	}{
		{"--seed", runFlags{seed: f.seed}},
		{"--seeds", runFlags{seeds: f.seeds}},
		{"--reps", runFlags{reps: f.reps}},
		{"--nodes-file", runFlags{nodesFile: f.nodesFile}},
		{"--keys-file", runFlags{keysFile: f.keysFile, keyColumn: f.keyColumn, countColumn: f.countColumn, sizeColumn: f.sizeColumn, keysFormat: f.keysFormat}},
	} {
		with, err := harness.SpecFromJSON(f.resume, begun.Spec)
		if err != nil {
			return err
		}
		one.flags.override(with)
		if encode(with) != encode(spec) {
			return differs(one.flag)
		}
	}
	return nil
}

// outline is a spec without what the flags may override.
func outline(s *harness.Spec) string {
	o := *s
	o.Seed, o.Nodes, o.NodesFile, o.Popularity = 0, nil, "", nil
	o.Keys, o.KeysFile, o.KeyColumn, o.CountColumn, o.SizeColumn, o.KeysFormat = "", "", "", "", "", ""
	o.Experiments = slices.Clone(s.Experiments)
	for i := range o.Experiments {
		e := &o.Experiments[i]
		e.Seeds, e.Reps, e.Nodes, e.Popularity = 0, 0, nil, nil
	}
	return encode(&o)
}

// encode writes a spec as run.json holds it. A spec that has been read can be
// written.
func encode(s *harness.Spec) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("cli: " + err.Error())
	}
	return string(b)
}
