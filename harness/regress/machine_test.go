package regress

import (
	"testing"
	"testing/fstest"

	"github.com/ringbench/ringbench/results"
)

func TestConditionsNameWhatDisturbsAndItsMend(t *testing.T) {
	noisy := fstest.MapFS{
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    {Data: []byte("0\n")},
		"sys/devices/system/cpu/smt/active":                               {Data: []byte("1\n")},
		"sys/devices/system/clocksource/clocksource0/current_clocksource": {Data: []byte("hpet\n")},
		"sys/class/power_supply/AC/type":                                  {Data: []byte("Mains\n")},
		"sys/class/power_supply/BAT0/type":                                {Data: []byte("Battery\n")},
		"sys/class/power_supply/BAT0/status":                              {Data: []byte("Discharging\n")},
		"proc/stat":                                                       {Data: []byte("cpu  50 0 0 900 0 0 0 50 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")},
	}
	busy := results.Environment{Governor: "powersave", Load1: 3, Cores: 2, Hypervisor: "KVM", ClockNs: 900, CgroupCPUs: 1.5}
	for _, c := range conditions(noisy, busy, false) {
		if c.Name == "valgrind" {
			continue // a convenience, not a condition
		}
		if c.Fit || c.Mend == "" || c.State == "unknown" {
			t.Errorf("a noisy machine: %+v", c)
		}
	}
	quiet := fstest.MapFS{
		"sys/devices/system/cpu/cpufreq/boost":                            {Data: []byte("0\n")},
		"sys/devices/system/cpu/smt/active":                               {Data: []byte("0\n")},
		"sys/devices/system/clocksource/clocksource0/current_clocksource": {Data: []byte("tsc\n")},
		"sys/class/power_supply/AC/type":                                  {Data: []byte("Mains\n")},
		"proc/stat":                                                       {Data: []byte("cpu  50 0 0 900 0 0 0 0 0 0\n")},
	}
	for _, c := range conditions(quiet, results.Environment{Governor: "performance", Load1: 0.1, Cores: 2, ClockNs: 30}, true) {
		if !c.Fit || c.Mend != "" || c.State == "unknown" {
			t.Errorf("a quiet machine: %+v", c)
		}
	}
}

// A system that tells nothing is not called unfit for it.
func TestWhatIsUnknownCountsAsFit(t *testing.T) {
	silent := results.Environment{Cores: 2, ClockNs: 30, Absent: []string{"load1", "hypervisor"}}
	unknown := 0
	for _, c := range conditions(fstest.MapFS{}, silent, true) {
		if !c.Fit {
			t.Errorf("%+v", c)
		}
		if c.State == "unknown" {
			unknown++
		}
	}
	if unknown != 8 {
		t.Errorf("%d conditions are unknown, want all but the clock's cost, the quota and valgrind", unknown)
	}
}
