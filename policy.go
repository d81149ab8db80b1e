package runnel

import (
	"context"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/internal/engine"
)

// policy is what happens to a record that a source, stage or sink could not handle.
type policy struct {
	stage    string
	attempts int
	backoff  time.Duration
	skip     bool
	dead     *Out[Failed] // nil: no dead letters
	clock    Clock
	tally    *engine.Tally

	tried int // attempts of the record that failed last
}

// retry runs again until it succeeds, the attempts are used up, or a context ends.
func (p *policy) retry(ctx context.Context, err error, again func() error) error {
	p.tried = 1
	p.tally.Failed.Add(1)
	wait := p.backoff
	for p.tried < p.attempts && !canceled(err) {
		if !p.pause(ctx, wait) {
			return context.Cause(ctx)
		}
		wait *= 2
		p.tried++
		if err = again(); err == nil {
			p.tried = 0
			return nil
		}
		p.tally.Failed.Add(1)
	}
	return err
}

// pause waits, and says whether the wait came to its end.
func (p *policy) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	c, stop := p.clock.After(d)
	defer stop()
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail drops a record, or sends it to the dead letters, or returns the error that ends the run.
// Invariant 3: a record is covered by a commit only if it was dropped by policy or its dead letter was acknowledged.
func (p *policy) fail(ctx context.Context, value any, meta Meta, err error) error {
	attempts := max(p.tried, 1)
	p.tried = 0
	// The end of the attempt is no failure of a record: it is read again.
	if ctx.Err() == nil && canceled(err) {
		err = fmt.Errorf("%w (a context that was canceled is no failure of a record: the run ends, and it is read again)", err)
	}
	if ctx.Err() != nil || canceled(err) {
		return &StageError{Stage: p.stage, Origin: meta.Origin, Err: err}
	}
	switch {
	case p.dead != nil:
		p.tally.DeadLettered.Add(1)
		p.dead.begin(ctx)
		p.dead.Emit(Failed{Meta: meta, Value: value, Stage: p.stage, Attempts: attempts, Err: err}, meta)
		return p.dead.err
	case p.skip:
		p.tally.Skipped.Add(1)
		return nil
	}
	if attempts > 1 {
		err = fmt.Errorf("after %d attempts: %w", attempts, err)
	}
	return &StageError{Stage: p.stage, Origin: meta.Origin, Err: err}
}

// end hands on the dead letters of the call that ends.
func (p *policy) end() error {
	if p.dead == nil {
		return nil
	}
	return p.dead.end()
}
