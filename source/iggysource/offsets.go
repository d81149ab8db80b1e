package iggysource

import (
	"context"
	"slices"

	"github.com/runnel-go/runnel/transport/wire"
)

// StoreOffset stores an offset of a partition as it is, also one before that which is stored. It is that of the last message
// that was handled. With [CommitOnRead] reading goes on behind it.
func (c *Consumer) StoreOffset(ctx context.Context, partition uint32, offset uint64) error {
	f, err := c.ready()
	if err != nil {
		return err
	}
	if err := f.storeRaw(ctx, partition, offset); err != nil || f.cfg.commits != commitOnRead {
		return err
	}
	return f.seek(partition, FromOffset(offset+1))
}

func (f *feed) storeRaw(ctx context.Context, partition uint32, offset uint64) error {
	l, under := f.present(partition)
	if l != nil {
		select {
		case l.turn <- struct{}{}:
			defer func() { <-l.turn }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := f.resolve(ctx, partition); err != nil {
		return err
	}
	err := f.noteStored(partition, f.api.StoreOffset(ctx, f.who, f.cfg.partition(partition), offset, under))
	if err == nil && l != nil {
		l.stored.Store(offset + 1)
	}
	return err
}

// DeleteOffset forgets the stored offset of a partition. If none is stored the error is [wire.CodeConsumerOffsetNotFound].
func (c *Consumer) DeleteOffset(ctx context.Context, partition uint32) error {
	f, err := c.ready()
	if err != nil {
		return err
	}
	l, under := f.present(partition)
	if err := f.resolve(ctx, partition); err != nil {
		return err
	}
	err = f.api.DeleteOffset(ctx, f.who, f.cfg.partition(partition), under)
	if err == nil && l != nil {
		l.stored.Store(0)
	}
	return err
}

// GetOffset returns the stored offset of a partition, that of the last message that was handled, and the newest one there;
// found is false if none is stored. It looks past operations with an unknown outcome.
func (c *Consumer) GetOffset(ctx context.Context, partition uint32) (offset wire.ConsumerOffset, found bool, err error) {
	f, err := c.ready()
	if err != nil {
		return offset, false, err
	}
	return f.api.GetOffset(ctx, f.who, f.cfg.partition(partition))
}

// present returns the lease of a partition that is read, and the life and ownership that requests about it are made under.
func (f *feed) present(partition uint32) (*lease, wire.PartitionContext) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.cursors[partition]
	if c == nil {
		return nil, wire.PartitionContext{}
	}
	return c.lease, c.lease.context
}

// Partitions returns the partitions that are read now, in the order of their numbers.
func (c *Consumer) Partitions() []uint32 {
	f := c.feedOf()
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []uint32
	for _, c := range f.order {
		if !c.leaving {
			ids = append(ids, c.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// LastConsumed returns the offset of the last message of a partition that was handed out since it is read; found is false if
// there is none.
func (c *Consumer) LastConsumed(partition uint32) (offset uint64, found bool) {
	return c.last(partition, func(l *lease) uint64 { return l.delivered.Load() })
}

// LastStored returns the last offset of a partition that this consumer has stored since it is read; found is false if there is
// none. Those that the server stores with reads are not known.
func (c *Consumer) LastStored(partition uint32) (offset uint64, found bool) {
	return c.last(partition, func(l *lease) uint64 { return l.stored.Load() })
}

func (c *Consumer) last(partition uint32, next func(*lease) uint64) (offset uint64, found bool) {
	f := c.feedOf()
	if f == nil {
		return 0, false
	}
	l, _ := f.present(partition)
	if l == nil || next(l) == 0 {
		return 0, false
	}
	return next(l) - 1, true
}
