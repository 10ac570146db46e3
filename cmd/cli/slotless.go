package cli

import (
	"strings"

	"github.com/ringbench/ringbench/algorithms"
)

// mostNamed is how many names a message lists in full.
const mostNamed = 10

// nameSlotless says which nodes have no slot in a table.
func (inv *invocation) nameSlotless(m algorithms.Mapper) {
	t, ok := m.(interface{ Slotless() []string })
	if !ok {
		return
	}
	if names := t.Slotless(); len(names) > 0 {
		inv.say("%d of %d nodes have no slot, so that no key goes to them: %s", len(names), m.Len(), someOf(names))
	}
}

// someOf joins the names, of many the first.
func someOf(names []string) string {
	if len(names) > mostNamed {
		return strings.Join(names[:mostNamed], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
