package claims

import (
	"math"

	"github.com/ringbench/ringbench/algorithms"
)

const (
	maglevPaper = "Eisenbud et al., Maglev, NSDI 2016"
	maglevRun   = maglevPaper + ", section 3.4; figure of a reference program"
)

// maglevRemoval is the part of the slots that change when one of n nodes leaves.
func maglevRemoval(nodes, size, draws int) cell {
	return cell{alg: "maglev", params: params{"size": size}, nodes: nodes, measure: "shares", schedule: "remove-one", draws: draws}
}

var aboutMaglev = section{
	title: "Maglev",
	intro: `A table that the nodes fill by turns is as even as can be, and pays with slots that move between nodes that
stay. A larger table pays less.`,
	claims: []Claim{
		{ID: "maglev/example", Source: maglevPaper + ", tables 1 and 2", Says: "The worked example: seven slots, three backends, and what becomes of them when one leaves.",
			Published: exactly(0, "slots differ"),
			Measure:   turns(7, []uint64{3, 0, 3}, []uint64{4, 2, 1}, []algorithms.Bucket{1, 0, 1, 0, 2, 2, 0}, []algorithms.Bucket{0, 0, 0, 0, 2, 2, 2})},
		{ID: "maglev/rule/n=10", Source: maglevPaper + ", section 3.4", Says: "Each of ten nodes has M/n slots, rounded down or up.",
			Published: exactly(0, "nodes"), Measure: cluster{alg: "maglev", params: params{"size": 65537}, nodes: 10}.uneven(65537, 10)},
		{ID: "maglev/rule/n=1000", Source: maglevPaper + ", section 3.4", Says: "Each of a thousand nodes has M/n slots, rounded down or up.",
			Published: exactly(0, "nodes"), Measure: cluster{alg: "maglev", params: params{"size": 65537}, nodes: 1000}.uneven(65537, 10)},
		{ID: "maglev/moves/n=10/small", Source: maglevRun, Says: "One of 10 nodes leaves a table of 65,537 slots: hardly more than its tenth moves.",
			Published: printed("10.23%").fromOne(), Measure: maglevRemoval(10, 65537, 30).mean("moved-fraction")},
		{ID: "maglev/moves/n=100/small", Source: maglevRun, Says: "One of 100 leaves it: 1.6 times the least moves.",
			Published: printed("1.60%").fromOne(), Measure: maglevRemoval(100, 65537, 30).mean("moved-fraction")},
		{ID: "maglev/moves/n=1000/small", Source: maglevRun, Says: "One of 1,000 leaves it: seven times the least moves.",
			Published: printed("0.69%").fromOne(), Measure: maglevRemoval(1000, 65537, 30).mean("moved-fraction")},
		{ID: "maglev/moves/n=10/large", Source: maglevRun, Says: "One of 10 leaves a table of 655,373 slots: less moves than from the smaller one.",
			Published: printed("10.06%").fromOne(), Measure: maglevRemoval(10, 655373, 8).mean("moved-fraction")},
		{ID: "maglev/moves/n=100/large", Source: maglevRun, Says: "One of 100 leaves the larger table: a seventh more than the least moves.",
			Published: printed("1.14%").fromOne(), Measure: maglevRemoval(100, 655373, 8).mean("moved-fraction")},
		{ID: "maglev/moves/n=1000/large", Source: maglevRun, Says: "One of 1,000 leaves the larger table: four times the least moves.",
			Published: printed("0.43%").fromOne(), Measure: maglevRemoval(1000, 655373, 8).mean("moved-fraction")},
		{ID: "maglev/rendezvous/small", Source: maglevPaper + ", section 5.3, over-provisioning that rendezvous needs with 65,537 entries", Says: "65,537 entries dealt out to 1,000 nodes by rendezvous, or any scheme that is as even as chance: the busiest has half as much again as its share.",
			Published: printed("1.495").peakOfOne(), Measure: cell{alg: "jump", nodes: 1000, measure: "balance", keys: "seq:{draw}-:0:65537", keySets: 200}.mean("balance-peak")},
		{ID: "maglev/rendezvous/large", Source: maglevPaper + ", section 5.3, the same with 655,373 entries", Says: "655,373 entries dealt out so: an eighth as much again.",
			Published: printed("1.123").peakOfOne(), Measure: cell{alg: "jump", nodes: 1000, measure: "balance", keys: "seq:{draw}-:0:655373", keySets: 40}.mean("balance-peak")},
		{ID: "maglev/ring/small", Source: maglevPaper + ", section 5.3, over-provisioning that a ring needs with 65,537 entries", Says: "65,537 entries dealt out by a ring of 1,000 points a node: 29.7% above its share.",
			Published: printed("1.297").peakOfOne(), Expected: NotReproduced, Finds: "It is more than 40%: so few entries, even if dealt out as evenly as chance allows, need that alone.",
			Measure: cell{alg: "ring", params: params{"vnodes": 1000}, nodes: 1000, measure: "balance", keys: "seq:{draw}-:0:65537", keySets: 20, draws: 6}.mean("balance-peak")},
	},
}

const boundedSource = "set-up of Chen, Coleman, Shrivastava, arXiv 1908.08762, after Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350: 10,000 balls, 1,000 bins; figure of a simulation apart from this program"

// balls is the cell of their set-up, with the capacity of the end from the start.
func balls(alg string, epsilon float64) cell {
	p := params{"epsilon": epsilon, "expected": 10_000}
	if alg == "bounded-ring" {
		p["vnodes"] = 1
	}
	return cell{alg: alg, params: p, nodes: 1000, measure: "bounded", keys: "seq:{draw}-:0:1000000", streamed: 10_000, draws: 100}
}

// ofRuns allows for the error that a simulation of as many runs as ours has.
func ofRuns(text string) figure {
	f := printed(text)
	return f.within(max(f.half, 0.02*f.value), "half a unit of the last digit or 2% for the other simulation's own error")
}

var aboutBounds = section{
	title: "Bounded loads",
	intro: `A bound on the load of a node sends what it cannot take on to the next. How many nodes are full, and how far a
request has to go, depends on where "next" is: the neighbour on the ring inherits everybody's overflow, a node drawn
at random does not.`,
	claims: []Claim{
		{ID: "bounded/ring/full/0.1", Source: boundedSource, Says: "At a bound of 1.1 five nodes of six are full.",
			Published: ofRuns("83.4%"), Measure: balls("bounded-ring", 0.1).mean("full-fraction")},
		{ID: "bounded/ring/full/0.3", Source: boundedSource, Says: "At a bound of 1.3, three of five are full.",
			Published: ofRuns("60.1%"), Measure: balls("bounded-ring", 0.3).mean("full-fraction")},
		{ID: "bounded/ring/full/1", Source: boundedSource, Says: "At a bound of 2, two of nine are full.",
			Published: ofRuns("22.4%"), Measure: balls("bounded-ring", 1).mean("full-fraction")},
		{ID: "bounded/ring/steps/0.1", Source: boundedSource, Says: "At a bound of 1.1 a request passes 4.5 full nodes in the mean.",
			Published: ofRuns("4.5"), Measure: balls("bounded-ring", 0.1).mean("extra-steps")},
		{ID: "bounded/ring/steps/0.3", Source: boundedSource, Says: "At a bound of 1.3 it passes one and a half.",
			Published: ofRuns("1.46"), Measure: balls("bounded-ring", 0.3).mean("extra-steps")},
		{ID: "bounded/ring/steps/1", Source: boundedSource, Says: "At a bound of 2, fewer than a third of one.",
			Published: ofRuns("0.29"), Measure: balls("bounded-ring", 1).mean("extra-steps")},
		{ID: "bounded/jumps/full/0.1", Source: boundedSource, Says: "With random jumps fewer nodes are full: five of eight at 1.1.",
			Published: ofRuns("62.9%"), Measure: balls("bounded-random-jump", 0.1).mean("full-fraction")},
		{ID: "bounded/jumps/full/0.3", Source: boundedSource, Says: "With random jumps a quarter is full at 1.3.",
			Published: ofRuns("25.0%"), Measure: balls("bounded-random-jump", 0.3).mean("full-fraction")},
		{ID: "bounded/jumps/steps/0.1", Source: boundedSource, Says: "With random jumps a request passes 0.18 full nodes at 1.1, not 4.5.",
			Published: ofRuns("0.176"), Measure: balls("bounded-random-jump", 0.1).mean("extra-steps")},
		{ID: "bounded/jumps/steps/0.3", Source: boundedSource, Says: "With random jumps it passes 0.04 at 1.3, not 1.5.",
			Published: ofRuns("0.042"), Measure: balls("bounded-random-jump", 0.3).mean("extra-steps")},
		{ID: "bounded/cap/ring", Source: "Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350, section 2", Says: "No node of the ring ever holds more than the bound.",
			Published: exactly(0, "times"), Measure: balls("bounded-ring", 0.1).most("bound-violations")},
		{ID: "bounded/cap/jumps", Source: "Chen, Coleman, Shrivastava, arXiv 1908.08762", Says: "With random jumps, no node ever does.",
			Published: exactly(0, "times"), Measure: balls("bounded-random-jump", 0.1).most("bound-violations")},
		{ID: "bounded/cap/haproxy", Source: "HAProxy, configuration manual, hash-balance-factor", Says: "With a factor of 150 no server has more than 1.5 times the mean, hot keys or not.",
			Published: printed("1.5").within(0, "").atMost(), Measure: cell{alg: "haproxy-chash", params: params{"hash_balance_factor": 150}, nodes: 10, measure: "bounded", keys: "seq:{draw}-:0:100000", requests: "zipf:0.99", streamed: 10_000, draws: 60}.most("load-peak")},
		{ID: "bounded/capacity/before", Source: "Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350, section 2", Says: "The capacity of a node is a whole number: 10,000 requests, ten nodes, a bound of 1.25.",
			Published: formula("ceil(c*m/n)", 1250), Measure: steps().value("capacity-before")},
		{ID: "bounded/capacity/after", Source: "Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350, section 2", Says: "An eleventh node makes it smaller for all, at one stroke.",
			Published: formula("ceil(c*m/n)", 1137), Measure: steps().value("capacity-after")},
		{ID: "bounded/collateral", Source: "textbooks: a bound keeps the promises of the ring", Says: "Under a bound, too, no request moves between two nodes that stay when one joins.",
			Published: exactly(0, ""), Expected: Refuted, Finds: "Some do: every capacity shrinks, and a request that finds no room goes on and takes another's place.",
			Measure: cell{alg: "bounded-ring", params: params{"epsilon": 0.05}, nodes: 10, measure: "bounded-movement", keys: "seq:{draw}-:0:100000", streamed: 10_000, schedule: "add-one", draws: 60}.mean("collateral-fraction")},
	},
}

// steps is a bounded ring before and after a node joins.
func steps() cell {
	return cell{alg: "bounded-ring", params: params{"epsilon": 0.25}, nodes: 10, measure: "bounded-movement", keys: "seq:{draw}-:0:100000", streamed: 10_000, schedule: "add-one"}
}

const logarithmic = "Schindelhauer, Schomaker, SPAA 2005: score -w/ln(u)"

var aboutWeights = section{
	title: "Weights",
	intro: `The logarithm is what makes weighted rendezvous exact. The shortcut w*u looks right and is not.`,
	claims: []Claim{
		{ID: "weights/light", Source: logarithmic, Says: "Of the weights 1:2:3:4 the lightest node owns a tenth.",
			Published: formula("w/W", 0.1), Measure: cluster{alg: "weighted-rendezvous", nodes: 4, weights: []float64{1, 2, 3, 4}}.part(0, 1_000_000)},
		{ID: "weights/heavy", Source: logarithmic, Says: "Of the weights 1:2:3:4 the heaviest owns four tenths.",
			Published: formula("w/W", 0.4), Measure: cluster{alg: "weighted-rendezvous", nodes: 4, weights: []float64{1, 2, 3, 4}}.part(3, 1_000_000)},
		{ID: "weights/naive", Source: "folklore: score w*u", Says: "Multiplying the score by the weight gives the light node of 1:2 a third.",
			Published: formula("w/W", 1.0/3), Expected: Refuted, Finds: "It gets a quarter: it wins only when u1 > 2*u2.",
			Measure: cluster{alg: "naive-weighted-rendezvous", nodes: 2, weights: []float64{1, 2}}.part(0, 400_000)},
		{ID: "weights/naive/quarter", Source: "theory: the area where u1 > 2*u2", Says: "Score w*u gives the light node of 1:2 a quarter.",
			Published: formula("1/4", 0.25), Measure: cluster{alg: "naive-weighted-rendezvous", nodes: 2, weights: []float64{1, 2}}.part(0, 400_000)},
		{ID: "weights/scaled", Source: logarithmic, Says: "Multiplying all weights by one number moves nothing.",
			Published: exactly(0, ""), Measure: cluster{alg: "weighted-rendezvous", nodes: 10, weights: []float64{1, 2, 4}}.scaledWeights(10, 200_000)},
	},
}

// zipf returns the part of the top key, and the sum of the squares of all parts,
// under Zipf's law with the exponent 0.99.
func zipf(keys int) (top, squares float64) {
	total, sum := 0.0, 0.0
	for r := keys; r > 0; r-- {
		p := math.Pow(float64(r), -0.99)
		total += p
		sum += float64(p * p)
	}
	return 1 / total, sum / (total * total)
}

// zipfKeys is how many keys the claims about load have.
const zipfKeys = 20_000

var zipfTop, zipfSquares = zipf(zipfKeys)

var aboutHotKeys = section{
	title: "Hot keys",
	intro: `One owner a key means that the node of the hottest key has at least that key's requests, whatever the
algorithm. No number of points mends it.`,
	claims: []Claim{
		{ID: "zipf/top/100k", Source: "definition of Zipf's law with exponent 0.99", Says: "The top key of 100,000 has 7.83% of the requests.",
			Published: printed("7.83%"), Measure: popular("zipf:0.99", 100_000)},
		{ID: "zipf/top/1M", Source: "definition of Zipf's law with exponent 0.99", Says: "The top key of a million has 6.50%.",
			Published: printed("6.50%"), Measure: popular("zipf:0.99", 1_000_000)},
		{ID: "zipf/ycsb", Source: "YCSB, ScrambledZipfianGenerator", Says: "YCSB's scrambled generator draws Zipf over as many keys as there are.",
			Published: printed("7.83%"), Expected: Refuted, Finds: "It draws from ten billion ranks and hashes them: its top key has 3.78%, whatever the number of keys.",
			Measure: popular("ycsb-scrambled", 100_000)},
		{ID: "zipf/spread/n=10", Source: "theory: independent owners", Says: "The spread of the requests over ten perfectly even nodes.",
			Published: formula("sqrt((n-1) * sum of p^2)", math.Sqrt(9*zipfSquares)), Measure: zipfed("rendezvous", nil, 10, 1500).rms("load-cv")},
		{ID: "zipf/peak/rendezvous", Source: "arithmetic: the node of the top key", Says: "Rendezvous over 100 nodes: the busiest has n times the top key's part, or more.",
			Published: formula("n * p1", 100*zipfTop).atLeast(), Measure: zipfed("rendezvous", nil, 100, 40).least("load-peak")},
		{ID: "zipf/peak/ring", Source: "arithmetic: the node of the top key", Says: "A ring of 1,000 points a node is no better: nor is its busiest below that.",
			Published: formula("n * p1", 100*zipfTop).atLeast(), Measure: zipfed("ring", params{"vnodes": 1000}, 100, 40).least("load-peak")},
		{ID: "zipf/total", Source: "theory: variances add", Says: "On a ring of ten points a node, the spread of the ring and that of the keys add up in squares.",
			Published: formula("sqrt(r + (n-1-r) * sum of p^2), r = (n-1)/(n*v+1)", math.Sqrt(99.0/1001+(99-99.0/1001)*zipfSquares)),
			Measure:   ownKeys(zipfed("ring", params{"vnodes": 10}, 100, 400)).rms("load-cv")},
	},
}

// zipfed is the cell of the requests for 20,000 keys by Zipf's law.
func zipfed(alg string, p params, nodes, draws int) cell {
	return cell{alg: alg, params: p, nodes: nodes, measure: "load", keys: "seq:{draw}-:0:20000", requests: "zipf:0.99", draws: draws}
}

// ownKeys is the cell with keys drawn anew for each placement. Two hot keys that
// happen to be close on the circle are close in all placements of one set of keys.
func ownKeys(c cell) cell { c.newKeys = true; return c }
