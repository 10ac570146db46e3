package cli

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/workloads"
)

// A placing is what place is asked for.
type placing struct {
	algorithm string
	params    []string
	nodesFile string
	nodes     []string
	hash      string
	replicas  int
	keysFile  string
	keyColumn string
	format    string
	keys      string
	maxMemory string
	output    string
	explain   string
	ring      bool
}

func (inv *invocation) place() *cobra.Command {
	var p placing
	cmd := &cobra.Command{
		Use:   "place --algorithm A {--nodes-file F | --node NAME[=WEIGHT]...} {--keys-file F | --keys SPEC | --explain KEY | --ring}",
		Short: "Write which node each key goes to, as CSV",
		Long: `Write which node each key goes to, as CSV with the header key,node, in the order
of the keys. With --replicas the nodes of a key follow each other, the owner
first; where the nodes name zones, every zone has a replica before any has two. An
algorithm that bounds the load takes each key as one request, in order.

With --explain it tells of one key its hash, its owner, the nodes that come next,
and why. With --ring it writes the points of the ring with their owners and shares
in order, or draws the circle when -o names a figure.`,
		Args: arguments(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.ring || cmd.Flags().Changed("explain") {
				return p.look(inv, cmd.Flags().Changed)
			}
			pl, err := p.placer(inv, cmd.Flags().Changed("hash"))
			if err != nil {
				return err
			}
			keys, err := p.stream(inv)
			if err != nil {
				return err
			}
			inv.namePointless(pl.mapper)
			return inv.write(p.output, func(w io.Writer) error { return pl.write(w, keys) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.algorithm, "algorithm", "", "`A`: what places the keys, see ringbench list")
	f.StringArrayVar(&p.params, "param", nil, "`k=v`: a parameter of the algorithm, repeatable")
	f.StringVar(&p.nodesFile, "nodes-file", "", "`F`: one node a line, name[,weight[,zone]]")
	f.StringArrayVar(&p.nodes, "node", nil, "`NAME[=WEIGHT]` of a node, repeatable")
	f.StringVar(&p.hash, "hash", keyhash.Default, "`H`: hash of the keys, see ringbench list hashes")
	f.IntVar(&p.replicas, "replicas", 1, "`R`: nodes for each key")
	f.StringVar(&p.keysFile, "keys-file", "", "`F`: one key a line, or a table with --key-column; .gz, .zst, .xz; - is stdin")
	f.StringVar(&p.keyColumn, "key-column", "", "`NAME` of the column that holds the keys")
	f.StringVar(&p.format, "keys-format", "", "`FORMAT` of a trace: libcachesim-csv or oracle-general")
	f.StringVar(&p.keys, "keys", "", "`SPEC` of made-up keys, see ringbench list workloads")
	f.StringVar(&p.maxMemory, "max-memory", "", "`SIZE` that the structure may take, default half of what is available")
	f.StringVarP(&p.output, "output", "o", "-", "write to `FILE`; - is stdout")
	f.StringVar(&p.explain, "explain", "", "`KEY`: tell where it goes, and why")
	f.BoolVar(&p.ring, "ring", false, "write points and owners in order, or draw the circle: -o ring.svg")
	return cmd
}

// look tells of the structure instead of placing keys.
func (p *placing) look(inv *invocation, given func(string) bool) error {
	if p.ring && given("explain") {
		return errors.New("--explain and --ring exclude each other, keep one")
	}
	for _, flag := range []string{"keys", "keys-file", "key-column", "keys-format", "replicas"} {
		if given(flag) {
			return fmt.Errorf("--%s has no place beside --explain and --ring, leave it out", flag)
		}
	}
	b, err := p.building(inv, "place", given("hash"))
	if err != nil {
		return err
	}
	if p.ring && drawn(p.output) {
		return b.drawRing(p.output)
	}
	return inv.write(p.output, func(w io.Writer) error {
		if p.ring {
			return b.writeRing(w)
		}
		_, err := io.WriteString(w, b.explain(p.explain))
		return err
	})
}

// A building is an algorithm over nodes.
type building struct {
	info   algorithms.Info
	params json.RawMessage // as given
	nodes  []algorithms.Node
	mapper algorithms.Mapper
	hash   keyhash.Hash // of the keys, unless the algorithm hashes them itself
}

// building builds the algorithm for a command, or refuses.
func (p *placing) building(inv *invocation, command string, hashSet bool) (*building, error) {
	if p.algorithm == "" {
		return nil, fmt.Errorf("%s needs --algorithm, see ringbench list", command)
	}
	info, err := inv.algorithm(p.algorithm)
	if err != nil {
		return nil, err
	}
	params, err := parseParams(p.params)
	if err != nil {
		return nil, err
	}
	nodes, err := p.members(inv)
	if err != nil {
		return nil, err
	}
	hash, err := keyhash.ByName(p.hash)
	if err != nil {
		return nil, err
	}
	most, err := memoryLimit(p.maxMemory)
	if err != nil {
		return nil, err
	}
	size, err := info.Forecast(nodes, params)
	if err != nil {
		return nil, err
	}
	if most > 0 && size > most {
		return nil, fmt.Errorf("%s over %d nodes would take %s, more than the %s of --max-memory", info.Name, len(nodes), bytesText(size), bytesText(most))
	}
	b := &building{info: info, params: params, nodes: nodes, hash: hash}
	if b.mapper, _, err = info.New(nodes, params); err != nil {
		return nil, err
	}
	if _, own := b.mapper.(algorithms.KeyMapper); own && hashSet {
		return nil, fmt.Errorf("%s hashes keys its own way, leave --hash out", info.Name)
	}
	return b, nil
}

// placer builds what places the keys, or refuses.
func (p *placing) placer(inv *invocation, hashSet bool) (*placer, error) {
	b, err := p.building(inv, "place", hashSet)
	if err != nil {
		return nil, err
	}
	pl := &placer{name: b.info.Name, mapper: b.mapper, nodes: b.nodes, hash: b.hash.OfKeys(b.mapper), replicas: p.replicas}
	return pl, pl.check()
}

// namePointless says which nodes take no keys though they have a weight.
func (inv *invocation) namePointless(m algorithms.Mapper) {
	inv.nameSlotless(m)
	p, ok := m.(interface{ Pointless() []string })
	if !ok {
		return
	}
	switch names := p.Pointless(); {
	case len(names) > mostNamed:
		inv.say("%d of %d nodes have no point, so that no key goes to them: %s", len(names), m.Len(), someOf(names))
	case len(names) > 0:
		inv.say("no key goes to %s: the weight is too small beside the others for a single point", someOf(names))
	}
}

// parseParams makes a JSON object of k=v pairs. A value that is JSON and no
// object, which no parameter is, is taken as that, anything else as a string.
func parseParams(pairs []string) (json.RawMessage, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	params := map[string]json.RawMessage{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--param %q is not of the form k=v", pair)
		}
		if _, twice := params[name]; twice {
			return nil, fmt.Errorf("--param %s is given twice, keep one", name)
		}
		params[name] = json.RawMessage(value)
		if !json.Valid(params[name]) || strings.HasPrefix(value, "{") {
			params[name] = json.RawMessage(strconv.Quote(value))
			if b, err := json.Marshal(value); err == nil {
				params[name] = b
			}
		}
	}
	return json.Marshal(params)
}

// members returns the nodes that the flags name.
func (p *placing) members(inv *invocation) ([]algorithms.Node, error) {
	switch {
	case p.nodesFile != "" && len(p.nodes) > 0:
		return nil, errors.New("--nodes-file and --node exclude each other, keep one")
	case p.nodesFile == "-" && p.keysFile == "-":
		return nil, errors.New("nodes and keys cannot both come from stdin, put one of them into a file")
	case p.nodesFile == "-":
		return algorithms.ReadNodes(inv.stdin, "stdin")
	case p.nodesFile != "":
		f, err := os.Open(p.nodesFile)
		if err != nil {
			return nil, fmt.Errorf("--nodes-file: %w", err)
		}
		defer f.Close()
		return algorithms.ReadNodes(f, p.nodesFile)
	}
	var nodes []algorithms.Node
	for _, text := range p.nodes {
		n, err := algorithms.ParseNode(text)
		if err != nil {
			return nil, fmt.Errorf("--node: %w", err)
		}
		nodes = append(nodes, n)
	}
	if err := algorithms.Validate(nodes); err != nil {
		return nil, fmt.Errorf("%w: --node NAME[=WEIGHT] or --nodes-file FILE", err)
	}
	return nodes, nil
}

// stream returns the keys that the flags name, in order.
func (p *placing) stream(inv *invocation) (iter.Seq2[string, error], error) {
	switch {
	case p.keys != "" && p.keysFile != "":
		return nil, errors.New("--keys and --keys-file exclude each other, keep one")
	case p.keys == "" && p.keysFile == "":
		return nil, errors.New("no keys: --keys-file FILE, or --keys SPEC such as seq:user:0:1000")
	case p.keysFile != "":
		return workloads.StreamKeys(p.keysFile, workloads.FileOptions{KeyColumn: p.keyColumn, Format: p.format, Stdin: inv.stdin}), nil
	case p.keyColumn != "" || p.format != "":
		return nil, errors.New("--key-column and --keys-format need --keys-file")
	}
	set, err := workloads.ParseKeys(p.keys)
	if err != nil {
		return nil, err
	}
	return func(yield func(string, error) bool) {
		for rank := range set.Len() {
			if !yield(set.Key(rank), nil) {
				return
			}
		}
	}, nil
}

// A placer places keys on nodes.
type placer struct {
	name     string
	mapper   algorithms.Mapper
	nodes    []algorithms.Node
	hash     func(string) uint64 // of the algorithm itself where it tells one
	replicas int
}

// check refuses replicas that there cannot be.
func (pl *placer) check() error {
	if pl.replicas < 1 {
		return fmt.Errorf("--replicas %d, want 1 or more", pl.replicas)
	}
	if pl.replicas == 1 {
		return nil
	}
	several, ok := pl.mapper.(algorithms.Replicator)
	if !ok {
		return fmt.Errorf("%s names one node for each key, leave --replicas out", pl.name)
	}
	_, own := pl.mapper.(algorithms.KeyMapper)
	if _, tells := pl.mapper.(algorithms.KeyHasher); own && !tells {
		return fmt.Errorf("%s hashes keys its own way and does not tell how, leave --replicas out", pl.name)
	}
	if _, bounded := pl.mapper.(algorithms.Assigner); bounded {
		return fmt.Errorf("%s places each request once, leave --replicas out", pl.name)
	}
	able := 0
	for _, n := range pl.nodes {
		if n.Weight > 0 {
			able++
		}
	}
	if able >= pl.replicas {
		able = several.LookupN(pl.hash(""), make([]algorithms.Bucket, pl.replicas)) // some may have no points
	}
	if able < pl.replicas {
		return fmt.Errorf("--replicas %d over %d nodes that take keys, name more nodes or ask for fewer replicas", pl.replicas, able)
	}
	return nil
}

// write writes the CSV.
func (pl *placer) write(w io.Writer, keys iter.Seq2[string, error]) error {
	out := csv.NewWriter(w)
	record := []string{"key", "node"}
	for r := 2; r <= pl.replicas; r++ {
		record = append(record, "node"+strconv.Itoa(r))
	}
	if err := out.Write(record); err != nil {
		return err
	}
	owners := make([]algorithms.Bucket, pl.replicas)
	number := 0
	for key, err := range keys {
		if err != nil {
			return err
		}
		number++
		if err := pl.owners(key, owners); err != nil {
			return fmt.Errorf("key %d, %q: %w", number, key, err)
		}
		record[0] = key
		for i, b := range owners {
			record[i+1] = pl.nodes[b].Name
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// owners sets dst to the nodes of the key.
func (pl *placer) owners(key string, dst []algorithms.Bucket) error {
	if len(dst) > 1 {
		n := pl.mapper.(algorithms.Replicator).LookupN(pl.hash(key), dst)
		if n < len(dst) {
			return fmt.Errorf("%d distinct nodes for %d replicas, name more nodes or ask for fewer replicas", n, len(dst))
		}
		return nil
	}
	switch m := pl.mapper.(type) {
	case algorithms.Assigner:
		dst[0], _ = m.Assign(pl.hash(key))
		if dst[0] == algorithms.None {
			return fmt.Errorf("all nodes of %s are full, raise expected or epsilon", pl.name)
		}
	case algorithms.KeyMapper:
		dst[0] = m.LookupKey(key)
	default:
		dst[0] = m.Lookup(pl.hash(key))
	}
	if dst[0] == algorithms.None {
		return fmt.Errorf("%s names no node", pl.name)
	}
	return nil
}
