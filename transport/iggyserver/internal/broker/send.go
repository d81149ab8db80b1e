package broker

import (
	"bytes"
	"context"
	"errors"

	"github.com/runnel-go/runnel/transport/wire"
)

// sendMessages stores a batch. (Iggy binary protocol, sending.) Checksums are verified before anything is locked.
func sendMessages(_ context.Context, r *request) outcome {
	arguments, err := wire.Decode[wire.SendMessages](r.body)
	if err != nil {
		return refused(wire.CodeInvalidCommand)
	}
	h, err := wire.VerifyBatch(arguments.Batch)
	switch {
	case err != nil:
		return refused(batchCode(err))
	case h.Count != arguments.MessagesCount:
		return refused(wire.CodeInvalidMessagesCount)
	case h.BaseOffset != 0:
		return refused(codeNonZeroOffset)
	case h.BaseTimestamp != 0:
		return refused(codeNonZeroTimestamp)
	case h.Idempotent && arguments.Partitioning.Kind != wire.PartitionByID:
		return refused(wire.CodeProducerPartitionRequired)
	}
	t, p, code := r.destination(&arguments)
	if code != 0 {
		return refused(code)
	}
	offset, op, code := r.broker.append(p, &h, arguments.Batch)
	if code != 0 {
		return refused(code)
	}
	return outcome{op: op, payload: &wire.SentMessages{Confirmations: []wire.Confirmation{{
		StreamID: t.stream.id, TopicID: t.id, PartitionID: p.id, BaseOffset: offset,
	}}}}
}

// batchCode is the code for what is wrong with a batch.
func batchCode(err error) wire.Code {
	var field *wire.FieldError
	switch {
	case errors.Is(err, wire.ErrFrameChecksum):
		return wire.CodeInvalidMessageChecksum
	case errors.Is(err, wire.ErrBatchChecksum):
		return wire.CodeInvalidBatchChecksum
	case !errors.As(err, &field):
		return wire.CodeInvalidCommand
	}
	switch field.Field {
	case "message count":
		return wire.CodeInvalidMessagesCount
	case "reserved bytes of the batch", "reserved bytes of the message":
		return wire.CodeInvalidReservedField
	}
	if errors.Is(err, wire.ErrValue) {
		return wire.CodeInvalidCommand
	}
	return wire.CodeInvalidMessagePayloadLength
}

// destination returns the partition that a batch goes to. Clients of the binary protocol name it; who does not name it
// does not know its life either.
func (r *request) destination(s *wire.SendMessages) (*topicOf, *partition, wire.Code) {
	b := r.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	t, code := r.topic(s.Stream, s.Topic, send)
	if code != 0 {
		return nil, nil, code
	}
	count := uint32(len(t.partitions))
	switch {
	case s.Partitioning.Kind == wire.PartitionByID:
		p, code := t.fenced(s.Partitioning.Partition, r.header.Context.Incarnation)
		if code == 0 && r.header.Context.OwnerGeneration != 0 {
			code = wire.CodeConsumerGroupPartitionNotOwned
		}
		return t, p, code
	case count == 0:
		return nil, nil, wire.CodePartitionNotFound
	case s.Partitioning.Kind == wire.PartitionByKey:
		return t, t.partitions[wire.PartitionOfKey(s.Partitioning.Key, count)], 0
	}
	p := t.partitions[t.turn%count]
	t.turn++
	return t, p, 0
}

// append stores a batch, and returns the offset of its first message and the position of the write. A repeat of a batch
// of an idempotent producer is answered as the first one was.
func (b *Broker) append(p *partition, h *wire.BatchHeader, batch []byte) (offset, op uint64, code wire.Code) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.gone {
		return 0, 0, wire.CodeHistoryUnavailable
	}
	if h.Idempotent {
		repeated, offset, code := p.producers.check(h)
		if repeated || code != 0 {
			return offset, p.op.Load(), code
		}
	}
	size := int64(len(batch))
	if b.logged.Add(size) > b.config.Limits.LogBytes {
		b.logged.Add(-size)
		return 0, 0, wire.CodeTopicFull
	}
	offset = p.log.Span().Next
	p.latest = max(p.latest, b.now())
	stored := bytes.Clone(batch)
	err := wire.StampBatch(stored, p.id, offset, p.latest)
	if err == nil {
		err = p.log.Append(stored)
	}
	if err != nil {
		b.logged.Add(-size)
		return 0, 0, codeCannotAppendMessage
	}
	if h.Idempotent {
		p.producers.stored(h, offset, b.config.Limits.Producers)
	}
	op = p.op.Add(1)
	p.waiters.wake()
	return offset, op, 0
}
