// Package sink has sinks that need no system outside the process: a slice ([Slice]), an iterator that the program
// ranges over ([Seq]), functions ([Func], [FuncBatch]), and one that only counts ([Discard]).
//
// All of them take a record when they return from it, so a checkpoint waits for nothing more. None is transactional:
// what a failure repeats arrives again. Sinks of systems are in the packages beside this one.
package sink

import (
	"context"
	"slices"
	"sync"

	"github.com/runnel-go/runnel"
)

// Slice is a sink that keeps what it receives. Make it with [NewSlice]. Its methods are safe for concurrent use, during
// a run and after it. It grows without limit.
type Slice[T any] struct {
	mu     sync.Mutex
	values []T           // guarded by mu
	meta   []runnel.Meta // guarded by mu
}

// NewSlice returns an empty slice sink.
func NewSlice[T any]() *Slice[T] { return &Slice[T]{} }

// Values returns a copy of the values received so far, in order. What was repeated after a failure is there twice.
func (s *Slice[T]) Values() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// Records returns the records received so far, in order.
func (s *Slice[T]) Records() []runnel.Record[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := make([]runnel.Record[T], len(s.values))
	for i, v := range s.values {
		records[i] = runnel.Record[T]{Value: v, Meta: s.meta[i]}
	}
	return records
}

// Len returns how many records were received so far.
func (s *Slice[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

// Describe names the kind.
func (s *Slice[T]) Describe() runnel.Traits { return runnel.Traits{Kind: "slice"} }

// Open adds to what is there.
func (s *Slice[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return sliceWriter[T]{s}, nil
}

type sliceWriter[T any] struct{ s *Slice[T] }

// Write copies the batch.
func (w sliceWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.s.values = append(w.s.values, batch.Values()...)
	for i := range batch.Len() {
		w.s.meta = append(w.s.meta, batch.Meta(i))
	}
	return nil
}

// Flush has nothing to do.
func (w sliceWriter[T]) Flush(context.Context) error { return nil }

// Close has nothing to do.
func (w sliceWriter[T]) Close(context.Context) error { return nil }
