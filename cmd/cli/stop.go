package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped returns a context that ends when the process is asked to stop: by
// Ctrl-C, by SIGTERM, or by the SIGHUP of a terminal that is closed, unless the
// process was started to outlive its terminal, as nohup does. After that a second
// signal kills, but for SIGHUP, of which a shell and the system both send one. The
// caller calls stop in the end.
func untilStopped() (ctx context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	heedsHangUp := hangUp != nil && !signal.Ignored(hangUp)
	if heedsHangUp {
		signals = append(signals, hangUp)
	}
	ctx, restore := signal.NotifyContext(context.Background(), signals...)
	release := context.AfterFunc(ctx, func() {
		if heedsHangUp {
			signal.Ignore(hangUp)
		}
		restore()
	})
	return ctx, func() {
		release()
		restore()
	}
}

// A stoppable refuses what is written after the process was asked to stop, so that
// no half of a file stays behind.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppable) Write(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, &exit{exitInterrupted, errors.New("interrupted, nothing is left behind")}
	}
	return s.w.Write(p)
}
