//go:build !js && !plan9

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// hangUp is what a terminal that is closed sends; nil where none does.
var hangUp os.Signal = syscall.SIGHUP

// errNoReader says that nobody reads the pipe that was written to; nil where
// systems do not say so.
var errNoReader error = syscall.EPIPE

// surviveNoReader makes writing to a pipe that nobody reads fail with errNoReader
// instead of ending the process, until restore is called.
func surviveNoReader() (restore func()) {
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}
