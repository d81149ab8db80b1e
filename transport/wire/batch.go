package wire

import (
	"encoding/binary"
	"math"
)

// Limits of a producer. Its sequence goes on with 0 after the last number.
const (
	maxProducerID    = math.MaxInt64
	maxProducerEpoch = math.MaxInt16
	maxSequence      = math.MaxInt32
)

// BatchHeader is the header of a batch of messages. (Iggy binary protocol, batch header.)
type BatchHeader struct {
	// PartitionID is the partition; 0 from a client.
	PartitionID uint64
	// BaseOffset is the offset of the first message when the batch was stored; 0 from a client.
	BaseOffset uint64
	// BaseTimestamp is when the server stored the batch, in microseconds since 1970; 0 from a client.
	BaseTimestamp uint64
	// OriginTimestamp is the earliest time of a message, as the client had it, in microseconds since 1970.
	OriginTimestamp uint64
	// Length is the size of header and messages, up to [MaxRecordSize].
	Length uint64
	// Checksum is what [BatchChecksum] says. In a part of a batch it is that of the whole.
	Checksum uint64
	// Count is the number of messages.
	Count uint32
	// Idempotent says that the batch has a producer, by which a server knows a repeat.
	Idempotent bool
	// Producer is the producer; zero if there is none.
	Producer Producer
}

// Producer is who sends, and as which message it counts the first of a batch.
type Producer struct {
	// ID is its number, up to 2^63-1.
	ID uint64
	// Epoch is which life of the producer it is, up to 32,767.
	Epoch uint16
	// BaseSequence counts the first message of the batch, up to 2^31-1, with 0 behind that.
	BaseSequence uint32
}

// check wants that the fields are in their limits, and says where the header has the one that is not.
func (p *Producer) check() error {
	switch {
	case p.ID > maxProducerID:
		return &FieldError{Field: "producer id", Offset: 56, Err: ErrValue}
	case p.Epoch > maxProducerEpoch:
		return &FieldError{Field: "producer epoch", Offset: 64, Err: ErrValue}
	case p.BaseSequence > maxSequence:
		return &FieldError{Field: "base sequence", Offset: 68, Err: ErrValue}
	}
	return nil
}

// AppendBatchHeader appends the header to dst, as it is, and returns the longer slice.
func AppendBatchHeader(dst []byte, h BatchHeader) []byte {
	var empty [BatchHeaderSize]byte
	dst = append(dst, empty[:]...)
	h.put(dst[len(dst)-BatchHeaderSize:])
	return dst
}

// put writes the header over b, whose reserved bytes are 0.
func (h *BatchHeader) put(b []byte) {
	binary.LittleEndian.PutUint64(b, h.PartitionID)
	binary.LittleEndian.PutUint64(b[8:], h.BaseOffset)
	binary.LittleEndian.PutUint64(b[16:], h.BaseTimestamp)
	binary.LittleEndian.PutUint64(b[24:], h.OriginTimestamp)
	binary.LittleEndian.PutUint64(b[32:], h.Length)
	binary.LittleEndian.PutUint64(b[40:], h.Checksum)
	binary.LittleEndian.PutUint32(b[48:], h.Count)
	if h.Idempotent {
		b[52] = 1
		binary.LittleEndian.PutUint64(b[56:], h.Producer.ID)
		binary.LittleEndian.PutUint16(b[64:], h.Producer.Epoch)
		binary.LittleEndian.PutUint32(b[68:], h.Producer.BaseSequence)
	}
}

// DecodeBatchHeader reads the header that b begins with. The messages need not be there.
func DecodeBatchHeader(b []byte) (BatchHeader, error) {
	if len(b) < BatchHeaderSize {
		return BatchHeader{}, &FieldError{Field: "batch header", Err: ErrShort}
	}
	h := BatchHeader{
		PartitionID:     binary.LittleEndian.Uint64(b),
		BaseOffset:      binary.LittleEndian.Uint64(b[8:]),
		BaseTimestamp:   binary.LittleEndian.Uint64(b[16:]),
		OriginTimestamp: binary.LittleEndian.Uint64(b[24:]),
		Length:          binary.LittleEndian.Uint64(b[32:]),
		Checksum:        binary.LittleEndian.Uint64(b[40:]),
		Count:           binary.LittleEndian.Uint32(b[48:]),
		Idempotent:      b[52] == 1,
		Producer: Producer{
			ID:           binary.LittleEndian.Uint64(b[56:]),
			Epoch:        binary.LittleEndian.Uint16(b[64:]),
			BaseSequence: binary.LittleEndian.Uint32(b[68:]),
		},
	}
	return h, h.check(b)
}

func (h *BatchHeader) check(b []byte) error {
	switch {
	case h.Length < BatchHeaderSize || h.Length > MaxRecordSize:
		return &FieldError{Field: "batch length", Offset: 32, Err: ErrLength}
	case b[52] > 1:
		return &FieldError{Field: "batch flags", Offset: 52, Err: ErrValue}
	case !zero(b[53:56]), !zero(b[66:68]), !zero(b[72:BatchHeaderSize]):
		return &FieldError{Field: "reserved bytes of the batch", Offset: 53, Err: ErrValue}
	case !h.Idempotent && h.Producer != Producer{}:
		return &FieldError{Field: "producer", Offset: 56, Err: ErrValue}
	}
	return h.Producer.check()
}

func zero(b []byte) bool {
	var all byte
	for _, v := range b {
		all |= v
	}
	return all == 0
}

// AppendBatch appends a batch of at least one message to dst, as a client sends it, and returns the longer slice; producer
// is nil for a batch that is not idempotent. It allocates nothing if dst has room. After an error dst is returned as it was.
func AppendBatch(dst []byte, producer *Producer, messages []Message) ([]byte, error) {
	h, err := headerFor(producer, messages)
	if err != nil {
		return dst, err
	}
	batch := AppendBatchHeader(dst, h)
	for i := range messages {
		m := &messages[i]
		batch = appendFrame(batch, m, uint32(i), uint32(m.OriginTimestamp-h.OriginTimestamp))
	}
	frames := batch[len(dst)+BatchHeaderSize:]
	if h.Checksum, err = BatchChecksum(h, frames); err != nil {
		return dst, err
	}
	h.put(batch[len(dst):])
	return batch, nil
}

// headerFor returns the header for messages, without the checksum.
func headerFor(producer *Producer, messages []Message) (BatchHeader, error) {
	h := BatchHeader{Length: BatchHeaderSize, Count: uint32(len(messages)), OriginTimestamp: math.MaxUint64}
	if producer != nil {
		h.Idempotent, h.Producer = true, *producer
	}
	var latest uint64
	for i := range messages {
		m := &messages[i]
		if len(m.Payload) > MaxPayloadSize {
			return h, &FieldError{Field: "payload", Offset: int(h.Length), Err: ErrLength}
		}
		if len(m.UserHeaders) > MaxUserHeadersSize {
			return h, &FieldError{Field: "user headers", Offset: int(h.Length), Err: ErrLength}
		}
		h.Length += MessageHeaderSize + uint64(len(m.Payload)+len(m.UserHeaders))
		if h.Length > MaxRecordSize {
			return h, &FieldError{Field: "batch length", Offset: 32, Err: ErrLength}
		}
		h.OriginTimestamp = min(h.OriginTimestamp, m.OriginTimestamp)
		latest = max(latest, m.OriginTimestamp)
	}
	switch {
	case len(messages) == 0:
		return h, &FieldError{Field: "message count", Offset: 48, Err: ErrLength}
	case latest-h.OriginTimestamp > math.MaxUint32:
		return h, &FieldError{Field: "origin timestamp", Offset: 24, Err: ErrTimestampSpread}
	}
	return h, h.Producer.check()
}
