package harness

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/algorithms"
)

// gate checks a placement before it is timed, from its answers over the whole
// pool: owners are valid, every node is reachable, the balance is that of a fair
// draw where the algorithm claims so, and a newcomer moves no key that it does
// not take. It returns why the placement fails, or "".
func gate(p *Placement, sub *subject, hs []uint64, buckets []algorithms.Bucket) (string, error) {
	owned := make([]float64, len(p.Nodes))
	for i, b := range buckets {
		node := p.NodeOf(b)
		if node < 0 {
			return fmt.Sprintf("hash %#x has bucket %d, which no node is bound to", hs[i], b), nil
		}
		owned[node]++
	}
	weights, total := p.Weights()
	for i, n := range owned {
		if n > 0 && weights[i] == 0 {
			return fmt.Sprintf("node %q of weight 0 owns %.0f keys", p.Nodes[i].Name, n), nil
		}
	}
	promises := func(property string) bool { return !slices.Contains(p.Info.Declines, property) }
	if promises(algorithms.Reachable) {
		if why := unreachable(p, owned, weights, total, len(hs)); why != "" {
			return why, nil
		}
	}
	if promises(algorithms.Balance) {
		fair, sum := weights, total
		if shares := slotShares(p); shares != nil {
			fair, sum = shares, 1
		}
		if pValue := chiSquare(owned, fair, sum); pValue < 1e-9 {
			return fmt.Sprintf("keys are not spread as claimed: chi-square p-value %.2g", pValue), nil
		}
	}
	if promises(algorithms.MinimalMovement) {
		return needlessMoves(p, sub, hs, buckets)
	}
	return "", nil
}

// slotShares returns the exact shares where an algorithm deals out whole slots of
// a table, whose number need not divide by the nodes, and nil elsewhere.
func slotShares(p *Placement) []float64 {
	o, ok := p.Mapper.(algorithms.Owned)
	if !ok {
		return nil
	}
	if slots, _ := o.Cells(); slots == 0 || slots > 1<<24 {
		return nil
	}
	shares, _ := p.Shares()
	return shares
}

// unreachable names a node that owns nothing although 64 keys or more are its
// fair part.
func unreachable(p *Placement, owned, weights []float64, total float64, keys int) string {
	for i, n := range owned {
		if n == 0 && weights[i]/total*float64(keys) >= 64 {
			return fmt.Sprintf("node %q owns none of %d keys", p.Nodes[i].Name, keys)
		}
	}
	return ""
}

// chiSquare returns the probability of a spread at least this uneven by chance.
// Nodes that expect fewer than 5 keys are too few to judge and count for 1.
func chiSquare(owned, weights []float64, total float64) float64 {
	keys := 0.0
	for _, n := range owned {
		keys += n
	}
	sum, nodes := 0.0, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		expected := keys * w / total
		if expected < 5 {
			return 1
		}
		sum += (owned[i] - expected) * (owned[i] - expected) / expected
		nodes++
	}
	if nodes < 2 {
		return 1
	}
	return distuv.ChiSquared{K: float64(nodes - 1)}.Survival(sum)
}

// needlessMoves adds a node to a copy and looks for keys that moved elsewhere.
// Where the algorithm cannot take the node, there is nothing to hold it to.
func needlessMoves(p *Placement, sub *subject, hs []uint64, buckets []algorithms.Bucket) (string, error) {
	q, err := sub.place()
	if err != nil {
		return "", err
	}
	i := q.Announce(sub.newcomer(len(q.Nodes)))
	if err := q.add(i); errors.Is(err, errors.ErrUnsupported) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	const most = 1 << 16
	hs = hs[:min(most, len(hs))]
	for k, h := range hs {
		was, is := p.NodeOf(buckets[k]), q.NodeOf(q.Mapper.Lookup(h))
		if was != is && is != i {
			return fmt.Sprintf("adding a node moved hash %#x between two others", h), nil
		}
	}
	return "", nil
}
