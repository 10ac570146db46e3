package regress

import "golang.org/x/sys/unix"

// cores returns the cores that this process may run on.
func cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all
}

// stayOn keeps the calling thread on the core. Where that is forbidden, it runs
// where it is put, and the figures are less steady.
func stayOn(core int) {
	var set unix.CPUSet
	set.Set(core)
	_ = unix.SchedSetaffinity(0, &set)
}
