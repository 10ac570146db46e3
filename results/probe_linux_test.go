package results

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes a file system of texts.
func tree(files map[string]string) system {
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return system{fs}
}

func TestProbeReadsWhatLinuxTells(t *testing.T) {
	s := tree(map[string]string{
		"proc/sys/kernel/osrelease":     "6.1.0-13-amd64\n",
		"proc/meminfo":                  "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n",
		"proc/loadavg":                  "0.25 0.10 0.05 1/234 5678\n",
		"proc/cpuinfo":                  "processor\t: 0\nmodel name\t: Model T\nflags\t\t: fpu hypervisor sse\n\nprocessor\t: 1\nmodel name\t: Other\n",
		"proc/self/cgroup":              "0::/a/b\n",
		"sys/class/dmi/id/sys_vendor":   "QEMU\n",
		"sys/class/dmi/id/product_name": "Standard PC\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu0/cache/index0/type":        "Data\n",
		"sys/devices/system/cpu/cpu0/cache/index0/size":        "48K\n",
		"sys/devices/system/cpu/cpu0/cache/index1/type":        "Instruction\n",
		"sys/devices/system/cpu/cpu0/cache/index1/size":        "32K\n",
		"sys/devices/system/cpu/cpu0/cache/index2/type":        "Unified\n",
		"sys/devices/system/cpu/cpu0/cache/index2/size":        "2M\n",
		"sys/fs/cgroup/cgroup.controllers":                     "cpu memory\n",
		"sys/fs/cgroup/a/memory.max":                           "1073741824\n",
		"sys/fs/cgroup/a/memory.current":                       "900000000\n",
		"sys/fs/cgroup/a/memory.stat":                          "anon 1\ninactive_file 200000000\n",
		"sys/fs/cgroup/a/cpu.max":                              "max 100000\n",
		"sys/fs/cgroup/a/b/memory.max":                         "max\n",
		"sys/fs/cgroup/a/b/cpu.max":                            "150000 100000\n",
	})
	e := Environment{}
	known := s.probe(&e)
	e.Absent = absent(e, known)
	want := Environment{
		Kernel: "6.1.0-13-amd64", CPU: "Model T", MemoryBytes: 16000000 << 10, CgroupBytes: 1 << 30, CgroupCPUs: 1.5, Load1: 0.25,
		Hypervisor: "QEMU Standard PC", Governor: "performance", CacheBytes: []int64{48 << 10, 2 << 20},
		Absent: []string{"go_version", "os", "arch", "cores", "gomaxprocs", "clock_ns", "revision", "dirty"},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := s.available(), int64(1<<30-900000000+200000000); got != want {
		t.Errorf("available %d, want %d", got, want)
	}
}

func TestProbeReadsTheFirstVersionOfControlGroups(t *testing.T) {
	s := tree(map[string]string{
		"proc/meminfo":     "MemTotal: 4000 kB\nMemAvailable: 3000 kB\n",
		"proc/cpuinfo":     "model name : bare\nflags : fpu sse\n",
		"proc/self/cgroup": "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/\n",
		// The container sees its own group as the root.
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "2048000\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "3048000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":         "-1\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us":        "100000\n",
	})
	e := Environment{}
	known := s.probe(&e)
	if e.CgroupBytes != 2048000 || e.CgroupCPUs != 0 || e.Hypervisor != "" {
		t.Errorf("limits %d and %v, hypervisor %q", e.CgroupBytes, e.CgroupCPUs, e.Hypervisor)
	}
	for _, name := range []string{"cgroup_bytes", "cgroup_cpus", "hypervisor"} {
		if !known[name] {
			t.Errorf("%s is known, and not taken for it", name)
		}
	}
	if got := s.available(); got != 1 {
		t.Errorf("available in a full group: %d, want 1", got)
	}
}

func TestALimitBeyondTheMachineIsNone(t *testing.T) {
	s := tree(map[string]string{
		"proc/meminfo":     "MemTotal: 4000 kB\nMemAvailable: 3000 kB\n",
		"proc/self/cgroup": "4:memory:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
	})
	e := Environment{}
	s.probe(&e)
	if e.CgroupBytes != 0 {
		t.Errorf("limit %d", e.CgroupBytes)
	}
	if got := s.available(); got != 3000<<10 {
		t.Errorf("available %d", got)
	}
}

func TestProbeOfASystemThatTellsNothing(t *testing.T) {
	e := Environment{}
	known := tree(nil).probe(&e)
	e.Absent = absent(e, known)
	for _, name := range []string{"kernel", "cpu", "memory_bytes", "cgroup_bytes", "cgroup_cpus", "load1", "hypervisor", "governor", "cache_bytes"} {
		found := false
		for _, a := range e.Absent {
			found = found || a == name
		}
		if !found {
			t.Errorf("%s is unknown, and not called absent", name)
		}
	}
	if got := tree(nil).available(); got != 0 {
		t.Errorf("available %d", got)
	}
}
