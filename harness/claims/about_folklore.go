package claims

import "strconv"

const (
	textbook  = "textbooks and course pages"
	explainer = "an explainer's worked example"
	cold      = "theory of cold keys, none of which expires: a million by Zipf's law; figure worked out apart from this program"
)

// afterOne is the cell of what a cache misses when the ninth node joins eight.
func afterOne(alg string, draws int) cell {
	return cell{alg: alg, nodes: 8, measure: "misses", keys: "seq:{draw}-:0:1000000", requests: "zipf:0.99", schedule: "add-one", draws: draws}
}

// users is the cell of the claim that 8 nodes become 9.
func users(alg string, draws int) cell {
	return cell{alg: alg, nodes: 8, names: "node-{i}", measure: "movement", keys: "seq:user::0:100000", schedule: "add-one", draws: draws}
}

var aboutFolklore = section{
	title: "What people repeat",
	intro: `These stand in textbooks, courses and posts, mostly without a source. Most are right. Those that are not are here
with what is true.`,
	claims: []Claim{
		{ID: "said/8-to-9/modulo", Source: textbook, Says: "From 8 nodes to 9 a remainder moves 8 keys of 9.",
			Published: formula("8/9", 8.0/9), Measure: users("modulo", 1).part("moved-fraction")},
		{ID: "said/8-to-9/ring", Source: textbook, Says: "From 8 nodes to 9 a ring moves 1 key of 9.",
			Published: formula("1/9", 1.0/9), Measure: users("ring", 100).mean("moved-fraction")},
		{ID: "said/wards", Source: "a lesson: pupils go to the ward of their number's remainder", Says: "From 4 wards to 5, 800 of 1,000 students move.",
			Published: exactly(800, "students"), Measure: ids("modulo", 4, 5, 0, 1000)},
		{ID: "said/three-quarters", Source: textbook, Says: "From 3 nodes to 4 three quarters move.",
			Published: exactly(9000, "of 12,000"), Measure: ids("modulo", 3, 4, 0, 12_000)},
		{ID: "said/10M/ring", Source: textbook, Says: "10 million keys on 10 nodes: one more moves about 900,000 of them on a ring.",
			Published: printed("9%"), Measure: cell{alg: "ring", nodes: 10, measure: "shares", schedule: "add-one", draws: 1000}.mean("moved-fraction")},
		{ID: "said/10M/modulo", Source: textbook, Says: "10 million keys on 10 nodes: one more moves about 9 million under a remainder.",
			Published: printed("90%").within(0.05, "the source rounds to a million of ten"), Measure: byKeys("modulo", 10, 1_000_000, "add-one").part("moved-fraction")},
		{ID: "said/root-of-v", Source: textbook, Says: "The spread falls as 1/sqrt(v): 100 times the points, a tenth of it.",
			Published: printed("10").within(0.005, "sqrt((1000n+1)/(10n+1)) is 9.995"), Measure: quotient(ringShares(100, 10, 1000), ringShares(100, 1000, 60), "share-cv")},
		{ID: "said/100-points", Source: textbook, Says: "100 to 200 vnodes bring the spread under about 10%.",
			Published: printed("10%").within(0, "").atMost(), Measure: ringShares(100, 100, 400).rms("share-cv")},
		{ID: "said/100-points/busiest", Source: textbook, Says: "With 100 to 200 vnodes no node is more than 10% above its share.",
			Published: printed("1.10").within(0, ""), Expected: Refuted, Finds: "That is the spread, not the busiest node: in one cluster of 20 with ten nodes and 160 vnodes the busiest has 20% or more beyond its share.",
			Measure: ringShares(10, 160, 2000).quantile("share-peak", 0.95)},
		{ID: "said/root-of-nv", Source: "a widely read page on consistent hashing", Says: "The standard deviation of the load is about 1/sqrt(n*v).",
			Published: formula("1/sqrt(n*v)", 0.01), Expected: Refuted, Finds: "It is 1/sqrt(v): ten times as much for 100 nodes with 100 points. The number of nodes does not help.",
			Measure: ringShares(100, 100, 400).rms("share-cv")},
		{ID: "said/extra-point", Source: textbook, Says: "An extra point improves the ring.",
			Published: printed("0%").within(0, ""), Expected: Refuted, Finds: "Only in the mean. In one ring it makes the busiest node busier about as often as not.",
			Measure: worse(10, 100, 2000)},
		{ID: "said/same-second", Source: textbook, Says: "After a change the whole miss load arrives in the same second.",
			Published: printed("100%").within(0, ""), Expected: Refuted, Finds: "Only the popular keys are asked for at once. With a million keys by Zipf's law and 50,000 requests a second, some 4% of the misses come in the first second and the tail takes hours.",
			Measure: afterOne("modulo", 1).firstSecond()},
		{ID: "said/misses/modulo/first", Source: cold, Says: "A ninth cache under a remainder: of 50,000 requests a second 44,000 miss at first.",
			Published: printed("44,000"), Measure: afterOne("modulo", 1).missing(0)},
		{ID: "said/misses/modulo/minute", Source: cold, Says: "A minute later 3,800 a second still miss.",
			Published: printed("3,800"), Measure: afterOne("modulo", 1).missing(60)},
		{ID: "said/misses/modulo/all", Source: cold, Says: "In all, 889,000 of a million keys are missed once.",
			Published: printed("889,000"), Measure: afterOne("modulo", 1).missing(-1)},
		{ID: "said/misses/ring/first", Source: cold, Says: "A ninth cache on a ring: 5,600 a second miss at first.",
			Published: printed("5,600"), Measure: afterOne("ring", 24).missing(0)},
		{ID: "said/misses/ring/minute", Source: cold, Says: "A minute later 500 a second miss on a ring.",
			Published: printed("500").within(50, "the source rounds to hundreds"), Measure: afterOne("ring", 24).missing(60)},
		{ID: "said/misses/ring/all", Source: cold, Says: "In all, 111,000 of a million keys are missed once on a ring.",
			Published: printed("111,000"), Measure: afterOne("ring", 24).missing(-1)},
		{ID: "said/on-a-point", Source: "Karger et al., STOC 1997; ketama, nginx, Envoy", Says: "A key on a point belongs to that point, and the next position to the next one.",
			Published: printed("100%").within(0, ""), Measure: rings(10, 160).ownPoints()},
		{ID: "said/labels/from-1", Source: textbook + ": NodeA-1, NodeA-2 and so on; B#1 to B#150", Says: "The labels of points count from 1.",
			Published: exactly(0, "points elsewhere"), Measure: labelled("B", 150, "{name}#{index+1}", func(i int) string { return "B#" + strconv.Itoa(i+1) })},
		{ID: "said/envoy-1024", Source: "Envoy, ring_hash, minimum_ring_size 1,024", Says: "The default ring of 1,024 entries leaves 200 hosts five points each, rounded up to six, and a load that is visibly uneven.",
			Published: spreadOf(200, 6), Measure: cell{alg: "envoy-ring", nodes: 200, measure: "shares", draws: 300}.rms("share-cv")},
		{ID: "said/fixed-total/moved", Source: "github.com/istio/istio, issue 41814", Says: "A ring of 1,024 entries in all takes points from the old nodes when an eleventh joins ten: 15% move, not 9%.",
			Published: printed("15.4%").fromOne(), Measure: cell{alg: "envoy-ring", nodes: 10, measure: "shares", schedule: "add-one", draws: 300}.mean("moved-fraction")},
		{ID: "said/fixed-total/collateral", Source: "github.com/istio/istio, issue 41814", Says: "Of a ring of 1,024 entries in all, 6% move between two nodes that stay when an eleventh joins ten.",
			Published: printed("6.3%").fromOne(), Measure: cell{alg: "envoy-ring", nodes: 10, measure: "shares", schedule: "add-one", draws: 300}.mean("collateral-fraction")},
		{ID: "said/anchor-uneven", Source: "a published comparison in Go: standard deviation 8,954 for AnchorHash, 25 for jump", Says: "AnchorHash is 358 times less even than jump.",
			Published: formula("8954/25", 8954.0/25), Expected: Refuted, Finds: "It is as even: nine tenths of the keys of that comparison had no owner. Check the answers before the clock.",
			Measure: quotient(cell{alg: "anchor", nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}, cell{alg: "jump", nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}, "balance-cv")},

		{ID: "lesson/tokens", Source: explainer + ": tokens 12, 38, 67, 88", Says: "Tokens 12, 38, 67, 88, and E joins at 52: 44 moves from C to E, 63 stays with C, and only (38, 52] moves.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{12, "A"}, {38, "B"}, {67, "C"}, {88, "D"}, {52, "E"}}, modulus: 100, joins: "E",
				before: map[uint64]string{44: "C", 63: "C"}, after: map[uint64]string{44: "E", 63: "C"}, moved: [2]uint64{39, 52}}.wrong()},
		{ID: "lesson/hundreds", Source: explainer + ": points 100, 400, 700", Says: "Points 100, 400, 700, and a node joins at 450: 410 moves from Node 3 to Node 4, nothing outside (400, 450] does.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{100, "Node 1"}, {400, "Node 2"}, {700, "Node 3"}, {450, "Node 4"}}, modulus: 1000, joins: "Node 4",
				before: map[uint64]string{410: "Node 3", 400: "Node 2"}, after: map[uint64]string{410: "Node 4", 400: "Node 2"}, moved: [2]uint64{401, 450}}.wrong()},
		{ID: "lesson/sixty", Source: explainer + ": points 20, 50, 80", Says: "Points 20, 50, 80, and a node joins at 60: the keys 51 to 60 go from 80 to 60.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{20, "at 20"}, {50, "at 50"}, {80, "at 80"}, {60, "at 60"}}, modulus: 100, joins: "at 60",
				before: map[uint64]string{51: "at 80", 60: "at 80"}, after: map[uint64]string{51: "at 60", 60: "at 60", 61: "at 80"}, moved: [2]uint64{51, 60}}.wrong()},
		{ID: "lesson/joins", Source: explainer + ": A 20, B 55, C 90", Says: "A 20, B 55, C 90, and D joins at 40: 37 moves from B to D.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{20, "A"}, {55, "B"}, {90, "C"}, {40, "D"}}, modulus: 100, joins: "D",
				before: map[uint64]string{37: "B"}, after: map[uint64]string{37: "D"}, moved: [2]uint64{21, 40}}.wrong()},
		{ID: "lesson/leaves", Source: explainer + ": the same, later", Says: "A 20, D 40, B 55, C 90, and B leaves: (40, 55] goes to C.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{20, "A"}, {55, "B"}, {90, "C"}, {40, "D"}}, modulus: 100, leaves: "B",
				before: map[uint64]string{41: "B", 55: "B"}, after: map[uint64]string{41: "C", 55: "C", 37: "D"}, moved: [2]uint64{41, 55}}.wrong()},
		{ID: "lesson/wraps", Source: explainer + ": points 100, 500, 1000", Says: "A 100, B 500, C 1000: key 500 is B's, 700 is C's, and 1500 wraps to A.",
			Published: exactly(0, "wrong"), Measure: lesson{
				points: []point{{100, "A"}, {500, "B"}, {1000, "C"}}, modulus: 2000,
				before: map[uint64]string{500: "B", 700: "C", 1500: "A"}}.wrong()},
	},
}
