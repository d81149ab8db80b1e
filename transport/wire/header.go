package wire

import (
	"encoding/binary"
	"math"
)

// FrameKind is the field "command" of a header, which says what kind of frame it is. (Iggy binary protocol, frame
// headers.)
type FrameKind uint8

// The kinds of frames between clients and servers. Others are for servers among themselves.
const (
	FrameRequest  FrameKind = 5
	FrameReply    FrameKind = 8
	FrameEviction FrameKind = 13
)

// Where the fields are that all headers share.
const (
	offSize = 48
	offKind = 60
)

// Prefix is what the headers of all frames have in common.
type Prefix struct {
	// Size is the length of the frame in bytes: header and body.
	Size uint32
	// Kind says what the rest of the header is.
	Kind FrameKind
}

// DecodePrefix reads what every header begins with. It refuses a size that is smaller than a header, or larger than
// limit: what a peer must not make us read.
func DecodePrefix(header []byte, limit uint32) (Prefix, error) {
	if len(header) < HeaderSize {
		return Prefix{}, &FieldError{Field: "header", Err: ErrShort}
	}
	p := Prefix{Size: binary.LittleEndian.Uint32(header[offSize:]), Kind: FrameKind(header[offKind])}
	if p.Size < HeaderSize || p.Size > limit {
		return Prefix{}, &FieldError{Field: "size", Offset: offSize, Err: ErrLength}
	}
	return p, nil
}

// headerOf returns the header of a frame of a kind, whose size says no more than there is.
func headerOf(frame []byte, kind FrameKind) ([]byte, error) {
	p, err := DecodePrefix(frame, uint32(min(uint64(len(frame)), math.MaxUint32)))
	if err != nil {
		return nil, err
	}
	if p.Kind != kind {
		return nil, &FieldError{Field: "command", Offset: offKind, Err: ErrValue}
	}
	return frame[:HeaderSize], nil
}

// RequestHeader is the header of a request.
type RequestHeader struct {
	// Client is the id of the client, never 0: before the login the one that the login will use.
	Client Uint128
	// Checksum names the request, if [Operation.HasChecksum]; it is the same when the request is sent again. It is 0 for
	// others.
	Checksum Uint128
	// Request is the number of the request; 0 as long as there is no session.
	Request uint64
	// Operation is what kind of request it is.
	Operation Operation
	// Command is the code of the command if the operation is [OpNonReplicated], or else 0.
	Command Command
	// Session is the number of the session; 0 as long as there is none.
	Session uint64
	// Context is the partition that the request is for. The metadata op of a read is what it has to be served at least at;
	// then the rest is 0.
	Context PartitionContext
}

// NewRequest returns the header of a request for a command, with what follows from the command filled in.
func NewRequest(command Command) RequestHeader {
	h := RequestHeader{Operation: command.Operation()}
	if h.Operation == OpNonReplicated {
		h.Command = command
	}
	return h
}

// NewCancel returns the header of a request that ends the wait of another one: of a poll or a fetch, which is then answered
// with what there is. It has no body, and no reply of its own.
func NewCancel(of *RequestHeader) RequestHeader {
	h := NewRequest(CmdCancelDeferred)
	h.Client, h.Request, h.Session = of.Client, of.Request, of.Session
	return h
}

// Carries returns the command of the request: of the operation, or the code beside it. Both logins have one operation;
// it is [CmdLoginRegister] for both, see [DecodeLogin].
func (h *RequestHeader) Carries() Command {
	if h.Operation == OpNonReplicated {
		return h.Command
	}
	return carriers[h.Operation]
}

// Validate checks what a server wants of a request before it looks at the body.
func (h *RequestHeader) Validate() error {
	switch {
	case h.Client.IsZero():
		return &FieldError{Field: "client", Offset: 128, Err: ErrValue}
	case !h.Operation.IsClient():
		return &FieldError{Field: "operation", Offset: 176, Err: ErrValue}
	case h.Operation == OpNonReplicated:
		return nil
	case (h.Session == 0) != (h.Operation == OpRegister):
		return &FieldError{Field: "session", Offset: 184, Err: ErrValue}
	case (h.Request == 0) != (h.Operation == OpRegister):
		return &FieldError{Field: "request", Offset: 168, Err: ErrValue}
	}
	return nil
}

// append appends the header, with a size of a frame without a body.
func (h *RequestHeader) append(dst []byte) []byte {
	dst, b := appendHeader(dst, FrameRequest)
	put128(b[128:], h.Client)
	put128(b[144:], h.Checksum)
	binary.LittleEndian.PutUint64(b[168:], h.Request)
	b[176] = byte(h.Operation)
	binary.LittleEndian.PutUint64(b[184:], h.Session)
	binary.LittleEndian.PutUint32(b[196:], uint32(h.Command))
	binary.LittleEndian.PutUint64(b[200:], h.Context.Incarnation)
	binary.LittleEndian.PutUint64(b[208:], h.Context.OwnerGeneration)
	binary.LittleEndian.PutUint64(b[216:], h.Context.MetadataOp)
	return dst
}

// DecodeRequest reads a request: its header, and its body, which is a view of the frame.
func DecodeRequest(frame []byte) (h RequestHeader, body []byte, err error) {
	b, err := headerOf(frame, FrameRequest)
	if err != nil {
		return RequestHeader{}, nil, err
	}
	h = RequestHeader{
		Client:    uint128(b[128:]),
		Checksum:  uint128(b[144:]),
		Request:   binary.LittleEndian.Uint64(b[168:]),
		Operation: Operation(b[176]),
		Session:   binary.LittleEndian.Uint64(b[184:]),
		Command:   Command(binary.LittleEndian.Uint32(b[196:])),
		Context: PartitionContext{
			Incarnation:     binary.LittleEndian.Uint64(b[200:]),
			OwnerGeneration: binary.LittleEndian.Uint64(b[208:]),
			MetadataOp:      binary.LittleEndian.Uint64(b[216:]),
		},
	}
	body, err = bodyOf(frame)
	return h, body, err
}

// ReplyHeader is the header of a reply.
type ReplyHeader struct {
	// Checksum is that of the request that was committed.
	Checksum Uint128
	// Client is the id of the client if something was committed.
	Client Uint128
	// Op is the position in the log of what was committed; 0 if nothing was.
	Op uint64
	// Commit is the same as Op.
	Commit uint64
	// Timestamp is when that was, in microseconds since 1970.
	Timestamp uint64
	// Request is the number of the request that is answered.
	Request uint64
	// Operation is that of the request, or what the server made of it: see [Operation.Answers].
	Operation Operation
	// Status is why the request was refused before anything was committed; 0 if it was not. The body is empty then.
	Status Code
	// Committed says that the reply is the final result of something committed.
	Committed bool
	// Incarnation is that of the partition.
	Incarnation uint64
}

// NewReply returns the header of a reply to a request, with what a reply repeats of it filled in.
func NewReply(r *RequestHeader) ReplyHeader {
	return ReplyHeader{
		Checksum: r.Checksum, Client: r.Client, Request: r.Request, Operation: r.Operation, Incarnation: r.Context.Incarnation,
	}
}

// CheckCommit checks what a reply that is marked as committed has to repeat of the request. It returns nil for a reply
// without the mark.
func (h *ReplyHeader) CheckCommit(r *RequestHeader) error {
	switch {
	case !h.Committed:
		return nil
	case h.Client != r.Client:
		return &FieldError{Field: "client", Offset: 160, Err: ErrValue}
	case h.Checksum != r.Checksum:
		return &FieldError{Field: "request checksum", Offset: 128, Err: ErrValue}
	case h.Operation.Answers() != r.Operation:
		return &FieldError{Field: "operation", Offset: 208, Err: ErrValue}
	case h.Incarnation != r.Context.Incarnation:
		return &FieldError{Field: "partition incarnation", Offset: 224, Err: ErrValue}
	case h.Op == 0 || h.Op != h.Commit:
		return &FieldError{Field: "commit", Offset: 184, Err: ErrValue}
	}
	return nil
}

// append appends the header, with a size of a frame without a body.
func (h *ReplyHeader) append(dst []byte) []byte {
	dst, b := appendHeader(dst, FrameReply)
	put128(b[128:], h.Checksum)
	put128(b[160:], h.Client)
	binary.LittleEndian.PutUint64(b[176:], h.Op)
	binary.LittleEndian.PutUint64(b[184:], h.Commit)
	binary.LittleEndian.PutUint64(b[192:], h.Timestamp)
	binary.LittleEndian.PutUint64(b[200:], h.Request)
	b[208] = byte(h.Operation)
	binary.LittleEndian.PutUint32(b[216:], uint32(h.Status))
	if h.Committed {
		b[220] = 1
	}
	binary.LittleEndian.PutUint64(b[224:], h.Incarnation)
	return dst
}

// DecodeReply reads a reply: its header, and its body, which is a view of the frame. [ReplyHeader.Result] takes the body
// apart.
func DecodeReply(frame []byte) (h ReplyHeader, body []byte, err error) {
	b, err := headerOf(frame, FrameReply)
	if err != nil {
		return ReplyHeader{}, nil, err
	}
	h = ReplyHeader{
		Checksum:    uint128(b[128:]),
		Client:      uint128(b[160:]),
		Op:          binary.LittleEndian.Uint64(b[176:]),
		Commit:      binary.LittleEndian.Uint64(b[184:]),
		Timestamp:   binary.LittleEndian.Uint64(b[192:]),
		Request:     binary.LittleEndian.Uint64(b[200:]),
		Operation:   Operation(b[208]),
		Status:      Code(binary.LittleEndian.Uint32(b[216:])),
		Committed:   b[220] == 1,
		Incarnation: binary.LittleEndian.Uint64(b[224:]),
	}
	body, err = bodyOf(frame)
	return h, body, err
}

// appendHeader appends a header that is empty but for its kind, and returns a view of it too.
func appendHeader(dst []byte, kind FrameKind) (longer, header []byte) {
	var empty [HeaderSize]byte
	dst = append(dst, empty[:]...)
	b := dst[len(dst)-HeaderSize:]
	b[offKind] = byte(kind)
	binary.LittleEndian.PutUint32(b[offSize:], HeaderSize)
	return dst, b
}

// bodyOf returns what follows the header, which has to be as long as the header says.
func bodyOf(frame []byte) ([]byte, error) {
	if uint64(binary.LittleEndian.Uint32(frame[offSize:])) != uint64(len(frame)) {
		return nil, &FieldError{Field: "size", Offset: offSize, Err: ErrTrailing}
	}
	return frame[HeaderSize:], nil
}

func put128(b []byte, v Uint128) {
	binary.LittleEndian.PutUint64(b, v.Lo)
	binary.LittleEndian.PutUint64(b[8:], v.Hi)
}
