package claims

import "strconv"

// hashed is the cell of rings whose points a hash places, of 100 nodes with 100
// points each, called as people call them.
func hashed(hash, names, label string) cell {
	return cell{
		alg: "ring", params: params{"vnodes": 100, "point_hash": hash, "label": label},
		nodes: 100, names: names, measure: "shares", draws: 60,
	}
}

// numbered are node-1 to node-n.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, "node-"+strconv.Itoa(i+1))
	}
	return names
}

const anyHash = "folklore: any hash will do, it only has to spread"

var aboutHashes = section{
	title: "Hashes and labels",
	intro: `The theory of rings speaks of random points. Whether they are is the hash's doing, and that of the labels it is
given.`,
	claims: []Claim{
		{ID: "hash/xxh64", Source: dirichlet, Says: "xxh64 gives the ring its theory.",
			Published: spreadOf(100, 100), Measure: hashed("xxh64", "node-{i}", "{name}#{index}").rms("share-cv")},
		{ID: "hash/md5", Source: dirichlet, Says: "md5 gives the ring its theory, too.",
			Published: spreadOf(100, 100), Measure: hashed("md5", "node-{i}", "{name}#{index}").rms("share-cv")},
		{ID: "hash/crc32", Source: anyHash, Says: "crc32 gives the ring its theory.",
			Published: spreadOf(100, 100), Expected: Refuted, Finds: "It is linear: labels that differ in few bits give points that stand in a pattern. Here the spread is twice that of random points.",
			Measure: hashed("crc32", "node-{i}", "{name}#{index}").rms("share-cv")},
		{ID: "hash/fnv", Source: anyHash, Says: "fnv1a-64 gives the ring its theory.",
			Published: spreadOf(100, 100), Expected: Refuted, Finds: "Its last characters hardly reach the upper bits: the points of a node stand in heaps.",
			Measure: hashed("fnv1a-64", "node-{i}", "{name}#{index}").rms("share-cv")},
		{ID: "hash/fnv/prefix", Source: "folklore: put the index first", Says: "With the index before the name fnv1a-64 gives the ring its theory.",
			Published: spreadOf(100, 100), Expected: Refuted, Finds: "Now it is the numbers of the nodes that come last, and whole nodes stand together.",
			Measure: hashed("fnv1a-64", "node-{i}", "{index}#{name}").rms("share-cv")},
		{ID: "hash/djb2", Source: "github.com/elastic/elasticsearch, issue 7954", Says: "djb2 of the numbers 0 to 99,999, modulo 33, leaves 17 shards of 33 empty.",
			Published: exactly(17, "nodes"), Measure: empty("modulo", 33, "djb2", "seq::0:100000")},
		{ID: "hash/djb2/xxh3", Source: "the same keys under another hash", Says: "xxh3 of the same numbers leaves no shard empty.",
			Published: exactly(0, "nodes"), Measure: empty("modulo", 33, "xxh3", "seq::0:100000")},
		{ID: "labels/no-separator", Source: "github.com/apache/pulsar, issue 22050", Says: "Labels of name and index alone collide: node-1 with 11 is node-11 with 1. Of 2,000 points of 20 nodes, 90.",
			Published: exactly(90, "points"), Measure: shared("ring", numbered(20), params{"vnodes": 100, "label": "{name}{index}"})},
		{ID: "labels/separator", Source: "the same with a separator", Says: "With a separator between name and index none of them collide.",
			Published: exactly(0, "points"), Measure: shared("ring", numbered(20), params{"vnodes": 100, "label": "{name}#{index}"})},
	},
}
