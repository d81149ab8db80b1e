// Package transport says what a link to an Apache Iggy server is: how requests and replies pass over it, how large and
// how slow they may be, and in which ways it ends. Packages tcp, ws and quic open such links and serve them, rest does so
// by translation to HTTP, and package dial reads connection strings. This package imports the standard library only, and
// knows of a frame no more than its length, its command and the number of its request.
package transport

import "context"

// Conn is one link to a server. It is safe for concurrent use.
//
// A link may be a [Sessionless] too, and an [HTTPConn]. Errors of its methods are an [*Error]; [Unsent] asks it whether the
// request may have reached the server.
type Conn interface {
	// Do sends a request and waits for the reply with the same request number, whose frame is the caller's to keep.
	// Replies may come in another order than their requests. The frame of the request may be changed again when Do has
	// returned a reply; with an error it may be on its way still, and must not be changed any more.
	//
	// At most [Limits.MaxInFlight] requests are under way, others wait. Requests with number 0, which come before the
	// login, go one at a time. A number that is under way is refused with [ErrInFlight] where replies are told apart by
	// it, which is over TCP and WebSocket.
	//
	// The end of ctx ends every wait, with its cause. The request gives its place free, and its reply is dropped when
	// it comes. The number 0 is free only then over TCP and WebSocket, as replies to it look alike. The end of the link
	// ends every wait with what [Conn.Err] says.
	Do(ctx context.Context, request Frame) (Frame, error)
	// Post sends a frame that gets no answer: the cancel of a request under way. It returns when the frame was handed
	// to the system. The number of its request may be one that is under way, and takes no place of its own.
	Post(ctx context.Context, request Frame) error
	// Close ends the link and every wait, with [ErrClosed], and returns when nothing of it is left. It may be called
	// more than once.
	Close() error
	// Done is closed when the link has ended, by [Conn.Close] or by itself. Close has still to be called then.
	Done() <-chan struct{}
	// Err says why the link ended: [ErrClosed], [ErrLost] with a cause, an [*EvictedError], a [*SizeError] or
	// [ErrProtocol]. It is nil while the link lives.
	Err() error
}

// Dialer opens links to one address. It is safe for concurrent use.
type Dialer interface {
	// Dial opens a link. The end of ctx ends the attempt; the link does not depend on ctx any more.
	Dial(ctx context.Context) (Conn, error)
	// Addr names the transport and the address, such as tcp://127.0.0.1:8090, for errors and logs.
	Addr() string
}
