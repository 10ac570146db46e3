//go:build unix

package results

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked says that another process holds the lock.
var errLocked = errors.New("locked by another process")

// lock takes an exclusive lock on the open file. It lasts until the file is
// closed or the process is gone, so that nothing stale can be left behind.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
