// Package envoymaglev places keys as the load balancing policy maglev of Envoy
// does (source/extensions/load_balancing_policies/maglev, as of 2026).
//
//   - Table: table_size slots, a prime, filled by turns in the order of the hosts'
//     names, see package maglev. The offset of a host is the xxh64 of its name
//     modulo the size, the skip the xxh64 with seed 1 modulo the size less one,
//     plus one.
//   - Key: its xxh64, as the policies for headers and cookies hash it, modulo the
//     size.
//   - Weights: in round t a host of weight w has a turn when t*w has reached the
//     sum of the largest weight over its turns so far. Envoy takes whole numbers;
//     here any will do. Every host has a slot unless there are more hosts than
//     slots; those whose names sort last then have none.
//   - A change: the hosts that stay take some slots in another order, so that a
//     little more moves than must.
//
// The replicas of a key are Envoy's choices for its retries, without those that
// repeat: attempt a > 0 looks up the hash with the bits turned that are set in
// 2^64 - a.
//
// Departures: localities, priorities, health and hash_balance_factor are left
// out.
package envoymaglev

import (
	"github.com/cespare/xxhash/v2"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/algorithms/table"
)

// Info describes the Maglev of Envoy. Its shares are as even as can be; it declines
// balance for the second choices, since the attempts of a key are near each other.
var Info = algorithms.Define("envoy-maglev", "Envoy, load balancing policy maglev", Default, New).
	Costing("O(1), one slot", "2 bytes a slot").
	Declining(algorithms.Balance, algorithms.MinimalMovement, algorithms.Inherits).
	TunedTogether("table_size")

// MostSlots is the largest table_size that Envoy takes.
const MostSlots = 5_000_011

// Config has the setting of Envoy under its name.
type Config struct {
	TableSize int `json:"table_size"` // slots, a prime up to 5000011
}

// Default is that of Envoy.
var Default = Config{TableSize: 65537}

// Forecast returns the bytes that New needs.
func (c Config) Forecast(nodes []algorithms.Node) int64 {
	return table.Forecast(int64(c.TableSize), len(nodes))
}

// Step returns the least prime that is not below size, or the largest table_size
// there is.
func (c Config) Step(size int) int { return maglev.NextPrime(min(size, MostSlots)) }

// A Map is the Maglev of Envoy.
type Map struct{ *maglev.Map }

var (
	_ algorithms.KeyMapper  = (*Map)(nil)
	_ algorithms.Adder      = (*Map)(nil)
	_ algorithms.Remover    = (*Map)(nil)
	_ algorithms.Reweighter = (*Map)(nil)
	_ algorithms.Replicator = (*Map)(nil)
	_ algorithms.Sizer      = (*Map)(nil)
	_ algorithms.Owned      = (*Map)(nil)
	_ algorithms.Cloner     = (*Map)(nil)
)

// New returns a Map over the nodes.
func New(nodes []algorithms.Node, c Config) (*Map, error) {
	if err := maglev.CheckSize("table_size", c.TableSize, MostSlots); err != nil {
		return nil, err
	}
	m, err := maglev.NewPreferring(nodes, c.TableSize, preference)
	if err != nil {
		return nil, err
	}
	return &Map{m}, nil
}

func preference(name string) (offset, skip uint64) {
	seeded := xxhash.NewWithSeed(1)
	seeded.WriteString(name) // it has no error
	return xxhash.Sum64String(name), seeded.Sum64()
}

// attempt returns the hash that Envoy looks up in an attempt, from 0.
func attempt(h uint64, a int) uint64 { return h ^ -uint64(a) }

// attempts bounds how many of Envoy's attempts LookupN goes through for each
// node; nodes that it has not met by then follow in the order of their buckets.
const attempts = 32

// LookupN chooses the owners of h and of the attempts after it, those of other
// zones first.
func (m *Map) LookupN(h uint64, dst []algorithms.Bucket) int {
	members := m.Members()
	c := members.Choose(dst)
	for a := 0; c.More() && a < attempts*members.Len(); a++ {
		c.Offer(m.Lookup(attempt(h, a)))
	}
	if c.More() {
		for b, n := range members.All() {
			if n.Weight > 0 && !c.Offer(b) {
				break
			}
		}
	}
	return c.Len()
}

// Clone returns a Map of its own, in O(n).
func (m *Map) Clone() algorithms.Mapper { return &Map{m.Map.Clone().(*maglev.Map)} }

// HashKey returns the xxh64 of the key.
func (m *Map) HashKey(key string) uint64 { return xxhash.Sum64String(key) }

// LookupKey returns the owner of the key.
func (m *Map) LookupKey(key string) algorithms.Bucket { return m.Lookup(m.HashKey(key)) }
