package broker

import (
	"context"
	"time"

	"github.com/runnel-go/runnel/transport/wire"
)

// query is what a poll or a fetch asks for.
type query struct {
	consumer      wire.Consumer
	stream, topic wire.Identifier
	targets       []wire.FetchTarget
	least, most   uint32 // messages
	bytes         int    // of all batches
	autoCommit    bool
	wait          time.Duration
}

// place is where a target is read.
type place struct {
	code       wire.Code // why it cannot be read, or 0
	partition  *partition
	reader     consumer
	generation uint64 // of the ownership
	from       uint64
	span       Span
}

// read answers a query once there is enough, or the wait is over. ok is false if nobody waits for an answer any more.
func (r *request) read(ctx context.Context, q *query) (sections []wire.FetchSection, code wire.Code, ok bool) {
	w := r.waiting(min(q.wait, r.broker.config.MaxWait))
	defer w.end()
	for {
		places, code := r.places(q, w)
		if code != 0 {
			return nil, code, true
		}
		if w.over || q.enough(places) {
			return r.serve(ctx, q, places)
		}
		if code, ok := w.pause(ctx); code != 0 || !ok {
			return nil, code, ok
		}
	}
}

// places looks up where the targets are. A target that cannot be read has a code, and does not keep others from it. Who was
// logged in when a wait began may not be any more when it is over.
func (r *request) places(q *query, w *waiting) ([]place, wire.Code) {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.alive(r.session) {
		return nil, wire.CodeUnauthenticated
	}
	t, code := r.topic(q.stream, q.topic, poll)
	if code != 0 {
		return nil, code
	}
	who, code := r.consumer(t, q.consumer)
	if code != 0 {
		return nil, code
	}
	places := make([]place, len(q.targets))
	var err error
	for i := range q.targets {
		target, at := &q.targets[i], &places[i]
		at.reader = who
		at.partition, at.generation, at.code = who.mayRead(t.topic, target)
		if at.code != 0 {
			continue
		}
		w.watch(at.partition)
		at.span = at.partition.log.Span()
		if at.from, err = at.begins(target.Strategy, q.most); err != nil {
			return nil, codeCannotReadMessage
		}
	}
	return places, 0
}

// mayRead returns the partition of a target if it means its present life, and its present owner if a group reads.
func (c *consumer) mayRead(t *topic, target *wire.FetchTarget) (*partition, uint64, wire.Code) {
	p, code := t.fenced(target.Partition, target.Incarnation)
	switch {
	case code != 0:
		return nil, 0, code
	case c.group == nil && target.OwnerGeneration != 0:
		return nil, 0, wire.CodeConsumerGroupPartitionNotOwned
	case c.group == nil:
		return p, 0, 0
	}
	o, ok := c.group.reads(c.member, p, target.OwnerGeneration)
	if !ok {
		return nil, 0, wire.CodeConsumerGroupPartitionNotOwned
	}
	return p, o.generation, 0
}

// begins returns the offset where a read begins. One below the oldest message begins with that.
func (p *place) begins(s wire.PollingStrategy, count uint32) (from uint64, err error) {
	from = p.span.First
	switch s.Kind {
	case wire.FromOffset:
		from = s.Value
	case wire.FromTimestamp:
		from, err = p.partition.log.Since(s.Value)
	case wire.FromLast:
		from = p.span.Next - min(p.span.Next, uint64(count))
	case wire.FromNext:
		if stored, ok := p.partition.offsets[p.reader.key]; ok {
			from = stored + 1
		}
	}
	return max(from, p.span.First), err
}

// available is the number of messages that there are to read.
func (p *place) available() uint64 {
	if p.from >= p.span.Next {
		return 0
	}
	return p.span.Next - p.from
}

// enough says whether there is as much as the query waits for, or as fits into the reply. A target that cannot be read is
// told at once.
func (q *query) enough(places []place) bool {
	var messages, bytes uint64
	for i := range places {
		at := &places[i]
		if at.code != 0 {
			return true
		}
		messages += at.available()
		bytes += at.partition.log.After(at.from)
	}
	return messages >= uint64(q.least) || messages > 0 && bytes >= uint64(q.bytes)
}

// serve reads the messages, and then takes note of what was read: for the ownership, and for the offset if the query
// commits. A partition that went to another owner meanwhile is not served. ok is false if nobody waits for an answer any
// more.
func (r *request) serve(ctx context.Context, q *query, places []place) (sections []wire.FetchSection, code wire.Code, ok bool) {
	ok = r.fill(ctx, func() (bytes int) {
		sections, code, bytes = r.copyMessages(q, places)
		return bytes
	})
	if ok && code == 0 {
		r.noteServed(q, places, sections)
	}
	return sections, code, ok
}

// copyMessages reads the messages from the logs.
func (r *request) copyMessages(q *query, places []place) (sections []wire.FetchSection, code wire.Code, bytes int) {
	sections = make([]wire.FetchSection, len(places))
	room, left := min(q.bytes, r.broker.config.Limits.ReadBytes), q.most
	for i := range places {
		at, section := &places[i], &sections[i]
		section.Partition, section.Status, section.NextOffset = q.targets[i].Partition, at.code, at.from
		if at.code != 0 {
			continue
		}
		limit := ReadLimit{Count: left, Bytes: min(room, clamp(q.targets[i].MaxBytes)), AtLeastOne: left == q.most}
		records, n, err := at.partition.log.Read(make([]byte, 0, guess(at.partition.log, at.from, limit)), at.from, limit)
		if err != nil {
			return nil, codeCannotReadMessage, 0
		}
		section.Records, section.Count = records, n
		room, left = room-len(records), left-n
		bytes += len(records)
	}
	return sections, 0, bytes
}

// guess returns how many bytes a read is going to have, if its messages are like the others of the log. Limits that a client
// sets are far larger than what it gets, as a rule.
func guess(log Log, from uint64, limit ReadLimit) uint64 {
	span := log.Span()
	like := span.Bytes / max(1, span.messages()) * uint64(limit.Count)
	return min(uint64(max(0, limit.Bytes)), log.After(from), like+wire.BatchHeaderSize)
}

// noteServed completes the sections under the lock.
func (r *request) noteServed(q *query, places []place, sections []wire.FetchSection) {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range places {
		at, section := &places[i], &sections[i]
		if at.code != 0 {
			continue
		}
		if !at.stillOwned() {
			*section = wire.FetchSection{
				Partition: section.Partition, Status: wire.CodeConsumerGroupPartitionNotOwned, NextOffset: at.from,
			}
			continue
		}
		section.CurrentOffset = at.partition.log.Span().newest()
		section.Context = wire.PartitionContext{
			Incarnation: at.partition.incarnation, OwnerGeneration: at.generation, MetadataOp: b.op,
		}
		if section.Count == 0 {
			continue
		}
		section.NextOffset = wire.LastOffset(section.Records) + 1
		if at.reader.group != nil {
			o := at.reader.group.owned[at.partition.id]
			o.served = max(o.served, section.NextOffset)
		}
		if q.autoCommit {
			_ = b.storeOffset(at.partition, at.reader, section.NextOffset-1) // the outcome is not in the reply
		}
	}
}

// stillOwned says whether the ownership that a read began with is there at its end.
func (p *place) stillOwned() bool {
	if p.reader.group == nil {
		return true
	}
	_, ok := p.reader.group.reads(p.reader.member, p.partition, p.generation)
	return ok
}
