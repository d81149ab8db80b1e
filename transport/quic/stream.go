package quic

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/runnel-go/runnel/transport"
)

// Codes that close a connection, from section 1.2 of the description of the protocol.
const (
	codeNone     quic.ApplicationErrorCode = 0
	codeShutdown quic.ApplicationErrorCode = 0x1003
	codeProtocol quic.ApplicationErrorCode = 0x1004
)

// codeGivenUp resets a stream whose request nobody waits for. The server reads no meaning into it.
const codeGivenUp quic.StreamErrorCode = 0

// reset gives a stream up in both directions, so that neither side keeps room for it. What is complete stays so.
func reset(s *quic.Stream) {
	s.CancelRead(codeGivenUp)
	s.CancelWrite(codeGivenUp)
}

// readFrame reads the one frame of a stream, and its end. The first byte has to come within idle, unless that is 0, and
// the rest within limit. room is as in [transport.ReadFrame].
func readFrame(
	s *quic.Stream, limits transport.Limits, longest int, idle time.Duration, room *transport.Room,
) (transport.Frame, error) {
	var until time.Time
	if idle > 0 {
		until = time.Now().Add(idle)
	}
	if err := s.SetReadDeadline(until); err != nil {
		return nil, err
	}
	if _, err := s.Peek(make([]byte, 1)); err != nil {
		return nil, late(err, "IdleTimeout", idle)
	}
	if err := s.SetReadDeadline(time.Now().Add(limits.FrameTimeout)); err != nil {
		return nil, err
	}
	frame, err := transport.ReadFrame(s, longest, room)
	if err != nil {
		return nil, late(err, "FrameTimeout", limits.FrameTimeout)
	}
	switch n, err := s.Read(make([]byte, 1)); {
	case n > 0:
		return nil, fmt.Errorf("%w: a second frame on a stream", transport.ErrProtocol)
	case errors.Is(err, io.EOF):
		return frame, nil
	default:
		return nil, late(err, "FrameTimeout", limits.FrameTimeout)
	}
}

// writeFrame writes the one frame of a stream, and its end.
func writeFrame(s *quic.Stream, frame transport.Frame, limits transport.Limits) error {
	if err := s.SetWriteDeadline(time.Now().Add(limits.FrameTimeout)); err != nil {
		return err
	}
	if _, err := s.Write(frame); err != nil {
		return late(err, "FrameTimeout", limits.FrameTimeout)
	}
	return s.Close()
}

// late names the time limit if it is the reason.
func late(err error, option string, limit time.Duration) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("over the %v of %s: %w", limit, option, err)
	}
	return err
}
