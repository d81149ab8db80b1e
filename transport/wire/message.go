package wire

import (
	"encoding/binary"
)

// Message is a message of a batch. (Iggy binary protocol, message frame.)
type Message struct {
	// ID is the id of the message. It is not 0 on the wire: a client that has none takes a random one, see [UUIDv4].
	ID Uint128
	// OriginTimestamp is when the client made the message, in microseconds since 1970.
	OriginTimestamp uint64
	// Payload is what the message says, up to [MaxPayloadSize]. What was decoded is a view of the input.
	Payload []byte
	// UserHeaders are its headers, encoded: see [AppendUserHeaders] and [DecodeUserHeaders]. What was decoded is a view of
	// the input; nil for none.
	UserHeaders []byte
	// Offset is its place in the partition. Encoding gives it no heed.
	Offset uint64
	// Timestamp is when the server stored the message, in microseconds since 1970. Encoding gives it no heed.
	Timestamp uint64
	// Checksum is that of the frame. Encoding gives it no heed, as it computes it.
	Checksum uint64
}

// frame is the header of a message as it is on the wire: 48 bytes, before payload and user headers.
type frame struct {
	checksum       uint64
	id             Uint128
	offsetDelta    uint32
	timestampDelta uint32
	headersLength  uint32
	payloadLength  uint32
	reserved       uint64
}

// readFrame reads the header of the message that b begins with, and wants that the message is there as a whole.
func readFrame(b []byte) (f frame, err error) {
	if len(b) < MessageHeaderSize {
		return frame{}, &FieldError{Field: "message header", Err: ErrShort}
	}
	f = frame{
		checksum:       binary.LittleEndian.Uint64(b),
		id:             uint128(b[8:]),
		offsetDelta:    binary.LittleEndian.Uint32(b[24:]),
		timestampDelta: binary.LittleEndian.Uint32(b[28:]),
		headersLength:  binary.LittleEndian.Uint32(b[32:]),
		payloadLength:  binary.LittleEndian.Uint32(b[36:]),
		reserved:       binary.LittleEndian.Uint64(b[40:]),
	}
	switch {
	case f.headersLength > MaxUserHeadersSize:
		return frame{}, &FieldError{Field: "user headers length", Offset: 32, Err: ErrLength}
	case f.payloadLength > MaxPayloadSize:
		return frame{}, &FieldError{Field: "payload length", Offset: 36, Err: ErrLength}
	case f.size() > len(b):
		return frame{}, &FieldError{Field: "payload", Offset: MessageHeaderSize, Err: ErrShort}
	}
	return f, nil
}

// size is the size of the message with its header.
func (f *frame) size() int { return MessageHeaderSize + int(f.payloadLength) + int(f.headersLength) }

// message returns the message in b, which is that of the frame.
func (f *frame) message(of *BatchHeader, b []byte) Message {
	payload := b[MessageHeaderSize:f.size()]
	n := int(f.payloadLength)
	m := Message{
		ID:              f.id,
		OriginTimestamp: of.OriginTimestamp + uint64(f.timestampDelta),
		Payload:         payload[:n:n],
		Offset:          of.BaseOffset + uint64(f.offsetDelta),
		Timestamp:       of.BaseTimestamp,
		Checksum:        f.checksum,
	}
	if f.headersLength > 0 {
		m.UserHeaders = payload[n:len(payload):len(payload)]
	}
	return m
}

// appendFrame appends a message as the one with the given deltas.
func appendFrame(dst []byte, m *Message, offsetDelta, timestampDelta uint32) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = m.ID.append(dst)
	dst = binary.LittleEndian.AppendUint32(dst, offsetDelta)
	dst = binary.LittleEndian.AppendUint32(dst, timestampDelta)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(m.UserHeaders)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(m.Payload)))
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = append(dst, m.Payload...)
	dst = append(dst, m.UserHeaders...)
	binary.LittleEndian.PutUint64(dst[at:], frameChecksum(dst[at:]))
	return dst
}
