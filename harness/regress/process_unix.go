//go:build unix

package regress

import (
	"os/exec"
	"syscall"
)

// isolate starts the command in a process group of its own, so that a Ctrl-C on
// the terminal does not reach it, and kills the whole group when the context of
// the command ends.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
