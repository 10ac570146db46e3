package plots

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/results"
)

// An observation is one metric of one cell, worked out from the trials alone: what
// follows has to find by brute force what captions say.
type observation struct {
	label, workload, schedule, after, hash string
	measure, metric, cell                  string
	nodes, placements                      int
	value, most                            float64 // mean or median, and the largest of all trials
	low, high                              float64 // around the median of a timing
}

type observations []observation

func observe(set *results.Set) observations {
	type key struct{ cell, metric string }
	trials := map[key][]results.Trial{}
	var order []key
	for _, t := range set.Trials {
		if t.Skip != "" || results.IsControl(t.Algorithm) || t.Nodes <= 0 {
			continue
		}
		for metric := range t.Values {
			k := key{t.Cell, metric}
			if trials[k] == nil {
				order = append(order, k)
			}
			trials[k] = append(trials[k], t)
		}
	}
	slices.SortFunc(order, func(a, b key) int { return strings.Compare(a.cell+a.metric, b.cell+b.metric) })
	intervals := map[key]results.Row{} // whose tests are those of the summary
	for _, row := range results.Summarize(set) {
		intervals[key{row.Cell, row.Metric}] = row
	}
	var all observations
	for _, k := range order {
		t := trials[k][0]
		o := observation{label: results.Label(t), workload: t.Workload, schedule: t.Schedule,
			measure: t.Measure, metric: k.metric, cell: k.cell, nodes: t.Nodes,
			low: intervals[k].Low, high: intervals[k].High}
		_, fields := results.ParseCell(t.Cell)
		for _, f := range fields {
			switch f.Name {
			case "after":
				o.after = f.Value
			case "hash":
				o.hash = f.Value
			}
		}
		m, _ := results.MetricByName(k.metric)
		seeds := map[uint64]bool{}
		var values []float64
		for _, t := range trials[k] {
			if m.Kind != results.Computed || !seeds[t.Seed] {
				values = append(values, t.Values[k.metric])
			}
			seeds[t.Seed] = true
		}
		slices.Sort(values)
		n := len(values)
		o.most, o.placements = values[n-1], len(seeds)
		if m.Kind == results.Computed {
			for _, v := range values {
				o.value += v / float64(n)
			}
		} else {
			o.value = (values[(n-1)/2] + values[n/2]) / 2
		}
		all = append(all, o)
	}
	return all
}

// of returns what holds for all of the conditions.
func (os observations) of(conditions ...func(observation) bool) (found observations) {
	for _, o := range os {
		if !slices.ContainsFunc(conditions, func(c func(observation) bool) bool { return !c(o) }) {
			found = append(found, o)
		}
	}
	return found
}

func is(measure, metric string) func(observation) bool {
	return func(o observation) bool { return o.measure == measure && o.metric == metric }
}

func with(n int) func(observation) bool { return func(o observation) bool { return o.nodes == n } }

func under(workload string) func(observation) bool {
	return func(o observation) bool {
		return workload == "" || o.workload == workload || workload == "uniform requests" && strings.HasSuffix(o.workload, "+uniform")
	}
}

func fresh(o observation) bool     { return o.after == "" }
func positives(o observation) bool { return o.value > 0 }

func (os observations) find(label string) (observation, bool) {
	for _, o := range os {
		if o.label == label {
			return o, true
		}
	}
	return observation{}, false
}

// superlatives are the claims of captions: a pattern, and what checks the groups that
// it finds against all records.
var superlatives = map[string][]struct {
	pattern string
	check   func(os observations, said []string) error
}{
	"lookup": {{`^With ([\d,]+) nodes?(?: under (uniform requests|\S+))? one lookup of a hashed key takes from (.*?) \((.*?)\) to (.*?) \((.*?)\), when`,
		between("lookup", "lookup-ns", duration)}},
	"key-lookup": {{`^With ([\d,]+) nodes?(?: under (uniform requests|\S+))? the way from a string key to its node takes from (.*?) \((.*?)\) to (.*?) \((.*?)\), each`,
		between("key-lookup", "key-lookup-ns", duration)}},
	"build": {{`^Building the structure over ([\d,]+) nodes?() takes from (.*?) \((.*?)\) to (.*?) \((.*?)\)\.`,
		between("build", "build-ns", duration)}},
	"membership": {{`^With ([\d,]+) nodes?() one change takes from (.*?) \((.*?)\) to (.*?) \((.*?)\)\.`,
		func(os observations, said []string) error {
			return extremesOf(os.of(func(o observation) bool { return o.metric == "add-ns" || o.metric == "remove-ns" }, with(number1(said[0])), positives), duration, said[2:])
		}}},
	"balance": {{`^With ([\d,]+) nodes?(?: under (uniform requests|\S+))? the keys per node differ by (\S+) of the mean with (.*?) and by (\S+) with (.*?)\.( Grey| Not|$)`,
		between("balance", "balance-cv", percent)}},
	"memory": {{`^With ([\d,]+) nodes?() the structure takes from (.*?) \((.*?)\) to (.*?) \((.*?)\), (measured|counted)`,
		func(os observations, said []string) error {
			metric := map[string]string{"measured": "memory-bytes", "counted": "footprint-bytes"}[said[6]]
			return extremesOf(os.of(is("memory", metric), with(number1(said[0])), fresh), bytesName, said[2:])
		}}},
	"latency": {{`^With ([\d,]+) nodes?(?: under (uniform requests|\S+))?\. Lookups that wait for the answer before take up to (\S+) times as long \((.*?)\) as`,
		func(os observations, said []string) error {
			at := os.of(with(number1(said[0])), under(said[1]), fresh, positives)
			return worstRatio(at.of(is("latency", "latency-ns")), at.of(is("lookup", "lookup-ns")), said[2:])
		}}, {`^With ([\d,]+) nodes?.*\. Under Zipf (\S+), independent lookups take (?:(\S+) to )?(\S+) times as long \((?:(.*?), )?([^,]*?)\)\.`, hotRatios}},
	"abreast": {{`^With ([\d,]+) nodes?(?: under (uniform requests|\S+))?\..* takes? a lookup|^With ([\d,]+) nodes?(?: under (uniform requests|\S+))?\..*makes? a lookup take (\S+) times as long at most \((.*?)\)`,
		func(os observations, said []string) error {
			at := os.of(with(number1(said[2])), under(said[3]), fresh, positives)
			return worstRatio(at.of(is("parallel-lookup-writer", "parallel-lookup-ns")), at.of(is("parallel-lookup", "parallel-lookup-ns")), said[4:])
		}}},
	"hot-keys": {{`^When requests follow Zipf (\S+), with ([\d,]+) nodes?(?: under (uniform requests|\S+))? the busiest node takes up to (\S+) times its fair share \((.*?)\); the least is (\S+) \((.*?)\)\.`,
		func(os observations, said []string) error {
			at := os.of(with(number1(said[1])), under(said[2]), fresh, func(o observation) bool {
				return popularity(o.workload) == "zipf:"+said[0] && o.metric == "load-peak"
			})
			bounds := map[string]bool{}
			for _, o := range os.of(is("bounded", "load-peak")) {
				bounds[o.label] = bounds[o.label] || popularity(o.workload) == "zipf:"+said[0]
			}
			at = at.of(func(o observation) bool { return o.measure == "bounded" || o.measure == "load" && !bounds[o.label] })
			return extremesOf(at, times, []string{said[5], said[6], said[3], said[4]})
		}}},
	"bounded": {{`^With ([\d,]+) nodes? and (?:Zipf (\S+)|every key asked alike), (.*?) passes (\S+) of the requests on to another node, and no node takes more than (\S+) times its fair share\.`,
		func(os observations, said []string) error {
			popular := "uniform"
			if said[1] != "" {
				popular = "zipf:" + said[1]
			}
			most := 0.0
			for _, o := range os.of(is("bounded", "load-peak"), with(number1(said[0]))) {
				if o.label == said[2] && popularity(o.workload) == popular {
					most = max(most, o.most)
				}
			}
			return says("the most loaded node", times(most), said[4])
		}}},
	"movement": {
		{`^With ([\d,]+) nodes?, when (one node joins|one node leaves), no contestant moves more than (\S+) times the least that must move \((.*): \S+ of the keys\)\.`, mostMoved},
		{`^With ([\d,]+) nodes?, when (one node joins|one node leaves), (?P<who>.*?) moves \S+ of the keys, (?P<times>\S+) times the least`,
			func(os observations, said []string) error {
				return mostMoved(os, []string{said[0], said[1], said[3], said[2]})
			}},
	},
	"churn": {{`^With ([\d,]+) nodes?, (\d+) of (\d+) contestants never move a key between two nodes that stay\. The worst is (.*?) when (.*?): (\S+) of the keys move, where (\S+) must\.`,
		func(os observations, said []string) error {
			at := os.of(with(number1(said[0])), fresh)
			shuffles := map[string]bool{}
			for _, o := range at.of(is("movement", "collateral-fraction")) {
				shuffles[o.label] = shuffles[o.label] || o.value > 0
			}
			still := 0
			for _, s := range shuffles {
				if !s {
					still++
				}
			}
			if err := says("who moves none", fmt.Sprint(still, len(shuffles)), said[1]+" "+said[2]); err != nil {
				return err
			}
			least := at.of(is("movement", "moved-minimum"))
			worst := math.Inf(-1)
			var said1 []string
			for _, o := range at.of(is("movement", "moved-fraction")) {
				min := least.of(func(m observation) bool { return m.cell == o.cell })[0].value
				if o.value-min > worst {
					worst, said1 = o.value-min, []string{o.label, scheduleName(o.schedule), percent(o.value), percent(min)}
				}
			}
			return says("the worst change", strings.Join(said1[2:], " "), strings.Join(said[5:7], " "))
		}}},
	"needless": {{`(.*)`, func(os observations, said []string) error {
		collateral := os.of(is("movement", "collateral-fraction"), func(o observation) bool { return o.schedule == "add-one" })
		for _, m := range regexp.MustCompile(`([^;,]*?) moves (\S+) at ([\d,]+) nodes? where \S+ must, (\S+) between`).FindAllStringSubmatch(said[0], -1) {
			label := strings.TrimSpace(m[1])
			most := 0.0
			for _, o := range collateral {
				if o.label == label {
					most = max(most, o.value)
				}
			}
			if err := says("the most that "+label+" moves without need", percent(most), m[4]); err != nil {
				return err
			}
		}
		return nil
	}}},
	"removals": {{`(.*)`, func(os observations, said []string) error {
		for _, m := range regexp.MustCompile(`(?i)once (\S+)% of ([\d,]+) nodes have left (at random|from the end of the list), a lookup(?: under (uniform requests|\S+))? takes from (.*?) \((.*?)\) to (.*?) \((.*?)\)`).FindAllStringSubmatch(said[0], -1) {
			part, _ := strconv.ParseFloat(m[1], 64)
			after := map[string]string{"at random": "remove:", "from the end of the list": "remove-last:"}[m[3]] + strconv.FormatFloat(part/100, 'g', -1, 64)
			at := os.of(is("lookup", "lookup-ns"), with(number1(m[2])), under(m[4]), func(o observation) bool { return o.after == after })
			if err := extremesOf(at, duration, m[5:]); err != nil {
				return err
			}
		}
		return nil
	}}},
	"allocations": {
		{`^No: none of the (\d+) contestants`, func(os observations, said []string) error {
			most := 0.0
			for _, o := range os.of(is("allocations", "allocs-per-lookup"), fresh) {
				most = max(most, o.value)
			}
			return says("the most allocations", fmt.Sprint(most), "0")
		}},
		{`^(.*) makes (\S+) allocations? in a lookup at`, func(os observations, said []string) error {
			_, most := ends(os.of(is("allocations", "allocs-per-lookup"), fresh))
			return says("the most allocations", plain(most.value), said[1])
		}}},
	"weights": {{`The least is (\S+) \((.*?), weights`, func(os observations, said []string) error {
		all := os.of(is("weights", "weight-error"), positives)
		have := map[int]int{}
		for _, o := range all {
			have[o.nodes]++
		}
		best := math.Inf(1)
		for _, o := range all {
			if len(have) == 1 || have[o.nodes] == slices.Max(slices.Collect(mapValues(have))) {
				best = min(best, o.value)
			}
		}
		return says("the least error", percent(best), said[0])
	}}},
	"quorums": {{`^With ([\d,]+) nodes? and (\d+) replicas?, the loss of (\S+) of the .*? takes some key its majority with (.*?), and of (\S+) with (.*?)\.`,
		func(os observations, said []string) error {
			at := os.of(is("replicas", "quorum-exposure"), with(number1(said[0])), func(o observation) bool {
				return strings.Contains(o.cell, "/replicas="+said[1]+"/") || strings.HasSuffix(o.cell, "/replicas="+said[1])
			})
			return extremesOf(at, percent, said[2:])
		}}},
	"views": {{`^With ([\d,]+) nodes?, when one lacks a node, two clients with (.*?) disagree on (\S+) of the keys, and with (.*?) on (\S+)\.`,
		func(os observations, said []string) error {
			for _, schedule := range churnOrder {
				if at := os.of(is("views", "view-disagreement"), with(number1(said[0])), func(o observation) bool { return o.schedule == schedule }); len(at) > 0 {
					return extremesOf(at, percent, []string{said[2], said[1], said[4], said[3]})
				}
			}
			return fmt.Errorf("there are no such views")
		}}},
	"skew": {{`^With ([\d,]+) nodes?, from an exponent of (\S+) on .* and the best contestant reaches (\S+)\.`, func(os observations, said []string) error {
		least, _ := ends(os.of(is("load", "load-peak"), with(number1(said[0])), positives, func(o observation) bool { return popularity(o.workload) == "zipf:"+said[1] }))
		return says("the best", times(least.value), said[2])
	}}},
	"trade-off": {{`^With ([\d,]+) nodes?(?:, (?:timings under (uniform requests|\S+?)(?: and |\.))?(?:balance under (\S+?)\.)?|\.) (No contestant|No contestant shown) is better in one and no worse in the other, by more than noise, than those on the dashed line: (.*?)(?:; within noise of it: (.*?))?\. (?:Each|Areas|Not|$)`,
		frontIsNotBeaten}},
}

// hotRatios checks the least and the largest ratio of lookups under Zipf to those of the
// same keys asked for alike, and that contestants have them.
func hotRatios(os observations, said []string) error {
	factors := map[string]float64{}
	least, most := math.Inf(1), math.Inf(-1)
	at := os.of(is("lookup", "lookup-ns"), with(number1(said[0])), fresh)
	for _, o := range at {
		keys, hot := strings.CutSuffix(o.workload, "+zipf:"+said[1])
		if !hot {
			continue
		}
		for _, even := range at {
			alike, uniform := strings.CutSuffix(even.workload, "+uniform")
			sameKind := strings.SplitN(alike, ":", 2)[0] == strings.SplitN(keys, ":", 2)[0] // their number may differ
			if even.label == o.label && uniform && sameKind && even.value > 0 {
				factors[o.label] = o.value / even.value
				least, most = min(least, o.value/even.value), max(most, o.value/even.value)
			}
		}
	}
	if said[2] == "" { // of a single contestant
		said[2], said[4] = said[3], said[5]
	}
	for i, want := range []float64{least, most} {
		if err := says("the ratio under Zipf", trimmed(want, 2), said[2+i]); err != nil {
			return err
		}
		if err := says("the ratio of "+said[4+i], trimmed(want, 2), trimmed(factors[said[4+i]], 2)); err != nil {
			return err
		}
	}
	return nil
}

func mapValues(m map[int]int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// number1 reads a number of nodes.
func number1(s string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	return n
}

func says(what, want, got string) error {
	if want != got {
		return fmt.Errorf("%s is %s, the caption says %s", what, want, got)
	}
	return nil
}

// ends returns the least and the largest.
func ends(os observations) (least, most observation) {
	least.value, most.value = math.Inf(1), math.Inf(-1)
	for _, o := range os {
		if o.value < least.value {
			least = o
		}
		if o.value > most.value {
			most = o
		}
	}
	return least, most
}

// extremesOf checks the least, its contestant, the largest and its contestant.
func extremesOf(at observations, name func(float64) string, said []string) error {
	if len(at) == 0 {
		return fmt.Errorf("there are no such records")
	}
	least, most := ends(at)
	for _, c := range []struct {
		what        string
		o           observation
		value, name string
	}{{"the least", least, said[0], said[1]}, {"the largest", most, said[2], said[3]}} {
		if err := says(c.what, name(c.o.value), c.value); err != nil {
			return err
		}
		if !slices.ContainsFunc(at, func(o observation) bool { return clean(o.label) == c.name && name(o.value) == c.value }) {
			return fmt.Errorf("%s is of %s, the caption says %s", c.what, c.o.label, c.name)
		}
	}
	return nil
}

func between(measure, metric string, name func(float64) string) func(observations, []string) error {
	return func(os observations, said []string) error {
		return extremesOf(os.of(is(measure, metric), with(number1(said[0])), under(said[1]), fresh, positives), name, said[2:])
	}
}

// worstRatio checks the largest quotient of two metrics of one contestant.
func worstRatio(above, below observations, said []string) error {
	most := 0.0
	for _, a := range above {
		for _, b := range below {
			if a.label == b.label && a.workload == b.workload {
				most = max(most, a.value/b.value)
			}
		}
	}
	return says("the largest quotient", trimmed(most, 2), said[0])
}

func mostMoved(os observations, said []string) error {
	at := os.of(with(number1(said[0])), fresh, func(o observation) bool { return o.measure == "movement" && scheduleName(o.schedule) == said[1] })
	least := at.of(is("movement", "moved-minimum"))
	most := 0.0
	for _, o := range at.of(is("movement", "moved-fraction")) {
		if min := least.of(func(m observation) bool { return m.cell == o.cell })[0].value; min > 0 {
			most = max(most, o.value/min)
		}
	}
	if got, err := strconv.ParseFloat(said[2], 64); err != nil || math.Abs(got-max(1, most)) > 0.06*most {
		return fmt.Errorf("the largest quotient is %v, the caption says %s", most, said[2])
	}
	return nil
}

// frontIsNotBeaten checks the trade-off against every contestant that has both values
// at the number of nodes, and all of the run when the caption speaks of all.
func frontIsNotBeaten(os observations, said []string) error {
	n := number1(said[0])
	speeds := os.of(is("lookup", "lookup-ns"), fresh, positives)
	evens := os.of(is("balance", "balance-cv"), fresh, positives)
	type place struct {
		label          string
		x, xLow, xHigh float64
		y, yLow, yHigh float64
	}
	var places []place
	for _, s := range speeds.of(with(n), under(said[1]), func(o observation) bool { return said[1] != "" || skew(o.workload) == 0 }) {
		for _, e := range evens.of(with(n), under(said[2])) {
			if e.label != s.label {
				continue
			}
			part := 2 / math.Sqrt(2*float64(n-1)*float64(e.placements))
			p := place{s.label, s.value, s.low, s.high, e.value, e.value * (1 - part), e.value * (1 + part)}
			places = append(places, p)
		}
	}
	moves := os.of(is("movement", "moved-fraction"), with(n), func(o observation) bool { return o.value > 0.5 })
	reshuffles := func(label string) bool { _, ok := moves.find(label); return ok && !strings.Contains(label, "ring") }
	beats := func(a, b place) bool {
		return a.xHigh < b.xLow && !(b.yHigh < a.yLow) || a.yHigh < b.yLow && !(b.xHigh < a.xLow)
	}
	front := strings.Split(strings.ReplaceAll(said[4]+", "+said[5], " and ", ", "), ", ")
	for _, p := range places {
		if reshuffles(p.label) {
			continue
		}
		beaten := false
		for _, q := range places {
			if beats(q, p) && !reshuffles(q.label) {
				beaten = true
				if slices.Contains(front, p.label) {
					return fmt.Errorf("%s (%v, %v) beats %s (%v, %v)", q.label, q.x, q.y, p.label, p.x, p.y)
				}
			}
		}
		if !beaten && !slices.Contains(front, p.label) {
			return fmt.Errorf("nothing beats %s, and the caption does not name it", p.label)
		}
	}
	everybody := true
	for _, o := range slices.Concat(speeds, evens) {
		if !slices.ContainsFunc(places, func(p place) bool {
			return p.label == o.label || o.hash != "" && p.label == strings.TrimSuffix(o.label, " "+o.hash)
		}) {
			everybody = false
		}
	}
	if claimed := said[3] == "No contestant"; claimed != everybody {
		return fmt.Errorf("the caption speaks of %q, everybody is placed: %v", said[3], everybody)
	}
	return nil
}

// elsewhereToo adds a second workload, under which everything is a tenth and a
// contestant more is measured.
func elsewhereToo(set *results.Set) *results.Set {
	for _, t := range slices.Clone(set.Trials) {
		if t.Workload == "" || results.IsControl(t.Algorithm) || t.Algorithm != "ring" && t.Algorithm != "jump" {
			continue
		}
		for _, algorithm := range []string{t.Algorithm, "wonder"} {
			if t.Measure != "lookup" && t.Measure != "latency" && t.Measure != "balance" && t.Measure != "load" {
				continue
			}
			c := t
			c.Workload = "file:a,b.txt:10+" + popularity(t.Workload)
			if t.Measure == "lookup" || t.Measure == "latency" {
				if popularity(t.Workload) != "uniform" {
					continue
				}
				c.Workload = "random:1000000+zipf:0.99"
			}
			c.Cell = strings.Replace(strings.Replace(t.Cell, results.CellName("", "", 0, nil, t.Workload, "", "", "")[len("/algorithm=/nodes=0"):],
				results.CellName("", "", 0, nil, c.Workload, "", "", "")[len("/algorithm=/nodes=0"):], 1), "algorithm="+t.Algorithm, "algorithm="+algorithm, 1)
			c.Algorithm, c.Values = algorithm, map[string]float64{}
			for metric, v := range t.Values {
				c.Values[metric] = v / 10
			}
			if t.Weights != "" && algorithm == "wonder" {
				continue
			}
			set.Trials = append(set.Trials, c)
		}
	}
	return set
}

// What a caption says is the least, the most or beaten by nothing is so among all
// records of the run, or the caption says among which.
func TestSuperlativesHoldAmongAllRecords(t *testing.T) {
	sets := map[string]*results.Set{
		"quick": quick(), "crowded": crowded(), "questions": questions(), "removals": withRemovals(), "together": together(), "joins": joins(), "replicas": replicated(),
		"quick under other keys too": elsewhereToo(quick()), "removals under other keys too": elsewhereToo(withRemovals()), "two workloads": twoWorkloads(t), "keys only": keysOnly(), "one change of the worst": oneWildChange(), "no single lookups of one": togetherAndOne(),
	}
	maps.Copy(sets, recorded(t))
	reference, err := results.Read("../results/reference")
	if err != nil {
		t.Fatal(err)
	}
	sets["reference"] = reference
	checked := map[string]bool{}
	for name, set := range sets {
		os := observe(set)
		for _, f := range All(set) {
			matches := 0
			for _, s := range superlatives[f.Name] {
				m := regexp.MustCompile(s.pattern).FindStringSubmatch(f.Caption)
				if m == nil {
					continue
				}
				matches++
				checked[f.Name] = true
				if err := s.check(os, m[1:]); err != nil {
					t.Errorf("%s, %s: %v\n%s", name, f.Name, err, f.Caption)
				}
			}
			if matches == 0 && superlatives[f.Name] != nil && !claimsNothing.MatchString(f.Caption) {
				t.Errorf("%s: what %s claims is not checked: %s", name, f.Name, f.Caption)
			}
		}
	}
	for name := range superlatives {
		if !checked[name] {
			t.Errorf("no caption of %s was checked", name)
		}
	}
}

// claimsNothing matches captions that hold no superlative.
var claimsNothing = regexp.MustCompile(`at no exponent here|^Each contestant beside|^With [\d,]+ nodes?( under (?:uniform requests|\S+))?\. (A string key has|From all cores: .* all of them\.$)`)

// oneWildChange has a contestant that moves most of all, under one change of several
// only, so that it has no row.
func oneWildChange() *results.Set {
	set := questions()
	set.Trials = slices.DeleteFunc(set.Trials, func(tr results.Trial) bool { return tr.Measure == "movement" && tr.Schedule == "reorder" })
	for _, tr := range slices.Clone(set.Trials) {
		if tr.Measure == "movement" && tr.Algorithm == "modulo" && tr.Schedule == "add-one" {
			tr.Algorithm, tr.Cell = "wild", strings.Replace(tr.Cell, "algorithm=modulo", "algorithm=wild", 1)
			tr.Values = map[string]float64{"moved-fraction": 1, "moved-minimum": tr.Values["moved-minimum"], "collateral-fraction": 0.9}
			set.Trials = append(set.Trials, tr)
		}
	}
	return set
}

// togetherAndOne has a contestant that the figure of lookups together has no row for,
// and that a writer slows down most.
func togetherAndOne() *results.Set {
	set := together()
	for _, tr := range slices.Clone(set.Trials) {
		if tr.Algorithm != "jump" || tr.Measure == "lookup" {
			continue
		}
		tr.Algorithm, tr.Cell = "dx", strings.Replace(tr.Cell, "algorithm=jump", "algorithm=dx", 1)
		if tr.Measure == "parallel-lookup-writer" {
			tr.Values = map[string]float64{"parallel-lookup-ns": 50}
		}
		set.Trials = append(set.Trials, tr)
	}
	return set
}

// keysOnly is a run that has timed the way from the string key alone.
func keysOnly() *results.Set {
	set := quick()
	set.Trials = slices.DeleteFunc(set.Trials, func(t results.Trial) bool { return t.Measure != "key-lookup" })
	return set
}

func twoWorkloads(t *testing.T) *results.Set {
	t.Helper()
	set, err := results.Read("testdata/two-workloads")
	if err != nil {
		t.Fatal(err)
	}
	return set
}
