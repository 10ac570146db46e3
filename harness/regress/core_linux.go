package regress

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// cores returns the cores that this process may run on.
func cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all
}

// stayOn keeps the calling thread on the core. Where that is forbidden, it runs
// where it is put, and the figures are less steady.
func stayOn(core int) {
	var set unix.CPUSet
	set.Set(core)
	_ = unix.SchedSetaffinity(0, &set)
}

// largePage is the size of a large page, in bytes.
const largePage = 2 << 20

// gather puts the memory of the process into large pages. Where small ones lie is
// settled by chance when they are first touched, and makes reads of tens of megabytes
// slower in one process than in another by 7%. A kernel before 6.1, or without large
// pages, leaves everything as it is.
func gather() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		var from, to, offset uintptr
		var may, device string
		var inode int
		_, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &from, &to, &may, &offset, &device, &inode)
		if err != nil || may != "rw-p" || inode != 0 {
			continue
		}
		// One by one: the system stops at the first that it cannot put together.
		for page := (from + largePage - 1) / largePage * largePage; page+largePage <= to; page += largePage {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, page, largePage, unix.MADV_COLLAPSE)
		}
	}
}
