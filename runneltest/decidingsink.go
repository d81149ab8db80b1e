package runneltest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// DecidingSink is a sink that decides checkpoints: rows and the checkpoint's number become durable in one transaction
// of a system that is the memory of the test. Its methods are safe for concurrent use.
type DecidingSink[T any] struct {
	guard
	rows    []T               // guarded by mu
	decided checkpoint.Number // guarded by mu
}

// NewDecidingSink returns a deciding sink that holds nothing.
func NewDecidingSink[T any]() *DecidingSink[T] { return &DecidingSink[T]{} }

// Committed returns the values that are visible, in order.
func (s *DecidingSink[T]) Committed() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows)
}

// Decided returns the newest checkpoint that was decided.
func (s *DecidingSink[T]) Decided() checkpoint.Number {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decided
}

// Describe says that the sink decides.
func (s *DecidingSink[T]) Describe() runnel.Traits {
	return runnel.Traits{Kind: "decide", Decides: true}
}

// Open begins a transaction.
func (s *DecidingSink[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return &decidingWriter[T]{s: s}, nil
}

// decidingWriter is one process that writes to a DecidingSink.
type decidingWriter[T any] struct {
	s       *DecidingSink[T]
	written []T
	closed  bool
}

func (w *decidingWriter[T]) usable() error {
	if w.closed {
		return errors.New("runneltest: the writer is closed")
	}
	return nil
}

// Write adds to the transaction.
func (w *decidingWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	w.written = append(w.written, batch.Values()...)
	return w.usable()
}

// Flush has nothing to do: Decide does it.
func (w *decidingWriter[T]) Flush(context.Context) error { return w.usable() }

// Decide commits the transaction.
func (w *decidingWriter[T]) Decide(_ context.Context, c *checkpoint.Checkpoint) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if c.Number <= w.s.decided {
		return fmt.Errorf("runneltest: decide %d behind %d", c.Number, w.s.decided)
	}
	if err := w.usable(); err != nil {
		return err
	}
	w.s.rows = append(w.s.rows, w.written...)
	w.s.decided = c.Number
	w.written = nil
	w.s.broadcast()
	return nil
}

// Decided returns what the system holds.
func (w *decidingWriter[T]) Decided(context.Context) (checkpoint.Number, error) {
	return w.s.Decided(), w.usable()
}

// Close ends the process; an open transaction is gone.
func (w *decidingWriter[T]) Close(context.Context) error {
	w.closed = true
	return nil
}
