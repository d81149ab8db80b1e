package iggysource

import (
	"context"
	"errors"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Commit stores the offset of a checkpoint: everything up to it in its partition is handled. It may run beside Next and
// other commits. What an earlier call has stored already, or is from before a seek, is not stored, which is no error.
//
// If the partition was made anew since, the error is [wire.CodeHistoryUnavailable]; if the group has given it to another member,
// [wire.CodeConsumerGroupPartitionNotOwned]: who has it now reads on from the commit before. With an outcome that is not known it
// is [wire.CodeOperationUncertain]; the next commit of the partition finds that out first.
func (c *Consumer) Commit(ctx context.Context, at Checkpoint) error {
	f, err := c.ready()
	if err != nil {
		return err
	}
	if err := f.checkOwn("consumer.commit", at); err != nil {
		return err
	}
	if at.lease.old.Load() {
		return nil
	}
	return f.store(ctx, at.lease, at.offset)
}

// Mark lets everything up to a checkpoint count as handled, for [AfterMark]. It stores nothing by itself.
func (c *Consumer) Mark(at Checkpoint) error {
	const call = "consumer.mark"
	f, err := c.ready()
	if err != nil {
		return err
	}
	if f.cfg.commits != commitAutomatically || f.cfg.auto.After != AfterMark {
		return refusedCommand(call, "the consumer does not commit by marks")
	}
	if err := f.checkOwn(call, at); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.offset+1 <= at.lease.counted.Load() {
		return nil
	}
	at.lease.counted.Store(at.offset + 1)
	f.marked++
	if most := f.cfg.auto.Messages; most > 0 && f.marked >= most {
		f.marked = 0
		signal(f.due)
	}
	return nil
}

// checkOwn refuses checkpoints that make no sense here.
func (f *feed) checkOwn(call string, at Checkpoint) error {
	switch {
	case f.cfg.commits == commitOnRead:
		return refusedCommand(call, "the server commits with each read")
	case at.lease == nil || at.lease.feed != f:
		return refusedCommand(call, "the checkpoint is not of this consumer")
	}
	return nil
}

// store stores an offset under the lease that the message was read with. One that is stored already is not stored again.
func (f *feed) store(ctx context.Context, l *lease, offset uint64) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if offset < l.stored.Load() {
		return nil
	}
	if err := f.resolve(ctx, l.partition); err != nil {
		return err
	}
	err := f.api.StoreOffset(ctx, f.who, f.cfg.partition(l.partition), offset, l.context)
	if err := f.noteStored(l.partition, err); err != nil {
		return err
	}
	l.stored.Store(offset + 1)
	return nil
}

// noteStored counts what became of a store, and remembers one whose outcome is not known.
func (f *feed) noteStored(partition uint32, err error) error {
	var e *client.Error
	switch {
	case err == nil:
		f.stats.committed.Add(1)
	case refusesOffset(err):
		f.stats.refused.Add(1)
	case errors.As(err, &e) && e.Code == wire.CodeOperationUncertain:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.uncertain[partition] = e.Operation
	}
	return err
}

// resolve finds out what became of an offset of the partition that this feed has stored with an unknown outcome.
func (f *feed) resolve(ctx context.Context, partition uint32) error {
	f.mu.Lock()
	operation := f.uncertain[partition]
	f.mu.Unlock()
	if operation == 0 {
		return nil
	}
	if _, err := f.api.ResolveOperation(ctx, operation); errors.Is(err, wire.CodeOperationUncertain) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uncertain[partition] == operation {
		delete(f.uncertain, partition)
	}
	return nil
}

// AbandonOperation gives up finding out what became of a write or read whose outcome is not known, so that it blocks its
// partition no more. It undoes nothing. See [client.Client.AbandonOperation].
func (c *Consumer) AbandonOperation(operation uint64) error {
	return c.api.AbandonOperation(operation)
}
