//go:build unix

package results

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteFileWritesIntoAPipeAndDoesNotReplaceIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			got <- err.Error()
			return
		}
		defer f.Close()
		b, _ := io.ReadAll(f)
		got <- string(b)
	}()
	if err := WriteFile(path, text("through")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("what was a pipe is now %v, %v", info.Mode(), err)
	}
	if text := <-got; text != "through" {
		t.Errorf("read %q", text)
	}
}

func TestWriteFileWritesWhereALinkPoints(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second"} { // the link points to nothing at first
		if err := WriteFile(link, text(want)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("file holds %q, %v", b, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("what was a link is now %v, %v", info.Mode(), err)
		}
	}
}

func TestWriteFileKeepsWhoMayRead(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	for name, want := range map[string]os.FileMode{secret: 0o600, filepath.Join(dir, "new"): 0o640} {
		if err := WriteFile(name, text("x")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}
