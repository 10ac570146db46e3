package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness/whatif"
	"github.com/ringbench/ringbench/plots"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A supposing is what whatif is asked.
type supposing struct {
	placing
	changes                 []asked
	headroom                string
	countColumn, popularity string
	rate                    float64
	worst, json             bool
}

func (inv *invocation) whatif() *cobra.Command {
	var f supposing
	cmd := &cobra.Command{
		Use:   "whatif --algorithm A --nodes-file F {--add NAME[=W] | --remove NAME | --reweight NAME=W}...",
		Short: "Say what a change does to your cluster before you make it",
		Long: `Say what happens when nodes join, leave or change their weight, all at once:
which share of the keys moves from where to where, who is the busiest then, and
whether a node comes above its capacity and takes others along. Exact where the
algorithm tells what its nodes own, and otherwise counted over --keys, with its
error.

--popularity tells of requests, with --rate also of the misses of a cache.
--replicas tells what there is to copy, and which keys lose their majority until
it is copied. --worst looks for the single failure that does most harm, after the
changes if there are any.`,
		Args: arguments(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.question(inv, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			a, err := whatif.Ask(q)
			if err != nil {
				return err
			}
			if f.output != "" {
				if err := drawChange(f.output, a); err != nil {
					return err
				}
			}
			if f.json {
				return writeJSON(inv.stdout, a)
			}
			return inv.write("-", func(w io.Writer) error {
				_, err := io.WriteString(w, changeText(&f, &q, a))
				return err
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.algorithm, "algorithm", "", "`A`: what places the keys, see ringbench list")
	fl.StringArrayVar(&f.params, "param", nil, "`k=v`: a parameter of the algorithm, repeatable")
	fl.StringVar(&f.hash, "hash", keyhash.Default, "`H`: hash of the keys, see ringbench list hashes")
	fl.StringVar(&f.nodesFile, "nodes-file", "", "`F`: your nodes, one a line, name[,weight[,zone]]; - is stdin")
	fl.Var(&changeFlag{&f.changes, workloads.AddNode}, "add", "`NAME[=W]` of a node that joins, repeatable")
	fl.Var(&changeFlag{&f.changes, workloads.RemoveNode}, "remove", "`NAME` of a node that leaves, repeatable")
	fl.Var(&changeFlag{&f.changes, workloads.SetWeight}, "reweight", "`NAME=W`: another weight for a node, repeatable")
	fl.StringVar(&f.headroom, "headroom", "25%", "`P`: how far above its fair share a node can work, 25% or 0.25")
	fl.IntVar(&f.replicas, "replicas", 1, "`R`: nodes that hold each key")
	fl.Float64Var(&f.rate, "rate", 0, "`RPS`: requests a second, for the misses of a cache")
	fl.StringVar(&f.popularity, "popularity", "", "`P`: who is asked how often, such as zipf:0.99, see ringbench list workloads")
	fl.StringVar(&f.keys, "keys", "", "`SPEC` of made-up keys (default seq:1000000), see ringbench list workloads")
	fl.StringVar(&f.keysFile, "keys-file", "", "`F`: your keys, one a line, or a table with --key-column; .gz, .zst, .xz; - is stdin")
	fl.StringVar(&f.keyColumn, "key-column", "", "`NAME` of the column that holds the keys")
	fl.StringVar(&f.countColumn, "count-column", "", "`NAME` of the column that counts the requests for a key")
	fl.BoolVar(&f.worst, "worst", false, "look for the single failure that does most harm")
	fl.StringVar(&f.maxMemory, "max-memory", "", "`SIZE` that the structure may take, default half of what is available")
	fl.StringVarP(&f.output, "output", "o", "", "draw what moves, and the misses, into `FILE`, which ends in .svg, .png or .pdf")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// A changeFlag takes a change of one kind in, after those before it on the line.
type changeFlag struct {
	changes *[]asked
	op      workloads.Op
}

// asked is a change as it was typed.
type asked struct {
	op   workloads.Op
	text string
}

func (c *changeFlag) String() string { return "" }
func (c *changeFlag) Type() string   { return "node" }

func (c *changeFlag) Set(text string) error {
	*c.changes = append(*c.changes, asked{c.op, text})
	return nil
}

// change reads it.
func (a asked) change() (whatif.Change, error) {
	c := whatif.Change{Op: a.op, Node: algorithms.Node{Name: a.text}}
	var err error
	switch {
	case a.op == workloads.RemoveNode:
	case a.op == workloads.SetWeight && !strings.Contains(a.text, "="):
		return c, fmt.Errorf("--reweight %s: which weight? write %s=WEIGHT", a.text, a.text)
	default:
		if c.Node, err = algorithms.ParseNode(a.text); err != nil {
			return c, fmt.Errorf("--%s: %w", a.op, err)
		}
	}
	return c, nil
}

// question makes the flags a question, or refuses them.
func (f *supposing) question(inv *invocation, given func(string) bool) (whatif.Question, error) {
	q := whatif.Question{Replicas: f.replicas, Rate: f.rate, Worst: f.worst}
	var err error
	switch {
	case f.nodesFile == "":
		return q, errors.New("which cluster? give --nodes-file FILE")
	case f.keys != "" && f.keysFile != "":
		return q, errors.New("--keys and --keys-file exclude each other, keep one")
	case f.keysFile == "" && (f.keyColumn != "" || f.countColumn != ""):
		return q, errors.New("--key-column and --count-column need --keys-file")
	case given("rate") && !(f.rate > 0):
		return q, fmt.Errorf("--rate cannot be %v, it wants a number of requests a second above 0", f.rate)
	}
	if f.output != "" {
		if len(f.changes) == 0 {
			return q, errors.New("-o draws what moves, and nothing does without a change: give --add, --remove or --reweight, or leave -o out")
		}
		if err := plots.CheckFormat(strings.TrimPrefix(filepath.Ext(f.output), ".")); err != nil {
			return q, fmt.Errorf("-o %s: %w", f.output, err)
		}
	}
	for _, a := range f.changes {
		c, err := a.change()
		if err != nil {
			return q, err
		}
		q.Changes = append(q.Changes, c)
	}
	if q.Headroom, err = parsePart("--headroom", f.headroom); err != nil {
		return q, err
	}
	b, err := f.building(inv, "whatif", given("hash"))
	if err != nil {
		return q, err
	}
	q.Info, q.Params, q.Nodes, q.Hash = b.info, b.params, b.nodes, b.hash
	return q, f.workload(inv, &q)
}

// keysByDefault are enough to count to a tenth of a percent.
const keysByDefault = "seq:1000000"

// workload sets the keys and who asks for them.
func (f *supposing) workload(inv *invocation, q *whatif.Question) error {
	var counts []float64
	popularity := f.popularity
	if f.keysFile != "" {
		file, err := workloads.ReadKeys(f.keysFile, workloads.FileOptions{KeyColumn: f.keyColumn, CountColumn: f.countColumn, Stdin: inv.stdin})
		if err != nil {
			return err
		}
		q.Keys, counts = file, file.Counts()
		if popularity == "" {
			popularity = "counts"
		}
	} else {
		spec := f.keys
		if spec == "" {
			spec = keysByDefault
		}
		set, err := workloads.ParseKeys(spec)
		if err != nil {
			return fmt.Errorf("--keys: %w", err)
		}
		q.Keys = set
		if popularity == "" && f.rate > 0 {
			popularity = "uniform"
		}
	}
	if popularity == "" {
		return nil
	}
	p, err := workloads.ParsePopularity(popularity, q.Keys.Len(), counts)
	if err != nil {
		return fmt.Errorf("--popularity: %w", err)
	}
	q.Popularity = p
	return nil
}

// drawChange draws what moves, and the misses that come of it.
func drawChange(path string, a *whatif.Answer) error {
	c := plots.Flows{Algorithm: a.Algorithm, Changes: strings.Join(a.Changes, " "), Moved: a.Moved, Minimum: a.Minimum, Sampled: a.Sampled}
	for _, f := range a.Flows {
		c.Flows = append(c.Flows, plots.Flow{From: f.From, To: f.To, Share: f.Share})
	}
	if m := a.Misses; m != nil {
		c.Rate, c.Seconds, c.Misses = m.Rate, m.Seconds, m.Each
	}
	return results.WriteFile(path, func(w io.Writer) error {
		return c.Figure().Draw(w, strings.TrimPrefix(filepath.Ext(path), "."))
	})
}
