package runneltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// TxSink is a transactional sink whose system is the memory of the test: what a run has prepared or committed there
// outlives it, what it only wrote does not. It refuses calls that come out of turn. Its methods are safe for concurrent
// use.
type TxSink[T any] struct {
	guard
	committed []T                       // guarded by mu, like all below
	newest    checkpoint.Number         // committed last
	prepared  map[checkpoint.Number][]T // and not committed
	log       []string
}

// NewTxSink returns a transactional sink that holds nothing.
func NewTxSink[T any]() *TxSink[T] {
	return &TxSink[T]{prepared: make(map[checkpoint.Number][]T)}
}

// Committed returns the values that are visible, in order.
func (s *TxSink[T]) Committed() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.committed)
}

// Prepared returns the numbers that are prepared and neither committed nor given up.
func (s *TxSink[T]) Prepared() []checkpoint.Number {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.prepared))
}

// Log returns what happened, in order: "open 2", "prepare 3", "commit 3", "abort"; "finish 2" and "drop 3" are what an
// Open did with what it found.
func (s *TxSink[T]) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// AwaitCommitted waits until n values are visible at least, and returns them.
func (s *TxSink[T]) AwaitCommitted(tb testing.TB, n int) []T {
	tb.Helper()
	s.await(tb, func() bool { return len(s.committed) >= n }, func() string {
		return fmt.Sprintf("%d values to be committed; %d are", n, len(s.committed))
	})
	return s.Committed()
}

// Describe says that the sink is transactional.
func (s *TxSink[T]) Describe() runnel.Traits {
	return runnel.Traits{Kind: "tx", Transactional: true}
}

// Open finishes what was prepared for the checkpoint that the run starts from, and drops what else is prepared if it
// can know that this is its own.
func (s *TxSink[T]) Open(_ context.Context, env runnel.SinkEnv) (runnel.Writer[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("open", env.From)
	if env.Prepared == nil {
		return &txWriter[T]{s: s}, nil
	}
	n, err := strconv.ParseUint(string(env.Prepared), 10, 64)
	if err != nil || checkpoint.Number(n) != env.From {
		return nil, fmt.Errorf("runneltest: a token for checkpoint %q at checkpoint %d", env.Prepared, env.From)
	}
	if err := s.commit(env.From, "finish"); err != nil {
		return nil, err
	}
	for _, n := range slices.Sorted(maps.Keys(s.prepared)) {
		s.note("drop", n)
		delete(s.prepared, n)
	}
	return &txWriter[T]{s: s}, nil
}

func (s *TxSink[T]) note(what string, n checkpoint.Number) {
	s.log = append(s.log, fmt.Sprintf("%s %d", what, n))
	s.broadcast()
}

// commit makes what was prepared visible, once.
func (s *TxSink[T]) commit(n checkpoint.Number, what string) error {
	values, ok := s.prepared[n]
	switch {
	case ok:
		s.committed = append(s.committed, values...)
		s.newest = n
		delete(s.prepared, n)
		s.note(what, n)
	case n > s.newest:
		return fmt.Errorf("runneltest: checkpoint %d is to be committed and was never prepared", n)
	}
	return nil
}

// txWriter is one process that writes to a TxSink.
type txWriter[T any] struct {
	s        *TxSink[T]
	written  []T
	prepared checkpoint.Number // and not committed; 0: none
	closed   bool
}

func (w *txWriter[T]) usable() error {
	if w.closed {
		return errors.New("runneltest: the writer is closed")
	}
	return nil
}

// Write keeps the values in the process.
func (w *txWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	if w.prepared != 0 {
		return errors.New("runneltest: a write between prepare and commit")
	}
	w.written = append(w.written, batch.Values()...)
	return w.usable()
}

// Flush has nothing to do: Prepare does it.
func (w *txWriter[T]) Flush(context.Context) error { return w.usable() }

// Prepare moves what was written to the system.
func (w *txWriter[T]) Prepare(_ context.Context, n checkpoint.Number) ([]byte, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	switch {
	case w.closed:
		return nil, w.usable()
	case w.prepared != 0:
		return nil, errors.New("runneltest: two prepares without a commit")
	case n <= w.s.newest:
		return nil, fmt.Errorf("runneltest: prepare %d behind commit %d", n, w.s.newest)
	}
	w.s.prepared[n] = w.written
	w.written, w.prepared = nil, n
	w.s.note("prepare", n)
	return strconv.AppendUint(nil, uint64(n), 10), nil
}

// Commit makes what was prepared visible.
func (w *txWriter[T]) Commit(_ context.Context, n checkpoint.Number, token []byte) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if string(token) != strconv.FormatUint(uint64(n), 10) {
		return fmt.Errorf("runneltest: commit %d with token %q", n, token)
	}
	w.prepared = 0
	if err := w.usable(); err != nil {
		return err
	}
	return w.s.commit(n, "commit")
}

// Abort gives up what was written. What was prepared is left to the next Open.
func (w *txWriter[T]) Abort(context.Context) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.written = nil
	w.s.log = append(w.s.log, "abort")
	w.s.broadcast()
	return w.usable()
}

// Close ends the process.
func (w *txWriter[T]) Close(context.Context) error {
	w.closed = true
	return nil
}
