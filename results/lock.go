package results

import (
	"errors"
	"os"
)

// Lock takes an exclusive lock on the open file, which lasts until the file is
// closed or the process is gone, in whatever way. It returns false when another
// process holds the lock.
func Lock(f *os.File) (bool, error) {
	err := lock(f)
	if errors.Is(err, errLocked) {
		return false, nil
	}
	return err == nil, err
}
