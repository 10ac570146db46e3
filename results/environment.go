package results

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
