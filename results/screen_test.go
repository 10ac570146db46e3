package results

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update makes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// screenOf is all that the first screen takes from the records.
func screenOf(t *testing.T, s *Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteExact(&b, s); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	if err := WriteMeasured(&b, s); err != nil {
		t.Fatal(err)
	}
	for _, f := range Findings(s) {
		b.WriteString(" - " + f + "\n")
	}
	return b.String()
}

func TestFirstScreen(t *testing.T) {
	only := func(build func(*fixture)) *Set {
		f := newFixture()
		build(f)
		return f.end()
	}
	unquiet := only(func(f *fixture) { f.timings(100, 5, 0.8) })
	unquiet.End.Warnings = []string{"the control moved by 12% during the run"}
	unquiet.End.Complete, unquiet.End.Reason = false, "interrupted"
	for name, set := range map[string]*Set{
		"quick":        quick(),
		"empty":        only(func(*fixture) {}),
		"sweep-only":   only(func(f *fixture) { f.sweep(100, 20, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512) }),
		"timings-only": unquiet,
		"spread-only":  only(func(f *fixture) { f.spread(129, 2) }),
		"bounded-only": only(func(f *fixture) {
			for _, n := range []int{10, 100} {
				for _, epsilon := range []string{"0.1", "0.5"} {
					c := contestant{"bounded-ring", []Field{{"epsilon", epsilon}}, `{"epsilon":` + epsilon + `}`, ""}
					f.trial(c, "bounded", n, 1, 0, "zipf:0.99", "", map[string]float64{"load-peak": 1.1, "spill-fraction": 0.3, "extra-steps": 4.5})
				}
			}
		}),
		"build-only": only(func(f *fixture) {
			for _, n := range []int{10, 100, 129, 1000, 1024, 1025, 10000} {
				for _, c := range quickContestants {
					f.trial(c, "build", n, 1, 0, "", "", map[string]float64{"build-ns": 3.3 * float64(n*n)})
				}
			}
		}),
		"suite-views": only(func(f *fixture) {
			for i, c := range quickContestants {
				for _, schedule := range []string{"remove-one", "reorder", "rolling"} {
					part := float64(i) / 10
					f.trial(c, "views", 10, 1, 0, "zipf:0.99", schedule, map[string]float64{"view-disagreement": part, "view-disagreement-load": part / 2})
				}
			}
		}),
		"suite-churn": only(func(f *fixture) {
			for i, c := range quickContestants {
				for _, schedule := range []string{"add-one", "double", "remove-each", "remove-one", "remove:3", "reorder", "rolling"} {
					f.trial(c, "movement", 10, 1, 0, "zipf:0.99", schedule, map[string]float64{"moved-fraction": float64(i) / 10})
				}
				f.trial(c, "misses", 8, 1, 0, "zipf:0.99", "add-one", map[string]float64{"miss-peak": 4321.6 * float64(i), "miss-total": 111111 * float64(i)})
			}
		}),
		"suite-weighted": only(func(f *fixture) {
			for _, weights := range []string{"1:2:4", "1:1:1:1:1:1:1:1:1:0.001"} {
				for _, vnodes := range []string{"1", "160"} {
					c := contestant{"ring", []Field{{"vnodes", vnodes}}, `{"vnodes":` + vnodes + `}`, weights}
					f.trial(c, "weights", 10, 1, 0, "uniform", "", map[string]float64{"weight-error": float64(len(weights)*len(weights)) / float64(len(vnodes)) / 9, "footprint-bytes": 2050})
				}
				c := contestant{"weighted-rendezvous", nil, `{}`, weights}
				f.trial(c, "weights", 10, 1, 0, "uniform", "", map[string]float64{"weight-error": 0.008, "footprint-bytes": 200})
				f.trial(c, "movement", 10, 1, 0, "uniform", "reweight:2", map[string]float64{"moved-fraction": 0.082, "moved-minimum": 0.081})
			}
		}),
		"suite-collisions": only(func(f *fixture) {
			for _, n := range []int{10, 1000} {
				for _, modulus := range []string{"0", "65536", "4294967296"} {
					c := contestant{"ring", []Field{{"modulus", modulus}}, `{"vnodes":160,"modulus":` + modulus + `}`, ""}
					f.trial(c, "shares", n, 1, 0, "", "", map[string]float64{"point-collisions": float64(n * n / len(modulus)), "share-cv": 0.08, "share-peak": 1.1})
					f.trial(c, "shares", n, 1, 0, "", "reorder", map[string]float64{"moved-fraction": 0})
				}
			}
		}),
		"suite-hashes": only(func(f *fixture) {
			for i, hash := range []string{"xxh3", "crc32", "fnv1a-64"} {
				for j, label := range []string{"{name}#{index}", "{name}{index}"} {
					c := contestant{"ring", []Field{{"point_hash", hash}, {"label", label}, {"names", "cache-{i}.eu-west-1.example.com"}}, `{"vnodes":160}`, ""}
					f.trial(c, "shares", 100, 1, 0, "", "", map[string]float64{"share-cv": 0.079 + 0.1*float64(3*i+j)})
				}
				c := contestant{"modulo", []Field{{"hash", hash}}, `{}`, ""}
				f.trial(c, "balance", 100, 1, 0, "uniform", "", map[string]float64{"balance-cv": 0.01 * float64(1+i)}).Hash = hash
			}
		}),
		"suite-bounded": only(func(f *fixture) {
			for _, epsilon := range []string{"2", "0.05", "0.25"} {
				for _, popularity := range []string{"uniform", "zipf:0.99"} {
					c := contestant{"bounded-ring", []Field{{"epsilon", epsilon}}, `{"vnodes":160,"epsilon":` + epsilon + `}`, ""}
					f.trial(c, "bounded", 100, 1, 0, popularity, "", map[string]float64{"load-peak": 1.05, "spill-fraction": 0.3, "extra-steps": 4.54, "full-fraction": 0.4, "hot-key-nodes": 28})
					f.trial(c, "bounded-movement", 100, 1, 0, popularity, "add-one", map[string]float64{"moved-fraction": 0.088, "moved-minimum": 0.01})
				}
			}
		}),
		"replicas": only(func(f *fixture) { f.replicas() }),
		"many": only(func(f *fixture) {
			for v := 1; v < 14; v++ {
				c := contestant{"ring", []Field{{"vnodes", string(rune('0' + v%10))}, {"point_hash", strings.Repeat("x", 1+v/10)}}, `{}`, ""}
				f.trial(c, "balance", 10, 1, 0, "uniform", "", map[string]float64{"balance-peak": 1 + 1/float64(v)})
			}
			f.spread(10, 1)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got := screenOf(t, set)
			golden(t, name+".txt", got)
			for _, line := range strings.Split(got, "\n") {
				if width(line) > 80 {
					t.Errorf("wider than 80 columns: %q", line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("space at the end of %q", line)
				}
			}
		})
	}
}

func TestScreenDoesNotDependOnTheOrderOfTrials(t *testing.T) {
	set := quick()
	want := screenOf(t, set)
	r := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		r.Shuffle(len(set.Trials), func(i, j int) { set.Trials[i], set.Trials[j] = set.Trials[j], set.Trials[i] })
		if diff := cmp.Diff(want, screenOf(t, set)); diff != "" {
			t.Fatalf("screen changed (-want +got):\n%s", diff)
		}
	}
}

// A run whose control moved warns of it, and no title may say the opposite.
func TestTheTitleCallsNoMachineQuietWhoseControlMoved(t *testing.T) {
	for moved, want := range map[bool]string{false: "machine quiet", true: "machine busy"} {
		f := newFixture()
		f.timings(10, 9, 0.01)
		for i := range f.set.Trials {
			if tr := &f.set.Trials[i]; moved && tr.Timing != nil && tr.Rep >= 5 {
				tr.Timing.ControlNs *= 1.5
			}
		}
		if got := screenOf(t, f.end()); !strings.Contains(got, want) {
			t.Errorf("the title lacks %q:\n%s", want, got)
		}
	}
}

func TestOfOneNodeItIsNotSaidThatOnlyTheTailLeaves(t *testing.T) {
	for nodes, want := range map[int]bool{1: false, 2: true} {
		f := newFixture()
		c := contestant{"ring", nil, `{}`, ""}
		f.trial(c, "balance", nodes, 1, 0, "uniform", "", map[string]float64{"balance-peak": 1})
		f.trial(c, "movement", nodes, 1, 0, "uniform", "add-one", map[string]float64{"moved-fraction": 0.5})
		f.trial(c, "movement", nodes, 1, 0, "uniform", "remove-one", nil).Skip = "it cannot"
		if got := strings.Contains(screenOf(t, f.end()), "only the tail leaves"); got != want {
			t.Errorf("%d nodes: said %v, want %v", nodes, got, want)
		}
	}
}
