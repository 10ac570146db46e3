package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// temporary begins the names of files that are not whole yet.
const temporary = ".ringbench-"

// WriteFile writes a file that can be made again from records: to a temporary
// name beside it, which is renamed when write has returned without an error.
// After an error the temporary file is gone and the old file is as it was.
//
// A link stays and what it points to is written; a file that is there keeps its
// permissions. What is no file, such as a pipe or a device, is written to as it
// is. An error of write that the file did not cause is returned unchanged.
func WriteFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("no name for the file to write, give one")
	}
	target, perm := path, fs.FileMode(0)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() || strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)):
		return fmt.Errorf("cannot write %s: it is a folder, name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return writeInto(path, write)
	case err == nil:
		perm = info.Mode().Perm()
	}
	if target, err = followed(path); err != nil {
		return cannotWrite(path, err)
	}
	return writeBeside(path, target, perm, write)
}

// writeInto writes to what is no regular file.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(path, err)
	}
	out := &output{f: f}
	if err := out.take(write); err != nil {
		f.Close()
		return out.blame(path, err)
	}
	if err := f.Close(); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// writeBeside writes a temporary file and gives it the name target. The
// permissions are those that new files have unless perm says otherwise.
func writeBeside(path, target string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := create(filepath.Dir(target))
	if err != nil {
		return cannotWrite(path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	out := &output{f: f}
	if err := out.take(write); err != nil {
		return out.blame(path, err)
	}
	if perm != 0 {
		if err := f.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return cannotWrite(path, err)
		}
	}
	if err := f.Close(); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// create makes a file in the folder under a temporary name that nobody else has.
func create(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprintf("%s%08x", temporary, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// followed returns what the path stands for when it is a link, there or not.
func followed(path string) (string, error) {
	const most = 40
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many links, or links in a circle")
}

// output is a file being written, which remembers whether it failed.
type output struct {
	f      *os.File
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.f.Write(p)
	if err != nil {
		o.failed = err
	}
	return n, err
}

// take lets write fill the file.
func (o *output) take(write func(io.Writer) error) error {
	b := bufio.NewWriter(o)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// blame returns the error of write as it is, or the file's when that failed.
func (o *output) blame(path string, err error) error {
	if o.failed == nil {
		return err
	}
	return cannotWrite(path, o.failed)
}

// cannotWrite words an error without the temporary name, which says nothing.
func cannotWrite(path string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}
