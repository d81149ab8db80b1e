package transport

import (
	"errors"
	"fmt"
	"io"
)

// FrameRoom is how much room a frame gets at least before its body has come. A header may promise more than its sender
// ever sends, and a server reads many at once of senders that it does not know yet, so room beyond it grows with what comes.
const FrameRoom = 32 << 10

// ReadFrame reads one frame into memory of its own. No memory but that of the header is taken before the length is known
// to be at most limit, and then no more than [FrameRoom] before it has come, or as much as a frame took that room knows:
// growing copies. room may be nil.
//
// The error is io.EOF if r ends before the first byte, io.ErrUnexpectedEOF if it ends in the frame, [ErrProtocol] for
// a length below that of a header, and a [*SizeError] for one above limit.
func ReadFrame(r io.Reader, limit int, room *Room) (Frame, error) {
	frame := make(Frame, HeaderBytes)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	if err := checkSize(frame.Size(), limit); err != nil {
		return nil, err
	}
	size := int(frame.Size())
	if spare := room.take(size); spare != nil {
		frame = append(spare, frame...)
	}
	for len(frame) < size {
		have := len(frame)
		frame = longer(frame, size, room)
		if _, err := io.ReadFull(r, frame[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("in a frame of %d bytes: %w", size, err)
		}
	}
	room.note(size)
	return frame, nil
}

// longer returns the frame with room for more of it.
func longer(frame Frame, size int, room *Room) Frame {
	if cap(frame) >= size {
		return frame[:size]
	}
	grown := make(Frame, min(size, max(2*len(frame), room.known(), FrameRoom)))
	copy(grown, frame)
	return grown
}
