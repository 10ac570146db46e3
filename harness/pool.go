package harness

import (
	"encoding/binary"
	"encoding/hex"
	"runtime"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/workloads"
)

// PoolSize is the number of lookups after which the timed ones repeat, unless a
// spec says otherwise: so many keys, or so many draws from a popularity. A small
// cycled set is learned by the branch predictor, which then reports up to eight
// times too little.
const PoolSize = 1 << 20

// pool is the keys that lookups are timed over, in their order. They are random:
// what a lookup costs depends on the hash, and any good hash of any keys is that of
// random ones. Under the uniform popularity each key is looked up once; under
// another one the pool holds draws from it, so that hot keys come often, as they do
// in traffic.
type pool struct {
	set        workloads.KeySet
	popularity string
	law        *workloads.Popularity // that keys are drawn from; nil for each key once
	size       int                   // lookups after which the pool repeats
	seed       uint64

	mu     sync.Mutex
	ranks  []int32 // of the keys in the order of the draws, once drawn
	keys   []string
	hashes map[string][]uint64 // by the function's name
}

// newPool returns the pool of so many random keys, each once.
func newPool(size int, seed uint64) *pool {
	return &pool{set: workloads.Random(size, seed), popularity: "uniform", size: size, seed: seed, hashes: map[string][]uint64{}}
}

// drawnPool returns the pool of so many draws from the popularity over as many
// random keys as it has ranks.
func drawnPool(size int, law *workloads.Popularity, popularity string, seed uint64) *pool {
	p := newPool(law.Len(), seed)
	p.popularity, p.law, p.size = popularity, law, size
	return p
}

// uniform says whether each key of the pool comes once.
func (p *pool) uniform() bool { return p.law == nil }

// len returns the number of lookups after which the pool repeats.
func (p *pool) len() int { return p.size }

// workload returns the name that a record carries.
func (p *pool) workload() string { return p.set.Name() + "+" + p.popularity }

// draw draws the keys if they are to be drawn. The caller holds the lock.
func (p *pool) draw() {
	if p.law == nil || p.ranks != nil {
		return
	}
	p.ranks = make([]int32, p.size)
	r := workloads.Rand(p.seed, p.workload(), "pool")
	for i := range p.ranks {
		p.ranks[i] = int32(p.law.Sample(r))
	}
}

// key returns the i-th key.
func (p *pool) key(i int) string {
	if p.law != nil {
		i = int(p.ranks[i])
	}
	return p.set.Key(i)
}

// hashed returns the hashes of the pool's keys, in the form that [keyhash.Hash.For]
// picks for the algorithm that is to look them up.
func (p *pool) hashed(h keyhash.Function) []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hashes[h.Name] != nil {
		return p.hashes[h.Name]
	}
	if p.law == nil {
		p.hashes[h.Name] = workloads.Hashes(p.set, h.Sum)
		return p.hashes[h.Name]
	}
	p.draw()
	hs := make([]uint64, p.size)
	inParallel(len(hs), func(from, to int) {
		for i := from; i < to; i++ {
			hs[i] = h.Sum(p.key(i))
		}
	})
	p.hashes[h.Name] = hs
	return hs
}

// strings returns the pool's keys, each a string of its own: a key comes with the
// request, however often it came before.
func (p *pool) strings() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys == nil {
		p.draw()
		p.keys = make([]string, p.size)
		for i := range p.keys {
			p.keys[i] = p.key(i)
		}
	}
	return p.keys
}

// answers is what a mapper says of a whole pool: the digest that a record
// carries, and running sums against which each timed block is checked.
type answers struct {
	digest string
	sums   []uint64 // sums[i]: sum of the first i chunks' buckets, as the loops add them
}

// answersOf asks the mapper for the bucket of each hash, on all cores.
func answersOf(m algorithms.Mapper, hs []uint64) (answers, []algorithms.Bucket) {
	buckets := make([]algorithms.Bucket, len(hs))
	inParallel(len(hs), func(from, to int) {
		for i := from; i < to; i++ {
			buckets[i] = m.Lookup(hs[i])
		}
	})
	return summarise(buckets), buckets
}

func summarise(buckets []algorithms.Bucket) answers {
	a := answers{digest: digestOf(buckets), sums: make([]uint64, 1, len(buckets)/chunk+1)}
	sum := uint64(0)
	for i, b := range buckets {
		sum += uint64(b)
		if (i+1)%chunk == 0 {
			a.sums = append(a.sums, sum)
		}
	}
	return a
}

// expect returns the sum over ops answers from the offset on, going round the
// pool as the timed loop does. Both are multiples of chunk.
func (a answers) expect(offset, ops int) uint64 {
	chunks := len(a.sums) - 1
	all := a.sums[chunks]
	from, n := offset/chunk, ops/chunk
	sum := uint64(n/chunks) * all
	n %= chunks
	if from+n <= chunks {
		return sum + a.sums[from+n] - a.sums[from]
	}
	return sum + all - a.sums[from] + a.sums[from+n-chunks]
}

// digestOf is the digest of a list of owners that a record carries: xxh64 over
// their 32-bit little-endian numbers, in hexadecimal.
func digestOf[T ~int32](owners []T) string {
	d := xxhash.New()
	var buf [4096]byte
	n := 0
	for _, o := range owners {
		binary.LittleEndian.PutUint32(buf[n:], uint32(o))
		if n += 4; n == len(buf) {
			d.Write(buf[:])
			n = 0
		}
	}
	d.Write(buf[:n])
	return hex.EncodeToString(d.Sum(nil))
}

// inParallel splits 0..n over the cores and waits.
func inParallel(n int, f func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n/chunk))
	var wg sync.WaitGroup
	for w := range workers {
		from, to := n*w/workers, n*(w+1)/workers
		wg.Go(func() { f(from, to) })
	}
	wg.Wait()
}
