package results

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// questions are small runs that ask one thing each, of every table there is and of
// measures that have none.
var questions = map[string]func(*fixture){
	"quick": func(f *fixture) { f.spread(10, 1) },
	"sweep": func(f *fixture) { f.sweep(10, 1, 1, 16, 256) },
	"bounded": func(f *fixture) {
		for _, epsilon := range []string{"0.05", "0.25", "2"} {
			c := contestant{"bounded-ring", []Field{{"epsilon", epsilon}}, `{"vnodes":160,"epsilon":` + epsilon + `}`, ""}
			f.trial(c, "bounded", 20, 1, 0, "zipf:1.2", "", map[string]float64{"load-peak": 1.05, "spill-fraction": 0.3})
			f.trial(c, "bounded-movement", 20, 1, 0, "zipf:1.2", "add-one", map[string]float64{"moved-fraction": 0.088})
		}
	},
	"views": func(f *fixture) {
		for i, c := range quickContestants[:3] {
			f.trial(c, "views", 10, 1, 0, "zipf:0.99", "rolling", map[string]float64{"view-disagreement": float64(i) / 10, "view-disagreement-load": float64(i) / 20})
		}
	},
	"churn": func(f *fixture) {
		for i, c := range quickContestants[:2] {
			for _, schedule := range []string{"remove-one", "double", "rolling"} {
				f.trial(c, "movement", 12, 1, 0, "zipf:0.99", schedule, map[string]float64{"moved-fraction": float64(1+i) / 10})
			}
			f.trial(c, "misses", 12, 1, 0, "zipf:0.99", "add-one", map[string]float64{"miss-peak": 4321 * float64(1+i), "miss-total": 11111})
		}
	},
	"weighted": func(f *fixture) {
		c := contestant{"ring", []Field{{"vnodes", "160"}}, `{"vnodes":160}`, "1:2:4"}
		f.trial(c, "weights", 14, 1, 0, "uniform", "", map[string]float64{"weight-error": 0.3, "footprint-bytes": 2050})
		f.trial(c, "movement", 14, 1, 0, "uniform", "reweight:2", map[string]float64{"moved-fraction": 0.082, "moved-minimum": 0.081})
	},
	"collisions": func(f *fixture) {
		for _, modulus := range []string{"65536", "4294967296"} {
			c := contestant{"ring", []Field{{"modulus", modulus}}, `{"vnodes":160,"modulus":` + modulus + `}`, ""}
			f.trial(c, "shares", 16, 1, 0, "", "", map[string]float64{"point-collisions": 9, "share-peak": 1.1})
		}
	},
	"hashes": func(f *fixture) {
		for i, hash := range []string{"xxh3", "crc32", "fnv1a-64"} {
			c := contestant{"ring", []Field{{"point_hash", hash}, {"label", "{name}{index}"}}, `{"vnodes":160}`, ""}
			f.trial(c, "shares", 100, 1, 0, "", "", map[string]float64{"share-cv": 0.079 + 0.01*float64(i)})
			f.trial(contestant{"modulo", []Field{{"hash", hash}}, `{}`, ""}, "balance", 100, 1, 0, "uniform", "", map[string]float64{"balance-cv": 0.01 * float64(1+i)}).Hash = hash
		}
	},
	"replicas": func(f *fixture) { f.replicas() },
	"zipf": func(f *fixture) {
		for _, remedy := range []string{"none", "split:1:8"} {
			f.trial(contestant{"ring", []Field{{"remedy", remedy}}, `{"vnodes":160}`, ""}, "remedies", 10, 1, 0, "zipf:0.99", "", map[string]float64{"load-peak": 1.2, "extra-copies": 8})
		}
	},
	"timings": func(f *fixture) { f.timings(10, 2, 0.01) },
	"popularities": func(f *fixture) {
		f.timings(20, 2, 0.01, "zipf:0.99", "zipf:1.2")
		f.trial(quickContestants[0], "latency", 20, 1, 0, "zipf:0.99", "", map[string]float64{"latency-ns": 40})
		f.trial(quickContestants[0], "batch-lookup", 20, 1, 0, "zipf:0.99", "", map[string]float64{"batch-lookup-ns": 40})
	},
	"build": func(f *fixture) {
		f.trial(contestant{"ring", nil, `{}`, ""}, "build", 50, 1, 0, "", "", map[string]float64{"build-ns": 3e5})
	},
	"speed": func(f *fixture) {
		for _, c := range quickContestants[:4] {
			f.trial(c, "batch-lookup", 1000, 1, 0, "uniform", "", map[string]float64{"batch-lookup-ns": 3})
			f.trial(c, "parallel-lookup", 1000, 1, 0, "uniform", "", map[string]float64{"parallel-lookup-ns": 4})
			f.trial(c, "add", 1000, 1, 0, "", "", map[string]float64{"add-ns": 900})
			f.trial(c, "assign", 1000, 1, 0, "", "", map[string]float64{"assign-ns": 90})
		}
	},
	"aged": func(f *fixture) {
		f.trial(contestant{"jump", nil, `{}`, ""}, "key-lookup", 500, 1, 0, "uniform", "", map[string]float64{"key-lookup-ns": 30})
		for _, after := range []string{"remove:0.5", "remove-last:0.5"} {
			c := contestant{"jump", []Field{{"after", after}}, `{}`, ""}
			f.trial(c, "lookup", 500, 1, 0, "uniform", "", map[string]float64{"lookup-ns": 20})
			f.trial(c, "latency", 500, 1, 0, "uniform", "", map[string]float64{"latency-ns": 25})
			f.trial(c, "balance", 500, 1, 0, "uniform", "", map[string]float64{"balance-peak": 1.3})
		}
	},
}

// asked puts the questions into one run. With suites, their names stand before those
// of the experiments, as in the suite of all suites. A cell that two ask for is the
// first one's.
func asked(names []string, suites bool) *Set {
	f := newFixture()
	seen := map[Key]bool{}
	for _, name := range names {
		from := len(f.set.Trials)
		questions[name](f)
		for i := range f.set.Trials[from:] {
			if f.set.Trials[from+i].Experiment = name; suites {
				f.set.Trials[from+i].Experiment = name + ": what it asks"
			}
		}
		kept := slices.DeleteFunc(slices.Clone(f.set.Trials[from:]), func(t Trial) bool { return seen[t.Key()] })
		f.set.Trials = append(f.set.Trials[:from], kept...)
		for _, t := range f.set.Trials {
			seen[t.Key()] = true
		}
	}
	return f.end()
}

// Whatever was measured stands in a table or is named after them, and not both. That
// it stands in one is seen from without: the tables differ when its values do.
func TestWhatTheScreenHasNoRoomForIsNamed(t *testing.T) {
	var names []string
	for name := range questions {
		names = append(names, name)
	}
	slices.Sort(names)
	var runs [][]string
	for i, a := range names {
		runs = append(runs, []string{a})
		for _, b := range names[:i] {
			runs = append(runs, []string{a, b}, []string{b, a})
		}
	}
	runs = append(runs, names)
	for _, run := range runs {
		for _, suites := range []bool{false, true} {
			set := asked(run, suites)
			tables := func() string {
				v := newView(set)
				return fmt.Sprint(v.exactSections(), v.measuredSections())
			}
			before := tables()
			var b bytes.Buffer
			if err := WriteAlso(&b, set); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			for _, line := range strings.Split(b.String(), "\n") {
				if width(line) > 80 {
					t.Errorf("wider than 80 columns: %q", line)
				}
			}
			popularityOf := func(tr *Trial) string { // of what a clock tells of lookups
				_, p, _ := strings.Cut(tr.Workload, "+")
				for metric := range tr.Values {
					if m, _ := MetricByName(metric); m.Kind == Timed && p != "uniform" {
						return p
					}
				}
				return ""
			}
			var topics [][3]string
			for _, tr := range set.Trials {
				suite := ""
				if suites {
					suite = strings.TrimSuffix(tr.Experiment, ": what it asks")
				}
				topic := [3]string{suite, tr.Measure, popularityOf(&tr)}
				if len(tr.Values) > 0 && !IsControl(tr.Algorithm) && !slices.Contains(topics, topic) {
					topics = append(topics, topic)
				}
			}
			for _, topic := range topics {
				of := func(tr *Trial) bool {
					return tr.Measure == topic[1] && popularityOf(tr) == topic[2] && (topic[0] == "" || tr.Experiment == topic[0]+": what it asks") && !IsControl(tr.Algorithm)
				}
				change := func(f func(float64) float64) {
					for i := range set.Trials {
						if tr := &set.Trials[i]; of(tr) {
							for metric, x := range tr.Values {
								tr.Values[metric] = f(x)
							}
						}
					}
				}
				change(func(x float64) float64 { return 2*x + 1 })
				shown := tables() != before
				change(func(x float64) float64 { return (x - 1) / 2 })
				name := topic[1]
				if s := strings.TrimPrefix(topic[2], "zipf:"); s != "" {
					name += " under Zipf " + s
				}
				if named := isNamed(text, topic[0], name); named == shown {
					t.Errorf("%v, suites %v: %s of %q is in a table: %v, and named: %v\n%s\n%s", run, suites, name, topic[0], shown, named, before, text)
				}
			}
			if len(topics) == 0 {
				t.Fatalf("%v measures nothing", run)
			}
		}
	}
}

// isNamed looks for the measure among those named, by suite where there are suites.
func isNamed(text, suite, measure string) bool {
	text, _ = strings.CutPrefix(text, "Also measured, in the report: ")
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "."), "; ") {
		what, _, _ := strings.Cut(part, " (")
		of, all, several := strings.Cut(what, ": ")
		if !several {
			of, all = "", what
			if suite == what {
				of = suite
			}
		}
		if of == suite && slices.Contains(strings.Split(all, ", "), measure) {
			return true
		}
	}
	return false
}
