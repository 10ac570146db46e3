//go:build !(darwin || dragonfly || freebsd || linux || openbsd)

package harness

import "time"

// threadCPU returns -1: this system does not tell the CPU time of a thread, or only
// in steps as long as a block.
func threadCPU() time.Duration { return -1 }
