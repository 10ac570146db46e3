package workloads

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSchedule(t *testing.T) {
	const n = 4
	for _, test := range []struct {
		spec string
		want Schedule
	}{
		{"add-one", Schedule{Name: "add-one", Steps: [][]Change{{{Op: AddNode, Node: 4}}}}},
		{"remove-last", Schedule{Name: "remove-last", Steps: [][]Change{{{Op: RemoveNode, Node: 3}}}}},
		{"remove-each", Schedule{Name: "remove-each", Independent: true, Steps: [][]Change{
			{{Op: RemoveNode, Node: 0}}, {{Op: RemoveNode, Node: 1}}, {{Op: RemoveNode, Node: 2}}, {{Op: RemoveNode, Node: 3}},
		}}},
	} {
		got, err := ParseSchedule(test.spec, n, Rand(1))
		if err != nil {
			t.Errorf("ParseSchedule(%q): %v", test.spec, err)
		} else if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ParseSchedule(%q) (-want +got):\n%s", test.spec, diff)
		}
	}
}

func TestRandomSchedulesChooseEachNodeEquallyOften(t *testing.T) {
	const n, draws = 7, 7000
	for _, test := range []struct {
		spec, name string
		op         Op
		factor     float64
	}{
		{"remove-one", "remove-one", RemoveNode, 0},
		{"reweight:2.50", "reweight:2.5", SetWeight, 2.5},
		{"reweight:0", "reweight:0", SetWeight, 0},
		{"reweight:-0", "reweight:0", SetWeight, 0},
	} {
		r := Rand(1, test.spec)
		observed := make([]int, n)
		for range draws {
			s, err := ParseSchedule(test.spec, n, r)
			if err != nil {
				t.Fatalf("ParseSchedule(%q): %v", test.spec, err)
			}
			want := Schedule{Name: test.name, Steps: [][]Change{{{Op: test.op, Node: s.Steps[0][0].Node, Factor: test.factor}}}}
			if diff := cmp.Diff(want, s); diff != "" {
				t.Fatalf("ParseSchedule(%q) (-want +got):\n%s", test.spec, diff)
			}
			observed[s.Steps[0][0].Node]++
		}
		if p := chiSquare(observed, func(int) float64 { return draws / n }); p < 1e-4 || p > 1-1e-4 {
			t.Errorf("%s chose the nodes %v times, chi-square has p = %g", test.spec, observed, p)
		}
	}
}

func TestParseScheduleRefuses(t *testing.T) {
	for _, test := range []struct {
		spec string
		n    int
		want string
	}{
		{"", 5, "unknown, want add-one, remove-one"},
		{"remove-two", 5, "unknown"},
		{"add-one", 0, "0 nodes"},
		{"remove-one", 1, "leave no node"},
		{"remove-last", 1, "leave no node"},
		{"remove-each", 1, "leave no node"},
		{"reweight", 5, "unknown"},
		{"reweight:", 5, `factor "" is not a number`},
		{"reweight:x", 5, `factor "x" is not a number`},
		{"reweight:-1", 5, "finite number of 0 or more"},
		{"reweight:NaN", 5, "finite number of 0 or more"},
		{"reweight:+Inf", 5, "finite number of 0 or more"},
		{"reweight:0", 1, "leave no weight"},
	} {
		s, err := ParseSchedule(test.spec, test.n, Rand(1))
		if err == nil {
			t.Errorf("ParseSchedule(%q, %d) makes %v, want an error", test.spec, test.n, s)
		} else if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseSchedule(%q, %d): %v, want %q in it", test.spec, test.n, err, test.want)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, spec := range []string{"add-one", "remove-one", "remove-last", "remove-each", "reweight:2", "reweight:0x1p-3"} {
		f.Add(spec, 5)
	}
	f.Fuzz(func(t *testing.T, spec string, n int) {
		n %= 1000
		s, err := ParseSchedule(spec, n, Rand(1))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("ParseSchedule(%q, %d): the error has several lines: %v", spec, n, err)
			}
			return
		}
		again, err := ParseSchedule(s.Name, n, Rand(1))
		if diff := cmp.Diff(s, again); err != nil || diff != "" {
			t.Fatalf("ParseSchedule(%q, %d) is named %q, which makes another: %v\n%s", spec, n, s.Name, err, diff)
		}
		for _, step := range s.Steps {
			for _, c := range step {
				if c.Node < 0 || c.Node >= n && c.Op != AddNode || c.Node > n {
					t.Fatalf("ParseSchedule(%q, %d) speaks of node %d", spec, n, c.Node)
				}
			}
		}
	})
}
