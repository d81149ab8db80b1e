package runneltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/runnel-go/runnel"
)

// LateSink is a sink that acknowledges markers later, when the test says so. What is not acknowledged is lost with the
// run. Its methods are safe for concurrent use.
type LateSink[T any] struct {
	guard
	durable []T // guarded by mu, like all below
	writer  *lateWriter[T]
	auto    bool
	markers int // that came, of all runs
}

// NewLateSink returns a late sink that holds nothing.
func NewLateSink[T any]() *LateSink[T] { return &LateSink[T]{} }

// Durable returns the values whose markers were acknowledged, in order.
func (s *LateSink[T]) Durable() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.durable)
}

// Received returns the values that the present run has written, in order.
func (s *LateSink[T]) Received() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		return nil
	}
	return slices.Clone(s.writer.written)
}

// AwaitReceived waits until the present run has written n values at least.
func (s *LateSink[T]) AwaitReceived(tb testing.TB, n int) {
	tb.Helper()
	count := func() int {
		if s.writer == nil {
			return 0
		}
		return len(s.writer.written)
	}
	s.await(tb, func() bool { return count() >= n }, func() string {
		return fmt.Sprintf("%d values to be written; %d are", n, count())
	})
}

// AwaitMarkers waits until n markers have come at least, of all runs together.
func (s *LateSink[T]) AwaitMarkers(tb testing.TB, n int) {
	tb.Helper()
	s.await(tb, func() bool { return s.markers >= n }, func() string {
		return fmt.Sprintf("marker %d to come; %d have", n, s.markers)
	})
}

// Ack acknowledges the oldest marker that waits: with nil, what was written before it becomes durable; with an error it
// does not. It says whether there was one.
func (s *LateSink[T]) Ack(err error) bool {
	s.mu.Lock()
	if s.writer == nil || len(s.writer.waiting) == 0 {
		s.mu.Unlock()
		return false
	}
	done := s.writer.ack(err)
	s.mu.Unlock()
	done(err)
	return true
}

// AckAll acknowledges the markers that wait, and from now on each marker as it comes.
func (s *LateSink[T]) AckAll() {
	s.mu.Lock()
	s.auto = true
	s.mu.Unlock()
	for s.Ack(nil) {
	}
}

// Describe names the kind.
func (s *LateSink[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "late"} }

// Open forgets what a former run has written and not made durable.
func (s *LateSink[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writer = &lateWriter[T]{s: s}
	return s.writer, nil
}

// lateWriter is one process that writes to a LateSink. Its fields are guarded by s.mu.
type lateWriter[T any] struct {
	s       *LateSink[T]
	written []T
	durable int // how many of these are
	waiting []lateMarker
	closed  bool
}

type lateMarker struct {
	at   int // how much was written before it
	done func(error)
}

// ack takes the oldest marker away and returns its callback.
func (w *lateWriter[T]) ack(err error) func(error) {
	m := w.waiting[0]
	w.waiting = w.waiting[1:]
	if err == nil {
		w.s.durable = append(w.s.durable, w.written[w.durable:m.at]...)
		w.durable = m.at
		w.s.broadcast()
	}
	return m.done
}

// Write keeps the values in the process.
func (w *lateWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.closed {
		return errors.New("runneltest: the writer is closed")
	}
	w.written = append(w.written, batch.Values()...)
	w.s.broadcast()
	return nil
}

// Barrier notes the marker, and acknowledges it if the test has said so before.
func (w *lateWriter[T]) Barrier(_ context.Context, done func(error)) {
	w.s.mu.Lock()
	w.waiting = append(w.waiting, lateMarker{len(w.written), done})
	w.s.markers++
	auto := w.s.auto
	w.s.broadcast()
	w.s.mu.Unlock()
	if auto {
		w.s.Ack(nil)
	}
}

// Flush makes everything durable, as after records that were refused.
func (w *lateWriter[T]) Flush(context.Context) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.s.durable = append(w.s.durable, w.written[w.durable:]...)
	w.durable = len(w.written)
	w.s.broadcast()
	return nil
}

// Close ends the process.
func (w *lateWriter[T]) Close(context.Context) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.closed = true
	if w.s.writer == w {
		w.s.writer = nil
	}
	return nil
}
