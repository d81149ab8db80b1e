package iggysource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// noEnd is the end of what has none.
const noEnd = ^uint64(0)

// settle ends a job: it queues what was read, does what errors ask for, and begins the next reads, one of which it returns.
func (f *feed) settle(j *job, replies []reply) *job {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, w := range f.waiting {
		if w == j {
			f.waiting = append(f.waiting[:i:i], f.waiting[i+1:]...)
			break
		}
	}
	for i := range j.targets {
		t := &j.targets[i]
		t.cursor.job = nil
		if t.primary != unknownPrimary {
			t.cursor.primary = t.primary
		}
	}
	for i := range replies {
		r := &replies[i]
		c := r.target.cursor
		refused := r.code != 0 || r.err != nil
		switch {
		case c.run != r.target.run || f.closed:
			f.stats.read.Add(uint64(r.count))
			f.stats.dropped.Add(uint64(r.count))
		case refused && c.leaving:
		case refused:
			f.fault(c, j, r)
		default: // of one that is leaving, too: the server served it while it was this member's
			f.accept(c, j, r)
		}
	}
	for i := range j.targets {
		f.depart(j.targets[i].cursor)
	}
	if j.slot.batches == 0 {
		f.slots++
	}
	mine := f.admit()
	f.pump()
	return mine
}

// accept queues what was read of a partition, and moves its cursor.
func (f *feed) accept(c *cursor, j *job, r *reply) {
	c.fails, c.unowned, c.pause, c.ask = 0, 0, 0, false
	c.newest, c.seen = r.newest, true
	c.under = r.context
	strategy := r.target.strategy
	if strategy.Kind == wire.FromOffset {
		c.strategy = strategy // it may be that of the stored offset
	}
	if c.isCut(r) {
		f.stop(c, &client.Error{
			Code: wire.CodeHistoryUnavailable, Call: wire.CmdFetchMessages.String(), Partition: c.id,
			Err: fmt.Errorf("%w: it ends at offset %d, and %d is to be read", ErrTruncated, r.newest, r.next),
		})
		return
	}
	l := c.lease
	if of := l.context; of.Incarnation == 0 {
		l.context, l.base = r.context, r.begin()
	} else if of.Incarnation != r.context.Incarnation || of.OwnerGeneration != r.context.OwnerGeneration {
		l = f.newLease(c.id)
		l.context = r.context
		c.lease = l
	}
	if len(r.records) > 0 {
		f.enqueue(c, j, r)
	}
	if r.told {
		c.strategy = FromOffset(r.next)
	}
	// An empty partition says 0 for its newest message, as one with a single message does.
	c.backlog = r.told && r.newest >= r.next && (r.newest > 0 || r.count > 0) && (r.count > 0 || len(j.targets) > 1)
	f.checkEnd(c)
	if j.wait == 0 && r.count == 0 && !c.ended && !c.backlog && !c.leaving {
		f.rest(c)
	}
}

// rest keeps a partition that had nothing from being read again at once, where the server does not wait.
func (f *feed) rest(c *cursor) {
	switch {
	case c.alone():
		f.hold(c, longestPause)
	case f.longestWait() == 0:
		f.hold(c, shortestPause)
	}
}

// isCut says whether a partition ends before what is to be read next, although all before that was there once.
func (c *cursor) isCut(r *reply) bool {
	switch {
	case r.target.strategy.Kind == wire.FromNext && r.told, r.target.ask, r.count > 0:
		c.known = max(c.known, r.next) // an offset is stored of what is there
	}
	if r.newest > 0 {
		c.known = max(c.known, r.newest+1)
	}
	return r.count == 0 && r.told && r.next > r.newest+1 && r.next <= c.known
}

// begin returns the offset where the read began, as far as the reply tells.
func (r *reply) begin() uint64 {
	if first, ok := firstOffset(r.records); ok {
		return first
	}
	return r.next
}

func (f *feed) enqueue(c *cursor, j *job, r *reply) {
	f.stats.read.Add(uint64(r.count))
	b := &batch{
		cursor: c, run: c.run, lease: c.lease, slot: j.slot, records: wire.NewRecords(r.records), count: int(r.count),
		left: int(r.count), bytes: len(r.records), strategy: r.target.strategy,
	}
	if b.strategy.Kind == wire.FromOffset {
		b.next, b.from = b.strategy.Value, true
	}
	if was, ok := f.yielded[c.id]; ok && f.source == "" && !f.cfg.replay && was.incarnation == r.context.Incarnation {
		b.floor = was.next
	}
	if c.pin {
		c.pin = false
		f.pinStart(c, b)
	}
	c.queued++
	j.slot.batches++
	f.push(item{batch: b})
}

// fault does what an error of a partition asks for: wait, look at the assignment, or stop.
func (f *feed) fault(c *cursor, j *job, r *reply) {
	err := r.err
	if err == nil {
		err = &client.Error{Code: r.code, Call: wire.CmdFetchMessages.String(), Partition: c.id}
	}
	if r.code == wire.CodeNotPrimary {
		c.primary = unknownPrimary
	}
	if j.canceled && (severityOf(r.code) == passing || errors.Is(err, context.Canceled)) {
		return // it was ended early
	}
	f.stats.retried.Add(1)
	switch {
	case r.code == wire.CodeFetchProgressUncertain && f.forgive(c, r):
		return
	case f.blockedByOwn(c, err):
		f.pauseRead(c)
		return
	case r.code == wire.CodeConsumerGroupPartitionNotOwned && f.cfg.group && f.unowned(c):
		return
	}
	switch severityOf(r.code) {
	case passing:
		f.pauseRead(c)
	case lasting:
		f.lasting(c, err)
	case stopping:
		f.stop(c, err)
	case ending:
		f.end(&ReadError{Err: err})
	}
}

// pauseRead reads a partition again after a short while.
func (f *feed) pauseRead(c *cursor) {
	c.pause = min(max(shortestPause, 2*c.pause), longestPause)
	f.hold(c, c.pause)
}

// lasting reads a partition again after a longer while, and stops it after a few times in a row.
func (f *feed) lasting(c *cursor, err error) {
	c.fails++
	if c.fails >= lastingErrors {
		f.stop(c, err)
		return
	}
	f.log.Warn("iggy: a partition cannot be read, which is tried again", "partition", c.id, "attempt", c.fails, "err", err)
	f.hold(c, retryInterval*time.Duration(min(1<<(c.fails-1), retryFactor)))
}

// stop ends reading a partition until a seek.
func (f *feed) stop(c *cursor, err error) {
	c.stopped = true
	f.push(item{err: &ReadError{Partition: wire.Partition(c.id), Err: err}})
}

// forgive gives up the feed's own read that stores offsets and has no reply. What it may have stored does not matter where
// the cursor knows how to go on.
func (f *feed) forgive(c *cursor, r *reply) bool {
	var e *client.Error
	if !errors.As(r.err, &e) || e.Code != wire.CodeFetchProgressUncertain {
		return false
	}
	abandoned := f.api.AbandonOperation(e.Operation)
	if c.strategy.Kind != wire.FromOffset || abandoned != nil && !errors.Is(abandoned, wire.CodeOperationNotRetained) {
		return false
	}
	f.pauseRead(c)
	return true
}

// blockedByOwn says whether a read waits for an offset that the feed itself has stored with an unknown outcome: the next read
// finds that out first.
func (f *feed) blockedByOwn(c *cursor, err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Operation != 0 && f.uncertain[c.id] == e.Operation
}

// blockedPartition returns the partition that an error names as the one that keeps a read from being made.
func blockedPartition(err error) (uint32, bool) {
	var e *client.Error
	if errors.As(err, &e) && e.Code == wire.CodePartitionLaneBlocked {
		return e.Partition, true
	}
	return 0, false
}
