package iggysource

import (
	"context"
	"slices"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// findEnds finds out where each partition ends: behind what is there now, or before the first message of a time. A partition
// that is empty ends where it begins.
func (f *feed) findEnds(ctx context.Context) error {
	ids, err := f.every(ctx)
	if err != nil {
		return err
	}
	ends := make(map[uint32]uint64, len(ids))
	for _, id := range ids {
		if ends[id], err = f.placeOf(ctx, id, wire.PartitionContext{}, f.endStrategy()); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends = ends
	for _, c := range f.order {
		if end, ok := ends[c.id]; ok {
			c.end.Store(end)
			f.checkEnd(c)
			c.cancel()
		}
	}
	signal(f.arrived)
	return nil
}

// behindAll stands for the place behind the newest message.
func behindAll() wire.PollingStrategy { return wire.PollingStrategy{} }

func (f *feed) endStrategy() wire.PollingStrategy {
	if f.cfg.untilNow {
		return behindAll()
	}
	return FromTime(f.cfg.until)
}

// every returns all partitions that the consumer may come to read.
func (f *feed) every(ctx context.Context) ([]uint32, error) {
	if !f.cfg.group {
		return f.cfg.partitions, nil
	}
	_, n, err := f.api.Primary(ctx, f.cfg.partition(0))
	if err != nil {
		return nil, err
	}
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids, nil
}

// placeOf returns the offset that a strategy leads to in a partition; that behind the newest message if it leads to none. It
// looks as a consumer without a group and without offsets, which may look at any partition.
func (f *feed) placeOf(ctx context.Context, id uint32, under wire.PartitionContext, s wire.PollingStrategy) (uint64, error) {
	read := client.Read{Count: 1, MinCount: 1, MaxBytes: f.cfg.maxBytes}
	who := wire.Consumer{Kind: wire.ConsumerSingle, ID: wire.Named(f.cfg.name)}
	of := f.cfg.partition(id)
	switch s.Kind {
	case wire.FromOffset:
		return s.Value, nil
	case wire.FromFirst:
		return 0, nil
	case wire.FromNext:
		stored, found, err := f.api.GetOffset(ctx, f.who, of)
		if err != nil || !found {
			return 0, err
		}
		return stored.Stored + 1, nil
	case wire.FromTimestamp:
		p, err := f.api.Poll(ctx, who, of, s, under, read)
		if err != nil {
			return 0, err
		}
		if first, ok := firstOffset(p.Records); ok {
			return first, nil
		}
	}
	p, err := f.api.Poll(ctx, who, of, FromLast(), under, read)
	if err != nil {
		return 0, err
	}
	newest, ok := firstOffset(p.Records)
	switch {
	case !ok && p.CurrentOffset == 0:
		return 0, nil // there never was a message
	case !ok:
		newest = p.CurrentOffset
	}
	if s.Kind == wire.FromLast {
		return newest + 1 - min(newest+1, uint64(f.cfg.count)), nil
	}
	return newest + 1, nil
}

func firstOffset(records []byte) (uint64, bool) {
	r := wire.NewRecords(records)
	if !r.Next() {
		return 0, false
	}
	return r.Message().Offset, true
}

// checkEnd ends reading a partition that has come to its end.
func (f *feed) checkEnd(c *cursor) {
	end := c.end.Load()
	if end == 0 || end != noEnd && c.strategy.Kind == wire.FromOffset && c.strategy.Value >= end {
		c.ended = true
		signal(f.arrived)
	}
}

// exhausted says whether a bounded read is over: all partitions have come to their ends, and nothing is queued.
func (f *feed) exhausted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends == nil || f.queue.head < len(f.queue.items) || f.cfg.group && !f.synced {
		return false
	}
	return !slices.ContainsFunc(f.order, func(c *cursor) bool { return !c.ended || c.leaving })
}

// awaitEnds waits for the time at which a bounded read ends, and finds out where that is.
func (f *feed) awaitEnds(ctx context.Context, clock runnel.Clock) {
	late, stop := clock.After(f.cfg.until.Sub(clock.Now()))
	defer stop()
	select {
	case <-late:
	case <-ctx.Done():
		return
	}
	retry := time.NewTicker(retryInterval)
	defer retry.Stop()
	for f.findEnds(ctx) != nil {
		select {
		case <-retry.C:
		case <-ctx.Done():
			return
		}
	}
}

// pinStart has a pipeline commit where a partition begins that the start option has chosen a place for, so that a failure
// before its first record does not make the next start choose anew. The lock is held.
func (f *feed) pinStart(c *cursor, b *batch) {
	first, ok := b.records, false
	if ok = first.Next(); !ok || first.Message().Offset == 0 {
		return
	}
	f.push(item{note: &note{
		kind: noteBegin, cursor: c, assignment: c.lease.assignment, position: encodeToken(first.Message().Offset, c.lease.context),
	}})
}
