package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness/sizing"
	"github.com/ringbench/ringbench/plots"
	"github.com/ringbench/ringbench/results"
	"github.com/ringbench/ringbench/workloads"
)

// A sizingFlags is what vnodes is asked.
type sizingFlags struct {
	nodes                            int
	nodesFile                        string
	peak, cv, confidence             float64
	algorithm                        string
	params                           []string
	hash                             string
	distinctKeys                     int
	keysFile, keyColumn, countColumn string
	keysFormat                       string
	headroom                         string
	replicas                         int
	seed                             uint64
	maxMemory                        string
	compare, json                    bool
	output                           string
}

func (inv *invocation) vnodes() *cobra.Command {
	var f sizingFlags
	cmd := &cobra.Command{
		Use:   "vnodes {--nodes N | --nodes-file F} {--target-peak X | --target-cv X}",
		Short: "Say how many vnodes a cluster needs, and what they cost",
		Long: `Say how many vnodes each node needs so that the busiest owns no more than
--target-peak times its fair share, or the shares spread by no more than
--target-cv, in --confidence of all clusters. Exact shares, no sampled keys.

With --nodes-file it also tells where these very nodes stand. Give --param
vnodes=V for a line about the count that you have now. With --distinct-keys or
--keys-file it tells what few keys and hot keys add, which no count mends.

With --algorithm it finds what another one is tuned by: minimum_ring_size of
envoy-ring and grpc-ring, size of maglev, table_size of envoy-maglev, partitions
of partitions. All nodes share these, and the default is shown beside the answer.`,
		Args: arguments(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.question(inv, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return inv.size(&f, q)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.nodes, "nodes", 0, "`N` nodes, all alike")
	fl.StringVar(&f.nodesFile, "nodes-file", "", "`F`: your nodes, one a line, name[,weight[,zone]]; - is stdin")
	fl.Float64Var(&f.peak, "target-peak", 0, "`X`: the most that the busiest node may own, 1 = its fair share")
	fl.Float64Var(&f.cv, "target-cv", 0, "`X`: the most that the shares may spread, standard deviation over mean")
	fl.Float64Var(&f.confidence, "confidence", 0.95, "`P`: part of the clusters that shall meet the target")
	fl.StringVar(&f.algorithm, "algorithm", "ring", "`A`: what places the keys, see ringbench list")
	fl.StringArrayVar(&f.params, "param", nil, "`k=v`: a parameter of the algorithm, repeatable")
	fl.StringVar(&f.hash, "hash", keyhash.Default, "`H`: hash of points and keys, see ringbench list hashes")
	fl.IntVar(&f.distinctKeys, "distinct-keys", 0, "`K`: how many keys there are, when they are few")
	fl.StringVar(&f.keysFile, "keys-file", "", "`F`: your keys or requests, one a line, or a table with --key-column; .gz, .zst, .xz; - is stdin")
	fl.StringVar(&f.keyColumn, "key-column", "", "`NAME` of the column that holds the keys")
	fl.StringVar(&f.countColumn, "count-column", "", "`NAME` of the column that counts the requests for a key")
	fl.StringVar(&f.keysFormat, "keys-format", "", "`FORMAT` of a trace: libcachesim-csv or oracle-general")
	fl.StringVar(&f.headroom, "headroom", "25%", "`P`: how far above its fair share a node can work, 25% or 0.25")
	fl.IntVar(&f.replicas, "replicas", 1, "`R`: nodes that hold each key; tells what the loss of several of them breaks")
	fl.Uint64Var(&f.seed, "seed", 1, "`N`: seed of the names drawn")
	fl.StringVar(&f.maxMemory, "max-memory", "", "`SIZE` that the structure may take, default half of what is available")
	fl.BoolVar(&f.compare, "compare", false, "set it beside other algorithms, measured now")
	fl.StringVarP(&f.output, "output", "o", "", "draw the choice into `FILE`, which ends in .svg, .png or .pdf")
	fl.BoolVar(&f.json, "json", false, "print JSON, with the time of a lookup measured now")
	return cmd
}

// question makes the flags a question, or refuses them.
func (f *sizingFlags) question(inv *invocation, given func(string) bool) (sizing.Question, error) {
	q := sizing.Question{Confidence: f.confidence, Replicas: f.replicas, Seed: f.seed}
	switch {
	case given("nodes") == given("nodes-file"):
		return q, errors.New("which cluster? give one of --nodes N and --nodes-file FILE")
	case given("target-peak") == given("target-cv"):
		return q, errors.New("what is even enough? give --target-peak X, such as 1.15 for a busiest node of at most 15% above its share, or --target-cv X, such as 0.05 for shares that spread by 5%")
	case given("nodes") && f.nodes < 1:
		return q, fmt.Errorf("--nodes cannot be %d, it wants 1 or more", f.nodes)
	case given("nodes") && f.nodes > mostNodes:
		return q, fmt.Errorf("--nodes cannot be %d, it wants %d or fewer", f.nodes, mostNodes)
	case given("distinct-keys") && given("keys-file"):
		return q, errors.New("--distinct-keys and --keys-file exclude each other, keep one")
	case given("distinct-keys") && f.distinctKeys < 1:
		return q, fmt.Errorf("--distinct-keys cannot be %d, it wants 1 or more", f.distinctKeys)
	case f.distinctKeys > mostKeys:
		return q, fmt.Errorf("--distinct-keys cannot be %d, it wants %d or fewer: leave it out where keys abound", f.distinctKeys, mostKeys)
	case f.keysFile == "" && (f.keyColumn != "" || f.countColumn != "" || f.keysFormat != ""):
		return q, errors.New("--key-column, --count-column and --keys-format need --keys-file")
	}
	q.Target = sizing.Target{Metric: sizing.Peak, Value: f.peak}
	if given("target-cv") {
		q.Target = sizing.Target{Metric: sizing.CV, Value: f.cv}
	}
	if f.output != "" {
		if err := plots.CheckFormat(strings.TrimPrefix(filepath.Ext(f.output), ".")); err != nil {
			return q, fmt.Errorf("-o %s: %w", f.output, err)
		}
	}
	var err error
	if q.Headroom, err = parsePart("--headroom", f.headroom); err != nil {
		return q, err
	}
	if q.MaxMemory, err = memoryLimit(f.maxMemory); err != nil {
		return q, err
	}
	if q.Info, err = inv.algorithm(f.algorithm); err != nil {
		return q, err
	}
	if err := f.hashed(&q, given("hash")); err != nil {
		return q, err
	}
	if err := f.members(inv, &q); err != nil {
		return q, err
	}
	if err := q.Check(); err != nil {
		return q, err
	}
	return q, f.keys(inv, &q)
}

// What is beyond these is a typing error.
const (
	mostNodes = 1_000_000
	mostKeys  = 1_000_000_000_000
)

// pointHash is the parameter that rings take the hash of their points from.
const pointHash = "point_hash"

// hashed sets the parameters, and the hash of the points along with that of the
// keys unless the parameters name it.
func (f *sizingFlags) hashed(q *sizing.Question, hashSet bool) error {
	hash, err := keyhash.ByName(f.hash)
	if err != nil {
		return err
	}
	q.Hash = hash
	if m, _, err := q.Info.New(algorithms.Nodes("node"), nil); err == nil && hashSet {
		if _, own := m.(algorithms.KeyMapper); own {
			return fmt.Errorf("%s hashes keys its own way, leave --hash out", q.Info.Name)
		}
	}
	params := f.params
	named := func(pair string) bool { return strings.HasPrefix(pair, pointHash+"=") }
	if hashSet && slices.Contains(algorithms.ParamNames(q.Info.Defaults), pointHash) && !slices.ContainsFunc(params, named) {
		params = append([]string{pointHash + "=" + hash.Name}, params...)
	}
	q.Params, err = parseParams(params)
	return err
}

// members sets the nodes: the asker's own, or so many that are alike.
func (f *sizingFlags) members(inv *invocation, q *sizing.Question) error {
	if f.nodesFile == "" {
		for i := range f.nodes {
			q.Nodes = append(q.Nodes, algorithms.Node{Name: "node-" + strconv.Itoa(i), Weight: 1})
		}
		return nil
	}
	var err error
	p := placing{nodesFile: f.nodesFile, keysFile: f.keysFile}
	q.Yours = true
	q.Nodes, err = p.members(inv)
	return err
}

// keys sets the keys, if any are told of.
func (f *sizingFlags) keys(inv *invocation, q *sizing.Question) error {
	switch {
	case f.distinctKeys > 0:
		q.Keys = sizing.EvenKeys(f.distinctKeys)
	case f.keysFile != "":
		file, err := workloads.ReadKeys(f.keysFile, workloads.FileOptions{KeyColumn: f.keyColumn, CountColumn: f.countColumn, Format: f.keysFormat, Stdin: inv.stdin})
		if err != nil {
			return err
		}
		q.Keys = sizing.CountedKeys(file.Counts(), file.Key)
	}
	return nil
}

// parsePart reads a part of a whole: 25% or 0.25.
func parsePart(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%s cannot be %q, it wants a part such as 25%% or 0.25", flag, text)
	}
	if percent {
		v /= 100
	} else if v >= 10 {
		return 0, fmt.Errorf("%s %s is %g%%, write %s%% if that is what you mean", flag, text, 100*v, text)
	}
	return v, nil
}

// size answers the question.
func (inv *invocation) size(f *sizingFlags, q sizing.Question) error {
	q.Trying = trying(inv.stderr, q.Info)
	a, err := sizing.Solve(q)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if f.json {
		if err := a.Time(ctx, q, inv.infos); err != nil {
			return interrupted(err)
		}
	}
	if f.compare {
		if err := a.Contend(ctx, q, inv.infos); err != nil {
			return interrupted(err)
		}
	}
	if f.output != "" {
		if err := drawChoice(f.output, q, a); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(inv.stdout, a)
	}
	return inv.write("-", func(w io.Writer) error {
		_, err := io.WriteString(w, answerText(f, &q, a))
		return err
	})
}

// patience is how long a search is silent.
const patience = 5 * time.Second

// trying returns what tells of a search that takes long.
func trying(w io.Writer, info algorithms.Info) func(v, placements int) {
	told := time.Now()
	return func(v, placements int) {
		if now := time.Now(); now.Sub(told) >= patience {
			told = now
			fmt.Fprintf(w, "trying %d %s: %s over %d sets of names\n", v, info.Knob, info.Name, placements)
		}
	}
}

func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exit{exitInterrupted, errors.New("interrupted")}
	}
	return err
}

// drawChoice draws the metric against the knob.
func drawChoice(path string, q sizing.Question, a *sizing.Answer) error {
	curve, err := sizing.Curve(q, a)
	if err != nil {
		return err
	}
	c := plots.Choice{
		Algorithm: a.Algorithm, Knob: a.Knob, Nodes: a.Nodes, Chosen: float64(a.VNodes),
		Spread: q.Target.Metric == sizing.CV, Target: q.Target.Value, Confidence: q.Confidence,
	}
	for _, p := range curve {
		c.Points = append(c.Points, plots.ChoicePoint{Knob: float64(p.VNodes), Typical: p.Typical, Low: p.Low, High: p.High, Own: p.Yours})
	}
	return results.WriteFile(path, func(w io.Writer) error {
		return c.Figure().Draw(w, strings.TrimPrefix(filepath.Ext(path), "."))
	})
}
