package main

import (
	"context"

	"golang.org/x/sync/errgroup"
)

const (
	batchSize = 1024
	inFlight  = 4 // batches in a channel: enough that a goroutine finds one waiting, little enough to stay in the cache
)

// hops is a chain of goroutines with channels of batches between them, as one writes it by hand: a source, a goroutine for each step
// but the last, and one for the last step and the counting, which hands the batches back to the source.
type hops[B any] struct {
	fresh func() B                  // makes a batch
	fill  func(b B, from, to int) B // makes its content records from to …
	steps []func(B) B               // change a batch in place
	size  func(b B) int             // records in it
}

func (h hops[B]) run(ctx context.Context, n int) (count int64, err error) {
	g, ctx := errgroup.WithContext(ctx)
	spare := make(chan B, (len(h.steps)+1)*inFlight)
	in := make(chan B, inFlight)
	source := in
	g.Go(func() error { return h.produce(ctx, n, spare, source) })
	last := len(h.steps) - 1
	for _, f := range h.steps[:last] {
		from, to := in, make(chan B, inFlight)
		g.Go(func() error { return step(ctx, from, to, f) })
		in = to
	}
	g.Go(func() error {
		f := h.steps[last]
		for b := range in {
			b = f(b)
			count += int64(h.size(b))
			give(spare, b)
		}
		return nil
	})
	err = g.Wait()
	return count, err
}

func (h hops[B]) produce(ctx context.Context, n int, spare <-chan B, out chan<- B) error {
	defer close(out)
	for from := 0; from < n; from += batchSize {
		b := h.fill(take(spare, h.fresh), from, min(from+batchSize, n))
		if err := send(ctx, out, b); err != nil {
			return err
		}
	}
	return nil
}

func step[B any](ctx context.Context, in <-chan B, out chan<- B, f func(B) B) error {
	defer close(out)
	for b := range in {
		if err := send(ctx, out, f(b)); err != nil {
			return err
		}
	}
	return nil
}

func send[T any](ctx context.Context, out chan<- T, v T) error {
	select {
	case out <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take returns what has been given back, or else something fresh.
func take[T any](spare <-chan T, fresh func() T) T {
	select {
	case v := <-spare:
		return v
	default:
		return fresh()
	}
}

// give puts something back; where there is enough already, it is dropped.
func give[T any](spare chan<- T, v T) {
	select {
	case spare <- v:
	default:
	}
}
