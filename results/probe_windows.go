package results

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// probeSystem fills in what Windows tells, and returns the fields whose zero
// value is an answer.
func probeSystem(e *Environment) map[string]bool {
	v := windows.RtlGetVersion()
	e.Kernel = fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE)
	if err == nil {
		defer key.Close()
		if name, _, err := key.GetStringValue("ProcessorNameString"); err == nil {
			e.CPU = strings.TrimSpace(name)
		}
	}
	e.MemoryBytes = int64(memoryStatus().totalPhys)
	return map[string]bool{"cgroup_bytes": true, "cgroup_cpus": true}
}

// AvailableMemory returns the physical memory that is free or can be freed at
// once, 0 when the system does not tell.
func AvailableMemory() int64 { return int64(memoryStatus().availPhys) }

// memoryStatusEx is MEMORYSTATUSEX of the system.
type memoryStatusEx struct {
	length, memoryLoad                        uint32
	totalPhys, availPhys                      uint64
	totalPageFile, availPageFile              uint64
	totalVirtual, availVirtual, availExtended uint64
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

func memoryStatus() memoryStatusEx {
	var m memoryStatusEx
	m.length = uint32(unsafe.Sizeof(m))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return memoryStatusEx{}
	}
	return m
}
