package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// A listing is a table for people, with the same as JSON for programs.
type listing struct {
	head []string
	rows [][]string
	json any
}

// listed are the words that list takes, in the order of its help.
var listed = []string{"algorithms", "hashes", "workloads", "metrics", "suites"}

func (inv *invocation) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list [algorithms|hashes|workloads|metrics|suites]",
		Short:     "List what there is to measure, and to measure it with",
		Args:      arguments(0, 1, "one of "+strings.Join(listed, ", ")),
		ValidArgs: listed,
		RunE: func(_ *cobra.Command, args []string) error {
			what := "algorithms"
			if len(args) > 0 {
				what = args[0]
			}
			l, err := inv.listing(what)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(inv.stdout, l.json)
			}
			return writeTable(inv.stdout, l.head, l.rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (inv *invocation) listing(what string) (listing, error) {
	switch what {
	case "algorithms":
		return inv.algorithmList()
	case "hashes":
		return hashList(), nil
	case "workloads":
		return workloadList(), nil
	case "metrics":
		return metricList(), nil
	case "suites":
		return suiteList()
	}
	return listing{}, fmt.Errorf("cannot list %q, %s", what, algorithms.Nearest(what, listed))
}

// writeJSON writes v, indented, with < and > as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeTable writes rows in columns that stand under their heads.
func writeTable(w io.Writer, head []string, rows [][]string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// An algorithmEntry is what list algorithms tells of one, in its JSON.
type algorithmEntry struct {
	Name      string          `json:"name"`
	Ref       string          `json:"ref"`
	Params    json.RawMessage `json:"params"` // the defaults
	Weights   bool            `json:"weights"`
	Replicas  bool            `json:"replicas"`
	Add       bool            `json:"add"`
	Remove    string          `json:"remove"` // "any", "last" or "none"
	Bounded   bool            `json:"bounded"`
	KeyMapper bool            `json:"key_mapper"`
	Declines  []string        `json:"declines"`
}

// abilities looks at what a small mapper of the algorithm can do: its method set
// is the only source of truth.
func abilities(info algorithms.Info) (algorithmEntry, error) {
	e := algorithmEntry{
		Name: info.Name, Ref: info.Ref, Params: info.Defaults,
		Remove: "none", Declines: append([]string{}, info.Declines...),
	}
	nodes := algorithms.Nodes("a", "b", "c")
	m, _, err := info.New(nodes, nil)
	if err != nil {
		return e, err
	}
	_, e.Replicas = m.(algorithms.Replicator)
	_, e.Add = m.(algorithms.Adder)
	_, e.Bounded = m.(algorithms.Assigner)
	_, e.KeyMapper = m.(algorithms.KeyMapper)
	if _, ok := m.(algorithms.LastRemover); ok {
		e.Remove = "last"
	}
	if _, ok := m.(algorithms.Remover); ok {
		e.Remove = "any"
	}
	nodes[1].Weight = 2
	_, _, err = info.New(nodes, nil)
	e.Weights = !errors.Is(err, errors.ErrUnsupported)
	return e, nil
}

func (inv *invocation) algorithmList() (listing, error) {
	l := listing{head: []string{"ALGORITHM", "WEIGHTS", "REPLICAS", "ADD", "REMOVE", "BOUNDED", "PARAMETERS", "DECLINES"}}
	entries := []algorithmEntry{}
	for _, info := range inv.infos {
		e, err := abilities(info)
		if err != nil {
			return l, err
		}
		entries = append(entries, e)
		l.rows = append(l.rows, []string{e.Name, yes(e.Weights), yes(e.Replicas), yes(e.Add), e.Remove, yes(e.Bounded),
			dash(paramText(e.Params)), dash(strings.Join(e.Declines, ", "))})
	}
	l.json = entries
	return l, nil
}

// paramText writes parameters as --param takes them.
func paramText(params json.RawMessage) string {
	var texts []string
	for _, name := range algorithms.ParamNames(params) {
		if v := results.Param(params, name); v != "null" && v != "" {
			texts = append(texts, name+"="+v)
		}
	}
	return strings.Join(texts, " ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func hashList() listing {
	type entry struct {
		Name    string `json:"name"`
		Bits    int    `json:"bits"`
		Default bool   `json:"default"`
	}
	l := listing{head: []string{"HASH", "BITS", ""}}
	var entries []entry
	for _, h := range keyhash.All() {
		e := entry{h.Name, h.Bits, h.Name == keyhash.Default}
		entries = append(entries, e)
		note := ""
		if e.Default {
			note = "the default"
		}
		l.rows = append(l.rows, []string{e.Name, strconv.Itoa(e.Bits), note})
	}
	l.json = entries
	return l
}

// A workloadEntry is a word that a spec or a flag takes to make a workload.
type workloadEntry struct {
	Part    string `json:"part"` // "keys", "popularity" or "schedule"
	Form    string `json:"form"`
	Example string `json:"example"`
	Meaning string `json:"meaning"`
}

var workloadEntries = []workloadEntry{
	{"keys", "seq:PREFIX:FROM:TO", "seq:user:0:1000000", "the prefix with the numbers from FROM to TO-1"},
	{"keys", "padded:PREFIX:FROM:TO", "padded:user:0:1000000", "the same, the numbers filled up with zeros to one width"},
	{"keys", "prefix:COUNT[:BYTES]", "prefix:1000000:64", "numbers behind the same BYTES bytes"},
	{"keys", "tag:COUNT[:KEYS]", "tag:1000000:10", "{user:T}:item:I, KEYS keys to each tag T"},
	{"keys", "url:COUNT[:SEED]", "url:1000000", "addresses of web pages, all distinct"},
	{"keys", "random:COUNT[:SEED]", "random:1000000", "16 random hexadecimal digits, all distinct"},
	{"keys", "uuid:COUNT[:SEED]", "uuid:1000000", "random UUIDs, all distinct"},
	{"popularity", "uniform", "uniform", "every key is asked for alike"},
	{"popularity", "zipf:S", "zipf:0.99", "the k-th key is asked for k^-S times as often as the first, S of 0 or more"},
	{"popularity", "hotset:KEYS:SHARE", "hotset:0.1:0.9", "the first KEYS keys, or that part of them, have SHARE of the requests"},
	{"popularity", "latest", "latest", "Zipf 0.99 with the last key as the most asked for"},
	{"popularity", "ycsb-scrambled", "ycsb-scrambled", "what the scrambled Zipfian of YCSB draws: the top key has 3.78%, however many there are"},
	{"popularity", "counts", "counts", "as the file of keys counts"},
	{"popularity", "bytes", "bytes", "by the bytes asked for, from a file of keys that tells sizes"},
	{"schedule", "add-one", "add-one", "a node joins"},
	{"schedule", "remove-one", "remove-one", "a node leaves, any with equal chance"},
	{"schedule", "remove-last", "remove-last", "the node that stands last leaves"},
	{"schedule", "remove-each", "remove-each", "each node leaves in turn, all others being there"},
	{"schedule", "remove:K", "remove:2", "K nodes leave together, any with equal chance; K below 1 is a part of them all"},
	{"schedule", "remove-last:K", "remove-last:0.5", "the K nodes that stand last leave together, the last one first"},
	{"schedule", "grow:K", "grow:5", "K nodes join together"},
	{"schedule", "double", "double", "as many nodes join together as there are"},
	{"schedule", "rolling", "rolling", "each node in turn leaves and a new one joins in its stead"},
	{"schedule", "reorder", "reorder", "the list of nodes is shuffled, nobody joins or leaves"},
	{"schedule", "reweight:F", "reweight:2", "the weight of a node, any with equal chance, is multiplied by F"},
}

func workloadList() listing {
	l := listing{head: []string{"PART", "FORM", "EXAMPLE", "MEANING"}, json: workloadEntries}
	for _, e := range workloadEntries {
		l.rows = append(l.rows, []string{e.Part, e.Form, e.Example, e.Meaning})
	}
	return l
}

func metricList() listing {
	type entry struct {
		Name    string `json:"name"`
		Unit    string `json:"unit"`
		Better  string `json:"better"`
		Kind    string `json:"kind"`
		Meaning string `json:"meaning"`
	}
	l := listing{head: []string{"METRIC", "UNIT", "BETTER", "KIND", "MEANING"}}
	var entries []entry
	for _, m := range results.Metrics {
		e := entry{m.Name, m.Unit, m.Better.String(), m.Kind.String(), m.Meaning}
		entries = append(entries, e)
		l.rows = append(l.rows, []string{e.Name, e.Unit, e.Better, e.Kind, e.Meaning})
	}
	l.json = entries
	return l
}

func suiteList() (listing, error) {
	type entry struct {
		Name        string   `json:"name"`
		Title       string   `json:"title"`
		Experiments []string `json:"experiments"`
	}
	l := listing{head: []string{"SUITE", "EXPERIMENTS", "TITLE"}}
	var entries []entry
	for _, name := range harness.Suites() {
		s, err := harness.Suite(name)
		if err != nil {
			return l, err
		}
		e := entry{Name: name, Title: s.Title}
		for _, x := range s.Experiments {
			e.Experiments = append(e.Experiments, x.Name)
		}
		entries = append(entries, e)
		l.rows = append(l.rows, []string{name, strconv.Itoa(len(e.Experiments)), s.Title})
	}
	l.json = entries
	return l, nil
}

// algorithm returns the algorithm of that name.
func (inv *invocation) algorithm(name string) (algorithms.Info, error) {
	var names []string
	for _, info := range inv.infos {
		names = append(names, info.Name)
	}
	i := slices.Index(names, name)
	if i < 0 {
		return algorithms.Info{}, fmt.Errorf("unknown algorithm %q, %s", name, algorithms.Nearest(name, names))
	}
	return inv.infos[i], nil
}
