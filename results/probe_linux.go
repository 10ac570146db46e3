package results

import (
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// probeSystem fills in what Linux tells through /proc and /sys, and returns the
// fields whose zero value is an answer.
func probeSystem(e *Environment) map[string]bool { return system{os.DirFS("/")}.probe(e) }

// AvailableMemory returns the bytes that can still be taken without swapping:
// what the machine has available, or the room in the tightest control group
// when that is less. It is 0 when the system does not tell.
func AvailableMemory() int64 { return system{os.DirFS("/")}.available() }

// system reads the file systems of the kernel below a root.
type system struct{ root fs.FS }

func (s system) probe(e *Environment) map[string]bool {
	known := map[string]bool{}
	e.Kernel = s.read("proc/sys/kernel/osrelease")
	e.MemoryBytes = s.meminfo("MemTotal")
	if load, _, ok := strings.Cut(s.read("proc/loadavg"), " "); ok {
		if v, err := strconv.ParseFloat(load, 64); err == nil {
			e.Load1, known["load1"] = v, true
		}
	}
	cpu := s.read("proc/cpuinfo")
	if e.CPU = cpuinfo(cpu, "model name"); e.CPU == "" {
		e.CPU = strings.TrimRight(s.read("proc/device-tree/model"), "\x00")
	}
	e.Hypervisor, known["hypervisor"] = s.hypervisor(cpu)
	e.Governor = s.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	e.CacheBytes = s.caches()

	memory, cpus := s.groups("memory"), s.groups("cpu")
	known["cgroup_bytes"], known["cgroup_cpus"] = len(memory) > 0, len(cpus) > 0
	for _, g := range memory {
		if limit := g.limit(); limit > 0 && limit < e.MemoryBytes {
			e.CgroupBytes = tighter(e.CgroupBytes, limit)
		}
	}
	for _, g := range cpus {
		e.CgroupCPUs = tighter(e.CgroupCPUs, g.cpus())
	}
	return known
}

func (s system) available() int64 {
	room := s.meminfo("MemAvailable")
	for _, g := range s.groups("memory") {
		if limit := g.limit(); limit > 0 && limit < math.MaxInt64 {
			// A group that is full has little room, which is not the same as
			// not knowing.
			room = tighter(room, max(1, limit-g.used()))
		}
	}
	return room
}

// tighter returns the smaller of two limits, of which 0 means none.
func tighter[T int64 | float64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// read returns the content of a file without the space around it, and "" when
// it cannot be read.
func (s system) read(name string) string {
	b, err := fs.ReadFile(s.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// integer returns the number in a file, 0 when there is none.
func (s system) integer(name string) int64 {
	v, err := strconv.ParseInt(s.read(name), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// meminfo returns a line of /proc/meminfo in bytes.
func (s system) meminfo(key string) int64 {
	for line := range strings.Lines(s.read("proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// cpuinfo returns the first value of a key in the text of /proc/cpuinfo.
func cpuinfo(text, key string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// hypervisor names what the machine runs under, "" for bare metal, and whether
// that is known.
func (s system) hypervisor(cpu string) (name string, known bool) {
	if name = s.read("sys/hypervisor/type"); name != "" {
		return name, true
	}
	flags := strings.Fields(cpuinfo(cpu, "flags"))
	if len(flags) == 0 {
		return "", false
	}
	if !slices.Contains(flags, "hypervisor") {
		return "", true
	}
	name = strings.TrimSpace(s.read("sys/class/dmi/id/sys_vendor") + " " + s.read("sys/class/dmi/id/product_name"))
	if name == "" {
		name = "unnamed"
	}
	return name, true
}

// caches returns the sizes of the data and unified caches of the first core,
// smallest first.
func (s system) caches() []int64 {
	var sizes []int64
	dirs, _ := fs.Glob(s.root, "sys/devices/system/cpu/cpu0/cache/index*")
	for _, dir := range dirs {
		if s.read(dir+"/type") == "Instruction" {
			continue
		}
		if size := parseSize(s.read(dir + "/size")); size > 0 {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	return sizes
}

// parseSize reads sizes such as "48K", 0 for what is none.
func parseSize(s string) int64 {
	shift := 0
	if unit := strings.TrimLeft(s, "0123456789"); unit != "" {
		shift = 10 * (1 + strings.Index("KMG", unit))
		s = strings.TrimSuffix(s, unit)
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return v << shift
}

// group is a directory of a control group hierarchy.
type group struct {
	system
	dir string
	v2  bool
}

// groups returns the control group of this process for a controller and all
// groups around it, as far as they can be seen.
func (s system) groups(controller string) []group {
	var found []group
	for line := range strings.Lines(s.read("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, v2 := "sys/fs/cgroup", parts[0] == "0" && parts[1] == ""
		switch {
		case v2:
			if _, err := fs.Stat(s.root, base+"/cgroup.controllers"); err != nil {
				base += "/unified"
			}
		case slices.Contains(strings.Split(parts[1], ","), controller):
			base += "/" + controller
		default:
			continue
		}
		// A container may see its own group as the root of the hierarchy
		// although the kernel names a longer path: what is not there is skipped.
		for p := path.Clean("/" + parts[2]); ; p = path.Dir(p) {
			dir := base + strings.TrimSuffix(p, "/")
			if _, err := fs.Stat(s.root, dir); err == nil {
				found = append(found, group{s, dir, v2})
			}
			if p == "/" {
				break
			}
		}
	}
	return found
}

// limit returns the memory limit in bytes, 0 for none.
func (g group) limit() int64 {
	if g.v2 {
		return g.integer(g.dir + "/memory.max")
	}
	return g.integer(g.dir + "/memory.limit_in_bytes")
}

// used returns the memory in use, less what the kernel can drop at once.
func (g group) used() int64 {
	file, cold := "/memory.usage_in_bytes", "total_inactive_file"
	if g.v2 {
		file, cold = "/memory.current", "inactive_file"
	}
	used := g.integer(g.dir + file)
	for line := range strings.Lines(g.read(g.dir + "/memory.stat")) {
		if k, v, _ := strings.Cut(strings.TrimSpace(line), " "); k == cold {
			if bytes, err := strconv.ParseInt(v, 10, 64); err == nil {
				used -= bytes
			}
		}
	}
	return used
}

// cpus returns the CPU quota in processors, 0 for none.
func (g group) cpus() float64 {
	quota, period := g.read(g.dir+"/cpu.cfs_quota_us"), g.read(g.dir+"/cpu.cfs_period_us")
	if g.v2 {
		quota, period, _ = strings.Cut(g.read(g.dir+"/cpu.max"), " ")
	}
	q, qerr := strconv.ParseFloat(quota, 64)
	p, perr := strconv.ParseFloat(period, 64)
	if qerr != nil || perr != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}
