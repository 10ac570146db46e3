package regress

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ErrWorker says that a program broke down while it was measured.
var ErrWorker = errors.New("the comparison broke off")

// ErrProgram says that a program cannot be measured at all.
var ErrProgram = errors.New("not a program that compare can measure")

// workerCommand is the subcommand that calls [Work].
const workerCommand = "worker"

// A worker is a process of one side.
type worker struct {
	s      *session
	side   int
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	fresh  bool // nothing was answered yet
}

// start starts the program of a side as a worker.
func (s *session) start(side int, program string) (*worker, error) {
	if s.begin != nil {
		return s.begin(side), nil
	}
	return s.launch(side, []string{"GODEBUG=", "GOGC=", "GOMEMLIMIT=", "GOMAXPROCS="}, program, workerCommand)
}

// launch starts a worker by a command, with the environment besides the parent's.
func (s *session) launch(side int, env []string, command ...string) (*worker, error) {
	w := &worker{s: s, side: side, fresh: true}
	w.cmd = exec.CommandContext(s.ctx, command[0], command[1:]...)
	w.cmd.Stderr = &w.stderr
	w.cmd.Env = append(os.Environ(), env...)
	w.cmd.WaitDelay = time.Second
	isolate(w.cmd)
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReaderSize(out, 1<<16)
	if err := w.cmd.Start(); err != nil {
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s: %w", ErrProgram, s.sides[side].Name, err)
	}
	return w, nil
}

// ask sends a request and waits for the answer.
func (w *worker) ask(r request) (response, error) {
	var told response
	b, err := json.Marshal(r)
	if err != nil {
		return told, err
	}
	if _, err := w.in.Write(append(b, '\n')); err != nil {
		return told, w.broken(err)
	}
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return told, w.broken(err)
	}
	if err := json.Unmarshal(line, &told); err != nil {
		return told, w.broken(fmt.Errorf("it answered %.60q", line))
	}
	w.fresh = false
	if told.Error != "" {
		if err := w.s.ctx.Err(); err != nil {
			return told, err
		}
		return told, fmt.Errorf("%w: %s: %s", ErrWorker, w.s.sides[w.side].Name, told.Error)
	}
	return told, nil
}

// broken words the end of a worker that answers no more, by what it said last.
func (w *worker) broken(err error) error {
	w.stop()
	if ctx := w.s.ctx.Err(); ctx != nil {
		return ctx
	}
	kind := ErrWorker
	if w.fresh {
		kind = ErrProgram
	}
	why := err.Error()
	if said := strings.TrimSpace(w.stderr.String()); said != "" {
		why, _, _ = strings.Cut(said, "\n")
	} else if w.cmd.ProcessState != nil && !w.cmd.ProcessState.Success() {
		why = w.cmd.ProcessState.String()
	}
	if w.fresh {
		why += "; its command must be built on cli.Main, and be as new as compare is"
	}
	return fmt.Errorf("%w: %s: %s", kind, w.s.sides[w.side].Name, why)
}

// stop ends the worker, which ends when its input does, and waits for it.
func (w *worker) stop() {
	if w.cmd.ProcessState != nil {
		return
	}
	w.in.Close()
	_ = w.cmd.Wait() // what it answered is what counts
}
