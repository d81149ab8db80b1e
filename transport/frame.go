package transport

import (
	"encoding/binary"
	"fmt"
)

// HeaderBytes is the length of a header, in both directions. A frame without a body is as long.
const HeaderBytes = 256

// Places of what a transport reads in a header: section 2 of the description of the protocol. Numbers are little endian.
const (
	sizeAt           = 48
	commandAt        = 60
	requestIDAt      = 168 // in a request
	replyRequestIDAt = 200 // in a reply
	reasonAt         = 255 // in an eviction
)

// Command tells requests, replies and evictions apart.
type Command byte

// Commands of the frames between a client and a server. The others are for servers among themselves.
const (
	CommandRequest  Command = 5
	CommandReply    Command = 8
	CommandEviction Command = 13
)

// Frame is a header and the body behind it. The methods of a frame that is shorter than its header return zero values.
type Frame []byte

// Size is the length of the frame as its header has it.
func (f Frame) Size() uint32 {
	if len(f) < sizeAt+4 {
		return 0
	}
	return binary.LittleEndian.Uint32(f[sizeAt:])
}

// Command says what kind of frame it is.
func (f Frame) Command() Command {
	if len(f) < HeaderBytes {
		return 0
	}
	return Command(f[commandAt])
}

// RequestID is the number of the request that the frame is, or is the reply to. Other frames have none.
func (f Frame) RequestID() uint64 {
	switch f.Command() {
	case CommandRequest:
		return binary.LittleEndian.Uint64(f[requestIDAt:])
	case CommandReply:
		return binary.LittleEndian.Uint64(f[replyRequestIDAt:])
	default:
		return 0
	}
}

// Reason says why an eviction was sent. Other frames have none.
func (f Frame) Reason() byte {
	if f.Command() != CommandEviction {
		return 0
	}
	return f[reasonAt]
}

// Body is what stands behind the header. It shares the memory of the frame.
func (f Frame) Body() []byte {
	if len(f) < HeaderBytes {
		return nil
	}
	return f[HeaderBytes:]
}

// Check returns an error if the frame is not as long as its header says, [ErrProtocol], or longer than limit bytes, a
// [*SizeError].
func (f Frame) Check(limit int) error {
	if len(f) < HeaderBytes || uint64(f.Size()) != uint64(len(f)) {
		return fmt.Errorf("%w: a frame of %d bytes whose header says %d", ErrProtocol, len(f), f.Size())
	}
	return checkSize(f.Size(), limit)
}

// checkSize refuses a frame by the length in its header.
func checkSize(size uint32, limit int) error {
	if size < HeaderBytes {
		return fmt.Errorf("%w: a frame of %d bytes, less than its header", ErrProtocol, size)
	}
	if uint64(size) > uint64(limit) {
		return &SizeError{Size: size, Limit: limit}
	}
	return nil
}
