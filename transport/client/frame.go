package client

import (
	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// maxPooledBytes is the length of the longest frame that is kept for the next request.
const maxPooledBytes = 4 << 20

// newFrame returns a frame with room for a header, to append a body to.
func (c *Client) newFrame() *[]byte {
	if b, ok := c.frames.Get().(*[]byte); ok {
		*b = (*b)[:wire.HeaderSize]
		return b
	}
	b := make([]byte, wire.HeaderSize, 1<<10)
	return &b
}

// freeFrame keeps the memory of a frame that nobody reads any more.
func (c *Client) freeFrame(b *[]byte) {
	if cap(*b) <= maxPooledBytes {
		c.frames.Put(b)
	}
}

// stamp writes the header over the one that a frame has.
func stamp(frame transport.Frame, h *wire.RequestHeader) {
	_, _ = wire.AppendRequest(frame[:0], *h, nil) // a header alone has no fault
	_ = wire.SetSize(frame)                       // who appended the body has checked it
}

// encoded returns a frame with a body, or the bytes of one, behind the room of its header.
func (c *Client) encoded(command wire.Command, body wire.Body, raw []byte) (*[]byte, error) {
	frame := c.newFrame()
	if err := encode(frame, body, raw); err != nil {
		c.freeFrame(frame)
		return nil, badBody(command, err)
	}
	return frame, nil
}

// encode appends a body, or the bytes of one, to a frame.
func encode(frame *[]byte, body wire.Body, raw []byte) error {
	if body == nil {
		*frame = append(*frame, raw...)
		return wire.SetSize(*frame)
	}
	longer, err := wire.Append(*frame, body)
	if err != nil {
		return err
	}
	*frame = longer
	return wire.SetSize(longer)
}
