package skeletonrendezvous

import (
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// A path is the way from the root to a leaf: the virtual nodes, and which child of
// each comes next. Every one of them parts at a later bit than the one before, so
// there are at most 64.
type path struct {
	at     [64]child
	side   [64]uint8
	length int
	end    child // the leaf, or nobody
}

// follow walks down by the bits of the hash to the leaf that shares most of them.
func (p *path) follow(m *Map, hash uint64) {
	p.length, p.end = 0, m.root
	for p.end >= 0 {
		side := m.shapes[p.end].side(hash)
		p.at[p.length], p.side[p.length] = p.end, side
		p.length++
		p.end = m.draws[p.end].children[side]
	}
}

// bit returns the bit at which the hashes part, as the number that has only it.
func (s *shape) bit() uint64 { return s.prefix & -s.prefix }

// side returns the child to which the hash belongs.
func (s *shape) side(hash uint64) uint8 {
	if hash&s.bit() == 0 {
		return 0
	}
	return 1
}

// light scales a weight so that no sum of the weights of 2^31 nodes is infinite. A
// power of 2 changes no weight's proportion to another, but for those near the end
// of the range.
func light(weight float64) float64 { return weight * (1.0 / (1 << 32)) }

// insert adds the leaf of a bucket.
func (m *Map) insert(b algorithms.Bucket, n algorithms.Node) {
	if grow := int(b) + 1 - len(m.hashes); grow > 0 {
		m.hashes = append(m.hashes, make([]uint64, grow)...)
	}
	var p path
	hash := xxh3.HashString(n.Name)
	p.follow(m, hash)
	for seed := uint64(1); p.end != nobody && m.hashes[^p.end] == hash; seed++ { // two names of one hash
		hash = xxh3.HashStringSeed(n.Name, seed)
		p.follow(m, hash)
	}
	m.hashes[b] = hash
	if p.end == nobody {
		m.root = ^child(b)
		m.weigh(&p, light(n.Weight))
		return
	}

	// The new virtual node comes after all that part at an earlier bit.
	bit := uint64(1) << (bits.Len64(hash^m.hashes[^p.end]) - 1)
	p.length = 0
	below := m.root
	for below >= 0 && m.shapes[below].bit() > bit {
		side := m.shapes[below].side(hash)
		p.at[p.length], p.side[p.length] = below, side
		p.length++
		below = m.draws[below].children[side]
	}
	parting := shape{prefix: hash&^(bit-1) | bit}
	side := parting.side(hash)
	parting.weights[1-side] = m.weight(below)
	v := m.take()
	m.shapes[v] = parting
	m.draws[v].seed = mix(parting.prefix)
	m.draws[v].children[side] = ^child(b)
	m.draws[v].children[1-side] = below
	m.hang(&p, v)
	p.at[p.length], p.side[p.length] = v, side
	p.length++
	m.weigh(&p, light(n.Weight))
}

// delete takes away the leaf of a bucket, which is no longer a member, and with it
// the virtual node above, whose other child moves up.
func (m *Map) delete(b algorithms.Bucket) {
	var p path
	p.follow(m, m.hashes[b])
	if p.length == 0 {
		m.root, m.total = nobody, 0
		return
	}
	p.length--
	v, side := p.at[p.length], p.side[p.length]
	m.free = append(m.free, v)
	other := m.draws[v].children[1-side]
	m.hang(&p, other)
	m.weigh(&p, m.weight(other))
}

// take returns the index of a virtual node to be used.
func (m *Map) take() child {
	if last := len(m.free) - 1; last >= 0 {
		v := m.free[last]
		m.free = m.free[:last]
		return v
	}
	m.draws = append(m.draws, drawing{})
	m.shapes = append(m.shapes, shape{})
	return child(len(m.draws) - 1)
}

// hang puts the child at the end of the path.
func (m *Map) hang(p *path, c child) {
	if p.length == 0 {
		m.root = c
		return
	}
	m.draws[p.at[p.length-1]].children[p.side[p.length-1]] = c
}

// weight returns the weight of all nodes below the child.
func (m *Map) weight(c child) float64 {
	if c < 0 {
		n, _ := m.members.Node(algorithms.Bucket(^c))
		return light(n.Weight)
	}
	w := m.shapes[c].weights
	return w[0] + w[1]
}

// weigh sets the weight at the end of the path, and all sums above. A sum is always
// that of the two children, so that it does not depend on what was there before.
func (m *Map) weigh(p *path, weight float64) {
	for i := p.length - 1; i >= 0; i-- {
		v := p.at[i]
		w := &m.shapes[v].weights
		w[p.side[i]] = weight
		weight = w[0] + w[1]
		m.draws[v].first = 0
		if weight > 0 {
			m.draws[v].first = uint64(w[0] / weight * (1 << 63))
		}
	}
	m.total = weight
}

// mix returns the seed for a prefix: the finalizer of splitmix64 of S. Vigna (public
// domain).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
