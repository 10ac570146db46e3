package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
	"github.com/ringbench/ringbench/algorithms/peers"
)

// The children of these tests are this program again.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-check") {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// verdict runs one check of one peer in a child.
func verdict(t *testing.T, peer, check string, deadline time.Duration) (code int, says string) {
	t.Helper()
	for _, info := range peers.All() {
		if info.Name != peer {
			continue
		}
		code, says, err := ask(info, algotest.Check{Name: check}, deadline)
		if err != nil {
			t.Fatal(err)
		}
		return code, says
	}
	t.Fatalf("no peer %q", peer)
	return 0, ""
}

func TestFaultsThatAreKnownAreFound(t *testing.T) {
	for _, known := range []struct{ peer, check, kind string }{
		{"dgryski-go-rendezvous", "remove-moves-only-from-the-old-node", peers.RemovePanics},
		{"golang-groupcache", "wrong-adds-are-refused", "a member can be added again"},
		{"golang-groupcache", "points-are-scattered", "similar names have shares that chance does not explain"},
		{"serialx-hashring", "lookups-do-not-allocate", "a lookup allocates"},
		{"stathat-consistent", "wrong-removals-are-refused", "removing what is absent passes for done"},
		{"kkdai-maglev", "wrong-removals-are-refused", "removing what is absent removes another, or moves keys"},
	} {
		code, says := verdict(t, known.peer, known.check, time.Minute)
		if kind := peers.KindOf(known.check, says); code != childBreak || kind != known.kind {
			t.Errorf("%s: %s: code %d, %q, of the kind %q, want %q", known.peer, known.check, code, says, kind, known.kind)
		}
	}
}

func TestAChildThatHangsIsAFinding(t *testing.T) {
	code, says := verdict(t, "buraksezer-consistent", "odd-parameters-are-refused-or-work", 300*time.Millisecond)
	if code != childBreak || says != "it does not end within 300ms" {
		t.Errorf("code %d, %q", code, says)
	}
}

func TestACheckThatHoldsIsNoFinding(t *testing.T) {
	if code, says := verdict(t, "dgryski-go-jump", "owners-are-members", time.Minute); code != childHolds {
		t.Errorf("code %d, %q", code, says)
	}
	if code, says := verdict(t, "dgryski-go-jump", "wrong-adds-are-refused", time.Minute); code != childSkips {
		t.Errorf("code %d, %q, want a skip: it cannot add", code, says)
	}
}

func TestEveryKindNamesACheckThatThereIs(t *testing.T) {
	for _, f := range peers.Faults {
		if f.Check != "" && !slices.ContainsFunc(algotest.Checks(), func(c algotest.Check) bool { return c.Name == f.Check }) {
			t.Errorf("%q names the check %q, which there is not", f.Name, f.Check)
		}
	}
}

func TestFindingsOfOneKindAreOneEntry(t *testing.T) {
	check := func(name, property string) algotest.Check { return algotest.Check{Name: name, Property: property} }
	f := findings{held: 3, broken: []finding{
		{check("buckets-stay-bound", ""), "it panics: index out of range", false},
		{check("remove-moves-only-from-the-old-node", ""), "it panics: index out of range", false},
		{check("shares-follow-the-weights", algorithms.Balance), "chi-square", true},
	}}
	var out bytes.Buffer
	f.write(&out, algorithms.Info{Name: "mine", Ref: "nowhere"})
	want := `mine (nowhere)
  - Remove panics, always
      buckets-stay-bound: it panics: index out of range
      and 1 checks more
  3 checks hold; by the nature of the algorithm it does not keep: balance
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatCannotBeRunIsTheUsersError(t *testing.T) {
	for _, args := range [][]string{{"-peer", "nobody"}, {"-deadline", "soon"}} {
		var out, problems bytes.Buffer
		if code := run(args, &out, &problems); code != 2 || out.Len() > 0 || strings.TrimSpace(problems.String()) == "" {
			t.Errorf("%q: code %d, stdout %q, stderr %q", args, code, out.String(), problems.String())
		}
	}
}
