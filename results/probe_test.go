package results

import (
	"runtime"
	"testing"
)

func TestProbeOfThisMachine(t *testing.T) {
	e := Probe(25)
	if e.GoVersion != runtime.Version() || e.OS != runtime.GOOS || e.Arch != runtime.GOARCH || e.Cores < 1 || e.GOMAXPROCS < 1 || e.ClockNs != 25 {
		t.Errorf("%+v", e)
	}
	if e.Load1 < 0 || AvailableMemory() < 0 {
		t.Errorf("load %v, available memory %d", e.Load1, AvailableMemory())
	}
}

func TestFingerprintTellsMachinesApart(t *testing.T) {
	base := Environment{OS: "linux", Arch: "amd64", CPU: "one", Cores: 2, MemoryBytes: 8 << 30}
	same := base
	same.MemoryBytes += 1 << 20 // another kernel keeps more for itself
	same.Load1, same.Revision, same.GoVersion, same.ClockNs = 3, "other", "go1.99", 7
	if Fingerprint(base) != Fingerprint(same) {
		t.Errorf("%s and %s are one machine", Fingerprint(base), Fingerprint(same))
	}
	for _, change := range []func(*Environment){
		func(e *Environment) { e.OS = "darwin" },
		func(e *Environment) { e.Arch = "arm64" },
		func(e *Environment) { e.CPU = "" },
		func(e *Environment) { e.Cores = 4 },
		func(e *Environment) { e.MemoryBytes = 16 << 30 },
		func(e *Environment) { e.CgroupCPUs = 0.5 },
	} {
		other := base
		change(&other)
		if Fingerprint(base) == Fingerprint(other) {
			t.Errorf("%s is another machine", Fingerprint(other))
		}
	}
}
