package iggysink

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

// Message is what an encoder makes of a record of a pipeline.
type Message struct {
	// ID is the id of the message. The zero value gets a random one.
	ID wire.Uint128
	// Payload is what the message says, up to 64,000,000 bytes. It is copied before the encoder is called again.
	Payload []byte
	// Headers are the user headers: see [client.Header]. If they are nil, those of the record's metadata are taken, each with
	// its name as a text and its value as raw bytes; then a name that is there twice, and a name or value that is empty or longer
	// than 255 bytes, is an error of the record, as Iggy has no such headers. An empty list that is not nil means none.
	Headers []wire.UserHeader
	// Key chooses the partition, 1 to 255 bytes: see [ByKey]. Without one the partitioning of the producer counts, or the key of the
	// record's metadata, see [KeysFromMetadata].
	Key []byte
	// Time is when the message was made. The zero value is the time when it is encoded. Messages that are more than 71 minutes apart
	// are written in different requests.
	Time time.Time
}

// Errors of headers that Iggy cannot have.
var (
	errHeaderName  = errors.New("a header has a name that is not 1 to 255 bytes long")
	errHeaderValue = errors.New("a header has a value that is not 1 to 255 bytes long")
	errHeaderTwice = errors.New("headers, of which each name is there once, and all together have up to 100,000 bytes")
	errTimeRange   = errors.New("a time before 1970")
)

// encoding makes wire messages of records, in memory that it uses again.
type encoding struct {
	headers []wire.UserHeader
	block   []byte
}

// message makes what is sent, in w. Its user headers are valid until the next call.
func (e *encoding) message(w *wire.Message, m *Message, meta *runnel.Meta) error {
	*w = wire.Message{ID: m.ID, Payload: m.Payload}
	if len(m.Payload) > wire.MaxPayloadSize {
		return notAllowed("a payload of %d bytes, not up to %d", len(m.Payload), wire.MaxPayloadSize)
	}
	if !m.Time.IsZero() {
		micros := m.Time.UnixMicro()
		if micros <= 0 {
			return notAllowed("%w", errTimeRange)
		}
		w.OriginTimestamp = uint64(micros)
	}
	headers := m.Headers
	if headers == nil && len(meta.Headers) > 0 {
		e.headers = e.headers[:0]
		for _, h := range meta.Headers {
			e.headers = append(e.headers, client.Header(h.Name, wire.RawValue(h.Value)))
		}
		headers = e.headers
	}
	if len(headers) == 0 {
		return nil
	}
	return e.userHeaders(w, headers)
}

// userHeaders encodes user headers.
func (e *encoding) userHeaders(w *wire.Message, headers []wire.UserHeader) (err error) {
	for _, h := range headers {
		if !fits(h.Key) {
			return notAllowed("%w", errHeaderName)
		}
		if !fits(h.Value) {
			return notAllowed("%w", errHeaderValue)
		}
	}
	if e.block, err = wire.AppendUserHeaders(e.block[:0], headers); err != nil {
		return notAllowed("%w: %w", errHeaderTwice, err)
	}
	w.UserHeaders = e.block
	return nil
}

func fits(v wire.Value) bool { return len(v.Data) >= 1 && len(v.Data) <= math.MaxUint8 }

// key returns what a message is partitioned by, nil for nothing.
func (m *Message) key(meta *runnel.Meta, fromMetadata bool) ([]byte, error) {
	key := m.Key
	if len(key) == 0 && fromMetadata {
		key = meta.Key
	}
	if len(key) > math.MaxUint8 {
		return nil, notAllowed("a partition key of %d bytes, not 1 to %d", len(key), math.MaxUint8)
	}
	return key, nil
}

// RecordError says why a record was not written.
type RecordError struct {
	// Stream is the stream that it was to go to.
	Stream wire.Identifier
	// Topic is the topic.
	Topic wire.Identifier
	// Uncertain says that it may have been written all the same.
	Uncertain bool
	// Err is the cause: of the encoder, the client or the server.
	Err error
}

// Error names the topic and the cause.
func (e *RecordError) Error() string {
	if e.Uncertain {
		return fmt.Sprintf("iggysink: %v/%v: it may have been written: %v", e.Stream, e.Topic, e.Err)
	}
	return fmt.Sprintf("iggysink: %v/%v: %v", e.Stream, e.Topic, e.Err)
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// Retryable says whether the record was surely not written, and may be if it is written again: the server was away or busy, the
// topic was full, the partition of its key is gone, or an operation that others left was in the way.
func (e *RecordError) Retryable() bool {
	if e.Uncertain {
		return false
	}
	switch client.CodeOf(e.Err) {
	case wire.CodeTopicFull, wire.CodePartitionNotFound, wire.CodeLaneBlocked:
		return true
	}
	return client.Retryable(e.Err)
}

// recordError is the error of a record.
func (p *Producer) recordError(err error) error {
	return &RecordError{Stream: p.home.stream, Topic: p.home.topic, Uncertain: uncertain(err), Err: err}
}
