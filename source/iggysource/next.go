package iggysource

import (
	"context"
	"errors"
	"iter"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// hand is what the caller that takes messages has. Nobody else touches it.
type hand struct {
	batch *batch // whose messages are handed out
	lease *lease // of the last message, if that does not count yet
	next  uint64 // offset behind it
	since uint32 // messages that count since the last store
}

// next puts the next message into m, which saves copies: it is a long struct.
func (f *feed) next(ctx context.Context, m *Message) error {
	f.countLast()
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if b := f.hand.batch; b != nil {
			ok, err := f.step(b, m)
			if ok || err != nil {
				return err
			}
			f.hand.batch = nil
			f.batchDone(b)
		}
		it, err := f.await(ctx)
		if err != nil {
			return err
		}
		if it.err != nil {
			return it.err
		}
		f.hand.batch = it.batch
	}
}

// step puts the next message of a batch into m; ok is false if there is none.
func (f *feed) step(b *batch, m *Message) (ok bool, err error) {
	for !b.run.ended.Load() && b.records.Next() {
		m.Message = b.records.Message()
		b.next, b.from = m.Offset+1, true
		b.left--
		if m.Offset < b.floor {
			continue
		}
		m.Partition, m.lease = b.lease.partition, b.lease
		if f.sealed {
			opened, err := f.api.Open(m.Partition, m.Message)
			if err != nil {
				record := m.Message // only this one has to be on the heap
				return false, f.spoiled(b, record.Offset, &record, err)
			}
			m.Message = opened
		}
		f.handedOut(b.lease, m.Offset+1)
		return true, nil
	}
	if why := b.records.Err(); why != nil && !b.run.ended.Load() {
		return false, f.spoiled(b, b.next, nil, undecodable(why))
	}
	return false, nil
}

// handedOut notes that a message is out.
func (f *feed) handedOut(l *lease, next uint64) {
	l.delivered.Store(next)
	if f.cfg.commits != commitAutomatically {
		return
	}
	switch f.cfg.auto.After {
	case AfterProcessing:
		f.hand.lease, f.hand.next = l, next
	case AfterDelivery:
		f.count(l, next)
	case AfterMark:
	}
}

// countLast lets the last message count: the next one is asked for.
func (f *feed) countLast() {
	if l := f.hand.lease; l != nil {
		f.hand.lease = nil
		f.count(l, f.hand.next)
	}
}

func (f *feed) count(l *lease, next uint64) {
	l.counted.Store(next)
	f.hand.since++
	if most := f.cfg.auto.Messages; most > 0 && f.hand.since >= most {
		f.hand.since = 0
		signal(f.due)
	}
}

func (f *feed) batchDone(b *batch) {
	f.done(b)
	if f.cfg.commits == commitAutomatically && f.cfg.auto.EachBatch {
		signal(f.due)
	}
}

// spoiled takes a message that cannot be read for the end of its batch, and has the partition read again from it after a
// while. The error says how to go past it.
func (f *feed) spoiled(b *batch, at uint64, record *wire.Message, why error) error {
	e := &ReadError{Partition: wire.Partition(b.lease.partition), Err: why, Record: record}
	if b.from {
		e.Offset, e.Skip = at, FromOffset(at+1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := b.cursor
	if c.run != b.run {
		return e
	}
	strategy := b.strategy
	if b.from {
		strategy = FromOffset(at)
	}
	c.restart(strategy)
	f.hold(c, retryInterval)
	return e
}

// await waits for something to hand out.
func (f *feed) await(ctx context.Context) (item, error) {
	for {
		it, ok := f.pull()
		if ok {
			return it, nil
		}
		if err := f.over(); err != nil {
			return item{}, err
		}
		select {
		case <-f.arrived:
		case <-f.gone:
			return item{}, ErrClosed
		case <-ctx.Done():
			f.asksNoMore()
			return item{}, context.Cause(ctx)
		}
	}
}

// asksNoMore notes that nobody waits for messages.
func (f *feed) asksNoMore() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking = false
}

// over returns why nothing will come any more, or nil.
func (f *feed) over() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	return f.broken
}

// Next returns the next message, and waits for it. The end of ctx ends the wait. One Next runs at a time; commits, marks,
// offsets and seeks run beside it. A [*ReadError] tells of what reading cannot get past by itself: Next can be called again,
// for other partitions and for what was sought. It is [ErrClosed] once the consumer is shut down.
func (c *Consumer) Next(ctx context.Context) (m Message, err error) {
	f := c.alone.Load()
	if f == nil {
		if f, err = c.ready(); err != nil {
			return m, err
		}
	}
	if err = f.next(ctx, &m); err != nil {
		return Message{}, err
	}
	return m, nil
}

// Messages hands out messages as they come, until ctx ends, which is the last error it yields, or the consumer is shut down,
// which ends it without one:
//
//	for m, err := range c.Messages(ctx) { … }
//
// A [*ReadError] tells what reading cannot get past by itself; it goes on behind it. It is [Consumer.Next] in a loop.
func (c *Consumer) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := c.Next(ctx)
			if errors.Is(err, ErrClosed) || !yield(m, err) || err != nil && !goesOn(ctx, err) {
				return
			}
		}
	}
}

// goesOn says whether there may be more messages behind an error.
func goesOn(ctx context.Context, err error) bool {
	var e *ReadError
	return ctx.Err() == nil && errors.As(err, &e) && client.CodeOf(e.Err) != wire.CodeClientShutdown
}
