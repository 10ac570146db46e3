package haproxy

import "github.com/ringbench/ringbench/algorithms"

// A Bounded is a Map with a hash_balance_factor f. Of the m requests there are,
// the one to be placed included, HAProxy makes ceil(m*f/100) slots, and deals
// them to the servers in the order of the list by weight: floor(slots/W) for each
// of the W = 16 times the sum of the weights, and the remainder so that as many
// have gone to the first servers as their weights claim, rounded down. A server
// has one slot at least. A request goes to the first server that has one free.
//
// Lookup and LookupKey, which are those of the Map and ignore load, may run at any
// time that the membership rests; all of Assign, AssignSteps, Release and Load
// need exclusive use. Assign costs a lookup, and for a full server the walk to
// the next.
type Bounded struct {
	*Map
	factor uint64

	load   []int64  // by bucket
	served uint64   // sum of the loads
	weight []uint64 // 16 times the node's, by bucket
	before []uint64 // weight of the buckets before
	total  uint64   // of all
	met    []uint32 // by bucket, the walk that met it last
	walk   uint32
}

var (
	_ algorithms.Mapper       = (*Bounded)(nil)
	_ algorithms.KeyMapper    = (*Bounded)(nil)
	_ algorithms.KeyHasher    = (*Bounded)(nil)
	_ algorithms.Adder        = (*Bounded)(nil)
	_ algorithms.Remover      = (*Bounded)(nil)
	_ algorithms.Reweighter   = (*Bounded)(nil)
	_ algorithms.Replicator   = (*Bounded)(nil)
	_ algorithms.Assigner     = (*Bounded)(nil)
	_ algorithms.StepAssigner = (*Bounded)(nil)
	_ algorithms.Loader       = (*Bounded)(nil)
	_ algorithms.Sizer        = (*Bounded)(nil)
	_ algorithms.Owned        = (*Bounded)(nil)
)

// fit makes the slots those of the members. Loads stay.
func (m *Bounded) fit() {
	m.weight, m.before, m.total = nil, nil, 0
	for b, n := range m.Nodes() {
		for len(m.weight) < int(b) {
			m.weight, m.before = append(m.weight, 0), append(m.before, m.total)
		}
		w := perUnit * uint64(n.Weight)
		m.weight, m.before = append(m.weight, w), append(m.before, m.total)
		m.total += w
	}
	if grow := len(m.weight) - len(m.load); grow > 0 {
		m.load = append(m.load, make([]int64, grow)...)
		m.met = append(m.met, make([]uint32, grow)...)
	}
}

// slots returns how many of so many requests the bucket may hold.
func (m *Bounded) slots(b algorithms.Bucket, requests uint64) int64 {
	all := (requests*m.factor + 99) / 100
	whole, rest := all/m.total, all%m.total
	n := m.weight[b] * whole
	n += (m.before[b]+m.weight[b])*rest/m.total - m.before[b]*rest/m.total
	return int64(max(n, 1))
}

// Assign places a request at the first server from the choice of h on that has a
// slot free. It does not allocate.
func (m *Bounded) Assign(h uint64) (algorithms.Bucket, bool) {
	b, steps := m.AssignSteps(h)
	return b, b != algorithms.None && steps == 0
}

// AssignSteps is Assign, with the number of different full servers it passed.
func (m *Bounded) AssignSteps(h uint64) (algorithms.Bucket, int) {
	i := m.Find(h)
	if i < 0 {
		return algorithms.None, 0
	}
	if m.walk++; m.walk == 0 {
		clear(m.met)
		m.walk = 1
	}
	steps := 0
	all := m.Points()
	for range all {
		b := all[i].Owner
		if m.met[b] != m.walk {
			m.met[b] = m.walk
			if m.load[b] < m.slots(b, m.served+1) {
				m.load[b]++
				m.served++
				return b, steps
			}
			steps++
		}
		if i++; i == len(all) {
			i = 0
		}
	}
	return algorithms.None, steps // never: more slots are dealt than there are requests
}

// Release ends a request that Assign placed on the bucket. The requests of a
// removed node went with it and must not be released; a bucket without requests
// is a programmer's error and panics.
func (m *Bounded) Release(b algorithms.Bucket) {
	if b < 0 || int(b) >= len(m.load) || m.load[b] == 0 {
		panic("haproxy: Release of a bucket that holds no request")
	}
	m.load[b]--
	m.served--
}

// Load returns the requests on the bucket and how many of those there are it may
// hold. A bucket bound to no node, and one of weight 0, has no slot.
func (m *Bounded) Load(b algorithms.Bucket) (load, capacity int) {
	if b < 0 || int(b) >= len(m.load) {
		return 0, 0
	}
	if int(b) >= len(m.weight) || m.weight[b] == 0 {
		return int(m.load[b]), 0
	}
	return int(m.load[b]), int(m.slots(b, max(m.served, 1)))
}

// Add adds a node, without load.
func (m *Bounded) Add(n algorithms.Node) (algorithms.Bucket, error) {
	b, err := m.Map.Add(n)
	if err == nil {
		m.fit()
	}
	return b, err
}

// Remove removes a node, and its requests with it: whoever wants them served
// assigns them again.
func (m *Bounded) Remove(b algorithms.Bucket) error {
	if err := m.Map.Remove(b); err != nil {
		return err
	}
	m.served -= uint64(m.load[b])
	m.load[b] = 0
	m.fit()
	return nil
}

// SetWeight changes the points and the slots of a node. Requests stay where they
// are.
func (m *Bounded) SetWeight(b algorithms.Bucket, w float64) error {
	err := m.Map.SetWeight(b, w)
	if err == nil {
		m.fit()
	}
	return err
}

// Footprint returns the bytes of the points and of the tables by bucket.
func (m *Bounded) Footprint() int64 {
	return m.Map.Footprint() + int64((8+4)*len(m.load)+(8+8)*len(m.weight))
}
