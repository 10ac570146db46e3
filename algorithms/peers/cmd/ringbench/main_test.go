package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/peers"
	"github.com/ringbench/ringbench/cmd/cli"
	"github.com/ringbench/ringbench/harness"
)

// command runs the program over all algorithms.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	if code := cli.Run(args, strings.NewReader(""), &out, &problems, append(builtin.All(), peers.All()...)...); code != 0 {
		t.Fatalf("%q: exit %d, %s", args, code, problems.String())
	}
	return out.String()
}

func TestPeersAreListedBesideTheBuiltIn(t *testing.T) {
	list := command(t, "list", "algorithms")
	for _, info := range append(builtin.All(), peers.All()...) {
		if !strings.Contains(list, info.Name) {
			t.Errorf("list algorithms lacks %s", info.Name)
		}
	}
}

func TestTheSpecHasAllPeers(t *testing.T) {
	src, err := os.ReadFile("../../peers.toml")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := harness.ParseSpec("peers.toml", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range peers.All() {
		if !slices.ContainsFunc(spec.Contestants, func(c harness.Contestant) bool { return c.Algorithm == info.Name }) {
			t.Errorf("peers.toml lacks %s", info.Name)
		}
	}
}

func TestPeersAreMeasured(t *testing.T) {
	folder := t.TempDir()
	command(t, "run", "testdata/tiny.toml", "-q", "-o", folder)
	records, err := os.ReadFile(filepath.Join(folder, "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"algorithm":"golang-groupcache"`, `"algorithm":"buraksezer-consistent"`, `"key-lookup-ns"`, `"moved-fraction"`, `"balance-cv"`} {
		if !bytes.Contains(records, []byte(want)) {
			t.Errorf("the run has no %s", want)
		}
	}
}
