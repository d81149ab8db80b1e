package broker

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// offsetKey says whose an offset is: a name or a number of a consumer, or the number of a group.
type offsetKey struct {
	kind wire.ConsumerKind
	id   wire.Identifier
}

func (g *group) key() offsetKey { return offsetKey{wire.ConsumerGroup, wire.ID(g.id)} }

// consumer is who reads or stores offsets.
type consumer struct {
	key    offsetKey
	group  *group  // nil for one of its own
	member *member // the session in the group, or nil
}

// consumer returns who a request names.
func (r *request) consumer(t *topicOf, who wire.Consumer) (consumer, wire.Code) {
	if who.Kind != wire.ConsumerGroup {
		return consumer{key: offsetKey{who.Kind, who.ID}}, 0
	}
	g, ok := t.groups.find(who.ID)
	if !ok {
		return consumer{}, wire.CodeConsumerGroupIDNotFound
	}
	return consumer{key: g.key(), group: g, member: r.session.members[g]}, 0
}

// fenced returns the partition that a request is for, if it means the present life of it. (Iggy binary protocol,
// partition context.)
func (t *topic) fenced(id uint32, incarnation uint64) (*partition, wire.Code) {
	p := t.partition(id)
	switch {
	case p == nil:
		return nil, wire.CodePartitionNotFound
	case incarnation != p.incarnation:
		return nil, wire.CodeHistoryUnavailable
	}
	return p, 0
}

// offsetsOf returns partition and consumer of a request about offsets.
func (r *request) offsetsOf(who wire.Consumer, stream, topic wire.Identifier, at wire.OptionalPartition) (
	*partition, consumer, wire.Code,
) {
	t, code := r.topic(stream, topic, poll)
	if code != 0 {
		return nil, consumer{}, code
	}
	if !at.Present {
		return nil, consumer{}, wire.CodeInvalidCommand // a client names the partition
	}
	p, code := t.fenced(at.ID, r.header.Context.Incarnation)
	if code != 0 {
		return nil, consumer{}, code
	}
	c, code := r.consumer(t, who)
	if code == 0 && c.group == nil && r.header.Context.OwnerGeneration != 0 {
		code = wire.CodeConsumerGroupPartitionNotOwned
	}
	return p, c, code
}

// getOffset answers any member, and who is none: looking takes nothing from the owner.
func getOffset(r *request, arguments wire.GetConsumerOffset) (wire.Body, wire.Code) {
	p, c, code := r.offsetsOf(arguments.Consumer, arguments.Stream, arguments.Topic, arguments.Partition)
	if code != 0 {
		return nil, code
	}
	stored, ok := p.offsets[c.key]
	if !ok {
		return nil, 0
	}
	return &wire.ConsumerOffset{Partition: p.id, Current: p.log.Span().newest(), Stored: stored}, 0
}

func storeOffset(_ context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.StoreConsumerOffset](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	p, c, code := r.writableOffset(arguments.Consumer, arguments.Stream, arguments.Topic, arguments.Partition)
	if code == 0 && arguments.Offset >= p.log.Span().Next {
		code = wire.CodeInvalidOffset
	}
	if code == 0 {
		code = b.storeOffset(p, c, arguments.Offset)
	}
	if code != 0 {
		return refused(code)
	}
	return outcome{op: p.op.Add(1)}
}

// storeOffset stores an offset, and hands the partition over if its heir waited for that.
func (b *Broker) storeOffset(p *partition, c consumer, offset uint64) wire.Code {
	if _, known := p.offsets[c.key]; !known && len(p.offsets) >= b.config.Limits.Offsets {
		return wire.CodeTooManyConsumerOffsets
	}
	if code := b.save(p.offsetEntry(c.key, offset)); code != 0 {
		return code
	}
	p.offsets[c.key] = offset
	if c.group != nil {
		b.settle(c.group)
	}
	return 0
}

func deleteOffset(_ context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.DeleteConsumerOffset](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	p, c, code := r.writableOffset(arguments.Consumer, arguments.Stream, arguments.Topic, arguments.Partition)
	if code != 0 {
		return refused(code)
	}
	if _, ok := p.offsets[c.key]; !ok {
		return refused(wire.CodeConsumerOffsetNotFound)
	}
	if code := b.save(Change{Key: p.offsetKey(c.key)}); code != 0 {
		return refused(code)
	}
	delete(p.offsets, c.key)
	return outcome{op: p.op.Add(1)}
}

// writableOffset is offsetsOf for who changes an offset: for that of a group, its partition has to be that of the session.
func (r *request) writableOffset(who wire.Consumer, stream, topic wire.Identifier, at wire.OptionalPartition) (
	*partition, consumer, wire.Code,
) {
	p, c, code := r.offsetsOf(who, stream, topic, at)
	if code != 0 || c.group == nil {
		return p, c, code
	}
	if _, ok := c.group.commits(c.member, p, r.header.Context.OwnerGeneration); !ok {
		return nil, c, wire.CodeConsumerGroupPartitionNotOwned
	}
	return p, c, 0
}
