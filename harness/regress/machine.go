package regress

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// A Condition is one thing about the machine that timings depend on.
type Condition struct {
	Name  string `json:"name"`
	State string `json:"state"` // what was found, in a few words; "unknown" where the system does not tell
	Fit   bool   `json:"fit"`   // whether it is as a measurement wants it; what is unknown counts as fit
	Mend  string `json:"mend"`  // what to do when it is not fit
}

// Conditions looks at the machine.
func Conditions() []Condition {
	e := results.Probe(harness.ClockCost())
	_, err := exec.LookPath("valgrind")
	return conditions(os.DirFS("/"), e, err == nil)
}

// slowClock is the cost of a reading of the clock, in ns, from which on it is one
// that goes through the kernel or a device.
const slowClock = 250

// conditions judges what the files below root and the environment tell.
func conditions(root fs.FS, e results.Environment, valgrind bool) []Condition {
	read := func(name string) string {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	const cpu = "sys/devices/system/cpu/"
	all := []Condition{
		{"frequency governor", e.Governor, e.Governor == "" || e.Governor == "performance", "sudo cpupower frequency-set -g performance"},
		turbo(read(cpu+"intel_pstate/no_turbo"), read(cpu+"cpufreq/boost")),
		smt(read(cpu + "smt/active")),
		load(e),
		steal(read("proc/stat")),
		virtual(e),
		clockSource(read("sys/devices/system/clocksource/clocksource0/current_clocksource")),
		{"reading the clock", fmt.Sprintf("%.0f ns", e.ClockNs), e.ClockNs < slowClock, "let the system use the processor's own counter: clocksource=tsc on the kernel's command line"},
		quota(e),
		battery(root, read),
	}
	tool := Condition{"valgrind", "there", true, ""}
	if !valgrind {
		tool.State = "absent: no counts of instructions beside the times"
	}
	all = append(all, tool)
	for i := range all {
		if all[i].State == "" {
			all[i].State, all[i].Fit = "unknown", true
		}
		if all[i].Fit {
			all[i].Mend = ""
		}
	}
	return all
}

func turbo(noTurbo, boost string) Condition {
	c := Condition{Name: "turbo", Mend: "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"}
	switch {
	case noTurbo == "1" || boost == "0":
		c.State, c.Fit = "off", true
	case noTurbo == "0":
		c.State, c.Mend = "on: the frequency follows the heat", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	case boost == "1":
		c.State = "on: the frequency follows the heat"
	}
	return c
}

func smt(active string) Condition {
	c := Condition{Name: "hyper-threads", Mend: "echo off | sudo tee /sys/devices/system/cpu/smt/control"}
	switch active {
	case "0":
		c.State, c.Fit = "off", true
	case "1":
		c.State = "on: a neighbour on the core takes half of it"
	}
	return c
}

// busyLoad is the load for each core from which on the machine is not quiet.
const busyLoad = 0.5

func load(e results.Environment) Condition {
	c := Condition{Name: "load", Fit: e.Load1 < busyLoad*float64(e.Cores), Mend: "close other programs, or wait until they are done"}
	for _, absent := range e.Absent {
		if absent == "load1" {
			return c
		}
	}
	c.State = fmt.Sprintf("%.1f over %s", e.Load1, plural(e.Cores, "core"))
	return c
}

// mostSteal is the part of the processors' time that others may take.
const mostSteal = 0.01

// steal reads the time that the hypervisor gave to others, since the start of the
// system, from the first line of /proc/stat.
func steal(stat string) Condition {
	c := Condition{Name: "steal", Mend: "take a machine whose processors are not shared"}
	first, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(first)
	const at = 8 // cpu user nice system idle iowait irq softirq steal
	if len(fields) <= at || fields[0] != "cpu" {
		return c
	}
	total, stolen := 0.0, 0.0
	for i, f := range fields[1 : at+1] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return c
		}
		total += v
		if i+1 == at {
			stolen = v
		}
	}
	part := stolen / max(total, 1)
	c.State, c.Fit = fmt.Sprintf("%.1f%% of the time since the start", 100*part), part < mostSteal
	return c
}

func virtual(e results.Environment) Condition {
	c := Condition{Name: "virtualisation", State: "none", Fit: true, Mend: "compare side by side only; for figures that others shall repeat, take bare metal"}
	if e.Hypervisor != "" {
		c.State, c.Fit = "a guest ("+e.Hypervisor+"): neighbours cannot be seen", false
	}
	for _, absent := range e.Absent {
		if absent == "hypervisor" {
			c.State = ""
		}
	}
	return c
}

func clockSource(name string) Condition {
	c := Condition{Name: "clock source", State: name, Mend: "clocksource=tsc on the kernel's command line"}
	switch name {
	case "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
		c.Fit = true
	}
	return c
}

func quota(e results.Environment) Condition {
	c := Condition{Name: "quota of processor time", State: "none", Fit: true, Mend: "run outside of the control group that sets it, or raise it to all cores"}
	if e.CgroupCPUs > 0 {
		c.State, c.Fit = fmt.Sprintf("%g processors: the group is stopped when it is used up", e.CgroupCPUs), false
	}
	return c
}

func battery(root fs.FS, read func(string) string) Condition {
	c := Condition{Name: "power", Mend: "plug the charger in"}
	dirs, _ := fs.Glob(root, "sys/class/power_supply/*") // the pattern is sound
	for _, dir := range dirs {
		if read(path.Join(dir, "type")) != "Battery" {
			continue
		}
		c.State, c.Fit = "battery, charging", true
		if read(path.Join(dir, "status")) == "Discharging" {
			c.State, c.Fit = "on battery", false
			return c
		}
	}
	if c.State == "" && len(dirs) > 0 {
		c.State, c.Fit = "mains", true
	}
	return c
}
