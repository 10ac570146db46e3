package claims

import (
	"math"

	"github.com/ringbench/ringbench/workloads"
)

var aboutOthers = section{
	title: "Other published algorithms",
	intro: `Papers promise the same two things, an even spread and the fewest moves, at another price each.`,
	claims: concat(
		[]Claim{
			{ID: "multiprobe/busiest/k=21", Source: multiProbe + ", 21 probes for a peak-to-average of 1.05", Says: "With 21 probes a key the busiest node of multi-probe hashing has 5% more than its share.",
				Published: formula("k/(k-1)", 21.0/20), Measure: cluster{alg: "multiprobe", params: params{"probes": 21}, nodes: 1000}.busiest(200_000, 20)},
			{ID: "multiprobe/busiest/k=5", Source: multiProbe, Says: "With five probes it has 25% more.",
				Published: formula("k/(k-1)", 5.0/4), Measure: cluster{alg: "multiprobe", params: params{"probes": 5}, nodes: 1000}.busiest(200_000, 20)},
			{ID: "multiprobe/spread/k=21", Source: "theory: what a gap of the ring gets", Says: "Yet with 21 probes the spread is 16%, wider than the 10% of a ring with 100 points, whose busiest has 27% more: spread and busiest node rank the two oppositely.",
				Published: formula("1/sqrt(2k-1)", 1/math.Sqrt(41)), Measure: cell{alg: "multiprobe", params: params{"probes": 21}, nodes: 1000, measure: "balance", keys: "seq:{draw}-:0:200000", draws: 20}.underlying()},
			{ID: "binomial/tries", Source: "theory: the keys that a limit of tries leaves over; Coluzzi et al. 2024, arXiv 2406.19836", Says: "BinomialHash with five tries a key gives the last of nine nodes 1.6% too little.",
				Published: formula("(1 - c^w)/n", (1-math.Pow(7.0/16, 5))/9), Measure: cluster{alg: "binomial", params: params{"tries": 5}, nodes: 9}.part(8, 4_000_000)},
		},
		[]Claim{
			{ID: "lrh/busiest/ring", Source: lrhPaper, Says: "5,000 nodes with 256 points each on a ring: the busiest of 50 million keys has 28% above its share.",
				Published: printed("1.2785").fromOne(), Measure: rings(5000, 256).counted(50_000_000, 8)},
			{ID: "lrh/busiest", Source: lrhPaper, Says: "Local rendezvous hashing with eight candidates on the same ring: 9%.",
				Published: printed("1.0947").fromOne(), Measure: cluster{alg: "lrh", params: params{"candidates": 8, "vnodes": 256}, nodes: 5000}.counted(50_000_000, 8)},
			{ID: "lrh/down", Source: "Guan 2025, LRH, arXiv 2512.23434: zero excess churn", Says: "When a node of local rendezvous hashing is down and stays on the ring, only its own keys move.",
				Published: exactly(0, ""), Measure: cluster{alg: "lrh", nodes: 50}.collateral("one goes down", 200_000, workloads.Change{Op: workloads.SetWeight, Node: 7, Factor: 0})},
			{ID: "lrh/joins", Source: "the same words, read as those about a ring", Says: "When a node of local rendezvous hashing joins, nothing moves between two nodes that stay.",
				Published: exactly(0, ""), Expected: Refuted, Finds: "It shifts the candidates of the keys before its points: (C-1)/(C+1) of what moves to it moves elsewhere besides, seven ninths with eight candidates.",
				Measure: cell{alg: "lrh", nodes: 50, measure: "movement", keys: "seq:{draw}-:0:20000", schedule: "add-one", draws: 40}.mean("collateral-fraction")},
			{ID: "lrh/joins/excess", Source: "theory: a candidate drops out of the window when another comes in", Says: "What then moves between nodes that stay, with eight candidates and 50 nodes.",
				Published: formula("(C-1)/(C+1)/(n+1)", 7.0/9/51), Measure: cell{alg: "lrh", nodes: 50, measure: "movement", keys: "seq:{draw}-:0:20000", schedule: "add-one", draws: 40}.mean("collateral-fraction")},
		},
		promises("memento", "Coluzzi et al. 2023, MementoHash, arXiv 2306.09783"),
		promises("jumpback", "Ertl 2024, JumpBackHash, arXiv 2403.18682"),
		promises("flip", "Masson, Lee 2024, FlipHash, arXiv 2402.17549"),
		promises("binomial", "Coluzzi et al. 2024, BinomialHash, arXiv 2406.19836"),
		promises("power", "Leu 2023, power consistent hashing, arXiv 2307.12448"),
		promises("anchor", "Mendelson et al. 2020, AnchorHash, arXiv 1812.09674"),
		promises("dx", "Dong, Wang 2021, DxHash, arXiv 2107.07930"),
	),
}

const lrhPaper = "Guan 2025, LRH, arXiv 2512.23434, benchmark of N=5,000, V=256, K=50M, C=8"

const multiProbe = "Appleton, O'Reilly 2015, arXiv 1505.00062"

// promises makes the two claims of an algorithm that is as even as chance allows and
// moves the least when a node joins.
func promises(alg, source string) []Claim {
	return []Claim{
		{ID: "even/" + alg, Source: source, Says: "The keys of " + alg + " spread over 100 nodes as throws of a die do.",
			Published: formula("sqrt((n-1)/K)", math.Sqrt(99.0/20_000)),
			Measure:   cell{alg: alg, nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}.rms("balance-cv")},
		{ID: "least/" + alg, Source: source, Says: "From 11 nodes to 12 " + alg + " moves a twelfth.",
			Published: formula("1/(n+1)", 1.0/12), Measure: cluster{alg: alg, nodes: 11}.moved("one joins", 200_000, grown(1)...)},
	}
}
