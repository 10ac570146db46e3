//go:build !linux

package harness

import "time"

// threadCPU returns -1: this system does not tell the CPU time of a thread.
func threadCPU() time.Duration { return -1 }
