package checkpoint

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
)

// An offset token is a version byte, the next offset as 8 bytes big endian, and the guard, which is the source's own.
// The version byte is not that of any text, so that tools can tell the token from other ones.
const (
	offsetVersion1  = 0xA1
	offsetTokenSize = 1 + 8
)

// ErrToken is returned for bytes that are not an offset token.
var ErrToken = errors.New("checkpoint: not an offset token")

// OffsetToken returns the token of a [Position] that says which offset is read next. The guard is opaque: what the
// source needs to know the same partition again, such as a leader epoch or a fingerprint of the file; nil for none.
func OffsetToken(next int64, guard []byte) []byte {
	token := make([]byte, 0, offsetTokenSize+len(guard))
	token = append(token, offsetVersion1)
	token = binary.BigEndian.AppendUint64(token, uint64(next))
	return append(token, guard...)
}

// ParseOffset returns what [OffsetToken] was made of. The guard is nil if there was none, and otherwise shares the
// memory of the token. Errors: [ErrToken] if the token is too short, or of a version that is not known.
func ParseOffset(token []byte) (next int64, guard []byte, err error) {
	if len(token) < offsetTokenSize {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrToken, len(token))
	}
	if token[0] != offsetVersion1 {
		return 0, nil, fmt.Errorf("%w: version %#x", ErrToken, token[0])
	}
	next = int64(binary.BigEndian.Uint64(token[1:offsetTokenSize]))
	if len(token) > offsetTokenSize {
		guard = token[offsetTokenSize:len(token):len(token)]
	}
	return next, guard, nil
}

// CompareOffsets returns -1, 0 or 1 as the offset of token a is below, equal to or above that of b. It does not look
// at the guards: whether both speak of the same history of the partition is for the source to know.
// Errors: [ErrToken] if either is not an offset token.
func CompareOffsets(a, b []byte) (int, error) {
	left, _, err := ParseOffset(a)
	if err != nil {
		return 0, err
	}
	right, _, err := ParseOffset(b)
	if err != nil {
		return 0, err
	}
	return cmp.Compare(left, right), nil
}
