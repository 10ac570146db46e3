package claims

import (
	"math"
	"strconv"
)

// ringShares is the cell of the exact shares of rings of v points a node.
func ringShares(nodes, v, draws int) cell {
	return cell{alg: "ring", params: params{"vnodes": v}, nodes: nodes, measure: "shares", draws: draws}
}

// rings are the same to be asked by hand.
func rings(nodes, v int) cluster {
	return cluster{alg: "ring", params: params{"vnodes": v}, nodes: nodes}
}

// harmonic is 1 + 1/2 + ... + 1/n.
func harmonic(n int) float64 {
	sum := 0.0
	for i := n; i > 0; i-- {
		sum += 1 / float64(i)
	}
	return sum
}

const (
	dirichlet = "theory: the shares of random points follow the Dirichlet distribution, v for each of n nodes"
	simulated = "simulation of the Dirichlet distribution of the shares, apart from this program"
	jumpTable = "Lamping, Veach 2014, arXiv 1406.2294, table of points per bucket for a ring of 1,000 buckets"
)

// spreadOf is what theory says of the standard deviation over mean.
func spreadOf(nodes, v int) figure {
	n := float64(nodes)
	return formula("sqrt((n-1)/(n*v+1))", math.Sqrt((n-1)/float64(n*float64(v)+1)))
}

// aUnit allows a simulated figure a unit of its last digit.
func aUnit(text string) figure {
	f := printed(text)
	return f.within(2*f.half, "a unit of the last digit of the simulation")
}

var aboutRings = section{
	title: "How even a ring is",
	intro: `A ring deals out the circle by chance. Points are what buys evenness, and slowly:
four times the points halve the spread. The spread is the standard deviation of the shares over their mean; the
busiest node is what breaks first.`,
	claims: []Claim{
		{ID: "ring/spread/n=10/v=1", Source: dirichlet, Says: "With one point a node the spread is nearly 1.",
			Published: spreadOf(10, 1), Measure: ringShares(10, 1, 4000).rms("share-cv")},
		{ID: "ring/spread/n=10/v=100", Source: dirichlet, Says: "With v points a node the spread is close to 1/sqrt(v).",
			Published: spreadOf(10, 100), Measure: ringShares(10, 100, 4000).rms("share-cv")},
		{ID: "ring/spread/n=100/v=100", Source: dirichlet, Says: "The number of nodes hardly matters: 100 points each among a hundred spread by 10% too.",
			Published: spreadOf(100, 100), Measure: ringShares(100, 100, 400).rms("share-cv")},
		{ID: "ring/spread/n=1000/v=160", Source: dirichlet, Says: "A thousand nodes with 160 points each spread by 8%.",
			Published: spreadOf(1000, 160), Measure: ringShares(1000, 160, 60).rms("share-cv")},
		{ID: "ring/counts/n=10/v=100", Source: dirichlet + ", and counts of K keys on top", Says: "Who counts keys instead of shares adds the noise of counting: a little with 1,000 keys a node and 100 points.",
			Published: formula("sqrt((n-1)/K + (1-1/K)(n-1)/(n*v+1))", 0.09945).within(5e-6, "half a unit of the last digit"),
			Measure:   cell{alg: "ring", params: params{"vnodes": 100}, nodes: 10, measure: "balance", keys: "seq:{draw}-:0:10000", draws: 2000}.rms("balance-cv")},
		{ID: "ring/counts/n=50/v=40", Source: dirichlet + ", and counts of K keys on top", Says: "With 100 keys a node and 40 points the noise of counting is two thirds of the ring's own.",
			Published: formula("sqrt((n-1)/K + (1-1/K)(n-1)/(n*v+1))", 0.18516).within(5e-6, "half a unit of the last digit"),
			Measure:   cell{alg: "ring", params: params{"vnodes": 40}, nodes: 50, measure: "balance", keys: "seq:{draw}-:0:5000", draws: 1000}.rms("balance-cv")},

		{ID: "ring/busiest/n=10/v=1", Source: "theory of spacings", Says: "With one point a node the busiest of ten owns three times the average.",
			Published: formula("1 + 1/2 + ... + 1/n", harmonic(10)), Measure: ringShares(10, 1, 4000).mean("share-peak")},
		{ID: "ring/busiest/n=100/v=1", Source: "theory of spacings", Says: "With one point a node the busiest of a hundred owns five times the average.",
			Published: formula("1 + 1/2 + ... + 1/n", harmonic(100)), Measure: ringShares(100, 1, 1000).mean("share-peak")},
		{ID: "ring/idlest/n=10/v=1", Source: "theory of spacings", Says: "With one point a node the idlest of ten owns a tenth of the average.",
			Published: formula("1/n", 0.1), Measure: cell{alg: "ring", params: params{"vnodes": 1}, nodes: 10, measure: "balance", keys: "seq:{draw}-:0:20000", draws: 2000}.mean("balance-min")},
		{ID: "ring/busiest/n=10/v=100", Source: simulated, Says: "100 points leave the busiest of ten 16% above its share.",
			Published: aUnit("1.160"), Measure: ringShares(10, 100, 4000).mean("share-peak")},
		{ID: "ring/busiest/n=10/v=160", Source: simulated, Says: "160 points leave the busiest of ten 12% above.",
			Published: aUnit("1.124"), Measure: ringShares(10, 160, 2000).mean("share-peak")},
		{ID: "ring/busiest/n=10/v=1000", Source: simulated, Says: "1,000 points leave the busiest of ten 5% above.",
			Published: aUnit("1.049"), Measure: ringShares(10, 1000, 500).mean("share-peak")},
		{ID: "ring/busiest/n=100/v=100", Source: simulated, Says: "The more nodes, the further the busiest of them stands out: with 100 points, 27% among a hundred.",
			Published: aUnit("1.269"), Measure: ringShares(100, 100, 400).mean("share-peak")},
		{ID: "ring/busiest/n=1000/v=160", Source: simulated, Says: "With 160 points, the busiest of a thousand stands out by 28%.",
			Published: aUnit("1.277"), Measure: ringShares(1000, 160, 60).mean("share-peak")},
		{ID: "ring/unlucky/n=3/v=160", Source: simulated, Says: "In one cluster of 20 with three nodes and 160 points the busiest has 14% or more beyond its share.",
			Published: aUnit("1.14"), Measure: ringShares(3, 160, 4000).quantile("share-peak", 0.95)},
		{ID: "ring/unlucky/n=10/v=100", Source: simulated, Says: "In one cluster of 20 with ten nodes and 100 points it has 26% or more.",
			Published: aUnit("1.26"), Measure: ringShares(10, 100, 4000).quantile("share-peak", 0.95)},
		{ID: "ring/unlucky/n=50/v=160", Source: simulated, Says: "In one cluster of 20 with 50 nodes and 160 points it has 26% or more, too.",
			Published: aUnit("1.26"), Measure: ringShares(50, 160, 800).quantile("share-peak", 0.95)},
		{ID: "ring/half/n=10/v=1", Source: "textbooks: one node may own half of the ring", Says: "With one point a node, one of ten owns half of the ring in 2 rings of 100.",
			Published: formula("n/2^(n-1)", 10.0/512), Measure: ringShares(10, 1, 4000).above("share-peak", 5)},
		{ID: "ring/pairs/n=2/v=1", Source: "github.com/istio/istio, issue 13261", Says: "Of pairs of nodes with one point each, one node of every fifth pair gets over 90%.",
			Published: printed("20%").within(0, "it is exactly 1/5"), Measure: ringShares(2, 1, 4000).above("share-peak", 1.8)},
	},
}

// jumpRow makes the three claims of a row of the table in the jump paper.
func jumpRow(v int, spread, low, high string, draws int, upper float64) []Claim {
	c := rings(1000, v)
	points := thousands(v) + " points"
	if v == 1 {
		points = "one point"
	}
	id := "jump-paper/v=" + strconv.Itoa(v) + "/"
	s := printed(spread)
	return []Claim{
		{ID: id + "spread", Source: jumpTable, Says: "Standard error of the bucket size with " + points + ".",
			Published: s.within(0.005*s.value, "half a percent, as the source does not say of how many rings"), Measure: c.spread(draws)},
		{ID: id + "low", Source: jumpTable, Says: "Lower end of the interval that holds 99% of the buckets, with " + points + ".",
			Published: printed(low).within(0.02*min(1, printed(low).value), "2%, as the source does not say of how many rings"), Measure: c.pooled(0.005, draws)},
		{ID: id + "high", Source: jumpTable, Says: "Upper end of the interval that holds 99% of the buckets, with " + points + ".",
			Published: printed(high).within(upper, "two units of the last printed digit, as the source does not say of how many rings"), Measure: c.pooled(0.995, draws)},
	}
}

var aboutJumpTable = section{
	title: "The jump paper's table of rings",
	intro: `The paper that introduced jump hash sets it beside rings of 1,000 buckets. All four rows hold. Of
jump itself it says 7.64e-9, which is the rounding of its arithmetic and not what anybody's keys will show.`,
	claims: concat(
		jumpRow(1, "0.9979060", "0.005", "5.25", 400, 0.02),
		jumpRow(10, "0.3151810", "0.37", "1.98", 200, 0.02),
		jumpRow(100, "0.0996996", "0.76", "1.28", 100, 0.02),
		jumpRow(1000, "0.0315723", "0.92", "1.09", 40, 0.02),
	),
}
