package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
)

// A dealt is modulo under the name and with the parameters of a ring.
type dealt int

type dealtConfig struct {
	VNodes    int    `json:"vnodes"`
	Label     string `json:"label"`
	PointHash string `json:"point_hash"`
	Modulus   uint64 `json:"modulus,omitempty"`
}

func (d dealt) Lookup(h uint64) algorithms.Bucket { return algorithms.Bucket(h % uint64(d)) }
func (d dealt) Len() int                          { return int(d) }
func (d dealt) PointCollisions() int              { return 7 }

// Shares are a little uneven, so that there is something to draw.
func (d dealt) Shares() []float64 {
	shares := make([]float64, d)
	for i := range shares {
		shares[i] = (1 + 0.01*float64(i%2)) / float64(d)
	}
	return shares
}

const theorySpec = `
title = "A sweep"
nodes = [4]
keys = "seq:2000"
[[contestant]]
algorithm = "%s"
[[experiment]]
name = "sweep"
measures = ["shares", "balance"]
seeds = 2
sweep = { vnodes = [1, 10, 100], point_hash = ["xxh3", "fnv1a-64", "murmur3"], modulus = [65536, 0] }
`

// Whether theory speaks of a spread follows from what the algorithm tells, and not
// from what it is called: not on the screen, in summary.csv, or in a figure.
func TestTheoryFollowsWhatAnAlgorithmTellsNotItsName(t *testing.T) {
	define := func(name string) algorithms.Info {
		return algorithms.Define(name, "a test", dealtConfig{160, "{name}#{index}", "xxh3", 0}, func(nodes []algorithms.Node, _ dealtConfig) (dealt, error) {
			return dealt(len(nodes)), nil
		})
	}
	known := append(builtin.All(), define("ring-like"), define("ring-binary-search-not"), define("bounded-ringlet"))
	about := regexp.MustCompile(`(?i)theory|as chance would|birthday`)
	for _, tt := range []struct {
		algorithm string
		theory    bool
	}{{"ring", true}, {"bounded-ring", true}, {"ring-like", false}, {"ring-binary-search-not", false}, {"bounded-ringlet", false}} {
		dir := t.TempDir()
		spec, out := filepath.Join(dir, "sweep.toml"), filepath.Join(dir, "run")
		if err := os.WriteFile(spec, []byte(strings.Replace(theorySpec, "%s", tt.algorithm, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := Run([]string{"run", spec, "-o", out}, nil, &stdout, &stderr, known...); code != 0 {
			t.Fatalf("%s: exit %d: %s", tt.algorithm, code, &stderr)
		}
		text, err := os.ReadFile(filepath.Join(out, "summary.csv"))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, name := range lines[0] {
			column[name] = i
		}
		told := map[string]bool{}
		for _, line := range lines[1:] {
			told[line[column["metric"]]] = told[line[column["metric"]]] || line[column["theory"]] != ""
		}
		for _, metric := range []string{"share-cv", "balance-cv", "point-collisions"} {
			if said, measured := told[metric]; !measured || said != tt.theory {
				t.Errorf("%s, %s: summary.csv has it: %v, with a theory: %v", tt.algorithm, metric, measured, said)
			}
		}
		drawn := about.MatchString(strings.ReplaceAll(stdout.String(), dir, ""))
		figures, err := filepath.Glob(filepath.Join(out, "plots", "*.svg"))
		if err != nil || len(figures) == 0 {
			t.Fatalf("%s: figures %v, %v", tt.algorithm, figures, err)
		}
		for _, file := range figures {
			svg, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := about.FindString(string(svg)); found != "" {
				drawn = true
				if !tt.theory {
					t.Errorf("%s: %s speaks of %q", tt.algorithm, filepath.Base(file), found)
				}
			}
		}
		if drawn != tt.theory {
			t.Errorf("%s: the screen or a figure speaks of theory: %v\n%s", tt.algorithm, drawn, &stdout)
		}
	}
}
