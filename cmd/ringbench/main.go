// Ringbench measures how algorithms spread keys over nodes: consistent hashing in
// its forms, and what people use instead. It tells how even the spread is, how
// many keys move when a node joins or leaves, what a lookup costs in time and
// memory, and draws what it found.
//
// # Measure
//
//	ringbench run
//	ringbench run vnodes
//	ringbench run mine.toml --seed 7 --reps 30
//	ringbench run quick --nodes-file nodes.csv --keys-file keys.txt.gz
//	ringbench run quick --keys-file log.csv --key-column url --count-column hits
//
// Run measures a suite (quick unless named; see ringbench list suites) or a spec
// of your own, a file that ends in .toml. Exact answers come first: they are the
// same on every machine. Timings follow, each beside its floor.
//
//	ringbench run --dry-run --only algorithm=ring/
//	ringbench run --only ^lookup/ -o lookups
//	ringbench run --resume lookups
//
// A cell is one algorithm at one size under one measure; --dry-run prints their
// names and --only takes a regular expression on them. A run writes to a new
// folder under out and makes out/latest point to it; -o DIR writes into DIR
// itself. Ctrl-C keeps what is done, a second one kills, and even then --resume
// goes on where the run stopped and ends with the same exact records. --seed is
// the first placement, --seeds the number of placements of exact experiments,
// --reps the repetitions of a timing. A structure that would take more than
// --max-memory (half of what is available unless given) is refused.
//
// Progress goes to stderr, a bar on a terminal and otherwise a line for each
// finished experiment; -q silences it. --json prints the summary instead of the
// tables.
//
// # Look again
//
//	ringbench report out/latest
//	ringbench report out/latest -o page.html
//	ringbench plot out/latest --format svg,pdf -o figures
//	ringbench export out/latest --format csv -o values.csv
//	ringbench export out/latest --format benchfmt
//	ringbench export out/latest --format junit -o report.xml
//	ringbench export out/latest --format history -o history.jsonl
//	ringbench plot history.jsonl
//
// A run's folder holds run.json (what was asked, and of which machine),
// records.jsonl (one line for each trial, only ever appended to), and what is
// made from these two and can be made again: summary.csv, summary.txt, plots and
// report.html. Paths in a spec are relative to where the command runs.
//
// # Choose a number of vnodes
//
//	ringbench vnodes --nodes 12 --target-peak 1.15
//	ringbench vnodes --nodes-file nodes.csv --target-cv 0.05 --keys-file keys.txt.gz
//
// Vnodes answers how many points each node needs for the busiest to stay within
// the target in 19 of 20 clusters, with what that costs and cannot mend.
//
// # Place keys
//
//	ringbench place --algorithm ring --node a --node b=2 --keys seq:user:0:1000
//	ringbench place --algorithm ring --param vnodes=200 --nodes-file nodes.csv --keys-file keys.txt -o placed.csv
//	ringbench place --algorithm rendezvous --replicas 3 --hash xxh64 --nodes-file nodes.csv --keys-file -
//
// Place writes CSV with the header key,node (with --replicas key,node,node2 and
// so on), in the order of the keys. Where the nodes file names zones, every zone
// has a replica before any has two; fewer nodes than replicas are an error. An
// algorithm that bounds the load takes each key as one request, in that order.
// --node splits at the last =; --param takes JSON, and anything else as a string.
//
//	ringbench place --algorithm ring --nodes-file nodes.csv --explain user:42
//	ringbench place --algorithm ring --nodes-file nodes.csv --ring
//	ringbench place --algorithm ring --node a --node b --ring -o ring.svg
//
// --explain tells of one key its hash, its owner, the nodes that come next, and why;
// --ring writes points and owners in order, or draws the circle.
//
// # Judge an assignment
//
//	ringbench audit placed.csv
//	ringbench audit before.csv.gz after.csv.gz --max-collateral 0 --max-moved-over-minimum 1.2
//	ringbench audit placed.csv --nodes-file nodes.csv --max-peak 1.25
//
// Audit takes CSV with the header key,node[,count[,bytes]] from any system and tells
// how even keys, requests and bytes lie and what explains the spread: chance, vnodes,
// a weak hash or hot keys. Of two files it judges the second, and tells which keys
// moved and whether they had to. Rows of one key add up; one that is on two nodes is
// reported. Keys that do not fit into memory go to temporary files (TMPDIR). Beyond a
// limit it ends with 1.
//
// # Ask what if
//
//	ringbench whatif --algorithm ring --nodes-file nodes.csv --remove n4
//	ringbench whatif --algorithm ring --nodes-file nodes.csv --add n9=2 --reweight n1=0.5 -o moves.svg
//	ringbench whatif --algorithm ketama --nodes-file nodes.csv --add n9 --rate 50000 --popularity zipf:0.99
//	ringbench whatif --algorithm rendezvous --nodes-file nodes.csv --remove n4 --replicas 3 --worst
//
// Whatif tells of changes that happen together what moves from where to where, who is
// busiest before and after, whether a node comes above --headroom and takes others
// along, what a cache misses at --rate, and which keys lose the majority of their
// --replicas. Figures are exact where the algorithm lists who owns which hash, and
// otherwise counted over --keys, with their error.
//
// # Compare two programs
//
//	ringbench compare --base main
//	ringbench compare --base origin/main --head HEAD --format markdown -o summary.md
//	ringbench compare --base main --package ./cmd/mine --only algorithm=mine/
//	ringbench compare --base-binary old --head-binary new --rounds 40
//	ringbench compare --base main --accept-placement ^[a-z]+/algorithm=ring/
//	ringbench compare --base main --accept-worse 'algorithm=ring/.* footprint'
//	ringbench compare out/before out/latest --exact
//
// Compare builds the commit that the base and head have in common and head, the
// working tree unless given, and runs them side by side: what is exact once, what
// is timed in --rounds rounds of fresh processes that take turns by the
// millisecond. It fails on a regression, on wrong answers, and where keys change
// their owner unasked; --accept-worse and --accept-placement say what is meant.
// --package names the command of another module that is built on cli.Main. --format
// writes text, markdown, json, junit, or github (annotations of a workflow). Two
// runs compare by their records: exact metrics on any machine, timed ones on one
// machine only and not below 10%.
//
//	ringbench doctor
//	ringbench doctor --aa 200
//	ringbench doctor --inject 3,5,10
//
// Doctor says what on this machine disturbs timings; with --aa how often compare
// calls a program slower than itself here, and with --inject how often it finds a
// slowdown of so many percent.
//
// # Check what is said
//
//	ringbench verify
//	ringbench verify --only ^said/
//	ringbench verify --markdown
//
// Verify sets what papers, theory and textbooks say of consistent hashing beside what
// is measured here: each claim is reproduced, not reproduced or, where people repeat
// it and it is wrong, refuted. It takes a minute or two, and ends with 1 when a
// verdict is not the one that is expected.
//
// # Know what there is
//
//	ringbench list
//	ringbench list algorithms --json
//	ringbench list hashes
//	ringbench list workloads
//	ringbench list metrics
//	ringbench list suites
//	ringbench version
//	ringbench completion bash
//
// # Files
//
// A nodes file has one node a line, name[,weight[,zone]], with # for comments. A
// keys file has one key a line, raw bytes; with --key-column it is CSV or TSV
// under a header, with --count-column for requests and --size-column for bytes;
// with --keys-format it is a cache trace, libcachesim-csv or oracle-general. Names
// that end in .gz, .zst or .xz are decompressed. Where a file is written or keys are
// read, - is stdout or stdin.
//
// # Exit codes
//
//	0    done
//	1    a check failed: wrong answers, a gate not passed, a regression, a limit of audit
//	2    usage or input error
//	3    refused: timed metrics of runs from different machines
//	4    the run is incomplete
//	130  interrupted
//
// An error is one line on stderr that says what, where, and the mend.
package main

import (
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/cmd/cli"
)

func main() { cli.Main(builtin.All()...) }
