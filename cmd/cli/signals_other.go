//go:build js || plan9

package cli

import "os"

// These systems have neither of the two signals: a terminal that is closed sends
// nothing, and writing to a pipe that nobody reads is an error like any other.
var (
	hangUp      os.Signal
	errNoReader error
)

func surviveNoReader() (restore func()) { return func() {} }
