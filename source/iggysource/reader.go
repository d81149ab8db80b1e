package iggysource

import (
	"context"
	"io"
	"sync"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/transport/wire"
)

// reader is a consumer that a pipeline has open.
type reader[T any] struct {
	consumer    *Consumer
	feed        *feed
	decode      func(m Message, to *T) error
	max         int
	untilMicros uint64 // messages that were stored from then on are not of the read; 0 for all
	buffers     runnel.Buffers[T]
	batch       *batch // that is not all read

	mu  sync.Mutex // held by Read, so that Close waits for it
	err error      // guarded by mu: what Read failed with
}

var (
	_ runnel.Reader[string]   = (*reader[string])(nil)
	_ runnel.PositionComparer = (*reader[string])(nil)
	_ runnel.Starter          = (*reader[string])(nil)
	_ runnel.Lagger           = (*reader[string])(nil)
)

// Read returns messages of one partition, or what there is to tell of one that comes or goes.
func (r *reader[T]) Read(ctx context.Context) (runnel.Fetch[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil {
		if err := ctx.Err(); err != nil {
			return runnel.Fetch[T]{}, context.Cause(ctx)
		}
		if b := r.batch; b != nil {
			fetch, left, err := r.take(b)
			if !left {
				r.batch = nil
				r.feed.done(b)
			}
			if err != nil {
				r.err = err
			}
			if len(fetch.Position) > 0 || err != nil {
				return fetch, err
			}
			continue
		}
		it, err := r.feed.awaitOrEnd(ctx)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				r.err = err
			}
			return runnel.Fetch[T]{}, err
		case it.err != nil:
			r.err = it.err
		case it.note != nil:
			if fetch, ok := told[T](r.feed, it.note); ok {
				return fetch, nil
			}
		default:
			r.batch = it.batch
		}
	}
	return runnel.Fetch[T]{}, r.err
}

// told makes a fetch of what there is to tell of a partition; ok is false if that is over.
func told[T any](f *feed, n *note) (fetch runnel.Fetch[T], ok bool) {
	name := partitionName(n.cursor.id)
	switch n.kind {
	case noteDrain:
		if !f.draining(n.cursor) {
			return fetch, false
		}
		fetch.Drain = func(error) { f.drained(n.cursor) }
	case noteGone:
		fetch.Position = checkpoint.Position{name: nil}
	case noteBegin:
		if n.assignment.Revoked() {
			return fetch, false
		}
		fetch.Position = checkpoint.Position{name: n.position}
		fetch.Drain = func(error) {}
	}
	return fetch, true
}

// take reads up to max messages of a batch. left is false if there are no more.
func (r *reader[T]) take(b *batch) (fetch runnel.Fetch[T], left bool, err error) {
	p := parsing[T]{reader: r, batch: b, draft: r.buffers.Take(min(r.max, max(1, b.count)))}
	left = true
	for range r.max {
		if b.run.ended.Load() || !b.records.Next() {
			left = false
			break
		}
		m := b.records.Message()
		b.next, b.from = m.Offset+1, true
		b.left--
		if m.Offset >= b.cursor.end.Load() || r.untilMicros > 0 && m.Timestamp >= r.untilMicros {
			b.next = m.Offset
			r.feed.finish(b, m.Offset)
			left = false
			break
		}
		p.add(m)
	}
	if why := b.records.Err(); why != nil && !left && !b.run.ended.Load() {
		err = r.broken(&p, b, why)
	}
	if p.good+len(p.failed) == 0 && err == nil {
		return p.fetch(), left, nil
	}
	b.lease.delivered.Store(b.next)
	fetch = p.fetch()
	fetch.Position = checkpoint.Position{partitionName(b.lease.partition): encodeToken(b.next, b.lease.context)}
	return fetch, left, err
}

// broken makes a failed record of the rest of a batch that is not what the protocol says, and reads on behind its first
// message. Where that is not known the read ends.
func (r *reader[T]) broken(p *parsing[T], b *batch, why error) error {
	e := r.feed.spoiled(b, b.next, nil, undecodable(why))
	if !b.from {
		return e
	}
	p.fail(wire.Message{Offset: b.next}, e)
	b.next++
	r.feed.skip(b)
	return nil
}

// Commit stores the offsets of the partitions that moved, if they are still read in the same life and ownership.
func (r *reader[T]) Commit(ctx context.Context, pos checkpoint.Position) error {
	return r.feed.commit(ctx, pos)
}

// Close ends the reader, and leaves the group.
func (r *reader[T]) Close(ctx context.Context) error {
	var err error
	r.feed.once.Do(func() {
		r.feed.close()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil || r.err == io.EOF { //nolint:errorlint // it is set to that itself
			r.err = runnel.ErrClosed
		}
		r.feed.revokeAll()
		err = r.feed.leaveGroup(ctx)
		r.consumer.giveBack(true)
	})
	return err
}

// ComparePosition compares the offsets of a partition in one life and one ownership.
func (r *reader[T]) ComparePosition(_ string, a, b []byte) int { return compareTokens(a, b) }

// Start returns where listed partitions begin.
func (r *reader[T]) Start() checkpoint.Position { return r.feed.startPosition() }

// Lag returns the messages that are known to be there and were not read, by partition.
func (r *reader[T]) Lag() map[string]int64 {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	lag := make(map[string]int64, len(f.order))
	for _, c := range f.order {
		if c.seen {
			lag[partitionName(c.id)] = int64(c.lag())
		}
	}
	return lag
}

// openMessage decrypts a message.
func (f *feed) openMessage(partition uint32, m wire.Message) (wire.Message, error) {
	opened, err := f.api.Open(partition, m)
	if err != nil {
		return m, unreadable(partition, m, err)
	}
	return opened, nil
}

// unreadable is the error for a message that cannot be decrypted or decoded.
func unreadable(partition uint32, m wire.Message, why error) *ReadError {
	return &ReadError{
		Partition: wire.Partition(partition), Err: why, Offset: m.Offset, Skip: FromOffset(m.Offset + 1), Record: &m,
	}
}
