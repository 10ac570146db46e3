package claims

import "math"

var aboutOthers = section{
	title: "Other published algorithms",
	intro: `Papers promise the same two things, an even spread and the fewest moves, at another price each.`,
	claims: concat(
		[]Claim{
			{ID: "multiprobe/busiest/k=21", Source: multiProbe + ", 21 probes for a peak-to-average of 1.05", Says: "With 21 probes a key, the busiest node has 5% more than its share.",
				Published: formula("k/(k-1)", 21.0/20), Measure: cluster{alg: "multiprobe", params: params{"probes": 21}, nodes: 1000}.busiest(200_000, 20)},
			{ID: "multiprobe/busiest/k=5", Source: multiProbe, Says: "With five probes, 25%.",
				Published: formula("k/(k-1)", 5.0/4), Measure: cluster{alg: "multiprobe", params: params{"probes": 5}, nodes: 1000}.busiest(200_000, 20)},
			{ID: "multiprobe/spread/k=21", Source: "theory: what a gap of the ring gets", Says: "Yet its spread is 16%, wider than that of a ring with 100 points (10%, whose busiest has 27% more): spread and busiest node rank the two oppositely.",
				Published: formula("1/sqrt(2k-1)", 1/math.Sqrt(41)), Measure: cell{alg: "multiprobe", params: params{"probes": 21}, nodes: 1000, measure: "balance", keys: "seq:{draw}-:0:200000", draws: 20}.underlying()},
			{ID: "binomial/tries", Source: "theory: the keys that a limit of tries leaves over; Coluzzi et al. 2024, arXiv 2406.19836", Says: "With five tries a key, the last of nine nodes gets 1.6% too little.",
				Published: formula("(1 - c^w)/n", (1-math.Pow(7.0/16, 5))/9), Measure: cluster{alg: "binomial", params: params{"tries": 5}, nodes: 9}.part(8, 4_000_000)},
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

const multiProbe = "Appleton, O'Reilly 2015, arXiv 1505.00062"

// promises makes the two claims of an algorithm that is as even as chance allows and
// moves the least when a node joins.
func promises(alg, source string) []Claim {
	return []Claim{
		{ID: "even/" + alg, Source: source, Says: "The shares are equal: the keys of " + alg + " spread as throws of a die do.",
			Published: formula("sqrt((n-1)/K)", math.Sqrt(99.0/20_000)),
			Measure:   cell{alg: alg, nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}.rms("balance-cv")},
		{ID: "least/" + alg, Source: source, Says: "From 11 nodes to 12 it moves a twelfth.",
			Published: formula("1/(n+1)", 1.0/12), Measure: cluster{alg: alg, nodes: 11}.moved("one joins", 200_000, grown(1)...)},
	}
}
