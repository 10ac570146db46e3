// Package workloads says what the algorithms are measured with. It keeps three
// things apart:
//
//   - the key set: distinct keys, each named by its rank ([KeySet]);
//   - the popularity: how often each rank is asked for ([Popularity]);
//   - the schedule: what happens to the membership ([Schedule]).
//
// Hence two words that are never mixed. Balance counts the distinct keys of a
// node and needs a key set alone. Load counts the requests of a node and needs a
// popularity too; where an algorithm keeps no state the load is not sampled but
// computed, as the sum of [Popularity.P] over the keys that a node owns. Streams
// of requests ([Arrivals], [Requests]) are for algorithms that do keep state.
//
// A workload is named by its key set and its popularity, joined by a plus sign:
// "seq:1000000+zipf:0.99". Schedules speak of nodes by their index in a list and
// know nothing of names, weights or algorithms.
//
// # Determinism
//
// The same arguments give the same keys, probabilities and streams on every
// machine, in every run and at every GOMAXPROCS. All randomness comes from a
// generator that the caller hands in, made by [Rand] from a seed and the names of
// what it is for; nothing depends on the order of running. Of a generator only
// Uint64 is used, whose sequence for a given PCG state is fixed. Floating-point
// results that decide a stream are made of additions, multiplications, divisions
// and nothing else, and each product is rounded before it is added to, so that no
// machine fuses the two; logarithm and exponential are this package's own for
// that reason. The digests in testdata hold all this fast.
//
// # Concurrency
//
// Key sets, popularities and schedules do not change once made and may be used by
// any number of goroutines. A generator belongs to one goroutine.
package workloads

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Rand returns the generator for the use that the parts name, under the seed.
// Different parts give independent streams: Rand(1, "cell", "rep 0") has nothing
// in common with Rand(1, "cell", "rep 1"), nor with Rand(1, "cellrep 0").
func Rand(seed uint64, parts ...string) *rand.Rand {
	digest := sha256.New()
	number := func(x uint64) {
		digest.Write(binary.LittleEndian.AppendUint64(nil, x))
	}
	number(seed)
	for _, part := range parts {
		number(uint64(len(part)))
		digest.Write([]byte(part))
	}
	state := digest.Sum(nil)
	return rand.New(rand.NewPCG(
		binary.LittleEndian.Uint64(state),
		binary.LittleEndian.Uint64(state[8:]),
	))
}

// below draws a number from 0 to n-1, each equally likely to within n/2^64.
func below(r *rand.Rand, n int) int {
	high, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(high)
}
