// Package mux runs many requests over one stream of bytes: what TCP and WebSocket have in common, on the side of the
// client ([Start]) and of the server ([Serve]).
package mux

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/runnel-go/runnel/transport"
)

// Link is a stream of bytes in both directions, such as a net.Conn. One goroutine reads it, one at a time writes it, and
// any may close it.
type Link interface {
	io.Reader
	// Write writes all of a frame, or returns an error and may leave half of it.
	io.Writer
	// Close ends the link at once: reads and writes under way return.
	io.Closer
	// SetReadDeadline ends a read under way and further ones at a time; the zero time means never.
	SetReadDeadline(time.Time) error
	// SetWriteDeadline does the same for writes.
	SetWriteDeadline(time.Time) error
}

// Goodbyer is a link whose two ends take leave before the link is closed. Its reader is still at work then.
type Goodbyer interface {
	// Goodbye tells the other side that no more is to come, and waits for its answer, but not for long.
	Goodbye()
}

// readBytes is how much is read from the system at once, so that short frames come by the dozen. A long one is read
// into its own memory.
const readBytes = 32 << 10

// reader reads frames from a link, each in the time it has.
type reader struct {
	link   Link
	buf    *bufio.Reader
	limit  int
	option string        // the field of transport.Limits that limit is of
	idle   time.Duration // 0 for a link that may be silent
	frame  time.Duration
	room   *transport.Room
}

func newReader(link Link, limit int, option string, idle, frame time.Duration, room *transport.Room) *reader {
	return &reader{link, bufio.NewReaderSize(link, readBytes), limit, option, idle, frame, room}
}

// next returns a frame, or why the link is to end: the time limit is set before the first byte, and again behind it.
func (r *reader) next() (transport.Frame, error) {
	var until time.Time
	if r.idle > 0 {
		until = time.Now().Add(r.idle)
	}
	if err := r.link.SetReadDeadline(until); err != nil {
		return nil, transport.Lost(err)
	}
	if _, err := r.buf.Peek(1); err != nil {
		return nil, transport.Lost(late(err, until, "IdleTimeout", r.idle))
	}
	until = time.Now().Add(r.frame)
	if err := r.link.SetReadDeadline(until); err != nil {
		return nil, transport.Lost(err)
	}
	frame, err := transport.ReadFrame(r.buf, r.limit, r.room)
	var size *transport.SizeError
	switch {
	case err == nil:
		return frame, nil
	case errors.As(err, &size) || errors.Is(err, transport.ErrProtocol):
		return nil, transport.NameLimit(err, r.option)
	default:
		return nil, transport.Lost(late(err, until, "FrameTimeout", r.frame))
	}
}

// late names the time limit if it was over when err came. What a link returns at its deadline differs by its kind.
func late(err error, until time.Time, option string, limit time.Duration) error {
	if until.IsZero() || time.Now().Before(until) {
		return err
	}
	return fmt.Errorf("over the %v of %s: %w", limit, option, os.ErrDeadlineExceeded)
}

// writeFrame writes a frame in the time it has. With an error the link is of no use any more.
func writeFrame(link Link, frame transport.Frame, limit time.Duration) error {
	until := time.Now().Add(limit)
	if err := link.SetWriteDeadline(until); err != nil {
		return transport.Lost(err)
	}
	if _, err := link.Write(frame); err != nil {
		return transport.Lost(late(err, until, "FrameTimeout", limit))
	}
	_ = link.SetWriteDeadline(time.Time{}) // a link without a deadline has no timer running
	return nil
}

// isEnd says whether a link ended between two frames, by the will of the other side.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}
