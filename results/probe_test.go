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
