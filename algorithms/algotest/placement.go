package algotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ringbench/ringbench/algorithms"
)

// significance is the probability below which a count is not put down to
// chance.
const significance = 1e-6

// checkParameters: New reports the parameters in force, and they rebuild the
// same placement.
func checkParameters(info algorithms.Info) error {
	nodes, hs := named(7, plain), draw(500)
	m, params, err := info.New(nodes, nil)
	if err != nil {
		return fmt.Errorf("building %s: %v", describe(nodes), err)
	}
	if !bytes.Equal(params, info.Defaults) {
		return fmt.Errorf("without parameters it uses %s, its defaults are %s", params, info.Defaults)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(params, &object); err != nil || object == nil {
		return fmt.Errorf("the parameters %s are not a JSON object", params)
	}
	again, params2, err := info.New(nodes, params)
	if err != nil {
		return fmt.Errorf("building with its own parameters %s: %v", params, err)
	}
	if !bytes.Equal(params, params2) {
		return fmt.Errorf("the parameters %s come back as %s", params, params2)
	}
	for _, h := range hs {
		if a, b := m.Lookup(h), again.Lookup(h); a != b {
			return fmt.Errorf("hash %#x goes to %d, with the parameters written out to %d", h, a, b)
		}
	}
	if _, _, err := info.New(nodes, json.RawMessage(`{"no such parameter":1}`)); err == nil {
		return errors.New("a parameter that does not exist is accepted")
	}
	return nil
}

// checkOddParameters: a whole number that makes no sense as a parameter is an error
// or is taken at its word, but ends in neither a panic nor an endless loop.
func checkOddParameters(info algorithms.Info) error {
	var defaults map[string]json.RawMessage
	if err := json.Unmarshal(info.Defaults, &defaults); err != nil {
		return err
	}
	nodes, hs := named(7, plain), draw(200)
	numbers := 0
	for _, name := range algorithms.ParamNames(info.Defaults) {
		var usual int64
		if json.Unmarshal(defaults[name], &usual) != nil {
			continue
		}
		numbers++
		for _, v := range []int64{-1, 0, 1, 2, 12, usual + 1, usual - 1} {
			params := json.RawMessage(fmt.Sprintf("{%q:%d}", name, v))
			m, _, err := info.New(nodes, params)
			if err != nil {
				continue
			}
			for _, h := range hs {
				if b := m.Lookup(h); b < 0 || int(b) >= len(nodes) {
					return fmt.Errorf("with %s, hash %#x goes to bucket %d of %d nodes", params, h, b, len(nodes))
				}
			}
		}
	}
	if numbers == 0 {
		return algorithms.Unsupported("it has no parameter that is a whole number")
	}
	return nil
}

// checkBadNodes: a node list that makes no sense is an error.
func checkBadNodes(info algorithms.Info) error {
	for _, bad := range []struct {
		what  string
		nodes []algorithms.Node
	}{
		{"no nodes", nil},
		{"an empty name", algorithms.Nodes("a", "")},
		{"a repeated name", algorithms.Nodes("a", "b", "a")},
		{"a negative weight", []algorithms.Node{{Name: "a", Weight: 1}, {Name: "b", Weight: -1}}},
		{"a weight NaN", []algorithms.Node{{Name: "a", Weight: math.NaN()}}},
		{"a weight infinity", []algorithms.Node{{Name: "a", Weight: math.Inf(1)}}},
		{"all weights zero", []algorithms.Node{{Name: "a"}, {Name: "b"}}},
	} {
		if _, _, err := info.New(bad.nodes, nil); err == nil {
			return fmt.Errorf("building accepts %s", bad.what)
		}
	}
	return nil
}

// checkDeterminism: two builds from the same input agree, and so does a lookup
// that is repeated.
func checkDeterminism(info algorithms.Info) error {
	hs := draw(3000)
	return settings(info, func(weights ...float64) error {
		for _, pattern := range patterns {
			nodes := named(40, pattern, weights...)
			a, err := build(info, nodes)
			if err != nil {
				return err
			}
			b, err := build(info, slices.Clone(nodes))
			if err != nil {
				return err
			}
			before, err := a.owners(hs)
			if err != nil {
				return err
			}
			if err := a.unchanged(hs, before); err != nil {
				return fmt.Errorf("asked twice: %w", err)
			}
			if err := b.unchanged(hs, before); err != nil {
				return fmt.Errorf("built twice of %s: %w", describe(nodes), err)
			}
			if s, ok := a.Mapper.(algorithms.Sizer); ok {
				x, y := s.Footprint(), b.Mapper.(algorithms.Sizer).Footprint()
				if x != y || x < 0 {
					return fmt.Errorf("two builds of %s have footprints of %d and %d bytes", describe(nodes), x, y)
				}
				if h, ok := a.Mapper.(algorithms.HotSizer); ok && (h.HotBytes() < 0 || h.HotBytes() > x) {
					return fmt.Errorf("of %s lookups read in %d bytes, and the footprint is %d", describe(nodes), h.HotBytes(), x)
				}
			}
		}
		return nil
	})
}

// checkOwners: every answer is the bucket of a member of positive weight.
func checkOwners(info algorithms.Info) error {
	hs := draw(2000)
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 2, 3, 5, 8, 10, 17, 60, 61, 100} {
			for _, pattern := range patterns {
				nodes := named(n, pattern, weights...)
				c, err := build(info, nodes)
				if err != nil {
					return err
				}
				if c.Len() != n {
					return fmt.Errorf("of %s, Len counts %d", describe(nodes), c.Len())
				}
				if _, err := c.owners(hs); err != nil {
					return fmt.Errorf("%s: %w", describe(nodes), err)
				}
			}
		}
		return nil
	})
}

// checkReachable: every node of positive weight owns some key.
func checkReachable(info algorithms.Info) error {
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 2, 3, 10, 17, 33} {
			nodes := named(n, plain, weights...)
			c, err := build(info, nodes)
			if err != nil {
				return err
			}
			seen := make([]bool, n)
			for _, h := range draw(1000 * n) {
				b, err := c.owner(h)
				if err != nil {
					return err
				}
				seen[b] = true
			}
			if i := slices.Index(seen, false); i >= 0 {
				return fmt.Errorf("%q of %s owns none of %d keys", nodes[i].Name, describe(nodes), 1000*n)
			}
		}
		return nil
	})
}

// checkBalance: by chi-square, the shares are the weights. It looks at clusters
// after changes too.
func checkBalance(info algorithms.Info) error {
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{2, 3, 10, 17, 64, 100} {
			for _, pattern := range patterns {
				if n > 10 && pattern != plain {
					continue
				}
				c, err := build(info, named(n, pattern, weights...))
				if err != nil {
					return err
				}
				if err := balanced(c); err != nil {
					return err
				}
			}
		}
		c, err := build(info, named(12, plain, weights...))
		if err != nil {
			return err
		}
		for range 5 {
			bs := c.removable()
			if len(bs) == 0 {
				return nil
			}
			if err := c.remove(bs[len(bs)/3]); err != nil {
				return err
			}
		}
		if err := balanced(c); err != nil {
			return fmt.Errorf("after five nodes left: %w", err)
		}
		return nil
	})
}

func balanced(c *cluster) error {
	const keys = 40_000
	total := 0.0
	for _, b := range c.buckets() {
		total += c.nodes[b].Weight
	}
	counts := map[algorithms.Bucket]float64{}
	for _, h := range draw(keys) {
		b, err := c.owner(h)
		if err != nil {
			return err
		}
		counts[b]++
	}
	var observed, expected []float64
	for _, b := range c.buckets() {
		observed = append(observed, counts[b])
		expected = append(expected, c.nodes[b].Weight/total*keys)
	}
	if err := chiSquare(observed, expected); err != nil {
		return fmt.Errorf("%d keys on %d nodes: %w", keys, len(c.nodes), err)
	}
	return nil
}

// checkScatter: where an algorithm tells that it scatters points, the shares of
// nodes of similar names are as uneven as those of random points, and no more: each
// share has the variance p(1-p)/(P+1) for P points, and p(1-p)/k more for being
// counted over k keys.
func checkScatter(info algorithms.Info) error {
	const n, keys = 16, 40_000
	if info.PointCounts == nil {
		return algorithms.Unsupported("it does not tell of points")
	}
	for _, pattern := range patterns {
		nodes := named(n, pattern)
		points, err := info.PointCounts(nodes, nil)
		if err != nil {
			return err
		}
		if points == nil {
			return algorithms.Unsupported("it scatters no points")
		}
		total := 0.0
		for _, p := range points {
			total += float64(p)
		}
		c, err := build(info, nodes)
		if err != nil {
			return err
		}
		var counts [n]float64
		for _, h := range draw(keys) {
			b, err := c.owner(h)
			if err != nil {
				return err
			}
			counts[b]++
		}
		far, worst := 0.0, 0
		for i, p := range points {
			share := float64(p) / total
			far += (counts[i]/keys - share) * (counts[i]/keys - share) / (share * (1/(total+1) + 1.0/keys))
			if counts[i] > counts[worst] {
				worst = i
			}
		}
		if p := (distuv.ChiSquared{K: n - 1}).Survival(far); p < significance {
			return fmt.Errorf("of %s, %q owns %.1f%% of the keys, and random points would not come to such shares (p = %.1g)",
				describe(nodes), nodes[worst].Name, 100*counts[worst]/keys, p)
		}
	}
	return nil
}

// checkFolding: a hash whose halves are added, or combined bit by bit, to one of 32
// bits makes pairs of keys that no number of nodes parts.
func checkFolding(info algorithms.Info) error {
	hs := draw(1500)[500:]
	c, err := build(info, named(40, plain))
	if err != nil {
		return err
	}
	for _, fold := range []struct {
		what string
		twin func(h, x uint64) uint64 // another hash that the fold makes the same
	}{
		{"differ in the same bits of both halves", func(h, x uint64) uint64 { return h ^ (x<<32 | x) }},
		{"have halves of the same sum", func(h, x uint64) uint64 { return (h>>32+x)<<32 | uint64(uint32(h)-uint32(x)) }},
	} {
		parted, several := 0, false
		var owner algorithms.Bucket
		for i, h := range hs {
			x := hs[len(hs)-1-i] >> 32
			a, err := c.owner(h)
			if err != nil {
				return err
			}
			b, err := c.owner(fold.twin(h, x))
			if err != nil {
				return err
			}
			if a != b {
				parted++
			}
			several = several || i > 0 && a != owner
			owner = a
		}
		if !several {
			return algorithms.Unsupported("one node owns every key")
		}
		if parted == 0 {
			return fmt.Errorf("two hashes that %s have one owner, in all %d pairs: 32 bits are left of 64", fold.what, len(hs))
		}
	}
	return nil
}

// checkNarrow: random hashes of 32 bits, in the form that the algorithm takes them
// in, fall on the nodes as random ones of 64 do. Over 641 nodes, a divisor of
// 2^32 + 1, a remainder gives all hashes in the wrong form to one node.
func checkNarrow(info algorithms.Info) error {
	const keys = 40_000
	r := rand.New(rand.NewPCG(32, 0))
	for _, n := range []int{10, 641} {
		c, err := build(info, named(n, plain))
		if err != nil && n > 10 {
			break // its parameters leave room for fewer
		}
		if err != nil {
			return err
		}
		form := func(h uint32) uint64 {
			if algorithms.TakesNumber(c.Mapper) {
				return uint64(h)
			}
			return algorithms.Widen(h)
		}
		narrow, wide := make([]float64, n), make([]float64, n)
		for range keys {
			a, err := c.owner(form(r.Uint32()))
			if err != nil {
				return err
			}
			b, err := c.owner(r.Uint64())
			if err != nil {
				return err
			}
			narrow[a]++
			wide[b]++
		}
		// Of two counts of one distribution the difference has the sum as its
		// variance.
		far, worst, cells := 0.0, 0, 0
		for i := range n {
			if sum := narrow[i] + wide[i]; sum > 0 {
				far += (narrow[i] - wide[i]) * (narrow[i] - wide[i]) / sum
				cells++
			}
			if narrow[i] > narrow[worst] {
				worst = i
			}
		}
		if cells < 2 {
			continue
		}
		if p := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(far); p < significance {
			return fmt.Errorf("of %d random hashes of 32 bits %.0f go to %q of %d nodes, and of as many of 64 bits %.0f: an algorithm that divides says so in its method Divisor, see NumberMapper (p = %.1g)",
				keys, narrow[worst], c.nodes[algorithms.Bucket(worst)].Name, n, wide[worst], p)
		}
	}
	return nil
}

// chiSquare reports counts that chance does not explain.
func chiSquare(observed, expected []float64) error {
	chi2, worst := 0.0, 0
	far := func(i int) float64 {
		return (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i]
	}
	for i := range observed {
		chi2 += far(i)
		if far(i) > far(worst) {
			worst = i
		}
	}
	p := distuv.ChiSquared{K: float64(len(observed) - 1)}.Survival(chi2)
	if p < significance {
		return fmt.Errorf("chi-square %.0f in %d cells, p = %.1g; one holds %.0f for %.0f", chi2, len(observed), p, observed[worst], expected[worst])
	}
	return nil
}

// checkSecondBalance: with equal weights, every ordered pair of first and second
// choice comes equally often.
func checkSecondBalance(info algorithms.Info) error {
	const n, keys = 8, 60_000
	for _, pattern := range patterns {
		c, err := build(info, named(n, pattern))
		if err != nil {
			return err
		}
		r, ok := c.Mapper.(algorithms.Replicator)
		if !ok {
			return algorithms.Unsupported("it names one node a key")
		}
		var counts [n][n]float64
		var dst [2]algorithms.Bucket
		for _, h := range draw(keys) {
			r.LookupN(h, dst[:])
			for _, b := range dst {
				if err := c.mayOwn(b, h); err != nil {
					return err
				}
			}
			counts[dst[0]][dst[1]]++
		}
		var observed, expected []float64
		for i := range n {
			for j := range n {
				if i != j {
					observed = append(observed, counts[i][j])
					expected = append(expected, float64(keys)/(n*(n-1)))
				}
			}
		}
		if err := chiSquare(observed, expected); err != nil {
			return fmt.Errorf("pairs of first and second choice: %w", err)
		}
	}
	return nil
}

// checkZeroWeight: a node of weight 0 is a member and owns nothing.
func checkZeroWeight(info algorithms.Info) error {
	hs := draw(5000)
	c, err := build(info, named(6, plain, 1, 0, 2))
	if err != nil {
		return err
	}
	if c.Len() != 6 {
		return fmt.Errorf("of 6 nodes, two of them of weight 0, Len counts %d", c.Len())
	}
	if _, err := c.owners(hs); err != nil {
		return err
	}
	if r, ok := c.Mapper.(algorithms.Replicator); ok {
		dst := make([]algorithms.Bucket, 6)
		for _, h := range hs[:500] {
			n := r.LookupN(h, dst)
			if n != 4 {
				return fmt.Errorf("LookupN finds %d replicas among 4 nodes of positive weight", n)
			}
			for _, b := range dst[:n] {
				if err := c.mayOwn(b, h); err != nil {
					return fmt.Errorf("as a replica: %w", err)
				}
			}
		}
	}
	if _, ok := c.Mapper.(algorithms.Reweighter); !ok {
		return nil
	}
	before, err := c.owners(hs)
	if err != nil {
		return err
	}
	if err := c.setWeight(0, 0); err != nil {
		return err
	}
	if _, err := c.owners(hs); err != nil {
		return fmt.Errorf("after its weight was set to 0: %w", err)
	}
	if err := c.setWeight(0, 1); err != nil {
		return err
	}
	if err := c.unchanged(hs, before); err != nil {
		return fmt.Errorf("a weight set to 0 and back: %w", err)
	}
	for _, b := range c.buckets() {
		if err := c.setWeight(b, 0); err != nil {
			return err
		}
	}
	if b := c.Lookup(hs[0]); b != algorithms.None {
		return fmt.Errorf("all weights are 0 and bucket %d owns a key", b)
	}
	return nil
}

// checkOrder: clusters of the same nodes in another order agree by name.
func checkOrder(info algorithms.Info) error {
	hs := draw(4000)
	return settings(info, func(weights ...float64) error {
		for _, pattern := range patterns {
			nodes := named(61, pattern, weights...)
			a, err := build(info, nodes)
			if err != nil {
				return err
			}
			shuffled := slices.Clone(nodes)
			rand.New(rand.NewPCG(3, 1)).Shuffle(len(shuffled), func(i, j int) {
				shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
			})
			for _, order := range [][]algorithms.Node{shuffled, reversed(nodes)} {
				b, err := build(info, order)
				if err != nil {
					return err
				}
				if err := sameNames(a, b, hs); err != nil {
					return fmt.Errorf("%s in another order: %w", describe(nodes), err)
				}
			}
		}
		return nil
	})
}

func reversed(nodes []algorithms.Node) []algorithms.Node {
	nodes = slices.Clone(nodes)
	slices.Reverse(nodes)
	return nodes
}

// checkHistory: a cluster that has seen changes agrees, by name, with a new one
// of the same nodes.
func checkHistory(info algorithms.Info) error {
	hs := draw(3000)
	return settings(info, func(weights ...float64) error {
		for _, pattern := range []string{plain, running} {
			c, err := build(info, named(12, pattern, weights...))
			if err != nil {
				return err
			}
			changes, err := shake(c, 40, pattern, weights)
			if err != nil {
				return err
			}
			if changes == 0 {
				return algorithms.Unsupported("its members cannot change")
			}
			var nodes []algorithms.Node
			for _, b := range c.buckets() {
				nodes = append(nodes, c.nodes[b])
			}
			fresh, err := build(info, nodes)
			if err != nil {
				return err
			}
			if err := sameNames(c, fresh, hs); err != nil {
				return fmt.Errorf("after %d changes and built anew: %w", changes, err)
			}
		}
		return nil
	})
}

// shake makes random changes, of those that the Mapper can make and that keep
// between 4 and 30 nodes, and returns how many it made.
func shake(c *cluster, steps int, pattern string, weights []float64) (int, error) {
	r := rand.New(rand.NewPCG(17, uint64(steps)))
	pick := func() float64 {
		if len(weights) == 0 {
			return 1
		}
		return weights[r.IntN(len(weights))]
	}
	changes := 0
	for i := range steps {
		switch _, adds := c.Mapper.(algorithms.Adder); r.IntN(3) {
		case 0:
			if !adds || len(c.nodes) >= 30 {
				continue
			}
			if _, err := c.add(algorithms.Node{Name: fmt.Sprintf(pattern, 1000+i), Weight: pick()}); err != nil {
				return changes, err
			}
		case 1:
			bs := c.removable()
			if len(bs) == 0 || len(c.nodes) <= 4 {
				continue
			}
			if err := c.remove(bs[r.IntN(len(bs))]); err != nil {
				return changes, err
			}
		case 2:
			if _, ok := c.Mapper.(algorithms.Reweighter); !ok || len(weights) == 0 {
				continue
			}
			bs := c.buckets()
			if err := c.setWeight(bs[r.IntN(len(bs))], pick()); err != nil {
				return changes, err
			}
		}
		changes++
	}
	return changes, nil
}
