package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/harness/sizing"
	"github.com/ringbench/ringbench/results"
)

var update = flag.Bool("update", false, "write what the README shows anew")

const (
	readme    = "../../README.md"
	reference = "../../results/reference"
	peersRun  = "../../algorithms/peers/reference"
)

// What the README shows is what the reference run says and the command prints.
// `make figures` writes it anew.
func TestReadmeShowsWhatTheCommandPrints(t *testing.T) {
	old, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	set, err := results.Read(reference)
	if err != nil {
		t.Fatal(err)
	}
	text := string(old)
	text = splice(t, text, "screen: make figures", "screen", firstScreen(t, set))
	text = splice(t, text, "headline: make figures", "headline", headline(set))
	peers, err := results.Read(peersRun)
	if err != nil {
		t.Fatal(err)
	}
	text = splice(t, text, "peers: make figures", "peers", libraries(t, peers))
	root, err := filepath.Abs(filepath.Dir(readme))
	if err != nil {
		t.Fatal(err)
	}
	text = sessions(t, text, filepath.Join(root, "cmd", "cli", "testdata"))
	if *update {
		if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("README.md is stale, run make figures:\n%s", diff)
	}
}

// splice puts the text between the markers <!-- open --> and <!-- /close -->.
func splice(t *testing.T, text, open, close, between string) string {
	t.Helper()
	open, close = "<!-- "+open+" -->\n", "<!-- /"+close+" -->"
	head, rest, found := strings.Cut(text, open)
	_, tail, closed := strings.Cut(rest, close)
	if !found || !closed {
		t.Fatalf("README.md has no %q ... %q", open, close)
	}
	return head + open + between + close + tail
}

func firstScreen(t *testing.T, set *results.Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := results.WriteExact(&b, set); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n")
	if err := results.WriteMeasured(&b, set); err != nil {
		t.Fatal(err)
	}
	screen, _, more := strings.Cut(b.String(), "\n\nRepetitions")
	command := "make bench"
	if more {
		command = fmt.Sprintf("make bench | head -%d", strings.Count(screen, "\n")+1)
	}
	return "```console\n$ " + command + "\n" + screen + "\n```\n"
}

// headline is one row a contestant at the largest size of the reference run; those
// that are there for their speed alone are left to its report.
func headline(set *results.Set) string {
	columns := []struct{ title, measure, metric, schedule, format string }{
		{"busiest node, 1.00 = fair", "balance", "balance-peak", "", "%.2f"},
		{"keys moved, adding 1", "movement", "moved-fraction", "add-one", "%.2f%%"},
		{"ns, independent lookups", "lookup", "lookup-ns", "", "%.1f"},
		{"ns, one by one", "latency", "latency-ns", "", "%.1f"},
		{"KiB", "lookup", "footprint-bytes", "", "%.0f"},
		{"allocs", "allocations", "allocs-per-lookup", "", "%.0f"},
	}
	rows := results.Summarize(set)
	nodes := 0
	for _, r := range rows {
		nodes = max(nodes, r.Nodes)
	}
	cells := map[string][]string{}
	var order []string
	for _, r := range rows {
		if r.Nodes != nodes {
			continue
		}
		for i, c := range columns {
			if r.Measure != c.measure || r.Metric != c.metric || r.Schedule != c.schedule {
				continue
			}
			if cells[r.Label] == nil {
				cells[r.Label] = make([]string, len(columns))
				order = append(order, r.Label)
			}
			v := r.Center
			switch c.title {
			case "keys moved, adding 1":
				v *= 100
			case "KiB":
				v /= 1024
			}
			cells[r.Label][i] = fmt.Sprintf(c.format, v)
		}
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for _, label := range order {
		if cells[label][1] == "" {
			continue
		}
		b.WriteString("| " + label + " | " + strings.Join(cells[label], " | ") + " |\n")
	}
	return b.String()
}

// libraries is one row a public library, with what it and the built-in algorithm
// of its kind take in the run of the peers at its largest size.
func libraries(t *testing.T, set *results.Set) string {
	t.Helper()
	found, err := os.ReadFile(filepath.Join(peersRun, "faults.txt"))
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]int{} // library -> kinds
	library := ""
	for line := range strings.Lines(string(found)) {
		switch {
		case strings.HasPrefix(line, "  - "):
			faults[library]++
		case !strings.HasPrefix(line, " "):
			library, _, _ = strings.Cut(line, " ")
		}
	}
	columns := []struct {
		title, measure, metric string
		format                 func(float64) string
	}{
		{"key to node", "key-lookup", "key-lookup-ns", results.Duration},
		{"allocs", "allocations", "allocs-per-lookup", func(v float64) string { return fmt.Sprintf("%.0f", v) }},
		{"build", "build", "build-ns", results.Duration},
		{"add a node", "add", "add-ns", results.Duration},
		{"memory", "memory", "memory-bytes", func(v float64) string { return sizing.Bytes(int64(v)) }},
		{"busiest node", "balance", "balance-peak", func(v float64) string { return fmt.Sprintf("%.2f", v) }},
	}
	rows := results.Summarize(set)
	nodes := 0
	for _, r := range rows {
		nodes = max(nodes, r.Nodes)
	}
	value := func(algorithm, measure, metric string, format func(float64) string) string {
		for _, r := range rows {
			if r.Algorithm == algorithm && r.Nodes == nodes && r.Measure == measure && r.Metric == metric {
				return format(r.Center)
			}
		}
		return "-"
	}
	var b strings.Builder
	e := set.Run.Environment
	fmt.Fprintf(&b, "| %d nodes, 160 vnodes; %s, %d cores, %s/%s |", nodes, e.CPU, e.Cores, e.OS, e.Arch)
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString(" kinds of fault |\n|---|" + strings.Repeat("---:|", len(columns)+1) + "\n")
	for _, pair := range [][2]string{
		{"golang-groupcache", "ring"}, {"stathat-consistent", "ring"}, {"serialx-hashring", "ring"}, {"buraksezer-consistent", "partitions"},
		{"dgryski-go-rendezvous", "rendezvous"}, {"dgryski-go-jump", "jump"}, {"kkdai-maglev", "maglev"},
	} {
		fmt.Fprintf(&b, "| %s / %s |", pair[0], pair[1])
		for _, c := range columns {
			fmt.Fprintf(&b, " %s / %s |", value(pair[0], c.measure, c.metric, c.format), value(pair[1], c.measure, c.metric, c.format))
		}
		fmt.Fprintf(&b, " %d / 0 |\n", faults[pair[0]])
	}
	return b.String()
}

// sessions runs every "$ ringbench" line between the session markers and puts
// its output below it, or the first lines of it where the line ends in "| head -N".
func sessions(t *testing.T, text, dir string) string {
	t.Helper()
	const open, close = "<!-- session -->\n```console\n", "```\n<!-- /session -->"
	var b strings.Builder
	for {
		head, rest, found := strings.Cut(text, open)
		b.WriteString(head)
		if !found {
			return b.String()
		}
		session, tail, closed := strings.Cut(rest, close)
		if !closed {
			t.Fatal("README.md has a session that does not end")
		}
		b.WriteString(open)
		for line := range strings.Lines(session) {
			if args, isCommand := strings.CutPrefix(line, "$ ringbench "); isCommand {
				b.WriteString(line)
				args, lines, some := strings.Cut(args, " | head -")
				output := printed(t, dir, strings.Fields(args))
				if some {
					n, err := strconv.Atoi(strings.TrimSpace(lines))
					if err != nil {
						t.Fatal(err)
					}
					all := strings.SplitAfter(output, "\n")
					output = strings.Join(all[:min(n, len(all))], "")
				}
				b.WriteString(output)
			}
		}
		b.WriteString(close)
		text = tail
	}
}

// printed is the output of the command in the folder.
func printed(t *testing.T, dir string, args []string) string {
	t.Helper()
	t.Chdir(dir)
	var stdout, stderr bytes.Buffer
	if code := Run(args, strings.NewReader(""), &stdout, &stderr, builtin.All()...); code != 0 {
		t.Fatalf("ringbench %s ends with %d: %s", strings.Join(args, " "), code, &stderr)
	}
	return stdout.String()
}
