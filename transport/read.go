package transport

import (
	"errors"
	"fmt"
	"io"
)

// growBytes is how much room a body gets before any of it has come. A header may promise more than its sender ever
// sends, so room beyond it grows with what comes. It is above what a usual read returns: growing copies.
const growBytes = 4 << 20

// ReadFrame reads one frame. It uses the memory of buf, if there is enough, and else allocates; no memory but that of
// the header is taken before the length is known to be at most limit, and a long frame takes it as it comes.
//
// The error is io.EOF if r ends before the first byte, io.ErrUnexpectedEOF if it ends in the frame, [ErrProtocol] for
// a length below that of a header, and a [*SizeError] for one above limit.
func ReadFrame(r io.Reader, limit int, buf []byte) (Frame, error) {
	if cap(buf) < HeaderBytes {
		buf = make([]byte, HeaderBytes)
	}
	frame := Frame(buf[:HeaderBytes])
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	if err := checkSize(frame.Size(), limit); err != nil {
		return nil, err
	}
	for size := int(frame.Size()); len(frame) < size; {
		have := len(frame)
		frame = extend(frame, min(size, max(2*have, growBytes)), size)
		if _, err := io.ReadFull(r, frame[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("in a frame of %d bytes: %w", size, err)
		}
	}
	return frame, nil
}

// extend returns the frame with a length of to bytes, or of size bytes if its memory has the room for all of it.
func extend(frame Frame, to, size int) Frame {
	if cap(frame) >= size {
		return frame[:size]
	}
	longer := make(Frame, to)
	copy(longer, frame)
	return longer
}
