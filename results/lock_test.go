//go:build unix

package results

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// holdEnv names the folder in which a child process of these tests writes.
const holdEnv = "RINGBENCH_TEST_HOLD"

// TestHold is the child process: it begins a run, says so, and stays.
func TestHold(t *testing.T) {
	dir := os.Getenv(holdEnv)
	if dir == "" {
		t.Skip("only as a child process")
	}
	w, err := Create(dir, Run{Suite: "held"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(Trial{Cell: "kept"}); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("holding\n")
	os.Stdin.Read(make([]byte, 1)) // until the parent is gone or kills this
}

func TestTheLockKeepsOthersOutAndDiesWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestHold$")
	child.Env = append(os.Environ(), holdEnv+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "holding\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	if _, err := Create(dir, Run{}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Create beside a writer: error %v", err)
	}
	if _, _, err := Resume(dir); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Resume beside a writer: error %v", err)
	}
	if set, err := Read(dir); err != nil || len(set.Trials) != 1 {
		t.Errorf("Read beside a writer: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	w, set, err := Resume(dir)
	if err != nil {
		t.Fatalf("Resume after the writer was killed: %v", err)
	}
	if len(set.Trials) != 1 || set.Trials[0].Cell != "kept" || set.Run.Suite != "held" {
		t.Errorf("resumed %+v", set)
	}
	if err := w.Close(End{}); err != nil {
		t.Error(err)
	}
}

// fullEnv names the folder in which a child process runs out of room.
const fullEnv = "RINGBENCH_TEST_FULL"

// TestFull is the child process: the limit on file sizes stands for a full disk.
func TestFull(t *testing.T) {
	dir := os.Getenv(fullEnv)
	if dir == "" {
		t.Skip("only as a child process")
	}
	w, err := Create(dir, Run{})
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limited := old
	limited.Cur = 2000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	before := records(t, dir)
	big := Trial{Cell: "big", Check: strings.Repeat("0", 4000)}
	if err := w.Append(big); err == nil || !strings.Contains(err.Error(), "big: cannot write to the records") || !strings.Contains(err.Error(), RecordsFile) {
		t.Errorf("error %v, want what and where", err)
	}
	if got := records(t, dir); !bytes.Equal(before, got) {
		t.Errorf("half a line was left: %d bytes, were %d", len(got), len(before))
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(big); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := w.Close(End{}); err != nil {
		t.Error(err)
	}
	if set, err := Read(dir); err != nil || len(set.Trials) != 1 {
		t.Errorf("read %v, %v", set, err)
	}
}

func TestAFullDiskLeavesWholeLines(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^TestFull$")
	child.Env = append(os.Environ(), fullEnv+"="+t.TempDir())
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
