package results

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
)

// Probe describes the machine, the system and the build. The cost of reading
// the clock is the caller's to measure, in ns, since nothing here reads clocks.
// What cannot be found out is listed in Absent.
func Probe(clockNs float64) Environment {
	e := Environment{
		GoVersion:  runtime.Version(),
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		Cores:      runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		ClockNs:    clockNs,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				e.Revision = s.Value
			case "vcs.modified":
				e.Dirty = s.Value == "true"
			}
		}
	}
	known := probeSystem(&e)
	e.Absent = absent(e, known)
	return e
}

// absent lists the fields, by their name in JSON, that are not known: those that
// are zero and that probeSystem does not vouch for.
func absent(e Environment, known map[string]bool) []string {
	names := []string{}
	known["dirty"] = e.Revision != ""
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name != "absent" && v.Field(i).IsZero() && !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// Fingerprint names the machine and the system that a run was taken on, in words
// that may be shown. Timed metrics of two runs compare only when their
// fingerprints are equal.
func Fingerprint(e Environment) string {
	text := fmt.Sprintf("%s/%s, %s, %d cores, %s", e.OS, e.Arch, cmp.Or(e.CPU, "unknown CPU"), e.Cores, memory(e))
	if e.CgroupCPUs > 0 {
		text += fmt.Sprintf(", limited to %g", e.CgroupCPUs)
	}
	return text
}

// memory tells the memory of the machine to the nearest GiB: two starts of one
// machine may differ by a few pages.
func memory(e Environment) string {
	if e.MemoryBytes == 0 {
		return "unknown memory"
	}
	return fmt.Sprintf("%.0f GiB", float64(e.MemoryBytes)/(1<<30))
}
