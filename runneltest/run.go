package runneltest

import (
	"context"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
)

// Run is a pipeline that runs in the background of a test.
type Run struct {
	tb   testing.TB
	stop context.CancelFunc
	done chan struct{}
	err  error // set before done is closed
}

// Start runs a pipeline in the background. If it has not ended when the test ends, it is aborted and waited for. If it
// ends with an error, what waits for the same testing.TB stops waiting and fails the test with that error.
func Start(tb testing.TB, p *runnel.Pipeline) *Run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Run{tb: tb, stop: cancel, done: make(chan struct{})}
	test, leave := failures.enter(tb)
	tb.Cleanup(leave)
	go func() {
		defer close(r.done)
		r.err = p.Run(ctx)
		failures.add(test, r.err)
	}()
	tb.Cleanup(func() {
		p.Abort()
		<-r.done
		cancel()
	})
	return r
}

// Stop ends the context of the run, which is a clean stop, and returns what Run returns.
func (r *Run) Stop() error {
	r.tb.Helper()
	r.stop()
	return r.Wait()
}

// RequestStop ends the context of the run and does not wait.
func (r *Run) RequestStop() { r.stop() }

// Wait waits for the end of the run and returns what Run returns.
func (r *Run) Wait() error {
	r.tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-r.done:
	case <-late.C:
		r.tb.Fatal("runneltest: waited in vain for the end of the run")
	}
	return r.err
}

// Done returns a channel that is closed at the end of the run.
func (r *Run) Done() <-chan struct{} { return r.done }
