package harness

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// QuorumSets collects the sets of nodes whose joint loss takes the majority of the
// replicas of something. They are as large as a majority is, the least loss that
// can do it. It is for one goroutine.
type QuorumSets struct {
	seen    []uint64 // a bit for each set, by rank
	total   float64  // sets there are
	choices [][]int  // majorities of the replicas, those with the first of them first
	leading int      // number of those
	set     []int32
}

// mostSets bounds the sets that are kept in a table, one bit each.
const mostSets = 1 << 28

// QuorumSetsOf returns the number of sets of nodes that make a majority of so many
// replicas, and whether QuorumSets can tell so many apart.
func QuorumSetsOf(nodes, replicas int) (sets float64, ok bool) {
	sets = math.Round(combin.GeneralizedBinomial(float64(nodes), float64(quorumOf(replicas))))
	return sets, sets <= mostSets
}

func quorumOf(replicas int) int { return replicas/2 + 1 }

// NewQuorumSets returns an empty collection for nodes with the indices from 0 to
// nodes-1, of which there are as many as replicas at least. It must be possible
// by QuorumSetsOf.
func NewQuorumSets(nodes, replicas int) *QuorumSets {
	quorum := quorumOf(replicas)
	sets, _ := QuorumSetsOf(nodes, replicas)
	return &QuorumSets{
		seen:    make([]uint64, int(sets)/64+1),
		total:   sets,
		choices: combin.Combinations(replicas, quorum),
		leading: combin.Binomial(replicas-1, quorum-1),
		set:     make([]int32, quorum),
	}
}

// Add adds the majorities of the replicas that the nodes hold.
func (q *QuorumSets) Add(holders []int32) { q.add(holders, q.choices) }

// AddLeading adds those of the majorities that the first of the holders is part
// of, which are all that are new after holders that differ in it alone.
func (q *QuorumSets) AddLeading(holders []int32) { q.add(holders, q.choices[:q.leading]) }

func (q *QuorumSets) add(holders []int32, choices [][]int) {
	for _, choice := range choices {
		for i, c := range choice {
			q.set[i] = holders[c]
		}
		slices.Sort(q.set)
		rank := rankOf(q.set)
		q.seen[rank/64] |= 1 << (rank % 64)
	}
}

// Len returns the number of sets in the collection.
func (q *QuorumSets) Len() int {
	n := 0
	for _, word := range q.seen {
		n += bits.OnesCount64(word)
	}
	return n
}

// Part returns Len as a part of all sets there are.
func (q *QuorumSets) Part() float64 { return float64(q.Len()) / q.total }

// rankOf numbers the sets of so many nodes from 0 on, without gaps. The nodes
// ascend.
func rankOf(set []int32) uint64 {
	rank := uint64(0)
	for i, x := range set {
		ways := uint64(1) // x choose i+1
		for j := range uint64(i + 1) {
			if uint64(x) < j {
				ways = 0
				break
			}
			ways = ways * (uint64(x) - j) / (j + 1)
		}
		rank += ways
	}
	return rank
}
