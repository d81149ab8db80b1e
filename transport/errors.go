package transport

import (
	"errors"
	"fmt"
)

// Causes of an [*Error].
var (
	// ErrClosed is the cause when this side has closed the link or the listener.
	ErrClosed = errors.New("closed")
	// ErrLost is the cause when the other side or the network ended the link, or a time limit did.
	ErrLost = errors.New("link lost")
	// ErrProtocol is the cause when the other side sent what is no frame, or a frame that only the other side of a link
	// may get, and the link was closed for it; or when the caller gave such a frame.
	ErrProtocol = errors.New("not the protocol of Iggy")
	// ErrInFlight is the cause when a request has the number of one that is under way on the same link.
	ErrInFlight = errors.New("request number is under way")
	// ErrAnswered is the cause when a request is answered twice.
	ErrAnswered = errors.New("answered already")
	// ErrNoReply is the cause when a server took a request over QUIC and ended its stream without a reply.
	ErrNoReply = errors.New("no reply")
)

// Error says what went wrong on a link, and where.
type Error struct {
	// Op is what was being done: dial, request, post, listen, accept, next or reply.
	Op string
	// Addr is the other side, or the address that a listener has.
	Addr string
	// Unsent says that no byte of the request was handed to the system: the other side cannot have seen it. It is set
	// for request and post only, and false where that is not sure.
	Unsent bool
	// Err is the cause: one of this package's, the cause of a context that has ended, or an error of the system.
	Err error
}

// Error names the place and the cause.
func (e *Error) Error() string { return fmt.Sprintf("iggy: %s %s: %v", e.Op, e.Addr, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Unsent says whether an error of [Conn.Do] or [Conn.Post] is of a request that surely was not sent. Such a request may
// be made again on another link without the danger of being done twice.
func Unsent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Unsent
}

// Lost returns cause as a reason of [ErrLost].
func Lost(cause error) error { return fmt.Errorf("%w: %w", ErrLost, cause) }

// SizeError says that a frame was longer than its limit.
type SizeError struct {
	// Size is the length of the frame in bytes.
	Size uint32
	// Limit is how long it may be.
	Limit int
	// Option is the field of [Limits] that says so, if that is known.
	Option string
}

// Error names the lengths and the option.
func (e *SizeError) Error() string {
	if e.Option == "" {
		return fmt.Sprintf("frame of %d bytes is longer than the limit of %d", e.Size, e.Limit)
	}
	return fmt.Sprintf("frame of %d bytes is longer than %s allows, which is %d", e.Size, e.Option, e.Limit)
}

// NameLimit puts the name of a field of [Limits] into err if that is a [*SizeError], and returns err.
func NameLimit(err error, option string) error {
	var size *SizeError
	if errors.As(err, &size) {
		size.Option = option
	}
	return err
}

// EvictedError says that the server has ended the link with an eviction. The session may live on.
type EvictedError struct {
	// Frame is the eviction as it came.
	Frame Frame
}

// Error names the number of the reason.
func (e *EvictedError) Error() string {
	return fmt.Sprintf("evicted by the server, reason %d", e.Frame.Reason())
}
