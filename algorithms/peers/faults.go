package peers

import "strings"

// A Fault is a kind of fault of the public libraries, and what the conformance
// suite says where it finds one.
type Fault struct {
	Name  string
	Check string // of package algotest
	Says  string // a part of its error; "" for any
}

// RemovePanics is the fault that spoils most checks.
const RemovePanics = "Remove panics, always"

// Faults are the kinds, the telling ones first: an error belongs to the first that
// it fits.
var Faults = []Fault{
	{"a change never ends, or a lookup", "", "does not end within"},
	{RemovePanics, "remove-moves-only-from-the-old-node", "it panics"},
	{"a member can be added again", "wrong-adds-are-refused", "a node that is a member"},
	{"a node without a name is taken in", "wrong-adds-are-refused", "a node without a name"},
	{"removing what is absent removes another, or moves keys", "wrong-removals-are-refused", "Len went"},
	{"removing what is absent removes another, or moves keys", "wrong-removals-are-refused", "went from bucket"},
	{"removing what is absent passes for done", "wrong-removals-are-refused", "changes nothing"},
	{"labels or points fall on each other, and the order decides", "order-of-nodes-does-not-matter", ""},
	{"the history of the cluster decides", "history-does-not-matter", ""},
	{"a removal takes keys from others", "remove-moves-only-from-the-old-node", ""},
	{"an addition moves keys between others", "add-moves-only-to-the-new-node", ""},
	{"a node that comes and goes leaves keys elsewhere", "add-then-remove-changes-nothing", ""},
	{"two builds disagree", "same-input-same-owners", ""},
	{"removing what is absent passes for done", "empty-answers-none", "removing bucket"},
	{"an empty set panics, or has an owner", "empty-answers-none", ""},
	{"a parameter panics, or is taken without sense", "odd-parameters-are-refused-or-work", ""},
	{"a lookup allocates", "lookups-do-not-allocate", ""},
	{"readers get in each other's way", "readers-do-not-race", ""},
	{"similar names have shares that chance does not explain", "points-are-scattered", ""},
	{"shares do not follow the weights", "shares-follow-the-weights", ""},
	{"a key's hash is folded to half its bits", "all-of-a-hash-counts", ""},
	{"a node of weight 0 owns keys, or is none", "weight-zero-owns-nothing", ""},
	{"a weight moves keys of others", "reweight-moves-only-to-or-from-its-node", ""},
	{"a weight without sense is taken", "wrong-weights-are-refused", ""},
}

// KindOf names the kind of an error that the check found; the check itself where
// it is of no kind.
func KindOf(check, err string) string {
	for _, f := range Faults {
		if (f.Check == "" || f.Check == check) && strings.Contains(err, f.Says) {
			return f.Name
		}
	}
	return check
}
