package claims

import (
	"math"
	"strconv"

	"github.com/ringbench/ringbench/workloads"
)

const multinomial = "theory: keys fall on nodes like throws of a die"

var aboutCounting = section{
	title: "The noise of counting keys",
	intro: `No scheme, however good its hash, spreads K keys evenly: they fall like throws of a die. This is the floor
under every balance that was counted, and what a test of balance has to allow for.`,
	claims: []Claim{
		{ID: "uniform/rendezvous/n=10", Source: multinomial, Says: "A thousand keys a node: the counts spread by 3%.",
			Published: formula("sqrt((n-1)/K)", math.Sqrt(9.0/10_000)),
			Measure:   cell{alg: "rendezvous", nodes: 10, measure: "balance", keys: "seq:{draw}-:0:10000", draws: 2000}.rms("balance-cv")},
		{ID: "uniform/jump/n=100", Source: multinomial, Says: "200 keys a node: the counts of jump spread by 7%.",
			Published: formula("sqrt((n-1)/K)", math.Sqrt(99.0/20_000)),
			Measure:   cell{alg: "jump", nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}.rms("balance-cv")},
		{ID: "uniform/modulo/n=100", Source: multinomial, Says: "Modulo is no more even than jump.",
			Published: formula("sqrt((n-1)/K)", math.Sqrt(99.0/20_000)),
			Measure:   cell{alg: "modulo", nodes: 100, measure: "balance", keys: "seq:{draw}-:0:20000", keySets: 200}.rms("balance-cv")},
		{ID: "uniform/chi-square/n=10", Source: multinomial + ", chi-square with n-1 degrees of freedom", Says: "A fair scheme fails a test at the 5% level in 5% of the cases.",
			// 16.919 is the 95th percentile of chi-square with 9 degrees of freedom.
			Published: printed("5%").within(0, ""),
			Measure:   cell{alg: "rendezvous", nodes: 10, measure: "balance", keys: "seq:{draw}-:0:2000", draws: 4000}.above("balance-cv", math.Sqrt(16.919/2000))},
	},
}

const (
	least    = "theory: no scheme moves less and stays even"
	division = "theory of numbers"
	seats    = "theory: the list behind jump hash"
)

// byKeys is the cell of what a change moves, counted over keys that the seed draws.
func byKeys(alg string, nodes, keys int, schedule string) cell {
	return cell{alg: alg, nodes: nodes, measure: "movement", keys: "seq:{draw}-:0:" + strconv.Itoa(keys), schedule: schedule}
}

var aboutMoves = section{
	title: "What moves when the membership changes",
	intro: `With n nodes, one more has to take over 1/(n+1) of the keys, and one less gives up 1/n. Consistent
hashing moves that and no more. A remainder moves nearly all, and jump only keeps its promise at the end of its list.`,
	claims: []Claim{
		{ID: "moves/ring/10-to-11", Source: least + ", Karger et al., STOC 1997", Says: "A ring moves the least possible when a node joins.",
			Published: formula("1/(n+1)", 1.0/11), Measure: cell{alg: "ring", nodes: 10, measure: "shares", schedule: "add-one", draws: 1000}.mean("moved-fraction")},
		{ID: "moves/ring/collateral", Source: "Karger et al., STOC 1997: monotonicity", Says: "When a node joins a ring, nothing moves between two nodes that stay.",
			Published: exactly(0, ""), Measure: cell{alg: "ring", nodes: 10, measure: "shares", schedule: "add-one", draws: 1000}.most("collateral-fraction")},
		{ID: "moves/ring/remove", Source: least + ", Karger et al., STOC 1997", Says: "When a node leaves a ring, only its keys move.",
			Published: formula("1/n", 1.0/10), Measure: cell{alg: "ring", nodes: 10, measure: "shares", schedule: "remove-one", draws: 1000}.mean("moved-fraction")},
		{ID: "moves/rendezvous/10-to-11", Source: least + ", Thaler, Ravishankar 1998", Says: "Rendezvous moves the least possible when a node joins.",
			Published: formula("1/(n+1)", 1.0/11), Measure: byKeys("rendezvous", 10, 200_000, "add-one").part("moved-fraction")},
		{ID: "moves/weights", Source: "theory: the sum of what each node gains", Says: "Raising the weights 1:2:3:4 to 1:2:3:6 moves a tenth.",
			Published: formula("sum of max(0, w'/W' - w/W)", 0.1),
			Measure:   cluster{alg: "weighted-rendezvous", nodes: 4, weights: []float64{1, 2, 3, 4}}.moved("the heaviest gets 1.5 times its weight", 400_000, workloads.Change{Op: workloads.SetWeight, Node: 3, Factor: 1.5})},
		{ID: "moves/modulo/10-to-11", Source: division, Says: "A remainder moves ten keys of eleven when one node joins ten.",
			Published: formula("1 - min(n,m)/lcm(n,m)", 1-10.0/110), Measure: byKeys("modulo", 10, 200_000, "add-one").part("moved-fraction")},
		{ID: "moves/modulo/10-to-12", Source: division, Says: "Two more nodes move less under a remainder than one more.",
			Published: formula("1 - min(n,m)/lcm(n,m)", 1-10.0/60), Measure: cluster{alg: "modulo", nodes: 10}.moved("two join", 200_000, grown(2)...)},
		{ID: "moves/modulo/double", Source: division, Says: "Twice the nodes move half of the keys under a remainder.",
			Published: formula("1 - min(n,m)/lcm(n,m)", 0.5), Measure: byKeys("modulo", 10, 200_000, "double").part("moved-fraction")},
		{ID: "moves/jump/10-to-12", Source: "Lamping, Veach 2014, arXiv 1406.2294, introduction", Says: "From 10 shards to 12 jump moves a sixth.",
			Published: formula("|m-n|/max(m,n)", 1.0/6), Measure: cluster{alg: "jump", nodes: 10}.moved("two join", 200_000, grown(2)...)},
		{ID: "moves/jump/100-to-1000", Source: "Lamping, Veach 2014, arXiv 1406.2294", Says: "From 100 shards to 1,000 jump moves nine tenths.",
			Published: formula("|m-n|/max(m,n)", 0.9), Measure: cluster{alg: "jump", nodes: 100}.moved("900 join", 100_000, grown(900)...)},
		{ID: "moves/jump/middle-shift", Source: seats + "; github.com/zalando/skipper, issue 1803", Says: "When the fifth of ten leaves jump and those behind it move up, 59% move.",
			Published: formula("1 - i/n - 1/(n(n-1))", 1-0.4-1.0/90), Measure: cluster{alg: "jump-shift", nodes: 10}.moved("the fifth leaves, the list shifts", 200_000, left(4))},
		{ID: "moves/jump/middle-shift/collateral", Source: seats + "; github.com/zalando/skipper, issue 1803", Says: "Of these, all but a tenth move between two nodes that stay.",
			Published: formula("1 - (i+1)/n - 1/(n(n-1))", 1-0.5-1.0/90), Measure: cluster{alg: "jump-shift", nodes: 10}.collateral("the fifth leaves, the list shifts", 200_000, left(4))},
		{ID: "moves/jump/middle-swap", Source: seats, Says: "When the fifth of ten leaves jump and the last takes its seat, 19% move: nearly twice the least.",
			Published: formula("(2n-3)/(n(n-1))", 17.0/90), Measure: cluster{alg: "jump", nodes: 10}.moved("the fifth leaves, the last takes its seat", 200_000, left(4))},
		{ID: "moves/identity/position", Source: "github.com/jcmoraisjr/haproxy-ingress, issue 798", Says: "Points named by the place in the list: when the fourth of ten leaves, 69% move.",
			Published: printed("69%"), Measure: positions(10, 3, 60)},
	},
}

var aboutCost = section{
	title: "What a lookup costs",
	intro: `Costs in steps are theory that can be counted, unlike nanoseconds, which each machine has of its own.`,
	claims: []Claim{
		{ID: "cost/jump/n=1000", Source: "Lamping, Veach 2014, arXiv 1406.2294: the expected number of iterations", Says: "Jump takes about ln n steps: 7.5 for a thousand nodes.",
			Published: formula("1 + 1/2 + ... + 1/n", harmonic(1000)), Measure: cluster{alg: "jump", nodes: 1000}.probes(400_000)},
		{ID: "cost/anchor/half", Source: "Mendelson et al. 2020, AnchorHash, arXiv 1812.09674: the expected number of hashes", Says: "AnchorHash with half of its 1,000 buckets in use takes 1.7 hashes.",
			Published: formula("1 + H_a - H_w", 1+harmonic(1000)-harmonic(500)), Measure: cluster{alg: "anchor", params: params{"capacity": 1000}, nodes: 500}.probes(400_000)},
		{ID: "cost/anchor/tenth", Source: "Mendelson et al. 2020, AnchorHash, arXiv 1812.09674: the expected number of hashes", Says: "AnchorHash with a tenth of its buckets in use takes 3.3 hashes.",
			Published: formula("1 + H_a - H_w", 1+harmonic(1000)-harmonic(100)), Measure: cluster{alg: "anchor", params: params{"capacity": 1000}, nodes: 100}.probes(400_000)},
		{ID: "cost/dx/tenth", Source: "Dong, Wang 2021, DxHash, arXiv 2107.07930: the expected number of draws", Says: "DxHash with a tenth of its slots in use takes ten draws.",
			Published: formula("a/w", 10), Measure: cluster{alg: "dx", params: params{"capacity": 1000}, nodes: 100}.probes(400_000)},
		{ID: "cost/jumpback/power", Source: "Ertl 2024, JumpBackHash, arXiv 2403.18682", Says: "JumpBackHash takes one random word for a power of two.",
			Published: exactly(1, ""), Measure: cluster{alg: "jumpback", nodes: 1024}.probes(100_000)},
		{ID: "cost/jumpback/bound", Source: "Ertl 2024, JumpBackHash, arXiv 2403.18682: the bound for all n", Says: "JumpBackHash takes at most 5/3 random words in the mean for any number of nodes; just above a power of two it comes nearest.",
			Published: formula("5/3", 5.0/3).atMost(), Measure: cluster{alg: "jumpback", nodes: 1025}.probes(400_000)},
	},
}
