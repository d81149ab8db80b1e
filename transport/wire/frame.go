package wire

import (
	"encoding/binary"
	"math"
)

// AppendRequest appends a request to dst and returns the longer slice: header and body, nil for no body. After an error
// dst is returned as it was.
func AppendRequest(dst []byte, h RequestHeader, body Body) ([]byte, error) {
	frame := h.append(dst)
	return finish(dst, frame, body)
}

// AppendReply appends a reply to dst and returns the longer slice: header, result section if the operation has one, and
// payload, nil for none. With a status there is neither section nor payload. A reply to [OpRegister] without a payload
// has no section either. After an error dst is returned as it was.
func AppendReply(dst []byte, h ReplyHeader, payload Body) ([]byte, error) {
	frame := h.append(dst)
	if h.Status != 0 {
		return frame, nil //nolint:nilerr // the code is the result
	}
	if h.Operation.ResultFramed() || h.Operation == OpRegister && payload != nil {
		frame = append(frame, 0, 0, 0, 0)
	}
	return finish(dst, frame, payload)
}

// AppendRejection appends a reply that says in its result section why the request, though it was accepted, had no
// effect. Its operation is one that has such a section.
func AppendRejection(dst []byte, h ReplyHeader, why Code) []byte {
	frame := h.append(dst)
	frame = binary.LittleEndian.AppendUint32(frame, 1)
	frame = binary.LittleEndian.AppendUint32(frame, 0)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(why))
	binary.LittleEndian.PutUint32(frame[len(dst)+offSize:], HeaderSize+resultSize)
	return frame
}

// SetSize sets the size in the header of a frame to the length of the frame: for who appends to a body what
// [AppendRequest] or [AppendReply] did not, such as a batch of messages.
func SetSize(frame []byte) error {
	if len(frame) < HeaderSize || uint64(len(frame)) > math.MaxUint32 {
		return &FieldError{Field: "size", Offset: offSize, Err: ErrLength}
	}
	binary.LittleEndian.PutUint32(frame[offSize:], uint32(len(frame)))
	return nil
}

// finish appends the body to a frame that begins behind dst.
func finish(dst, frame []byte, body Body) ([]byte, error) {
	if body != nil {
		longer, err := Append(frame, body)
		if err != nil {
			return dst, err
		}
		frame = longer
	}
	if err := SetSize(frame[len(dst):]); err != nil {
		return dst, err
	}
	return frame, nil
}

// resultSize is the size of a result section that rejects: [count u32][index u32][code u32].
const resultSize = 12

// Result takes the body of the reply apart. The code is why the request was refused or rejected, 0 if it was not; the
// payload is what [Decode] reads, a view of the body. An error says that the body is malformed.
func (h *ReplyHeader) Result(body []byte) (code Code, payload []byte, err error) {
	switch {
	case h.Status != 0 && len(body) > 0:
		return 0, nil, &FieldError{Field: "body of a refusal", Err: ErrTrailing}
	case h.Status != 0:
		return h.Status, nil, nil
	case h.Operation.ResultFramed(), h.Operation == OpRegister && len(body) > 0:
		return result(body)
	}
	return 0, body, nil
}

// result reads a result section: [count u32] count × [index u32][code u32].
func result(body []byte) (Code, []byte, error) {
	c := coder{b: body}
	var count, index, code uint32
	c.u32(&count, "result count")
	if count == 0 {
		return 0, c.b[c.at:], c.err
	}
	if c.err == nil && uint64(len(body)-c.at) != uint64(count)*8 {
		c.fail("results", ErrLength)
	}
	c.u32(&index, "result index")
	c.u32(&code, "result code")
	if c.err == nil && code == 0 {
		c.fail("result code", ErrValue)
	}
	return Code(code), nil, c.err
}
