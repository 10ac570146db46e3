package plots

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ringbench/ringbench/results"
)

// A contestant of the synthetic run, with the shape of its costs.
type contestant struct {
	algorithm, params, weights string
	lookup                     func(n float64) float64 // ns
	latency                    float64                 // multiple of lookup
	bytes                      func(n float64) float64
	build                      func(n float64) float64 // ns
	cv                         func(n float64) float64 // of its placement
	moves                      func(n float64) float64 // multiple of the minimum
	skip                       string                  // of removals
}

// searches says whether lookups read at random within the structure.
func (c contestant) searches() bool { return c.algorithm != "modulo" && c.algorithm != "jump" }

// floorBytes is the largest power of two that is not above the structure's bytes, and 0
// below 4,096 and for those that read nothing.
func (c contestant) floorBytes(n float64) int64 {
	bytes := int64(0)
	for power := int64(4096); c.searches() && float64(power) <= c.bytes(n); power *= 2 {
		bytes = power
	}
	return bytes
}

// hot is what a lookup takes of hot keys, as a multiple of lookups of all alike.
func (c contestant) hot() float64 {
	if c.searches() {
		return 0.62
	}
	return 1
}

func constant(v float64) func(float64) float64 { return func(float64) float64 { return v } }

func synthetic() []contestant {
	ringCV := func(n float64) float64 { return math.Sqrt((n - 1) / (n*160 + 1)) }
	ringNs := func(n float64) float64 { return 6 + 3*math.Log10(n*160/100) }
	searchNs := func(n float64) float64 { return 12 * math.Log2(n*160) / 2.2 }
	ringBytes := func(n float64) float64 { return n*160*12 + 4096 }
	ringBuild := func(n float64) float64 { return n * 160 * 95 }
	one := constant(1)
	return []contestant{
		{"ring", `{"vnodes":160,"label":"{name}#{index}","point_hash":"xxh3"}`, "", ringNs, 2.6, ringBytes, ringBuild, ringCV, one, ""},
		{"ring", `{"vnodes":160,"label":"{name}#{index}","point_hash":"xxh3"}`, "1:2:4", func(n float64) float64 { return ringNs(n) * 1.12 }, 2.7,
			func(n float64) float64 { return 2.3 * ringBytes(n) }, func(n float64) float64 { return 2.4 * ringBuild(n) }, ringCV, one, ""},
		{"ring-binary-search", `{"vnodes":160}`, "", searchNs, 1.3, func(n float64) float64 { return n * 160 * 16 }, ringBuild, ringCV, one, ""},
		{"bounded-ring", `{"vnodes":160,"epsilon":0.25}`, "", func(n float64) float64 { return ringNs(n) * 1.05 }, 2.5,
			func(n float64) float64 { return ringBytes(n) + 16*n }, ringBuild, ringCV, one, ""},
		{"jump", `{}`, "", func(n float64) float64 { return 2.6 * (math.Log(n) + 0.58) }, 1.6, constant(48), constant(60), constant(0), one, ""},
		{"rendezvous", `{}`, "", func(n float64) float64 { return 2 + 0.75*n }, 1.02, func(n float64) float64 { return 8*n + 48 }, func(n float64) float64 { return 40 * n }, constant(0), one, ""},
		{"weighted-rendezvous", `{}`, "1:2:4", func(n float64) float64 { return 4 + 4.1*n }, 1.01, func(n float64) float64 { return 16*n + 48 }, func(n float64) float64 { return 52 * n }, constant(0), one, ""},
		{"modulo", `{}`, "", constant(1.9), 3.4, constant(0), constant(25), constant(0), func(n float64) float64 { return n }, ""},
	}
}

// quick makes records as suite quick leaves them. The numbers are plausible
// and made up; only their shape matters here.
func quick() *results.Set {
	set := &results.Set{Run: results.Run{
		Type: "run", Schema: results.Schema, Suite: "quick", Seed: 1, Command: []string{"ringbench", "run", "quick"},
		Start: "2025-01-02T03:04:05Z", Version: "v0.0.0-test", Spec: json.RawMessage(`{}`),
		Environment: results.Environment{GoVersion: "go1.26", OS: "linux", Arch: "amd64", CPU: "Imaginary(R) Xeon(R) Gold 6000 CPU @ 2.70GHz",
			Cores: 2, GOMAXPROCS: 2, MemoryBytes: 8 << 30, CacheBytes: []int64{32 << 10, 1 << 20, 32 << 20}, ClockNs: 31, Load1: 0.2,
			Absent: []string{"governor"}},
	}, End: &results.End{Type: "end", Complete: true, Seconds: 86}}
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(relative float64) float64 { return 1 + relative*r.NormFloat64() }
	add := func(t results.Trial, c contestant, values map[string]float64) {
		t.Type, t.Algorithm, t.Params, t.Weights, t.Hash = "trial", c.algorithm, json.RawMessage(c.params), c.weights, "xxh3"
		var fields []results.Field
		if t.Measure == "shares" {
			fields = append(fields, results.Field{Name: "vnodes", Value: results.Param(t.Params, "vnodes")})
		}
		if c.algorithm == "one-read" {
			fields = append(fields, results.Field{Name: "bytes", Value: results.Param(t.Params, "bytes")})
		}
		t.Cell = results.CellName(t.Measure, c.algorithm, t.Nodes, fields, t.Workload, t.Schedule, c.weights, "")
		t.Values = values
		set.Trials = append(set.Trials, t)
	}
	const keys, uniform, zipf = 1_000_000, "seq:1000000+uniform", "seq:1000000+zipf:0.99"

	for _, n := range []int{10, 100} {
		for _, v := range []int{1, 4, 16, 64, 100, 160, 256, 640, 1000, 2560} {
			for seed := range uint64(50) {
				c := contestant{algorithm: "ring", params: fmt.Sprintf(`{"vnodes":%d}`, v)}
				cv := math.Sqrt(float64(n-1)/float64(n*v+1)) * noise(0.7/math.Sqrt(2*float64(n)))
				peak := 1 + cv*(math.Sqrt(2*math.Log(float64(n)))-0.55)*math.Abs(noise(0.16))
				t := results.Trial{Measure: "shares", Experiment: "vnodes", Nodes: n, Seed: seed + 1}
				if seed == 0 && n*v <= 200 {
					t.Series = circleSeries(n, v)
				}
				add(t, c, map[string]float64{"share-cv": cv, "share-peak": peak, "point-collisions": 0})
			}
		}
	}
	sizes := []int{10, 100, 129, 1000}
	for _, c := range synthetic() {
		for _, nodes := range sizes {
			n := float64(nodes)
			floor := math.Sqrt((n - 1) / keys)
			cv := math.Hypot(c.cv(n), floor) * noise(0.05)
			peak := 1 + cv*math.Sqrt(2*math.Log(n))
			add(results.Trial{Measure: "balance", Nodes: nodes, Keys: keys, Seed: 1, Workload: uniform}, c,
				map[string]float64{"balance-cv": cv, "balance-peak": peak, "balance-min": 1 / peak})
			hot := n * hottestKey("zipf:0.99", keys)
			add(results.Trial{Measure: "load", Nodes: nodes, Keys: keys, Seed: 1, Workload: zipf}, c,
				map[string]float64{"load-cv": hot / 2, "load-peak": math.Max(hot, 1) * math.Abs(noise(0.04)) * 1.05})
			for _, s := range []string{"add-one", "remove-one"} {
				least := 1 / (n + 1)
				if s == "remove-one" {
					least = 1 / n
				}
				moved := math.Min(least*c.moves(n)*noise(0.03), 1)
				add(results.Trial{Measure: "movement", Nodes: nodes, Keys: keys, Seed: 1, Workload: uniform, Schedule: s}, c,
					map[string]float64{"moved-fraction": moved, "moved-minimum": least, "disruption": math.Max(moved-least, 0)})
			}
			for rep := range 5 {
				timed := func(measure, metric string, ns float64) {
					t := results.Trial{Measure: measure, Nodes: nodes, Seed: 1, Rep: rep, Timing: &results.Timing{Operations: 1 << 20, Pool: 1 << 20}}
					if measure == "lookup" || measure == "latency" {
						t.Timing.FloorBytes = c.floorBytes(n)
					}
					if measure == "lookup" || measure == "latency" || measure == "key-lookup" {
						t.Workload, t.Keys = uniform, keys
					}
					v := map[string]float64{metric: ns * math.Abs(noise(0.02))}
					if measure == "lookup" {
						v["footprint-bytes"] = c.bytes(n)
					}
					add(t, c, v)
				}
				timed("lookup", "lookup-ns", c.lookup(n))
				timed("latency", "latency-ns", c.lookup(n)*c.latency)
				timed("key-lookup", "key-lookup-ns", c.lookup(n)+6)
				hot := results.Trial{Measure: "lookup", Nodes: nodes, Keys: keys, Seed: 1, Rep: rep, Workload: zipf,
					Timing: &results.Timing{Operations: 1 << 20, Pool: 1 << 20, FloorBytes: c.floorBytes(n)}}
				add(hot, c, map[string]float64{"lookup-ns": c.lookup(n) * c.hot() * (1 + 0.01*float64(rep-2)), "footprint-bytes": c.bytes(n)})
				timed("build", "build-ns", c.build(n))
				timed("add", "add-ns", c.build(n)/8+20)
				timed("remove", "remove-ns", c.build(n)/11+15)
			}
			add(results.Trial{Measure: "memory", Nodes: nodes, Seed: 1}, c, map[string]float64{"memory-bytes": c.bytes(n), "footprint-bytes": c.bytes(n)})
			add(results.Trial{Measure: "allocations", Nodes: nodes, Seed: 1}, c, map[string]float64{"allocs-per-lookup": 0, "bytes-per-lookup": 0})
			if c.algorithm == "bounded-ring" {
				for i, w := range []string{uniform, zipf} {
					spill := []float64{0.004 * math.Log10(n), 0.02 + 0.02*math.Log10(n)}[i]
					add(results.Trial{Measure: "bounded", Nodes: nodes, Keys: keys, Seed: 1, Workload: w}, c,
						map[string]float64{"load-peak": []float64{math.Min(peak, 1.25), 1.25}[i], "load-cv": 0.1, "spill-fraction": spill,
							"extra-steps": 2 * spill, "full-fraction": 0.05, "bound-violations": 0, "hot-key-nodes": float64(1 + 2*i)})
				}
			}
		}
	}
	for rep := range 5 {
		for i, m := range []string{"lookup", "latency", "key-lookup"} {
			t := results.Trial{Measure: m, Nodes: 10, Keys: keys, Seed: 1, Rep: rep, Workload: uniform, Timing: &results.Timing{}}
			add(t, contestant{algorithm: "control", params: "{}"}, map[string]float64{m + "-ns": []float64{1.4, 3.1, 5.2}[i] * math.Abs(noise(0.01))})
			if m == "key-lookup" {
				continue
			}
			for size := 4096; size <= 1<<22; size *= 2 {
				t.Nodes = 1
				add(t, contestant{algorithm: "one-read", params: fmt.Sprintf(`{"bytes":%d}`, size)},
					map[string]float64{m + "-ns": 1.6 + 0.25*math.Log2(float64(size)/4096)})
			}
		}
	}
	set.Trials = append(set.Trials, results.Trial{Type: "trial", Cell: "lookup/algorithm=jump/nodes=10/weights=1:2:4", Measure: "lookup", Algorithm: "jump",
		Params: json.RawMessage("{}"), Weights: "1:2:4", Nodes: 10, Skip: "unsupported operation: jump has no weights"})
	return set
}

// circleSeries is a ring of n nodes with v points each at random places.
func circleSeries(n, v int) map[string][]float64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(v)))
	type at struct {
		end  float64
		node int
	}
	var points []at
	for node := range n {
		for range v {
			points = append(points, at{r.Float64(), node})
		}
	}
	slices.SortFunc(points, func(a, b at) int {
		if a.end < b.end {
			return -1
		}
		return 1
	})
	s := map[string][]float64{}
	for _, p := range points {
		s["circle_end"] = append(s["circle_end"], p.end)
		s["circle_node"] = append(s["circle_node"], float64(p.node))
	}
	return s
}
