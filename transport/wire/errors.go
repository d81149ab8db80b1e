package wire

import (
	"errors"
	"fmt"
)

// What is wrong with a field, as a [FieldError] wraps it.
var (
	// ErrShort is returned when the bytes end before the field does.
	ErrShort = errors.New("ends early")
	// ErrTrailing is returned when bytes are left over behind the last field.
	ErrTrailing = errors.New("bytes left over")
	// ErrLength is returned when a length or a number of items is outside of what the protocol allows.
	ErrLength = errors.New("length not allowed")
	// ErrValue is returned when a value is none that the protocol allows.
	ErrValue = errors.New("value not allowed")
	// ErrNoIdentifier is returned for an [Identifier] that is neither a name nor a number.
	ErrNoIdentifier = errors.New("neither a name nor a number")
	// ErrText is returned when a text is not UTF-8.
	ErrText = errors.New("not UTF-8")
	// ErrDuplicate is returned when something is named twice that may be named once.
	ErrDuplicate = errors.New("named twice")
	// ErrFrameChecksum is returned when the checksum of a message does not match its bytes: code 4027.
	ErrFrameChecksum = errors.New("checksum of the message does not match")
	// ErrBatchChecksum is returned when the checksum of a batch does not match its header: code 4039.
	ErrBatchChecksum = errors.New("checksum of the batch does not match")
	// ErrTimestampSpread is returned when the messages of a batch are further apart in time than it can hold: code 4038.
	ErrTimestampSpread = errors.New("timestamps of the batch too far apart")
	// ErrDecrypt is returned when sealed bytes are too short, of another key, or damaged: code 72.
	ErrDecrypt = errors.New("cannot be decrypted")
)

// FieldError says what could not be read or written, and where. It holds no bytes of the field.
type FieldError struct {
	// Field is the name of the field.
	Field string
	// Offset is where it begins, counted from the first byte of what was to be decoded or encoded.
	Offset int
	// Err is what is wrong: one of the errors of this package.
	Err error
}

// Error names the field, its place and the cause.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s at byte %d: %v", e.Field, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }
