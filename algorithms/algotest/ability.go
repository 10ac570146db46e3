package algotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ringbench/ringbench/algorithms"
)

// checkReplicas: LookupN writes distinct members, the owner first, as many as
// asked for or as there are, and a longer list begins with the shorter one.
func checkReplicas(info algorithms.Info) error {
	return replicas(info, func(int) string { return "" })
}

// checkZones: as many zones as there are hold a replica before any holds a
// second, in zones of unequal size, one of them without a name; and a zone does
// not change who owns a key.
func checkZones(info algorithms.Info) error {
	return replicas(info, func(i int) string { return []string{"a", "a", "b", "", "b", "a", "c"}[i] })
}

// replicas puts a cluster that shrinks to one node through replicasOf.
func replicas(info algorithms.Info, zone func(i int) string) error {
	const n = 7
	return settings(info, func(weights ...float64) error {
		nodes := named(n, running, weights...)
		plain, err := build(info, nodes)
		if err != nil {
			return err
		}
		for i := range nodes {
			nodes[i].Zone = zone(i)
		}
		c, err := build(info, nodes)
		if err != nil {
			return err
		}
		r, ok := c.Mapper.(algorithms.Replicator)
		if !ok {
			return algorithms.Unsupported("it names one node a key")
		}
		for _, h := range draw(1000) {
			if a, b := c.Lookup(h), plain.Lookup(h); a != b {
				return fmt.Errorf("hash %#x goes to %d, without zones to %d", h, a, b)
			}
		}
		for len(c.nodes) > 1 {
			if err := replicasOf(c, r); err != nil {
				return err
			}
			bs := c.removable()
			if len(bs) == 0 {
				break
			}
			if err := c.remove(bs[len(bs)/2]); err != nil {
				return err
			}
		}
		return nil
	})
}

func replicasOf(c *cluster, r algorithms.Replicator) error {
	const untouched = algorithms.Bucket(-77)
	zones := map[string]bool{}
	for _, n := range c.nodes {
		zones[n.Zone] = true
	}
	for _, h := range draw(400) {
		var longest []algorithms.Bucket
		for k := len(c.nodes) + 2; k >= 0; k-- {
			dst := slices.Repeat([]algorithms.Bucket{untouched}, k+1)
			got := r.LookupN(h, dst[:k:k])
			if want := min(k, len(c.nodes)); got != want {
				return fmt.Errorf("LookupN for %d of %d nodes returns %d", k, len(c.nodes), got)
			}
			for i, b := range dst[:got] {
				if err := c.mayOwn(b, h); err != nil {
					return fmt.Errorf("replica %d: %w", i, err)
				}
				if slices.Contains(dst[:i], b) {
					return fmt.Errorf("hash %#x has the replicas %d, which are not distinct", h, dst[:got])
				}
			}
			if got > 0 && dst[0] != c.Lookup(h) {
				return fmt.Errorf("hash %#x has the first replica %d and the owner %d", h, dst[0], c.Lookup(h))
			}
			if longest == nil {
				longest = dst[:got]
			} else if !slices.Equal(dst[:got], longest[:got]) {
				return fmt.Errorf("hash %#x has the replicas %d, of which the first %d are %d", h, longest, got, dst[:got])
			}
			if dst[k] != untouched {
				return fmt.Errorf("LookupN writes beyond the %d it is given", k)
			}
		}
		met := map[string]bool{}
		for i, b := range longest {
			if zone := c.nodes[b].Zone; met[zone] && len(met) < len(zones) {
				return fmt.Errorf("hash %#x has the replicas %d, of which the first %d are in %d zones, and there are %d", h, longest, i+1, len(met), len(zones))
			}
			met[c.nodes[b].Zone] = true
		}
	}
	return nil
}

// checkReplicaMovement: when a node joins or leaves, the replicas of a key of which
// that node is none stay, in their order, where no zones are told apart.
func checkReplicaMovement(info algorithms.Info) error {
	const n = 10
	hs := draw(3000)
	return settings(info, func(weights ...float64) error {
		nodes := named(n, running, weights...)
		c, err := build(info, nodes)
		if err != nil {
			return err
		}
		if _, ok := c.Mapper.(algorithms.Replicator); !ok {
			return algorithms.Unsupported("it names one node a key")
		}
		before := threeOf(c, hs)
		joined, err := c.add(newNode(1))
		if err != nil {
			return err
		}
		if err := sameWithout(joined, hs, before, threeOf(c, hs)); err != nil {
			return fmt.Errorf("a node joined in bucket %d, and %w", joined, err)
		}
		for gone := range algorithms.Bucket(n) {
			c, err := build(info, nodes)
			if err != nil {
				return err
			}
			if !slices.Contains(c.removable(), gone) {
				continue
			}
			if err := c.remove(gone); err != nil {
				return err
			}
			if err := sameWithout(gone, hs, before, threeOf(c, hs)); err != nil {
				return fmt.Errorf("node %d left, and %w", gone, err)
			}
		}
		return nil
	})
}

// threeOf returns the first three replicas of each hash.
func threeOf(c *cluster, hs []uint64) [][3]algorithms.Bucket {
	all := make([][3]algorithms.Bucket, len(hs))
	for i, h := range hs {
		c.Mapper.(algorithms.Replicator).LookupN(h, all[i][:])
	}
	return all
}

// sameWithout reports a hash whose replicas differ although the node is among
// neither.
func sameWithout(node algorithms.Bucket, hs []uint64, before, after [][3]algorithms.Bucket) error {
	for i, h := range hs {
		if a, b := before[i], after[i]; a != b && !slices.Contains(a[:], node) && !slices.Contains(b[:], node) {
			return fmt.Errorf("the replicas of hash %#x went from %d to %d", h, a, b)
		}
	}
	return nil
}

// checkInherits: the keys of a node that leaves go to their second replica, where
// no zones are told apart.
func checkInherits(info algorithms.Info) error {
	const n = 10
	hs := draw(3000)
	return settings(info, func(weights ...float64) error {
		for gone := range algorithms.Bucket(n) {
			c, err := build(info, named(n, running, weights...))
			if err != nil {
				return err
			}
			r, ok := c.Mapper.(algorithms.Replicator)
			if !ok {
				return algorithms.Unsupported("it names one node a key")
			}
			if !slices.Contains(c.removable(), gone) {
				if gone == n-1 {
					return algorithms.Unsupported("it cannot remove a node")
				}
				continue
			}
			heirs := make([]algorithms.Bucket, len(hs))
			for i, h := range hs {
				var dst [2]algorithms.Bucket
				r.LookupN(h, dst[:])
				heirs[i] = dst[0]
				if dst[0] == gone {
					heirs[i] = dst[1]
				}
			}
			if err := c.remove(gone); err != nil {
				return err
			}
			if err := c.unchanged(hs, heirs); err != nil {
				return fmt.Errorf("node %d left, and in place of the heir %w", gone, err)
			}
		}
		return nil
	})
}

// checkAllocations: no lookup allocates.
func checkAllocations(info algorithms.Info) error {
	c, err := build(info, named(20, plain))
	if err != nil {
		return err
	}
	hs := draw(300)
	dst := make([]algorithms.Bucket, len(hs))
	none := func(method string, f func()) error {
		if n := allocations(f); n > 0 {
			return fmt.Errorf("%s allocates %d times in %d calls", method, n, len(hs))
		}
		return nil
	}
	m := c.Mapper
	errs := []error{none("Lookup", func() {
		for _, h := range hs {
			m.Lookup(h)
		}
	})}
	if r, ok := m.(algorithms.Replicator); ok {
		errs = append(errs, none("LookupN", func() {
			for i, h := range hs {
				r.LookupN(h, dst[:i%8])
			}
		}))
	}
	if k, ok := m.(algorithms.KeyMapper); ok {
		keys := []string{"", "user:42", strings.Repeat("long", 100)}
		errs = append(errs, none("LookupKey", func() {
			for i := range hs {
				k.LookupKey(keys[i%len(keys)])
			}
		}))
	}
	if k, ok := m.(algorithms.KeyHasher); ok {
		errs = append(errs, none("HashKey", func() {
			for range hs {
				k.HashKey("user:42")
			}
		}))
	}
	if b, ok := m.(algorithms.BatchMapper); ok {
		errs = append(errs, none("LookupBatch", func() { b.LookupBatch(hs, dst) }))
	}
	if p, ok := m.(algorithms.Prober); ok {
		errs = append(errs, none("LookupProbes", func() {
			for _, h := range hs {
				p.LookupProbes(h)
			}
		}))
	}
	return errors.Join(errs...)
}

// allocations returns how often f allocates. What other goroutines allocate
// meanwhile is counted too, so it takes the least of several tries.
func allocations(f func()) uint64 {
	least := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	f() // what is made at the first call only does not count
	for range 10 {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
		if least == 0 {
			break
		}
	}
	return least
}

// checkReaders: lookups at the same time give the answers of lookups one by one.
// Under the race detector it finds readers that write.
func checkReaders(info algorithms.Info) error {
	c, err := build(info, named(20, plain))
	if err != nil {
		return err
	}
	hs := draw(1500)
	want := make([]string, len(hs))
	for i, h := range hs {
		want[i] = answers(c.Mapper, h)
	}
	wrong := make([]error, 4)
	var readers sync.WaitGroup
	for g := range wrong {
		readers.Go(func() {
			for i := range hs {
				i = (i + g*len(hs)/len(wrong)) % len(hs)
				if got := answers(c.Mapper, hs[i]); got != want[i] {
					wrong[g] = fmt.Errorf("hash %#x gives %s among other readers, %s alone", hs[i], got, want[i])
					return
				}
			}
		})
	}
	readers.Wait()
	return errors.Join(wrong...)
}

// answers collects what every reading method says about h.
func answers(m algorithms.Mapper, h uint64) string {
	var all [11]algorithms.Bucket
	all[0] = m.Lookup(h)
	if r, ok := m.(algorithms.Replicator); ok {
		r.LookupN(h, all[1:4])
	}
	if k, ok := m.(algorithms.KeyMapper); ok {
		all[4] = k.LookupKey(fmt.Sprintf("key-%d", h))
	}
	if b, ok := m.(algorithms.BatchMapper); ok {
		b.LookupBatch([]uint64{h, h + 1, h + 2, h + 3, h + 4}, all[5:10])
	}
	if p, ok := m.(algorithms.Prober); ok {
		all[10], _ = p.LookupProbes(h)
	}
	return fmt.Sprint(all)
}

// keys returns strings of all kinds.
func keys() []string {
	keys := []string{"", "\x00", "\n\t\x1b", "\xff\xfe", "{name}#0", strings.Repeat("k", 10_000)}
	for i := range 2000 {
		keys = append(keys, fmt.Sprintf("user:%d", i))
	}
	return keys
}

// checkKeyHash: the hash of a key that a KeyMapper tells is where Lookup and
// LookupN find what belongs to the key. One that names replicas must tell it.
func checkKeyHash(info algorithms.Info) error {
	c, err := build(info, named(10, plain))
	if err != nil {
		return err
	}
	k, ok := c.Mapper.(algorithms.KeyMapper)
	if !ok {
		return algorithms.Unsupported("it does not hash keys itself")
	}
	hasher, ok := c.Mapper.(algorithms.KeyHasher)
	if !ok {
		if _, replicates := c.Mapper.(algorithms.Replicator); replicates {
			return errors.New("it names the replicas of a hash, hashes keys itself, and has no HashKey to tell the hash of a key")
		}
		return algorithms.Unsupported("it does not tell the hash of a key")
	}
	for _, key := range keys() {
		h := hasher.HashKey(key)
		if b, want := c.Lookup(h), k.LookupKey(key); b != want {
			return fmt.Errorf("key %.20q goes to bucket %d, its hash %#x to %d", key, want, h, b)
		}
	}
	return nil
}

// checkKeys: LookupKey names a member for any string of bytes, and the same one
// each time.
func checkKeys(info algorithms.Info) error {
	c, err := build(info, named(10, plain))
	if err != nil {
		return err
	}
	again, err := build(info, named(10, plain))
	if err != nil {
		return err
	}
	k, ok := c.Mapper.(algorithms.KeyMapper)
	if !ok {
		return algorithms.Unsupported("it does not hash keys itself")
	}
	for _, key := range keys() {
		b := k.LookupKey(key)
		if _, bound := c.nodes[b]; !bound {
			return fmt.Errorf("key %.20q goes to bucket %d, which no node is bound to", key, b)
		}
		if other := again.Mapper.(algorithms.KeyMapper).LookupKey(key); other != b {
			return fmt.Errorf("key %.20q goes to bucket %d, in a second build to %d", key, b, other)
		}
	}
	return nil
}

// checkBatch: LookupBatch says what Lookup says, for batches of any length, and
// leaves the rest of dst alone.
func checkBatch(info algorithms.Info) error {
	const untouched = algorithms.Bucket(-77)
	for _, n := range []int{1, 10, 61} {
		c, err := build(info, named(n, plain))
		if err != nil {
			return err
		}
		m, ok := c.Mapper.(algorithms.BatchMapper)
		if !ok {
			return algorithms.Unsupported("it has no lookup of a batch")
		}
		hs := draw(1000)
		for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1000} {
			dst := slices.Repeat([]algorithms.Bucket{untouched}, k+1)
			m.LookupBatch(hs[:k], dst)
			for i, h := range hs[:k] {
				if want := c.Lookup(h); dst[i] != want {
					return fmt.Errorf("hash %#x, number %d of a batch of %d, goes to %d, alone to %d", h, i, k, dst[i], want)
				}
			}
			if dst[k] != untouched {
				return fmt.Errorf("a batch of %d writes more", k)
			}
		}
	}
	return nil
}

// checkClone: a clone answers alike, and what changes one of the two leaves the
// other as it was.
func checkClone(info algorithms.Info) error {
	for _, n := range []int{2, 30} {
		c, err := build(info, named(n, plain))
		if err != nil {
			return err
		}
		m, ok := c.Mapper.(algorithms.Cloner)
		if !ok {
			return algorithms.Unsupported("it has no copies")
		}
		hs := draw(500)
		before := allAnswers(m, hs)
		clone := m.Clone()
		if a, b := reflect.TypeOf(m), reflect.TypeOf(clone); a != b {
			return fmt.Errorf("the clone of a %v is a %v, which can do other things", a, b)
		}
		if err := sameAnswers(hs, before, allAnswers(clone, hs)); err != nil {
			return fmt.Errorf("the clone: %w", err)
		}
		for _, change := range []struct {
			of    string
			m     algorithms.Mapper
			other algorithms.Mapper
			added string
		}{{"the clone", clone, m, "added-to-the-clone"}, {"the original", m, clone, "added-to-the-original"}} {
			before := allAnswers(change.other, hs)
			if a, ok := change.m.(algorithms.Adder); ok {
				if _, err := a.Add(algorithms.Node{Name: change.added, Weight: 1}); err != nil {
					return err
				}
			}
			if r, ok := change.m.(algorithms.Remover); ok {
				if err := r.Remove(0); err != nil {
					return err
				}
			}
			if err := sameAnswers(hs, before, allAnswers(change.other, hs)); err != nil {
				return fmt.Errorf("a change of %s shows in the other: %w", change.of, err)
			}
		}
	}
	return nil
}

func allAnswers(m algorithms.Mapper, hs []uint64) []string {
	all := make([]string, len(hs))
	for i, h := range hs {
		all[i] = answers(m, h)
	}
	return all
}

func sameAnswers(hs []uint64, a, b []string) error {
	for i, h := range hs {
		if a[i] != b[i] {
			return fmt.Errorf("hash %#x is answered %s, was %s", h, b[i], a[i])
		}
	}
	return nil
}

// checkProbes: LookupProbes says what Lookup says.
func checkProbes(info algorithms.Info) error {
	return settings(info, func(weights ...float64) error {
		c, err := build(info, named(33, plain, weights...))
		if err != nil {
			return err
		}
		p, ok := c.Mapper.(algorithms.Prober)
		if !ok {
			return algorithms.Unsupported("it does not count its steps")
		}
		for _, h := range draw(3000) {
			b, steps := p.LookupProbes(h)
			if want := c.Lookup(h); b != want {
				return fmt.Errorf("hash %#x goes to %d, and by LookupProbes to %d", h, want, b)
			}
			if steps < 0 {
				return fmt.Errorf("hash %#x takes %d steps", h, steps)
			}
		}
		return nil
	})
}

// checkCells: the cells cover the space once, in ascending order, and name the
// owner that Lookup names at both ends of every cell and within.
func checkCells(info algorithms.Info) error {
	c, err := build(info, named(3, plain))
	if err != nil {
		return err
	}
	if _, ok := c.Mapper.(algorithms.Owned); !ok {
		return algorithms.Unsupported("it does not list its cells")
	}
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 2, 10} {
			c, err := build(info, named(n, running, weights...))
			if err != nil {
				return err
			}
			if err := cellsOf(c); err != nil {
				return fmt.Errorf("%d nodes: %w", n, err)
			}
			if _, err := shake(c, 10, running, weights); err != nil {
				return err
			}
			if err := cellsOf(c); err != nil {
				return fmt.Errorf("after changes: %w", err)
			}
		}
		return nil
	})
}

func cellsOf(c *cluster) error {
	r := rand.New(rand.NewPCG(5, 5))
	space, cells := c.Mapper.(algorithms.Owned).Cells()
	first, count := uint64(0), 0 // the first position of the cell to come
	end := uint64(0)             // 1 after the last position so far, 0 for 2^64
	for last, b := range cells {
		count++
		if count > 1 && (first == 0 || last < first) {
			return fmt.Errorf("cell %d ends at %#x, the one before at %#x", count, last, first-1)
		}
		for _, h := range []uint64{first, last, first + r.Uint64N(max(1, last-first))} {
			if got := c.Lookup(h); got != b {
				return fmt.Errorf("hash %#x goes to %d, and lies in a cell of %d", h, got, b)
			}
		}
		if space > 0 {
			h := last + space*r.Uint64N(math.MaxUint64/space) // another hash at the same position
			if got := c.Lookup(h); got != b {
				return fmt.Errorf("hash %#x goes to %d, and its position modulo %d to %d", h, got, space, b)
			}
		}
		first = last + 1
		end = last + 1
	}
	if count == 0 || end != space {
		return fmt.Errorf("%d cells end before %#x, the space has %#x positions (0: 2^64)", count, end, space)
	}
	return nil
}

// checkBound: an Assigner never gives a node more than its bound, tells truly
// whether it stayed with the first choice, and finds room for every request.
func checkBound(info algorithms.Info) error {
	c, err := build(info, named(3, plain))
	if err != nil {
		return err
	}
	if _, ok := c.Mapper.(algorithms.Assigner); !ok {
		return algorithms.Unsupported("it does not bound the load")
	}
	return settings(info, func(weights ...float64) error {
		for _, n := range []int{1, 2, 3, 10, 50} {
			if err := boundOf(info, named(n, plain, weights...)); err != nil {
				return fmt.Errorf("%d nodes: %w", n, err)
			}
		}
		return nil
	})
}

func boundOf(info algorithms.Info, nodes []algorithms.Node) error {
	c, err := build(info, nodes)
	if err != nil {
		return err
	}
	a := c.Mapper.(algorithms.Assigner)
	var params struct{ Epsilon *float64 }
	if err := json.Unmarshal(info.Defaults, &params); err != nil {
		return err
	}
	loader, tells := c.Mapper.(algorithms.Loader)
	if params.Epsilon == nil && !tells {
		return algorithms.Unsupported("it has no parameter epsilon and does not tell its capacities")
	}
	total := 0.0
	for _, node := range nodes {
		total += node.Weight
	}
	r := rand.New(rand.NewPCG(8, uint64(len(nodes))))
	hot := draw(20)
	loads := make([]int, len(nodes))
	var placed []algorithms.Bucket
	for step := range 6000 {
		if r.IntN(5) < 2 && len(placed) > 0 && step%2000 < 1500 { // at times requests only come
			i := r.IntN(len(placed))
			a.Release(placed[i])
			loads[placed[i]]--
			placed[i] = placed[len(placed)-1]
			placed = placed[:len(placed)-1]
			continue
		}
		h := r.Uint64()
		if r.IntN(2) == 0 {
			h = hot[r.IntN(len(hot))]
		}
		choice := c.Lookup(h)
		b, first := a.Assign(h)
		if err := c.mayOwn(b, h); err != nil {
			return fmt.Errorf("request %d: %w", step, err)
		}
		if again := c.Lookup(h); again != choice {
			return fmt.Errorf("the first choice of hash %#x went from %d to %d with the load", h, choice, again)
		}
		if first != (b == choice) {
			return fmt.Errorf("hash %#x goes to %d, its first choice is %d, and it says %v", h, b, choice, first)
		}
		loads[b]++
		placed = append(placed, b)
		if params.Epsilon != nil {
			share := (1 + *params.Epsilon) * float64(len(placed)) * nodes[b].Weight / total
			if capacity := int(math.Ceil(share - 1e-9)); loads[b] > capacity {
				return fmt.Errorf("request %d brings node %d to %d, the bound is %d", step, b, loads[b], capacity)
			}
		}
		if tells {
			load, capacity := loader.Load(b)
			if load != loads[b] || load > capacity {
				return fmt.Errorf("request %d: node %d holds %d, and tells a load of %d with a capacity of %d", step, b, loads[b], load, capacity)
			}
		}
	}
	return nil
}
