package iggysource

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// Seek goes on in a partition at another place: [FromOffset], [FromTime], [FromFirst], [FromLast], [FromNext], or the Skip of a
// [ReadError]. What was read ahead of it is dropped, a partition that was stopped is read again, in the life that it has now,
// and checkpoints from before are not stored any more. It stores nothing, but with [CommitOnRead] the offset before the place.
// A partition that the consumer does not read is [wire.CodeInvalidCommand].
func (c *Consumer) Seek(ctx context.Context, partition uint32, to wire.PollingStrategy) error {
	f, err := c.ready()
	if err != nil {
		return err
	}
	if f.cfg.commits == commitOnRead && to.Kind == wire.FromOffset && to.Value > 0 {
		if err := f.storeRaw(ctx, partition, to.Value-1); err != nil {
			return err
		}
	}
	return f.seek(partition, to)
}

func (f *feed) seek(partition uint32, to wire.PollingStrategy) error {
	const call = "consumer.seek"
	if to.Kind < wire.FromOffset || to.Kind > wire.FromNext {
		return refusedCommand(call, "there is no such strategy")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.cursors[partition]
	if c == nil || c.leaving {
		return refusedCommand(call, "partition %d is not read", partition)
	}
	c.lease.old.Store(true)
	f.renew(c, to)
	c.ask = false
	delete(f.yielded, partition)
	f.pump()
	return nil
}

// renew begins another generation of a cursor, in whatever life the partition has. The lock is held.
func (f *feed) renew(c *cursor, to wire.PollingStrategy) {
	c.lease = f.newLease(c.id)
	c.under, c.seen, c.known = wire.PartitionContext{}, false, 0
	c.resume()
	c.restart(to)
}
