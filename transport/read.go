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
// to be at most limit, and then no more than room bytes, or [FrameRoom] if that is more, before they have come: growing
// copies, so a link gives the length of a frame that it has carried already.
//
// The error is io.EOF if r ends before the first byte, io.ErrUnexpectedEOF if it ends in the frame, [ErrProtocol] for
// a length below that of a header, and a [*SizeError] for one above limit.
func ReadFrame(r io.Reader, limit, room int) (Frame, error) {
	frame := make(Frame, HeaderBytes)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	if err := checkSize(frame.Size(), limit); err != nil {
		return nil, err
	}
	for size := int(frame.Size()); len(frame) < size; {
		have := len(frame)
		longer := make(Frame, min(size, max(2*have, room, FrameRoom)))
		copy(longer, frame)
		frame = longer
		if _, err := io.ReadFull(r, frame[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("in a frame of %d bytes: %w", size, err)
		}
	}
	return frame, nil
}
