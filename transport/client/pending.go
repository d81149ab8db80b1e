package client

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// pending bounds the writes that are under way or kept.
type pending struct {
	operations *semaphore.Weighted
	bytes      *semaphore.Weighted
	most       int64
}

func newPending(operations int, bytes int64) *pending {
	return &pending{semaphore.NewWeighted(int64(operations)), semaphore.NewWeighted(bytes), bytes}
}

// take waits for room for a frame. One that is longer than all room takes all of it.
func (p *pending) take(ctx context.Context, bytes int) error {
	if err := p.operations.Acquire(ctx, 1); err != nil {
		return context.Cause(ctx)
	}
	if err := p.bytes.Acquire(ctx, min(int64(bytes), p.most)); err != nil {
		p.operations.Release(1)
		return context.Cause(ctx)
	}
	return nil
}

// give makes the room free again.
func (p *pending) give(bytes int) {
	p.bytes.Release(min(int64(bytes), p.most))
	p.operations.Release(1)
}
