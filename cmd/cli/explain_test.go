package cli

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/harness"
)

// Of every algorithm the stretches of a ring add up to the shares of the nodes, and
// the owner that is explained is the one that owns the key.
func TestTheRingThatIsShownIsTheOneThatPlaces(t *testing.T) {
	hash, _ := keyhash.ByName(keyhash.Default)
	for _, info := range builtin.All() {
		nodes := algorithms.Nodes("a", "b", "c", "d", "e")
		p, err := harness.NewPlacement(info, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &building{info: info, nodes: nodes, mapper: p.Mapper, hash: hash}
		for i := range 50 {
			key := fmt.Sprintf("user:%d", i)
			var owner algorithms.Bucket
			if own, ok := p.Mapper.(algorithms.KeyMapper); ok {
				owner = own.LookupKey(key)
			} else {
				owner = p.Mapper.Lookup(hash.OfKeys(p.Mapper)(key))
			}
			text := b.explain(key)
			if !strings.Contains(text, "owner   "+nodes[owner].Name+"\n") {
				t.Errorf("%s: %s belongs to %s, and is explained by\n%s", info.Name, key, nodes[owner].Name, text)
			}
		}
		if _, ok := p.Mapper.(algorithms.Owned); !ok {
			continue
		}
		shares, _ := p.Shares()
		_, _, all, err := b.stretches()
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		for _, s := range all {
			if s.owner >= 0 {
				shares[s.owner] -= s.share
			}
		}
		for i, left := range shares {
			if math.Abs(left) > 1e-9 {
				t.Errorf("%s: the stretches of %s differ from its share by %v", info.Name, nodes[i].Name, left)
			}
		}
	}
}
