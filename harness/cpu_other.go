//go:build !linux

package harness

import "time"

// threadCPU returns -1: this system does not tell the CPU time of a thread.
func threadCPU() time.Duration { return -1 }

// threadSwitches returns -1: this system does not tell the switches of a thread.
func threadSwitches() int64 { return -1 }
