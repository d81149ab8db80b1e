package sink

import (
	"context"
	"sync/atomic"

	"github.com/runnel-go/runnel"
)

// Counter is a sink that drops what it receives and counts it. Make it with [Discard].
type Counter[T any] struct{ n atomic.Int64 }

// Discard returns a sink that drops what it receives and counts it.
func Discard[T any]() *Counter[T] { return &Counter[T]{} }

// Count returns how many records were received so far. What was repeated after a failure counts twice.
func (c *Counter[T]) Count() int64 { return c.n.Load() }

// Describe says that writing twice does no harm.
func (c *Counter[T]) Describe() runnel.Traits {
	return runnel.Traits{Kind: "discard", Idempotent: true}
}

// Open counts on.
func (c *Counter[T]) Open(context.Context, runnel.SinkEnv) (runnel.Writer[T], error) {
	return counterWriter[T]{c}, nil
}

type counterWriter[T any] struct{ c *Counter[T] }

// Write counts.
func (w counterWriter[T]) Write(_ context.Context, batch runnel.Batch[T]) error {
	w.c.n.Add(int64(batch.Len()))
	return nil
}

// Flush has nothing to do.
func (w counterWriter[T]) Flush(context.Context) error { return nil }

// Close has nothing to do.
func (w counterWriter[T]) Close(context.Context) error { return nil }
