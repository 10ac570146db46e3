package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ringbench/ringbench/harness"
)

// A meter tells how far a run is. It draws only when it is called, between two
// measurements and on the goroutine that measures, at most so often that a drawn
// line costs nothing against what is measured.
type meter interface {
	update(harness.Progress)
	clear() // makes way for what is printed next
}

// betweenUpdates is the least time between two drawings of the bar.
const betweenUpdates = 200 * time.Millisecond

// newMeter returns the meter for what stderr is: a bar on a terminal that can go
// back in a line, lines elsewhere, nothing when quiet.
func newMeter(stderr io.Writer, quiet bool, begun time.Time) meter {
	switch f, ok := stderr.(*os.File); {
	case quiet:
		return silent{}
	case ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb":
		return &bar{bar: progressbar.NewOptions(barSteps,
			progressbar.OptionSetWriter(f),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)}
	}
	return &lines{w: stderr, begun: begun}
}

// barSteps is how finely the bar is divided.
const barSteps = 1000

type bar struct {
	bar   *progressbar.ProgressBar
	named string // the experiment that stands before it
	drawn time.Time
}

func (b *bar) update(p harness.Progress) {
	if now := time.Now(); now.Sub(b.drawn) >= betweenUpdates {
		b.drawn = now
		if p.Experiment != b.named {
			b.named = p.Experiment
			b.bar.Describe(p.Experiment)
		}
		b.bar.Set(min(int(p.Fraction*barSteps), barSteps-1))
	}
}

func (b *bar) clear() {
	b.bar.Clear()
	b.drawn = time.Time{}
}

type lines struct {
	w     io.Writer
	begun time.Time
}

func (l *lines) update(p harness.Progress) {
	if p.Ended {
		kind := "exact"
		if p.Timed {
			kind = "measured"
		}
		fmt.Fprintf(l.w, "%3.0f%%  %s (%s) done after %.0f s\n", 100*p.Fraction, p.Experiment, kind, time.Since(l.begun).Seconds())
	}
}

func (*lines) clear() {}

type silent struct{}

func (silent) update(harness.Progress) {}
func (silent) clear()                  {}
