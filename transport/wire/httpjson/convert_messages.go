package httpjson

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/runnel-go/runnel/transport/wire"
)

// ErrProducer is returned for a batch of an idempotent producer, which HTTP has no place for.
var ErrProducer = errors.New("batch of an idempotent producer")

// MarshalJSON writes an id of more than 64 bits as a text: servers take no larger numbers in requests.
func (m NewMessage) MarshalJSON() ([]byte, error) {
	type plain NewMessage // without this method
	if m.ID.Hi == 0 {
		return json.Marshal(plain(m))
	}
	id, err := m.ID.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		ID string `json:"id"`
		plainMessage
	}{string(id), plainMessage{m.Payload, m.UserHeaders}})
}

// plainMessage is a message without its id.
type plainMessage struct {
	Payload     Base64      `json:"payload"`
	UserHeaders UserHeaders `json:"user_headers,omitempty"`
}

// NewMessagesOf returns the messages of a batch that is to be sent. They are views of it.
func NewMessagesOf(batch []byte) ([]NewMessage, error) {
	h, err := wire.DecodeBatchHeader(batch)
	switch {
	case err != nil:
		return nil, err
	case h.Idempotent:
		return nil, ErrProducer
	}
	var all []NewMessage
	r := wire.NewRecords(batch)
	for r.Next() {
		m := r.Message()
		all = append(all, NewMessage{ID: ID(m.ID), Payload: m.Payload, UserHeaders: m.UserHeaders})
	}
	return all, r.Err()
}

// AppendBatch appends messages that are to be sent to dst, as a batch, and returns the longer slice. They were made at the
// given time, in microseconds since 1970; one without an id gets what newID returns.
func AppendBatch(dst []byte, messages []NewMessage, origin uint64, newID func() wire.Uint128) ([]byte, error) {
	all := make([]wire.Message, 0, len(messages))
	for i := range messages {
		m := wire.Message{
			ID: wire.Uint128(messages[i].ID), OriginTimestamp: origin,
			Payload: messages[i].Payload, UserHeaders: messages[i].UserHeaders,
		}
		if m.ID.IsZero() {
			m.ID = newID()
		}
		all = append(all, m)
	}
	return wire.AppendBatch(dst, nil, all)
}

// PartitioningOf returns where messages go.
func PartitioningOf(p wire.Partitioning) Partitioning {
	switch p.Kind {
	case wire.PartitionByID:
		return Partitioning{Kind: PartitionByID, Value: binary.LittleEndian.AppendUint32(nil, p.Partition)}
	case wire.PartitionByKey:
		return Partitioning{Kind: PartitionByKey, Value: p.Key}
	}
	return Partitioning{Kind: PartitionBalanced, Value: Base64{}}
}

// Wire returns where messages go.
func (p *Partitioning) Wire() (wire.Partitioning, error) {
	switch {
	case p.Kind == PartitionBalanced && len(p.Value) == 0:
		return wire.Partitioning{Kind: wire.PartitionBalanced}, nil
	case p.Kind == PartitionByID && len(p.Value) == 4:
		return wire.ToPartition(binary.LittleEndian.Uint32(p.Value)), nil
	case p.Kind == PartitionByKey && len(p.Value) > 0 && len(p.Value) <= 255:
		return wire.Partitioning{Kind: wire.PartitionByKey, Key: p.Value}, nil
	}
	return wire.Partitioning{}, fmt.Errorf("partitioning: %w", errName)
}

// PolledMessagesOf returns what was read. The messages are views of the records.
func PolledMessagesOf(p wire.PolledMessages) (PolledMessages, error) {
	all := PolledMessages{
		Context: PollContext{
			Incarnation: p.Context.Incarnation, OwnerGeneration: p.Context.OwnerGeneration, MetadataOp: p.Context.MetadataOp,
		},
		PartitionID: p.Partition, CurrentOffset: p.CurrentOffset, Count: p.Count, Messages: make([]Message, 0, min(p.Count, 1024)),
	}
	r := wire.NewRecords(p.Records)
	for r.Next() {
		m := r.Message()
		all.Messages = append(all.Messages, Message{
			Header: MessageHeader{
				Checksum: m.Checksum, ID: ID(m.ID), Offset: m.Offset, Timestamp: m.Timestamp, OriginTimestamp: m.OriginTimestamp,
				UserHeadersLength: uint32(len(m.UserHeaders)), PayloadLength: uint32(len(m.Payload)),
			},
			Payload: m.Payload, UserHeaders: m.UserHeaders,
		})
	}
	return all, r.Err()
}

// Wire returns what was read, with messages that were stored at the same time as one batch. Their checksums are made
// anew, as they are of a place in a batch that is not known here.
func (p *PolledMessages) Wire() (wire.PolledMessages, error) {
	all := wire.PolledMessages{
		Partition: p.PartitionID, CurrentOffset: p.CurrentOffset, Count: p.Count,
		Context: wire.PartitionContext{
			Incarnation: p.Context.Incarnation, OwnerGeneration: p.Context.OwnerGeneration, MetadataOp: p.Context.MetadataOp,
		},
	}
	if err := counted("messages", p.Count, len(p.Messages)); err != nil {
		return wire.PolledMessages{}, err
	}
	for rest := p.Messages; len(rest) > 0; {
		n := sameBatch(rest)
		var err error
		if all.Records, err = appendStored(all.Records, p.PartitionID, rest[:n]); err != nil {
			return wire.PolledMessages{}, err
		}
		rest = rest[n:]
	}
	return all, nil
}

// sameBatch returns how many of the messages, at least one, can stand in one batch: stored at the same time, without a
// gap, made within an hour, and not too many bytes.
func sameBatch(messages []Message) int {
	const hour = 3_600_000_000
	first := &messages[0].Header
	size := 0
	for i := range messages {
		m := &messages[i]
		size += wire.MessageHeaderSize + len(m.Payload) + len(m.UserHeaders)
		apart := max(m.Header.OriginTimestamp, first.OriginTimestamp) - min(m.Header.OriginTimestamp, first.OriginTimestamp)
		switch {
		case i == 0:
		case m.Header.Timestamp != first.Timestamp, m.Header.Offset != first.Offset+uint64(i), apart > hour/2,
			size > wire.MaxRecordSize-wire.BatchHeaderSize:
			return i
		}
	}
	return len(messages)
}

// appendStored appends messages as a batch that is stored.
func appendStored(dst []byte, partition uint32, messages []Message) ([]byte, error) {
	all := make([]wire.Message, 0, len(messages))
	for i := range messages {
		m := &messages[i]
		all = append(all, wire.Message{
			ID: wire.Uint128(m.Header.ID), OriginTimestamp: m.Header.OriginTimestamp, Payload: m.Payload, UserHeaders: m.UserHeaders,
		})
	}
	longer, err := wire.AppendBatch(dst, nil, all)
	if err != nil {
		return dst, err
	}
	first := &messages[0].Header
	return longer, wire.StampBatch(longer[len(dst):], partition, first.Offset, first.Timestamp)
}

// SentMessagesOf returns where messages are.
func SentMessagesOf(s wire.SentMessages) SentMessages {
	all := SentMessages{Confirmations: make([]Confirmation, 0, len(s.Confirmations))}
	for _, c := range s.Confirmations {
		all.Confirmations = append(all.Confirmations, Confirmation{
			BaseOffset: c.BaseOffset, PartitionID: c.PartitionID, StreamID: c.StreamID, TopicID: c.TopicID,
		})
	}
	return all
}

// Wire returns where messages are.
func (s *SentMessages) Wire() (wire.SentMessages, error) {
	var all wire.SentMessages
	for _, c := range s.Confirmations {
		all.Confirmations = append(all.Confirmations, wire.Confirmation{
			StreamID: c.StreamID, TopicID: c.TopicID, PartitionID: c.PartitionID, BaseOffset: c.BaseOffset,
		})
	}
	return all, nil
}

// Names of consumers.
const (
	ConsumerSingle = "consumer"
	ConsumerGroup  = "consumer_group"
)

// Wire returns the offset.
func (o *ConsumerOffset) Wire() (wire.ConsumerOffset, error) {
	return wire.ConsumerOffset{Partition: o.PartitionID, Current: o.CurrentOffset, Stored: o.StoredOffset}, nil
}

// ConsumerOffsetOf returns the offset.
func ConsumerOffsetOf(o wire.ConsumerOffset) ConsumerOffset {
	return ConsumerOffset{CurrentOffset: o.Current, PartitionID: o.Partition, StoredOffset: o.Stored}
}
