package results

import (
	"fmt"
	"strings"
)

// Environment says where a run was taken. What a system does not tell is the
// zero value, and its field's name stands in Absent.
type Environment struct {
	GoVersion   string   `json:"go_version"`
	OS          string   `json:"os"`
	Arch        string   `json:"arch"`
	Kernel      string   `json:"kernel"`
	CPU         string   `json:"cpu"`
	Cores       int      `json:"cores"`
	GOMAXPROCS  int      `json:"gomaxprocs"`
	MemoryBytes int64    `json:"memory_bytes"` // of the machine
	CgroupBytes int64    `json:"cgroup_bytes"` // memory limit of the control group; 0 for none
	CgroupCPUs  float64  `json:"cgroup_cpus"`  // CPU quota of the control group; 0 for none
	Load1       float64  `json:"load1"`        // load average over one minute, at the start
	Hypervisor  string   `json:"hypervisor"`   // "" on bare metal
	Governor    string   `json:"governor"`     // CPU frequency governor
	CacheBytes  []int64  `json:"cache_bytes"`  // data and unified caches of one core, smallest first
	ClockNs     float64  `json:"clock_ns"`     // cost of one reading of the clock
	Revision    string   `json:"revision"`     // VCS revision of the build
	Dirty       bool     `json:"dirty"`        // whether the build's tree had changes
	Absent      []string `json:"absent"`
}

// Machine names the machine as far as timings depend on it: system, processor,
// cores, and what bounds them. Timed metrics compare only where the names are
// equal; a reader can tell from two of them why they are not. What changes
// from hour to hour (the load) or with the program (the release of Go) is no
// part of it.
func (e Environment) Machine() string {
	parts := []string{e.OS + "/" + e.Arch, e.CPU, plural(e.Cores, "core")}
	if e.GOMAXPROCS != e.Cores {
		parts = append(parts, fmt.Sprintf("GOMAXPROCS %d", e.GOMAXPROCS))
	}
	if e.CgroupCPUs > 0 {
		parts = append(parts, "quota of "+formatFloat(e.CgroupCPUs))
	}
	if e.Hypervisor != "" {
		parts = append(parts, "hypervisor "+e.Hypervisor)
	}
	if e.Governor != "" {
		parts = append(parts, "governor "+e.Governor)
	}
	if e.MemoryBytes > 0 {
		parts = append(parts, size(float64(e.MemoryBytes))+" of memory")
	}
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}
