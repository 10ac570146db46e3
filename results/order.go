package results

import (
	"cmp"
	"slices"
	"strings"
)

// measures in the order in which reports show them: exact answers first.
var measures = []string{
	"balance", "load", "shares", "weights", "remedies", "movement", "misses", "views", "replicas", "replica-movement", "bounded", "bounded-movement", "allocations",
	"lookup", "latency", "key-lookup", "batch-lookup", "parallel-lookup", "parallel-lookup-writer", "assign", "build", "add", "remove", "memory",
}

// contestants in the order in which reports show them: the controls, the
// baseline, and then from the simple to the elaborate.
var contestants = []string{
	"control", "one-read", "modulo", "ring", "bounded-ring", "bounded-random-jump", "jump", "power", "jumpback", "flip", "binomial", "multiprobe", "lrh", "anchor", "dx", "memento", "rendezvous", "skeleton-rendezvous", "weighted-rendezvous", "maglev",
	"ketama", "libmemcached-ketama", "libmemcached-ketama-spy", "spymemcached-ketama", "twemproxy-ketama",
	"envoy-ring", "grpc-ring", "envoy-maglev", "guava-jump", "slots", "partitions", "nginx-chash", "haproxy-chash",
	"groupcache", "uhashring", "token-ring",
}

// compareContestants orders contestants: by algorithm, and plain ones before
// those with weights or other parameters.
func compareContestants(a, b Trial) int {
	return cmp.Or(
		compareListed(contestants, a.Algorithm, b.Algorithm),
		compareNatural(Label(a), Label(b)),
	)
}

// compareListed orders by the place in the list, and what is not in it comes
// after, in alphabetical order.
func compareListed(list []string, a, b string) int {
	place := func(s string) int {
		if i := slices.Index(list, s); i >= 0 {
			return i
		}
		return len(list)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// compareNatural compares strings with runs of digits taken as numbers.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		var p, q string
		p, x = cutDigits(x)
		q, y = cutDigits(y)
		if c := strings.Compare(p, q); c != 0 {
			return c
		}
		p, x = cutNumber(x)
		q, y = cutNumber(y)
		p, q = strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// cutDigits splits s before its first digit.
func cutDigits(s string) (head, tail string) {
	if i := strings.IndexAny(s, "0123456789"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutNumber splits s after its leading digits.
func cutNumber(s string) (number, tail string) {
	tail = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(tail)], tail
}
