package iggysource

import (
	"context"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// reply is what came of one partition.
type reply struct {
	target  *target
	code    wire.Code // why nothing could be read, or 0
	err     error     // the same, if it is more than a code
	newest  uint64
	count   uint32
	context wire.PartitionContext
	next    uint64 // where the next read begins
	told    bool   // next is known
	records []byte
}

// work makes reads, one at a time.
func (f *feed) work(ctx context.Context) {
	for {
		select {
		case j := <-f.jobs:
			for j != nil && ctx.Err() == nil {
				j = f.read(ctx, j)
			}
		case <-ctx.Done():
			return
		}
	}
}

// read makes one read and queues what it brings. It returns the next one, which this worker makes itself: it is awake.
func (f *feed) read(ctx context.Context, j *job) *job {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	j.stop = cancel
	if j.canceled {
		cancel()
	}
	f.mu.Unlock()

	ready, replies := f.prepare(ctx, j)
	if len(ready) > 0 {
		replies = append(replies, f.request(ctx, j, ready)...)
	}
	return f.settle(j, replies)
}

// prepare finds out what has to be known before a read: stored offsets, and primaries. It returns the partitions that can be
// read together now. Those of another primary are left for another read.
func (f *feed) prepare(ctx context.Context, j *job) (ready []*target, failed []reply) {
	for i := range j.targets {
		t := &j.targets[i]
		if err := f.prepareOne(ctx, t); err != nil {
			failed = append(failed, reply{target: t, code: client.CodeOf(err), err: err})
			continue
		}
		if len(ready) == 0 || ready[0].primary == t.primary {
			ready = append(ready, t)
		}
	}
	return ready, failed
}

func (f *feed) prepareOne(ctx context.Context, t *target) error {
	of := f.cfg.partition(t.cursor.id)
	if t.strategy.Kind == wire.FromNext {
		if err := f.resolve(ctx, t.cursor.id); err != nil {
			return err
		}
	}
	if t.ask {
		stored, found, err := f.api.GetOffset(ctx, f.who, of)
		if err != nil {
			return err
		}
		if t.ask = found; found {
			t.strategy = FromOffset(stored.Stored + 1)
		}
	}
	if t.primary != unknownPrimary || f.api.Sessionless() {
		return nil
	}
	replica, _, err := f.api.Primary(ctx, of)
	t.primary = int(replica)
	return err
}

// request asks for the messages.
func (f *feed) request(ctx context.Context, j *job, ready []*target) []reply {
	read := client.Read{
		Count: f.cfg.count, MinCount: f.cfg.minCount, MaxBytes: f.cfg.maxBytes, Wait: j.wait,
		AutoCommit: f.cfg.commits == commitOnRead,
	}
	if offsetless(ready[0].strategy) {
		return []reply{f.poll(ctx, ready[0], read)} // a fetch tells where the next read begins, but takes offsets only
	}
	targets := make([]client.Target, len(ready))
	for i, t := range ready {
		strategy := t.strategy
		if strategy.Kind == wire.FromFirst {
			strategy = FromOffset(0) // as fetches take no other
		}
		targets[i] = client.Target{Partition: t.cursor.id, Strategy: strategy, Under: t.under}
	}
	fetched, err := f.api.Fetch(ctx, f.who, f.cfg.stream, f.cfg.topic, targets, read)
	if err != nil {
		return f.refused(ready, err)
	}
	replies := make([]reply, 0, len(ready))
	for i := range fetched.Sections {
		s := &fetched.Sections[i]
		for _, t := range ready {
			if t.cursor.id == s.Partition {
				replies = append(replies, reply{
					target: t, code: s.Status, newest: s.CurrentOffset, count: s.Count, context: s.Context,
					next: s.NextOffset, told: true, records: s.Records,
				})
				break
			}
		}
	}
	return replies
}

// refused makes an error of a read one of its partitions: of that which it names, or of each.
func (f *feed) refused(ready []*target, err error) []reply {
	var replies []reply
	named, one := blockedPartition(err)
	for _, t := range ready {
		if !one || t.cursor.id == named {
			replies = append(replies, reply{target: t, code: client.CodeOf(err), err: err})
		}
	}
	return replies
}

// poll reads one partition from where no offset says.
func (f *feed) poll(ctx context.Context, t *target, read client.Read) reply {
	p, err := f.api.Poll(ctx, f.who, f.cfg.partition(t.cursor.id), t.strategy, t.under, read)
	if err != nil {
		return reply{target: t, code: client.CodeOf(err), err: err}
	}
	r := reply{target: t, newest: p.CurrentOffset, count: p.Count, context: p.Context, records: p.Records}
	if len(p.Records) > 0 {
		r.next, r.told = wire.LastOffset(p.Records)+1, true
	}
	return r
}
