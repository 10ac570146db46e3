package plots

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/results"
)

// runsVariable names folders of runs, as PATH does, whose figures the tests here
// look at in place of those that are committed. Continuous integration gives it
// the runs that it takes anyway.
const runsVariable = "RINGBENCH_RUNS"

// recorded returns the runs to look at: all that the suites ask, of one seed, and
// the reference run of the peers; or those of the variable.
func recorded(t *testing.T) map[string]*results.Set {
	t.Helper()
	folders := []string{"testdata/full", "../algorithms/peers/reference"}
	if runs := os.Getenv(runsVariable); runs != "" {
		folders = filepath.SplitList(runs)
	}
	sets := map[string]*results.Set{}
	for _, folder := range folders {
		set, err := results.Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		sets[filepath.Base(filepath.Dir(folder))+" "+filepath.Base(folder)] = set
	}
	return sets
}

// sifted returns the set with the trials for which keep holds, changed as edit
// does to its copy of each.
func sifted(set *results.Set, keep func(results.Trial) bool, edit func(*results.Trial)) *results.Set {
	out := &results.Set{Run: set.Run, End: set.End, Warnings: set.Warnings}
	for _, t := range set.Trials {
		if keep == nil || keep(t) {
			if edit != nil {
				values := t.Values
				t.Values = map[string]float64{}
				for m, v := range values {
					t.Values[m] = v
				}
				edit(&t)
			}
			out.Trials = append(out.Trials, t)
		}
	}
	return out
}

// The runs that README and gallery show, and made-up ones.
func TestFiguresAreSound(t *testing.T) {
	reference, err := results.Read("../results/reference")
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*results.Set{
		"reference": reference, "quick": quick(), "crowded": crowded(), "hostile": hostile(), "joins": joins(), "together": together(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range All(set) {
				checkSound(t, f)
			}
		})
	}
}

// The names of our own suites are all written out.
func TestFiguresOfSuitesCutNoName(t *testing.T) {
	for name, set := range recorded(t) {
		for _, f := range All(set) {
			for _, i := range inspectorOf(t, f, false).inks {
				if strings.Contains(i.text, "...") {
					t.Errorf("%s: %s says %q", name, f.Name, i.text)
				}
			}
		}
	}
}

// suiteOf is the suite of a trial in a run of suite full, which puts its name
// before that of each experiment.
func suiteOf(t results.Trial) string {
	suite, _, _ := strings.Cut(t.Experiment, ":")
	return suite
}

// Each suite, each experiment, each measure, each size and each contestant alone
// makes other choices than all of them together.
func TestFiguresOfAnyPartOfARunAreSound(t *testing.T) {
	for name, set := range recorded(t) {
		parts := map[string]*results.Set{"all of it": set}
		for what, of := range map[string]func(results.Trial) string{
			"suite":      suiteOf,
			"experiment": func(t results.Trial) string { return t.Experiment },
			"measure":    func(t results.Trial) string { return t.Measure },
			"nodes":      func(t results.Trial) string { return fmt.Sprint(t.Nodes) },
			"algorithm":  func(t results.Trial) string { return t.Algorithm },
		} {
			for _, tr := range set.Trials {
				if part := what + " " + of(tr); parts[part] == nil {
					parts[part] = sifted(set, func(other results.Trial) bool { return of(other) == of(tr) }, nil)
				}
			}
		}
		for part, set := range parts {
			t.Run(name+"/"+part, func(t *testing.T) {
				t.Parallel()
				for _, f := range All(set) {
					checkSound(t, f)
				}
			})
		}
	}
}

// A twist turns records into ones that are hard to draw.
type twist struct {
	name string
	of   func(*results.Set) *results.Set
}

// each changes every value.
func each(change func(t results.Trial, metric string, v float64) float64) func(*results.Set) *results.Set {
	return func(set *results.Set) *results.Set {
		return sifted(set, nil, func(t *results.Trial) {
			for m, v := range t.Values {
				t.Values[m] = change(*t, m, v)
			}
		})
	}
}

// renamed gives every algorithm a name.
func renamed(name func(string) string) func(*results.Set) *results.Set {
	return func(set *results.Set) *results.Set {
		return sifted(set, nil, func(t *results.Trial) {
			if !results.IsControl(t.Algorithm) {
				t.Algorithm = name(t.Algorithm)
			}
		})
	}
}

// copied adds copies of the trials that keep takes, each changed and in a cell of
// its own.
func copied(n int, keep func(results.Trial) bool, change func(t *results.Trial, i int)) func(*results.Set) *results.Set {
	return func(set *results.Set) *results.Set {
		out := sifted(set, nil, nil)
		for i := range n {
			out.Trials = append(out.Trials, sifted(set, keep, func(t *results.Trial) {
				change(t, i)
				t.Cell += fmt.Sprintf("/copy=%d", i)
				for m, v := range t.Values {
					t.Values[m] = v * (1 + 0.07*float64(i+1))
				}
			}).Trials...)
		}
		return out
	}
}

func algorithmsOf(set *results.Set) (all []string) {
	for _, t := range set.Trials {
		if !slices.Contains(all, t.Algorithm) && !results.IsControl(t.Algorithm) {
			all = append(all, t.Algorithm)
		}
	}
	slices.Sort(all)
	return all
}

func onlyContestants(keep func(place int) bool) func(*results.Set) *results.Set {
	return func(set *results.Set) *results.Set {
		all := algorithmsOf(set)
		return sifted(set, func(t results.Trial) bool {
			return results.IsControl(t.Algorithm) || keep(slices.Index(all, t.Algorithm))
		}, nil)
	}
}

var twists = []twist{
	{"as it is", func(set *results.Set) *results.Set { return set }},
	{"all values alike", each(func(results.Trial, string, float64) float64 { return 0.5 })},
	{"all zero", each(func(results.Trial, string, float64) float64 { return 0 })},
	{"one contestant zero", func(set *results.Set) *results.Set {
		all := algorithmsOf(set)
		return each(func(t results.Trial, _ string, v float64) float64 {
			if t.Algorithm == all[len(all)/2] {
				return 0
			}
			return v
		})(set)
	}},
	{"every third value zero", func(set *results.Set) *results.Set {
		n := 0
		return sifted(set, nil, func(t *results.Trial) {
			for m := range t.Values {
				if n++; n%3 == 0 {
					t.Values[m] = 0
				}
			}
		})
	}},
	{"tiny", each(func(_ results.Trial, _ string, v float64) float64 { return v * 1e-12 })},
	{"huge", each(func(_ results.Trial, _ string, v float64) float64 { return v * 1e12 })},
	{"at the ends of what is finite", each(func(t results.Trial, _ string, v float64) float64 {
		return v * []float64{1, 1e-290, 1e290, 1e-305}[len(t.Algorithm)%4]
	})},
	{"negative", each(func(t results.Trial, _ string, v float64) float64 {
		if len(t.Algorithm)%2 == 0 {
			return -v
		}
		return v
	})},
	{"long names", renamed(func(s string) string { return strings.Repeat("consistently-hashed-", 4) + s })},
	{"long names that differ in the middle", renamed(func(s string) string { return strings.Repeat("w", 40) + s + strings.Repeat("w", 40) })},
	{"names in Chinese", renamed(func(s string) string { return s + strings.Repeat("\u4e00\u81f4\u6027\u54c8\u5e0c", 12) })},
	{"names in emoji", renamed(func(s string) string { return strings.Repeat("\U0001f680\U0001f4a5", 20) + s })},
	{"names from right to left", renamed(func(s string) string { return strings.Repeat("\u05d2\u05d9\u05d1\u05d5\u05d1 ", 15) + s })},
	{"one contestant", onlyContestants(func(place int) bool { return place == 0 })},
	{"another contestant", onlyContestants(func(place int) bool { return place == 3 })},
	{"forty contestants", func(set *results.Set) *results.Set {
		n := 40/max(1, len(algorithmsOf(set))) + 1
		return copied(n, func(t results.Trial) bool { return !results.IsControl(t.Algorithm) }, func(t *results.Trial, i int) {
			t.Algorithm = fmt.Sprintf("%s-%c", t.Algorithm, 'a'+i)
		})(set)
	}},
	{"eight sizes", copied(5, func(t results.Trial) bool { return t.Series == nil }, func(t *results.Trial, i int) { t.Nodes = t.Nodes*(3*i+4) + 7 })},
	{"many workloads", copied(4, func(t results.Trial) bool { return t.Workload != "" }, func(t *results.Trial, i int) {
		t.Workload = []string{"uuid:1000+zipf:1.2", "file:" + strings.Repeat("a/long/path/", 9) + "keys.txt:1000+counts", "seq:1000+zipf:0.1", "seq:1000+uniform"}[i]
	})},
	{"many schedules", copied(4, func(t results.Trial) bool { return t.Schedule != "" && t.Series == nil }, func(t *results.Trial, i int) {
		t.Schedule = []string{"grow:3", "remove:7", "remove-last", strings.Repeat("a-schedule-", 9)}[i]
	})},
	{"more seeds", copied(3, nil, func(t *results.Trial, i int) { t.Seed += uint64(i) + 1; t.Cell = strings.TrimSuffix(t.Cell, "/copy") })},
	{"a metric absent for some", func(set *results.Set) *results.Set {
		return sifted(set, nil, func(t *results.Trial) {
			for m := range t.Values {
				if (len(m)+len(t.Algorithm)+t.Nodes)%3 == 0 {
					delete(t.Values, m)
				}
			}
		})
	}},
}

// Whatever else the records hold, figures are sound. The twists know no figure:
// one that is new is covered as soon as a record has its metrics.
func TestFiguresOfTwistedRecordsAreSound(t *testing.T) {
	for name, set := range recorded(t) {
		for _, twist := range twists {
			t.Run(name+"/"+twist.name, func(t *testing.T) {
				t.Parallel()
				for _, f := range All(twist.of(set)) {
					checkSound(t, f)
				}
			})
		}
	}
}

// Several twists at once, of any part of the records, with any values.
func TestFiguresOfAnyRecordsAreSound(t *testing.T) {
	set := &results.Set{Run: results.Run{Suite: "any", Seed: 7, Spec: json.RawMessage("{}")}}
	sets := recorded(t)
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		set.Trials = append(set.Trials, sets[name].Trials...)
	}
	value := rapid.OneOf(rapid.Float64Range(0, 2), rapid.SampledFrom([]float64{0, 0, 1, -0.3, 1e-12, 1e12, 3e299, math.MaxFloat64, math.SmallestNonzeroFloat64}))
	var experiments []string
	for _, t := range set.Trials {
		if !slices.Contains(experiments, t.Experiment) {
			experiments = append(experiments, t.Experiment)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(experiments), 1, 3, rapid.ID).Draw(t, "experiments")
		part := sifted(set, func(t results.Trial) bool { return slices.Contains(some, t.Experiment) && t.Rep == 0 && t.Seed <= 2 }, nil)
		for range rapid.IntRange(0, 2).Draw(t, "twists") {
			part = rapid.SampledFrom(twists).Draw(t, "twist").of(part)
		}
		drop := rapid.SliceOfNDistinct(rapid.SampledFrom(algorithmsOf(set)), 0, 6, rapid.ID).Draw(t, "left out")
		share := rapid.IntRange(0, 9).Draw(t, "tenths of the values")
		part = sifted(part, func(t results.Trial) bool { return !slices.Contains(drop, t.Algorithm) }, func(tr *results.Trial) {
			for _, m := range slices.Sorted(keys(tr.Values)) {
				if len(part.Trials) < 60 && rapid.IntRange(0, 9).Draw(t, "change") < share {
					tr.Values[m] = value.Draw(t, m)
				}
			}
		})
		if rapid.Bool().Draw(t, "one value for each metric") {
			all := map[string]float64{}
			part = each(func(_ results.Trial, m string, _ float64) float64 {
				if _, ok := all[m]; !ok {
					all[m] = float64(len(m)%5) * 0.3
				}
				return all[m]
			})(part)
		}
		if rapid.Bool().Draw(t, "spoil a trial") && len(part.Trials) > 0 {
			i := rapid.IntRange(0, len(part.Trials)-1).Draw(t, "trial")
			part.Trials[i].Nodes = rapid.SampledFrom([]int{0, 1, -3, 2, math.MaxInt}).Draw(t, "nodes")
			if part.Trials[i].Series != nil {
				part.Trials[i].Series = map[string][]float64{
					"circle_end":  rapid.SliceOfN(value, 1, 3).Draw(t, "ends"),
					"circle_node": rapid.SliceOfN(value, 1, 3).Draw(t, "owners"),
				}
			}
		}
		for _, f := range All(part) {
			checkSound(t, f)
		}
	})
}
