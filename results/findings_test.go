package results

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindingsAreThereOnlyWhenTheDataBearThemOut gives each finding data that
// bear it out, and the same data with less of a difference.
func TestFindingsAreThereOnlyWhenTheDataBearThemOut(t *testing.T) {
	who := func(algorithm string) contestant { return contestant{algorithm, nil, `{}`, ""} }
	moved := func(f *fixture, algorithm, schedule string, moved, must, collateral float64) {
		f.trial(who(algorithm), "movement", 10, 1, 0, "uniform", schedule,
			map[string]float64{"moved-fraction": moved, "moved-minimum": must, "collateral-fraction": collateral})
	}
	load := func(f *fixture, c contestant, measure string, peak float64) {
		f.trial(c, measure, 10, 1, 0, "zipf:0.99", "", map[string]float64{"load-peak": peak})
	}
	even := func(f *fixture, c contestant, peak float64) {
		f.trial(c, "balance", 10, 1, 0, "uniform", "", map[string]float64{"balance-peak": peak})
	}
	lookup := func(f *fixture, algorithm string, n int, ns float64) {
		for rep := range 3 {
			f.trial(who(algorithm), "lookup", n, 1, rep, "uniform", "", map[string]float64{"lookup-ns": ns})
		}
	}
	three := Field{"replicas", "3"}
	inZones := func(f *fixture, violations float64) {
		c := contestant{"ring", []Field{{"zones", "3"}, {"ignore_zones", "true"}, three}, `{}`, ""}
		f.trial(c, "replicas", 12, 1, 0, "uniform", "", map[string]float64{"replica-zone-violations": violations})
	}
	heir := func(f *fixture, algorithm string, part float64) {
		c := contestant{algorithm, []Field{three}, `{}`, ""}
		f.trial(c, "replica-movement", 12, 1, 0, "uniform", "remove-one", map[string]float64{"failover-peak": part})
	}
	exposed := func(f *fixture, v int, part float64) {
		c := contestant{"ring", []Field{{"vnodes", fmt.Sprint(v)}, three}, fmt.Sprintf(`{"vnodes":%d}`, v), ""}
		f.trial(c, "replicas", 96, 1, 0, "uniform", "", map[string]float64{"quorum-exposure": part, "replica-balance-peak": 1})
	}
	bounded := contestant{"bounded-ring", []Field{{"epsilon", "0.25"}}, `{"epsilon":0.25}`, ""}
	for _, c := range []struct {
		want  string // "" when nothing is to be found
		build func(*fixture)
	}{
		{"Modulo moves 10 times more keys than needed: 90.9% instead of 9.1%.", func(f *fixture) { moved(f, "modulo", "add-one", 0.909, 0.0909, 0.8) }},
		{"", func(f *fixture) { moved(f, "ring", "add-one", 0.1, 0.0909, 0) }},
		{"", func(f *fixture) { moved(f, "control", "add-one", 0.909, 0.0909, 0) }},

		{"Ring ignoring 3 zones puts 70.0% of the keys twice in one zone.", func(f *fixture) { inZones(f, 700_000) }},
		{"", func(f *fixture) { inZones(f, 9_000) }},
		{"Of a dead node's keys one heir gets 100% with jump, 15% with ring.", func(f *fixture) { heir(f, "jump", 1); heir(f, "ring", 0.15); heir(f, "modulo", 0.09) }},
		{"", func(f *fixture) { heir(f, "jump", 0.4); heir(f, "ring", 0.15) }},
		{"", func(f *fixture) { heir(f, "jump", 0.9); heir(f, "ring", 0.5) }},
		{"At v=1 4.2% of the pairs of 96 nodes are some key's majority, at v=256 100%.", func(f *fixture) { exposed(f, 1, 0.042); exposed(f, 16, 0.5); exposed(f, 256, 1) }},
		{"", func(f *fixture) { exposed(f, 16, 0.6); exposed(f, 256, 1) }},
		{"", func(f *fixture) { exposed(f, 1, 0.042) }},

		{"A hot key defeats all but bounded load: 1.60 times fair against 1.25.", func(f *fixture) {
			load(f, who("ring"), "load", 1.7)
			load(f, who("jump"), "load", 1.6)
			even(f, who("ring"), 1.12)
			even(f, who("jump"), 1.01)
			load(f, bounded, "load", 1.3) // its first choices
			load(f, bounded, "bounded", 1.25)
		}},
		{"A hot key defeats them all: the busiest node serves 1.60 times its share or more.", func(f *fixture) {
			load(f, who("ring"), "load", 1.6)
			even(f, who("ring"), 1.12)
			f.trial(who("ring"), "bounded", 10, 1, 0, "zipf:0.99", "", nil).Skip = "ring does not place requests under a bound"
		}},
		{"", func(f *fixture) { load(f, who("ring"), "load", 1.6) }},
		{"", func(f *fixture) { load(f, who("ring"), "load", 2.9); even(f, who("ring"), 2.8) }}, // few vnodes, no hot key
		{"", func(f *fixture) {
			even(f, who("ring"), 1.01)
			load(f, who("ring"), "load", 1.1)
			load(f, bounded, "bounded", 1.05)
		}},
		{"", func(f *fixture) {
			even(f, who("ring"), 1.01)
			load(f, who("ring"), "load", 1.3)
			load(f, bounded, "bounded", 1.25)
		}},
		{"", func(f *fixture) { load(f, bounded, "bounded", 1.25) }},

		{"160 vnodes leave the busiest of 10 nodes 12% over fair, 1000 leave 5%.", func(f *fixture) { f.sweep(10, 3, 10, 160, 200, 1000) }},
		{"", func(f *fixture) { f.sweep(10, 3, 10, 160, 200) }},
		{"", func(f *fixture) { f.sweep(10, 3, 20000, 200000) }},

		{"Ring is 9 times faster than binary search: 14 ns against 127 at 1000 nodes.", func(f *fixture) {
			lookup(f, "ring", 10, 6)
			lookup(f, "ring", 1000, 14)
			lookup(f, "ring-binary-search", 1000, 127)
		}},
		{"", func(f *fixture) { lookup(f, "ring", 10, 6); lookup(f, "ring-binary-search", 10, 7) }},

		{"When a node leaves, jump also moves 8.7% of the keys between nodes that stay.", func(f *fixture) { moved(f, "jump", "remove-one", 0.178, 0.1, 0.0871) }},
		{"", func(f *fixture) { moved(f, "ring", "remove-one", 0.1, 0.1, 0) }},
		{"", func(f *fixture) { moved(f, "jump", "remove:3", 0.5, 0.3, 0.2) }}, // three nodes leave

		{"Rendezvous slows down as the cluster grows: 7.2 ns at 10 nodes, 522 at 1000.", func(f *fixture) {
			lookup(f, "rendezvous", 10, 7.2)
			lookup(f, "rendezvous", 1000, 522)
			lookup(f, "jump", 10, 5)
			lookup(f, "jump", 1000, 40)
		}},
		{"", func(f *fixture) { lookup(f, "jump", 10, 20); lookup(f, "jump", 1000, 40) }},
	} {
		f := newFixture()
		c.build(f)
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if diff := cmp.Diff(want, Findings(f.end())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestThereAreThreeFindingsAtMost(t *testing.T) {
	if got := Findings(quick()); len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

func TestTheScreenTellsWhatIsUnusualInAMove(t *testing.T) {
	f := newFixture()
	for algorithm, collateral := range map[string]float64{"jump": 0.0871, "ring": 0} {
		c := contestant{algorithm, nil, `{}`, ""}
		f.trial(c, "movement", 10, 1, 0, "uniform", "add-one", map[string]float64{"moved-fraction": 0.091, "collateral-fraction": 0})
		f.trial(c, "movement", 10, 1, 0, "uniform", "remove-one", map[string]float64{"moved-fraction": 0.1 + collateral, "collateral-fraction": collateral})
	}
	var b bytes.Buffer
	if err := WriteExact(&b, f.end()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) < 5 || !strings.HasPrefix(lines[3], "ring") || !strings.HasSuffix(lines[3], "9.1%") || !strings.HasSuffix(lines[4], "9.1%  removing 1: 18.7%") {
		t.Errorf("got\n%s", b.String())
	}
}
