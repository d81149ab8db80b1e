package runnel

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/internal/engine"
)

// stageCore is what a running stage does whatever its types: it takes part in markers, ends and timers.
type stageCore struct {
	a      *attempt
	node   *node
	name   string
	tally  *engine.Tally
	errs   *policy
	party  *engine.Party // nil: no state
	snap   Snapshotter
	finish Finisher
	holder Holder

	held     int64 // what was last counted as held
	finished bool  // wants no more records
	broken   error // what Deadline panicked with

	begin    func(ctx context.Context)                      // readies the outputs for a call
	flush    func(ctx context.Context) error                // nil: holds nothing back
	deadline func() (time.Time, bool)                       // nil: does not act on time
	expire   func(ctx context.Context, now time.Time) error // with deadline
	end      func() error                                   // hands on what was emitted
	next     controls                                       // where control items go
}

// none is the type of the records of an output that a stage does not have.
type none struct{}

// newStageCore looks at the abilities of a stage.
func newStageCore(a *attempt, n *node, stage any, errs *policy) *stageCore {
	c := &stageCore{a: a, node: n, name: n.name, tally: n.tally, errs: errs}
	c.snap, _ = stage.(Snapshotter)
	c.finish, _ = stage.(Finisher)
	c.holder, _ = stage.(Holder)
	if c.snap != nil {
		c.party = a.coordinator.AddStage(n.name)
	}
	return c
}

// join makes the stage part of a task that is about to run, with the state it had. A stage that had finished at the
// checkpoint ends its stream before anything else.
func (c *stageCore) join(in *engine.Task) error {
	if in != nil && c.deadline != nil {
		in.Add(c)
	}
	err := protect(c.name, Origin{}, func() error {
		if err := c.restore(); err != nil {
			return err
		}
		c.finished = c.finish != nil && c.finish.Finished()
		return nil
	})
	if err != nil {
		return stageError(c.name, Origin{}, err)
	}
	if c.finished {
		c.a.finished(c.node)
		in.Before(func(ctx context.Context) error { return c.next.control(ctx, engine.Control{Kind: engine.End}) })
	}
	return nil
}

// holdsBack says whether the stage does more than answer each batch with what comes of it.
func (c *stageCore) holdsBack() bool { return c.flush != nil || c.deadline != nil || c.finish != nil }

// addTimed finds the abilities of a stage that have to do with what it holds back.
func addTimed[O any](c *stageCore, stage any, out *Out[O]) {
	if f, ok := stage.(Flusher[O]); ok {
		c.flush = func(ctx context.Context) error { return f.Flush(ctx, out) }
	}
	if t, ok := stage.(Timed[O]); ok {
		c.deadline = t.Deadline
		c.expire = func(ctx context.Context, now time.Time) error { return t.Expire(ctx, now, out) }
	}
}

// call runs a method of the stage and hands on what it emitted. A panic becomes an error with the stage's name.
func (c *stageCore) call(ctx context.Context, at Origin, f func() error) error {
	c.begin(ctx)
	c.node.calls.Add(1)
	defer c.node.calls.Add(-1)
	ends := false
	err := protect(c.name, at, func() error {
		if err := f(); err != nil {
			return err
		}
		c.countHeld()
		ends = c.finish != nil && !c.finished && c.finish.Finished()
		return nil
	})
	if endErr := c.end(); err == nil {
		err = endErr
	}
	if deadErr := c.errs.end(); err == nil {
		err = deadErr
	}
	if err != nil {
		return stageError(c.name, at, err)
	}
	if ends {
		return c.endStream(ctx)
	}
	return nil
}

// endStream ends the stream behind a stage that wants no more.
func (c *stageCore) endStream(ctx context.Context) error {
	c.finished = true
	c.a.finished(c.node)
	return c.next.control(ctx, engine.Control{Kind: engine.End})
}

// accept counts a batch, and says whether the stage still wants it.
func (c *stageCore) accept(n int) bool {
	c.tally.In.Add(int64(n))
	if c.finished {
		c.tally.Filtered.Add(int64(n))
	}
	return !c.finished
}

// control has the stage do its part of a marker, or of the end, and passes it on.
func (c *stageCore) control(ctx context.Context, ctl engine.Control) error {
	if c.flush != nil && !c.finished {
		if err := c.call(ctx, Origin{}, func() error { return c.flush(ctx) }); err != nil {
			return err
		}
	}
	if ctl.Kind == engine.End {
		if c.finished {
			return nil // it was passed on when the stage finished
		}
		return c.next.control(ctx, ctl)
	}
	if c.snap != nil {
		if err := c.snapshot(ctl); err != nil {
			return err
		}
	}
	return c.next.control(ctx, ctl)
}

func (c *stageCore) snapshot(ctl engine.Control) error {
	w := &snapshot{state: checkpoint.State{Full: ctl.Full}}
	err := protect(c.name, Origin{}, func() error { return c.snap.Snapshot(ctl.Number, w) })
	if err != nil {
		return stageError(c.name, Origin{}, err)
	}
	c.a.coordinator.Snapshot(ctl.Number, c.party, w.state)
	return nil
}

// restore brings back the state of the checkpoint that the attempt starts from.
func (c *stageCore) restore() error {
	if c.snap == nil || c.a.from == nil {
		return nil
	}
	state, ok := c.a.from.States[c.name]
	if !ok {
		return nil
	}
	if err := c.snap.Restore(snapshotReader(state.Put)); err != nil {
		return err
	}
	c.countHeld()
	c.tally.In.Add(c.held) // they came in before this attempt
	return nil
}

// countHeld counts the records that the state stands for.
func (c *stageCore) countHeld() {
	if c.holder == nil {
		return
	}
	now := int64(c.holder.Held())
	c.tally.Held.Add(now - c.held)
	c.held = now
}

// Deadline returns when the stage is to act; it is part of the task that the stage runs in. A panic is told at once, by
// Expire.
func (c *stageCore) Deadline() (at time.Time, ok bool) {
	if c.finished {
		return time.Time{}, false
	}
	err := protect(c.name, Origin{}, func() error {
		at, ok = c.deadline()
		return nil
	})
	if err != nil {
		c.broken = err
		return time.Time{}, true
	}
	return at, ok
}

// Expire has the stage act.
func (c *stageCore) Expire(ctx context.Context, now time.Time) error {
	if c.broken != nil {
		return c.broken
	}
	return c.call(ctx, Origin{}, func() error { return c.expire(ctx, now) })
}

// snapshot collects the state of a stage.
type snapshot struct{ state checkpoint.State }

func (s *snapshot) Full() bool { return s.state.Full }

func (s *snapshot) Put(key, value []byte) {
	if s.state.Put == nil {
		s.state.Put = make(map[string][]byte)
	}
	s.state.Put[string(key)] = value
}

func (s *snapshot) Delete(key []byte) {
	delete(s.state.Put, string(key))
	if !s.state.Full {
		s.state.Deleted = append(s.state.Deleted, string(key))
	}
}

type snapshotReader map[string][]byte

// All goes through the entries by key, so that a start from the same checkpoint does the same.
func (r snapshotReader) All(f func(key, value []byte) bool) {
	for _, k := range slices.Sorted(maps.Keys(r)) {
		if !f([]byte(k), r[k]) {
			return
		}
	}
}

// protect calls user code and turns a panic into an error that names the stage and the record.
func protect(stage string, at Origin, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &StageError{Stage: stage, Origin: at, Err: &PanicError{Value: r, Stack: debug.Stack()}}
		}
	}()
	return f()
}

// stageError gives an error its place, unless it has one.
func stageError(stage string, at Origin, err error) error {
	if _, ok := err.(*StageError); ok {
		return err
	}
	return &StageError{Stage: stage, Origin: at, Err: err}
}
