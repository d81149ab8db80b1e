package iggysink

import (
	"context"

	"github.com/runnel-go/runnel"
)

// Flush writes what is there and returns when the server has stored it, or with the records of the first request that failed.
func (w *writer[T]) Flush(ctx context.Context) error {
	if w.closed {
		return runnel.ErrClosed
	}
	w.mu.Lock()
	failed := w.halt == untold
	w.flushing = !failed
	w.mu.Unlock()
	if failed {
		return w.tell()
	}
	w.resume()
	w.q.flush()
	for {
		done, changed := w.flushed()
		if done {
			return w.tell()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.mu.Lock()
			w.flushing = false
			w.mu.Unlock()
			return context.Cause(ctx)
		}
	}
}

// flushed says whether a flush ends: all is settled, or a request failed.
func (w *writer[T]) flushed() (bool, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := w.settled == w.queued || w.halt != running
	w.flushing = !done
	return done, w.changed
}

// Barrier makes the worker write what is there, and calls done when it is settled. If a record was refused that nobody knows of
// yet, done gets it at once: the pipeline flushes then.
func (w *writer[T]) Barrier(_ context.Context, done func(error)) {
	if w.closed {
		done(runnel.ErrClosed)
		return
	}
	w.mu.Lock()
	resumes := w.halt == told
	w.mu.Unlock()
	if resumes {
		w.resume()
	}
	w.q.flush()
	w.mu.Lock()
	if w.halt == untold {
		w.halt = reported
	}
	err := w.take()
	b := barrier{upTo: w.queued, carry: len(w.carry) > 0, done: done}
	if err == nil && (b.carry || w.settled < b.upTo) {
		w.barriers = append(w.barriers, b)
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	done(err)
}

// resume goes on behind a failure, with what was carried first: it is buffered whether or not there is room, and what markers wait
// for is written at once.
func (w *writer[T]) resume() {
	for i := range w.carry {
		for c := &w.carry[i]; c.row < c.batch.Len(); {
			w.fill(w.ctx, c, true)
		}
	}
	w.carry = nil
	w.mu.Lock()
	waiting := len(w.barriers) > 0
	for i := range w.barriers {
		if b := &w.barriers[i]; b.carry {
			b.upTo, b.carry = w.queued, false
		}
	}
	goes := w.halt == running
	w.halt = running
	if !goes {
		w.change()
	}
	w.mu.Unlock()
	if waiting {
		w.q.flush()
	}
}

// change tells those who wait for a change, under mu.
func (w *writer[T]) change() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Close ends the worker. What was not flushed is dropped, or may still have been written.
func (w *writer[T]) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.cancel(runnel.ErrClosed)
	w.q.close()
	var err error
	select {
	case <-w.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	w.mu.Lock()
	barriers := w.barriers
	w.barriers = nil
	w.mu.Unlock()
	for _, b := range barriers {
		b.done(runnel.ErrClosed)
	}
	w.release()
	return err
}
