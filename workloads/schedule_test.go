package workloads

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		{"remove-last:2", Schedule{Name: "remove-last:2", Steps: [][]Change{{{Op: RemoveNode, Node: 3}, {Op: RemoveNode, Node: 2}}}}},
		{"remove-last:0.50", Schedule{Name: "remove-last:0.5", Steps: [][]Change{{{Op: RemoveNode, Node: 3}, {Op: RemoveNode, Node: 2}}}}},
		{"grow:2", Schedule{Name: "grow:2", Steps: [][]Change{{{Op: AddNode, Node: 4}, {Op: AddNode, Node: 5}}}}},
		{"grow:+02", Schedule{Name: "grow:2", Steps: [][]Change{{{Op: AddNode, Node: 4}, {Op: AddNode, Node: 5}}}}},
		{"double", Schedule{Name: "double", Steps: [][]Change{{
			{Op: AddNode, Node: 4}, {Op: AddNode, Node: 5}, {Op: AddNode, Node: 6}, {Op: AddNode, Node: 7},
		}}}},
		{"rolling", Schedule{Name: "rolling", Steps: [][]Change{
			{{Op: RemoveNode, Node: 0}, {Op: AddNode, Node: 4}}, {{Op: RemoveNode, Node: 1}, {Op: AddNode, Node: 5}},
			{{Op: RemoveNode, Node: 2}, {Op: AddNode, Node: 6}}, {{Op: RemoveNode, Node: 3}, {Op: AddNode, Node: 7}},
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

// A roster is the list of nodes as a schedule changes it, by index.
type roster struct {
	list   []int
	joined int // the next index that has not joined
}

func newRoster(n int) *roster {
	r := &roster{joined: n}
	for i := range n {
		r.list = append(r.list, i)
	}
	return r
}

// apply carries out a change, or fails when it does not fit the members.
func (r *roster) apply(t interface{ Fatalf(string, ...any) }, c Change) {
	if c.Op == AddNode {
		if c.Node != r.joined {
			t.Fatalf("node %d joins, the next one is %d", c.Node, r.joined)
		}
		r.list = append(r.list, c.Node)
		r.joined++
		return
	}
	at := slices.Index(r.list, c.Node)
	switch {
	case at < 0:
		t.Fatalf("%v of node %d, which is not a member", c.Op, c.Node)
	case c.Op == RemoveNode:
		r.list = slices.Delete(r.list, at, at+1)
	case c.Op == MoveLast:
		r.list = append(slices.Delete(r.list, at, at+1), c.Node)
	}
	if len(r.list) == 0 {
		t.Fatalf("no node is left")
	}
}

func TestSchedulesLeaveTheMembersThatTheirNamesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		r := Rand(rapid.Uint64().Draw(t, "seed"))
		run := func(spec string) (*roster, Schedule) {
			s, err := ParseSchedule(spec, n, r)
			if err != nil {
				t.Fatalf("ParseSchedule(%q, %d): %v", spec, n, err)
			}
			now := newRoster(n)
			for _, step := range s.Steps {
				if s.Independent {
					now = newRoster(n)
				}
				before := len(now.list)
				for _, c := range step {
					now.apply(t, c)
				}
				if (spec == "rolling" || spec == "reorder") && len(now.list) != before {
					t.Fatalf("%s goes from %d nodes to %d", spec, before, len(now.list))
				}
			}
			return now, s
		}
		count := func(spec string, want int) {
			now, s := run(spec)
			if len(now.list) != want || len(s.Steps) != 1 {
				t.Fatalf("%s leaves %d of %d nodes after %d steps, want %d after one", spec, len(now.list), n, len(s.Steps), want)
			}
		}
		count(fmt.Sprintf("remove:%d", k), n-k)
		if part := float64(k) / float64(n); part*float64(n) >= 1 {
			count(fmt.Sprint("remove:", part), n-k)
		}
		last, _ := run(fmt.Sprintf("remove-last:%d", k))
		if diff := cmp.Diff(newRoster(n-k).list, last.list); diff != "" {
			t.Fatalf("remove-last:%d leaves others than the first %d (-want +got):\n%s", k, n-k, diff)
		}
		count(fmt.Sprintf("grow:%d", k), n+k)
		count("double", 2*n)

		now, s := run("rolling")
		if slices.Min(now.list) != n || len(s.Steps) != n {
			t.Fatalf("rolling leaves %v after %d steps", now.list, len(s.Steps))
		}
		now, _ = run("reorder")
		for place, node := range now.list {
			if place == node {
				t.Fatalf("reorder leaves node %d at its place", node)
			}
		}
		slices.Sort(now.list)
		if diff := cmp.Diff(newRoster(n).list, now.list); diff != "" {
			t.Fatalf("reorder changes the members (-want +got):\n%s", diff)
		}
		if now, s = run("remove-each"); len(now.list) != n-1 || len(s.Steps) != n {
			t.Fatalf("remove-each leaves %v after %d steps", now.list, len(s.Steps))
		}
	})
}

// Of 4 nodes there are 6 pairs, and 6 orders in which the places form one cycle.
func TestSetsAndOrdersAreDrawnEquallyOften(t *testing.T) {
	const draws = 6000
	for _, spec := range []string{"remove:2", "reorder"} {
		r := Rand(1, spec)
		drawn := map[string]int{}
		for range draws {
			s, err := ParseSchedule(spec, 4, r)
			if err != nil {
				t.Fatal(err)
			}
			now := newRoster(4)
			for _, c := range s.Steps[0] {
				now.apply(t, c)
			}
			drawn[fmt.Sprint(now.list)]++
		}
		observed := slices.Collect(maps.Values(drawn))
		if p := chiSquare(observed, func(int) float64 { return draws / 6 }); len(observed) != 6 || p < 1e-4 || p > 1-1e-4 {
			t.Errorf("%s leaves the lists %v, chi-square has p = %g", spec, drawn, p)
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
		{"remove:", 5, `"" is not a number of nodes`},
		{"remove:0", 5, `"0" is not a number of nodes`},
		{"remove:-1", 5, `"-1" is not a number of nodes`},
		{"remove:5", 5, "leave no node of 5, remove 4 at most"},
		{"remove:99999999999999999999", 5, "not a number of nodes"},
		{"remove:1.5", 5, `"1.5" is not a number of nodes`},
		{"remove:NaN", 5, `"NaN" is not a number of nodes`},
		{"remove:0.95", 5, "leave no node of 5, remove 4 at most"},
		{"remove:0.05", 5, "that is no whole node of 5"},
		{"remove-last:5", 5, "leave no node of 5, remove 4 at most"},
		{"grow:0", 5, `"0" is not a number of nodes`},
		{"grow:1.5", 5, `"1.5" is not a number of nodes`},
		{"grow:1048577", 5, "1048577 nodes join, at most 1048576"},
		{"double:2", 5, "unknown"},
		{"rolling", 1, "start from at least two"},
		{"reorder", 1, "start from at least two"},
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
	for _, spec := range []string{"add-one", "remove-one", "remove-last", "remove-each", "reweight:2", "reweight:0x1p-3", "remove:3", "remove:0.5", "remove-last:0.9", "grow:7", "double", "rolling", "reorder"} {
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
		now := newRoster(n)
		for _, step := range s.Steps {
			if s.Independent {
				now = newRoster(n)
			}
			for _, c := range step {
				now.apply(t, c)
			}
		}
	})
}
