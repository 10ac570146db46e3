package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Where runs go, and the name that always points to the newest.
var (
	outDir = "out"
	latest = filepath.Join(outDir, "latest")
)

// newFolder makes the folder of a new run.
func newFolder(suite string) (string, error) {
	if err := os.MkdirAll(outDir, 0o777); err != nil {
		return "", fmt.Errorf("cannot make the folder of the runs: %w", err)
	}
	name := filepath.Join(outDir, time.Now().UTC().Format("20060102T150405Z")+"-"+suite)
	for dir, i := name, 2; ; dir, i = fmt.Sprintf("%s-%d", name, i), i+1 {
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("cannot make the folder of the run: %w", err)
		}
	}
}

// pointLatest makes out/latest a link to the folder and says whether it could:
// some systems let only an administrator make links, and what else is called
// latest there is not ours to replace.
func pointLatest(dir string) bool {
	if info, err := os.Lstat(latest); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	link := fmt.Sprintf("%s.%d", latest, os.Getpid())
	if err := os.Symlink(filepath.Base(dir), link); err != nil {
		os.Remove(latest) // a stale link would mislead
		return false
	}
	if err := os.Rename(link, latest); err != nil {
		os.Remove(link)
		return false
	}
	return true
}
