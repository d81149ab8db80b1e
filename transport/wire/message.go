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
	// Offset is its place in the partition. Encoding ignores it.
	Offset uint64
	// Timestamp is when the server stored the message, in microseconds since 1970. Encoding ignores it.
	Timestamp uint64
	// Checksum is that of the frame. Encoding computes it anew.
	Checksum uint64
}

// frame is a message as it is on the wire: a header of 48 bytes, payload, user headers.
type frame []byte

func (f frame) checksum() uint64       { return binary.LittleEndian.Uint64(f) }
func (f frame) offsetDelta() uint32    { return binary.LittleEndian.Uint32(f[24:]) }
func (f frame) timestampDelta() uint32 { return binary.LittleEndian.Uint32(f[28:]) }
func (f frame) headersLength() uint32  { return binary.LittleEndian.Uint32(f[32:]) }
func (f frame) payloadLength() uint32  { return binary.LittleEndian.Uint32(f[36:]) }
func (f frame) reserved() uint64       { return binary.LittleEndian.Uint64(f[40:]) }

// readFrame returns the message that b begins with, and wants that all of it is there.
func readFrame(b []byte) (frame, error) {
	if len(b) < MessageHeaderSize {
		return nil, &FieldError{Field: "message header", Err: ErrShort}
	}
	headers, payload := frame(b).headersLength(), frame(b).payloadLength()
	if headers > MaxUserHeadersSize {
		return nil, &FieldError{Field: "user headers length", Offset: 32, Err: ErrLength}
	}
	if payload > MaxPayloadSize {
		return nil, &FieldError{Field: "payload length", Offset: 36, Err: ErrLength}
	}
	size := MessageHeaderSize + int(payload) + int(headers)
	if size > len(b) {
		return nil, &FieldError{Field: "payload", Offset: MessageHeaderSize, Err: ErrShort}
	}
	return frame(b[:size:size]), nil
}

// read sets the message to that of a frame.
func (m *Message) read(f frame, of *BatchHeader) {
	end := MessageHeaderSize + int(f.payloadLength())
	m.ID = uint128(f[8:])
	m.OriginTimestamp = of.OriginTimestamp + uint64(f.timestampDelta())
	m.Payload = f[MessageHeaderSize:end:end]
	m.UserHeaders = nil
	if end < len(f) {
		m.UserHeaders = f[end:]
	}
	m.Offset = of.BaseOffset + uint64(f.offsetDelta())
	m.Timestamp = of.BaseTimestamp
	m.Checksum = f.checksum()
}

// appendFrame appends a message as the one with the given deltas.
func appendFrame(dst []byte, m *Message, offsetDelta, timestampDelta uint32) []byte {
	var head [MessageHeaderSize]byte
	put128(head[8:], m.ID)
	binary.LittleEndian.PutUint32(head[24:], offsetDelta)
	binary.LittleEndian.PutUint32(head[28:], timestampDelta)
	binary.LittleEndian.PutUint32(head[32:], uint32(len(m.UserHeaders)))
	binary.LittleEndian.PutUint32(head[36:], uint32(len(m.Payload)))
	at := len(dst)
	dst = append(dst, head[:]...)
	dst = append(dst, m.Payload...)
	dst = append(dst, m.UserHeaders...)
	binary.LittleEndian.PutUint64(dst[at:], frameChecksum(dst[at:]))
	return dst
}
