package transporttest

import (
	"encoding/binary"

	"github.com/runnel-go/runnel/transport"
)

// Request returns a request with a number and a body.
func Request(id uint64, body string) transport.Frame {
	f := frame(transport.CommandRequest, body)
	binary.LittleEndian.PutUint64(f[168:], id)
	return f
}

// Reply returns the reply to the request with a number.
func Reply(id uint64, body string) transport.Frame {
	f := frame(transport.CommandReply, body)
	binary.LittleEndian.PutUint64(f[200:], id)
	return f
}

// Eviction returns an eviction.
func Eviction(reason byte) transport.Frame {
	f := frame(transport.CommandEviction, "")
	f[255] = reason
	return f
}

// Sized returns a header that promises a length, whatever that is.
func Sized(command transport.Command, size uint32) transport.Frame {
	f := frame(command, "")
	binary.LittleEndian.PutUint32(f[48:], size)
	return f
}

func frame(command transport.Command, body string) transport.Frame {
	f := make(transport.Frame, transport.HeaderBytes+len(body))
	binary.LittleEndian.PutUint32(f[48:], uint32(len(f)))
	f[60] = byte(command)
	copy(f[transport.HeaderBytes:], body)
	return f
}
