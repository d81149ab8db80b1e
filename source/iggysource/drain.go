package iggysource

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/transport/wire"
)

// awaitOrEnd is await for a read that may have an end.
func (f *feed) awaitOrEnd(ctx context.Context) (item, error) {
	for {
		it, ok := f.pull()
		if ok {
			return it, nil
		}
		if err := f.over(); errors.Is(err, ErrClosed) {
			return item{}, runnel.ErrClosed
		} else if err != nil {
			return item{}, err
		}
		if f.exhausted() {
			return item{}, io.EOF
		}
		select {
		case <-f.arrived:
		case <-f.gone:
			return item{}, runnel.ErrClosed
		case <-ctx.Done():
			return item{}, context.Cause(ctx)
		}
	}
}

// draining says whether a partition is still about to be given back.
func (f *feed) draining(c *cursor) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursors[c.id] == c && c.leaving
}

// drained gives a partition back: what was read of it is committed, or will not be.
func (f *feed) drained(c *cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cursors[c.id] == c && !f.closed {
		f.expel(c)
	}
}

// finish ends reading a partition before an offset.
func (f *feed) finish(b *batch, end uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := b.cursor
	if c.run != b.run {
		return
	}
	c.end.Store(end)
	c.ended = true
	c.restart(FromOffset(end))
	signal(f.arrived)
}

// skip reads a partition on behind a message that cannot be read.
func (f *feed) skip(b *batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := b.cursor
	if c.strategy == FromOffset(b.next-1) {
		c.strategy = FromOffset(b.next)
		c.resume()
		f.checkEnd(c)
		f.pump()
	}
}

// startPosition returns where listed partitions begin. Those of a group begin where its offsets say.
func (f *feed) startPosition() checkpoint.Position {
	if f.cfg.group {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pos := make(checkpoint.Position, len(f.order))
	for _, c := range f.order {
		pos[partitionName(c.id)] = encodeToken(c.strategy.Value, c.under)
	}
	return pos
}

// commit stores the offsets of a position.
func (f *feed) commit(ctx context.Context, pos checkpoint.Position) error {
	var group errgroup.Group
	group.SetLimit(mostStores)
	errs := make(chan error, len(pos))
	for name, token := range pos {
		group.Go(func() error {
			if err := f.commitOne(ctx, name, token); err != nil {
				errs <- fmt.Errorf("iggysource: partition %s: %w", name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // they return nil
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// commitOne stores the offset of a partition, unless it is read under another life or ownership by now.
func (f *feed) commitOne(ctx context.Context, name string, token []byte) error {
	id, err := partitionNamed(name)
	if err != nil {
		return err
	}
	next, under, err := decodeToken(token)
	if err != nil || next == 0 {
		return err
	}
	l, present := f.present(id)
	switch {
	case l == nil || f.cfg.group && !sameHold(under, present):
		f.stats.refused.Add(1)
		return fmt.Errorf("offset %d: %w", next-1, runnel.ErrNotOwned)
	case present.Incarnation == 0:
		return nil // nothing was read of it: it is where it began
	}
	if under.Incarnation != 0 && under.Incarnation != present.Incarnation {
		f.stats.refused.Add(1)
		return fmt.Errorf("offset %d is of another life of the partition: %w", next-1, runnel.ErrNotOwned)
	}
	err = f.store(ctx, l, next-1)
	switch {
	case refusesOffset(err):
		return fmt.Errorf("%w: %w", err, runnel.ErrNotOwned)
	case errors.Is(err, wire.CodeInvalidOffset) && !f.cfg.group:
		f.log.Warn("iggy: the server does not take an offset, which the pipeline's store has", "partition", name, "err", err)
		return nil
	}
	return err
}

// revokeAll ends all assignments: records of this attempt go no further.
func (f *feed) revokeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.order {
		c.lease.assignment.Revoke()
	}
}
