package iggysource

import (
	"context"
	"errors"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// storeLoop stores what counts as handled, whenever it is due.
func (f *feed) storeLoop(ctx context.Context) {
	var tick <-chan time.Time
	if d := f.cfg.auto.Interval; d > 0 {
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-tick:
		case <-f.due:
		case <-ctx.Done():
			return
		}
		if err := f.flush(ctx); err != nil && ctx.Err() == nil {
			f.log.Warn("iggy: offsets were not stored, which is tried again", "err", err)
		}
	}
}

// flush stores the newest offset that counts of each partition. What is refused because the partition has another life or
// another owner is dropped: who has it now reads on from the offset before.
func (f *feed) flush(ctx context.Context) error {
	var errs []error
	for _, l := range f.all() {
		if err := f.flushLease(ctx, l); err != nil {
			errs = append(errs, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.parting[:0]
	for _, l := range f.parting {
		if f.cfg.commits == commitAutomatically && l.stored.Load() < l.counted.Load() && !l.old.Load() {
			kept = append(kept, l)
		}
	}
	clear(f.parting[len(kept):])
	f.parting = kept
	return errors.Join(errs...)
}

func (f *feed) flushLease(ctx context.Context, l *lease) error {
	if f.cfg.commits == commitOnRead {
		return f.moveBack(ctx, l)
	}
	counted := l.counted.Load()
	if l.old.Load() || counted <= l.stored.Load() {
		return nil
	}
	err := f.store(ctx, l, counted-1)
	if refusesOffset(err) {
		f.log.Info("iggy: an offset was refused and is dropped", "partition", l.partition, "offset", counted-1, "err", err)
		l.stored.Store(counted)
		return nil
	}
	return err
}

// moveBack stores the offset of the last message that was handed out of a partition that is not read any more, where a read
// has stored that of one which was not. It is done once.
func (f *feed) moveBack(ctx context.Context, l *lease) error {
	f.mu.Lock()
	read, next := l.read, max(l.delivered.Load(), l.base)
	l.read = 0
	f.mu.Unlock()
	if read <= next {
		return nil
	}
	of := f.cfg.partition(l.partition)
	var err error
	if next == 0 {
		err = f.api.DeleteOffset(ctx, f.who, of, l.context)
	} else {
		err = f.api.StoreOffset(ctx, f.who, of, next-1, l.context)
	}
	if err = f.noteStored(l.partition, err); refusesOffset(err) {
		return nil // another member has it already
	}
	return err
}

// readUpTo notes up to where a partition was read that is not read any more. The lock is held.
func (c *cursor) readUpTo() {
	if c.strategy.Kind == wire.FromOffset {
		c.lease.read = c.strategy.Value
	}
}

// countHandedOut lets all messages count that were handed out, as the consumer ends.
func (f *feed) countHandedOut() {
	if f.cfg.auto.After == AfterMark || f.failed.Load() {
		return
	}
	for _, l := range f.all() {
		l.counted.Store(max(l.counted.Load(), l.delivered.Load()))
	}
}
