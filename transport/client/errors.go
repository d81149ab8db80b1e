package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/runnel-go/runnel/transport"
	"github.com/runnel-go/runnel/transport/wire"
)

// Error is what a call returns that had no success. errors.Is(err, code) with a [wire.Code] asks for its code.
type Error struct {
	// Code is why: what the server said, or what the client found.
	Code wire.Code
	// Call is the command of the call, such as stream.create, or what else was done, such as connect.
	Call string
	// Of is the partition or topic that a call was about, for reads and writes of messages and offsets; empty for others.
	Of string
	// Addr is the address that was talked to; empty if it came to none.
	Addr string
	// Operation is the number of the write or read that the code is about, for [wire.CodeOperationUncertain] and the codes
	// behind it: what [Client.ResolveOperation] and [Client.AbandonOperation] want. It is 0 for others.
	Operation uint64
	// Partition is the partition, for [wire.CodePartitionLaneBlocked] and [wire.CodeCannotDecryptData]; 0 for others.
	Partition uint32
	// Err is the cause, if there is one beside the code: of the link, a context, or the frame.
	Err error
}

// Error names the call, the address, the code and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("iggy: " + e.Call)
	if e.Of != "" {
		b.WriteString(" of " + e.Of)
	}
	if e.Addr != "" {
		b.WriteString(" at " + e.Addr)
	}
	fmt.Fprintf(&b, ": %v (%d)", e.Code, uint32(e.Code))
	if e.Operation != 0 {
		fmt.Fprintf(&b, ", operation %d%s", e.Operation, hints[e.Code])
	}
	if e.Code == wire.CodePartitionLaneBlocked {
		fmt.Fprintf(&b, ", partition %d", e.Partition)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// hints say what can be done about an operation that stands in the way.
var hints = map[wire.Code]string{
	wire.CodeOperationUncertain:     " (it may have been done: ResolveOperation finds out)",
	wire.CodeLaneBlocked:            " (is in doubt and comes first: ResolveOperation or AbandonOperation)",
	wire.CodePartitionLaneBlocked:   " (is in doubt and comes first: ResolveOperation or AbandonOperation)",
	wire.CodeFetchProgressUncertain: " (may have stored offsets: AbandonOperation)",
}

// named tells an error what it is about, and the call that the user made: routes are looked up underneath.
func named(command wire.Command, of string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	about := *e // others may have the same one
	about.Of = of
	if about.Call == wire.CmdGetPartitionRoute.String() {
		about.Call = command.String()
	}
	return &about
}

// loginFirst tells who is not logged in over HTTP what to do.
func loginFirst(l *link, refused *Error) *Error {
	if refused.Code == wire.CodeUnauthenticated && !l.loggedIn() {
		refused.Err = ErrLoginFirst
	}
	return refused
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is says whether target is the code of the error.
func (e *Error) Is(target error) bool {
	code, ok := target.(wire.Code)
	return ok && code == e.Code
}

// CodeOf returns the code of an error of this package, or 0.
func CodeOf(err error) wire.Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Retryable says whether the call that returned err had no effect, or none that a repeat would double, and whether a repeat
// may succeed: the server was busy or away, or another operation was in the way for a while. It is false for a write with an
// uncertain outcome.
func Retryable(err error) bool {
	switch CodeOf(err) {
	case wire.CodeDisconnected, wire.CodeCannotEstablishConnection, wire.CodeNotConnected,
		wire.CodeTransientNotAccepted, wire.CodeLifecycleBusy, wire.CodeNotPrimary, wire.CodeDeferredPollCapacityExceeded:
		return !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNotConnected)
	}
	return false
}

// Causes of an [*Error] beside its code.
var (
	// ErrDeadline is the cause when the time of [Timeout] was over.
	ErrDeadline = errors.New("time of the call is over")
	// ErrOtherLogin is the cause when the client logged in or out, or disconnected, between the begin of a call and its sending.
	ErrOtherLogin = errors.New("the client has logged in or out since the call began")
	// ErrNoCredentials is the cause when the client is not logged in, and cannot do so by itself.
	ErrNoCredentials = errors.New("not logged in, and no credentials to do so")
	// ErrNotConnected is the cause when [Client.Connect] was not called, or [Client.Disconnect] behind it.
	ErrNotConnected = errors.New("call Connect first")
	// ErrLoginFirst is the cause when nobody has logged in over HTTP, where Connect does not.
	ErrLoginFirst = errors.New("not logged in: over HTTP call SignIn, or Login")
	// ErrNoSessions is the cause when a call is about a session, and the link is one over HTTP.
	ErrNoSessions = errors.New("HTTP has no sessions, and so no groups and nothing about this client")
	// ErrHTTPOnly is the cause when a call is one over HTTP only.
	ErrHTTPOnly = errors.New("over HTTP only")
	// ErrOtherProtocol is the cause when a login was answered as servers of another protocol do.
	ErrOtherProtocol = errors.New("the server speaks another protocol than 0.12")
	// ErrSessionReplaced is the cause when the outcome of a write cannot be found out any more: the session it was sent in is
	// gone.
	ErrSessionReplaced = errors.New("the session of the operation is gone")
	// ErrNoProof is the cause when a reply says that it is committed, but does not fit the request.
	ErrNoProof = errors.New("the reply is not that to the request")
)

// lostCode is the code for an error of a link.
func lostCode(err error) wire.Code {
	var evicted *transport.EvictedError
	if errors.As(err, &evicted) {
		return wire.EvictReason(evicted.Frame.Reason()).Code()
	}
	return wire.CodeDisconnected
}

// linkError is the error for what went wrong on a link.
func linkError(call, addr string, err error) *Error {
	return &Error{Code: lostCode(err), Call: call, Addr: addr, Err: err}
}

// malformed is the error for what is no reply to the call.
func malformed(call, addr string, err error) *Error {
	return &Error{Code: wire.CodeInvalidCommand, Call: call, Addr: addr, Err: err}
}
