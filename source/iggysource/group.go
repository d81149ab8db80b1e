package iggysource

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// join makes the consumer a member of its group, which is made if it is not there.
func (f *feed) join(ctx context.Context) error {
	if err := f.resolveMembership(ctx); err != nil {
		return err
	}
	of := f.cfg.groupOf()
	err := f.joinNow(ctx)
	if !noGroup(err) || !f.cfg.create {
		return err
	}
	_, err = f.api.CreateConsumerGroup(ctx, of.Stream, of.Topic, f.cfg.name)
	if err = f.noteMembership(err); err != nil && !errors.Is(err, wire.CodeConsumerGroupNameAlreadyExists) {
		return err
	}
	return f.joinNow(ctx)
}

func (f *feed) joinNow(ctx context.Context) error {
	err := f.noteMembership(f.api.JoinConsumerGroup(ctx, f.cfg.groupOf()))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined = f.joined || err == nil || f.membering != 0
	return err
}

func noGroup(err error) bool {
	return errors.Is(err, wire.CodeConsumerGroupIDNotFound) || errors.Is(err, wire.CodeConsumerGroupNameNotFound)
}

// noteMembership remembers a change of membership whose outcome is not known.
func (f *feed) noteMembership(err error) error {
	var e *client.Error
	if errors.As(err, &e) && e.Code == wire.CodeOperationUncertain {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.membering = e.Operation
	}
	return err
}

// resolveMembership finds out what became of a change of membership, before there is another one.
func (f *feed) resolveMembership(ctx context.Context) error {
	f.mu.Lock()
	operation := f.membering
	f.mu.Unlock()
	if operation == 0 {
		return nil
	}
	if _, err := f.api.ResolveOperation(ctx, operation); errors.Is(err, wire.CodeOperationUncertain) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.membering = 0
	return nil
}

// syncLoop looks at the assignment each second, and whenever the server says that a partition has another owner.
func (f *feed) syncLoop(ctx context.Context) {
	ticker := time.NewTicker(syncInterval)
	defer ticker.Stop()
	failed := 0
	for {
		select {
		case <-ticker.C:
		case <-f.resync:
		case <-ctx.Done():
			return
		}
		err := f.sync(ctx)
		switch {
		case err == nil:
			failed = 0
		case ctx.Err() != nil:
			return
		default:
			failed = f.syncFailed(err, failed)
		}
	}
}

// syncFailed tells of an error that lasts, once. It returns how many there were in a row.
func (f *feed) syncFailed(err error, before int) int {
	f.log.Warn("iggy: the assignment of the group is not known, which is tried again", "group", f.cfg.name, "err", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch severityOf(client.CodeOf(err)) {
	case passing:
		return before
	case ending:
		f.end(&ReadError{Err: err})
	default:
		if before++; before == lastingErrors {
			f.push(item{err: &ReadError{Err: err}})
		}
	}
	return before
}

// sync looks at the assignment and applies it. A member that the group does not know any more joins again: it has lost all
// partitions.
func (f *feed) sync(ctx context.Context) error {
	a, err := f.api.SyncConsumerGroup(ctx, f.cfg.groupOf())
	if errors.Is(err, wire.CodeConsumerGroupMemberNotFound) || noGroup(err) {
		f.loseAll()
		if err := f.join(ctx); err != nil {
			return err
		}
		a, err = f.api.SyncConsumerGroup(ctx, f.cfg.groupOf())
	}
	if err != nil {
		return err
	}
	f.assign(a.Partitions)
	return nil
}

// assign applies an assignment as a difference: partitions that stay are read on where they are.
func (f *feed) assign(partitions []uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for _, c := range slices.Clone(f.order) {
		if !slices.Contains(partitions, c.id) {
			f.giveUp(c)
		} else if c.held && c.unowned == 1 && c.timer == nil {
			c.held = false // it is still ours: the server changed its mind, or the ownership is another one
		}
	}
	for _, id := range partitions {
		if f.cursors[id] != nil {
			continue // one that is about to go comes back when it is gone
		}
		c := f.newCursor(id, f.cfg.start)
		c.ask = f.cfg.start.Kind != wire.FromNext
		c.pin = f.source != "" && c.alone()
		f.add(c)
		f.stats.rebalanced.Add(1)
		f.log.Info("iggy: partition assigned", "group", f.cfg.name, "partition", id)
	}
	f.synced = true
	f.pump()
	signal(f.arrived) // a bounded read may have ended
}

// giveUp begins to give a partition back that the group takes away. It is not read any more. What was read before is handed
// out, and may be committed, for as long as the server leaves it to this member: it hands the partition over as soon as all
// of that is committed.
func (f *feed) giveUp(c *cursor) {
	if c.leaving {
		return
	}
	f.log.Info("iggy: partition taken away", "group", f.cfg.name, "partition", c.id)
	c.leaving = true
	c.cancel()
	c.resume()
	if f.cfg.commits == commitOnRead {
		f.expel(c) // all that was read is committed: there is nothing to wait for
		return
	}
	c.timer = time.AfterFunc(f.cfg.rebalanceTimeout-f.cfg.rebalanceTimeout/10, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.cursors[c.id] == c {
			f.expel(c)
		}
	})
	f.depart(c)
}

// depart goes on with giving a partition back, once no read of it is under way: a pipeline drains it, and otherwise it goes when
// all of it was handed out.
func (f *feed) depart(c *cursor) {
	switch {
	case !c.leaving || c.job != nil || f.cursors[c.id] != c:
	case f.source != "":
		f.push(item{note: &note{kind: noteDrain, cursor: c}})
	case c.queued == 0:
		f.part(c)
	}
}

// expel gives a partition back at once: what is queued of it is not handed out.
func (f *feed) expel(c *cursor) {
	c.run.ended.Store(true)
	f.part(c)
}

// part ends the time of a partition with this member.
func (f *feed) part(c *cursor) {
	f.stats.rebalanced.Add(1)
	f.drop(c)
	f.retire(c)
	signal(f.resync) // it may have come back already
}

// retire ends the ownership that a partition was read under. What counts of it is stored soon.
func (f *feed) retire(c *cursor) {
	l := c.lease
	switch {
	case f.source != "":
		l.assignment.Revoke()
		f.push(item{note: &note{kind: noteGone, cursor: c, assignment: l.assignment}})
	case f.cfg.commits == commitOnRead:
		c.readUpTo()
		f.parting = append(f.parting, l)
		signal(f.due)
	case f.cfg.commits == commitAutomatically && l.stored.Load() < l.counted.Load():
		f.parting = append(f.parting, l)
		signal(f.due)
	}
}

// loseAll gives all partitions back: the group has thrown the member out.
func (f *feed) loseAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range slices.Clone(f.order) {
		f.expel(c)
	}
}

// unowned looks at the assignment when the server says that a partition is not this member's. If it is, by that, another
// look is taken under the same ownership; after that the partition was another's for a while, and is read anew where that one
// stopped. done is false if nobody can have had it: the error is to be treated as any other.
func (f *feed) unowned(c *cursor) (done bool) {
	c.unowned++
	switch {
	case c.unowned == 1:
		c.held, c.timer = true, nil
	case c.under.OwnerGeneration != 0:
		f.stats.rebalanced.Add(1)
		f.retire(c)
		unowned := c.unowned
		f.renew(c, f.cfg.start)
		c.ask = f.cfg.start.Kind != wire.FromNext
		c.unowned = unowned
		f.pauseRead(c)
	default:
		return false
	}
	signal(f.resync)
	return true
}
