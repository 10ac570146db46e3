package harness

import (
	"fmt"
	"strconv"
	"strings"
)

// A namePattern is how the nodes of a cluster are called where a spec says so:
// head, a number and tail. The zero value stands for the generated names.
type namePattern struct {
	text       string
	head, tail string
	from       uint64 // the number of the first node of the first placement
}

// parseNames reads a text with one {i} or {i+K} in it, which stands for the number
// of the node, from 0 or from K. "" is the zero value.
func parseNames(text string) (namePattern, error) {
	p := namePattern{text: text}
	if text == "" {
		return p, nil
	}
	fail := func() (namePattern, error) {
		return namePattern{}, fmt.Errorf("names %q: want a text with one {i} or {i+K}, such as node-{i+1}", text)
	}
	head, rest, found := strings.Cut(text, "{i")
	offset, tail, closed := strings.Cut(rest, "}")
	if !found || !closed || strings.ContainsAny(head+tail, "{}") {
		return fail()
	}
	if offset != "" {
		number, plus := strings.CutPrefix(offset, "+")
		from, err := strconv.ParseUint(number, 10, 31)
		if !plus || err != nil {
			return fail()
		}
		p.from = from
	}
	p.head, p.tail = head, tail
	return p, nil
}

// name returns the name of node i among n in the placement seed, whose numbers
// begin where those of the placement before end. A seed of 1 begins at the
// pattern's first number.
func (p namePattern) name(i, n int, seed uint64) string {
	number := p.from + (seed-1)*uint64(n) + uint64(i)
	return p.head + strconv.FormatUint(number, 10) + p.tail
}
