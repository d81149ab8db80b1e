package iggysink

import (
	"errors"

	"github.com/runnel-go/runnel/transport/wire"
)

// work writes what comes into the queue, until the writer is closed.
func (w *writer[T]) work() {
	defer close(w.ended)
	for b := w.q.take(w.ctx); b != nil; b = w.q.take(w.ctx) {
		if !w.writeAll(b) {
			break
		}
	}
	for _, b := range w.q.rest() {
		for _, r := range b.requests {
			w.drop(r)
		}
	}
}

// writeAll writes the requests of a buffer in turn. Behind one that failed it waits until the pipeline goes on. It is false if the
// writer is closed.
func (w *writer[T]) writeAll(b *buffer) bool {
	failed := false
	for i, r := range b.requests {
		_, _, err := w.p.transmit(w.ctx, r.to, r.by, w.idempotent, r.messages)
		if w.ctx.Err() != nil && err != nil {
			_ = w.p.giveUp(err, nil) // the pipeline reads it again; nothing is to stand in the way of that
			for _, left := range b.requests[i:] {
				w.drop(left)
			}
			return false
		}
		w.drop(r)
		if err == nil {
			w.p.counts.wrote(len(r.messages))
			continue
		}
		failed = true
		w.failed(b, r, err)
		w.awaitDecision()
	}
	w.settle(b)
	if !failed {
		b.free()
	}
	return true
}

// drop gives back the room of a request.
func (w *writer[T]) drop(r *request) {
	w.used.Add(-r.bytes)
	w.p.counts.buffered.Add(-int64(len(r.messages)))
	w.p.counts.bufferedBytes.Add(-r.bytes)
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	w.q.stir()
}

// settle takes note of a buffer that is done, and acknowledges the markers behind it.
func (w *writer[T]) settle(b *buffer) {
	w.mu.Lock()
	for _, r := range b.requests {
		w.settled += uint64(len(r.messages))
	}
	old := 0
	for old < len(w.held) && w.held[old].first+uint64(w.held[old].batch.Len()) <= b.behind {
		old++
	}
	clear(w.held[:old])
	w.held = w.held[old:]
	var due []func(error)
	for len(w.barriers) > 0 && !w.barriers[0].carry && w.barriers[0].upTo <= w.settled {
		due = append(due, w.barriers[0].done)
		w.barriers = w.barriers[1:]
	}
	w.change()
	w.mu.Unlock()
	for _, done := range due {
		done(nil)
	}
}

// failed notes the records of a request that failed. If a marker waits for them it is told; otherwise the next call is.
func (w *writer[T]) failed(b *buffer, r *request, err error) {
	if errors.Is(err, wire.CodePartitionNotFound) {
		w.stale.Store(true)
	}
	recordErr := w.p.recordError(err)
	lost := 0
	if uncertain(err) {
		lost = len(r.messages)
	}
	w.p.counts.lost(len(r.messages), lost)
	w.mu.Lock()
	at := 0
	for _, row := range r.rows {
		n := b.first + uint64(row)
		for n >= w.held[at].first+uint64(w.held[at].batch.Len()) {
			at++
		}
		w.refused.Failed = append(w.refused.Failed, w.held[at].batch.Record(int(n-w.held[at].first)))
		w.refused.Errs = append(w.refused.Errs, recordErr)
	}
	w.halt = untold
	var report func(error)
	var all error
	if len(w.barriers) > 0 && !w.flushing {
		w.halt, report, all = reported, w.barriers[0].done, w.take()
		w.barriers = w.barriers[1:]
	}
	w.change()
	w.mu.Unlock()
	w.q.mu.Lock()
	w.q.stir()
	w.q.mu.Unlock()
	if report != nil {
		report(all)
	}
}

// awaitDecision waits until the pipeline goes on behind a failure, or the writer is closed.
func (w *writer[T]) awaitDecision() {
	for {
		w.mu.Lock()
		goes, changed := w.halt == running, w.changed
		w.mu.Unlock()
		if goes {
			return
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return
		}
	}
}
