package results

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that another process holds the lock.
var errLocked = errors.New("locked by another process")

// lock takes an exclusive lock on the open file, until it is closed or the
// process is gone. Locks are mandatory here, so the byte that is locked lies far
// beyond the end, where it keeps no reader out.
func lock(f *os.File) error {
	const high = 1 << 30
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: high})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
