package harness

import "golang.org/x/sys/unix"

// threadSwitches returns how often the calling thread has made way for another,
// or -1.
func threadSwitches() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return -1
	}
	return u.Nvcsw + u.Nivcsw
}
