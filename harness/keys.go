package harness

import (
	"fmt"
	"sync"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/workloads"
)

// keyData is the keys that a run speaks of, with what is derived from them once
// and used by many trials.
type keyData struct {
	set    workloads.KeySet
	counts []float64 // requests a key, from a file of keys; nil otherwise
	bytes  []float64 // bytes asked for a key, from a file that tells sizes; nil otherwise

	mu           sync.Mutex
	hashes       map[string][]uint64 // by the function's name
	popularities map[string]*workloads.Popularity
}

func readKeys(s *Spec) (*keyData, error) {
	k := &keyData{hashes: map[string][]uint64{}, popularities: map[string]*workloads.Popularity{}}
	if s.KeysFile == "" {
		set, err := workloads.ParseKeys(s.Keys)
		if err != nil {
			return nil, s.errorAt("", -1, "keys", "%v", err)
		}
		k.set = set
		return k, nil
	}
	f, err := workloads.ReadKeys(s.KeysFile, workloads.FileOptions{
		KeyColumn: s.KeyColumn, CountColumn: s.CountColumn, SizeColumn: s.SizeColumn, Format: s.KeysFormat,
	})
	if err != nil {
		return nil, err
	}
	k.set, k.counts, k.bytes = f, f.Counts(), f.Bytes()
	return k, nil
}

// hashed returns the hash of each key, by rank, in the form that [keyhash.Hash.For]
// picks for the algorithm that is to look them up.
func (k *keyData) hashed(h keyhash.Function) []uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes[h.Name] == nil {
		k.hashes[h.Name] = workloads.Hashes(k.set, h.Sum)
	}
	return k.hashes[h.Name]
}

// popularity returns the popularity that the spec names.
func (k *keyData) popularity(spec string) (*workloads.Popularity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.popularities[spec]; p != nil {
		return p, nil
	}
	amounts := k.counts
	if spec == "bytes" {
		amounts = k.bytes
	}
	p, err := workloads.ParsePopularity(spec, k.set.Len(), amounts)
	if err != nil {
		return nil, err
	}
	k.popularities[spec] = p
	return p, nil
}

// workload returns the name that a record carries: keys and popularity.
func (k *keyData) workload(popularity string) string {
	return fmt.Sprintf("%s+%s", k.set.Name(), popularity)
}

// split returns the workload under which all keys are asked for alike, and those
// under which they are not; when there are none, all requests are alike.
func (k *keyData) split(popularities []string) (uniform string, skewed []string) {
	uniform = k.workload("uniform")
	for _, p := range popularities {
		if p != "uniform" {
			skewed = append(skewed, k.workload(p))
		}
	}
	if len(skewed) == 0 {
		skewed = []string{uniform}
	}
	return uniform, skewed
}

// ofWorkload returns the popularity in a workload's name.
func (k *keyData) ofWorkload(workload string) *workloads.Popularity {
	p, err := k.popularity(workload[len(k.set.Name())+1:])
	if err != nil {
		panic("harness: " + err.Error()) // the plan has checked it
	}
	return p
}
