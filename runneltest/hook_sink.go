package runneltest

import (
	"context"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// HookSink returns a sink whose calls go through a hook, and which is otherwise sink.
func HookSink[T any](sink runnel.Sink[T], h Hook) runnel.Sink[T] {
	return &hookedSink[T]{described: described{sink}, sink: sink, h: newHooked(h)}
}

type hookedSink[T any] struct {
	described
	sink runnel.Sink[T]
	h    *hooked
}

// Open opens the sink and finds the abilities of its writer.
func (s *hookedSink[T]) Open(ctx context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	var w runnel.Writer[T]
	err := s.h.call(ctx, OpOpenSink, func() (err error) {
		w, err = s.sink.Open(ctx, env)
		return err
	})
	if err != nil {
		return nil, err
	}
	plain := hookedWriter[T]{s.h, w}
	tx, isTx := w.(runnel.Transactional)
	decider, decides := w.(runnel.Decider)
	barrier, isLate := w.(runnel.Barrier)
	switch {
	case isTx && decides:
		return struct {
			hookedWriter[T]
			hookedTx
			hookedDecider
		}{plain, hookedTx{s.h, tx}, hookedDecider{s.h, decider}}, nil
	case isTx:
		return struct {
			hookedWriter[T]
			hookedTx
		}{plain, hookedTx{s.h, tx}}, nil
	case decides:
		return struct {
			hookedWriter[T]
			hookedDecider
		}{plain, hookedDecider{s.h, decider}}, nil
	case isLate:
		return struct {
			hookedWriter[T]
			hookedBarrier
		}{plain, hookedBarrier{s.h, barrier}}, nil
	}
	return plain, nil
}

type hookedWriter[T any] struct {
	h *hooked
	w runnel.Writer[T]
}

// Write writes.
func (w hookedWriter[T]) Write(ctx context.Context, batch runnel.Batch[T]) error {
	return w.h.call(ctx, OpWrite, func() error { return w.w.Write(ctx, batch) })
}

// Flush flushes.
func (w hookedWriter[T]) Flush(ctx context.Context) error {
	return w.h.call(ctx, OpFlush, func() error { return w.w.Flush(ctx) })
}

// Close closes.
func (w hookedWriter[T]) Close(ctx context.Context) error {
	return w.h.call(ctx, OpCloseSink, func() error { return w.w.Close(ctx) })
}

type hookedTx struct {
	h  *hooked
	tx runnel.Transactional
}

// Prepare prepares.
func (t hookedTx) Prepare(ctx context.Context, n checkpoint.Number) (token []byte, err error) {
	err = t.h.call(ctx, OpPrepare, func() (err error) {
		token, err = t.tx.Prepare(ctx, n)
		return err
	})
	return token, err
}

// Commit commits.
func (t hookedTx) Commit(ctx context.Context, n checkpoint.Number, token []byte) error {
	return t.h.call(ctx, OpCommit, func() error { return t.tx.Commit(ctx, n, token) })
}

// Abort aborts.
func (t hookedTx) Abort(ctx context.Context) error {
	return t.h.call(ctx, OpAbort, func() error { return t.tx.Abort(ctx) })
}

type hookedDecider struct {
	h *hooked
	d runnel.Decider
}

// Decide decides.
func (d hookedDecider) Decide(ctx context.Context, c *checkpoint.Checkpoint) error {
	return d.h.call(ctx, OpDecide, func() error { return d.d.Decide(ctx, c) })
}

// Decided asks.
func (d hookedDecider) Decided(ctx context.Context) (n checkpoint.Number, err error) {
	err = d.h.call(ctx, OpDecided, func() (err error) {
		n, err = d.d.Decided(ctx)
		return err
	})
	return n, err
}

type hookedBarrier struct {
	h *hooked
	b runnel.Barrier
}

// Barrier begins to flush. An error of the hook is the outcome: given at once in place of the call, or in place of a
// success.
func (b hookedBarrier) Barrier(ctx context.Context, done func(error)) {
	c, err := b.h.before(ctx, OpBarrier)
	if err != nil {
		done(err)
		return
	}
	b.b.Barrier(ctx, func(err error) {
		if err == nil {
			c.After = true
			err = b.h.hook(ctx, c)
		}
		done(err)
	})
}
