package slots

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/algotest"
)

func TestConformance(t *testing.T) { algotest.Test(t, Info) }

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/redis_crc16.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Key, Source string
			CRC16       *uint16 `json:"crc16"`
			Slot        int     `json:"expected_slot"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 13 {
		t.Fatalf("%d rows, want 13", len(file.Rows))
	}
	for _, v := range file.Rows {
		if got := Slot(v.Key); got != v.Slot {
			t.Errorf("%s: key %q is in slot %d, want %d", v.Source, v.Key, got, v.Slot)
		}
		if v.CRC16 != nil && crc16(v.Key) != *v.CRC16 {
			t.Errorf("%s: key %q has the CRC %d, want %d", v.Source, v.Key, crc16(v.Key), *v.CRC16)
		}
	}
	if got := crc16("123456789"); got != 0x31c3 {
		t.Errorf("the check value is %#x, want 0x31c3", got)
	}
}

// obvious is the rule for a key bit by bit.
func obvious(key string) int {
	if at := strings.Index(key, "{"); at >= 0 {
		if inner, _, found := strings.Cut(key[at+1:], "}"); found && inner != "" {
			key = inner
		}
	}
	register := 0
	for i := range len(key) {
		for bit := 7; bit >= 0; bit-- {
			top := register >> 15 & 1
			register = register << 1 & 0xffff
			if top != int(key[i]>>bit&1) {
				register ^= 0x1021
			}
		}
	}
	return register % 16384
}

func TestTheSlotOfAKeyIsThatOfTheObviousRule(t *testing.T) {
	key := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a{}]{0,8}`), rapid.StringMatching(`user:\{[0-9]{1,4}\}[.a-z]*`))
	rapid.Check(t, func(t *rapid.T) {
		if k := key.Draw(t, "key"); Slot(k) != obvious(k) {
			t.Fatalf("key %q is in slot %d, want %d", k, Slot(k), obvious(k))
		}
	})
}

func FuzzTheSlotOfAKeyIsThatOfTheObviousRule(f *testing.F) {
	for _, k := range []string{"", "{}", "}{", "{a", "a{b}c}d", "{{b}}", "foo{}{bar}", "\xff{\x00}"} {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, k string) {
		if Slot(k) != obvious(k) {
			t.Fatalf("key %q is in slot %d, want %d", k, Slot(k), obvious(k))
		}
	})
}

func nodes(weights ...float64) []algorithms.Node {
	var all []algorithms.Node
	for i, w := range weights {
		all = append(all, algorithms.Node{Name: fmt.Sprintf("10.0.0.%d:6379", i+1), Weight: w})
	}
	return all
}

func build(t testing.TB, weights ...float64) *Map {
	t.Helper()
	m, err := New(nodes(weights...), Default)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCreateDealsOutTheRangesThatRedisDoes: what redis-cli --cluster create prints
// for three to seven masters.
func TestCreateDealsOutTheRangesThatRedisDoes(t *testing.T) {
	for _, lasts := range [][]uint64{
		{5460, 10922, 16383},
		{4095, 8191, 12287, 16383},
		{3276, 6553, 9829, 13106, 16383},
		{2730, 5460, 8191, 10922, 13652, 16383},
	} {
		m := build(t, slices.Repeat([]float64{1}, len(lasts))...)
		var got []uint64
		_, cells := m.Cells()
		for last, b := range cells {
			if int(b) != len(got) {
				t.Errorf("range %d belongs to %d", len(got), b)
			}
			got = append(got, last)
		}
		if !slices.Equal(got, lasts) {
			t.Errorf("ranges end at %d, want %d", got, lasts)
		}
	}
}

func counts(m *Map) []int {
	c := make([]int, m.members.Cap())
	for _, b := range m.Owners() {
		c[b]++
	}
	return c
}

// TestChangesMoveNoMoreSlotsThanTheyMust follows random changes: what stays has
// what it had but for the node that comes or goes, and all stay near their shares.
func TestChangesMoveNoMoreSlotsThanTheyMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0.5, 4), 1, 8).Draw(t, "weights")
		if rapid.Bool().Draw(t, "equal") {
			weights = slices.Repeat([]float64{1}, len(weights))
		}
		m, err := New(nodes(weights...), Default)
		if err != nil {
			t.Fatal(err)
		}
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			before := m.Owners()
			var about algorithms.Bucket
			joins := m.Len() < 2 || rapid.Bool().Draw(t, "joins")
			if joins {
				w := 1.0
				if weights[0] != 1 {
					w = rapid.Float64Range(0.5, 4).Draw(t, "weight")
				}
				if about, err = m.Add(algorithms.Node{Name: fmt.Sprint("new-", step), Weight: w}); err != nil {
					t.Fatal(err)
				}
			} else {
				var bound []algorithms.Bucket
				for b := range m.members.All() {
					bound = append(bound, b)
				}
				about = rapid.SampledFrom(bound).Draw(t, "leaves")
				if err := m.Remove(about); err != nil {
					t.Fatal(err)
				}
			}
			for slot, b := range m.Owners() {
				if b != before[slot] && (joins && b != about || !joins && before[slot] != about) {
					t.Fatalf("slot %d goes from %d to %d, though the change is about %d", slot, before[slot], b, about)
				}
			}
			total := m.members.TotalWeight()
			for b, n := range m.members.All() {
				fair := Count * n.Weight / total
				if has := counts(m)[b]; math.Abs(float64(has)-fair) > float64(m.Len())+1 {
					t.Fatalf("%d slots for a share of %.1f", has, fair)
				}
			}
		}
	})
}

func TestEqualNodesKeepEqualCountsThroughChanges(t *testing.T) {
	m := build(t, 1, 1, 1)
	for i := range 20 {
		if _, err := m.Add(algorithms.Node{Name: fmt.Sprint(i), Weight: 1}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			if err := m.Remove(algorithms.Bucket(i % 5)); err != nil {
				t.Fatal(err)
			}
		}
		var has []int
		for b := range m.members.All() {
			has = append(has, counts(m)[b])
		}
		if slices.Max(has)-slices.Min(has) > 2 {
			t.Fatalf("after %d changes the nodes have %d slots", i+1, has)
		}
	}
}

func TestAWeightOfZeroGivesAllAway(t *testing.T) {
	m := build(t, 1, 1, 2)
	if got := counts(m); !slices.Equal(got, []int{4096, 4096, 8192}) {
		t.Errorf("%d slots", got)
	}
	if err := m.SetWeight(2, 0); err != nil {
		t.Fatal(err)
	}
	if got := counts(m); got[0] != 8192 || got[1] != 8192 {
		t.Errorf("%d slots, want half each", got)
	}
	if err := m.SetWeight(2, 2); err != nil {
		t.Fatal(err)
	}
	if got := counts(m); !slices.Equal(got, []int{4096, 4096, 8192}) {
		t.Errorf("%d slots", got)
	}
	for b := range algorithms.Bucket(3) {
		if err := m.SetWeight(b, 0); err != nil {
			t.Fatal(err)
		}
	}
	if b := m.Lookup(1); b != algorithms.None {
		t.Errorf("without weights slot 1 is owned by %d", b)
	}
	if err := m.SetWeight(1, 3); err != nil || m.Lookup(1) != 1 {
		t.Errorf("%v, slot 1 is owned by %d, want 1", err, m.Lookup(1))
	}
}
