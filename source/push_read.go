package source

import (
	"context"
	"fmt"
	"io"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
)

// pushReader is a Push in the hands of one attempt of a run. Its fields are guarded by push.mu.
type pushReader[T any] struct {
	offsets
	push    *Push[T]
	max     int
	numbers sequence
	closed  bool
	watched <-chan struct{} // of the context whose end stops the taking
	unwatch func() bool
}

// Read waits for records. When it is called, what it returned before has been handed on.
func (r *pushReader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	p := r.push
	p.mu.Lock()
	defer p.mu.Unlock()
	r.handedOn()
	r.watch(ctx)
	for {
		switch {
		case r.closed:
			return runnel.Fetch[T]{}, runnel.ErrClosed
		case ctx.Err() != nil:
			return runnel.Fetch[T]{}, context.Cause(ctx)
		case len(p.queue) > 0:
			fetch := fetchOf(&r.numbers, r.take())
			p.next = r.numbers.next
			return fetch, nil
		case p.ended:
			return runnel.Fetch[T]{}, io.EOF
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
}

// watch refuses senders as soon as the pipeline wants no more, also while no Read runs.
func (r *pushReader[T]) watch(ctx context.Context) {
	if r.watched == ctx.Done() || r.closed {
		return
	}
	if r.unwatch != nil {
		r.unwatch()
	}
	r.watched = ctx.Done()
	r.unwatch = context.AfterFunc(ctx, func() {
		r.push.mu.Lock()
		defer r.push.mu.Unlock()
		if r.push.reader == r && r.watched == ctx.Done() {
			r.push.refuse(context.Cause(ctx))
		}
	})
}

// take takes from the queue what fits into a fetch.
func (r *pushReader[T]) take() runnel.Batch[T] {
	p := r.push
	n, withMeta := 0, false
	for _, e := range p.queue {
		n += len(e.values) - e.taken
		withMeta = withMeta || e.meta != nil
	}
	n = min(n, r.max)
	values := make([]T, 0, n)
	var meta []runnel.Meta
	if withMeta {
		meta = make([]runnel.Meta, n)
	}
	for len(values) < n {
		e := p.queue[0]
		part := min(n-len(values), len(e.values)-e.taken)
		if e.meta != nil {
			copy(meta[len(values):], e.meta[e.taken:e.taken+part])
		}
		values = append(values, e.values[e.taken:e.taken+part]...)
		if e.taken += part; e.taken < len(e.values) {
			break
		}
		e.end = r.numbers.next + int64(len(values))
		e.values, e.meta = nil, nil
		p.queue[0] = nil
		p.queue = p.queue[1:]
		p.inHand = append(p.inHand, e)
		if e.ack != nil {
			p.unacked = append(p.unacked, e)
		}
	}
	return runnel.NewBatch(values, meta)
}

// handedOn answers those whose records the pipeline has now.
func (r *pushReader[T]) handedOn() {
	for _, e := range r.push.inHand {
		e.handed.settle(nil)
	}
	r.push.inHand = nil
}

// Commit answers those who wait for it.
func (r *pushReader[T]) Commit(_ context.Context, pos checkpoint.Position) error {
	next, err := startAt(pos)
	if err != nil {
		return err
	}
	p := r.push
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.unacked[:0]
	for _, e := range p.unacked {
		if e.end > next {
			left = append(left, e)
			continue
		}
		e.settle(nil)
	}
	clear(p.unacked[len(left):])
	p.unacked = left
	return nil
}

// Abandon refuses to their senders the records that were not committed.
func (r *pushReader[T]) Abandon(cause error) {
	r.push.mu.Lock()
	defer r.push.mu.Unlock()
	r.push.refuse(cause)
	r.settleTaken(fmt.Errorf("source: push: not acknowledged: %w", closedBy(cause)))
}

// Close refuses what nobody has answered yet: what was read while the run stopped, and who still wants to send.
func (r *pushReader[T]) Close(context.Context) error {
	p := r.push
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if r.unwatch != nil {
		r.unwatch()
	}
	r.settleTaken(runnel.ErrClosed)
	p.refuse(nil)
	p.reader = nil
	return nil
}

// settleTaken answers those whose records were taken.
func (r *pushReader[T]) settleTaken(err error) {
	p := r.push
	for _, e := range p.inHand {
		e.settle(err)
	}
	for _, e := range p.unacked {
		e.settle(err)
	}
	p.inHand, p.unacked = nil, nil
}
