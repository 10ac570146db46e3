package results

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// probeSystem fills in what sysctl tells, and returns the fields whose zero
// value is an answer.
func probeSystem(e *Environment) map[string]bool {
	known := map[string]bool{"cgroup_bytes": true, "cgroup_cpus": true}
	e.Kernel = sysctl("kern.osrelease")
	e.CPU = sysctl("machdep.cpu.brand_string")
	if v, err := unix.SysctlUint64("hw.memsize"); err == nil {
		e.MemoryBytes = int64(v)
	}
	for _, name := range []string{"hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize"} {
		if v, err := unix.SysctlUint64(name); err == nil && v > 0 {
			e.CacheBytes = append(e.CacheBytes, int64(v))
		}
	}
	slices.Sort(e.CacheBytes)
	if guest, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil {
		known["hypervisor"] = true
		if guest != 0 {
			e.Hypervisor = "unnamed"
		}
	}
	// struct loadavg: three fixed-point numbers, padding, and their scale.
	if b, err := unix.SysctlRaw("vm.loadavg"); err == nil && len(b) >= 24 {
		if scale := binary.LittleEndian.Uint64(b[16:]); scale > 0 {
			e.Load1, known["load1"] = float64(binary.LittleEndian.Uint32(b))/float64(scale), true
		}
	}
	return known
}

// AvailableMemory returns half of the machine's memory, since sysctl does not
// tell how much of it the system would give up; 0 when even that is unknown.
func AvailableMemory() int64 {
	v, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(v / 2)
}

func sysctl(name string) string {
	s, err := unix.Sysctl(name)
	if err != nil {
		return ""
	}
	return s
}
