package source

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// indexedReader reads what is found by index.
type indexedReader[T any] struct {
	offsets
	n       int64
	endless bool
	max     int64
	take    take[T]
	at      atomic.Int64 // the index read next; only Read changes it
}

// Read never waits.
func (r *indexedReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	if ctx.Err() != nil {
		return runnel.Fetch[T]{}, context.Cause(ctx)
	}
	lo := r.at.Load()
	if lo >= r.n {
		return runnel.Fetch[T]{}, io.EOF
	}
	hi := min(lo+r.max, r.n)
	fetch := runnel.Fetch[T]{Batch: r.take(lo, hi), Position: positionAt(hi)}
	r.at.Store(hi)
	return fetch, nil
}

// Commit has nobody to tell.
func (r *indexedReader[T]) Commit(context.Context, checkpoint.Position) error { return nil }

// Close has nothing to end.
func (r *indexedReader[T]) Close(context.Context) error { return nil }

// Lag returns how many records are still to be read.
func (r *indexedReader[T]) Lag() map[string]int64 {
	if r.endless {
		return nil
	}
	return map[string]int64{partition: r.n - r.at.Load()}
}
