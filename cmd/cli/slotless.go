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
	names := t.Slotless()
	if len(names) == 0 {
		return
	}
	count := len(names)
	more := ""
	if count > mostNamed {
		names, more = names[:mostNamed], ", ..."
	}
	inv.say("%d of %d nodes have no slot, so that no key goes to them: %s%s", count, m.Len(), strings.Join(names, ", "), more)
}
