package runnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// Run runs the pipeline until its sources end, and returns nil; or until ctx ends: then sources stop, what was read is
// drained, flushed and committed within [DrainTimeout], and Run returns nil too. It returns the first failure
// otherwise, also if ctx ends while [Restart] pauses behind one; what was not committed is read again by the next start. No goroutine is left behind.
//
// A pipeline runs once; a second call returns [ErrClosed]. Mistakes in the graph are returned before anything is opened
// (see [Pipeline.Validate]).
func (p *Pipeline) Run(ctx context.Context) error {
	hard, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	if err := p.begin(cancel); err != nil {
		return err
	}
	store := p.cfg.store
	if store == nil {
		store = checkpoint.Memory()
	}
	var log checkpoint.Log
	err := engine.Protect("store", func() (err error) {
		log, err = store.Open(ctx, p.name)
		return err
	})
	if err != nil {
		if interrupted(ctx, err) {
			return nil
		}
		return fmt.Errorf("runnel: pipeline %q: %w", p.name, err)
	}
	err = p.attempts(ctx, hard, log)
	if closeErr := engine.Protect("store", log.Close); err == nil && closeErr != nil {
		err = fmt.Errorf("runnel: pipeline %q: %w", p.name, closeErr)
	}
	return err
}

// begin takes the one run of the pipeline.
func (p *Pipeline) begin(stop context.CancelCauseFunc) error {
	defer p.whole()()
	switch {
	case p.started:
		return fmt.Errorf("pipeline %q has run already; build a new one: %w", p.name, ErrClosed)
	case p.aborted:
		return ErrAborted
	}
	if err := p.validate(); err != nil {
		return err
	}
	p.started, p.stop = true, stop
	return nil
}

// attempts runs the pipeline again after a failure, as often as Restart allows.
func (p *Pipeline) attempts(ctx, hard context.Context, log checkpoint.Log) error {
	failures, wait := 0, p.cfg.backoff
	for tries := 1; ; tries++ {
		a := &attempt{p: p, tries: tries}
		p.mu.Lock()
		p.current = a
		p.mu.Unlock()
		before := p.progress.Load()
		err := a.run(ctx, hard, log)
		if err == nil {
			return p.checkLedger(a)
		}
		p.giveUp()
		if p.progress.Load() > before {
			failures, wait = 0, p.cfg.backoff
		}
		if !a.running.Load() && interrupted(ctx, err) {
			return nil // stopped while opening: nothing was read
		}
		if ctx.Err() != nil || hard.Err() != nil || failures >= p.cfg.restarts {
			return err
		}
		failures++
		p.cfg.log.Warn("the run failed and starts again", "pipeline", p.name, "attempt", failures, "err", err)
		if !p.pause(ctx, hard, wait) {
			return cmp.Or(context.Cause(hard), err) // what was read is not committed: that is no clean stop
		}
		wait *= 2
	}
}

// pause waits between two attempts, and says whether the wait came to its end.
func (p *Pipeline) pause(ctx, hard context.Context, d time.Duration) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(hard, cancel)()
	return (&policy{clock: p.cfg.clock}).pause(ctx, d)
}

// interrupted says whether err is nothing but the end of ctx.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (canceled(err) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// completed is told of each complete checkpoint.
func (p *Pipeline) completed(c *checkpoint.Checkpoint) {
	p.progress.Add(1)
	for _, f := range p.cfg.onCheckpoint {
		f(*c)
	}
}

// plan returns the nodes as the planner sees them, and which of them run in the task of another.
func (p *Pipeline) plan() (nodes []engine.Node, fused []bool) {
	nodes = make([]engine.Node, 0, len(p.nodes))
	for _, n := range p.nodes {
		nodes = append(nodes, n.planned())
	}
	if p.cfg.unfused {
		return nodes, make([]bool, len(nodes))
	}
	return nodes, engine.Plan(nodes)
}
