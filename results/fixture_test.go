package results

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
)

// contestant is one of the made-up contestants of the fixtures.
type contestant struct {
	algorithm string
	set       []Field // parameters that the cell's name carries
	params    string  // all in force
	weights   string
}

var quickContestants = []contestant{
	{"ring-binary-search", nil, `{"vnodes":160}`, ""},
	{"rendezvous", nil, `{}`, ""},
	{"ring", nil, `{"label":"{name}#{index}","vnodes":160}`, ""},
	{"weighted-rendezvous", nil, `{}`, "1:2:4"},
	{"modulo", nil, `{}`, ""},
	{"bounded-ring", []Field{{"epsilon", "0.25"}}, `{"epsilon":0.25,"vnodes":160}`, ""},
	{"ring", nil, `{"label":"{name}#{index}","vnodes":160}`, "1:2:4"},
	{"jump", nil, `{}`, ""},
}

// fixture makes sets of trials with values that are near the true ones and the
// same in every run of the tests.
type fixture struct {
	set    Set
	random *rand.Rand
}

func newFixture() *fixture {
	return &fixture{
		random: rand.New(rand.NewPCG(1, 2)),
		set: Set{Run: Run{
			Type: "run", Schema: Schema, Suite: "quick", Seed: 1, Spec: json.RawMessage(`{}`), Command: []string{"ringbench", "run", "quick"},
			Start: "2026-01-02T03:04:05Z", Version: "v0.1.0",
			Environment: Environment{GoVersion: "go1.26.8", OS: "linux", Arch: "amd64", CPU: "Some CPU (TM) 3.0", Cores: 2, GOMAXPROCS: 2, MemoryBytes: 8 << 30},
		}},
	}
}

// trial appends one trial; a workload of "uniform" stands for that over 1M keys.
func (f *fixture) trial(c contestant, measure string, nodes int, seed uint64, rep int, workload, schedule string, values map[string]float64) *Trial {
	keys := 0
	if workload != "" {
		workload, keys = "seq:1000000+"+workload, 1000000
	}
	f.set.Trials = append(f.set.Trials, Trial{
		Type: "trial", Cell: CellName(measure, c.algorithm, nodes, c.set, workload, schedule, c.weights, ""),
		Experiment: "fixture", Measure: measure, Algorithm: c.algorithm, Params: json.RawMessage(c.params),
		Workload: workload, Schedule: schedule, Weights: c.weights, Hash: "xxh3", Nodes: nodes, Keys: keys, Seed: seed, Rep: rep, Values: values,
	})
	return &f.set.Trials[len(f.set.Trials)-1]
}

// spread adds balance, load and movement at n nodes.
func (f *fixture) spread(n int, seeds uint64) {
	peaks := map[string]float64{"ring": 1.12, "ring-binary-search": 1.12}
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, c := range quickContestants {
			ideal := 1 / float64(n+1)
			moved, collateral := ideal, 0.0
			if c.algorithm == "modulo" {
				moved, collateral = 1-ideal, 1-2*ideal
			}
			move := map[string]float64{"moved-fraction": moved, "moved-minimum": ideal, "collateral-fraction": collateral, "disruption": moved - ideal}
			f.trial(c, "movement", n, seed, 0, "zipf:0.99", "add-one", move)
			if c.algorithm == "jump" {
				f.trial(c, "movement", n, seed, 0, "zipf:0.99", "remove-one", nil).Skip = "unsupported operation: only the last node can leave"
			}
			if c.algorithm == "bounded-ring" {
				f.trial(c, "bounded", n, seed, 0, "zipf:0.99", "", map[string]float64{"load-peak": 1.25, "spill-fraction": 0.041, "bound-violations": 0})
				continue
			}
			peak := max(1.005, peaks[c.algorithm]) + 0.01*float64(seed-1)
			f.trial(c, "balance", n, seed, 0, "uniform", "", map[string]float64{"balance-peak": peak, "balance-cv": (peak - 1) / 1.6, "balance-min": 2 - peak})
			f.trial(c, "load", n, seed, 0, "zipf:0.99", "", map[string]float64{"load-peak": peak + 0.5, "load-cv": 0.2})
		}
	}
}

// replicas adds where replicas lie and what changes copy, as a run of the suite
// replicas has it.
func (f *fixture) replicas() {
	three := Field{"replicas", "3"}
	with := func(fields ...Field) []Field { return append(fields, three) }
	zones, ignored, single := Field{"zones", "3"}, Field{"ignore_zones", "true"}, Field{"vnodes", "1"}
	for _, c := range []struct {
		contestant
		peak, violations, exposure, joins, leaves, heir float64
	}{
		{contestant{"modulo", with(), `{}`, ""}, 1, -1, 1, 0.769, 0.75, 0.092},
		{contestant{"ring", with(), `{"vnodes":160}`, ""}, 1.08, -1, 1, 0.079, 0.086, 0.147},
		{contestant{"ring", with(single), `{"vnodes":1}`, ""}, 1.69, -1, 0.364, 0.069, 0.084, 1},
		{contestant{"ring", with(zones), `{"vnodes":160}`, ""}, 1.16, 0, 0.727, 0.069, 0.091, 0.147},
		{contestant{"ring", with(zones, ignored), `{"vnodes":160}`, ""}, 1.08, 703_494, 1, 0.079, 0.086, 0.147},
		{contestant{"rendezvous", with(), `{}`, ""}, 1, -1, 1, 0.077, 0.083, 0.093},
	} {
		values := map[string]float64{"replica-balance-peak": c.peak, "replica-balance-cv": c.peak - 1, "quorum-exposure": c.exposure}
		if c.violations >= 0 {
			values["replica-zone-violations"] = c.violations
		}
		f.trial(c.contestant, "replicas", 12, 1, 0, "uniform", "", values)
		f.trial(c.contestant, "replica-movement", 12, 1, 0, "uniform", "add-one", map[string]float64{"replica-moved-fraction": c.joins, "replica-moved-minimum": 1. / 13})
		f.trial(c.contestant, "replica-movement", 12, 1, 0, "uniform", "remove-one", map[string]float64{"replica-moved-fraction": c.leaves, "failover-peak": c.heir})
	}
	for v, exposure := range map[int]float64{1: 0.042, 4: 0.155, 16: 0.494, 64: 0.931, 256: 1} {
		c := contestant{"ring", with(Field{"vnodes", fmt.Sprint(v)}), fmt.Sprintf(`{"vnodes":%d}`, v), ""}
		f.trial(c, "replicas", 96, 1, 0, "uniform", "", map[string]float64{"quorum-exposure": exposure, "replica-balance-peak": 1 + 1.74/math.Sqrt(float64(v))})
	}
}

// sweep adds the shares of rings of n nodes.
func (f *fixture) sweep(n int, seeds uint64, vnodes ...int) {
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, v := range vnodes {
			c := contestant{"ring", []Field{{"vnodes", fmt.Sprint(v)}}, fmt.Sprintf(`{"vnodes":%d}`, v), ""}
			cv := math.Sqrt(float64(n-1) / float64(n*v+1))
			f.trial(c, "shares", n, seed, 0, "", "", map[string]float64{"share-cv": cv * (0.9 + 0.2*f.random.Float64()), "share-peak": 1 + 1.6*cv, "point-collisions": 0})
		}
	}
}

// timings adds lookups at n nodes that scatter by a part, under popularities beside the
// uniform one.
func (f *fixture) timings(n, reps int, scatter float64, skewed ...string) {
	base := map[string]float64{"modulo": 1.2, "ring": 6 + float64(n)/120, "ring-binary-search": 40 + float64(n)/12, "jump": 20 + float64(n)/60, "rendezvous": 2 + float64(n)*0.52,
		"weighted-rendezvous": 3 + float64(n)*2.6, "bounded-ring": 7 + float64(n)/120, "control": 0.6, "one-read": 0.9}
	jitter := func(v float64) float64 { return v * (1 + scatter*(2*f.random.Float64()-1)) }
	for rep := range reps {
		for _, c := range append([]contestant{{"control", nil, `{}`, ""}}, quickContestants...) {
			ns := base[c.algorithm]
			footprint := 8.0 * float64(n) * 160
			timing := &Timing{Operations: 1 << 20, Passes: 1, WallNs: int64(ns * (1 << 20)), CPUNs: int64(ns * (1 << 20)), BlockNs: int64(ns * (1 << 20)), Pool: 1 << 20, ControlNs: 0.6}
			if c.algorithm != "modulo" && c.algorithm != "jump" && c.algorithm != "control" {
				timing.FloorBytes = 1 << int(math.Log2(footprint))
			}
			f.trial(c, "lookup", n, 1, rep, "uniform", "", map[string]float64{"lookup-ns": jitter(ns), "footprint-bytes": footprint}).Timing = timing
			f.trial(c, "latency", n, 1, rep, "uniform", "", map[string]float64{"latency-ns": jitter(2.5 * ns), "footprint-bytes": footprint}).Timing = timing
			for _, popularity := range skewed {
				f.trial(c, "lookup", n, 1, rep, popularity, "", map[string]float64{"lookup-ns": jitter(ns / 2)}).Timing = timing
				f.trial(c, "key-lookup", n, 1, rep, popularity, "", map[string]float64{"key-lookup-ns": jitter(ns/2 + 3.7)})
			}
			f.trial(c, "key-lookup", n, 1, rep, "uniform", "", map[string]float64{"key-lookup-ns": jitter(ns + 3.7)})
			if c.algorithm != "control" {
				f.trial(c, "memory", n, 1, rep, "uniform", "", map[string]float64{"memory-bytes": footprint + 4096*float64(rep%2)})
				f.trial(c, "build", n, 1, rep, "uniform", "", map[string]float64{"build-ns": jitter(25 * footprint)})
			}
		}
		for bytes := 4096; bytes <= 1<<21; bytes *= 2 {
			c := contestant{"one-read", []Field{{"bytes", fmt.Sprint(bytes)}}, fmt.Sprintf(`{"bytes":%d}`, bytes), ""}
			f.trial(c, "lookup", 1, 1, rep, "uniform", "", map[string]float64{"lookup-ns": jitter(0.7 + float64(bytes)/(1<<21))})
			f.trial(c, "latency", 1, 1, rep, "uniform", "", map[string]float64{"latency-ns": jitter(2 + 10*float64(bytes)/(1<<21))})
		}
	}
	for _, c := range quickContestants {
		f.trial(c, "allocations", n, 1, 0, "uniform", "", map[string]float64{"allocs-per-lookup": 0, "bytes-per-lookup": 0})
	}
}

// end closes the run.
func (f *fixture) end() *Set {
	skips := 0
	for _, t := range f.set.Trials {
		if t.Skip != "" {
			skips++
		}
	}
	f.set.End = &End{Type: "end", Complete: true, Trials: len(f.set.Trials), Skips: skips, Seconds: 86, ExactSeconds: 4}
	return &f.set
}

// quick is a run as `make bench` leaves it.
func quick() *Set {
	f := newFixture()
	f.spread(10, 3)
	f.spread(100, 1)
	f.sweep(10, 50, 1, 4, 16, 64, 100, 160, 256, 640, 1000, 2560)
	f.sweep(100, 5, 1, 160)
	f.timings(10, 9, 0.03)
	f.timings(1000, 9, 0.03, "zipf:0.99")
	return f.end()
}
