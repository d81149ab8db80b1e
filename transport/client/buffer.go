package client

import "github.com/runnel-go/runnel/transport"

// Buffer is memory that reads use again, one behind the other: see [Read]. The zero value is ready. It is for one read at a
// time.
type Buffer struct {
	frame transport.Frame // of the last reply
}

// giveBack gives the memory of the last reply to the link that the next one comes over.
func (b *Buffer) giveBack(conn transport.Conn) {
	if b == nil || b.frame == nil {
		return
	}
	if r, ok := conn.(transport.Recycler); ok {
		r.Recycle(b.frame)
	}
	b.frame = nil
}

// keep holds on to the memory of a reply until the next read.
func (b *Buffer) keep(reply transport.Frame) {
	if b != nil {
		b.frame = reply
	}
}
