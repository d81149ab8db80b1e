package runnel

import (
	"context"
	"sync"

	"github.com/runnel-go/runnel/internal/engine"
)

// edge is a channel to another task, as the receiver of the step before it.
type edge[T any] struct {
	link  *engine.Link
	to    receiver[T]
	tally *engine.Tally // of the node behind it
	free  sync.Pool
}

func newEdge[T any](link *engine.Link, to receiver[T], tally *engine.Tally) *edge[T] {
	return &edge[T]{link: link, to: to, tally: tally}
}

func (e *edge[T]) process(ctx context.Context, in Batch[T]) error {
	p, _ := e.free.Get().(*packet[T])
	if p == nil {
		p = &packet[T]{edge: e}
	}
	in.retain()
	p.batch = in
	if err := e.link.Send(ctx, p); err != nil {
		return err
	}
	e.link.Sent.Add(int64(in.Len()))
	return nil
}

func (e *edge[T]) control(ctx context.Context, c engine.Control) error { return e.link.Control(ctx, c) }

// packet is a batch in a channel.
type packet[T any] struct {
	batch Batch[T]
	edge  *edge[T]
}

// Deliver hands the batch to the step that the edge leads to.
func (p *packet[T]) Deliver(ctx context.Context, _ *engine.Task) error {
	e, b := p.edge, p.batch
	p.batch = Batch[T]{}
	e.free.Put(p)
	e.link.Received.Add(int64(b.Len()))
	dropped, err := passOwned(ctx, b, e.to)
	e.tally.Revoked.Add(int64(dropped))
	b.release()
	return err
}

// passOwned hands on the records whose assignment still holds and returns how many it dropped. Invariant 4: no stage
// receives a record of a partition that was given up.
func passOwned[T any](ctx context.Context, b Batch[T], to receiver[T]) (dropped int, err error) {
	if !b.revoked() {
		return 0, to.process(ctx, b)
	}
	owned := Batch[T]{}
	cols := &columns{}
	for i, v := range b.values {
		a := b.cols.assignment(b.at + i)
		if a != nil && a.Revoked() {
			continue
		}
		m := b.Meta(i)
		cols.add(&m)
		owned.values = append(owned.values, v)
	}
	owned.cols = cols
	dropped = b.Len() - owned.Len()
	if owned.Len() == 0 {
		return dropped, nil
	}
	return dropped, to.process(ctx, owned)
}
