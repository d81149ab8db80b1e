package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/examples/internal/report"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	barEvery = 100 * time.Millisecond
	logEvery = 5 * time.Second
)

// watch shows how far the pipeline is, as a bar on a terminal and as lines elsewhere, until the returned function is
// called.
func watch(p *runnel.Pipeline, in string) (done func()) {
	show, every := logLine, logEvery
	if term.IsTerminal(int(os.Stderr.Fd())) {
		show, every = newBar(in), barEvery
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show(p.Status())
			case <-stop:
				if every == barEvery {
					show(p.Status())
					fmt.Fprintln(os.Stderr)
				}
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// newBar returns a function that shows how many bytes of the input are read.
func newBar(in string) func(runnel.Status) {
	size := int64(-1) // a bar without an end
	if info, err := os.Stat(in); err == nil {
		size = info.Size()
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription("flights"), progressbar.OptionSetWidth(30))
	return func(s runnel.Status) {
		if len(s.Sources) == 0 || s.Sources[0].Lag == nil {
			return
		}
		left := int64(0)
		for _, bytes := range s.Sources[0].Lag {
			left += bytes
		}
		_ = bar.Set64(max(size-left, 0)) // a bar that cannot be drawn is no reason to stop
	}
}

func logLine(s runnel.Status) {
	if len(s.Sources) == 0 {
		return
	}
	in := s.Sources[0]
	fmt.Fprintf(os.Stderr, "read %s lines, committed %s, checkpoint %d\n", report.Number(in.Read), report.Number(in.Committed), s.Checkpoint)
}

// summary prints the ledger of the run: what became of every line.
func summary(w io.Writer, p *runnel.Pipeline, s settings, checkpoints int64) {
	status := p.Status()
	in, late := status.Sources[0], status.Stages[0]
	given := "nothing given up"
	if in.Abandoned > 0 {
		given = report.Number(in.Abandoned) + " given up, to be read by the next start"
	}
	fmt.Fprintf(w, "read      %9s lines\n", report.Number(in.Read))
	fmt.Fprintf(w, "late      %9s in %s\n", report.Number(late.Out), s.out)
	fmt.Fprintf(w, "on time   %9s\n", report.Number(late.Filtered))
	fmt.Fprintf(w, "rejected  %9s in %s\n", report.Number(in.DeadLettered), s.rejects())
	fmt.Fprintf(w, "committed %9s, %s; checkpoints: %d\n", report.Number(in.Committed), given, checkpoints)
	if status.From > 0 {
		fmt.Fprintf(w, "resumed from checkpoint %d\n", status.From)
	}
	for _, path := range p.Graph().Paths {
		fmt.Fprintf(w, "%s → %s: %s, %s\n", path.Source, path.Sink, path.Guarantee, path.Because)
	}
}
