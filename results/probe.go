package results

import (
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
