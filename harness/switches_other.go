//go:build !linux

package harness

// threadSwitches returns -1: this system does not tell the switches of a thread.
func threadSwitches() int64 { return -1 }
